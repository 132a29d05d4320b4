//! The ends of lines that are blocks of longer ones: what is taken there for the neighbours, and what their inflow adds.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::kernels::HALO;
use super::tile::SharedField;
use super::{LANES, Row};
use crate::engine::distributed::{BlockCoupling, PlaneOffsets, slot};
use crate::real::Real;
use crate::simd::added;

/// Weighted sums over the first or last points of the lines of a tile, one plane each.
pub(super) struct Pack<'a, T> {
    /// For every plane; the last belongs to the last point where `from_end`, else the first to the first.
    pub(super) weights: &'a [Vec<T>],
    pub(super) from_end: bool,
    /// Points of the lines in the register.
    pub(super) points: usize,
    pub(super) from: &'a [Row<T>],
    pub(super) planes: SharedField<T>,
    /// The first plane.
    pub(super) first: usize,
    /// Lines of the grid: numbers of a plane.
    pub(super) total: usize,
    pub(super) lines: Range<usize>,
}

impl<T: Real> WithSimd for Pack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (plane, weights) in self.weights.iter().enumerate() {
            let start = if self.from_end { self.points - weights.len() } else { 0 };
            let mut sum = [T::ZERO; LANES];
            for (w, f) in weights.iter().zip(&self.from[HALO + start..]) {
                sum = added(simd, *w, f, &sum);
            }
            let at = (self.first + plane) * self.total + self.lines.start;
            // SAFETY: numbers of the lines of this tile, which no other thread touches.
            let to = unsafe { self.planes.slice_mut(at, self.lines.len()) };
            to.copy_from_slice(&sum[..self.lines.len()]);
        }
    }
}

/// f' += C z at both ends of the lines of a tile.
pub(super) struct Correct<'a, T> {
    pub(super) ends: &'a BlockCoupling<T>,
    pub(super) planes: &'a [T],
    pub(super) starts: PlaneOffsets,
    /// Lines of the grid: numbers of a plane.
    pub(super) total: usize,
    pub(super) lines: Range<usize>,
    pub(super) to: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Correct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let inflow = |plane: usize| {
            let mut row = [T::ZERO; LANES];
            let at = plane * self.total + self.lines.start;
            row[..self.lines.len()].copy_from_slice(&self.planes[at..at + self.lines.len()]);
            row
        };
        for (c, column) in self.ends.left.iter().enumerate() {
            let z = inflow(self.starts[slot::LEFT] + c);
            add(simd, column, z, &mut self.to[HALO..]);
        }
        let n = self.to.len() - 2 * HALO;
        for (c, column) in self.ends.right.iter().enumerate() {
            let z = inflow(self.starts[slot::RIGHT] + c);
            add(simd, column, z, &mut self.to[HALO + n - column.len()..]);
        }
    }
}

#[inline(always)]
fn add<S: Simd, T: Real>(simd: S, column: &[T], z: Row<T>, rows: &mut [Row<T>]) {
    for (c, row) in column.iter().zip(rows) {
        *row = added(simd, *c, &z, row);
    }
}
