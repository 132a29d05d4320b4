//! A checkpoint written, at once or while the run goes on.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use zarrs::array::codec::{Crc32cCodec, ZstdCodec};
use zarrs::array::{
    Array, ArrayBuilder, BytesToBytesCodecTraits, ChunkKeySeparator, DataType, data_type,
};
use zarrs::filesystem::FilesystemStore;

use super::chunks::Chunks;
use super::files::{self, Print, Seal};
use super::{Attributes, Group, Head, Kolmo, NodeType, ZARR_FORMAT, refused, store, threads};
use crate::comm::{Communicator, agree};
use crate::error::Result;
use crate::grid::{Axis, Decomposition, Grid};
use crate::real::Real;

/// Bytes of a shard's part, at most: what has to be read for one value of it.
const PART: usize = 4 << 20;
/// Zstandard's level: the fastest, since turbulence in doubles has little that a better one would find.
const LEVEL: i32 = 1;

/// How a checkpoint is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Compress the values.
    pub compress: bool,
    /// Return from [`Writing::begin`] before the files are written.
    pub asynchronous: bool,
}

/// The files of a rank, by their paths in the group.
type Prints = BTreeMap<String, Print>;

/// A checkpoint on its way to the disk.
#[derive(Debug)]
pub struct Writing {
    part: PathBuf,
    path: PathBuf,
    head: Head,
    /// What this rank has written so far.
    written: Result<Prints>,
    began: Instant,
    /// What is being written.
    thread: Option<JoinHandle<Result<Prints>>>,
}

/// Write a checkpoint to `path`, where `fields` are those of `head` at the points of this rank's block of `grid`. One that is there
/// already is replaced. Returns its bytes. Collective.
///
/// # Errors
/// On all ranks, where a file cannot be written on one; what was at `path` before is still there then.
pub fn write<T: Real>(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    path: &Path,
    grid: &Grid,
    head: Head,
    fields: &[&[T]],
) -> Result<u64> {
    Writing::begin(comm, decomposition, path, grid, head, fields, Manner::default())?.finish(comm)
}

