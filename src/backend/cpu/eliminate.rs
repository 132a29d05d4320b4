//! Down the lines: B f, and the elimination of A.
//!
//! With d the right-hand side after elimination: d[m] = inv[m] (B f)[m] − l1[m] d[m−1] − l2[m] d[m−2]; the rows of a border
//! gather what is theirs on the way.

use pulp::{Simd, WithSimd};

use super::rows::{BLOCK, lanes};
use super::solver::{Border, Cyclic, Factored, OfRows, Solver, Way};
use crate::engine::{EndRow, Stencil};
use crate::real::Real;

/// Repeat `body` for every row of a block, one after the other in the code: what a row leaves stays in registers.
macro_rules! for_rows {
    ($r:ident in $($number:literal)* $body:block) => {$({
        const $r: usize = $number;
        $body
    })*};
}
pub(super) use for_rows;

/// Vectors of a row.
pub(super) const fn vectors<S: Simd, T: Real>() -> usize {
    super::memory::CACHE_LINE / size_of::<T::Vector<S>>()
}

/// Vector `h` of row `r` from `rows` on.
///
/// # Safety
/// The row is one of a thread's own memory, whole and aligned.
#[inline(always)]
pub(super) unsafe fn vector<S: Simd, T: Real>(rows: *const T, r: usize, h: usize) -> T::Vector<S> {
    // SAFETY: as the caller promises.
    unsafe { *rows.cast::<T::Vector<S>>().add(r * const { vectors::<S, T>() } + h) }
}

/// Make that vector `to`.
///
/// # Safety
/// As for [`vector`].
#[inline(always)]
pub(super) unsafe fn set<S: Simd, T: Real>(rows: *mut T, r: usize, h: usize, to: T::Vector<S>) {
    // SAFETY: as the caller promises.
    unsafe { *rows.cast::<T::Vector<S>>().add(r * const { vectors::<S, T>() } + h) = to };
}

/// Every one of these numbers in a vector of its own.
#[inline(always)]
pub(super) fn splats<S: Simd, T: Real, const N: usize>(
    simd: S,
    numbers: [T; N],
) -> [T::Vector<S>; N] {
    let mut vectors = [T::splat(simd, T::ZERO); N];
    for n in 0..N {
        vectors[n] = T::splat(simd, numbers[n]);
    }
    vectors
}

/// A whole block of rows of a periodic tridiagonal operator with five points in a row of B, on a product of K quantities that
/// is formed as it goes.
pub(super) struct FivePoints<'a, T, const K: usize, const ODD: bool> {
    pub(super) solver: &'a Solver<T>,
    pub(super) block: usize,
    /// The factors in this block and in that which follows it round the line.
    pub(super) here: [*const T; K],
    pub(super) next: [*const T; K],
    pub(super) to: *mut T,
    /// Rows m−2, ..., m+1 of the operand, y[m−1], and what is gathered for x[n].
    pub(super) carried: *mut T,
}

impl<T: Real, const K: usize, const ODD: bool> WithSimd for FivePoints<'_, T, K, ODD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Way::Cyclic(cyclic) = &self.solver.way else { return };
        match cyclic.powers.get(self.block) {
            Some(powers) => self.rows::<S, true>(simd, cyclic, powers),
            None => self.rows::<S, false>(simd, cyclic, &[[T::ZERO; 2]; BLOCK]),
        }
    }
}

impl<T: Real, const K: usize, const ODD: bool> FivePoints<'_, T, K, ODD> {
    #[inline(always)]
    fn rows<S: Simd, const GATHERED: bool>(
        &self,
        simd: S,
        cyclic: &Cyclic<T>,
        powers: &OfRows<T, 2>,
    ) {
        let Self { solver, here, next, to, carried, .. } = *self;
        let stencil = &solver.stencil;
        let [near, far] = splats(simd, [stencil.weights[0], stencil.weights[1]]);
        let center = T::splat(simd, stencil.center);
        let factor = T::splat(simd, cyclic.factor);
        let pair = |a, b| if ODD { T::minus(simd, a, b) } else { T::plus(simd, a, b) };
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of blocks and carried rows, of this thread's memory.
            let load = |rows: *const T, r: usize| unsafe { vector::<S, T>(rows, r, h) };
            let operand = |r: usize| {
                let (from, r) = if r < BLOCK { (&here, r) } else { (&next, r - BLOCK) };
                let mut product = load(from[0], r);
                for factor in &from[1..] {
                    product = T::times(simd, product, load(*factor, r));
                }
                product
            };
            let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|r| load(carried, r));
            let (mut y, mut gathered) = (load(carried, 4), load(carried, 5));
            for_rows!(R in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 {
                let e = operand(R + 2);
                let sum = match ODD {
                    true => T::times(simd, near, pair(d, b)),
                    false => T::fma(simd, near, pair(d, b), T::times(simd, c, center)),
                };
                let sum = T::fma(simd, far, pair(e, a), sum);
                y = T::fma(simd, factor, y, sum);
                if GATHERED {
                    gathered = T::fma(simd, T::splat(simd, powers[R][0]), y, gathered);
                }
                // SAFETY: a row of the block that is made.
                unsafe { set::<S, T>(to, R, h, y) };
                (a, b, c, d) = (b, c, d, e);
            });
            for (r, row) in [a, b, c, d, y, gathered].into_iter().enumerate() {
                // SAFETY: carried rows of this operator.
                unsafe { set::<S, T>(carried, r, h, row) };
            }
        }
    }
}

