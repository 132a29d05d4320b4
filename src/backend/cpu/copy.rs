//! Moving the lines of a tile into blocks of rows and back.

use std::mem::MaybeUninit;

use pulp::{Simd, WithSimd};

use super::memory::{cache_lines, for_few, prefetch, prefetch_rows, stream};
use super::rows::{BLOCK, GROUP, lanes};
use super::tile::Group;
use super::transpose::{SIDE, transpose};
use crate::real::Real;

/// Location of the points of a block of rows in a field.
#[derive(Clone, Copy)]
pub(super) struct Points {
    pub(super) tile: Group,
    /// First point of the lines.
    pub(super) first: usize,
}

impl Points {
    /// Number of points of the block that lie on the lines.
    fn count(&self) -> usize {
        BLOCK.min(self.tile.n - self.first)
    }

    /// The first of them, counted from the start of the field.
    pub(super) fn start(&self) -> usize {
        self.tile.start + self.first * self.tile.stride
    }

    /// First row and line of the square submatrices of a block that are transposed, and whether each is complete.
    #[inline]
    fn squares<T>(&self) -> impl Iterator<Item = (usize, usize, bool)> + use<T> {
        let (count, lines) = (self.count(), self.tile.lines);
        (0..count).step_by(SIDE).flat_map(move |r| {
            let square = move |l| (r, l, r + SIDE <= count && l + SIDE <= lines);
            (0..const { lanes::<T>() }).step_by(SIDE).map(square)
        })
    }

    /// Prefetches the points.
    #[inline]
    pub(super) fn prefetch<T: Real>(&self, field: *const T) {
        let (tile, from) = (self.tile, field.wrapping_add(self.start()));
        match tile.line_stride {
            1 => prefetch_rows(from, tile.stride, self.count(), cache_lines::<T>(tile.lines)),
            line_stride => {
                prefetch_rows(from, line_stride, tile.lines, cache_lines::<T>(self.count()))
            }
        }
    }
}

/// Calls `copy` with source and destination of all cache lines of `rows` rows in `columns` adjacent tiles. The strides
/// between rows and columns are given in numbers.
#[inline(always)]
fn for_cache_lines<T>(
    rows: usize,
    columns: usize,
    (mut from, from_strides): (*const T, [usize; 2]),
    (mut to, to_strides): (*mut T, [usize; 2]),
    copy: impl Fn(*const T, *mut T),
) {
    for _ in 0..rows {
        for_few(columns, |column| {
            let from = from.wrapping_add(column * from_strides[1]);
            copy(from, to.wrapping_add(column * to_strides[1]));
        });
        from = from.wrapping_add(from_strides[0]);
        to = to.wrapping_add(to_strides[0]);
    }
}

/// Rows that are prefetched when no operators run at the same time.
const PREFETCH_ROWS: usize = 8;

/// Copies points of a field into a block, or into those of several adjacent tiles. A missing line or row is filled with
/// a copy of an existing one.
pub(super) struct Load<T> {
    pub(super) points: Points,
    pub(super) field: *const T,
    pub(super) to: *mut T,
    /// Distance from one tile to the next, in numbers.
    pub(super) column_stride: usize,
    /// Whether it prefetches the following data.
    pub(super) prefetch_ahead: bool,
}

impl<T: Real> WithSimd for Load<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, to, column_stride, prefetch_ahead } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let from = field.wrapping_add(points.start());
        let count = points.count();
        if tile.line_stride == 1 {
            let row = |r: usize| from.wrapping_add(r.min(count - 1) * tile.stride);
            let (rows, full) = (count.next_multiple_of(GROUP), tile.lines / lanes);
            let copy = |from: *const T, to: *mut T| {
                if prefetch_ahead {
                    prefetch(from.wrapping_add(PREFETCH_ROWS * tile.stride));
                }
                // SAFETY: points of this tile, and one row of the block of a column.
                unsafe { from.copy_to_nonoverlapping(to, lanes) };
            };
            for_cache_lines(
                count,
                full,
                (from, [tile.stride, lanes]),
                (to, [lanes, column_stride]),
                copy,
            );
            let filled = (to.wrapping_add(count * lanes), [lanes, column_stride]);
            for_cache_lines(rows - count, full, (row(count), [0, lanes]), filled, copy);
            let rest = tile.lines % lanes;
            if rest == 0 {
                return;
            }
            for r in 0..rows {
                for l in 0..lanes {
                    // SAFETY: as above.
                    unsafe {
                        let value = *row(r).add(full * lanes + l.min(rest - 1));
                        *to.add(full * column_stride + r * lanes + l) = value;
                    }
                }
            }
            return;
        }
        if prefetch_ahead {
            // The same points of the next tile.
            let next = from.wrapping_add(tile.lines * tile.line_stride);
            prefetch_rows(next, tile.line_stride, tile.lines, cache_lines::<T>(count));
        }
        for (r, l, is_full) in points.squares::<T>() {
            if is_full {
                let line = from.wrapping_add(l * tile.line_stride + r);
                // SAFETY: points of this tile, and of the block.
                unsafe { transpose::<S, T>(line, tile.line_stride, to.add(r * lanes + l), lanes) };
                continue;
            }
            for (r, l) in (r..r + SIDE).flat_map(|r| (l..l + SIDE).map(move |l| (r, l))) {
                let (row, line) = (r.min(count - 1), l.min(tile.lines - 1));
                // SAFETY: points of this tile, and of the block.
                unsafe { *to.add(r * lanes + l) = *from.add(row + line * tile.line_stride) };
            }
        }
    }
}

