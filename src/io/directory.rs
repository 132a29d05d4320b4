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
    /// Whether a run, or a part of one, lies in `path`.
    pub fn holds_run(path: &Path) -> bool {
        CONTENTS.iter().any(|name| path.join(name).exists())
    }

    /// A path that nothing lies at: `path` with the first number from 2 on that makes it so.
    pub fn beside(path: &Path) -> PathBuf {
        // The components leave out a slash at the end, behind which a number would be a file inside.
        let path = path.components().collect::<PathBuf>().into_os_string();
        let numbered = |number: u32| {
            let mut path = path.clone();
            path.push(format!("-{number}"));
            PathBuf::from(path)
        };
        (2..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(2))
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
