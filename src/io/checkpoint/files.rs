//! Files that are on disk when their writer returns.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::io::{RunId, ignore_missing, malformed, open, with_ending};

/// Length and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileChecksum {
    pub(super) bytes: u64,
    /// XXH3 (128 bit) in hexadecimal digits, as [`Seal`] makes it.
    pub(super) xxh3_128: String,
}

/// Data that the hash of a file covers in addition to its name and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seal {
    pub(super) run: RunId,
    pub(super) step: u64,
}

impl Seal {
    /// The hasher of the file `name` of a group, before its bytes.
    fn hasher(self, name: &str) -> Xxh3 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.run.bytes());
        hasher.update(&self.step.to_le_bytes());
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher
    }

    /// Begin to write the file `name` of the group at `group`.
    pub(super) fn create(self, group: &Path, name: &str) -> Result<SealedFile> {
        let path = group.join(name);
        let file = File::create(&path).map_err(Error::io(&path))?;
        Ok(SealedFile { path, file, hasher: self.hasher(name), bytes: 0 })
    }
}

/// A file that is being written, and hashed on the way.
pub(super) struct SealedFile {
    path: PathBuf,
    file: File,
    hasher: Xxh3,
    bytes: u64,
}

impl SealedFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io(&self.path))?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Flush it to disk, and return its checksum.
    pub(super) fn finish(self) -> Result<FileChecksum> {
        self.file.sync_all().map_err(Error::io(&self.path))?;
        Ok(FileChecksum::of(&self.hasher, self.bytes))
    }
}

impl FileChecksum {
    fn of(hasher: &Xxh3, bytes: u64) -> Self {
        Self { bytes, xxh3_128: format!("{:032x}", hasher.digest128()) }
    }

    /// Check the file `name` of the group at `group`. Fails where the file is missing, or differs from what was written.
    pub(super) fn check(&self, seal: Seal, group: &Path, name: &str) -> Result<()> {
        let path = group.join(name);
        let mut hasher = seal.hasher(name);
        let bytes = read(&path, |part| hasher.update(part))?;
        let found = Self::of(&hasher, bytes);
        if found == *self {
            return Ok(());
        }
        let what = match found.bytes == self.bytes {
            false => format!("it has {} bytes, not {}", found.bytes, self.bytes),
            true => "its checksum does not match what was written".into(),
        };
        Err(malformed(&path, format!("damaged: {what}")))
    }
}

/// Read a file part by part; returns its length.
fn read(path: &Path, mut process: impl FnMut(&[u8])) -> Result<u64> {
    let mut file = open::open(path).map_err(Error::io(path))?;
    let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        let count = file.read(&mut buffer).map_err(Error::io(path))?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes += count as u64;
        process(&buffer[..count]);
    }
}

/// Write JSON to disk.
pub(super) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec_pretty(value).map_err(std::io::Error::other);
    let written = text.and_then(|text| {
        let mut file = File::create(path)?;
        file.write_all(&text)?;
        file.sync_all()
    });
    written.map_err(Error::io(path))
}

/// Flush the names of all files in a folder, and in its subfolders, to disk.
pub(super) fn flush_folders(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            flush_folders(&entry.path())?;
        }
    }
    flush_folder(folder)
}

fn flush_folder(folder: &Path) -> Result<()> {
    // On other systems folders cannot be opened as files.
    if cfg!(unix) {
        File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io(folder))?;
    }
    Ok(())
}

/// Remove a folder that may be missing.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    ignore_missing(folder, fs::remove_dir_all(folder))
}

/// Remove a folder that may be missing. It is renamed first: if the process is killed meanwhile, the rest is not taken for a
/// checkpoint, and [`super::tidy`] removes it.
pub(super) fn discard(path: &Path) -> Result<()> {
    let part = part_path(path);
    remove(&part)?;
    ignore_missing(path, fs::rename(path, &part))?;
    remove(&part)
}

/// Added to the name of a checkpoint while it is being replaced.
pub(crate) const REPLACED: &str = ".replaced";

/// Path of the unfinished version of `path`.
pub(super) fn part_path(path: &Path) -> PathBuf {
    with_ending(path, ".part")
}

/// Rename the folder `part` to `path`. An existing folder is moved aside first, and removed when the new one is in place.
pub(super) fn replace(part: &Path, path: &Path) -> Result<()> {
    let aside = &with_ending(path, REPLACED);
    remove(aside)?;
    if path.exists() {
        fs::rename(path, aside).map_err(Error::io(path))?;
    }
    fs::rename(part, path).map_err(Error::io(path))?;
    path.parent().map_or(Ok(()), flush_folder)?;
    remove(aside)
}
