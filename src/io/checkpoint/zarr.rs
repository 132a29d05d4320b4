//! Writing of the Zarr v3 arrays of checkpoints (<https://zarr-specs.readthedocs.io>).
//!
//! An array is a folder with its metadata in `zarr.json` and one file per chunk, `c.K.J.I`. Chunks of a field are shards of the
//! blocks of one or more ranks: parts of whole z layers of a block, compressed if requested, each with its CRC32C, and an index
//! of their positions. A rank that reads a block reads only the parts that it shares points with.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Value, json};

use super::ZARR_FORMAT;
use super::files::{FileChecksum, Seal, SealedFile};
use crate::error::{Error, Result};
use crate::grid::{Axis, Block, Boxes, Decomposition};
use crate::io::zarr::ABSENT;
use crate::io::zstd;

/// Maximum number of bytes of a part of a shard, which is read as a whole.
const MAX_PART_SIZE: usize = 4 << 20;
/// Level of Zstandard: the fastest. Higher levels gain little on turbulence in double precision.
const ZSTD_LEVEL: i32 = 1;

/// Layout of a field in its files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Points of the grid along x, y, z.
    points: [usize; 3],
    /// Points of a block along x, y, z: all blocks are equal, as in Zarr; the last may extend beyond the grid.
    block: [usize; 3],
    /// Blocks per shard along x, y, z.
    group: [usize; 3],
    /// z layers in a part of a shard.
    layers: usize,
    /// Bytes per value: 4 or 8.
    size: usize,
    compressed: bool,
}

impl Field {
    /// Values of `size` (4 or 8) bytes on a grid of `points`. Each rank of `cut` has one block, and a shard has as many blocks as
    /// it takes to get at most `files` shards. The blocks of a shard are neighbours, along x first: their ranks have consecutive
    /// numbers where the cut allows it.
    pub(super) fn new(
        points: [usize; 3],
        cut: Decomposition,
        files: usize,
        size: usize,
        compressed: bool,
    ) -> Self {
        let block = std::array::from_fn(|a| points[a].div_ceil(cut.ranks[a]));
        let (mut group, mut remaining) = ([1; 3], files.max(1));
        for a in [2, 1, 0] {
            let shards = cut.ranks[a].min(remaining);
            group[a] = cut.ranks[a].div_ceil(shards);
            remaining /= shards;
        }
        let [nx, ny, nz] = block;
        let fits =
            |layers: &usize| nz.is_multiple_of(*layers) && nx * ny * layers * size <= MAX_PART_SIZE;
        let layers = (1..=nz).rev().find(fits).unwrap_or(1);
        Self { points, block, group, layers, size, compressed }
    }

    /// Points of a shard along x, y, z.
    fn shard(&self) -> [usize; 3] {
        std::array::from_fn(|a| self.block[a] * self.group[a])
    }

    /// Positions of the blocks in a shard, in the order of writing.
    pub(super) fn rounds(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let shard = Block::whole(self.group);
        (0..shard.len()).map(move |number| shard.index(number))
    }

    /// The block at the position `round` of every shard, on the rank of `ranks` that writes the shard.
    pub(super) fn blocks(&self, round: [usize; 3], ranks: usize) -> Boxes {
        let shard = self.shard();
        let along = |a: usize| {
            let start = |at: usize| (at * self.group[a] + round[a]) * self.block[a];
            let shards = 0..self.points[a].div_ceil(shard[a]);
            shards.map(|at| start(at)..start(at) + self.block[a]).collect()
        };
        Boxes::new([0, 1, 2].map(along), ranks)
    }

    /// The name of the shard that contains `block`.
    pub(super) fn chunk(&self, block: &Block) -> String {
        let [i, j, k]: [usize; 3] = std::array::from_fn(|a| block.start[a] / self.shard()[a]);
        format!("c.{k}.{j}.{i}")
    }

    /// Number of parts of a shard along x, y, z.
    fn parts(&self) -> [usize; 3] {
        let [x, y, z] = self.group;
        [x, y, z * (self.block[2] / self.layers)]
    }

    /// The `zarr.json` of the array, and of the constant that its values are relative to.
    pub(super) fn metadata(&self, reference: f64) -> Value {
        let [nx, ny, _] = self.block;
        let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
        let zstd =
            json!({ "name": "zstd", "configuration": { "level": ZSTD_LEVEL, "checksum": false } });
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
        let [points, shard] = [self.points, self.shard()].map(|[x, y, z]| [z, y, x]);
        let mut metadata = metadata(&points, &shard, self.size, sharding, &["z", "y", "x"]);
        if reference != 0.0 {
            metadata["attributes"] = json!({ "add_offset": reference });
        }
        metadata
    }

    /// A part as stored, with its CRC32C; `None` where it contains only the fill value.
    fn encode<'a>(&self, part: &'a [u8]) -> io::Result<Option<(Cow<'a, [u8]>, u32)>> {
        let is_filled = match self.size {
            4 => part.as_chunks().0.iter().all(|value| *value == f32::NAN.to_le_bytes()),
            _ => part.as_chunks().0.iter().all(|value| *value == f64::NAN.to_le_bytes()),
        };
        if is_filled {
            return Ok(None);
        }
        let bytes = match self.compressed {
            true => Cow::Owned(zstd::compress(part, ZSTD_LEVEL)?),
            false => Cow::Borrowed(part),
        };
        let checksum = crc32c::crc32c(&bytes);
        Ok(Some((bytes, checksum)))
    }
}

