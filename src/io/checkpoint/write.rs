//! Writing of checkpoints, at once or while the run continues.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::Value;

use super::files::{self, FileChecksum, Seal};
use super::zarr::{Field, Shard, coordinates};
use super::{Attributes, Group, Head, Kolmo, NodeType, ZARR_FORMAT};
use crate::comm::{Communicator, all_or_error};
use crate::error::Result;
use crate::grid::{Axis, Boxes, Decomposition, Grid, redistribute};
use crate::io::{CheckpointConfig, make_directory, make_directory_of, malformed};
use crate::real::Values;

/// Files written by a rank, by their paths in the group.
type WrittenFiles = BTreeMap<String, FileChecksum>;

/// A checkpoint that is being written.
#[derive(Debug)]
pub struct Writing {
    part: PathBuf,
    path: PathBuf,
    head: Head,
    /// Files that this rank has written so far.
    written: Result<WrittenFiles>,
    began: Instant,
    /// The thread that writes.
    thread: Option<JoinHandle<Result<WrittenFiles>>>,
}

impl Writing {
    /// Begin to write a checkpoint to `path`, where `fields` are those of `head` at the points of this rank's block of `grid`. An
    /// existing one is replaced. The values are copied first. If `config` is asynchronous, it returns before the files are
    /// written. Collective.
    ///
    /// # Errors
    /// On all ranks, where one cannot create the directory.
    ///
    /// # Panics
    /// Where the head has other fields or points.
    pub fn begin(
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        path: &Path,
        grid: &Grid,
        head: Head,
        fields: &[Values<'_>],
        config: CheckpointConfig,
    ) -> Result<Self> {
        assert_eq!(head.fields.len(), fields.len(), "names and fields");
        assert_eq!(head.points, grid.points, "points of the head and of the grid");
        let seal = Seal { run: head.run, step: head.step };
        let began = Instant::now();
        let part = files::part_path(path);
        let bytes = fields.first().map_or(8, |field| field.precision().bytes());
        // A rank that writes a file receives its blocks one by one. If it returns before they are written it has to keep them
        // all, so there are at least as many files as hosts.
        let files = match config.asynchronous {
            true => config.files.max(hosts(comm)),
            false => config.files,
        };
        let layout = Field::new(head.points, *decomposition, files, bytes, config.compress);
        let mut store = RankFiles::new(layout, seal, &part);
        let result = match comm.rank() {
            0 => store.begin(grid, &head).inspect_err(|_| drop(files::remove(&part))),
            _ => Ok(()),
        };
        all_or_error(comm, result)?;
        let have = Boxes::blocks(*decomposition, head.points);
        let (mut stored, mut pending) = (Ok(()), Vec::new());
        for (name, values) in head.fields.iter().zip(fields) {
            for round in layout.rounds() {
                let want = layout.blocks(round, comm.size());
                // All ranks exchange values, even those that write no shard, or whose disk is full.
                let values = match values {
                    Values::F32(values) => {
                        let moved = redistribute(comm, &have, &want, 1, values, f32::NAN);
                        moved.into_iter().flat_map(f32::to_le_bytes).collect()
                    }
                    Values::F64(values) => {
                        let moved = redistribute(comm, &have, &want, 1, values, f64::NAN);
                        moved.into_iter().flat_map(f64::to_le_bytes).collect()
                    }
                };
                let block = want.of(comm.rank());
                if block.is_empty() {
                    continue;
                }
                let file = format!("{name}/{}", layout.chunk(&block));
                let piece = Piece { file, round, values };
                match config.asynchronous {
                    true => pending.push(piece),
                    false => stored = stored.and_then(|()| store.put(&piece)),
                }
            }
        }
        let mut thread = None;
        if !pending.is_empty() {
            match in_thread(pending, RankFiles::new(layout, seal, &part)) {
                Ok(started) => thread = Some(started),
                // Where the system starts no thread, write now.
                Err(pending) => stored = pending.iter().try_for_each(|piece| store.put(piece)),
            }
        }
        let written = stored.and_then(|()| store.end());
        Ok(Self { part, path: path.to_path_buf(), head, written, began, thread })
    }

    /// Its step.
    pub fn step(&self) -> u64 {
        self.head.step
    }

    /// Start of the writing.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Whether all files of this rank are written, so that [`Writing::finish`] would not wait for them.
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Wait until all ranks have written, and give the checkpoint its final name. Returns its bytes. Collective.
    ///
    /// # Errors
    /// On all ranks, where one cannot write a file; an earlier checkpoint at the path then remains.
    pub fn finish(self, comm: &dyn Communicator) -> Result<u64> {
        let part = self.part.clone();
        let result = self.end(comm);
        if result.is_err() && comm.rank() == 0 {
            // Report the first error; removing the files also frees a full disk.
            let _ = files::remove(&part);
        }
        result
    }

    fn end(self, comm: &dyn Communicator) -> Result<u64> {
        let Self { part, path, head, written, thread, .. } = self;
        let mut own = written;
        if let Some(thread) = thread {
            let broken = |_| Err(malformed(&part, "the writer thread panicked"));
            let more = thread.join().unwrap_or_else(broken);
            own = own.and_then(|own| Ok(own.into_iter().chain(more?).collect()));
        }
        let own = all_or_error(comm, own)?;
        // Ranks that write no files send nothing.
        let message = (!own.is_empty()).then(|| serde_json::to_vec(&own).unwrap_or_default());
        let gathered = comm.gather(&message.unwrap_or_default());
        let end = |gathered: Vec<Vec<u8>>| {
            let mut all = WrittenFiles::new();
            for bytes in gathered.into_iter().filter(|bytes| !bytes.is_empty()) {
                let files: WrittenFiles =
                    serde_json::from_slice(&bytes).map_err(|why| malformed(&part, why))?;
                all.extend(files);
            }
            let bytes = all.values().map(|file| file.bytes).sum();
            let (time, step) = (head.time, head.step);
            let attributes = Kolmo { time, step, kolmo: Attributes::new(head, all) };
            let group = Group { zarr_format: ZARR_FORMAT, node_type: NodeType::Group, attributes };
            files::write(&part.join("zarr.json"), &group)?;
            files::flush_folders(&part)?;
            files::replace(&part, &path)?;
            Ok(bytes)
        };
        all_or_error(comm, gathered.map_or(Ok(0), end))
    }
}

/// Number of hosts of the ranks, or more where they have different numbers of ranks. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a number of ranks")]
fn hosts(comm: &dyn Communicator) -> usize {
    let mut negated_min = [-(comm.local().1 as f64)];
    comm.max(&mut negated_min);
    comm.size().div_ceil((-negated_min[0] as usize).max(1))
}

/// A block of a field that this rank writes.
struct Piece {
    /// The path of its shard in the group.
    file: String,
    /// Its position in the shard.
    round: [usize; 3],
    values: Vec<u8>,
}

/// The files that a rank writes, one after another.
struct RankFiles {
    layout: Field,
    seal: Seal,
    part: PathBuf,
    /// The open shard and its path in the group.
    open: Option<(String, Shard)>,
    written: WrittenFiles,
}

impl RankFiles {
    fn new(layout: Field, seal: Seal, part: &Path) -> Self {
        Self { layout, seal, part: part.to_path_buf(), open: None, written: WrittenFiles::new() }
    }

