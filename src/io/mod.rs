//! The files of a run, written and read.
//!
//! Each part takes plain numbers and does not depend on the solver: [`series`] (`series.csv`), [`vtk`], [`pieces`] and [`fields`]
//! (`fields/`, `planes/`), [`checkpoint`] (`checkpoints/`), [`slices`] (`slices/`), [`summary`] (`summary.json`),
//! [`mod@reference`] (`reference.csv`), [`spectra`] (`statistics/spectra.csv` and `reference_spectrum.csv`), [`report`]
//! (`report.html` and `plots/`, drawn from the others), [`live`] (the report during a run, for a browser), [`progress`] (the line
//! on the terminal), [`directory`] (the run directory).
//!
//! A file is written under a temporary name and renamed, so that it is either complete or absent; only the series grows, by whole
//! rows.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

pub(crate) use crate::error::refused;
use crate::{Error, Result};

mod arrays;
mod bar;
pub(crate) mod bar_chart;
mod body;
pub mod checkpoint;
pub mod directory;
pub mod fields;
pub(crate) mod figures;
mod floats;
mod grid_file;
pub mod live;
pub(crate) mod open;
mod options;
pub(crate) mod page;
pub(crate) mod palette;
pub mod pieces;
pub(crate) mod plot;
mod plot_data;
mod profile;
pub mod progress;
pub mod reference;
pub mod report;
mod round_off;
mod run_id;
pub(crate) mod scale;
pub mod series;
mod slice_page;
pub mod slices;
pub mod spectra;
pub(crate) mod statistics;
pub mod summary;
mod user_reference;
pub mod verdict;
pub mod vtk;
mod wall_profiles;
mod zarr;
mod zstd;

pub use arrays::ArrayFile;
pub(crate) use body::SURFACE;
pub use directory::{DirectoryLock, RunDirectory};
pub use fields::FieldWriter;
pub use grid_file::{StoredPoints, read_points};
pub use live::Live;
pub(crate) use options::MAX_FILES;
pub use options::{CheckpointConfig, Schedule, StatisticsConfig};
pub(crate) use profile::PROFILE;
pub use progress::Progress;
pub use reference::Reference;
pub use report::write_report;
pub use run_id::RunId;
pub use series::{Series, SeriesWriter};
pub use slices::{Plane, Slice, SliceWriter};
pub use summary::Summary;
pub(crate) use user_reference::{USER_REFERENCE, user_reference};
pub use vtk::{FieldData, ImageGrid};

/// A file that is complete or absent: it has `.part` added to its name until [`AtomicFile::finish`], and is removed if dropped before.
pub(crate) struct AtomicFile {
    path: PathBuf,
    part: PathBuf,
    writer: BufWriter<File>,
    is_done: bool,
}

impl AtomicFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let part = with_ending(path, ".part");
        if part.is_symlink() {
            // Do not write through a link into a foreign file.
            remove_file(&part)?;
        }
        // Anything but a regular file stays.
        let file = open::regular(File::options().write(true).create(true), &part);
        let writer = BufWriter::new(file.map_err(Error::io(path))?);
        let created = Self { path: path.to_path_buf(), part, writer, is_done: false };
        created.writer.get_ref().set_len(0).map_err(Error::io(path))?;
        Ok(created)
    }

    /// Write with `write`.
    pub(crate) fn add(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<()> {
        write(&mut self.writer).map_err(Error::io(&self.path))
    }

    /// Give the file its final name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let result = self.writer.flush().and_then(|()| fs::rename(&self.part, &self.path));
        self.is_done = result.is_ok();
        result.map_err(Error::io(&self.path))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.is_done {
            // The first error is the one to report.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Write `path` with `write`, complete or not at all.
pub(crate) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.add(write)?;
    file.finish()
}

/// Flush a file to disk.
pub(crate) fn sync_file(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path))
}

/// [`write_atomically`] of a text.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, |writer| writer.write_all(text.as_bytes()))
}

/// The error of a file at `path` that does not hold what it should.
pub(crate) fn malformed(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Format { path: path.to_path_buf(), what: why.to_string() }
}

/// The result of `read` at a path; `None` where no file exists.
pub(crate) fn optional<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
    path.exists().then(|| read(path)).transpose()
}

/// The text of a file that a run directory should contain.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    open::text(path, open::MAX_TEXT_BYTES).map_err(Error::io(path))
}

/// Refuse a directory that cannot exist, because it or one of its parents is a file. `needs` is subject and verb
/// of the message, such as `a run needs`.
///
/// # Errors
/// Where this is the case.
pub fn refuse_file(directory: &Path, needs: &str) -> Result<()> {
    match directory.ancestors().find(|above| above.exists()) {
        Some(file) if !file.is_dir() => Err(refused(
            format!("{} is a file; {needs} a directory", file.display()),
            "choose another with `--out`",
        )),
        _ => Ok(()),
    }
}

/// A directory, created with its parents where it does not exist.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|why| match fs::read_link(path) {
        Ok(target) if !path.exists() => {
            malformed(path, format!("a link to {}, which is not there", target.display()))
        }
        _ if path.is_file() => malformed(path, "a file is there, not a directory"),
        _ => Error::io(path)(why),
    })
}

/// The same for the parent directory of a file.
pub(crate) fn make_directory_of(file: &Path) -> Result<()> {
    // A bare name has an existing parent.
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), make_directory)
}

/// Open a file of lines to append to, created where it does not exist. An unfinished last line is cut off.
pub fn append_to(path: &Path) -> Result<File> {
    unshare(path)?;
    let open = || {
        let mut file = open::regular(File::options().create(true).read(true).append(true), path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let complete = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if complete < text.len() {
            file.set_len(complete as u64)?;
        }
        Ok(file)
    };
    open().map_err(Error::io(path))
}

/// Make sure that the file at `path`, where there is one, has only this name: where it has others (`cp -al`), replace it by a
/// copy; the others keep the old file.
#[cfg(unix)]
pub(crate) fn unshare(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let Ok(data) = fs::symlink_metadata(path) else { return Ok(()) };
    if !data.is_file() || data.nlink() == 1 {
        return Ok(());
    }
    let mut file = File::open(path).map_err(Error::io(path))?;
    write_atomically(path, |to| std::io::copy(&mut file, to).map(|_| ()))
}

/// Other systems do not report this.
#[cfg(not(unix))]
pub(crate) fn unshare(_: &Path) -> Result<()> {
    Ok(())
}

/// Remove a file that may be missing.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    ignore_missing(path, fs::remove_file(path))
}

/// The result of an operation on a path that may be missing.
fn ignore_missing(path: &Path, result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path)(error)),
        _ => Ok(()),
    }
}

/// A path with `ending` appended to its name.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// JSON, indented for readability.
pub fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.unwrap_or_else(|_| unreachable!("numbers and words have a JSON")) + "\n"
}

/// Write JSON, complete or not at all.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    write_text(path, &json(value))
}

/// Read JSON back, or report what is wrong with it.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = open::text(path, open::MAX_JSON_BYTES).map_err(Error::io(path))?;
    serde_json::from_str(&text).map_err(|why| malformed(path, why))
}
