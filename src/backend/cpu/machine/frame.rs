//! Memory of a call of generated code.

use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use super::super::memory::CACHE_LINE;

/// Maximum number of values of a formula that are stored nowhere else.
pub(super) const MAX_TEMPORARIES: usize = 64;

/// Maximum number of fields that a pass reads or writes.
pub(super) const MAX_FIELDS_OF_PASS: usize = 32;

/// Distance in rows from the current row to the one that is prefetched: enough for the latency of memory. Many more
/// rows would not stay in a set of the cache, if the distance between rows is a power of two.
pub(super) const ROWS_AHEAD: usize = 6;

/// What generated code uses besides the rows.
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
    /// The last row in every field.
    fields: [*const T; MAX_FIELDS_OF_PASS],
}

impl<T> Frame<T> {
    /// `stride`, `ahead`: distances in the fields, in numbers, to the next row and to the one that is prefetched;
    /// `fields`: the last row in every field.
    #[inline(always)]
    pub(super) fn new(
        weights: [T; 2],
        [stride, ahead]: [isize; 2],
        fields: impl Iterator<Item = *const T>,
    ) -> Self {
        let bytes = |distance: isize| distance * size_of::<T>().cast_signed();
        let mut frame = Self {
            temporaries: MaybeUninit::uninit(),
            weights,
            stride: bytes(stride),
            ahead: bytes(ahead),
            fields: [ptr::null(); MAX_FIELDS_OF_PASS],
        };
        for (at, field) in fields.enumerate() {
            frame.fields[at] = field;
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
