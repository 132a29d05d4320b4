//! Moving the lines of a tile into blocks of rows and back.

use pulp::{Simd, WithSimd};

use super::memory::{CACHE_LINE, Fetch, fetch};
use super::rows::{BLOCK, lanes};
use super::tile::Group;
use super::transpose::{Block, SIDE, transposed};
use crate::real::Real;

/// Where the points of a block of rows lie in a field.
#[derive(Clone, Copy)]
pub(super) struct Points {
    pub(super) tile: Group,
    /// First point of the lines.
    pub(super) first: usize,
}

impl Points {
    /// Points of the block that there are.
    fn count(&self) -> usize {
        BLOCK.min(self.tile.n - self.first)
    }

    fn start(&self) -> usize {
        self.tile.start + self.first * self.tile.stride
    }

    /// Whether all lines and rows are there.
    fn is_whole<T>(&self) -> bool {
        self.tile.lines == lanes::<T>() && self.count() == BLOCK
    }
}

impl Points {
    /// Fetch them from memory.
    pub(super) fn fetch<T: Real>(&self, field: *const T, how: Fetch) {
        let tile = self.tile;
        let (count, apart) = match tile.line_stride {
            1 => (self.count(), tile.stride),
            between => (tile.lines, between),
        };
        let from = field.wrapping_add(self.start());
        for at in 0..count {
            fetch(from.wrapping_add(at * apart), how);
            if tile.line_stride != 1 && BLOCK > lanes::<T>() {
                fetch(from.wrapping_add(at * apart + lanes::<T>()), how);
            }
        }
    }
}

/// Copy points of a field into a block. A line or a row that is not there repeats one that is.
pub(super) struct Load<T> {
    pub(super) points: Points,
    pub(super) field: *const T,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for Load<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, to } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let from = field.wrapping_add(points.start());
        match (tile.line_stride == 1, points.is_whole::<T>()) {
            (true, true) => {
                for r in 0..BLOCK {
                    let row = from.wrapping_add(r * tile.stride);
                    // SAFETY: points of this tile, and one row of the block.
                    unsafe { row.copy_to_nonoverlapping(to.add(r * lanes), lanes) };
                }
            }
            (false, true) => {
                for (r0, first) in (0..BLOCK).step_by(SIDE).flat_map(|r0| (0..lanes).step_by(SIDE).map(move |l| (r0, l))) {
                    let line = |l: usize| from.wrapping_add((first + l) * tile.line_stride + r0);
                    // SAFETY: eight points of eight lines of this tile.
                    let block: Block<T> = std::array::from_fn(|l| unsafe { *line(l).cast() });
                    for (r, row) in transposed::<S, T>(&block).iter().enumerate() {
                        // SAFETY: eight lanes of a row of the block.
                        unsafe { *to.add((r0 + r) * lanes + first).cast() = *row };
                    }
                }
            }
            (_, false) => {
                for r in 0..BLOCK {
                    for l in 0..lanes {
                        let (row, line) = (r.min(points.count() - 1), l % tile.lines);
                        let at = row * tile.stride + line * tile.line_stride;
                        // SAFETY: points of this tile, and of the block.
                        unsafe { *to.add(r * lanes + l) = *from.add(at) };
                    }
                }
            }
        }
    }
}

/// Copy a block into the points of a field.
pub(super) struct Store<T> {
    pub(super) points: Points,
    pub(super) field: *mut T,
    pub(super) from: *const T,
}

impl<T: Real> WithSimd for Store<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, from } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let to = field.wrapping_add(points.start());
        match (tile.line_stride == 1, points.is_whole::<T>()) {
            (true, true) => {
                for r in 0..BLOCK {
                    let row = to.wrapping_add(r * tile.stride);
                    // SAFETY: one row of the block, and points of this tile.
                    unsafe { from.add(r * lanes).copy_to_nonoverlapping(row, lanes) };
                }
            }
            (false, true) => {
                for (r0, first) in (0..BLOCK).step_by(SIDE).flat_map(|r0| (0..lanes).step_by(SIDE).map(move |l| (r0, l))) {
                    let row = |r: usize| from.wrapping_add((r0 + r) * lanes + first);
                    // SAFETY: eight lanes of the rows of the block.
                    let block: Block<T> = std::array::from_fn(|r| unsafe { *row(r).cast() });
                    for (l, line) in transposed::<S, T>(&block).iter().enumerate() {
                        // SAFETY: eight points of a line of this tile.
                        unsafe { *to.add((first + l) * tile.line_stride + r0).cast() = *line };
                    }
                }
            }
            (_, false) => {
                for r in 0..points.count() {
                    for l in 0..tile.lines {
                        let at = r * tile.stride + l * tile.line_stride;
                        // SAFETY: points of this tile, and of the block.
                        unsafe { *to.add(at) = *from.add(r * lanes + l) };
                    }
                }
            }
        }
    }
}
const _: () = assert!(CACHE_LINE == 64 && BLOCK % SIDE == 0);
