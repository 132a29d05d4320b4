//! Checkpoints: all that a run needs to go on, in Zarr v3, complete or absent.
//!
//! `step_00000100.zarr` is a group. It has one array for every conserved field over the whole grid, in the order z, y, x, cut
//! into as many chunks as ranks wrote it: each rank writes one file of each field, without asking anybody. A file is a shard
//! whose parts have a CRC32C each. The attributes of the group are the [`Head`], the length and CRC32C of every other file,
//! and a CRC32C of both. Everything is written under the name with `.part` added, flushed to disk and renamed.
//!
//! Reading checks every file before anything is used, and needs neither the ranks nor the precision that wrote it.

mod chunks;
mod files;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zarrs::array::codec::Crc32cCodec;
use zarrs::array::{Array, ArrayBuilder, ArraySubset, DataType, data_type};
use zarrs::filesystem::FilesystemStore;

use crate::comm::{Communicator, agree};
use crate::error::{Error, Result};
use crate::grid::{Block, Decomposition};
use crate::real::Real;
use chunks::Chunks;
use files::Print;

/// What is written now; what is read must be no newer.
const FORMAT: u32 = 1;
/// Bytes of a shard's part, at most: what has to be read for one value of it.
const PART: usize = 4 << 20;

/// What a checkpoint holds beside the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Version of Kolmo that wrote it.
    pub version: String,
    /// Steps done.
    pub step: u64,
    /// Time reached.
    pub time: f64,
    /// The last dt; 0 before the first step.
    pub last_dt: f64,
    /// Time since the last filtering, and what that did to the kinetic energy in unit time.
    pub unfiltered: f64,
    /// See `unfiltered`.
    pub filter_rate: f64,
    /// Points of the whole grid along x, y, z.
    pub points: [usize; 3],
    /// Names of the fields, in the order of U.
    pub fields: Vec<String>,
    /// What the values of each are relative to: the `add_offset` of its array.
    pub references: Vec<f64>,
    /// The resolved input, as in `config.toml`.
    pub config: String,
}

/// The attributes of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attributes {
    format: u32,
    head: Head,
    /// Every other file, by its path in the group.
    files: BTreeMap<String, Print>,
    /// CRC32C of the JSON of the others.
    checksum: u32,
}

impl Attributes {
    fn new(head: Head, files: BTreeMap<String, Print>) -> Self {
        let mut all = Self { format: FORMAT, head, files, checksum: 0 };
        all.checksum = all.sum();
        all
    }

    fn sum(&self) -> u32 {
        let text = serde_json::to_vec(&(self.format, &self.head, &self.files));
        crc32c::crc32c(&text.unwrap_or_default())
    }
}

/// The metadata of a group.
#[derive(Serialize, Deserialize)]
struct Group {
    zarr_format: u32,
    node_type: String,
    attributes: Kolmo,
}

#[derive(Serialize, Deserialize)]
struct Kolmo {
    kolmo: Attributes,
}

/// The checkpoint of a step in `directory`.
pub fn path(directory: &Path, step: u64) -> PathBuf {
    directory.join(format!("step_{step:08}.zarr"))
}

/// Steps of which `directory` holds checkpoints, the newest first; whether they are sound is not looked at.
pub fn steps(directory: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let step = |name: &str| name.strip_prefix("step_")?.strip_suffix(".zarr")?.parse().ok();
    let mut steps: Vec<u64> =
        entries.flatten().filter_map(|entry| step(entry.file_name().to_str()?)).collect();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    steps
}