/// The first `rows` rows of a block down a periodic tridiagonal system, whose right-hand sides are known.
pub(super) struct CyclicDown<'a, T> {
    pub(super) cyclic: &'a Cyclic<T>,
    pub(super) block: usize,
    pub(super) rows: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// y[m−1], and what is gathered for x[n].
    pub(super) carried: *mut T,
}

impl<T: Real> WithSimd for CyclicDown<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { cyclic, block, rows, from, to, carried } = self;
        let factor = T::splat(simd, cyclic.factor);
        let powers = cyclic.powers.get(block);
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of blocks and carried rows, of this thread's memory.
            unsafe {
                let mut y = vector::<S, T>(carried, 0, h);
                let mut gathered = vector::<S, T>(carried, 1, h);
                for r in 0..rows {
                    y = T::fma(simd, factor, y, vector::<S, T>(from, r, h));
                    if let Some(powers) = powers {
                        gathered = T::fma(simd, T::splat(simd, powers[r][0]), y, gathered);
                    }
                    set::<S, T>(to, r, h, y);
                }
                set::<S, T>(carried, 0, h, y);
                set::<S, T>(carried, 1, h, gathered);
            }
        }
    }
}

/// Between the ways down and up a periodic tridiagonal system: y[n−1] and x[n].
pub(super) struct CyclicTurn<'a, T> {
    pub(super) cyclic: &'a Cyclic<T>,
    /// y⁰[n−1], and what was gathered; then y[n−1] and x[n] where the substitution expects them.
    pub(super) carried: *mut T,
}

impl<T: Real> WithSimd for CyclicTurn<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { cyclic, carried } = self;
        let [round, lacking] = splats(simd, [cyclic.round, cyclic.lacking]);
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: carried rows of this operator.
            unsafe {
                let y = T::times(simd, round, vector::<S, T>(carried, 0, h));
                let sum = T::fma(simd, lacking, y, vector::<S, T>(carried, 1, h));
                set::<S, T>(carried, 1, h, y);
                set::<S, T>(carried, 2, h, T::times(simd, round, sum));
            }
        }
    }
}

/// Rows whose sums stay in registers.
const ROWS: usize = 8;

/// B f at the rows of a block, from rows of f one behind the other.
pub(super) struct Differences<'a, T> {
    pub(super) solver: &'a Solver<T>,
    /// Rows −back, ..., 15 + ahead of the block.
    pub(super) operand: *const T,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for Differences<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.solver.stencil.odd {
            true => self.rows::<S, true>(simd),
            false => self.rows::<S, false>(simd),
        }
    }
}

impl<T: Real> Differences<'_, T> {
    #[inline(always)]
    fn rows<S: Simd, const ODD: bool>(&self, simd: S) {
        let Self { solver, operand, to } = *self;
        let Stencil { half_width, center, weights, up, down, .. } = solver.stencil;
        let center = T::splat(simd, center);
        // As many rows as registers can hold the sums of.
        for first in (0..BLOCK).step_by(ROWS) {
            for h in 0..const { vectors::<S, T>() } {
                // SAFETY: rows of the operand, of this thread's memory.
                let load = |r: usize| unsafe { vector::<S, T>(operand, first + r, h) };
                let mut sums = [T::splat(simd, T::ZERO); ROWS];
                if !ODD {
                    for r in 0..ROWS {
                        sums[r] = T::times(simd, load(solver.back + r), center);
                    }
                }
                for s in 1..=half_width {
                    let weight = T::splat(simd, weights[s - 1]);
                    let high = (solver.back + s).wrapping_add_signed(up);
                    let low = (solver.back - s).wrapping_add_signed(down);
                    for r in 0..ROWS {
                        let (a, b) = (load(high + r), load(low + r));
                        let pair = if ODD { T::minus(simd, a, b) } else { T::plus(simd, a, b) };
                        sums[r] = T::fma(simd, weight, pair, sums[r]);
                    }
                }
                for (r, sum) in sums.into_iter().enumerate() {
                    // SAFETY: a row of the block that is made.
                    unsafe { set::<S, T>(to, first + r, h, sum) };
                }
            }
        }
    }
}

/// The product of one quantity or two, in rows one behind the other.
pub(super) struct Product<'a, T> {
    pub(super) factors: &'a [*const T],
    pub(super) rows: usize,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factors, rows, to } = self;
        for at in 0..rows * const { vectors::<S, T>() } {
            // SAFETY: rows of this thread's memory.
            unsafe {
                let mut product = vector::<S, T>(factors[0], 0, at);
                for factor in &factors[1..] {
                    product = T::times(simd, product, vector::<S, T>(*factor, 0, at));
                }
                set::<S, T>(to, 0, at, product);
            }
        }
    }
}

