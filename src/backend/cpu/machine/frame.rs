//! Memory of a call of generated code.

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use super::super::memory::CACHE_LINE;

/// Maximum number of values of a formula that are stored nowhere else.
pub(super) const MAX_TEMPORARIES: usize = 64;

/// Maximum number of fields of a pass.
pub(super) const MAX_POINTERS: usize = 32;

/// Rows between the current row and the one that is prefetched: enough for the latency of memory. Many more would not
/// stay in a set of the cache, if the distance between rows is a power of two.
const ROWS_AHEAD: isize = 6;

/// What generated code reads besides the rows.
#[repr(C, align(64))]
pub(super) struct Frame<T> {
    /// Rows of temporary values.
    temporaries: MaybeUninit<[[u8; CACHE_LINE]; MAX_TEMPORARIES]>,
    /// β and the advance of the run.
    pub(super) weights: [T; 2],
    /// Bytes from a row of the fields to the next.
    pub(super) stride: isize,
    /// Bytes to the row that is prefetched.
    pub(super) ahead: isize,
    /// The last row of the block in every field.
    fields: [*const T; MAX_POINTERS],
}

impl<T> Frame<T> {
    /// `stride`: numbers between rows of the fields; `fields`: the last row of the block in every field.
    pub(super) fn new(
        weights: [T; 2],
        stride: usize,
        fields: impl Iterator<Item = *const T>,
    ) -> Self {
        let stride = (stride * size_of::<T>()).cast_signed();
        let ahead = -ROWS_AHEAD * stride;
        let temporaries = MaybeUninit::uninit();
        let mut frame =
            Self { temporaries, weights, stride, ahead, fields: [ptr::null(); MAX_POINTERS] };
        for (to, field) in frame.fields.iter_mut().zip(fields) {
            *to = field;
        }
        frame
    }
}

/// Position of a temporary value, in bytes.
pub(super) const fn temporary<T>(at: usize) -> usize {
    offset_of!(Frame<T>, temporaries) + at * CACHE_LINE
}

/// Position of a weight.
pub(super) const fn weight<T>(at: usize) -> usize {
    offset_of!(Frame<T>, weights) + at * size_of::<T>()
}

/// Position of the address of a field.
pub(super) const fn field<T>(at: usize) -> usize {
    offset_of!(Frame<T>, fields) + at * size_of::<*const T>()
}
