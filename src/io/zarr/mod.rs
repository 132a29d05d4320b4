//! Three-dimensional arrays in Zarr, read (<https://zarr-specs.readthedocs.io>): versions 3 and 2.
//!
//! An array is a folder: its metadata in `zarr.json` (`.zarray` in version 2), and its values in one file per chunk. The chunks
//! of version 3 may be shards: parts that are stored one after another, with an index of their positions. Only the parts that a
//! block needs are read.

mod blosc;
mod codecs;
mod metadata;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use super::{malformed, open};
use crate::comm::Solo;
use crate::error::{Error, Result};
use crate::grid::{Block, Boxes, redistribute_into};
use codecs::{Codecs, verify_crc32c};
pub(super) use metadata::{FolderContent, is_zarr};

/// Offset and length of an absent part, which contains only the fill value.
pub(super) const ABSENT: [u64; 2] = [u64::MAX; 2];

/// Layout of an array in its files. Lengths are along x, y, z.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) points: [usize; 3],
    chunk: [usize; 3],
    /// Separator in the name of a chunk, and the name's prefix.
    separator: &'static str,
    prefix: &'static str,
    /// Value of points without a file.
    fill: f64,
    codecs: Codecs,
    shards: Option<Shards>,
    /// Whether the field is these values times a factor, or plus an offset, given in the attributes.
    pub(super) is_scaled: bool,
}

/// The parts of a chunk.
#[derive(Clone, Debug)]
struct Shards {
    part: [usize; 3],
    index_at_end: bool,
    /// Whether the index ends with its CRC32C.
    is_checked: bool,
}

impl Array {
    /// The values at the points of `block` of the array in `folder`, those along x fastest.
    ///
    /// # Errors
    /// Where a file does not match the metadata.
    pub(super) fn read(&self, folder: &Path, block: Block) -> Result<Vec<f64>> {
        let mut values = vec![self.fill; block.len()];
        for chunk in overlapping_cells(Block::whole(self.points), self.chunk, &block) {
            let [i, j, k] = [0, 1, 2].map(|a| chunk.start[a] / self.chunk[a]);
            let s = self.separator;
            let path = folder.join(format!("{}{k}{s}{j}{s}{i}", self.prefix));
            match open::open(&path) {
                // A NaN fill value is not valid data.
                Err(why) if why.kind() == ErrorKind::NotFound && !self.fill.is_nan() => {}
                Err(why) => return Err(Error::io(&path)(why)),
                Ok(file) => {
                    let read = self.read_chunk(file, chunk, &block, &mut values);
                    read.map_err(|why| malformed(&path, why))?;
                }
            }
        }
        Ok(values)
    }

    /// Copy the values that `chunk`, whose bytes are in `file`, shares with `block` into those of `block`.
    fn read_chunk(
        &self,
        mut file: File,
        chunk: Block,
        block: &Block,
        values: &mut [f64],
    ) -> io::Result<()> {
        let Some(shards) = &self.shards else {
            let mut encoded = Vec::new();
            file.read_to_end(&mut encoded)?;
            let decoded = self.codecs.decode(&encoded, chunk.points)?;
            copy_shared(&decoded, &chunk, block, values);
            return Ok(());
        };
        let counts: [usize; 3] = std::array::from_fn(|a| chunk.points[a] / shards.part[a]);
        let index = shards.index(&mut file, counts.iter().product())?;
        let end = file.metadata()?.len();
        for part in overlapping_cells(chunk, shards.part, block) {
            let [i, j, k] = [0, 1, 2].map(|a| (part.start[a] - chunk.start[a]) / shards.part[a]);
            let entry = index[i + counts[0] * (j + counts[1] * k)];
            if entry == ABSENT {
                continue;
            }
            let [offset, length] = entry;
            if offset.checked_add(length).is_none_or(|part_end| part_end > end) {
                return Err(damaged("its index"));
            }
            file.seek(SeekFrom::Start(offset))?;
            let mut encoded = Vec::new();
            Read::by_ref(&mut file).take(length).read_to_end(&mut encoded)?;
            copy_shared(&self.codecs.decode(&encoded, part.points)?, &part, block, values);
        }
        Ok(())
    }
}

impl Shards {
    /// Offset and length of `parts` parts, those along x fastest.
    fn index(&self, file: &mut File, parts: usize) -> io::Result<Vec<[u64; 2]>> {
        let bytes = parts * 16 + if self.is_checked { 4 } else { 0 };
        let end = file.metadata()?.len();
        let before = end.checked_sub(bytes as u64).ok_or_else(|| damaged("its length"))?;
        let mut index = vec![0; bytes];
        file.seek(SeekFrom::Start(if self.index_at_end { before } else { 0 }))?;
        file.read_exact(&mut index)?;
        let bytes = if self.is_checked { verify_crc32c(&index)? } else { &index };
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        Ok(words.collect::<Vec<_>>().as_chunks().0.to_vec())
    }
}

/// The cells of `length` points, laid out from the start of `whole`, that have points of `block`. The last along an axis may
/// extend beyond `whole`.
fn overlapping_cells(
    whole: Block,
    length: [usize; 3],
    block: &Block,
) -> impl Iterator<Item = Block> {
    let shared = whole.common(block);
    // Without common points the result is empty.
    let start = std::array::from_fn(|a| shared.start[a].saturating_sub(whole.start[a]) / length[a]);
    let points = std::array::from_fn(|a| {
        let end = (shared.start[a] + shared.points[a]).saturating_sub(whole.start[a]);
        end.div_ceil(length[a]) - start[a]
    });
    let cells = Block { start, points };
    (0..cells.len()).map(move |at| {
        let cell = cells.index(at);
        let start = std::array::from_fn(|a| whole.start[a] + cell[a] * length[a]);
        Block { start, points: length }
    })
}

/// Copy the points that `part` and `block` share from the values of one to those of the other, those along x fastest.
fn copy_shared(decoded: &[f64], part: &Block, block: &Block, values: &mut [f64]) {
    let [have, want] = [part, block].map(|of| Boxes::on_rank_0(*of));
    redistribute_into(&Solo, &have, &want, 1, decoded, (values, block));
}

pub(super) fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("damaged: {what} is wrong"))
}
