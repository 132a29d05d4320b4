//! Polynomials of blocks of rows.

use pulp::{Simd, WithSimd};

use super::eliminate::{set, vector, vectors};
use super::rows::{BLOCK, Blocks, Place};
use crate::real::Real;

/// Σ coefficient × product of at most three quantities.
#[derive(Clone, Debug, Default)]
pub(super) struct Polynomial<T> {
    pub(super) constant: T,
    pub(super) linear: Vec<(T, [Place; 1])>,
    pub(super) quadratic: Vec<(T, [Place; 2])>,
    pub(super) cubic: Vec<(T, [Place; 3])>,
}

/// Vectors whose sums stay in registers while the terms of a polynomial are added.
const TOGETHER: usize = 8;

/// `to` = scale × (what it was) + polynomial, for the rows of one block.
pub(super) struct Evaluate<'a, T> {
    pub(super) polynomial: &'a Polynomial<T>,
    pub(super) blocks: Blocks<T>,
    /// Zero: what it was is not read.
    pub(super) scale: T,
    pub(super) to: Place,
}

impl<T: Real> WithSimd for Evaluate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { polynomial, blocks, scale, to } = self;
        let to = blocks.at(to);
        let splat = |x| T::splat(simd, x);
        for first in (0..BLOCK * const { vectors::<S, T>() }).step_by(TOGETHER) {
            let load = |from: *const T| -> [T::Vector<S>; TOGETHER] {
                // SAFETY: vectors of a block of this thread's memory.
                std::array::from_fn(|i| unsafe { vector::<S, T>(from, 0, first + i) })
            };
            let mut sums = [splat(polynomial.constant); TOGETHER];
            if scale != T::ZERO {
                let (scale, before) = (splat(scale), load(to));
                for i in 0..TOGETHER {
                    sums[i] = T::fma(simd, scale, before[i], sums[i]);
                }
            }
            for (coefficient, [a]) in &polynomial.linear {
                let (c, a) = (splat(*coefficient), load(blocks.at(*a)));
                for i in 0..TOGETHER {
                    sums[i] = T::fma(simd, c, a[i], sums[i]);
                }
            }
            for (coefficient, [a, b]) in &polynomial.quadratic {
                let c = splat(*coefficient);
                let [a, b] = [a, b].map(|place| blocks.at(*place));
                for i in 0..TOGETHER {
                    // SAFETY: as above.
                    let [a, b] = [a, b].map(|from| unsafe { vector::<S, T>(from, 0, first + i) });
                    sums[i] = T::fma(simd, T::times(simd, c, a), b, sums[i]);
                }
            }
            for (coefficient, [a, b, d]) in &polynomial.cubic {
                let c = splat(*coefficient);
                let [a, b, d] = [a, b, d].map(|place| blocks.at(*place));
                for i in 0..TOGETHER {
                    // SAFETY: as above.
                    let [a, b, d] =
                        [a, b, d].map(|from| unsafe { vector::<S, T>(from, 0, first + i) });
                    let product = T::times(simd, T::times(simd, c, a), b);
                    sums[i] = T::fma(simd, product, d, sums[i]);
                }
            }
            for (i, sum) in sums.into_iter().enumerate() {
                // SAFETY: as above.
                unsafe { set::<S, T>(to, 0, first + i, sum) };
            }
        }
    }
}

/// `to` = `from` + weight × `sum`.
pub(super) struct Advance<T> {
    pub(super) weight: T,
    pub(super) from: *const T,
    pub(super) sum: *const T,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for Advance<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let weight = T::splat(simd, self.weight);
        for at in 0..BLOCK * const { vectors::<S, T>() } {
            // SAFETY: vectors of blocks of this thread's memory.
            unsafe {
                let increment = T::times(simd, weight, vector::<S, T>(self.sum, 0, at));
                let sum = T::plus(simd, vector::<S, T>(self.from, 0, at), increment);
                set::<S, T>(self.to, 0, at, sum);
            }
        }
    }
}
