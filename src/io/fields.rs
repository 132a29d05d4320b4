//! The fields that a run writes: one `.vti` for every time, or a `.pvti` and its pieces, and a `.series` file, which ParaView
//! opens as one film. On stretched grids they are `.vtr` and `.pvtr`, on curvilinear ones `.vts` and `.pvts`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::directory::{KINDS, entries, is_piece, step};
use super::pieces::{Selection, boxes, joined};
use super::vtk::{FieldData, PartFile, write_parallel};
use super::{
    make_directory_of, optional, read_json, remove_file, sync_file, write_json, write_whole,
};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::grid::{Decomposition, Grid};

/// What is written each time, and into how many files.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The grid of the run.
    pub grid: Grid,
    /// The points of it that are written.
    pub selection: Selection,
    /// Files at most, each written by one rank.
    pub files: usize,
}

/// Writes one kind of fields into a directory of their own.
#[derive(Debug)]
pub struct FieldWriter {
    directory: PathBuf,
    /// What the `.series` file is called: `fields` for `fields.vti.series`.
    stem: &'static str,
    layout: Layout,
    /// Whether pieces are written, even if there is one.
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
    /// For a directory that holds none yet.
    pub fn new(directory: &Path, stem: &'static str, layout: Layout) -> Self {
        let index = FieldIndex { file_series_version: "1.0".into(), files: Vec::new() };
        let directory = directory.to_path_buf();
        let unsynced = Vec::new();
        Self { directory, stem, in_pieces: layout.files > 1, layout, index, unsynced }
    }

    /// Go on with what is in the directory: later times than that of the step `last` are removed, all where that is none; of
    /// these only files that the run `owns`. `written` are the steps and times of all that was written until then, by which the
    /// `.series` file is made again; without them it is taken as it is found.
    /// What began in single files goes on in single files and what began in pieces in pieces, since a `.series` file must not
    /// mix them. To be called on rank 0 before [`FieldWriter::meet`].
    pub fn resume(
        &mut self,
        last: Option<u64>,
        written: Option<&[(u64, f64)]>,
        owns: &dyn Fn(&Path) -> bool,
    ) -> Result<()> {
        let kept =
            |name: &str| step_of(name).is_some_and(|step| last.is_some_and(|last| step <= last));
        for in_pieces in [true, false] {
            let path = self.series(in_pieces);
            let found = optional(&path, read_json::<FieldIndex>);
            // What is damaged is made again where it is known what was written.
            let found = if written.is_some() { found.unwrap_or(None) } else { found? };
            let found = found.map_or(Vec::new(), |index| index.files);
            let files: Vec<FieldEntry> = match written {
                Some(written) => written
                    .iter()
                    .map(|&(step, time)| FieldEntry { name: self.file_name(step, in_pieces), time })
                    // Somebody may have removed fields of early times.
                    .filter(|file| self.directory.join(&file.name).exists())
                    .collect(),
                None => found.iter().filter(|file| kept(&file.name)).cloned().collect(),
            };
            if files.is_empty() {
                if owns(&path) {
                    remove_file(&path)?;
                }
                continue;
            }
            let changed = files != found;
            (self.in_pieces, self.index.files) = (in_pieces, files);
            if changed {
                write_json(&path, &self.index)?;
            }
        }
        // Also what was written and not listed any more, and halves of files.
        for path in entries(&self.directory) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stays = kept(&name) && !name.ends_with(".part");
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
            // Not where somebody else has put something.
            let _ = fs::remove_dir(&path);
        }
        Ok(())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// (step, time) of all that was written.
    pub fn written(&self) -> Vec<(u64, f64)> {
        let files = self.index.files.iter();
        files.filter_map(|file| Some((step_of(&file.name)?, file.time))).collect()
    }

    /// The names in the directory of what [`FieldWriter::write`] makes at `step`; a folder ends with `/`.
    pub fn names(&self, step: u64) -> Vec<String> {
        let folder = format!("step_{step:08}/");
        let list = format!("{}.{}.series", self.stem, self.kind(self.in_pieces));
        let mut names = vec![self.file_name(step, self.in_pieces), list];
        names.extend(self.in_pieces.then_some(folder));
        names
    }

    /// Have all ranks write what rank 0 says: single files or pieces. Collective.
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

    /// Write the fields of one time, of each what [`Selection::of`] takes of this rank's block, and list them in the `.series`
    /// file. Each is written before the next is asked for; an error among them is one on all ranks.
    /// Returns the bytes of all files. Collective.
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
        let whole = self.file_name(step, in_pieces);
        let kind = self.kind(false);
        let piece = |rank| match in_pieces {
            true => format!("step_{step:08}/rank_{rank:05}.{kind}"),
            false => whole.clone(),
        };
        let path = directory.join(piece(comm.rank()));
        let create = || {
            make_directory_of(&path)?;
            PartFile::create(&path, &image, part)
        };
        let mut file = (!part.is_empty()).then(create).transpose();
        let mut arrays = Vec::new();
        for field in fields {
            // Also where this rank cannot write: others have points of it here, and it of theirs.
            let field = joined(comm, decomposition, grid.points, selection, &boxes, field?);
            arrays.push(field.attributes());
            file = file.and_then(|file| file.map(|file| file.with(&field)).transpose());
        }
        let own = || {
            let Some(file) = file? else { return Ok(0) };
            file.finish()?;
            self.unsynced.push(path.clone());
            fs::metadata(&path).map(|file| file.len()).map_err(Error::io(&path))
        };
        // All pieces are there before a file speaks of them.
        let bytes = all_or_error(comm, own()).inspect_err(|_| {
            // A piece without the others is of no use.
            let _ = fs::remove_file(&path);
        })?;
        let mut list = || {
            if comm.rank() > 0 {
                return Ok(());
            }
            if in_pieces {
                let all: Vec<_> = boxes.all().map(|(rank, part)| (piece(rank), part)).collect();
                let path = directory.join(&whole);
                write_whole(&path, |writer| write_parallel(writer, &image, &arrays, &all))?;
                self.unsynced.push(path);
            }
            self.index.files.retain(|entry| entry.name != whole);
            self.index.files.push(FieldEntry { name: whole.clone(), time });
            write_json(&self.series(in_pieces), &self.index)
        };
        let listed = list();
        all_or_error(comm, listed)?;
        Ok(total(comm, bytes))
    }

    /// Have on disk what this rank has written: a checkpoint counts on it.
    pub fn sync(&mut self) -> Result<()> {
        // Somebody may have removed some.
        let mut there = self.unsynced.iter().filter(|path| path.exists());
        there.try_for_each(|path| sync_file(path))?;
        self.unsynced.clear();
        Ok(())
    }

    fn series(&self, in_pieces: bool) -> PathBuf {
        self.directory.join(format!("{}.{}.series", self.stem, self.kind(in_pieces)))
    }

    /// What the name of a file ends with.
    fn kind(&self, in_pieces: bool) -> &'static str {
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
        format!("step_{step:08}.{}", self.kind(in_pieces))
    }
}

/// The step that `step_00000100.vti` and `step_00000100` are of; `None` of what is called otherwise.
fn step_of(name: &str) -> Option<u64> {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let stem = KINDS.iter().find_map(|kind| name.strip_suffix(kind)?.strip_suffix('.'));
    step(stem.unwrap_or(name))
}

/// The sum over all ranks.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a whole number")]
fn total(comm: &dyn Communicator, bytes: u64) -> u64 {
    let mut sum = [bytes as f64];
    comm.sum(&mut sum);
    sum[0] as u64
}
