//! Evaluation of polynomials on blocks of rows.

use pulp::{Simd, WithSimd};

use super::rows::{Blocks, Place};
use super::vectors::{set, vector, vectors};
use crate::real::Real;

/// Σ coefficient × product of at most three quantities.
#[derive(Clone, Debug, Default)]
pub(super) struct Polynomial<T> {
    pub(super) constant: T,
    pub(super) linear: Vec<(T, [Place; 1])>,
    pub(super) quadratic: Vec<(T, [Place; 2])>,
    pub(super) cubic: Vec<(T, [Place; 3])>,
}

impl<T: Copy> Polynomial<T> {
    /// Coefficient and factors of every term, in the order in which they are added.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn terms(&self) -> impl Iterator<Item = (T, &[Place])> {
        let linear = self.linear.iter().map(|(c, factors)| (*c, &factors[..]));
        let quadratic = self.quadratic.iter().map(|(c, factors)| (*c, &factors[..]));
        let cubic = self.cubic.iter().map(|(c, factors)| (*c, &factors[..]));
        linear.chain(quadratic).chain(cubic)
    }
}

/// Number of vectors whose sums stay in registers while the terms of a polynomial are added.
const VECTORS_AT_ONCE: usize = 8;

/// `to` = scale × `to` + polynomial, for rows of one block.
pub(super) struct Evaluate<'a, T> {
    pub(super) polynomial: &'a Polynomial<T>,
    pub(super) blocks: Blocks<T>,
    /// Number of rows, a multiple of the group size.
    pub(super) rows: usize,
    /// Zero: the old value of `to` is not read.
    pub(super) scale: T,
    pub(super) to: Place,
}

impl<T: Real> WithSimd for Evaluate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { polynomial, blocks, rows, scale, to } = self;
        let Polynomial { constant, linear, quadratic, cubic } = polynomial;
        let to = blocks.at(to);
        for first in (0..rows * const { vectors::<S, T>() }).step_by(VECTORS_AT_ONCE) {
            let skipped = first * size_of::<T::Vector<S>>();
            let from = |place: Place| blocks.at(place).wrapping_byte_add(skipped).cast_const();
            let mut sums = [T::splat(simd, *constant); VECTORS_AT_ONCE];
            // SAFETY: vectors of blocks of this thread's memory.
            unsafe {
                if scale != T::ZERO {
                    let scale = T::splat(simd, scale);
                    for i in 0..VECTORS_AT_ONCE {
                        sums[i] = T::fma(simd, scale, vector::<S, T>(to, 0, first + i), sums[i]);
                    }
                }
                for (coefficient, [a]) in linear {
                    let (c, a) = (T::splat(simd, *coefficient), from(*a));
                    for i in 0..VECTORS_AT_ONCE {
                        sums[i] = T::fma(simd, c, vector::<S, T>(a, 0, i), sums[i]);
                    }
                }
                for (coefficient, [a, b]) in quadratic {
                    let (c, a, b) = (T::splat(simd, *coefficient), from(*a), from(*b));
                    for i in 0..VECTORS_AT_ONCE {
                        let product = T::times(simd, c, vector::<S, T>(a, 0, i));
                        sums[i] = T::fma(simd, product, vector::<S, T>(b, 0, i), sums[i]);
                    }
                }
                for (coefficient, [a, b, d]) in cubic {
                    let (c, a, b, d) = (T::splat(simd, *coefficient), from(*a), from(*b), from(*d));
                    for i in 0..VECTORS_AT_ONCE {
                        let product = T::times(simd, c, vector::<S, T>(a, 0, i));
                        let product = T::times(simd, product, vector::<S, T>(b, 0, i));
                        sums[i] = T::fma(simd, product, vector::<S, T>(d, 0, i), sums[i]);
                    }
                }
                for i in 0..VECTORS_AT_ONCE {
                    set::<S, T>(to, 0, first + i, sums[i]);
                }
            }
        }
    }
}

/// `to` = `from` + weight × `sum`.
pub(super) struct Advance<T> {
    pub(super) weight: T,
    pub(super) rows: usize,
    pub(super) from: *const T,
    pub(super) sum: *const T,
    pub(super) to: *mut T,
}

impl<T: Real> WithSimd for Advance<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let weight = T::splat(simd, self.weight);
        for at in 0..self.rows * const { vectors::<S, T>() } {
            // SAFETY: vectors of blocks of this thread's memory.
            unsafe {
                let increment = T::times(simd, weight, vector::<S, T>(self.sum, 0, at));
                let sum = T::plus(simd, vector::<S, T>(self.from, 0, at), increment);
                set::<S, T>(self.to, 0, at, sum);
            }
        }
    }
}
