//! Loops that look at one point at a time: maps, sums and maxima of formulas.

use rayon::prelude::*;

use super::tile::SharedField;
use super::{Cpu, Field};
use crate::engine::{Formula, abreast};
use crate::real::Real;

/// Points that one task works on. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;
/// Points side by side within a chunk: partial sums, or rows that are loaded before anything is stored, so that the
/// compiler need not ask whether fields overlap.
const ABREAST: usize = 16;

impl<T: Real> Cpu<T> {
    /// Evaluate `formula` at every point: its results replace the values of `write`.
    ///
    /// # Panics
    /// Where fields differ in length.
    pub fn map<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        read: [&Field<T>; R],
        write: [&mut Field<T>; W],
        parameters: [f64; P],
    ) {
        let len = write[0].len();
        assert!(read.iter().all(|r| r.len() == len) && write.iter().all(|w| w.len() == len));
        let shared = write.map(|field| SharedField::new(field));
        let parameters = parameters.map(T::of);
        let task = |chunk: usize| {
            let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            let read = read.map(|field| &field[start..end]);
            // SAFETY: chunks are disjoint, and each is visited by one task.
            let mut write = shared.map(|field| unsafe { field.slice_mut(start, end - start) });
            self.arch.dispatch(
                #[inline(always)]
                || {
                    let whole = (end - start) / ABREAST * ABREAST;
                    for at in (0..whole).step_by(ABREAST) {
                        abreast::<T, F, R, W, P, ABREAST>(
                            formula, &read, &mut write, parameters, at,
                        );
                    }
                    for at in whole..end - start {
                        abreast::<T, F, R, W, P, 1>(formula, &read, &mut write, parameters, at);
                    }
                },
            );
        };
        self.pool.install(|| (0..len.div_ceil(CHUNK)).into_par_iter().for_each(task));
    }

    /// Σ over all points of `formula`, in a fixed order, in f64.
    ///
    /// # Panics
    /// Where fields differ in length.
    pub fn sum<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        read: [&Field<T>; R],
        parameters: [f64; P],
    ) -> [f64; W] {
        self.reduce(formula, read, parameters, 0.0, |a, b| a + b)
    }

    /// Largest values of `formula` over all points; not-a-number counts as +∞.
    ///
    /// # Panics
    /// Where fields differ in length.
    pub fn max<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        read: [&Field<T>; R],
        parameters: [f64; P],
    ) -> [f64; W] {
        let number = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let larger = move |a: f64, b: f64| a.max(number(b));
        self.reduce(formula, read, parameters, f64::NEG_INFINITY, larger)
    }

    fn reduce<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        read: [&Field<T>; R],
        parameters: [f64; P],
        identity: f64,
        combine: impl Fn(f64, f64) -> f64 + Sync,
    ) -> [f64; W] {
        let len = read[0].len();
        assert!(read.iter().all(|r| r.len() == len));
        let chunks = len.div_ceil(CHUNK);
        // Taken out of the lock: another reduction on the same threads then makes its own.
        let mut partials = match self.partials.lock() {
            Ok(mut partials) => std::mem::take(&mut *partials),
            Err(poisoned) => std::mem::take(&mut *poisoned.into_inner()),
        };
        partials.clear();
        partials.resize(chunks * W, identity);
        let one = |(chunk, to): (usize, &mut [f64])| {
            let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            let fields = read.map(|field| &field[start..end]);
            let total = self.arch.dispatch(
                #[inline(always)]
                || {
                    let mut lanes = [[identity; W]; ABREAST];
                    for i in 0..end - start {
                        let point = fields.map(|field| field[i].f64());
                        let value = formula.at(point, [0.0; W], parameters);
                        let lane = &mut lanes[i % ABREAST];
                        for k in 0..W {
                            lane[k] = combine(lane[k], value[k]);
                        }
                    }
                    let mut total = [identity; W];
                    for lane in &lanes {
                        for k in 0..W {
                            total[k] = combine(total[k], lane[k]);
                        }
                    }
                    total
                },
            );
            to.copy_from_slice(&total);
        };
        let slots: &mut [f64] = &mut partials;
        self.pool.install(|| slots.par_chunks_mut(W).enumerate().for_each(one));

        // Pairs of pairs: the error of the sum grows with the logarithm of the number of chunks.
        let mut count = chunks;
        while count > 1 {
            let half = count.div_ceil(2);
            for i in 0..count / 2 {
                for k in 0..W {
                    let pair = (partials[2 * i * W + k], partials[(2 * i + 1) * W + k]);
                    partials[i * W + k] = combine(pair.0, pair.1);
                }
            }
            if count % 2 == 1 {
                partials.copy_within((count - 1) * W..count * W, (half - 1) * W);
            }
            count = half;
        }
        let total = std::array::from_fn(|k| partials[k]);
        if let Ok(mut kept) = self.partials.lock() {
            *kept = partials;
        }
        total
    }
}