    /// Write the metadata of all fields of `head`, and the coordinates of the points of `grid`, replacing existing files.
    fn begin(&mut self, grid: &Grid, head: &Head) -> Result<()> {
        files::remove(&self.part)?;
        for (name, reference) in head.fields.iter().zip(&head.references) {
            self.metadata(name, &self.layout.metadata(*reference))?;
        }
        // On curvilinear axes, points of a line do not share a coordinate.
        let straight = |axis: &Axis| grid.plane.is_none() || *axis == Axis::Z;
        Axis::ALL.into_iter().filter(straight).try_for_each(|axis| self.coordinates(grid, axis))
    }

    /// Write the metadata of the array `name`.
    fn metadata(&mut self, name: &str, metadata: &Value) -> Result<()> {
        make_directory(&self.part.join(name))?;
        let text = serde_json::to_vec_pretty(metadata).map_err(|why| malformed(&self.part, why))?;
        self.file(format!("{name}/zarr.json"), &text)
    }

    /// Write the coordinates of the points along `axis`.
    fn coordinates(&mut self, grid: &Grid, axis: Axis) -> Result<()> {
        let (name, points) = (axis.name(), grid.points[axis.index()]);
        let at = |number| {
            let mut index = [0; 3];
            index[axis.index()] = number;
            grid.coordinates(index)[axis.index()]
        };
        self.metadata(name, &coordinates(axis, points))?;
        let values: Vec<u8> = (0..points).map(at).flat_map(f64::to_le_bytes).collect();
        self.file(format!("{name}/c.0"), &values)
    }

    /// Write `bytes` to the file `name`.
    fn file(&mut self, name: String, bytes: &[u8]) -> Result<()> {
        let mut file = self.seal.create(&self.part, &name)?;
        file.write(bytes)?;
        self.written.insert(name, file.finish()?);
        Ok(())
    }

    /// Add a block to its shard; the blocks of a shard are consecutive.
    fn put(&mut self, Piece { file, round, values }: &Piece) -> Result<()> {
        if self.open.as_ref().is_none_or(|(open, _)| open != file) {
            self.close()?;
            // Rank 0 has created the folder, but a file system may not show it to this rank yet.
            make_directory_of(&self.part.join(file))?;
            let shard = Shard::create(self.layout, self.seal, &self.part, file)?;
            self.open = Some((file.clone(), shard));
        }
        self.open.as_mut().map_or(Ok(()), |(_, shard)| shard.put(*round, values))
    }

    fn close(&mut self) -> Result<()> {
        if let Some((file, shard)) = self.open.take() {
            self.written.insert(file, shard.finish()?);
        }
        Ok(())
    }

    /// The written files.
    fn end(mut self) -> Result<WrittenFiles> {
        self.close()?;
        Ok(self.written)
    }
}

/// Write `pieces` to `store` in a separate thread; returns them where the system starts none.
fn in_thread(
    pieces: Vec<Piece>,
    mut store: RankFiles,
) -> Result<JoinHandle<Result<WrittenFiles>>, Vec<Piece>> {
    let (send, receive) = mpsc::channel::<Vec<Piece>>();
    let work = move || {
        let pieces = receive.recv().unwrap_or_default();
        // Each piece is freed once it is written.
        pieces.into_iter().try_for_each(|piece| store.put(&piece))?;
        store.end()
    };
    match thread::Builder::new().spawn(work) {
        Ok(started) => send.send(pieces).map(|()| started).map_err(|unsent| unsent.0),
        Err(_) => Err(pieces),
    }
}