/// A shard that is written block by block.
pub(super) struct Shard {
    field: Field,
    file: SealedFile,
    /// (offset, length) of each part, those along x fastest.
    index: Vec<[u64; 2]>,
    offset: u64,
    /// For compression; `None` where the system starts no further threads (`ulimit -u`).
    pool: Option<ThreadPool>,
}

impl Shard {
    /// The file `name` of the group at `group`.
    pub(super) fn create(field: Field, seal: Seal, group: &Path, name: &str) -> Result<Self> {
        let file = seal.create(group, name)?;
        let index = vec![ABSENT; field.parts().iter().product()];
        let pool = field.compressed.then(|| ThreadPoolBuilder::new().build().ok()).flatten();
        Ok(Self { field, file, index, offset: 0, pool })
    }

    /// Add the block at the position `round`: `values` are the bytes of all its values, those along x fastest.
    pub(super) fn put(&mut self, round: [usize; 3], values: &[u8]) -> Result<()> {
        let Field { block: [nx, ny, nz], layers, size, .. } = self.field;
        let parts: Vec<&[u8]> = values.chunks(layers * nx * ny * size).collect();
        let encode = |part| self.field.encode(part);
        let encoded: io::Result<Vec<_>> = match &self.pool {
            Some(pool) => pool.install(|| parts.into_par_iter().map(encode).collect()),
            None => parts.into_iter().map(encode).collect(),
        };
        let [along_x, along_y, _] = self.field.parts();
        let encoded = encoded.map_err(|why| Error::io(self.file.path())(why))?;
        for (number, part) in encoded.into_iter().enumerate() {
            let Some((bytes, checksum)) = part else { continue };
            self.file.write(&bytes)?;
            self.file.write(&checksum.to_le_bytes())?;
            let entry = [self.offset, bytes.len() as u64 + 4];
            let [i, j, k] = [round[0], round[1], round[2] * (nz / layers) + number];
            self.index[i + along_x * (j + along_y * k)] = entry;
            self.offset += entry[1];
        }
        Ok(())
    }

    /// Flush it to disk, with its index.
    pub(super) fn finish(mut self) -> Result<FileChecksum> {
        let words = self.index.as_flattened().iter().flat_map(|word| word.to_le_bytes());
        let mut index: Vec<u8> = words.collect();
        index.extend(crc32c::crc32c(&index).to_le_bytes());
        self.file.write(&index)?;
        self.file.finish()
    }
}

/// The metadata of the coordinates of `points` points along `axis`, an array with the name of its dimension: readers such as
/// xarray use it as the coordinates of all fields. Its only chunk, `c.0`, contains its bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_files_is_bounded_and_a_writer_stores_one_block_at_a_time() {
        for (ranks, files, groups) in [
            ([2, 2, 2], 8, 1),
            ([8, 8, 8], 512, 1),
            ([16, 16, 16], 512, 8),
            ([32, 64, 64], 512, 256),
            ([1, 1, 2048], 512, 4),
        ] {
            let cut = Decomposition { ranks };
            let points = ranks.map(|n| 256 * n);
            let field = Field::new(points, cut, 512, 8, false);
            let blocks = Boxes::blocks(cut, points);
            let rounds: Vec<_> = field.rounds().collect();
            assert_eq!(rounds.len(), groups, "{ranks:?}");
            let (mut stored, mut sent) = (0, vec![0; cut.size()]);
            for round in rounds {
                let written = field.blocks(round, cut.size());
                assert_eq!(written.all().count(), files, "{ranks:?}");
                for (writer, block) in written.all() {
                    assert_eq!(block.len(), 256 * 256 * 256);
                    let from: Vec<_> = blocks.intersecting(&block).collect();
                    // Each comes from one rank, in the group that starts with the writer.
                    assert!(from.len() == 1 && (writer..writer + groups).contains(&from[0].0));
                    sent[from[0].0] += 1;
                    stored += 1;
                }
            }
            assert!(stored == cut.size() && sent.iter().all(|times| *times == 1), "{ranks:?}");
        }
    }

    #[test]
    fn uneven_blocks_are_written_with_every_point_once() {
        for (points, ranks) in [([13, 12, 11], [5, 4, 3]), ([5, 1, 1], [4, 1, 1])] {
            let cut = Decomposition { ranks };
            for files in [1, 2, 3, 7, 100] {
                let field = Field::new(points, cut, files, 8, false);
                let mut seen = 0;
                for round in field.rounds() {
                    let written = field.blocks(round, cut.size());
                    let inside = written.within(&Block::whole(points));
                    seen += inside.all().map(|(_, block)| block.len()).sum::<usize>();
                    assert!(written.len() <= files.min(cut.size()));
                }
                assert_eq!(seen, points.iter().product::<usize>(), "{ranks:?}, {files}");
            }
        }
    }
}
