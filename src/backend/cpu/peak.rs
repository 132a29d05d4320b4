//! Measurement of the peak floating-point rate of the host.

use std::marker::PhantomData;
use std::time::Instant;

use pulp::{Simd, WithSimd};

use super::Cpu;
use crate::real::Real;

/// Rounds of a measurement, and number of measurements, of which the best counts.
const ROUNDS: usize = 1 << 18;
const REPEATS: usize = 5;
/// Independent registers: enough to hide the latency of an operation.
const REGISTERS: usize = 8;

impl<T: Real> Cpu<T> {
    /// Operations per second of multiply-adds on numbers in registers, on all threads together.
    pub fn peak(&self) -> f64 {
        let work = |_: rayon::BroadcastContext<'_>| self.arch.dispatch(Chains(PhantomData::<T>));
        let rate = |_| {
            let start = Instant::now();
            let numbers: usize = self.pool.broadcast(work).into_iter().sum();
            (2 * numbers * ROUNDS) as f64 / start.elapsed().as_secs_f64()
        };
        (0..REPEATS).map(rate).fold(0.0, f64::max)
    }
}

/// Repeats x ← a x + b; returns how many numbers are processed in parallel.
struct Chains<T>(PhantomData<T>);

impl<T: Real> WithSimd for Chains<T> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let [a, b] = std::hint::black_box([T::of(0.5), T::of(1.0)]);
        let (a, b) = (T::splat(simd, a), T::splat(simd, b));
        let mut x = [T::splat(simd, T::ZERO); REGISTERS];
        for _ in 0..ROUNDS {
            for x in &mut x {
                *x = T::fma(simd, a, *x, b);
            }
        }
        std::hint::black_box(x);
        REGISTERS * (size_of::<T::Vector<S>>() / size_of::<T>())
    }
}