impl Writing {
    /// Begin to write as [`write()`] does. The values are copied first. Collective.
    ///
    /// # Errors
    /// On all ranks, where the directory cannot be made on one.
    ///
    /// # Panics
    /// Where the head has other fields or points, or names no run.
    pub fn begin<T: Real>(
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        path: &Path,
        grid: &Grid,
        head: Head,
        fields: &[&[T]],
        manner: Manner,
    ) -> Result<Self> {
        assert_eq!(head.fields.len(), fields.len(), "names and fields");
        assert_eq!(head.points, grid.points, "points of the head and of the grid");
        let seal = Seal { run: head.run.expect("a checkpoint is of a run"), step: head.step };
        let began = Instant::now();
        let part = files::part_of(path);
        let chunks = Chunks::new(decomposition, head.points);
        let arrays = || {
            let store = store(&part)?;
            let named = head.fields.iter().zip(&head.references);
            let array = |named| array::<T>(&chunks, &store, &part, named, manner.compress);
            named.map(array).collect::<Result<Vec<_>>>()
        };
        let begin = || {
            files::remove(&part)?;
            let mut prints = Prints::new();
            for (array, name) in arrays()?.iter().zip(&head.fields) {
                array.store_metadata().map_err(|why| refused(&part, &why))?;
                let file = format!("{name}/zarr.json");
                prints.insert(file.clone(), seal.flush(&part, &file)?);
            }
            for axis in Axis::ALL {
                store_coordinates(grid, axis, &part, seal, &mut prints)?;
            }
            Ok(prints)
        };
        let first = comm.rank() == 0;
        let mut written = Ok(agree(comm, if first { begin() } else { Ok(Prints::new()) })?);
        let arrays = agree(comm, arrays())?;
        let mut later = Vec::new();
        for ((array, name), values) in arrays.into_iter().zip(&head.fields).zip(fields) {
            // All ranks exchange parts, also one that has no chunk, or whose disk is full.
            let values = chunks.gathered(comm, values);
            let Some(at) = chunks.index(comm.rank()) else { continue };
            let chunk = Chunk { array, name: name.clone(), at, values, seal };
            if manner.asynchronous && threads::are_there() {
                later.push(chunk);
            } else if let Ok(prints) = &mut written
                && let Err(why) = chunk.store(&part, prints)
            {
                written = Err(why);
            }
        }
        let mut thread = None;
        if !later.is_empty() {
            match in_thread(later, part.clone()) {
                Ok(started) => thread = Some(started),
                // Where the system starts no thread the run waits.
                Err(later) => {
                    written = written.and_then(|mut prints| {
                        prints.extend(store_all(later, &part)?);
                        Ok(prints)
                    });
                }
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
    /// As [`write()`].
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
            let broken = |_| Err(refused(&part, &"the thread that writes it has broken"));
            let more = thread.join().unwrap_or_else(broken);
            own = own.and_then(|own| Ok(own.into_iter().chain(more?).collect()));
        }
        let own = agree(comm, own)?;
        let told = comm.gather(&serde_json::to_vec(&own).unwrap_or_default());
        let end = |told: Vec<Vec<u8>>| {
            let mut all = Prints::new();
            for bytes in told {
                let prints: Prints =
                    serde_json::from_slice(&bytes).map_err(|why| refused(&part, &why))?;
                all.extend(prints);
            }
            let bytes = all.values().map(|print| print.bytes).sum();
            let (time, step) = (Some(head.time), Some(head.step));
            let attributes = Kolmo { time, step, kolmo: Attributes::new(head, all) };
            let group = Group { zarr_format: ZARR_FORMAT, node_type: NodeType::Group, attributes };
            files::write(&part.join("zarr.json"), &group)?;
            files::flush_folders(&part)?;
            files::replace(&part, &path)?;
            Ok(bytes)
        };
        agree(comm, told.map_or(Ok(0), end))
    }
}

/// Write `chunks` below `part` in a thread of their own; they come back where the system starts none.
fn in_thread<T: Real>(
    chunks: Vec<Chunk<T>>,
    part: PathBuf,
) -> std::result::Result<JoinHandle<Result<Prints>>, Vec<Chunk<T>>> {
    let (send, receive) = mpsc::channel();
    let work = move || store_all(receive.recv().unwrap_or_default(), &part);
    match thread::Builder::new().spawn(work) {
        Ok(started) => send.send(chunks).map(|()| started).map_err(|unsent| unsent.0),
        Err(_) => Err(chunks),
    }
}

fn store_all<T: Real>(chunks: Vec<Chunk<T>>, part: &Path) -> Result<Prints> {
    let mut prints = Prints::new();
    chunks.into_iter().try_for_each(|chunk| chunk.store(part, &mut prints))?;
    Ok(prints)
}

/// What one rank writes of one field.
struct Chunk<T> {
    array: Array<FilesystemStore>,
    name: String,
    at: [u64; 3],
    values: Vec<T>,
    seal: Seal,
}

impl<T: Real> Chunk<T> {
    /// Write it below `part`, and add it to `prints`.
    fn store(self, part: &Path, prints: &mut Prints) -> Result<()> {
        let Self { array, name, at, values, seal } = self;
        // T is one of the two.
        let values: Box<dyn Any> = Box::new(values);
        let stored = match values.downcast::<Vec<f64>>() {
            Ok(values) => array.store_chunk(&at, *values),
            Err(values) => match values.downcast::<Vec<f32>>() {
                Ok(values) => array.store_chunk(&at, *values),
                Err(_) => return Err(refused(part, &"values that are neither f32 nor f64")),
            },
        };
        stored.map_err(|why| refused(part, &why))?;
        let [k, j, i] = at;
        let file = format!("{name}/c.{k}.{j}.{i}");
        let print = seal.flush(part, &file)?;
        prints.insert(file, print);
        Ok(())
    }
}

/// Write the coordinates of the points along `axis` below `part`, as an array with the name of its dimension: readers such as
/// xarray take it for the coordinates of all fields.
fn store_coordinates(
    grid: &Grid,
    axis: Axis,
    part: &Path,
    seal: Seal,
    prints: &mut Prints,
) -> Result<()> {
    let (name, points) = (axis.name(), grid.points[axis.index()]);
    let at = |number| {
        let mut index = [0; 3];
        index[axis.index()] = number;
        grid.coordinates(index)[axis.index()]
    };
    let values: Vec<f64> = (0..points).map(at).collect();
    let length = vec![points as u64];
    let array = ArrayBuilder::new(length.clone(), length, data_type::float64(), f64::NAN)
        .chunk_key_encoding_default_separator(ChunkKeySeparator::Dot)
        .dimension_names([name].into())
        .build(store(part)?, &format!("/{name}"))
        .map_err(|why| refused(part, &why))?;
    array.store_metadata().map_err(|why| refused(part, &why))?;
    array.store_chunk(&[0], values).map_err(|why| refused(part, &why))?;
    for file in ["zarr.json", "c.0"].map(|file| format!("{name}/{file}")) {
        let print = seal.flush(part, &file)?;
        prints.insert(file, print);
    }
    Ok(())
}

fn array<T: Real>(
    chunks: &Chunks,
    store: &Arc<FilesystemStore>,
    path: &Path,
    (name, reference): (&String, &f64),
    compress: bool,
) -> Result<Array<FilesystemStore>> {
    let wide = size_of::<T>() == 8;
    let (kind, size): (DataType, usize) =
        if wide { (data_type::float64(), 8) } else { (data_type::float32(), 4) };
    let lengths =
        |points: [usize; 3]| -> Vec<u64> { points.iter().rev().map(|&n| n as u64).collect() };
    let (whole, chunk, part) =
        (lengths(chunks.points), lengths(chunks.size), lengths(chunks.part(PART / size)));
    let mut codecs: Vec<Arc<dyn BytesToBytesCodecTraits>> = Vec::new();
    if compress {
        codecs.push(Arc::new(ZstdCodec::new(LEVEL, false)));
    }
    codecs.push(Arc::new(Crc32cCodec::new()));
    let mut builder = match wide {
        true => ArrayBuilder::new(whole, chunk, kind, f64::NAN),
        false => ArrayBuilder::new(whole, chunk, kind, f32::NAN),
    };
    if *reference != 0.0 {
        builder
            .attributes(serde_json::Map::from_iter([("add_offset".into(), (*reference).into())]));
    }
    builder
        // One file a chunk, without a folder for each of its numbers.
        .chunk_key_encoding_default_separator(ChunkKeySeparator::Dot)
        .subchunk_shape(part)
        .dimension_names(["z", "y", "x"].into())
        .bytes_to_bytes_codecs(codecs)
        .build(store.clone(), &format!("/{name}"))
        .map_err(|why| refused(path, &why))
}
