//! One operator from field to field along y or z: the forward pass reads one field, the backward pass writes the other,
//! and only the intermediate values stay in the caches.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::closed::AtEnd;
use super::memory::{CACHE_LINE, prefetch_row, stream};
use super::rows::{BLOCK, lanes};
use super::solver::{RowCoefficients, SolveMethod, Solver};
use super::tile::Group;
use super::vectors::splats;
use crate::real::Real;
use crate::simd::array_of;

/// Cache lines per row: memory transfers several neighbouring ones faster.
pub(super) const COLUMNS: usize = 8;

/// Carried rows: of the operand m−2, ..., m+1; y[m−1] or y[n−1]; the sum for x[n], or x[m+1].
const CARRIED_POINTS: usize = 4;
const CARRIED: usize = CARRIED_POINTS + 2;

/// A⁻¹ B of a tridiagonal operator with five points per row of B.
pub(super) struct DirectStep<'a, T> {
    pub(super) solver: &'a Solver<T>,
    pub(super) tile: Group,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// Workspace for the points of the tile and for six rows.
    pub(super) workspace: *mut T,
    /// Whether the results bypass the caches because they are not needed soon.
    pub(super) bypass_caches: bool,
}

impl<T: Real> DirectStep<'_, T> {
    /// True if these lines can be processed here.
    pub(super) fn supports(solver: &Solver<T>, tile: &Group) -> bool {
        let full = tile.line_stride == 1 && tile.lines == COLUMNS * lanes::<T>();
        full && tile.n > 2 && solver.is_of_five_points()
    }

    /// Size of the workspace, in numbers.
    pub(super) fn workspace_len(points: usize) -> usize {
        (points + CARRIED) * COLUMNS * lanes::<T>()
    }
}

impl<T: Real> WithSimd for DirectStep<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match &self.solver.method {
            SolveMethod::Cyclic(cyclic) => {
                let zeros = [[T::ZERO; 2]; BLOCK];
                let of_block = |block: usize| PeriodicRows {
                    factor: cyclic.factor,
                    powers: cyclic.powers.get(block).unwrap_or(&zeros),
                };
                self.lines(simd, of_block, [cyclic.wrap, cyclic.correction]);
            }
            SolveMethod::Factored(factored) => {
                let of_block = |block: usize| ClosedRows {
                    lower: &factored.lower[block],
                    upper: &factored.upper[block],
                };
                self.lines(simd, of_block, [T::ZERO; 2]);
            }
            SolveMethod::Reduced(_) => unreachable!("these lines are not taken"),
        }
    }
}

/// The coefficients of a block of rows.
trait Coefficients<T: Real> {
    /// y[m], and the sum for x[n], from (B f)[m] at row `r`.
    fn forward<S: Simd>(
        &self,
        simd: S,
        r: usize,
        sum: T::Vector<S>,
        before: [T::Vector<S>; 2],
    ) -> [T::Vector<S>; 2];

    /// x[m] from y[m] at row `r`, y[n−1] and x[m+1].
    fn backward<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        after: [T::Vector<S>; 2],
    ) -> T::Vector<S>;
}

/// Coefficients of a periodic line.
struct PeriodicRows<'a, T> {
    factor: T,
    powers: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Coefficients<T> for PeriodicRows<'_, T> {
    #[inline(always)]
    fn forward<S: Simd>(
        &self,
        simd: S,
        r: usize,
        sum: T::Vector<S>,
        [y, gathered]: [T::Vector<S>; 2],
    ) -> [T::Vector<S>; 2] {
        let y = T::fma(simd, T::splat(simd, self.factor), y, sum);
        [y, T::fma(simd, T::splat(simd, self.powers[r][0]), y, gathered)]
    }

    #[inline(always)]
    fn backward<S: Simd>(
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

/// Coefficients of a line with two ends.
struct ClosedRows<'a, T> {
    lower: &'a RowCoefficients<T, 3>,
    upper: &'a RowCoefficients<T, 2>,
}

