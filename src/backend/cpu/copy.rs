//! Moving the lines of a tile into blocks of rows and back.

use pulp::{Simd, WithSimd};

use super::memory::{fetch, fetch_row, stream};
use super::rows::{BLOCK, lanes};
use super::tile::Group;
use super::transpose::{SIDE, transpose};
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
        self.tile.lines.is_multiple_of(lanes::<T>()) && self.count() == BLOCK
    }
}

impl Points {
    /// Fetch them from memory.
    pub(super) fn fetch<T: Real>(&self, field: *const T) {
        let (tile, from) = (self.tile, field.wrapping_add(self.start()));
        match tile.line_stride {
            1 => (0..self.count()).for_each(|r| fetch(from.wrapping_add(r * tile.stride))),
            between => {
                (0..tile.lines).for_each(|l| fetch_row(from.wrapping_add(l * between), BLOCK));
            }
        }
    }
}

/// Rows that are fetched ahead where there are no operators to load beside.
const AHEAD: usize = 8;

/// Copy points of a field into a block, or into those of several tiles side by side. A line or a row that is not there repeats
/// one that is.
pub(super) struct Load<T> {
    pub(super) points: Points,
    pub(super) field: *const T,
    pub(super) to: *mut T,
    /// Numbers from a tile to the next.
    pub(super) apart: usize,
    /// Whether it fetches what comes later.
    pub(super) ahead: bool,
}

impl<T: Real> WithSimd for Load<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, to, apart, ahead } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let from = field.wrapping_add(points.start());
        match (tile.line_stride == 1, points.is_whole::<T>()) {
            (true, true) if tile.lines > lanes => {
                for r in 0..BLOCK {
                    let row = from.wrapping_add(r * tile.stride);
                    for (column, l) in (0..tile.lines).step_by(lanes).enumerate() {
                        if ahead {
                            fetch(row.wrapping_add(AHEAD * tile.stride + l));
                        }
                        // SAFETY: points of this tile, and one row of the block of a column.
                        unsafe {
                            let to = to.add(column * apart + r * lanes);
                            row.add(l).copy_to_nonoverlapping(to, lanes);
                        }
                    }
                }
            }
            (true, true) => {
                for r in 0..BLOCK {
                    let row = from.wrapping_add(r * tile.stride);
                    // SAFETY: points of this tile, and one row of the block.
                    unsafe { row.copy_to_nonoverlapping(to.add(r * lanes), lanes) };
                }
            }
            (false, true) => {
                if ahead {
                    // The same points of the next tile.
                    for l in 0..tile.lines {
                        let line = from.wrapping_add((tile.lines + l) * tile.line_stride);
                        fetch_row(line, BLOCK);
                    }
                }
                for (r, l) in squares::<T>() {
                    let line = from.wrapping_add(l * tile.line_stride + r);
                    // SAFETY: points of this tile, and of the block.
                    unsafe {
                        transpose::<S, T>(line, tile.line_stride, to.add(r * lanes + l), lanes);
                    }
                }
            }
            (_, false) => {
                for r in 0..BLOCK {
                    for l in 0..tile.lines.next_multiple_of(lanes) {
                        let (row, line) = (r.min(points.count() - 1), l % tile.lines);
                        let at = row * tile.stride + line * tile.line_stride;
                        let place = l / lanes * apart + r * lanes + l % lanes;
                        // SAFETY: points of this tile, and of the block of a column.
                        unsafe { *to.add(place) = *from.add(at) };
                    }
                }
            }
        }
    }
}

/// Copy a block, or those of several tiles side by side, into the points of a field.
pub(super) struct Store<T> {
    pub(super) points: Points,
    pub(super) field: *mut T,
    pub(super) from: *const T,
    /// Numbers from a tile to the next.
    pub(super) apart: usize,
    /// Whether nobody will soon read it.
    pub(super) past_caches: bool,
}

/// Most lanes of a tile.
const MOST_LANES: usize = lanes::<f32>();

/// Parts of lines, cache line by cache line.
#[repr(align(64))]
struct Lines<T>([T; SIDE * MOST_LANES]);

impl<T: Real> WithSimd for Store<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { points, field, from, apart, past_caches } = self;
        let (lanes, tile) = (lanes::<T>(), points.tile);
        let to = field.wrapping_add(points.start());
        match (tile.line_stride == 1, points.is_whole::<T>()) {
            (true, true) if past_caches || tile.lines > lanes => {
                for r in 0..BLOCK {
                    let row = to.wrapping_add(r * tile.stride);
                    for (column, l) in (0..tile.lines).step_by(lanes).enumerate() {
                        // SAFETY: one row of the block of a column, and points of this tile; where they go past the caches
                        // both are a cache line.
                        unsafe {
                            let from = from.add(column * apart + r * lanes);
                            match past_caches {
                                true => stream::<S>(row.add(l).cast(), from.cast()),
                                false => from.copy_to_nonoverlapping(row.add(l), lanes),
                            }
                        }
                    }
                }
            }
            (false, true) if past_caches => {
                let mut lines = Lines([T::ZERO; SIDE * MOST_LANES]);
                let part = &mut lines.0[..SIDE * lanes];
                for (r, l) in (0..BLOCK)
                    .step_by(lanes)
                    .flat_map(|r| (0..lanes).step_by(SIDE).map(move |l| (r, l)))
                {
                    for half in (0..lanes).step_by(SIDE) {
                        // SAFETY: eight rows of the block, and of lines here.
                        unsafe {
                            let rows = from.add((r + half) * lanes + l);
                            transpose::<S, T>(rows, lanes, part.as_mut_ptr().add(half), lanes);
                        }
                    }
                    for (k, line) in part.chunks_exact(lanes).enumerate() {
                        let to = to.wrapping_add((l + k) * tile.line_stride + r);
                        // SAFETY: points of this tile, and as many here, a cache line of both.
                        unsafe { stream::<S>(to.cast(), line.as_ptr().cast()) };
                    }
                }
            }
            (true, true) => {
                for r in 0..BLOCK {
                    let row = to.wrapping_add(r * tile.stride);
                    // SAFETY: one row of the block, and points of this tile.
                    unsafe { from.add(r * lanes).copy_to_nonoverlapping(row, lanes) };
                }
            }
            (false, true) => {
                for (r, l) in squares::<T>() {
                    let line = to.wrapping_add(l * tile.line_stride + r);
                    // SAFETY: points of this tile, and of the block.
                    unsafe {
                        transpose::<S, T>(from.add(r * lanes + l), lanes, line, tile.line_stride);
                    }
                }
            }
            (_, false) => {
                for r in 0..points.count() {
                    for l in 0..tile.lines {
                        let at = r * tile.stride + l * tile.line_stride;
                        let place = l / lanes * apart + r * lanes + l % lanes;
                        // SAFETY: points of this tile, and of the block of a column.
                        unsafe { *to.add(at) = *from.add(place) };
                    }
                }
            }
        }
    }
}

const _: () = assert!(BLOCK.is_multiple_of(SIDE) && lanes::<f64>().is_multiple_of(SIDE));

/// First row and lane of the squares of a block that are turned about their diagonals.
fn squares<T>() -> impl Iterator<Item = (usize, usize)> {
    let rows = (0..BLOCK).step_by(SIDE);
    rows.flat_map(|r| (0..const { lanes::<T>() }).step_by(SIDE).map(move |l| (r, l)))
}
