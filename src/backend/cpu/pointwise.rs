//! Loops that look at one point at a time: maps, sums and maxima.

use rayon::prelude::*;

use super::tile::SharedField;
use super::{Cpu, Field};
use crate::real::Real;

/// Points that one task works on. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;
/// Partial sums kept side by side within a chunk.
const PARTIALS: usize = 8;

impl<T: Real> Cpu<T> {
    /// Call `f` on pieces of the fields, each piece once: the read ones and, at the same points, the written ones.
    pub fn pointwise<const R: usize, const W: usize>(
        &self,
        read: [&[T]; R],
        write: [&mut Field<T>; W],
        f: impl Fn([&[T]; R], [&mut [T]; W]) + Sync,
    ) {
        let len = write[0].len();
        assert!(read.iter().all(|r| r.len() == len) && write.iter().all(|w| w.len() == len));
        let shared = write.map(|field| SharedField::new(field));
        let task = |chunk: usize| {
            let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            let read = read.map(|field| &field[start..end]);
            // SAFETY: chunks are disjoint, and each is visited by one task.
            let write = shared.map(|field| unsafe { field.slice_mut(start, end - start) });
            self.arch.dispatch(
                #[inline(always)]
                || f(read, write),
            );
        };
        self.pool.install(|| (0..len.div_ceil(CHUNK)).into_par_iter().for_each(task));
    }

    /// Σ over all points of `f`, in a fixed order, in f64.
    pub fn sum<const R: usize, const K: usize>(
        &self,
        read: [&[T]; R],
        f: impl Fn(&[&[T]; R], usize) -> [f64; K] + Sync,
    ) -> [f64; K] {
        self.reduce(read, 0.0, f, |a, b| a + b)
    }

    /// Largest value of `f` over all points; not-a-number counts as +∞.
    pub fn max<const R: usize, const K: usize>(
        &self,
        read: [&[T]; R],
        f: impl Fn(&[&[T]; R], usize) -> [f64; K] + Sync,
    ) -> [f64; K] {
        let number = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        self.reduce(read, f64::NEG_INFINITY, move |fields, i| f(fields, i).map(number), f64::max)
    }

    fn reduce<const R: usize, const K: usize>(
        &self,
        read: [&[T]; R],
        identity: f64,
        f: impl Fn(&[&[T]; R], usize) -> [f64; K] + Sync,
        combine: impl Fn(f64, f64) -> f64 + Sync,
    ) -> [f64; K] {
        let len = read[0].len();
        assert!(read.iter().all(|r| r.len() == len));
        let chunks = len.div_ceil(CHUNK);
        // Taken out of the lock: another reduction on the same threads then makes its own.
        let mut partials = match self.partials.lock() {
            Ok(mut partials) => std::mem::take(&mut *partials),
            Err(poisoned) => std::mem::take(&mut *poisoned.into_inner()),
        };
        partials.clear();
        partials.resize(chunks * K, identity);
        let one = |(chunk, to): (usize, &mut [f64])| {
            let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            let fields = read.map(|field| &field[start..end]);
            let total = self.arch.dispatch(
                #[inline(always)]
                || {
                    let mut lanes = [[identity; K]; PARTIALS];
                    for i in 0..end - start {
                        let value = f(&fields, i);
                        let lane = &mut lanes[i % PARTIALS];
                        for k in 0..K {
                            lane[k] = combine(lane[k], value[k]);
                        }
                    }
                    let mut total = [identity; K];
                    for lane in &lanes {
                        for k in 0..K {
                            total[k] = combine(total[k], lane[k]);
                        }
                    }
                    total
                },
            );
            to.copy_from_slice(&total);
        };
        let slots: &mut [f64] = &mut partials;
        self.pool.install(|| slots.par_chunks_mut(K).enumerate().for_each(one));

        // Pairs of pairs: the error of the sum grows with the logarithm of the number of chunks.
        let mut count = chunks;
        while count > 1 {
            let half = count.div_ceil(2);
            for i in 0..count / 2 {
                for k in 0..K {
                    let pair = (partials[2 * i * K + k], partials[(2 * i + 1) * K + k]);
                    partials[i * K + k] = combine(pair.0, pair.1);
                }
            }
            if count % 2 == 1 {
                partials.copy_within((count - 1) * K..count * K, (half - 1) * K);
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
