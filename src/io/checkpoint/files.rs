//! Files that are on disk when it is said that they are.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What a file is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Print {
    pub(super) bytes: u64,
    pub(super) crc32c: u32,
}

impl Print {
    /// That of the file at `path`.
    fn of(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let mut print = Self { bytes: 0, crc32c: 0 };
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer).map_err(Error::io(path))? {
                0 => return Ok(print),
                count => {
                    print.bytes += count as u64;
                    print.crc32c = crc32c::crc32c_append(print.crc32c, &buffer[..count]);
                }
            }
        }
    }

    /// # Errors
    /// Where the file is not there, or not as it was written.
    pub(super) fn check(self, path: &Path) -> Result<()> {
        let found = Self::of(path)?;
        let what = match found {
            found if found == self => return Ok(()),
            Self { bytes, .. } if bytes != self.bytes => {
                format!("damaged: it has {bytes} bytes, not {}", self.bytes)
            }
            _ => "damaged: its checksum is not that of what was written".into(),
        };
        Err(Error::Format { path: path.to_path_buf(), what })
    }
}

/// Have a file that was written on disk, and know it.
pub(super) fn flush(path: &Path) -> Result<Print> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path))?;
    Print::of(path)
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

/// Have the names of all files in a folder on disk, and of those in the folders in it.
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
    // Elsewhere folders are no files that could be opened.
    if cfg!(unix) {
        File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io(folder))?;
    }
    Ok(())
}

/// Remove a folder that need not be there.
pub(super) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(folder)(error)),
        _ => Ok(()),
    }
}

/// Give the folder `part` the name `path`. One that has it already is moved aside first, and removed when the new one is there.
pub(super) fn replace(part: &Path, path: &Path) -> Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".old");
    let aside = Path::new(&aside);
    remove(aside)?;
    if path.exists() {
        fs::rename(path, aside).map_err(Error::io(path))?;
    }
    fs::rename(part, path).map_err(Error::io(path))?;
    path.parent().map_or(Ok(()), flush_folder)?;
    remove(aside)
}
