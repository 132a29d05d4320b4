//! Fetching what a thread will work on next while it computes.

use super::Field;
use super::memory::{CACHE_LINE, Fetch, fetch};
use super::program::Code;
use super::tile::{Group, SharedField};
use crate::real::Real;

/// The fields that a program touches.
pub(super) struct Touched<T>(Vec<*const T>);

// SAFETY: the addresses are only given as hints.
unsafe impl<T: Sync> Sync for Touched<T> {}

impl<T: Real> Touched<T> {
    pub(super) fn new(
        code: &Code<T>,
        read: &[&Field<T>],
        write: &[Option<SharedField<T>>],
    ) -> Self {
        let mut fields: Vec<*const T> = Vec::new();
        let read = code.reads.iter().map(|&slot| read[slot].as_ptr());
        let written =
            code.writes.iter().filter_map(|&slot| Some(write[slot]?.parts().0.cast_const()));
        for field in read.chain(written) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Self(fields)
    }
}

/// The points of a group in the fields that a program touches, cache line by cache line. They come into the second cache
/// while operators are applied to the group before: memory is busy then, and nobody waits for it.
pub(super) struct Ahead<'a, T> {
    fields: &'a [*const T],
    /// Cache lines for every point of a line that an operator comes to.
    at_once: usize,
    /// First point; points of a row, rows, and the distance from one to the next.
    start: usize,
    width: usize,
    rows: usize,
    stride: usize,
    /// The next cache line: its row, and its first point there.
    row: usize,
    point: usize,
}

impl<'a, T: Real> Ahead<'a, T> {
    /// What `touched` holds of `group`, if one follows, to be brought while `operators` operators are applied.
    pub(super) fn new(touched: &'a Touched<T>, group: Option<Group>, operators: usize) -> Self {
        let Some(group) = group.filter(|_| operators > 0) else {
            return Self {
                fields: &[],
                at_once: 0,
                start: 0,
                width: 0,
                rows: 0,
                stride: 0,
                row: 0,
                point: 0,
            };
        };
        let (width, rows, stride) = match group.line_stride {
            1 => (group.lines, group.n, group.stride),
            between => (group.n, group.lines, between),
        };
        let fields = &touched.0[..];
        let at_once = fields.len().div_ceil(operators);
        Self { fields, at_once, start: group.start, width, rows, stride, row: 0, point: 0 }
    }

    /// Fetch some more.
    #[inline(always)]
    pub(super) fn go_on(&mut self) {
        for _ in 0..self.at_once {
            let Some((field, rest)) = self.fields.split_first() else { return };
            fetch(field.wrapping_add(self.start + self.row * self.stride + self.point), Fetch::Far);
            self.point += CACHE_LINE / size_of::<T>();
            if self.point >= self.width {
                (self.row, self.point) = (self.row + 1, 0);
            }
            if self.row == self.rows {
                (self.row, self.fields) = (0, rest);
            }
        }
    }
}