impl<T: Real> Coefficients<T> for ClosedRows<'_, T> {
    #[inline(always)]
    fn forward<S: Simd>(
        &self,
        simd: S,
        r: usize,
        sum: T::Vector<S>,
        [y, gathered]: [T::Vector<S>; 2],
    ) -> [T::Vector<S>; 2] {
        let [inverse, l, _] = self.lower[r];
        let scaled = T::times(simd, sum, T::splat(simd, inverse));
        [T::fma(simd, T::splat(simd, l), y, scaled), gathered]
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        simd: S,
        r: usize,
        y: T::Vector<S>,
        [_, x]: [T::Vector<S>; 2],
    ) -> T::Vector<S> {
        T::fma(simd, T::splat(simd, self.upper[r][0]), x, y)
    }
}

impl<T: Real> DirectStep<'_, T> {
    /// Solves all lines; `of_block`: the coefficients of a block, `wrap`: those that couple both ends.
    #[inline(always)]
    fn lines<S: Simd, C: Coefficients<T>>(
        &self,
        simd: S,
        of_block: impl Fn(usize) -> C,
        wrap: [T; 2],
    ) {
        let (n, inner) = (self.tile.n, self.solver.inner());
        let blocks = n.div_ceil(BLOCK);
        for (at, m) in (inner.start + n - 2..).take(CARRIED_POINTS).enumerate() {
            // SAFETY: a row of the field, and a carried one.
            unsafe { self.source(m % n).copy_to(self.carried(at), COLUMNS * lanes::<T>()) };
        }
        // SAFETY: two carried rows.
        unsafe { self.carried(4).write_bytes(0, 2 * COLUMNS * lanes::<T>()) };
        for block in 0..blocks {
            for end in &self.solver.ends[block] {
                let (to, factors) = (self.intermediate(end.rows.start), |m| [self.source(m)]);
                simd.vectorize(AtEnd { end, factors, columns: COLUMNS, to });
            }
            match self.solver.stencil.odd {
                true => self.forward::<S, C, true>(simd, &of_block(block), block, &inner),
                false => self.forward::<S, C, false>(simd, &of_block(block), block, &inner),
            }
        }
        let [wrap, correction] = splats(simd, wrap);
        for h in 0..self.vectors::<S>() {
            // SAFETY: carried rows.
            unsafe {
                let y = T::times(simd, wrap, *self.vector::<S>(self.carried(4), h));
                let sum = T::fma(simd, correction, y, *self.vector::<S>(self.carried(5), h));
                *self.vector::<S>(self.carried(4), h) = y;
                *self.vector::<S>(self.carried(5), h) = T::times(simd, wrap, sum);
            }
        }
        for block in (0..blocks).rev() {
            self.backward(simd, &of_block(block), block);
        }
    }

    /// Number of vectors per row.
    #[inline(always)]
    fn vectors<S: Simd>(&self) -> usize {
        const { COLUMNS * CACHE_LINE / size_of::<T::Vector<S>>() }
    }

    /// Vector `h` of a row.
    #[inline(always)]
    fn vector<S: Simd>(&self, row: *mut T, h: usize) -> *mut T::Vector<S> {
        row.cast::<T::Vector<S>>().wrapping_add(h)
    }

    fn source(&self, m: usize) -> *const T {
        self.from.wrapping_add(self.tile.start + m * self.tile.stride)
    }

    fn intermediate(&self, m: usize) -> *mut T {
        self.workspace.wrapping_add((CARRIED + m) * COLUMNS * lanes::<T>())
    }

    fn carried(&self, at: usize) -> *mut T {
        self.workspace.wrapping_add(at * COLUMNS * lanes::<T>())
    }

    fn points(&self, block: usize) -> std::ops::Range<usize> {
        block * BLOCK..self.tile.n.min((block + 1) * BLOCK)
    }

    #[inline(always)]
    fn forward<S: Simd, C: Coefficients<T>, const ODD: bool>(
        &self,
        simd: S,
        coefficients: &C,
        block: usize,
        inner: &Range<usize>,
    ) {
        let (points, n) = (self.points(block), self.tile.n);
        let start = inner.start.clamp(points.start, points.end);
        let inner = start..inner.end.clamp(start, points.end);
        let stencil = &self.solver.stencil;
        let [near, far] = splats(simd, [stencil.weights[0], stencil.weights[1]]);
        let center = T::splat(simd, stencil.center);
        let pair = |a, b| if ODD { T::minus(simd, a, b) } else { T::plus(simd, a, b) };
        let mut sources = [self.from; BLOCK];
        for m in points.clone() {
            sources[m - points.start] = self.source(if m + 2 < n { m + 2 } else { m + 2 - n });
        }
        let rows_at_once =
            const { BLOCK.div_ceil(COLUMNS * CACHE_LINE / size_of::<T::Vector<S>>()) };
        let width = size_of::<T::Vector<S>>() / size_of::<T>();
        for h in 0..self.vectors::<S>() {
            // Prefetch the rows of the next block, one after the other.
            for r in (h * rows_at_once..(h + 1) * rows_at_once).take_while(|r| *r < BLOCK) {
                prefetch_row(self.source(points.start + BLOCK + r), COLUMNS);
            }
            // SAFETY: rows of the field, of the workspace, and carried ones; vectors of the field need not be aligned.
            unsafe {
                let carried = |at: usize| self.vector::<S>(self.carried(at), h);
                let [mut a, mut b, mut c, mut d] = array_of(|at| *carried(at));
                let (mut y, mut gathered) = (*carried(4), *carried(5));
                macro_rules! eliminate {
                    ($m:expr, $sum:expr) => {{
                        let (r, before) = ($m - points.start, [y, gathered]);
                        [y, gathered] = coefficients.forward(simd, r, $sum, before);
                        *self.vector::<S>(self.intermediate($m), h) = y;
                    }};
                }
                for m in points.start..inner.start {
                    eliminate!(m, *self.vector::<S>(self.intermediate(m), h));
                }
                for m in inner.clone() {
                    let source = sources[m - points.start].wrapping_add(h * width);
                    let e = source.cast::<T::Vector<S>>().read_unaligned();
                    let sum = match ODD {
                        true => T::times(simd, near, pair(d, b)),
                        false => T::fma(simd, near, pair(d, b), T::times(simd, c, center)),
                    };
                    eliminate!(m, T::fma(simd, far, pair(e, a), sum));
                    (a, b, c, d) = (b, c, d, e);
                }
                for m in inner.end..points.end {
                    eliminate!(m, *self.vector::<S>(self.intermediate(m), h));
                }
                let rows = [a, b, c, d, y, gathered];
                for at in 0..rows.len() {
                    *carried(at) = rows[at];
                }
            }
        }
    }

    #[inline(always)]
    fn backward<S: Simd>(&self, simd: S, coefficients: &impl Coefficients<T>, block: usize) {
        let points = self.points(block);
        for h in 0..self.vectors::<S>() {
            // SAFETY: rows of the workspace, and carried ones.
            unsafe {
                let last = *self.vector::<S>(self.carried(4), h);
                let mut x = *self.vector::<S>(self.carried(5), h);
                for (r, m) in points.clone().enumerate().rev() {
                    let at = self.vector::<S>(self.intermediate(m), h);
                    x = coefficients.backward(simd, r, *at, [last, x]);
                    *at = x;
                }
                *self.vector::<S>(self.carried(5), h) = x;
            }
        }
        for m in points {
            let from = self.intermediate(m);
            let to = self.to.wrapping_add(self.tile.start + m * self.tile.stride);
            for l in (0..COLUMNS).map(|column| column * lanes::<T>()) {
                let (to, from) = (to.wrapping_add(l), from.wrapping_add(l));
                // SAFETY: points of this tile, which no other thread accesses; both are complete cache lines where the
                // stores bypass the caches.
                unsafe {
                    match self.bypass_caches {
                        true => stream::<S>(to.cast(), from.cast()),
                        false => from.copy_to(to, lanes::<T>()),
                    }
                }
            }
        }
    }
}
