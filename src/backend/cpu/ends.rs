//! The ends of lines split across ranks: weighted sums for the neighbours, and corrections by the interface values.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::rows::{BLOCK, lanes};
use super::run::End;
use super::tile::SharedField;
use super::vectors::{set, vector, vectors};
use crate::engine::distributed::{BlockCoupling, PlaneOffsets, slot};
use crate::real::Real;

/// Weighted sums over the first or last points of the lines of a tile, one plane each.
pub(super) struct Pack<'a, T> {
    pub(super) ends: &'a BlockCoupling<T>,
    pub(super) end: End,
    pub(super) starts: PlaneOffsets,
    /// Points of the lines.
    pub(super) points: usize,
    /// Row m of the operand.
    pub(super) operand: &'a dyn Fn(usize) -> *const T,
    /// Workspace for a row.
    pub(super) sum: *mut T,
    pub(super) planes: SharedField<T>,
    /// Number of lines of the grid: size of a plane.
    pub(super) total: usize,
    pub(super) lines: Range<usize>,
}

impl<T: Real> WithSimd for Pack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let slots = match self.end {
            End::First => [slot::TO_LEFT, slot::HEAD],
            End::Last => [slot::TO_RIGHT, slot::TAIL],
        };
        for at in slots {
            for (plane, weights) in self.ends.sources[at].iter().enumerate() {
                self.plane(simd, self.starts[at] + plane, weights);
            }
        }
    }
}

impl<T: Real> Pack<'_, T> {
    /// The last weight belongs to the last point if the last points are packed, else the first weight to the first
    /// point.
    #[inline(always)]
    fn plane<S: Simd>(&self, simd: S, plane: usize, weights: &[T]) {
        let start = match self.end {
            End::First => 0,
            End::Last => self.points - weights.len(),
        };
        for h in 0..const { vectors::<S, T>() } {
            let mut sum = T::splat(simd, T::ZERO);
            for (m, weight) in weights.iter().enumerate() {
                let from = (self.operand)(start + m);
                // SAFETY: a row of this thread's memory.
                let value = unsafe { vector::<S, T>(from, 0, h) };
                sum = T::fma(simd, T::splat(simd, *weight), value, sum);
            }
            // SAFETY: as above.
            unsafe { set::<S, T>(self.sum, 0, h, sum) };
        }
        let at = plane * self.total + self.lines.start;
        // SAFETY: numbers of the lines of this tile, which no other thread accesses; the row holds at least as many.
        unsafe {
            let to = self.planes.slice_mut(at, self.lines.len());
            to.copy_from_slice(std::slice::from_raw_parts(self.sum, self.lines.len()));
        }
    }
}

/// f' += C z at both ends of the lines of a tile, for the part in a block of rows.
pub(super) struct Correct<'a, T> {
    pub(super) ends: &'a BlockCoupling<T>,
    pub(super) planes: &'a [T],
    pub(super) starts: PlaneOffsets,
    /// Number of lines of the grid: size of a plane.
    pub(super) total: usize,
    pub(super) lines: Range<usize>,
    /// Point of the first row.
    pub(super) first: usize,
    /// Points of the lines.
    pub(super) points: usize,
    pub(super) at: *mut T,
}

impl<T: Real> WithSimd for Correct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (c, column) in self.ends.left.iter().enumerate() {
            self.add(simd, self.starts[slot::LEFT] + c, column, 0);
        }
        for (c, column) in self.ends.right.iter().enumerate() {
            self.add(simd, self.starts[slot::RIGHT] + c, column, self.points - column.len());
        }
    }
}

impl<T: Real> Correct<'_, T> {
    /// Adds `column`, which starts at point `start`, times the interface values in `plane`.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, plane: usize, column: &[T], start: usize) {
        let rows = self.first.max(start)..(self.first + BLOCK).min(start + column.len());
        if rows.is_empty() {
            return;
        }
        let z = &self.planes[plane * self.total..][self.lines.clone()];
        for h in 0..const { vectors::<S, T>() } {
            let lanes = lanes::<T>() / const { vectors::<S, T>() };
            let part = &z[z.len().min(h * lanes)..z.len().min((h + 1) * lanes)];
            let z = T::load(simd, part);
            for m in rows.clone() {
                let c = T::splat(simd, column[m - start]);
                // SAFETY: a row of the block, of this thread's memory.
                unsafe {
                    let sum = T::fma(simd, c, z, vector::<S, T>(self.at, m - self.first, h));
                    set::<S, T>(self.at, m - self.first, h, sum);
                }
            }
        }
    }
}
