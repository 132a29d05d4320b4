//! A checkpoint written, at once or while the run goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::Value;

use super::files::{self, FileChecksum, Seal};
use super::zarr::{Field, coordinates};
use super::{Attributes, Group, Head, Kolmo, NodeType, ZARR_FORMAT};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::grid::{Axis, Block, Decomposition, Grid, redistribute};
use crate::io::{make_directory, malformed};
use crate::real::Values;

/// How a checkpoint is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Compress the values.
    pub compress: bool,
    /// Return from [`Writing::begin`] before the files are written.
    pub asynchronous: bool,
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
        // Shards of equal size, as Zarr has them; the last along an axis may reach beyond the grid, or begin behind it.
        let size: [usize; 3] = std::array::from_fn(|a| points[a].div_ceil(decomposition.ranks[a]));
        let shard_of = |rank| {
            let position = decomposition.position(rank);
            Block { start: std::array::from_fn(|a| position[a] * size[a]), points: size }
        };
        let bytes = fields.first().map_or(8, |field| field.precision().bytes());
        let layout = Field::new(points, size, bytes, manner.compress);
        let begin = || {
            files::remove(&part)?;
            let mut written = Written::new();
            for (name, reference) in head.fields.iter().zip(&head.references) {
                store_metadata(&part, name, &layout.metadata(*reference), seal, &mut written)?;
            }
            for axis in Axis::ALL {
                store_coordinates(&part, grid, axis, seal, &mut written)?;
            }
            Ok(written)
        };
        let first = comm.rank() == 0;
        let mut written = Ok(all_or_error(comm, if first { begin() } else { Ok(Written::new()) })?);
        let has_shard = (0..3).all(|a| shard_of(comm.rank()).start[a] < points[a]);
        let [i, j, k] = decomposition.position(comm.rank());
        let mut later = Vec::new();
        for (name, values) in head.fields.iter().zip(fields) {
            // All ranks exchange values, also one that has no shard, or whose disk is full.
            let have = |rank| decomposition.block(rank, points);
            let values = match values {
                Values::F32(values) => {
                    let moved = redistribute(comm, have, shard_of, 1, values, f32::NAN);
                    moved.into_iter().flat_map(f32::to_le_bytes).collect()
                }
                Values::F64(values) => {
                    let moved = redistribute(comm, have, shard_of, 1, values, f64::NAN);
                    moved.into_iter().flat_map(f64::to_le_bytes).collect()
                }
            };
            if !has_shard {
                continue;
            }
            let file = format!("{name}/c.{k}.{j}.{i}");
            let shard = Shard { layout, file, values, seal };
            match manner.asynchronous {
                true => later.push(shard),
                false => written = store(written, &part, [shard]),
            }
        }
        let mut thread = None;
        if !later.is_empty() {
            match in_thread(later, part.clone()) {
                Ok(started) => thread = Some(started),
                // Where the system starts no thread the run waits.
                Err(later) => written = store(written, &part, later),
            }
        }
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
        let gathered = comm.gather(&serde_json::to_vec(&own).unwrap_or_default());
        let end = |gathered: Vec<Vec<u8>>| {
            let mut all = Written::new();
            for bytes in gathered {
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

/// What one rank writes of one field.
struct Shard {
    layout: Field,
    /// Its path in the group.
    file: String,
    values: Vec<u8>,
    seal: Seal,
}

/// Write `shards` below `part` in a thread of their own; they come back where the system starts none.
fn in_thread(
    shards: Vec<Shard>,
    part: PathBuf,
) -> std::result::Result<JoinHandle<Result<Written>>, Vec<Shard>> {
    let (send, receive) = mpsc::channel();
    let work =
        move || store(Ok(Written::new()), &part, receive.recv().unwrap_or_else(|_| Vec::new()));
    match thread::Builder::new().spawn(work) {
        Ok(started) => send.send(shards).map(|()| started).map_err(|unsent| unsent.0),
        Err(_) => Err(shards),
    }
}

/// Write `shards` below `part` and add them to what is `written`. Nothing more is written after an error.
fn store(
    written: Result<Written>,
    part: &Path,
    shards: impl IntoIterator<Item = Shard>,
) -> Result<Written> {
    let mut written = written?;
    for Shard { layout, file, values, seal } in shards {
        let path = part.join(&file);
        // Rank 0 has made the folder, which a file system may not show this rank yet.
        path.parent().map_or(Ok(()), make_directory)?;
        layout.write_shard(&path, &values).map_err(Error::io(&path))?;
        let checksum = seal.flush(part, &file)?;
        written.insert(file, checksum);
    }
    Ok(written)
}

/// Write the metadata of the array `name` below `part`.
fn store_metadata(
    part: &Path,
    name: &str,
    metadata: &Value,
    seal: Seal,
    written: &mut Written,
) -> Result<()> {
    let folder = part.join(name);
    make_directory(&folder)?;
    files::write(&folder.join("zarr.json"), metadata)?;
    let file = format!("{name}/zarr.json");
    let checksum = seal.flush(part, &file)?;
    written.insert(file, checksum);
    Ok(())
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
    let file = format!("{name}/c.0");
    fs::write(part.join(&file), values).map_err(Error::io(&part.join(&file)))?;
    let checksum = seal.flush(part, &file)?;
    written.insert(file, checksum);
    Ok(())
}
