//! A checkpoint written, at once or while the run goes on.

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
use crate::io::{CheckpointConfig, make_directory, malformed};
use crate::real::Values;

/// How a checkpoint is written.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Compress the values.
    pub compress: bool,
    /// Return from [`Writing::begin`] before the files are written.
    pub asynchronous: bool,
    /// Files of a field at most. A rank that writes one takes the blocks of the ranks that it holds one by one; where it is to
    /// return before they are written it has to keep them all, so that then there are as many as hosts at least.
    pub files: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        let CheckpointConfig { compress, asynchronous, files, .. } = CheckpointConfig::LAST;
        Self { compress, asynchronous, files }
    }
}

/// Files that a rank wrote, by their paths in the group.
type Written = BTreeMap<String, FileChecksum>;

/// A checkpoint on its way to the disk.
#[derive(Debug)]
pub struct Writing {
    part: PathBuf,
    path: PathBuf,
    head: Head,
    /// What this rank has written so far.
    written: Result<Written>,
    began: Instant,
    /// What is being written.
    thread: Option<JoinHandle<Result<Written>>>,
}

impl Writing {
    /// Begin to write a checkpoint to `path`, where `fields` are those of `head` at the points of this rank's block of `grid`.
    /// One that is there already is replaced. The values are copied first. Collective.
    ///
    /// # Errors
    /// On all ranks, where the directory cannot be made on one.
    ///
    /// # Panics
    /// Where the head has other fields or points, or names no run.
    pub fn begin(
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        path: &Path,
        grid: &Grid,
        head: Head,
        fields: &[Values<'_>],
        manner: WriteOptions,
    ) -> Result<Self> {
        assert_eq!(head.fields.len(), fields.len(), "names and fields");
        assert_eq!(head.points, grid.points, "points of the head and of the grid");
        let seal = Seal { run: head.run.expect("a checkpoint is of a run"), step: head.step };
        let began = Instant::now();
        let part = files::part_of(path);
        let points = head.points;
        let bytes = fields.first().map_or(8, |field| field.precision().bytes());
        let files = match manner.asynchronous {
            true => manner.files.max(hosts(comm)),
            false => manner.files,
        };
        let layout = Field::new(points, *decomposition, files, bytes, manner.compress);
        let begin = || {
            files::remove(&part)?;
            let mut written = Written::new();
            for (name, reference) in head.fields.iter().zip(&head.references) {
                store_metadata(&part, name, &layout.metadata(*reference), seal, &mut written)?;
            }
            // Along curves no coordinate is that of all points of a line.
            let straight = |axis: &Axis| grid.plane.is_none() || *axis == Axis::Z;
            for axis in Axis::ALL.into_iter().filter(straight) {
                store_coordinates(&part, grid, axis, seal, &mut written)?;
            }
            Ok(written)
        };
        let first = comm.rank() == 0;
        let begin = || begin().inspect_err(|_| drop(files::remove(&part)));
        let written = all_or_error(comm, if first { begin() } else { Ok(Written::new()) })?;
        let have = Boxes::blocks(*decomposition, points);
        let mut store = Store::new(layout, seal, &part);
        let (mut stored, mut later) = (Ok(()), Vec::new());
        for (name, values) in head.fields.iter().zip(fields) {
            for round in layout.rounds() {
                let want = layout.blocks(round, comm.size());
                // All ranks exchange values, also one that writes no shard, or whose disk is full.
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
                match manner.asynchronous {
                    true => later.push(piece),
                    false => stored = stored.and_then(|()| store.put(&piece)),
                }
            }
        }
        let mut thread = None;
        if !later.is_empty() {
            match in_thread(later, Store::new(layout, seal, &part)) {
                Ok(started) => thread = Some(started),
                // Where the system starts no thread the run waits.
                Err(later) => stored = later.iter().try_for_each(|piece| store.put(piece)),
            }
        }
        let stored = stored.and_then(|()| store.end());
        let written = stored.map(|more| written.into_iter().chain(more).collect());
        Ok(Self { part, path: path.to_path_buf(), head, written, began, thread })
    }

    /// The step that it is of.
    pub fn step(&self) -> u64 {
        self.head.step
    }

    /// When it was begun.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Whether all files of this rank are written: [`Writing::finish`] would not wait for them.
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Wait until all ranks have written, and give the checkpoint its name. Returns its bytes. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file cannot be written on one; what was at the path before is still there then.
    pub fn finish(self, comm: &dyn Communicator) -> Result<u64> {
        let part = self.part.clone();
        let result = self.end(comm);
        if result.is_err() && comm.rank() == 0 {
            // The first error is the one to tell; and a full disk has room again.
            let _ = files::remove(&part);
        }
        result
    }

    fn end(self, comm: &dyn Communicator) -> Result<u64> {
        let Self { part, path, head, written, thread, .. } = self;
        let mut own = written;
        if let Some(thread) = thread {
            let broken = |_| Err(malformed(&part, "the thread that writes it has broken"));
            let more = thread.join().unwrap_or_else(broken);
            own = own.and_then(|own| Ok(own.into_iter().chain(more?).collect()));
        }
        let own = all_or_error(comm, own)?;
        // Ranks that write no files have nothing to say.
        let told = (!own.is_empty()).then(|| serde_json::to_vec(&own).unwrap_or_default());
        let gathered = comm.gather(&told.unwrap_or_default());
        let end = |gathered: Vec<Vec<u8>>| {
            let mut all = Written::new();
            for bytes in gathered.into_iter().filter(|bytes| !bytes.is_empty()) {
                let files: Written =
                    serde_json::from_slice(&bytes).map_err(|why| malformed(&part, why))?;
                all.extend(files);
            }
            let bytes = all.values().map(|file| file.bytes).sum();
            let (time, step) = (Some(head.time), Some(head.step));
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

/// Hosts of the ranks: no fewer, where not all have as many ranks. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a number of ranks")]
fn hosts(comm: &dyn Communicator) -> usize {
    let mut fewest = [-(comm.local().1 as f64)];
    comm.max(&mut fewest);
    comm.size().div_ceil((-fewest[0] as usize).max(1))
}

/// A block of a field that this rank writes.
struct Piece {
    /// The path of its shard in the group.
    file: String,
    /// Its position in the shard.
    round: [usize; 3],
    values: Vec<u8>,
}

/// The shards that a rank writes, one after another.
struct Store {
    layout: Field,
    seal: Seal,
    part: PathBuf,
    /// The shard that is being written, and its path in the group.
    open: Option<(String, Shard)>,
    written: Written,
}

impl Store {
    fn new(layout: Field, seal: Seal, part: &Path) -> Self {
        Self { layout, seal, part: part.to_path_buf(), open: None, written: Written::new() }
    }

    /// Add a block to its shard; those of a shard come one after another.
    fn put(&mut self, Piece { file, round, values }: &Piece) -> Result<()> {
        let mut shard = match self.open.take() {
            Some((open, shard)) if open == *file => shard,
            other => {
                self.close(other)?;
                // Rank 0 has made the folder, which a file system may not show this rank yet.
                self.part.join(file).parent().map_or(Ok(()), make_directory)?;
                Shard::create(self.layout, self.seal, &self.part, file)?
            }
        };
        shard.put(*round, values)?;
        self.open = Some((file.clone(), shard));
        Ok(())
    }

    fn close(&mut self, shard: Option<(String, Shard)>) -> Result<()> {
        if let Some((file, shard)) = shard {
            self.written.insert(file, shard.finish()?);
        }
        Ok(())
    }

    /// What was written.
    fn end(mut self) -> Result<Written> {
        let last = self.open.take();
        self.close(last)?;
        Ok(self.written)
    }
}

/// Write `pieces` to `store` in a thread of their own; they come back where the system starts none.
fn in_thread(
    pieces: Vec<Piece>,
    mut store: Store,
) -> std::result::Result<JoinHandle<Result<Written>>, Vec<Piece>> {
    let (send, receive) = mpsc::channel::<Vec<Piece>>();
    let work = move || {
        let pieces = receive.recv().unwrap_or_default();
        // Each is freed when it is written.
        pieces.into_iter().try_for_each(|piece| store.put(&piece))?;
        store.end()
    };
    match thread::Builder::new().spawn(work) {
        Ok(started) => send.send(pieces).map(|()| started).map_err(|unsent| unsent.0),
        Err(_) => Err(pieces),
    }
}

/// Write the metadata of the array `name` below `part`.
fn store_metadata(
    part: &Path,
    name: &str,
    metadata: &Value,
    seal: Seal,
    written: &mut Written,
) -> Result<()> {
    make_directory(&part.join(name))?;
    let text = serde_json::to_vec_pretty(metadata).map_err(|why| malformed(part, why))?;
    store(part, format!("{name}/zarr.json"), &text, seal, written)
}

/// Write the coordinates of the points along `axis` below `part`.
fn store_coordinates(
    part: &Path,
    grid: &Grid,
    axis: Axis,
    seal: Seal,
    written: &mut Written,
) -> Result<()> {
    let (name, points) = (axis.name(), grid.points[axis.index()]);
    let at = |number| {
        let mut index = [0; 3];
        index[axis.index()] = number;
        grid.coordinates(index)[axis.index()]
    };
    store_metadata(part, name, &coordinates(axis, points), seal, written)?;
    let values: Vec<u8> = (0..points).map(at).flat_map(f64::to_le_bytes).collect();
    store(part, format!("{name}/c.0"), &values, seal, written)
}

/// Write `bytes` to the file `name` below `part`.
fn store(part: &Path, name: String, bytes: &[u8], seal: Seal, written: &mut Written) -> Result<()> {
    let mut file = seal.create(part, &name)?;
    file.write(bytes)?;
    written.insert(name, file.finish()?);
    Ok(())
}
