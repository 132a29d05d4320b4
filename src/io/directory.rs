//! The directory of a run.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::{make_directory, remove_file};
use crate::error::{Error, Result};

/// The files that a run writes into its directory. The first of them is there from the start of a run to its removal:
/// what makes the directory a run's.
const FILES: [&str; 7] = [
    "log.jsonl",
    "config.toml",
    "series.csv",
    "summary.json",
    "report.html",
    "reference.csv",
    "reference_spectrum.csv",
];

/// The folders, and what the names of a run's files in them end with.
const FOLDERS: [(&str, &[&str]); 6] = [
    ("fields", &[".vti", ".pvti", ".series", ".part"]),
    ("planes", &[".vti", ".pvti", ".series", ".part"]),
    ("checkpoints", &[]),
    ("statistics", &[".csv"]),
    ("slices", &[".png", ".json", ".part"]),
    ("plots", &[".svg", ".part"]),
];

/// How the folders begin that a run makes in those: of a step, or of a plane.
const INNER: [&str; 4] = ["step_", "x_", "y_", "z_"];

/// A directory that one run owns.
#[derive(Clone, Debug)]
pub struct RunDirectory(PathBuf);

impl RunDirectory {
    /// Whether a run, or a part of one, lies in `path`.
    pub fn holds_run(path: &Path) -> bool {
        path.join(FILES[0]).exists()
    }

    /// A file of somebody else's in `path` that a run would replace.
    pub fn in_the_way(path: &Path) -> Option<&'static str> {
        let foreign = |name: &&str| path.join(name).exists();
        (!Self::holds_run(path)).then(|| FILES.into_iter().find(foreign))?
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
        for name in FILES {
            remove_file(&path.join(name))?;
        }
        for (folder, endings) in FOLDERS {
            remove_run_files(&path.join(folder), endings)?;
        }
        Ok(Self(path.to_path_buf()))
    }

    /// Keep other processes from running in `path` for as long as the result lives; `None` where nothing is there yet, and where
    /// the file system knows no locks.
    ///
    /// # Errors
    /// Where one does.
    pub fn lock(path: &Path) -> Result<Option<File>> {
        // Elsewhere a lock keeps this process from writing, too.
        if !cfg!(unix) {
            return Ok(None);
        }
        let Ok(log) = File::open(path.join(FILES[0])) else { return Ok(None) };
        match log.try_lock() {
            Ok(()) => Ok(Some(log)),
            Err(TryLockError::WouldBlock) => Err(Error::Config(vec![
                format!("error: another process is running in {}", path.display()),
                "       wait until it has ended, or choose another directory".into(),
            ])),
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }

    /// The directory of a run that is there, and goes on.
    pub fn open(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Where its checkpoints are.
    pub fn checkpoints(path: &Path) -> PathBuf {
        path.join("checkpoints")
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

/// Remove something that need not be there.
fn remove(path: &Path, how: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    match how(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path)(e)),
        _ => Ok(()),
    }
}

/// Remove the files of a run from one of its folders and from the folders of steps in it, and each folder where nothing
/// else is in it. True where it is gone.
fn remove_run_files(folder: &Path, endings: &[&str]) -> Result<bool> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(true) };
    let mut empty = true;
    for entry in entries {
        let entry = entry.map_err(Error::io(folder))?;
        let (file, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // A link to a folder is somebody else's.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let gone = if is_folder && name.starts_with("step_") && name.contains(".zarr") {
            remove(&file, |file| fs::remove_dir_all(file))?;
            true
        } else if is_folder && INNER.iter().any(|begin| name.starts_with(begin)) {
            remove_run_files(&file, endings)?
        } else if !file.is_dir() && endings.iter().any(|ending| name.ends_with(ending)) {
            remove_file(&file)?;
            true
        } else {
            false
        };
        empty &= gone;
    }
    if empty {
        remove(folder, |folder| fs::remove_dir(folder))?;
    }
    Ok(empty)
}
