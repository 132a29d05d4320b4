//! Forward pass over the lines: B f, and the elimination of A.
//!
//! With d the right-hand side after elimination: d[m] = inv[m] (B f)[m] − l1[m] d[m−1] − l2[m] d[m−2]. The rows of a
//! border accumulate their sums along the way.

use pulp::{Simd, WithSimd};

use super::rows::{BLOCK, GROUP, lanes};
use super::solver::{Border, Cyclic, Factored, RowCoefficients, SolveMethod, Solver};
use super::vectors::{for_pairs, set, splats, vector, vectors};
use crate::engine::Stencil;
use crate::real::Real;
use crate::simd::mapped;

/// Repeats `body` for every row of a group, unrolled: the results of a row stay in registers.
macro_rules! for_rows {
    ($r:ident in $($number:literal)* $body:block) => {$({
        const $r: usize = $number;
        $body
    })*};
}
pub(super) use for_rows;

/// A block of rows of a periodic tridiagonal operator with five points per row of B, for a product of K quantities that
/// is computed on the fly.
pub(super) struct FivePoints<'a, T, const K: usize, const ODD: bool> {
    pub(super) solver: &'a Solver<T>,
    /// Number of valid rows.
    pub(super) rows: usize,
    /// The factors in this block, and in the two rows that follow it on the periodic line.
    pub(super) here: [*const T; K],
    pub(super) after: [[*const T; K]; 2],
    pub(super) to: *mut T,
    /// Rows m−2, ..., m+1 of the operand, and y[m−1].
    pub(super) carried: *mut T,
}

impl<T: Real, const K: usize, const ODD: bool> WithSimd for FivePoints<'_, T, K, ODD> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SolveMethod::Cyclic(cyclic) = &self.solver.method else { return };
        for_pairs!(const { vectors::<S, T>() }, N, h => self.rows::<S, N>(simd, cyclic, h));
    }
}

impl<T: Real, const K: usize, const ODD: bool> FivePoints<'_, T, K, ODD> {
    /// N vectors of all rows, starting at `h`.
    #[inline(always)]
    fn rows<S: Simd, const N: usize>(&self, simd: S, cyclic: &Cyclic<T>, h: usize) {
        let Self { solver, rows, here, after, to, carried, .. } = *self;
        let weights = weights(simd, &solver.stencil);
        let factor = T::splat(simd, cyclic.factor);
        // SAFETY: rows of blocks and carried rows, of this thread's memory.
        unsafe {
            let [mut a, mut b, mut c, mut d, mut y] = [[T::splat(simd, T::ZERO); N]; 5];
            for v in 0..N {
                a[v] = vector::<S, T>(carried, 0, h + v);
                b[v] = vector::<S, T>(carried, 1, h + v);
                c[v] = vector::<S, T>(carried, 2, h + v);
                d[v] = vector::<S, T>(carried, 3, h + v);
                y[v] = vector::<S, T>(carried, 4, h + v);
            }
            macro_rules! eliminate {
                ($to:expr, $r:expr, $from:expr, $ahead:expr) => {{
                    for v in 0..N {
                        let e = product::<S, T, K>(simd, $from, $ahead, h + v);
                        let operand = [a[v], b[v], c[v], d[v], e];
                        let sum = five_points::<S, T, ODD>(simd, weights, operand);
                        y[v] = T::fma(simd, factor, y[v], sum);
                        set::<S, T>($to, $r, h + v, y[v]);
                        (a[v], b[v], c[v], d[v]) = (b[v], c[v], d[v], e);
                    }
                }};
            }
            let skip = |rows: usize| move |at: *const T| at.wrapping_add(rows * lanes::<T>());
            let last = rows.saturating_sub(2) / GROUP * GROUP;
            for first in (0..last).step_by(GROUP) {
                let (from, to) = (mapped(here, skip(first)), to.wrapping_add(first * lanes::<T>()));
                for_rows!(R in 0 1 2 3 4 5 6 7 {
                    eliminate!(to, R, from, R + 2);
                });
            }
            if rows - last == GROUP {
                let (from, to) = (mapped(here, skip(last)), to.wrapping_add(last * lanes::<T>()));
                for_rows!(R in 0 1 2 3 4 5 6 7 {
                    let (from, r) = match R + 2 < GROUP {
                        true => (from, R + 2),
                        false => (after[R % 2], 0),
                    };
                    eliminate!(to, R, from, r);
                });
            } else {
                for r in last..rows {
                    let (from, ahead) = match r + 2 < rows {
                        true => (here, r + 2),
                        false => (after[r + 2 - rows], 0),
                    };
                    eliminate!(to, r, from, ahead);
                }
            }
            for v in 0..N {
                set::<S, T>(carried, 0, h + v, a[v]);
                set::<S, T>(carried, 1, h + v, b[v]);
                set::<S, T>(carried, 2, h + v, c[v]);
                set::<S, T>(carried, 3, h + v, d[v]);
                set::<S, T>(carried, 4, h + v, y[v]);
            }
        }
    }
}

