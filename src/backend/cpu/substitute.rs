//! Up the lines: x[m] = d[m] − u1[m] x[m+1] − u2[m] x[m+2] − Σ column[q][m] x[core+q].

use pulp::{Simd, WithSimd};

use super::eliminate::{for_rows, set, splats, vector, vectors};
use super::rows::BLOCK;
use super::solver::{Cyclic, Factored, OfRows, Solver, Way};
use crate::real::Real;

/// The solution of the first `rows` rows of a block in the place of what the way down left.
pub(super) struct Substitute<'a, T> {
    pub(super) solver: &'a Solver<T>,
    pub(super) block: usize,
    pub(super) rows: usize,
    pub(super) at: *mut T,
    /// The border unknowns, or y[n−1]; then x[m+1], ..., x[m+p].
    pub(super) carried: *mut T,
}

impl<T: Real> WithSimd for Substitute<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match &self.solver.way {
            Way::Cyclic(cyclic) => match cyclic.powers.get(self.block) {
                Some(powers) => self.cyclic::<S, true>(simd, cyclic, powers),
                None => self.cyclic::<S, false>(simd, cyclic, &[[T::ZERO; 2]; BLOCK]),
            },
            Way::Factored(factored) => match self.solver.half_band() {
                0 => self.factored::<S, 0>(simd, factored),
                1 => self.factored::<S, 1>(simd, factored),
                _ => self.factored::<S, 2>(simd, factored),
            },
        }
    }
}

impl<T: Real> Substitute<'_, T> {
    #[inline(always)]
    fn cyclic<S: Simd, const LACKING: bool>(
        &self,
        simd: S,
        cyclic: &Cyclic<T>,
        powers: &OfRows<T, 2>,
    ) {
        let Self { rows, at, carried, .. } = *self;
        let factor = T::splat(simd, cyclic.factor);
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of the block and carried rows, of this thread's memory.
            unsafe {
                let last = vector::<S, T>(carried, 0, h);
                let mut x = vector::<S, T>(carried, 1, h);
                let mut row = |r: usize| {
                    let mut y = vector::<S, T>(at, r, h);
                    if LACKING {
                        y = T::fma(simd, T::splat(simd, powers[r][1]), last, y);
                    }
                    x = T::fma(simd, factor, x, y);
                    set::<S, T>(at, r, h, x);
                };
                if rows == BLOCK {
                    for_rows!(R in 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0 { row(R) });
                } else {
                    (0..rows).rev().for_each(row);
                }
                set::<S, T>(carried, 1, h, x);
            }
        }
    }

    #[inline(always)]
    fn factored<S: Simd, const P: usize>(&self, simd: S, factored: &Factored<T>) {
        let Self { block, at, carried, .. } = *self;
        let (upper, border) = (&factored.upper[block], factored.border[block].as_deref());
        for h in 0..const { vectors::<S, T>() } {
            // SAFETY: rows of the block and carried rows, of this thread's memory.
            let load = |rows: *const T, r: usize| unsafe { vector::<S, T>(rows, r, h) };
            let last: [_; P] = std::array::from_fn(|p| load(carried, p));
            let mut after: [_; P] = std::array::from_fn(|p| load(carried, P + p));
            for r in (0..BLOCK).rev() {
                let [u1, u2] = splats(simd, upper[r]);
                let mut x = load(at, r);
                if P > 0 {
                    if P > 1 {
                        x = T::fma(simd, u2, after[P - 1], x);
                    }
                    if let Some(border) = border {
                        for (last, c) in last.iter().zip(border.columns[r]) {
                            x = T::fma(simd, T::splat(simd, c), *last, x);
                        }
                    }
                    x = T::fma(simd, u1, after[0], x);
                    if P > 1 {
                        after[P - 1] = after[0];
                    }
                    after[0] = x;
                }
                // SAFETY: a row of the block.
                unsafe { set::<S, T>(at, r, h, x) };
            }
            for (p, row) in after.into_iter().enumerate() {
                // SAFETY: carried rows of this operator.
                unsafe { set::<S, T>(carried, P + p, h, row) };
            }
        }
    }
}
