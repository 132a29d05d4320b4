//! Only one process at a time writes to a directory.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::open::regular;
use crate::io::progress::tell;
use crate::io::{make_directory, malformed, refused};

/// The lock file.
pub(super) const FILE: &str = ".lock";

/// Keeps other processes from writing to a directory during its lifetime: an advisory lock (flock) on `.lock` in the directory.
/// The system releases it when the process ends, also after a crash.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: PathBuf,
    /// `None` where the file system has no locks.
    file: Option<File>,
    /// Directories that were created for the lock, outermost first.
    created: Vec<PathBuf>,
}

impl DirectoryLock {
    /// Lock `directory`, which is created where it does not exist.
    ///
    /// # Errors
    /// Where another process holds the lock, or the system refuses to create the file.
    pub fn take(directory: &Path) -> Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut created: Vec<PathBuf> =
            directory.ancestors().take_while(missing).map(Path::to_path_buf).collect();
        created.reverse();
        let path = directory.join(FILE);
        let mut lock = Self { directory: directory.to_path_buf(), file: None, created };
        loop {
            make_directory(directory)?;
            let mut options = File::options();
            let open = regular(options.read(true).write(true).create(true), &path);
            let file = match open {
                // The process that created the directory has removed it in between.
                Err(why) if why.kind() == ErrorKind::NotFound && !directory.exists() => continue,
                open => open.map_err(Error::io(&path))?,
            };
            if path.is_symlink() || file.metadata().is_ok_and(|data| data.len() > 0) {
                return Err(malformed(&path, "not the lock of a run; move it away"));
            }
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    lock.file = Some(file);
                    return Ok(lock);
                }
                // The file was removed by the process that held the lock: a lock on it protects nothing.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(refused(
                        format!("another process is running in {}", directory.display()),
                        "wait until it has ended, or choose another directory",
                    ));
                }
                Err(TryLockError::Error(_)) => {
                    tell(&format!(
                        "note: the file system of {} has no locks: take care that no other process writes there",
                        directory.display()
                    ));
                    return Ok(lock);
                }
            }
        }
    }
}

impl Drop for DirectoryLock {
    /// Remove the lock file, and the directories created for the lock that are still empty.
    fn drop(&mut self) {
        // Done while the lock is held: another process finds either this file, locked, or one of its own.
        let path = self.directory.join(FILE);
        if self.file.as_ref().is_some_and(|file| is_at(file, &path)) {
            let _ = fs::remove_file(path);
        }
        // Fails where they have content, as they should.
        self.created.iter().rev().try_for_each(fs::remove_dir).unwrap_or_default();
    }
}

/// Whether `file` is still the file at `path`.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: fs::Metadata| (data.dev(), data.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(path)) => identity(file) == identity(path),
        _ => false,
    }
}

/// An open file cannot be removed elsewhere.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> bool {
    true
}
