//! Persistent cache in the user's cache directory: compiled kernels, measurements.
//!
//! A file holds what it was made from beside what was made, and a sum over both, so that neither two keys with the same
//! name of file nor a file that broke can give a wrong one. Nothing that goes wrong here stops a run: what is not found is
//! made again.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::environment::folder;
use crate::io::open;

/// A folder of such things, or none.
pub struct DiskCache {
    folder: Option<PathBuf>,
}

impl DiskCache {
    /// `kolmo` in $XDG_CACHE_HOME or ~/.cache; without either, nothing is kept.
    pub fn of_user() -> Self {
        let base =
            folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        Self { folder: base.map(|base| base.join("kolmo")) }
    }

    /// In this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// What was kept for `key`.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut bytes = open::read(&self.file(key)?, open::MOST_JSON).ok()?;
        let value = bytes.strip_prefix(&*header(key))?;
        let (value, sum) = value.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != hash(&(key, value)) {
            return None;
        }
        let (start, end) = (bytes.len() - 8 - value.len(), bytes.len() - 8);
        bytes.truncate(end);
        Some(bytes.split_off(start))
    }

    /// Keep `value` for `key`, in place of what was there.
    pub fn put(&self, key: &str, value: &[u8]) {
        let Some(path) = self.file(key) else { return };
        if let Err(error) = write(&path, key, value) {
            tracing::debug!("not kept in {}: {error}", path.display());
        }
    }

    /// Wait until no other process of this user holds the lock of that name; this one holds it until the file is dropped. None where
    /// there is no folder, or the file system has no locks.
    pub fn lock(&self, name: &str) -> Option<File> {
        let folder = self.folder.as_ref()?;
        let open = || {
            std::fs::create_dir_all(folder)?;
            let file = File::options().append(true).create(true).open(folder.join(name))?;
            file.lock().map(|()| file)
        };
        open().inspect_err(|error| tracing::debug!("no lock {name}: {error}")).ok()
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}.kept", hash(key))))
    }
}

/// Under another name first, so that a reader finds all of it or nothing, also where several runs write at once.
fn write(path: &Path, key: &str, value: &[u8]) -> Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}", std::process::id()));
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

/// May differ between versions of the standard library, which then compiles once more.
fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