/// The weights of a row of B with five points: of both neighbours, of the points beyond them, of the point itself.
#[inline(always)]
pub(super) fn weights<S: Simd, T: Real>(simd: S, stencil: &Stencil<T>) -> [T::Vector<S>; 3] {
    splats(simd, [stencil.weights[0], stencil.weights[1], stencil.center])
}

/// (B f)[m] from f[m−2], ..., f[m+2].
#[inline(always)]
pub(super) fn five_points<S: Simd, T: Real, const ODD: bool>(
    simd: S,
    [near, far, center]: [T::Vector<S>; 3],
    [a, b, c, d, e]: [T::Vector<S>; 5],
) -> T::Vector<S> {
    if ODD {
        let sum = T::times(simd, near, T::minus(simd, d, b));
        T::fma(simd, far, T::minus(simd, e, a), sum)
    } else {
        let sum = T::fma(simd, near, T::plus(simd, d, b), T::times(simd, c, center));
        T::fma(simd, far, T::plus(simd, e, a), sum)
    }
}

/// The product of vectors `h` of row `r`, counted from each of `rows`.
///
/// # Safety
/// As for [`vector`].
#[inline(always)]
pub(super) unsafe fn product<S: Simd, T: Real, const K: usize>(
    simd: S,
    rows: [*const T; K],
    r: usize,
    h: usize,
) -> T::Vector<S> {
    // SAFETY: as the caller promises.
    unsafe {
        let mut product = vector::<S, T>(rows[0], r, h);
        for k in 1..K {
            product = T::times(simd, product, vector::<S, T>(rows[k], r, h));
        }
        product
    }
}

/// Forward elimination of the first `rows` rows of a block of a periodic tridiagonal system with known right-hand
/// sides.
pub(super) struct CyclicForward<'a, T> {
    pub(super) cyclic: &'a Cyclic<T>,
    pub(super) rows: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// y[m−1].
    pub(super) carried: *mut T,
}

impl<T: Real> WithSimd for CyclicForward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { cyclic, rows, from, to, carried } = self;
        let factor = T::splat(simd, cyclic.factor);
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of blocks and carried rows, of this thread's memory.
            unsafe {
                let mut y = vector::<S, T>(carried, 0, h);
                for r in 0..rows {
                    y = T::fma(simd, factor, y, vector::<S, T>(from, r, h));
                    set::<S, T>(to, r, h, y);
                }
                set::<S, T>(carried, 0, h, y);
            }
        }
    }
}

/// Step between the forward and backward passes of M periodic tridiagonal systems: y[n−1] and x[n].
pub(super) struct CyclicClosure<'a, T, const M: usize> {
    pub(super) cyclic: &'a Cyclic<T>,
    /// Block b of every system.
    pub(super) blocks: &'a dyn Fn(usize) -> [*const T; M],
    /// y⁰[n−1]; then y[n−1] and x[n] at the locations that the substitution reads.
    pub(super) carried: [*mut T; M],
}

impl<T: Real, const M: usize> WithSimd for CyclicClosure<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { cyclic, blocks, carried } = self;
        let [wrap, correction] = splats(simd, [cyclic.wrap, cyclic.correction]);
        for_pairs!(const { vectors::<S, T>() }, N, h => {
            // Σ (−l)^m y[m]: with several independent sums the latency of an addition occurs only once.
            let mut sums = [[T::splat(simd, T::ZERO); N]; M];
            for (block, powers) in cyclic.powers.iter().enumerate() {
                let (at, rows) = (blocks(block), BLOCK.min(cyclic.significant - block * BLOCK));
                for (r, [power, _]) in powers[..rows].iter().enumerate() {
                    let power = T::splat(simd, *power);
                    for m in 0..M {
                        for v in 0..N {
                            // SAFETY: rows of blocks of this thread's memory.
                            let y = unsafe { vector::<S, T>(at[m], r, h + v) };
                            sums[m][v] = T::fma(simd, power, y, sums[m][v]);
                        }
                    }
                }
            }
            for m in 0..M {
                for v in 0..N {
                    // SAFETY: carried rows of the operators.
                    unsafe {
                        let y = T::times(simd, wrap, vector::<S, T>(carried[m], 0, h + v));
                        let sum = T::fma(simd, correction, y, sums[m][v]);
                        set::<S, T>(carried[m], 1, h + v, y);
                        set::<S, T>(carried[m], 2, h + v, T::times(simd, wrap, sum));
                    }
                }
            }
        });
    }
}

