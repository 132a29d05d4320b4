//! Numbers of bytes that MPI, which counts in 32 bits, has no word for.

use std::ffi::c_int;

use super::abi::Handle;
use super::functions::Aint;
use super::library::Library;

/// Bytes of the blocks that long messages are described by.
const BLOCK: c_int = 1 << 30;

/// Some bytes at some distance from an address. Its datatype is freed when it is dropped; messages on their way may still
/// need it, and MPI keeps it for them.
pub(super) struct Bytes<H: Handle> {
    /// Distance from the address; what the datatype does not hold of it.
    pub(super) start: c_int,
    /// How many of the datatype.
    pub(super) count: c_int,
    pub(super) datatype: H,
    /// The library that made the datatype for these bytes alone.
    maker: Option<&'static Library<H>>,
}

impl<H: Handle> Bytes<H> {
    /// `bytes` bytes from `start` on, counted from an address.
    pub(super) fn at(library: &'static Library<H>, start: usize, bytes: usize) -> Self {
        match (c_int::try_from(start), c_int::try_from(bytes)) {
            (Ok(start), Ok(count)) => {
                Self { start, count, datatype: library.constant.byte, maker: None }
            }
            _ => {
                let datatype = long(library, start, bytes);
                Self { start: 0, count: 1, datatype, maker: Some(library) }
            }
        }
    }
}

impl<H: Handle> Drop for Bytes<H> {
    fn drop(&mut self) {
        if let Some(library) = self.maker {
            // SAFETY: the datatype was made by `long` and is freed once.
            unsafe { (library.call.type_free)(&raw mut self.datatype) };
        }
    }
}

/// A datatype of `bytes` bytes from `start` on: as many whole blocks as fit, then what is left.
#[allow(clippy::cast_possible_truncation, reason = "the rest is less than a block")]
#[allow(clippy::cast_sign_loss, reason = "a block is positive")]
fn long<H: Handle>(library: &Library<H>, start: usize, bytes: usize) -> H {
    let block = BLOCK as usize;
    let address = |at: usize| Aint::try_from(at).expect("memory ends before");
    let blocks = c_int::try_from(bytes / block).expect("memory ends before");
    let counts = [blocks, (bytes % block) as c_int];
    let starts = [address(start), address(start + bytes / block * block)];
    let Library { call, constant } = library;
    let mut whole = constant.byte;
    // SAFETY: pointers to values that outlive the calls; the block is freed once, which the datatype made of it does not
    // mind.
    unsafe {
        (call.type_contiguous)(BLOCK, constant.byte, &raw mut whole);
        let types = [whole, constant.byte];
        let mut datatype = whole;
        let (counts, starts, types) = (counts.as_ptr(), starts.as_ptr(), types.as_ptr());
        (call.type_create_struct)(2, counts, starts, types, &raw mut datatype);
        (call.type_commit)(&raw mut datatype);
        (call.type_free)(&raw mut whole);
        datatype
    }
}