/// B f at one row near an end: Σₙ weights[n] f[first + n].
pub(super) struct AtEnd<'a, T> {
    pub(super) row: &'a EndRow<T>,
    /// Row m of the operand.
    pub(super) operand: &'a dyn Fn(usize) -> *const T,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for AtEnd<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for h in 0..const { vectors::<S, T>() } {
            let mut sum = T::splat(simd, T::ZERO);
            for (n, weight) in self.row.weights.iter().enumerate() {
                let from = (self.operand)(self.row.first + n);
                // SAFETY: a row of this thread's memory.
                let value = unsafe { vector::<S, T>(from, 0, h) };
                sum = T::fma(simd, T::splat(simd, *weight), value, sum);
            }
            // SAFETY: as above.
            unsafe { set::<S, T>(self.to, 0, h, sum) };
        }
    }
}

/// The elimination of a block of rows, whose right-hand sides are known.
pub(super) struct Eliminate<'a, T> {
    pub(super) factored: &'a Factored<T>,
    /// Half-bandwidth p.
    pub(super) half_band: usize,
    pub(super) block: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// d[m−1], ..., d[m−p], then what the border has gathered, p rows.
    pub(super) carried: *mut T,
}

impl<T: Real> WithSimd for Eliminate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let border = self.factored.border[self.block].as_deref();
        match self.half_band {
            0 => self.rows::<S, 0>(simd, border),
            1 => self.rows::<S, 1>(simd, border),
            _ => self.rows::<S, 2>(simd, border),
        }
    }
}

impl<T: Real> Eliminate<'_, T> {
    #[inline(always)]
    fn rows<S: Simd, const P: usize>(&self, simd: S, border: Option<&Border<T>>) {
        let Self { factored, block, from, to, carried, .. } = *self;
        let lower = &factored.lower[block];
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of blocks and carried rows, of this thread's memory.
            let load = |rows: *const T, r: usize| unsafe { vector::<S, T>(rows, r, h) };
            let mut before: [_; P] = std::array::from_fn(|p| load(carried, p));
            let mut gathered: [_; P] = std::array::from_fn(|p| load(carried, P + p));
            for r in 0..BLOCK {
                let mut d = load(from, r);
                if P > 0 {
                    let [inverse, l1, l2] = splats(simd, lower[r]);
                    d = T::times(simd, d, inverse);
                    if P > 1 {
                        d = T::fma(simd, l2, before[P - 1], d);
                    }
                    d = T::fma(simd, l1, before[0], d);
                    if let Some(border) = border {
                        for (gathered, c) in gathered.iter_mut().zip(border.rows[r]) {
                            *gathered = T::fma(simd, T::splat(simd, c), d, *gathered);
                        }
                    }
                    if P > 1 {
                        before[P - 1] = before[0];
                    }
                    before[0] = d;
                }
                // SAFETY: a row of the block that is made.
                unsafe { set::<S, T>(to, r, h, d) };
            }
            for (p, row) in before.into_iter().chain(gathered).enumerate() {
                // SAFETY: carried rows of this operator.
                unsafe { set::<S, T>(carried, p, h, row) };
            }
        }
    }
}

/// The border unknowns of a periodic line, from their right-hand sides and what was gathered for them.
pub(super) struct SolveBorder<'a, T> {
    pub(super) solver: &'a Solver<T>,
    /// Where row core + q lies, with its right-hand side; its solution replaces it.
    pub(super) row: &'a dyn Fn(usize) -> *mut T,
    /// What was gathered; the solution replaces it.
    pub(super) gathered: *mut T,
}

impl<T: Real> WithSimd for SolveBorder<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let factors = &self.solver.operator.factors;
        let [inv0, inv1, l10, u01] = splats(simd, factors.corner);
        let negative = |x| T::minus(simd, T::splat(simd, T::ZERO), x);
        let p = factors.half_band();
        for h in 0..const { vectors::<S, T>() } {
            let right = |q: usize| {
                let row = (self.row)(factors.core + q);
                // SAFETY: a row of the line, and one that was carried.
                unsafe {
                    T::minus(simd, vector::<S, T>(row, 0, h), vector::<S, T>(self.gathered, q, h))
                }
            };
            let mut last = [T::times(simd, right(0), inv0); 2];
            if p > 1 {
                let second = T::fma(simd, negative(l10), last[0], right(1));
                last[1] = T::times(simd, second, inv1);
                last[0] = T::fma(simd, negative(u01), last[1], last[0]);
            }
            for (q, value) in last[..p].iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    set::<S, T>((self.row)(factors.core + q), 0, h, *value);
                    set::<S, T>(self.gathered, q, h, *value);
                }
            }
        }
    }
}

/// Make carried rows zero.
pub(super) fn clear<T: Real>(rows: *mut T, count: usize) {
    // SAFETY: so many carried rows, of this thread's memory.
    unsafe { rows.write_bytes(0, count * lanes::<T>()) };
}
