//! One operator from field to field: the elimination reads the one as it goes, the substitution writes the other, and only
//! what lies between stays in the caches.
//!
//! The operations and their order are those of a tile in a register, so the results are the same bit for bit.

use pulp::{Simd, WithSimd};

use super::kernels::{Apply, HALO, Lines};
use super::memory::{CACHE_LINE, Fetch, fetch, fetch_row, write_past_caches, written};
use super::tile::{Group, SharedField, Source};
use super::transpose::{Block, SIDE, transposed};
use super::{LANES, Row};
use crate::engine::LineOperator;
use crate::real::Real;

/// Lines across memory that are worked on together: rows of several cache lines, which memory gives faster.
const WIDE: usize = 4 * LANES;
/// Rows of lines across memory that are fetched ahead of those in use.
const AHEAD: usize = 8;
/// Points of a line along memory that are held transposed.
const RING: usize = 4 * SIDE;
/// Bytes of a field that no cache is expected to keep until it is used next.
const BEYOND_CACHES: usize = 8 << 20;

/// Apply `operator` to the lines of a group in one field and leave the results in another, or in the same. Returns
/// whether such lines can be taken.
pub(super) struct Direct<'a, T> {
    pub(super) operator: &'a LineOperator<T>,
    pub(super) group: Group,
    pub(super) from: Source<'a, T>,
    pub(super) to: SharedField<T>,
    /// Room for the points of the group.
    pub(super) between: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Direct<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        if S::IS_SCALAR {
            return false;
        }
        let Self { operator, group, from, to, between } = self;
        let Group { start, lines, n, stride, line_stride, .. } = group;
        let across = line_stride == 1;
        let usual = operator.periodic && operator.factors.half_band() > 0;
        let whole_tiles = if across {
            lines == WIDE && n >= HALO
        } else {
            lines == LANES && n.is_multiple_of(SIDE)
        };
        if !usual || !whole_tiles {
            return false;
        }
        let elsewhere = matches!(from, Source::Read(_));
        let (from, len) = match from {
            Source::Read(field) => (field.as_ptr(), field.len()),
            Source::Written(field) => (field.parts().0.cast_const(), field.parts().1),
        };
        let last = start + (n - 1) * stride + (lines - 1) * line_stride;
        assert!(last < len && last < to.parts().1, "lines lie outside their field");
        let (from, to) = (from.wrapping_add(start), to.parts().0.wrapping_add(start));

        let bytes = |values: usize| values * size_of::<T>();
        let (apart_by, written_at_once) =
            if across { (stride, LANES) } else { (line_stride, SIDE) };
        let whole = [to.addr(), bytes(apart_by), bytes(written_at_once)]
            .iter()
            .all(|bytes| bytes.is_multiple_of(CACHE_LINE));
        let past_caches = elsewhere && whole && bytes(len) >= BEYOND_CACHES;

        let values = between.as_flattened_mut();
        if across {
            let lines = Across { from, to, n, stride, past_caches };
            let x = &mut values.as_chunks_mut::<WIDE>().0[..n];
            Apply { operator, lines, x }.usual(simd);
        } else {
            let ring = [[T::ZERO; LANES]; RING];
            let lines = Along { from, to, n, stride: line_stride, past_caches, ring };
            let x = &mut values.as_chunks_mut::<LANES>().0[..n];
            Apply { operator, lines, x }.usual(simd);
        }
        if past_caches {
            written();
        }
        true
    }
}

/// Lines across memory: a point of all of them is a row of neighbouring numbers.
struct Across<T> {
    /// First point of the first line in both fields; `stride` to the next.
    from: *const T,
    to: *mut T,
    n: usize,
    stride: usize,
    /// Nobody will soon read what is written.
    past_caches: bool,
}

impl<T: Real> Lines<T, WIDE> for Across<T> {
    #[inline(always)]
    fn point(&self, i: usize) -> &[T; WIDE] {
        let n = self.n;
        let i = if i < HALO { i + n } else { i };
        let m = if i >= n + HALO { i - n } else { i } - HALO;
        // SAFETY: m < n, and the points of these lines lie in the field; nothing is written while this is borrowed.
        unsafe { &*self.from.add(m * self.stride).cast() }
    }

