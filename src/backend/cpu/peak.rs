//! The most that the host can compute.

use std::time::Instant;

use pulp::{Simd, WithSimd};

use super::Cpu;
use crate::real::Real;
use crate::simd::{Vectors, row};

/// Rounds of a measurement, and measurements of which the best counts.
const ROUNDS: usize = 1 << 18;
const REPEATS: usize = 5;
/// Numbers that are worked on side by side: eight AVX-512 registers, as many as hide how long an operation takes.
const F64: usize = 64;
const F32: usize = 128;

impl<T: Real> Cpu<T> {
    /// Operations a second of multiply-adds on numbers in registers, on all threads together.
    #[allow(clippy::cast_precision_loss, reason = "for a rate")]
    pub fn peak(&self) -> f64 {
        let wide = size_of::<T>() == size_of::<f32>();
        let work = |_: rayon::BroadcastContext<'_>| match wide {
            true => self.arch.dispatch(Chains::<T, F32>([T::ZERO; F32])),
            false => self.arch.dispatch(Chains::<T, F64>([T::ZERO; F64])),
        };
        let seconds = |_| {
            let start = Instant::now();
            self.pool.broadcast(work);
            start.elapsed().as_secs_f64()
        };
        let least = (0..REPEATS).map(seconds).fold(f64::INFINITY, f64::min);
        let lanes = if wide { F32 } else { F64 };
        (2 * lanes * ROUNDS * self.threads()) as f64 / least
    }
}

/// x ← a x + b, over and over.
struct Chains<T, const L: usize>([T; L]);

impl<T: Real, const L: usize> WithSimd for Chains<T, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [a, b] = std::hint::black_box([T::of(0.5), T::of(1.0)]);
        let (a, b) = (<T as Vectors>::splat(simd, a), <T as Vectors>::splat(simd, b));
        let mut x = self.0;
        for _ in 0..ROUNDS {
            x = row(simd, |part| T::fma(simd, a, part.of(&x), b));
        }
        std::hint::black_box(x);
    }
}