/// Write a checkpoint to `path`, where `fields` are those of `head` at the points of this rank's block. One that is there
/// already is replaced. Returns its bytes. Collective.
///
/// # Errors
/// On all ranks, where a file cannot be written on one; what was at `path` before is still there then.
pub fn write<T: Real>(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    path: &Path,
    head: Head,
    fields: &[&[T]],
) -> Result<u64> {
    assert_eq!(head.fields.len(), fields.len(), "names and fields");
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let chunks = Chunks::new(decomposition, head.points);
    let arrays = || {
        let store = store(part)?;
        let named = head.fields.iter().zip(&head.references);
        named.map(|named| array::<T>(&chunks, &store, part, named)).collect::<Result<Vec<_>>>()
    };
    let begin = || {
        files::remove(part)?;
        let mut prints = BTreeMap::new();
        for (array, name) in arrays()?.iter().zip(&head.fields) {
            array.store_metadata().map_err(|why| refused(part, &why))?;
            let file = format!("{name}/zarr.json");
            prints.insert(file.clone(), files::flush(&part.join(&file))?);
        }
        Ok(prints)
    };
    let prints = agree(comm, if comm.rank() == 0 { begin() } else { Ok(BTreeMap::new()) })?;
    let arrays = agree(comm, arrays())?;
    let store = |array: &Array<FilesystemStore>, name: &str, values: Vec<T>| {
        let Some(at) = chunks.index(comm.rank()) else { return Ok(None) };
        let stored = match size_of::<T>() {
            8 => array.store_chunk(&at, values.iter().map(|x| x.f64()).collect::<Vec<_>>()),
            #[allow(clippy::cast_possible_truncation, reason = "was an f32")]
            _ => array.store_chunk(&at, values.iter().map(|x| x.f64() as f32).collect::<Vec<_>>()),
        };
        stored.map_err(|why| refused(part, &why))?;
        let [k, j, i] = at;
        let file = format!("{name}/c/{k}/{j}/{i}");
        let print = files::flush(&part.join(&file))?;
        Ok(Some((file, print)))
    };
    let mut written: Vec<Result<_>> = Vec::new();
    for ((array, name), values) in arrays.iter().zip(&head.fields).zip(fields) {
        // All ranks exchange parts, also one that has no chunk, or whose disk is full.
        let values = chunks.gathered(comm, values);
        if written.last().is_none_or(Result::is_ok) {
            written.push(store(array, name, values));
        }
    }
    let own: BTreeMap<String, Print> =
        agree(comm, written.into_iter().filter_map(Result::transpose).collect())?;
    let prints: BTreeMap<_, _> = prints.into_iter().chain(own).collect();
    let told = comm.gather(&serde_json::to_vec(&prints).unwrap_or_default());
    let end = |told: Vec<Vec<u8>>| {
        let mut all = BTreeMap::new();
        for bytes in told {
            let prints: BTreeMap<String, Print> =
                serde_json::from_slice(&bytes).map_err(|why| refused(part, &why))?;
            all.extend(prints);
        }
        let bytes = all.values().map(|print| print.bytes).sum();
        let attributes = Kolmo { kolmo: Attributes::new(head.clone(), all) };
        let group = Group { zarr_format: 3, node_type: "group".into(), attributes };
        files::write(&part.join("zarr.json"), &group)?;
        files::flush_folders(part)?;
        files::replace(part, path)?;
        Ok(bytes)
    };
    agree(comm, told.map_or(Ok(0), end))
}

fn store(path: &Path) -> Result<Arc<FilesystemStore>> {
    FilesystemStore::new(path).map(Arc::new).map_err(|why| refused(path, &why))
}

fn array<T: Real>(
    chunks: &Chunks,
    store: &Arc<FilesystemStore>,
    path: &Path,
    (name, reference): (&String, &f64),
) -> Result<Array<FilesystemStore>> {
    let wide = size_of::<T>() == 8;
    let (kind, size): (DataType, usize) =
        if wide { (data_type::float64(), 8) } else { (data_type::float32(), 4) };
    let lengths =
        |points: [usize; 3]| -> Vec<u64> { points.iter().rev().map(|&n| n as u64).collect() };
    let (whole, chunk, part) =
        (lengths(chunks.points), lengths(chunks.size), lengths(chunks.part(PART / size)));
    let mut builder = match wide {
        true => ArrayBuilder::new(whole, chunk, kind, f64::NAN),
        false => ArrayBuilder::new(whole, chunk, kind, f32::NAN),
    };
    if *reference != 0.0 {
        builder
            .attributes(serde_json::Map::from_iter([("add_offset".into(), (*reference).into())]));
    }
    builder
        .subchunk_shape(part)
        .dimension_names(["z", "y", "x"].into())
        .bytes_to_bytes_codecs(vec![Arc::new(Crc32cCodec::new())])
        .build(store.clone(), &format!("/{name}"))
        .map_err(|why| refused(path, &why))
}

/// A checkpoint that was found sound.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// What it holds beside the fields.
    pub head: Head,
}