    #[inline(always)]
    fn reach<S: Simd>(&mut self, m: usize) {
        fetch_row(self.from.wrapping_add((m + AHEAD) * self.stride), WIDE, Fetch::Near);
    }

    #[inline(always)]
    fn solved<S: Simd>(&mut self, m: usize, x: &[[T; WIDE]]) {
        let to = self.to.wrapping_add(m * self.stride);
        if self.past_caches {
            // SAFETY: points of these lines, which no other thread touches; rows start with a cache line.
            unsafe { write_past_caches::<S, T, WIDE>(to, &x[m]) };
        } else {
            fetch_row(to.wrapping_sub(AHEAD * self.stride), WIDE, Fetch::Written);
            // SAFETY: points of these lines, which no other thread touches.
            unsafe { *to.cast() = x[m] };
        }
    }
}

/// Lines along memory, turned block by block into rows and back.
struct Along<T> {
    /// First point of the first line in both fields; `stride` to the next line.
    from: *const T,
    to: *mut T,
    n: usize,
    stride: usize,
    past_caches: bool,
    /// Row m modulo [`RING`] is point m: those of the block in use, of the one before and of the next.
    ring: [Row<T>; RING],
}

impl<T: Real> Along<T> {
    /// Bring points `first..first + SIDE` to the rows from `row` on, and ask for what is needed next: the same points of
    /// the next group of lines, and points ahead.
    #[inline(always)]
    fn bring<S: Simd>(&mut self, first: usize, row: usize) {
        for half in [0, SIDE] {
            let mut block: Block<T> = [[T::ZERO; SIDE]; SIDE];
            for (l, part) in block.iter_mut().enumerate() {
                let at = self.from.wrapping_add((half + l) * self.stride + first);
                fetch(at.wrapping_add(2 * SIDE), Fetch::Near);
                fetch(at.wrapping_add(LANES * self.stride), Fetch::Far);
                // SAFETY: points of these lines.
                *part = unsafe { *at.cast() };
            }
            for (row, part) in self.ring[row..].iter_mut().zip(transposed::<S, T>(&block)) {
                row[half..half + SIDE].copy_from_slice(&part);
            }
        }
    }
}

impl<T: Real> Lines<T, LANES> for Along<T> {
    #[inline(always)]
    fn point(&self, i: usize) -> &Row<T> {
        &self.ring[(i + RING - HALO) % RING]
    }

    #[inline(always)]
    fn reach<S: Simd>(&mut self, m: usize) {
        if !m.is_multiple_of(SIDE) {
            return;
        }
        if m == 0 {
            self.bring::<S>(self.n - SIDE, RING - SIDE);
            self.bring::<S>(0, 0);
        }
        let next = m + SIDE;
        self.bring::<S>(if next == self.n { 0 } else { next }, next % RING);
        if !self.past_caches {
            for l in 0..LANES {
                fetch(self.to.wrapping_add(l * self.stride + m), Fetch::Written);
            }
        }
    }

    #[inline(always)]
    fn solved<S: Simd>(&mut self, m: usize, x: &[Row<T>]) {
        if !m.is_multiple_of(SIDE) {
            return;
        }
        for half in [0, SIDE] {
            let mut block: Block<T> = [[T::ZERO; SIDE]; SIDE];
            for (part, row) in block.iter_mut().zip(&x[m..]) {
                part.copy_from_slice(&row[half..half + SIDE]);
            }
            for (l, part) in transposed::<S, T>(&block).iter().enumerate() {
                let to = self.to.wrapping_add((half + l) * self.stride + m);
                // SAFETY: points of these lines, which no other thread touches; blocks start with a cache line where
                // they go past the caches.
                unsafe {
                    if self.past_caches {
                        write_past_caches::<S, T, SIDE>(to, part);
                    } else {
                        *to.cast() = *part;
                    }
                }
            }
        }
    }
}
