//! Arrays in Zarr v3 as checkpoints have them, written (<https://zarr-specs.readthedocs.io>).
//!
//! An array is a folder with its metadata in `zarr.json` and one file a chunk, `c.K.J.I`. Chunks of a field are shards: parts
//! of whole layers of z, compressed where that is asked, each with its CRC32C, and an index of where they lie.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::ZARR_FORMAT;
use crate::grid::Axis;
use crate::io::zarr::ABSENT;
use crate::io::zstd;

/// Bytes of a part of a shard, at most: what is read for one value of it.
const PART: usize = 4 << 20;
/// Zstandard's level: the fastest. A better one finds little in turbulence in doubles.
const LEVEL: i32 = 1;

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
            true => Cow::Owned(zstd::compress(part, LEVEL)?),
            false => Cow::Borrowed(part),
        };
        let checksum = crc32c::crc32c(&bytes);
        Ok(Some((bytes, checksum)))
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
