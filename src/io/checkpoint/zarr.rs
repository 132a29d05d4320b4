//! Arrays in Zarr v3, as far as checkpoints have them (<https://zarr-specs.readthedocs.io>).
//!
//! An array is a folder with its metadata in `zarr.json` and one file a chunk, `c.K.J.I`. Chunks of a field are shards: parts
//! of whole layers of z, compressed where that is asked, each with its CRC32C, and an index of where they lie.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::ZARR_FORMAT;
use crate::error::{Error, Result};
use crate::grid::{Axis, Block};
use crate::io::{malformed, open};

/// Bytes of a part of a shard, at most: what is read for one value of it.
const PART: usize = 4 << 20;
/// Zstandard's level: the fastest. A better one finds little in turbulence in doubles.
const LEVEL: i32 = 1;
/// Offset and length of a part that is not there, since all of it is the fill value.
const ABSENT: [u64; 2] = [u64::MAX; 2];

/// How the values of a field lie in its files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Of the grid along x, y, z.
    points: [usize; 3],
    /// Points of a shard along x, y, z.
    shard: [usize; 3],
    /// Layers of z in a part of a shard.
    layers: usize,
    /// Bytes of a value: 4 or 8.
    size: usize,
    compressed: bool,
}

impl Field {
    /// Values in `size` (4 or 8) bytes over a grid of `points` in shards of `shard` points.
    pub(super) fn new(
        points: [usize; 3],
        shard: [usize; 3],
        size: usize,
        compressed: bool,
    ) -> Self {
        let [nx, ny, nz] = shard;
        let fits = |layers: &usize| nz.is_multiple_of(*layers) && nx * ny * layers * size <= PART;
        let layers = (1..=nz).rev().find(fits).unwrap_or(1);
        Self { points, shard, layers, size, compressed }
    }

