//! Zstandard, a C library, which browser builds do without.

use std::io;

/// The bytes that were compressed to `packed`.
#[cfg(not(target_family = "wasm"))]
pub(super) fn decoder<'a>(packed: &'a [u8]) -> io::Result<impl io::Read + use<'a>> {
    zstd::stream::Decoder::new(packed)
}

/// `bytes` compressed at a level of Zstandard.
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