/// B f at the rows of a block, from contiguous rows of f.
pub(super) struct Differences<'a, T> {
    pub(super) solver: &'a Solver<T>,
    /// Number of rows, a multiple of the group size.
    pub(super) rows: usize,
    /// Rows of f that start `back` rows before the block.
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
        let Self { solver, rows, operand, to } = *self;
        let Stencil { half_width, center, weights, up, down, .. } = solver.stencil;
        let center = T::splat(simd, center);
        // As many rows at a time as there are registers for their sums.
        for first in (0..rows).step_by(GROUP) {
            for h in 0..const { vectors::<S, T>() } {
                // SAFETY: rows of the operand, of this thread's memory.
                let load = |r: usize| unsafe { vector::<S, T>(operand, first + r, h) };
                let mut sums = [T::splat(simd, T::ZERO); GROUP];
                if !ODD {
                    for r in 0..GROUP {
                        sums[r] = T::times(simd, load(solver.back + r), center);
                    }
                }
                for s in 1..=half_width {
                    let weight = T::splat(simd, weights[s - 1]);
                    let high = (solver.back + s).wrapping_add_signed(up);
                    // For a staggered row the index may be below 0; adding `down` corrects it.
                    let low = solver.back.wrapping_sub(s).wrapping_add_signed(down);
                    for r in 0..GROUP {
                        let (a, b) = (load(high + r), load(low + r));
                        let pair = if ODD { T::minus(simd, a, b) } else { T::plus(simd, a, b) };
                        sums[r] = T::fma(simd, weight, pair, sums[r]);
                    }
                }
                for (r, sum) in sums.into_iter().enumerate() {
                    // SAFETY: a row of the block that is written.
                    unsafe { set::<S, T>(to, first + r, h, sum) };
                }
            }
        }
    }
}

/// The product of one or two quantities, in contiguous rows.
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
        // SAFETY: rows of this thread's memory.
        unsafe {
            match *factors {
                [a] => {
                    for at in 0..rows * const { vectors::<S, T>() } {
                        set::<S, T>(to, 0, at, vector::<S, T>(a, 0, at));
                    }
                }
                [a, b] => {
                    for at in 0..rows * const { vectors::<S, T>() } {
                        let (a, b) = (vector::<S, T>(a, 0, at), vector::<S, T>(b, 0, at));
                        set::<S, T>(to, 0, at, T::times(simd, a, b));
                    }
                }
                _ => unreachable!("one factor or two"),
            }
        }
    }
}

/// The elimination of a block of rows with known right-hand sides.
pub(super) struct Eliminate<'a, T> {
    pub(super) factored: &'a Factored<T>,
    /// Half-bandwidth p.
    pub(super) half_band: usize,
    pub(super) block: usize,
    pub(super) rows: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// d[m−1], ..., d[m−p], then the sums of the border, p rows.
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
        for_pairs!(const { vectors::<S, T>() }, N, h => match border {
            Some(border) => self.pair::<S, P, N, true>(simd, &border.rows, h),
            None => self.pair::<S, P, N, false>(simd, &[[T::ZERO; 2]; BLOCK], h),
        });
    }

    /// N vectors of all rows, starting at `h`.
    #[inline(always)]
    fn pair<S: Simd, const P: usize, const N: usize, const BORDER: bool>(
        &self,
        simd: S,
        border: &RowCoefficients<T, 2>,
        h: usize,
    ) {
        let Self { factored, block, rows, from, to, carried, .. } = *self;
        let lower = &factored.lower[block];
        let zero = [T::splat(simd, T::ZERO); N];
        let (mut before, mut gathered) = ([zero; P], [zero; P]);
        // SAFETY: rows of blocks and carried rows, of this thread's memory.
        unsafe {
            for p in 0..P {
                for v in 0..N {
                    before[p][v] = vector::<S, T>(carried, p, h + v);
                    gathered[p][v] = vector::<S, T>(carried, P + p, h + v);
                }
            }
            for r in 0..rows {
                let [inverse, l1, l2] = splats(simd, lower[r]);
                let c = splats(simd, border[r]);
                for v in 0..N {
                    let mut d = vector::<S, T>(from, r, h + v);
                    if P > 0 {
                        d = T::times(simd, d, inverse);
                        if P > 1 {
                            d = T::fma(simd, l2, before[P - 1][v], d);
                        }
                        d = T::fma(simd, l1, before[0][v], d);
                        if P > 1 {
                            before[P - 1][v] = before[0][v];
                        }
                        before[0][v] = d;
                    }
                    if BORDER {
                        for p in 0..P {
                            gathered[p][v] = T::fma(simd, c[p], d, gathered[p][v]);
                        }
                    }
                    set::<S, T>(to, r, h + v, d);
                }
            }
            for p in 0..P {
                for v in 0..N {
                    set::<S, T>(carried, p, h + v, before[p][v]);
                    set::<S, T>(carried, P + p, h + v, gathered[p][v]);
                }
            }
        }
    }
}

/// The border unknowns of a periodic line, from their right-hand sides and their accumulated sums.
pub(super) struct SolveBorder<'a, T> {
    pub(super) solver: &'a Solver<T>,
    /// Location of row core + q, with its right-hand side; its solution replaces it.
    pub(super) row: &'a dyn Fn(usize) -> *mut T,
    /// Accumulated sums; the solution replaces them.
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
