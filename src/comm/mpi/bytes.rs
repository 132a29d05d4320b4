//! Byte counts above the 32 bits of MPI's counts.

use std::ffi::c_int;

use super::abi::Handle;
use super::functions::Aint;
use super::library::Library;

/// Size in bytes of the blocks that describe long messages.
const BLOCK_BYTES: c_int = 1 << 30;

/// A range of bytes relative to an address. The datatype is freed on drop; MPI keeps it for messages that are still under
/// way.
pub(super) struct Bytes<H: Handle> {
    /// Distance from the address, unless the datatype contains it.
    pub(super) start: c_int,
    /// Number of elements of the datatype.
    pub(super) count: c_int,
    pub(super) datatype: H,
    /// The library, if the datatype was created for this range.
    created_by: Option<&'static Library<H>>,
}

impl<H: Handle> Bytes<H> {
    /// Describes `bytes` bytes that start `start` bytes after an address.
    pub(super) fn at(library: &'static Library<H>, start: usize, bytes: usize) -> Self {
        match (c_int::try_from(start), c_int::try_from(bytes)) {
            (Ok(start), Ok(count)) => {
                Self { start, count, datatype: library.constant.byte, created_by: None }
            }
            _ => {
                let datatype = long_datatype(library, start, bytes);
                Self { start: 0, count: 1, datatype, created_by: Some(library) }
            }
        }
    }
}

impl<H: Handle> Drop for Bytes<H> {
    fn drop(&mut self) {
        if let Some(library) = self.created_by {
            // SAFETY: the datatype was made by `long_datatype` and is freed once.
            unsafe { (library.call.type_free)(&raw mut self.datatype) };
        }
    }
}

/// Creates a datatype of `bytes` bytes from `start` on: whole blocks, then the remainder.
#[allow(clippy::cast_possible_truncation, reason = "the rest is less than a block")]
#[allow(clippy::cast_sign_loss, reason = "a block is positive")]
fn long_datatype<H: Handle>(library: &Library<H>, start: usize, bytes: usize) -> H {
    let block = BLOCK_BYTES as usize;
    let address = |at: usize| Aint::try_from(at).expect("a message fits in memory");
    let blocks = c_int::try_from(bytes / block).expect("a message fits in memory");
    let counts = [blocks, (bytes % block) as c_int];
    let starts = [address(start), address(start + bytes / block * block)];
    let Library { call, constant } = library;
    let mut block_type = constant.byte;
    // SAFETY: the pointers are to values that outlive the calls; the block type is freed once, and the type built from it
    // stays valid.
    unsafe {
        (call.type_contiguous)(BLOCK_BYTES, constant.byte, &raw mut block_type);
        let types = [block_type, constant.byte];
        let mut datatype = block_type;
        let (counts, starts, types) = (counts.as_ptr(), starts.as_ptr(), types.as_ptr());
        (call.type_create_struct)(2, counts, starts, types, &raw mut datatype);
        (call.type_commit)(&raw mut datatype);
        (call.type_free)(&raw mut block_type);
        datatype
    }
}