impl Checkpoint {
    /// Open the one at `path` after a look at all its bytes, of which every rank takes its share. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file is missing, damaged, or of a version that is newer than this one.
    pub fn open(comm: &dyn Communicator, path: &Path) -> Result<Self> {
        let attributes = agree(comm, attributes(path))?;
        let mut mine = attributes.files.iter().skip(comm.rank()).step_by(comm.size());
        agree(comm, mine.try_for_each(|(name, print)| print.check(&path.join(name))))?;
        Ok(Self { path: path.to_path_buf(), head: attributes.head })
    }

    /// The newest sound one in `directory`, and what is wrong with those that are newer. Collective.
    pub fn newest(comm: &dyn Communicator, directory: &Path) -> (Option<Self>, Vec<Error>) {
        let mut damaged = Vec::new();
        for step in steps(directory) {
            match Self::open(comm, &path(directory, step)) {
                Ok(found) => return (Some(found), damaged),
                Err(why) => damaged.push(why),
            }
        }
        (None, damaged)
    }

    /// The values of all fields at the points of `block`, in the order of the head, relative to `references`, whatever
    /// precision and references they were written with. To the bit where both are the same.
    ///
    /// # Errors
    /// Where the fields are not those that the head speaks of.
    pub fn fields<T: Real>(&self, block: Block, references: &[f64]) -> Result<Vec<Vec<T>>> {
        let store = store(&self.path)?;
        let offsets = self.head.references.iter().zip(references).map(|(was, is)| was - is);
        let moved = |(name, offset): (&String, f64)| {
            let values = self.field(&store, name, block)?;
            // Zero may have a sign, which a sum would take.
            let moved =
                values.into_iter().map(|x| T::of(if offset == 0.0 { x } else { x + offset }));
            Ok(moved.collect())
        };
        self.head.fields.iter().zip(offsets).map(moved).collect()
    }

    fn field(&self, store: &Arc<FilesystemStore>, name: &str, block: Block) -> Result<Vec<f64>> {
        let path = self.path.join(name);
        let refused = |why: &dyn std::fmt::Display| refused(&path, why);
        let array = Array::open(store.clone(), &format!("/{name}")).map_err(|why| refused(&why))?;
        let [nx, ny, nz] = self.head.points;
        if array.shape() != [nz as u64, ny as u64, nx as u64] {
            let what = format!("{:?} values along z, y, x, not {nz} x {ny} x {nx}", array.shape());
            return Err(refused(&what));
        }
        let range = |a: usize| block.start[a] as u64..(block.start[a] + block.points[a]) as u64;
        let subset = ArraySubset::new_with_ranges(&[range(2), range(1), range(0)]);
        if *array.data_type() == data_type::float64() {
            let values = array.retrieve_array_subset::<Vec<f64>>(&subset);
            return values.map_err(|why| refused(&why));
        }
        let values = array.retrieve_array_subset::<Vec<f32>>(&subset);
        Ok(values.map_err(|why| refused(&why))?.into_iter().map(f64::from).collect())
    }
}

/// The attributes of the group at `path`, which are sound.
fn attributes(path: &Path) -> Result<Attributes> {
    let file = path.join("zarr.json");
    let wrong = |what: String| Error::Format { path: file.clone(), what };
    let text = fs::read(&file).map_err(Error::io(&file))?;
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|why| wrong(format!("damaged: {why}")))?;
    let format = value.pointer("/attributes/kolmo/format").and_then(serde_json::Value::as_u64);
    match format {
        None => return Err(wrong("damaged, or no checkpoint of Kolmo: it has no format".into())),
        Some(newer) if newer > FORMAT.into() => {
            return Err(wrong(format!(
                "it has format {newer}; this version of Kolmo reads formats up to {FORMAT}"
            )));
        }
        Some(_) => {}
    }
    let group: Group =
        serde_json::from_value(value).map_err(|why| wrong(format!("damaged: {why}")))?;
    let attributes = group.attributes.kolmo;
    if attributes.sum() != attributes.checksum {
        return Err(wrong("damaged: its checksum is not that of what it holds".into()));
    }
    Ok(attributes)
}

fn refused(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Format { path: path.to_path_buf(), what: why.to_string() }
}
