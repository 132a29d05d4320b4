//! Backward pass over the lines: x[m] = d[m] − u1[m] x[m+1] − u2[m] x[m+2] − Σ column[q][m] x[core+q].

use pulp::{Simd, WithSimd};

use super::rows::BLOCK;
use super::solver::{Cyclic, Factored, RowCoefficients, SolveMethod, Solver};
use super::vectors::{for_pairs, set, splats, vector, vectors};
use crate::real::Real;

/// The solutions of M systems of one matrix in the first `rows` rows of a block; they replace the results of the
/// forward pass.
pub(super) struct Substitute<'a, T, const M: usize> {
    pub(super) solver: &'a Solver<T>,
    pub(super) block: usize,
    pub(super) rows: usize,
    pub(super) at: [*mut T; M],
    /// The border unknowns, or y[n−1]; then x[m+1], ..., x[m+p].
    pub(super) carried: [*mut T; M],
}

impl<T: Real, const M: usize> WithSimd for Substitute<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match &self.solver.method {
            SolveMethod::Cyclic(cyclic) => {
                let powers = cyclic.powers.get(self.block);
                // Nearly all blocks are complete: they get a loop of constant length.
                match self.rows {
                    BLOCK => self.cyclic::<S>(simd, cyclic, powers, BLOCK),
                    rows => self.cyclic::<S>(simd, cyclic, powers, rows),
                }
            }
            SolveMethod::Factored(factored) => match self.solver.half_band() {
                0 => {}
                1 => self.factored::<S, 1>(simd, factored),
                _ => self.factored::<S, 2>(simd, factored),
            },
            SolveMethod::Reduced(_) => {}
        }
    }
}

impl<T: Real, const M: usize> Substitute<'_, T, M> {
    #[inline(always)]
    fn cyclic<S: Simd>(
        &self,
        simd: S,
        cyclic: &Cyclic<T>,
        powers: Option<&RowCoefficients<T, 2>>,
        rows: usize,
    ) {
        for_pairs!(const { vectors::<S, T>() }, N, h => match powers {
            Some(powers) => self.cyclic_pair::<S, N, true>(simd, cyclic, powers, rows, h),
            None => self.cyclic_pair::<S, N, false>(simd, cyclic, &[[T::ZERO; 2]; BLOCK], rows, h),
        });
    }

    /// N vectors of the first `rows` rows of every system, starting at `h`.
    #[inline(always)]
    fn cyclic_pair<S: Simd, const N: usize, const CORRECTED: bool>(
        &self,
        simd: S,
        cyclic: &Cyclic<T>,
        powers: &RowCoefficients<T, 2>,
        rows: usize,
        h: usize,
    ) {
        let Self { at, carried, .. } = *self;
        let factor = T::splat(simd, cyclic.factor);
        let mut last = [[T::splat(simd, T::ZERO); N]; M];
        let mut x = last;
        // SAFETY: rows of the block and carried rows, of this thread's memory.
        unsafe {
            for m in 0..M {
                for v in 0..N {
                    last[m][v] = vector::<S, T>(carried[m], 0, h + v);
                    x[m][v] = vector::<S, T>(carried[m], 1, h + v);
                }
            }
            for r in (0..rows).rev() {
                for m in 0..M {
                    for v in 0..N {
                        let mut y = vector::<S, T>(at[m], r, h + v);
                        if CORRECTED {
                            y = T::fma(simd, T::splat(simd, powers[r][1]), last[m][v], y);
                        }
                        x[m][v] = T::fma(simd, factor, x[m][v], y);
                        set::<S, T>(at[m], r, h + v, x[m][v]);
                    }
                }
            }
            for m in 0..M {
                for v in 0..N {
                    set::<S, T>(carried[m], 1, h + v, x[m][v]);
                }
            }
        }
    }

    #[inline(always)]
    fn factored<S: Simd, const P: usize>(&self, simd: S, factored: &Factored<T>) {
        let border = factored.border[self.block].as_deref();
        for m in 0..M {
            for_pairs!(const { vectors::<S, T>() }, N, h => match border {
                Some(border) => self.pair::<S, P, N, true>(simd, factored, &border.columns, m, h),
                None => self.pair::<S, P, N, false>(simd, factored, &[[T::ZERO; 2]; BLOCK], m, h),
            });
        }
    }

    /// N vectors of all rows of system `m`, starting at `h`.
    #[inline(always)]
    fn pair<S: Simd, const P: usize, const N: usize, const BORDER: bool>(
        &self,
        simd: S,
        factored: &Factored<T>,
        border: &RowCoefficients<T, 2>,
        m: usize,
        h: usize,
    ) {
        let Self { block, at, carried, .. } = *self;
        let (at, carried) = (at[m], carried[m]);
        let upper = &factored.upper[block];
        let zero = [T::splat(simd, T::ZERO); N];
        let (mut last, mut after) = ([zero; P], [zero; P]);
        // SAFETY: rows of the block and carried rows, of this thread's memory.
        unsafe {
            for p in 0..P {
                for v in 0..N {
                    last[p][v] = vector::<S, T>(carried, p, h + v);
                    after[p][v] = vector::<S, T>(carried, P + p, h + v);
                }
            }
            for r in (0..self.rows).rev() {
                let [u1, u2] = splats(simd, upper[r]);
                let c = splats(simd, border[r]);
                for v in 0..N {
                    let mut x = vector::<S, T>(at, r, h + v);
                    if P > 1 {
                        x = T::fma(simd, u2, after[P - 1][v], x);
                    }
                    if BORDER {
                        for p in 0..P {
                            x = T::fma(simd, c[p], last[p][v], x);
                        }
                    }
                    x = T::fma(simd, u1, after[0][v], x);
                    if P > 1 {
                        after[P - 1][v] = after[0][v];
                    }
                    after[0][v] = x;
                    set::<S, T>(at, r, h + v, x);
                }
            }
            for p in 0..P {
                for v in 0..N {
                    set::<S, T>(carried, P + p, h + v, after[p][v]);
                }
            }
        }
    }
}