    /// What `zarr.json` says of it and of the constant that its values are relative to.
    pub(super) fn metadata(&self, reference: f64) -> Value {
        let [nx, ny, _] = self.shard;
        let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
        let zstd =
            json!({ "name": "zstd", "configuration": { "level": LEVEL, "checksum": false } });
        let crc32c = json!({ "name": "crc32c" });
        let codecs = match self.compressed {
            true => json!([little, zstd, crc32c]),
            false => json!([little, crc32c]),
        };
        let sharding = json!({
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [self.layers, ny, nx],
                "codecs": codecs,
                "index_codecs": [little, crc32c],
                "index_location": "end",
            },
        });
        let [points, shard] = [self.points, self.shard].map(|[x, y, z]| [z, y, x]);
        let mut metadata = metadata(&points, &shard, self.size, sharding, &["z", "y", "x"]);
        if reference != 0.0 {
            metadata["attributes"] = json!({ "add_offset": reference });
        }
        metadata
    }

    /// That of which `metadata` speak, on a grid of `points`, or why there is none.
    fn from_metadata(metadata: &Value, points: [usize; 3]) -> std::result::Result<Self, String> {
        let lengths = |at: &str| -> Option<[usize; 3]> {
            serde_json::from_value(metadata.pointer(at)?.clone()).ok()
        };
        let [nx, ny, nz] = points;
        let found = lengths("/shape").unwrap_or_default();
        if found != [nz, ny, nx] {
            return Err(format!("{found:?} values along z, y, x, not {nz} x {ny} x {nx}"));
        }
        let chunk = lengths("/chunk_grid/configuration/chunk_shape").unwrap_or_default();
        let [layers, ..] = lengths("/codecs/0/configuration/chunk_shape").unwrap_or_default();
        let is_inside = (0..3).all(|a| (1..=found[a]).contains(&chunk[a]));
        if !is_inside || layers == 0 || !chunk[0].is_multiple_of(layers) {
            return Err(format!("damaged: chunks of {chunk:?} values, {layers} layers in a part"));
        }
        let codecs = metadata.pointer("/codecs/0/configuration/codecs").and_then(Value::as_array);
        let compressed = codecs.is_some_and(|codecs| codecs.len() > 2);
        let size = if metadata["data_type"] == "float32" { 4 } else { 8 };
        let [cz, cy, cx] = chunk;
        let field = Self { layers, ..Self::new(points, [cx, cy, cz], size, compressed) };
        let expected = field.metadata(0.0);
        let differs = |key: &&str| metadata[*key] != expected[*key];
        match ["data_type", "codecs", "chunk_grid", "chunk_key_encoding"]
            .iter()
            .find(|key| differs(key))
        {
            Some(key) => Err(format!("it has `{key}` that Kolmo does not write")),
            None => Ok(field),
        }
    }

    /// Write a shard: `values` are the bytes of all its values, those along x fastest.
    pub(super) fn write_shard(&self, path: &Path, values: &[u8]) -> io::Result<()> {
        let part = self.layers * self.shard[0] * self.shard[1] * self.size;
        let parts: Vec<&[u8]> = values.chunks(part).collect();
        let encode = |part| self.encode(part);
        // On this thread alone where the system starts no other (`ulimit -u`).
        let encoded: io::Result<Vec<_>> = match ThreadPoolBuilder::new().build() {
            Ok(pool) => pool.install(|| parts.into_par_iter().map(encode).collect()),
            Err(_) => parts.into_iter().map(encode).collect(),
        };
        let mut file = File::create(path)?;
        let (mut index, mut offset) = (Vec::new(), 0);
        for part in encoded? {
            let mut entry = ABSENT;
            if let Some((bytes, checksum)) = part {
                file.write_all(&bytes)?;
                file.write_all(&checksum.to_le_bytes())?;
                entry = [offset, bytes.len() as u64 + 4];
                offset += entry[1];
            }
            index.extend(entry.map(u64::to_le_bytes).as_flattened());
        }
        index.extend(crc32c::crc32c(&index).to_le_bytes());
        file.write_all(&index)
    }

    /// A part as it is stored and its CRC32C; `None` where it has nothing but the fill value.
    fn encode<'a>(&self, part: &'a [u8]) -> io::Result<Option<(Cow<'a, [u8]>, u32)>> {
        let is_filled = match self.size {
            4 => part.as_chunks().0.iter().all(|value| *value == f32::NAN.to_le_bytes()),
            _ => part.as_chunks().0.iter().all(|value| *value == f64::NAN.to_le_bytes()),
        };
        if is_filled {
            return Ok(None);
        }
        let bytes = match self.compressed {
            true => Cow::Owned(zstd::bulk::compress(part, LEVEL)?),
            false => Cow::Borrowed(part),
        };
        let checksum = crc32c::crc32c(&bytes);
        Ok(Some((bytes, checksum)))
    }

    /// The values at the points of `block` of the field in `folder`, which has a grid of `points`.
    /// Fails where its metadata are not those of such a field, or its files are not what they say.
    pub(super) fn read(folder: &Path, points: [usize; 3], block: Block) -> Result<Vec<f64>> {
        let file = folder.join("zarr.json");
        let text = open::read(&file, open::MOST_JSON).map_err(Error::io(&file))?;
        let metadata = serde_json::from_slice(&text).map_err(|why| malformed(&file, why))?;
        let field = Self::from_metadata(&metadata, points).map_err(|why| malformed(folder, why))?;
        let mut values = vec![f64::NAN; block.len()];
        let range = |a: usize| {
            let end = block.start[a] + block.points[a];
            block.start[a] / field.shard[a]..end.div_ceil(field.shard[a])
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let path = folder.join(format!("c.{k}.{j}.{i}"));
                    let start = std::array::from_fn(|a| [i, j, k][a] * field.shard[a]);
                    let shard = Block { start, points: field.shard };
                    field
                        .read_shard(&path, shard, &block, &mut values)
                        .map_err(Error::io(&path))?;
                }
            }
        }
        Ok(values)
    }

    /// Put the values that `shard`, whose file is at `path`, shares with `block` into those of `block`.
    fn read_shard(
        &self,
        path: &Path,
        shard: Block,
        block: &Block,
        values: &mut [f64],
    ) -> io::Result<()> {
        let mut file = open::open(path)?;
        let mut index = vec![0; self.shard[2] / self.layers * 16 + 4];
        let end = file.metadata()?.len().checked_sub(index.len() as u64);
        let end = end.ok_or_else(|| damaged("its length"))?;
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut index)?;
        let entries = checked(&index)?.as_chunks::<8>().0.as_chunks::<2>().0;
        for (number, entry) in entries.iter().enumerate() {
            let mut part = shard;
            part.start[2] += number * self.layers;
            part.points[2] = self.layers;
            let shared = part.common(block);
            let [offset, length] = entry.map(u64::from_le_bytes);
            if shared.is_empty() || [offset, length] == ABSENT {
                continue;
            }
            if offset.checked_add(length).is_none_or(|behind| behind > end) {
                return Err(damaged("its index"));
            }
            file.seek(SeekFrom::Start(offset))?;
            let mut encoded = Vec::new();
            Read::by_ref(&mut file).take(length).read_to_end(&mut encoded)?;
            let decoded = self.decode(checked(&encoded)?, part.len())?;
            for row in 0..shared.points[1] * shared.points[2] {
                let (j, k) = (row % shared.points[1], row / shared.points[1]);
                let first = [shared.start[0], shared.start[1] + j, shared.start[2] + k];
                let [from, to] = [&part, block].map(|of| {
                    let [i, j, k]: [usize; 3] = std::array::from_fn(|a| first[a] - of.start[a]);
                    i + of.points[0] * (j + of.points[1] * k)
                });
                let length = shared.points[0];
                values[to..to + length].copy_from_slice(&decoded[from..from + length]);
            }
        }
        Ok(())
    }

    /// The `count` values of a part.
    fn decode(&self, encoded: &[u8], count: usize) -> io::Result<Vec<f64>> {
        let length = count * self.size;
        let mut bytes = Cow::Borrowed(encoded);
        if self.compressed {
            let mut all = Vec::new();
            let decoder = zstd::stream::Decoder::new(encoded)?;
            decoder.take(length as u64 + 1).read_to_end(&mut all)?;
            bytes = Cow::Owned(all);
        }
        if bytes.len() != length {
            return Err(damaged("the length of a part"));
        }
        let single = || bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value).into());
        let double = || bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value));
        Ok(if self.size == 4 { single().collect() } else { double().collect() })
    }
}

/// The metadata of the coordinates of `points` points along `axis`, an array with the name of its dimension: readers such as
/// xarray take them for those of all fields. Its one chunk, `c.0`, is their bytes.
pub(super) fn coordinates(axis: Axis, points: usize) -> Value {
    let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    metadata(&[points], &[points], 8, little, &[axis.name()])
}

fn metadata(
    shape: &[usize],
    chunk: &[usize],
    size: usize,
    codec: Value,
    dimensions: &[&str],
) -> Value {
    json!({
        "zarr_format": ZARR_FORMAT,
        "node_type": "array",
        "shape": shape,
        "data_type": format!("float{}", 8 * size),
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "." } },
        "fill_value": "NaN",
        "codecs": [codec],
        "dimension_names": dimensions,
    })
}

/// The bytes before the CRC32C that they end with.
fn checked(bytes: &[u8]) -> io::Result<&[u8]> {
    let (bytes, checksum) = bytes.split_last_chunk().ok_or_else(|| damaged("its length"))?;
    match crc32c::crc32c(bytes) == u32::from_le_bytes(*checksum) {
        true => Ok(bytes),
        false => Err(damaged("a checksum in it")),
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("damaged: {what} is wrong"))
}
