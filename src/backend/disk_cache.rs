//! Persistent cache in the user's cache directory: compiled kernels, measurements.
//!
//! A file contains its key, the stored value and a checksum over both, so that neither two keys with the same file name
//! nor a damaged file can give a wrong value. Errors here never stop a run: missing values are computed again.
//! Unused files are removed eventually: see [`DiskCache::prune`].

use std::cmp::Reverse;
use std::fs::{DirEntry, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::environment::folder;
use crate::io::open;

/// File extension of this program version; other versions have another one.
const EXTENSION: &str = concat!(".", env!("CARGO_PKG_VERSION"), ".kept");

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Time after which unused files are removed; shorter for other versions, which may still be in use alongside this one.
const MAX_UNUSED: Duration = Duration::from_secs(60 * 24 * 3600);
const MAX_UNUSED_OTHER_VERSIONS: Duration = Duration::from_secs(7 * 24 * 3600);
/// Maximum size of the cache in bytes.
const MAX_BYTES: u64 = 512 << 20;

/// A cache folder, or none.
pub struct DiskCache {
    folder: Option<PathBuf>,
}

impl DiskCache {
    /// The folder `kolmo` in $XDG_CACHE_HOME or ~/.cache; without either, nothing is stored.
    pub fn of_user() -> Self {
        let base =
            folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        Self { folder: base.map(|base| base.join("kolmo")) }
    }

    /// A cache in this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// Returns the value stored for `key`.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.file(key)?;
        let mut bytes = open::read(&path, open::MAX_JSON_BYTES).ok()?;
        let value = bytes.strip_prefix(&*header(key))?;
        let (value, sum) = value.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != hash(&(key, value)) {
            return None;
        }
        mark_used(&path);
        let (start, end) = (bytes.len() - 8 - value.len(), bytes.len() - 8);
        bytes.truncate(end);
        Some(bytes.split_off(start))
    }

    /// Stores `value` for `key` and replaces any previous value.
    pub fn put(&self, key: &str, value: &[u8]) {
        static PRUNED: Once = Once::new();
        let Some(path) = self.file(key) else { return };
        PRUNED.call_once(|| self.prune(MAX_BYTES));
        if let Err(error) = write(&path, key, value) {
            tracing::debug!("not stored in {}: {error}", path.display());
        }
    }

    /// Waits until no other process of this user holds the lock `name`; this process holds it until the file is
    /// dropped. `None` if there is no folder, or the file system has no locks.
    pub fn lock(&self, name: &str) -> Option<File> {
        let folder = self.folder.as_ref()?;
        let open = || {
            std::fs::create_dir_all(folder)?;
            let file = File::options().append(true).create(true).open(folder.join(name))?;
            file.lock().map(|()| file)
        };
        open().inspect_err(|error| tracing::debug!("no lock {name}: {error}")).ok()
    }

    /// Removes files not used for 60 days (7 days if another version left them) and incomplete files of interrupted
    /// processes; then the least recently used files, until the rest has at most `max_bytes` bytes. Done once in a process
    /// that stores something. Another process may read, write and prune at the same time: it finds a complete file or
    /// none, and computes missing values again.
    pub fn prune(&self, max_bytes: u64) {
        let Some(files) = self.folder.as_ref().and_then(|folder| folder.read_dir().ok()) else {
            return;
        };
        let mut cached: Vec<CacheFile> =
            files.filter_map(|file| CacheFile::of(&file.ok()?)).collect();
        cached.sort_by_key(|cached| Reverse(cached.used));
        let mut bytes = 0;
        for CacheFile { path, bytes: size, .. } in cached.into_iter().filter(|cached| {
            bytes += cached.bytes;
            cached.is_stale() || bytes > max_bytes
        }) {
            let result = std::fs::remove_file(&path);
            tracing::debug!("removal of {} ({size} bytes): {result:?}", path.display());
        }
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}{EXTENSION}", hash(key))))
    }
}

/// A file of the folder that holds a value, or part of one.
struct CacheFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    /// Time after which it is removed if it is not used.
    max_unused: Duration,
}

impl CacheFile {
    /// `None` if the file is not a cache file.
    fn of(file: &DirEntry) -> Option<Self> {
        let (path, name, metadata) = (file.path(), file.file_name(), file.metadata().ok()?);
        let name = name.to_str().filter(|_| metadata.is_file())?;
        let (number, rest) = (name.get(..16)?, name.get(16..)?);
        u64::from_str_radix(number, 16).ok()?;
        let max_unused = match rest {
            EXTENSION => MAX_UNUSED,
            _ if rest.ends_with(".kept") => MAX_UNUSED_OTHER_VERSIONS,
            _ if rest.contains(TEMPORARY) => DAY,
            _ => return None,
        };
        Some(Self { path, bytes: metadata.len(), used: metadata.modified().ok()?, max_unused })
    }

    fn is_stale(&self) -> bool {
        // If the clock was set back, no file counts as old.
        self.used.elapsed().is_ok_and(|age| age > self.max_unused)
    }
}

/// Marks a file as used, once a day, by the time of its last change.
fn mark_used(path: &Path) {
    let mark = || {
        let file = File::options().append(true).open(path)?;
        match file.metadata()?.modified()?.elapsed() {
            Ok(age) if age > DAY => file.set_modified(SystemTime::now()),
            _ => Ok(()),
        }
    };
    if let Err(error) = mark() {
        tracing::debug!("not marked as used: {}: {error}", path.display());
    }
}

/// Part of the name of an incomplete file.
const TEMPORARY: &str = ".part-";

/// Writes under another name first, so that a reader finds a complete file or none, even if several runs write at the
/// same time.
fn write(path: &Path, key: &str, value: &[u8]) -> Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!("{TEMPORARY}{}-{number}", std::process::id()));
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let result = File::create_new(&temporary).and_then(|mut file| {
        file.write_all(&header(key))?;
        file.write_all(value)?;
        file.write_all(&hash(&(key, value)).to_le_bytes())
    });
    let result = result.and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

fn header(key: &str) -> Vec<u8> {
    format!("kolmo kept\n{}\n{key}\n", key.len()).into_bytes()
}

/// May differ between versions of the standard library; kernels are then compiled again.
fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
