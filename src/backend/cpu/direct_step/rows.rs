//! Rows of factored tridiagonal matrices.

use pulp::Simd;

use super::super::solver::RowCoefficients;
use crate::real::Real;

/// Rows of the forward pass: y[m] = `factor` y[m−1] + `scaled` (B f)[m].
pub(super) trait Lower<T: Real> {
    /// The factor at row `r` of the block.
    fn factor(&self, r: usize) -> T;

    /// The right-hand side of row `r`, from (B f)[m].
    #[inline(always)]
    fn scaled<S: Simd>(&self, _: S, _: usize, sum: T::Vector<S>) -> T::Vector<S> {
        sum
    }
}

/// Rows of the backward pass: x[m] = `factor` x[m+1] + `corrected` y[m].
pub(super) trait Upper<T: Real> {
    /// The factor at row `r` of the block.
    fn factor(&self, r: usize) -> T;

    /// The right-hand side of row `r`, from y[m] and `last` = y[n−1].
    #[inline(always)]
    fn corrected<S: Simd>(
        &self,
        _: S,
        _: usize,
        y: T::Vector<S>,
        _last: T::Vector<S>,
    ) -> T::Vector<S> {
        y
    }
}

/// Rows of a periodic line, see [`Cyclic`](super::super::solver::Cyclic).
pub(super) struct PeriodicRows<T> {
    pub(super) factor: T,
}

impl<T: Real> Lower<T> for PeriodicRows<T> {
    #[inline(always)]
    fn factor(&self, _: usize) -> T {
        self.factor
    }
}

impl<T: Real> Upper<T> for PeriodicRows<T> {
    #[inline(always)]
    fn factor(&self, _: usize) -> T {
        self.factor
    }
}

/// Rows of a periodic line to which y[n−1] contributes.
pub(super) struct CorrectedRows<'a, T> {
    pub(super) factor: T,
    pub(super) powers: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Upper<T> for CorrectedRows<'_, T> {
    #[inline(always)]
    fn factor(&self, _: usize) -> T {
        self.factor
    }

    #[inline(always)]
    fn corrected<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        last: T::Vector<S>,
    ) -> T::Vector<S> {
        T::fma(simd, T::splat(simd, self.powers[r][1]), last, y)
    }
}

/// Rows of a line with two ends, see [`Factored`](super::super::solver::Factored).
pub(super) struct ClosedRows<'a, T> {
    pub(super) lower: &'a RowCoefficients<T, 3>,
    pub(super) upper: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Lower<T> for ClosedRows<'_, T> {
    #[inline(always)]
    fn factor(&self, r: usize) -> T {
        self.lower[r][1]
    }

    #[inline(always)]
    fn scaled<S: Simd>(&self, simd: S, r: usize, sum: T::Vector<S>) -> T::Vector<S> {
        T::times(simd, sum, T::splat(simd, self.lower[r][0]))
    }
}

impl<T: Real> Upper<T> for ClosedRows<'_, T> {
    #[inline(always)]
    fn factor(&self, r: usize) -> T {
        self.upper[r][0]
    }
}
