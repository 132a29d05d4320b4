//! Decoding of the bytes of a chunk, or a part of one, into values.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::blosc;
use super::damaged;
use crate::io::floats::floats;
use crate::io::zstd;

/// Storage of the values of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Codecs {
    /// Bytes per value: 4 or 8.
    pub(super) size: usize,
    pub(super) big_endian: bool,
    /// The axes (0 is x), the fastest first.
    pub(super) order: [usize; 3],
    /// Codecs applied to the bytes, in order.
    pub(super) byte_codecs: Vec<ByteCodec>,
}

/// One codec applied to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteCodec {
    Gzip,
    Zlib,
    Zstd,
    Blosc,
    /// A CRC32C after them.
    Crc32c,
}

impl Codecs {
    /// The values of a part of `points` along x, y, z, those along x fastest.
    pub(super) fn decode(&self, encoded: &[u8], points: [usize; 3]) -> io::Result<Vec<f64>> {
        let count: usize = points.iter().product();
        let length = count * self.size;
        let mut bytes = Cow::Borrowed(encoded);
        for codec in self.byte_codecs.iter().rev() {
            bytes = match codec {
                ByteCodec::Crc32c => Cow::Owned(verify_crc32c(&bytes)?.to_vec()),
                ByteCodec::Blosc => Cow::Owned(blosc::unpack(&bytes, length)?),
                ByteCodec::Gzip => Cow::Owned(unpack(MultiGzDecoder::new(&*bytes), length)?),
                ByteCodec::Zlib => Cow::Owned(unpack(ZlibDecoder::new(&*bytes), length)?),
                ByteCodec::Zstd => Cow::Owned(unpack(zstd::decoder(&bytes)?, length)?),
            };
        }
        if bytes.len() != length {
            return Err(damaged("the length of a part"));
        }
        let values = floats(&bytes, self.size, self.big_endian);
        if self.order == [0, 1, 2] {
            return Ok(values);
        }
        let mut ordered = vec![0.0; count];
        let stride = |axis: usize| -> usize { points[..axis].iter().product() };
        let [fast, middle, slow] = self.order;
        for (at, value) in values.into_iter().enumerate() {
            let (f, rest) = (at % points[fast], at / points[fast]);
            let (m, s) = (rest % points[middle], rest / points[middle]);
            ordered[f * stride(fast) + m * stride(middle) + s * stride(slow)] = value;
        }
        Ok(ordered)
    }
}

/// The bytes of `stream`, expected to be `length` bytes plus checksums: no more is read.
pub(super) fn unpack(stream: impl Read, length: usize) -> io::Result<Vec<u8>> {
    const CHECKSUMS: u64 = 64;
    let mut bytes = Vec::new();
    stream.take(length as u64 + CHECKSUMS).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes before the CRC32C at their end.
pub(super) fn verify_crc32c(bytes: &[u8]) -> io::Result<&[u8]> {
    let (bytes, checksum) = bytes.split_last_chunk().ok_or_else(|| damaged("its length"))?;
    match crc32c::crc32c(bytes) == u32::from_le_bytes(*checksum) {
        true => Ok(bytes),
        false => Err(damaged("a checksum in it")),
    }
}
