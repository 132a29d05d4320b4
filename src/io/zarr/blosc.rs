//! Bytes compressed by Blosc, version 1 of its format (c-blosc, README_CHUNK_FORMAT.rst), which Zarr used before version 3.
//!
//! ```text
//! version, version of the codec, flags, size of a value | bytes, bytes of a block, packed bytes (32 bits each)
//! where each block begins (32 bits each) | for each stream of a block: its bytes (32 bits), the stream
//! ```
//! A block has one stream, or one for each byte of a value. Shuffled values have the first bytes of all values of a block first,
//! then all second bytes, and so on.

use std::io;

use flate2::read::ZlibDecoder;

use super::codecs::unpack as read_all;
use super::damaged;
use crate::io::zstd;

const HEADER_SIZE: usize = 16;
const SHUFFLED: u8 = 1;
const STORED: u8 = 1 << 1;
const BITS_SHUFFLED: u8 = 1 << 2;
const ONE_STREAM: u8 = 1 << 4;
/// Minimum number of values in a block with one stream per byte of a value.
const MIN_VALUES_TO_SPLIT: usize = 128;
/// Maximum number of bytes per value with one stream each.
const MAX_SIZE_TO_SPLIT: usize = 16;

/// The `length` bytes that were compressed to `packed`.
pub(super) fn unpack(packed: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let invalid_frame = || damaged("the frame of Blosc");
    let word = |at: usize| -> io::Result<usize> {
        let bytes = packed.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        Ok(u32::from_le_bytes(bytes.ok_or_else(invalid_frame)?) as usize)
    };
    let (bytes, block) = (word(4)?, word(8)?);
    let (flags, size) = (packed[2], usize::from(packed[3]));
    if bytes != length {
        return Err(damaged("the length of a part"));
    }
    if flags & STORED != 0 {
        return packed
            .get(HEADER_SIZE..HEADER_SIZE + length)
            .map(<[u8]>::to_vec)
            .ok_or_else(invalid_frame);
    }
    if flags & BITS_SHUFFLED != 0 {
        return Err(io::Error::other("packed by Blosc with bit shuffle, which is not read here"));
    }
    if block == 0 || size == 0 {
        return Err(invalid_frame());
    }
    let mut unpacked = Vec::new();
    for number in 0..length.div_ceil(block) {
        let block_length = block.min(length - unpacked.len());
        let is_split = flags & ONE_STREAM == 0
            && size <= MAX_SIZE_TO_SPLIT
            && block / size >= MIN_VALUES_TO_SPLIT
            && block_length == block;
        let streams = if is_split { size } else { 1 };
        let (mut at, mut shuffled) = (word(HEADER_SIZE + 4 * number)?, Vec::new());
        for _ in 0..streams {
            let count = word(at)?;
            let stream = packed.get(at + 4..at + 4 + count).ok_or_else(invalid_frame)?;
            shuffled.extend(unpack_stream(flags >> 5, stream, block_length / streams)?);
            at += 4 + count;
        }
        if shuffled.len() != block_length {
            return Err(invalid_frame());
        }
        match flags & SHUFFLED != 0 && size > 1 {
            true => unpacked.extend(unshuffled(&shuffled, size)),
            false => unpacked.extend(shuffled),
        }
    }
    Ok(unpacked)
}

/// A stream of `length` bytes, decompressed by the codec of this number; an incompressible one is stored uncompressed.
fn unpack_stream(codec: u8, stream: &[u8], length: usize) -> io::Result<Vec<u8>> {
    if stream.len() == length {
        return Ok(stream.to_vec());
    }
    match codec {
        1 => lz4_flex::block::decompress(stream, length).map_err(io::Error::other),
        3 => read_all(ZlibDecoder::new(stream), length),
        4 => read_all(zstd::decoder(stream)?, length),
        other => {
            let name = ["blosclz", "", "snappy"].get(usize::from(other)).unwrap_or(&"unknown");
            let read = "codecs that are read: lz4, lz4hc, zlib, zstd";
            Err(io::Error::other(format!("packed by Blosc with the codec {name}; {read}")))
        }
    }
}

/// Values of `size` bytes from all first bytes, all second bytes, and so on; the bytes of an incomplete value follow.
fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let values = (0..count * size).map(|at| bytes[at / size + count * (at % size)]);
    values.chain(bytes[count * size..].iter().copied()).collect()
}
