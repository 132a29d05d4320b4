//! The fields that a run writes: one `.vti` per time, or a `.pvti` and its pieces, and a `.series` file, which ParaView opens as
//! one film. Files are `.vtr` and `.pvtr` on stretched grids, `.vts` and `.pvts` on curvilinear ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::directory::{KINDS, entries, is_piece, step};
use super::pieces::{Selection, boxes, joined};
use super::vtk::{FieldData, PartFile, write_parallel};
use super::{
    make_directory_of, optional, read_json, remove_file, sync_file, write_atomically, write_json,
};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::grid::{Decomposition, Grid};

/// Points and number of files of each output.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The grid of the run.
    pub grid: Grid,
    /// The grid points that are written.
    pub selection: Selection,
    /// Maximum number of files, each written by one rank.
    pub files: usize,
}

/// Writer of one kind of fields into a separate directory.
#[derive(Debug)]
pub struct FieldWriter {
    directory: PathBuf,
    /// Name of the `.series` file: `fields` for `fields.vti.series`.
    stem: &'static str,
    layout: Layout,
    /// Whether pieces are written, even if there is only one.
    in_pieces: bool,
    index: FieldIndex,
    /// Files of this rank that may not be on disk yet.
    unsynced: Vec<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct FieldIndex {
    file_series_version: String,
    files: Vec<FieldEntry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FieldEntry {
    name: String,
    time: f64,
}

impl FieldWriter {
    /// For a directory without fields.
    pub fn new(directory: &Path, stem: &'static str, layout: Layout) -> Self {
        let index = FieldIndex { file_series_version: "1.0".into(), files: Vec::new() };
        let directory = directory.to_path_buf();
        let unsynced = Vec::new();
        Self { directory, stem, in_pieces: layout.files > 1, layout, index, unsynced }
    }

    /// Continue with the contents of the directory: remove the files of times after the step `last` (all where it is `None`), but
    /// only files that the run `owns`. `written` lists the steps and times written until then, from which the `.series` file is
    /// rebuilt; without it the existing `.series` file is used. Single files stay single files and pieces stay pieces, since a
    /// `.series` file must not mix them. Call it on rank 0 before [`FieldWriter::meet`].
    pub fn resume(
        &mut self,
        last: Option<u64>,
        written: Option<&[(u64, f64)]>,
        owns: &dyn Fn(&Path) -> bool,
    ) -> Result<()> {
        let is_kept =
            |name: &str| step_of(name).is_some_and(|step| last.is_some_and(|last| step <= last));
        for in_pieces in [true, false] {
            let path = self.series_path(in_pieces);
            let listed = optional(&path, read_json::<FieldIndex>);
            // A damaged list is rebuilt where it is known what was written.
            let listed = if written.is_some() { listed.unwrap_or(None) } else { listed? };
            let listed = listed.map_or(Vec::new(), |index| index.files);
            let files: Vec<FieldEntry> = match written {
                Some(written) => written
                    .iter()
                    .map(|&(step, time)| FieldEntry { name: self.file_name(step, in_pieces), time })
                    // Early files may have been removed.
                    .filter(|file| self.directory.join(&file.name).exists())
                    .collect(),
                None => listed.iter().filter(|file| is_kept(&file.name)).cloned().collect(),
            };
            if files.is_empty() {
                if owns(&path) {
                    remove_file(&path)?;
                }
                continue;
            }
            let changed = files != listed;
            (self.in_pieces, self.index.files) = (in_pieces, files);
            if changed {
                write_json(&path, &self.index)?;
            }
        }
        // Also files that are no longer listed, and unfinished files.
        for path in entries(&self.directory) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stays = is_kept(&name) && !name.ends_with(".part");
            if step_of(&name).is_none() || stays || !owns(&path) {
                continue;
            }
            if path.is_symlink() || !path.is_dir() {
                remove_file(&path)?;
                continue;
            }
            let pieces = fs::read_dir(&path).map_err(Error::io(&path))?.flatten();
            let mut pieces = pieces.map(|piece| piece.path()).filter(|piece| is_piece(piece));
            pieces.try_for_each(|piece| remove_file(&piece))?;
            // Fails where the folder holds foreign files.
            let _ = fs::remove_dir(&path);
        }
        Ok(())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// (step, time) of all outputs so far.
    pub fn written(&self) -> Vec<(u64, f64)> {
        let files = self.index.files.iter();
        files.filter_map(|file| Some((step_of(&file.name)?, file.time))).collect()
    }

    /// Names in the directory of the files that [`FieldWriter::write`] writes at `step`; a folder ends with `/`.
    pub fn names(&self, step: u64) -> Vec<String> {
        let folder = format!("step_{step:08}/");
        let list = format!("{}.{}.series", self.stem, self.extension(self.in_pieces));
        let mut names = vec![self.file_name(step, self.in_pieces), list];
        names.extend(self.in_pieces.then_some(folder));
        names
    }

    /// Make all ranks use the choice of rank 0: single files or pieces. Collective.
    pub fn meet(&mut self, comm: &dyn Communicator) {
        self.in_pieces = comm.broadcast(0, vec![u8::from(self.in_pieces)]) == [1];
        if !self.in_pieces {
            self.layout.files = 1;
        }
    }

    /// The points that are written.
    pub fn selection(&self) -> &Selection {
        &self.layout.selection
    }

    /// Write the fields of one time, each given by [`Selection::of`] for this rank's block, and list them in the `.series` file.
    /// Each is written before the next is requested; an error in one of them is an error on all ranks. Returns the bytes of all
    /// files. Collective.
    pub fn write(
        &mut self,
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        (step, time): (u64, f64),
        fields: impl IntoIterator<Item = Result<FieldData>>,
    ) -> Result<u64> {
        let Layout { grid, selection, files } = &self.layout;
        let boxes = boxes(decomposition, grid.points, selection, *files);
        let (part, image) = (boxes.of(comm.rank()), selection.image(grid));
        let (in_pieces, directory) = (self.in_pieces, self.directory.clone());
        let main_file = self.file_name(step, in_pieces);
        let extension = self.extension(false);
        let piece = |rank| match in_pieces {
            true => format!("step_{step:08}/rank_{rank:05}.{extension}"),
            false => main_file.clone(),
        };
        let path = directory.join(piece(comm.rank()));
        let create = || {
            make_directory_of(&path)?;
            PartFile::create(&path, &image, part)
        };
        let mut file = (!part.is_empty()).then(create).transpose();
        let mut arrays = Vec::new();
        for field in fields {
            // Also where this rank cannot write: ranks exchange points here.
            let field = joined(comm, decomposition, grid.points, selection, &boxes, field?);
            arrays.push(field.attributes());
            file = file.and_then(|file| file.map(|file| file.with_field(&field)).transpose());
        }
        let finish = || {
            let Some(file) = file? else { return Ok(0) };
            file.finish()?;
            self.unsynced.push(path.clone());
            fs::metadata(&path).map(|file| file.len()).map_err(Error::io(&path))
        };
        // Write the file that lists the pieces after all pieces.
        let bytes = all_or_error(comm, finish()).inspect_err(|_| {
            // A piece is useless without the others.
            let _ = fs::remove_file(&path);
        })?;
        let mut update_index = || {
            if comm.rank() > 0 {
                return Ok(());
            }
            if in_pieces {
                let all: Vec<_> = boxes.all().map(|(rank, part)| (piece(rank), part)).collect();
                let path = directory.join(&main_file);
                write_atomically(&path, |writer| write_parallel(writer, &image, &arrays, &all))?;
                self.unsynced.push(path);
            }
            self.index.files.retain(|entry| entry.name != main_file);
            self.index.files.push(FieldEntry { name: main_file.clone(), time });
            write_json(&self.series_path(in_pieces), &self.index)
        };
        let updated = update_index();
        all_or_error(comm, updated)?;
        Ok(sum_over_ranks(comm, bytes))
    }

    /// Flush the files of this rank to disk: a checkpoint relies on them.
    pub fn sync(&mut self) -> Result<()> {
        // Some may have been removed.
        let mut existing = self.unsynced.iter().filter(|path| path.exists());
        existing.try_for_each(|path| sync_file(path))?;
        self.unsynced.clear();
        Ok(())
    }

    fn series_path(&self, in_pieces: bool) -> PathBuf {
        self.directory.join(format!("{}.{}.series", self.stem, self.extension(in_pieces)))
    }

    /// The ending of file names.
    fn extension(&self, in_pieces: bool) -> &'static str {
        let grid = &self.layout.grid;
        let [uniform, stretched, curved] =
            if in_pieces { ["pvti", "pvtr", "pvts"] } else { ["vti", "vtr", "vts"] };
        match (grid.is_uniform(), &grid.plane) {
            (true, _) => uniform,
            (false, None) => stretched,
            (false, Some(_)) => curved,
        }
    }

    fn file_name(&self, step: u64, in_pieces: bool) -> String {
        format!("step_{step:08}.{}", self.extension(in_pieces))
    }
}

/// The step in `step_00000100.vti` and `step_00000100`; `None` for other names.
fn step_of(name: &str) -> Option<u64> {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let stem = KINDS.iter().find_map(|kind| name.strip_suffix(kind)?.strip_suffix('.'));
    step(stem.unwrap_or(name))
}

/// The sum over all ranks.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a whole number")]
fn sum_over_ranks(comm: &dyn Communicator, bytes: u64) -> u64 {
    let mut sum = [bytes as f64];
    comm.sum(&mut sum);
    sum[0] as u64
}
