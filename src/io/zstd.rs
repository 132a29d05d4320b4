//! Zstandard, which is C, and which a page in a browser does without.

use std::io;

/// The bytes that `packed` stands for.
#[cfg(not(target_family = "wasm"))]
pub(super) fn decoder<'a>(packed: &'a [u8]) -> io::Result<impl io::Read + use<'a>> {
    zstd::stream::Decoder::new(packed)
}

/// `bytes` packed, at one of the levels of Zstandard.
#[cfg(not(target_family = "wasm"))]
pub(super) fn compress(bytes: &[u8], level: i32) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, level)
}

#[cfg(target_family = "wasm")]
pub(super) fn decoder(_: &[u8]) -> io::Result<io::Empty> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_family = "wasm")]
pub(super) fn compress(_: &[u8], _: i32) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}