/// Copies a block, or those of several adjacent tiles, into the points of a field.
pub(super) struct Store<T> {
    pub(super) points: Points,
    pub(super) field: *mut T,
    pub(super) from: *const T,
    /// Distance from one tile to the next, in numbers.
    pub(super) column_stride: usize,
    /// Whether the data bypass the caches because they are not needed soon.
    pub(super) bypass_caches: bool,
}

/// Maximum number of lanes of a tile.
const MAX_LANES: usize = lanes::<f32>();

/// Parts of lines, one cache line after another.
#[repr(align(64))]
struct Lines<T>([T; SIDE * MAX_LANES]);

impl<T: Real> WithSimd for Store<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, from, column_stride, bypass_caches } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let to = field.wrapping_add(points.start());
        let count = points.count();
        if tile.line_stride == 1 {
            let row = |r: usize| to.wrapping_add(r * tile.stride);
            let full = tile.lines / lanes;
            let copy = |from: *const T, to: *mut T| {
                // SAFETY: one row of the block of a column, and points of this tile; where the stores bypass the caches
                // both are complete cache lines.
                unsafe {
                    match bypass_caches {
                        true => stream::<S>(to.cast(), from.cast()),
                        false => from.copy_to_nonoverlapping(to, lanes),
                    }
                }
            };
            for_cache_lines(
                count,
                full,
                (from, [lanes, column_stride]),
                (to, [tile.stride, lanes]),
                copy,
            );
            let rest = tile.lines % lanes;
            for (r, l) in (0..count).flat_map(|r| (0..rest).map(move |l| (r, l))) {
                // SAFETY: as above.
                unsafe {
                    let from = from.add(full * column_stride + r * lanes + l);
                    *row(r).add(full * lanes + l) = *from;
                }
            }
            return;
        }
        if bypass_caches && tile.lines == lanes {
            let mut lines = MaybeUninit::<Lines<T>>::uninit();
            let part = lines.as_mut_ptr().cast::<T>();
            for (r, l) in (0..count)
                .step_by(lanes)
                .flat_map(|r| (0..lanes).step_by(SIDE).map(move |l| (r, l)))
            {
                for half in (0..lanes).step_by(SIDE) {
                    // SAFETY: eight rows of the block, and of lines here.
                    unsafe {
                        let rows = from.add((r + half) * lanes + l);
                        transpose::<S, T>(rows, lanes, part.add(half), lanes);
                    }
                }
                for k in 0..SIDE {
                    let to = to.wrapping_add((l + k) * tile.line_stride + r);
                    // SAFETY: points of this tile, and equally many here; both are a cache line.
                    unsafe { stream::<S>(to.cast(), part.add(k * lanes).cast()) };
                }
            }
            return;
        }
        for (r, l, is_full) in points.squares::<T>() {
            if is_full {
                let line = to.wrapping_add(l * tile.line_stride + r);
                // SAFETY: points of this tile, and of the block.
                unsafe {
                    transpose::<S, T>(from.add(r * lanes + l), lanes, line, tile.line_stride)
                };
                continue;
            }
            let lines = l..(l + SIDE).min(tile.lines);
            for (r, l) in
                (r..(r + SIDE).min(count)).flat_map(|r| lines.clone().map(move |l| (r, l)))
            {
                // SAFETY: points of this tile, and of the block.
                unsafe { *to.add(r + l * tile.line_stride) = *from.add(r * lanes + l) };
            }
        }
    }
}

const _: () = assert!(GROUP == SIDE && lanes::<f64>().is_multiple_of(SIDE));
