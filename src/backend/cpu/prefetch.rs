//! Fetching what a thread will work on next while it computes.

use super::Field;
use super::memory::{CACHE_LINE, Fetch, fetch};
use super::program::Code;
use super::tile::{Group, SharedField};
use crate::real::Real;

/// The points of a group in the fields that a program touches, cache line by cache line. They come into the second cache
/// while operators are applied to the group before: memory is busy then, and nobody waits for it.
pub(super) struct Prefetch<'a, T> {
    fields: Touched<'a, T>,
    /// The field whose turn it is.
    field: Option<*const T>,
    /// First point; points of a row, rows, and the distance from one to the next.
    start: usize,
    width: usize,
    rows: usize,
    stride: usize,
    /// The next cache line: its row, and its first point there.
    row: usize,
    point: usize,
}

/// The fields that a program touches: those that it reads, and those that it writes.
struct Touched<'a, T> {
    reads: &'a [usize],
    read: &'a [&'a Field<T>],
    writes: &'a [usize],
    write: &'a [Option<SharedField<T>>],
}

impl<T: Real> Touched<'_, T> {
    fn next(&mut self) -> Option<*const T> {
        if let Some((&slot, rest)) = self.reads.split_first() {
            self.reads = rest;
            return Some(self.read[slot].as_ptr());
        }
        let (&slot, rest) = self.writes.split_first()?;
        self.writes = rest;
        Some(self.write[slot]?.parts().0.cast_const())
    }
}

impl<'a, T: Real> Prefetch<'a, T> {
    /// What `code` touches of `group` to be brought while its operators are applied: a cache line for every point of a line that
    /// one comes to. Nothing where operators are so few that they wait for memory themselves.
    pub(super) fn new(
        code: &'a Code<T>,
        read: &'a [&'a Field<T>],
        write: &'a [Option<SharedField<T>>],
        group: Group,
    ) -> Self {
        if code.operators() < code.reads.len() + code.writes.len() {
            return Self::nothing();
        }
        let mut fields = Touched { reads: &code.reads, read, writes: &code.writes, write };
        let field = fields.next();
        let (width, rows, stride) = match group.line_stride {
            1 => (group.lines, group.n, group.stride),
            between => (group.n, group.lines, between),
        };
        Self { fields, field, start: group.start, width, rows, stride, row: 0, point: 0 }
    }

    /// Nothing to be fetched.
    pub(super) fn nothing() -> Self {
        let fields = Touched { reads: &[], read: &[], writes: &[], write: &[] };
        let (start, width, rows, stride, row, point) = (0, 0, 0, 0, 0, 0);
        Self { fields, field: None, start, width, rows, stride, row, point }
    }

    /// Fetch some more.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        let Some(field) = self.field else { return };
        fetch(field.wrapping_add(self.start + self.row * self.stride + self.point), Fetch::Far);
        self.point += CACHE_LINE / size_of::<T>();
        if self.point >= self.width {
            (self.row, self.point) = (self.row + 1, 0);
        }
        if self.row == self.rows {
            (self.row, self.field) = (0, self.fields.next());
        }
    }
}
