//! The directory of a run.

use std::fs;
use std::path::{Path, PathBuf};

use super::make_directory;
use crate::error::{Error, Result};

/// What a run writes into its directory.
const CONTENTS: [&str; 9] = [
    "config.toml",
    "series.csv",
    "summary.json",
    "report.html",
    "reference.csv",
    "log.jsonl",
    "fields",
    "slices",
    "plots",
];

/// A directory that one run owns.
#[derive(Clone, Debug)]
pub struct RunDirectory(PathBuf);

impl RunDirectory {
    /// Refuse a directory that already holds a run, unless `overwrite`; `command` is what the user typed after `kolmo run`.
    /// Nothing is written or removed.
    ///
    /// # Errors
    /// [`Error::RunExists`], or [`Error::Io`] where the path is a file.
    pub fn check(path: &Path, overwrite: bool, command: &str) -> Result<()> {
        if path.exists() && !path.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(Error::Io { path: path.to_path_buf(), source });
        }
        let holds_run = CONTENTS.iter().any(|name| path.join(name).exists());
        match holds_run && !overwrite {
            true => Err(Error::RunExists {
                directory: path.to_path_buf(),
                command: command.to_string(),
            }),
            false => Ok(()),
        }
    }

    /// Make the directory, and remove what an older run left there. Other files stay.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn create(path: &Path) -> Result<Self> {
        make_directory(path)?;
        for name in CONTENTS {
            let old = path.join(name);
            let removed =
                if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
            match removed {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(&old)(e));
                }
                _ => {}
            }
        }
        Ok(Self(path.to_path_buf()))
    }

    /// The path of something in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}
