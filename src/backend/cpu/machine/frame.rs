//! Memory of a call of generated code.

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use super::super::memory::CACHE_LINE;

/// Maximum number of values of a formula that are stored nowhere else.
pub(super) const MAX_TEMPORARIES: usize = 64;

/// Maximum number of fields of a pass, and of fields that it prefetches.
pub(super) const MAX_POINTERS: usize = 32;

/// What generated code reads besides the rows.
#[repr(C, align(64))]
pub(super) struct Frame<T> {
    /// Rows of temporary values.
    pub(super) temporaries: MaybeUninit<[[u8; CACHE_LINE]; MAX_TEMPORARIES]>,
    /// β and the advance of the run.
    pub(super) weights: [T; 2],
    /// Bytes from a row of the fields to the next.
    pub(super) stride: usize,
    /// First distances to rows, see [`Distance`](super::encode::Distance), in bytes.
    pub(super) distances: [usize; 2],
    /// The last row of the block in every field, and rows to be prefetched with it.
    pub(super) fields: [*const T; MAX_POINTERS],
    pub(super) prefetched: [*const T; MAX_POINTERS],
}

impl<T> Frame<T> {
    /// `stride`: bytes between rows of the fields; `neighbour`: from a row to its neighbour.
    pub(super) fn new(weights: [T; 2], stride: usize, neighbour: usize) -> Self {
        Self {
            temporaries: MaybeUninit::uninit(),
            weights,
            stride,
            distances: [0, neighbour],
            fields: [ptr::null(); MAX_POINTERS],
            prefetched: [ptr::null(); MAX_POINTERS],
        }
    }
}

/// Position of a weight, in bytes.
pub(super) const fn weight<T>(at: usize) -> usize {
    offset_of!(Frame<T>, weights) + at * size_of::<T>()
}

/// Position of the address of a field.
pub(super) const fn field<T>(at: usize) -> usize {
    offset_of!(Frame<T>, fields) + at * size_of::<*const T>()
}

/// Position of the address of a prefetched field.
pub(super) const fn prefetched<T>(at: usize) -> usize {
    offset_of!(Frame<T>, prefetched) + at * size_of::<*const T>()
}
