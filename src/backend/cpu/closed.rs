//! Forward pass on lines with two ends: B f with the rows of the closures, and the elimination of a tridiagonal A with
//! coefficients that differ from row to row.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::eliminate::{five_points, product, weights};
use super::rows::{BLOCK, lanes};
use super::solver::{Factored, SolveMethod, Solver};
use super::vectors::{for_pairs, set, splats, vector, vectors};
use crate::engine::{EndRow, LineOperator};
use crate::real::Real;
use crate::simd::mapped;

/// Rows near an end that are computed together: they share their inputs, and their sums stay in registers.
const ROWS_AT_ONCE: usize = 4;

/// B at neighbouring rows near an end of the lines, all in one block.
#[derive(Clone, Debug)]
pub(super) struct EndRows<T> {
    /// Point indices of the rows.
    pub(super) rows: Range<usize>,
    /// The first point that they read, and the weights of this and the following points.
    first: usize,
    weights: Vec<[T; ROWS_AT_ONCE]>,
}

impl<T: Real> EndRows<T> {
    /// Rows of `operator` in every block.
    pub(super) fn of(operator: &LineOperator<T>) -> Vec<Vec<Self>> {
        let n = operator.len();
        let right = n - operator.right.len();
        let mut blocks: Vec<Vec<Self>> = vec![Vec::new(); n.div_ceil(BLOCK)];
        for (start, rows) in [(0, &operator.left), (right, &operator.right)] {
            let mut m = start;
            while m < start + rows.len() {
                let end = (start + rows.len()).min(m + ROWS_AT_ONCE).min((m / BLOCK + 1) * BLOCK);
                blocks[m / BLOCK].push(Self::new(m..end, &rows[m - start..end - start]));
                m = end;
            }
        }
        blocks
    }

    fn new(rows: Range<usize>, ends: &[EndRow<T>]) -> Self {
        let first = ends.iter().map(|row| row.first).min().unwrap_or(0);
        let last = ends.iter().map(|row| row.first + row.weights.len()).max().unwrap_or(first);
        let mut weights = vec![[T::ZERO; ROWS_AT_ONCE]; last - first];
        for (r, row) in ends.iter().enumerate() {
            for (n, weight) in row.weights.iter().enumerate() {
                weights[row.first - first + n][r] = *weight;
            }
        }
        Self { rows, first, weights }
    }
}

/// B f at these rows, for a product of K quantities that is computed on the fly.
pub(super) struct AtEnd<'a, T, F> {
    pub(super) end: &'a EndRows<T>,
    /// Function that returns the factors at a point.
    pub(super) factors: F,
    /// Cache lines per row.
    pub(super) columns: usize,
    /// The first of these rows.
    pub(super) to: *mut T,
}

impl<T: Real, F: Fn(usize) -> [*const T; K], const K: usize> WithSimd for AtEnd<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { end: EndRows { rows, first, weights }, factors, columns, to } = self;
        for_pairs!(columns * const { vectors::<S, T>() }, N, h => {
            let mut sums = [[T::splat(simd, T::ZERO); N]; ROWS_AT_ONCE];
            for (n, weights) in weights.iter().enumerate() {
                let factors = factors(first + n);
                let weights = splats(simd, *weights);
                for v in 0..N {
                    // SAFETY: a row of every factor, which nothing writes meanwhile; a row of a field need not be aligned.
                    let factor = |k: usize| unsafe {
                        factors[k].cast::<T::Vector<S>>().add(h + v).read_unaligned()
                    };
                    let mut value = factor(0);
                    for k in 1..K {
                        value = T::times(simd, value, factor(k));
                    }
                    for r in 0..ROWS_AT_ONCE {
                        sums[r][v] = T::fma(simd, weights[r], value, sums[r][v]);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate().take(rows.len()) {
                for v in 0..N {
                    // SAFETY: one of these rows, of this thread's memory.
                    unsafe { set::<S, T>(to.wrapping_add(r * columns * lanes::<T>()), 0, h + v, sums[v]) };
                }
            }
        });
    }
}

/// A block of rows of a tridiagonal operator with five points per inner row of B, on lines with two ends, for a product
/// of K quantities that is computed on the fly.
pub(super) struct Closed<'a, T, const K: usize, const ODD: bool> {
    pub(super) solver: &'a Solver<T>,
    pub(super) block: usize,
    /// The factors in this block and in the next one.
    pub(super) here: [*const T; K],
    pub(super) next: [*const T; K],
    /// The inner rows, and, if there are any, the factors at the four points that start two points before the first
    /// inner row.
    pub(super) inner: Range<usize>,
    pub(super) before: [[*const T; K]; 4],
    /// Number of valid rows.
    pub(super) rows: usize,
    /// B f at all other rows.
    pub(super) sums: *const T,
    pub(super) to: *mut T,
    /// y[m−1].
    pub(super) carried: *mut T,
}

impl<T: Real, const K: usize, const ODD: bool> WithSimd for Closed<'_, T, K, ODD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SolveMethod::Factored(factored) = &self.solver.method else { return };
        for_pairs!(const { vectors::<S, T>() }, N, h => self.pair::<S, N>(simd, factored, h));
    }
}

impl<T: Real, const K: usize, const ODD: bool> Closed<'_, T, K, ODD> {
    /// N vectors of all rows, starting at `h`.
    #[inline(always)]
    fn pair<S: Simd, const N: usize>(&self, simd: S, factored: &Factored<T>, h: usize) {
        let Self { solver, block, here, next, ref inner, before, rows, sums, to, carried } = *self;
        let lower = &factored.lower[block];
        let weights = weights(simd, &solver.stencil);
        let next = mapped(next, |next| next.wrapping_sub(BLOCK * lanes::<T>()));
        let zero = [T::splat(simd, T::ZERO); N];
        let mut y = zero;
        // SAFETY: rows of blocks and carried rows, of this thread's memory.
        unsafe {
            for v in 0..N {
                y[v] = vector::<S, T>(carried, 0, h + v);
            }
            macro_rules! eliminate {
                ($r:expr, $v:ident, $sum:expr) => {{
                    let [inverse, l, _] = lower[$r];
                    let scaled = T::times(simd, $sum, T::splat(simd, inverse));
                    y[$v] = T::fma(simd, T::splat(simd, l), y[$v], scaled);
                    set::<S, T>(to, $r, h + $v, y[$v]);
                }};
            }
            for r in 0..inner.start {
                for v in 0..N {
                    eliminate!(r, v, vector::<S, T>(sums, r, h + v));
                }
            }
            let mut window = [zero; 4];
            if !inner.is_empty() {
                for w in 0..window.len() {
                    for v in 0..N {
                        window[w][v] = product::<S, T, K>(simd, before[w], 0, h + v);
                    }
                }
            }
            for r in inner.clone() {
                let row = if r + 2 < BLOCK { here } else { next };
                for v in 0..N {
                    let [a, b, c, d] = [window[0][v], window[1][v], window[2][v], window[3][v]];
                    let e = product::<S, T, K>(simd, row, r + 2, h + v);
                    eliminate!(r, v, five_points::<S, T, ODD>(simd, weights, [a, b, c, d, e]));
                    (window[0][v], window[1][v], window[2][v], window[3][v]) = (b, c, d, e);
                }
            }
            for r in inner.end..rows {
                for v in 0..N {
                    eliminate!(r, v, vector::<S, T>(sums, r, h + v));
                }
            }
            for v in 0..N {
                set::<S, T>(carried, 0, h + v, y[v]);
            }
        }
    }
}
