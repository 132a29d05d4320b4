//! Rows of factored tridiagonal matrices.

use pulp::Simd;

use super::super::solver::RowCoefficients;
use crate::real::Real;

/// Rows of the forward pass.
pub(super) trait Lower<T: Real> {
    /// y[m] from (B f)[m] at row `r` of the block and y[m−1].
    fn y<S: Simd>(&self, simd: S, r: usize, sum: T::Vector<S>, y: T::Vector<S>) -> T::Vector<S>;
}

/// Rows of the backward pass.
pub(super) trait Upper<T: Real> {
    /// x[m] from y[m] at row `r` of the block, y[n−1] and x[m+1].
    fn x<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        after: [T::Vector<S>; 2],
    ) -> T::Vector<S>;
}

/// Rows of a periodic line, see [`Cyclic`](super::super::solver::Cyclic).
pub(super) struct PeriodicRows<T> {
    pub(super) factor: T,
}

impl<T: Real> Lower<T> for PeriodicRows<T> {
    #[inline(always)]
    fn y<S: Simd>(&self, simd: S, _: usize, sum: T::Vector<S>, y: T::Vector<S>) -> T::Vector<S> {
        T::fma(simd, T::splat(simd, self.factor), y, sum)
    }
}

impl<T: Real> Upper<T> for PeriodicRows<T> {
    #[inline(always)]
    fn x<S: Simd>(
        &self,
        simd: S,
        _: usize,
        y: T::Vector<S>,
        [_, x]: [T::Vector<S>; 2],
    ) -> T::Vector<S> {
        T::fma(simd, T::splat(simd, self.factor), x, y)
    }
}

/// Rows of a periodic line to which y[n−1] contributes.
pub(super) struct CorrectedRows<'a, T> {
    pub(super) factor: T,
    pub(super) powers: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Upper<T> for CorrectedRows<'_, T> {
    #[inline(always)]
    fn x<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        [last, x]: [T::Vector<S>; 2],
    ) -> T::Vector<S> {
        let y = T::fma(simd, T::splat(simd, self.powers[r][1]), last, y);
        T::fma(simd, T::splat(simd, self.factor), x, y)
    }
}

/// Rows of a line with two ends, see [`Factored`](super::super::solver::Factored).
pub(super) struct ClosedRows<'a, T> {
    pub(super) lower: &'a RowCoefficients<T, 3>,
    pub(super) upper: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Lower<T> for ClosedRows<'_, T> {
    #[inline(always)]
    fn y<S: Simd>(&self, simd: S, r: usize, sum: T::Vector<S>, y: T::Vector<S>) -> T::Vector<S> {
        let [inverse, l, _] = self.lower[r];
        let scaled = T::times(simd, sum, T::splat(simd, inverse));
        T::fma(simd, T::splat(simd, l), y, scaled)
    }
}

impl<T: Real> Upper<T> for ClosedRows<'_, T> {
    #[inline(always)]
    fn x<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        [_, x]: [T::Vector<S>; 2],
    ) -> T::Vector<S> {
        T::fma(simd, T::splat(simd, self.upper[r][0]), x, y)
    }
}
