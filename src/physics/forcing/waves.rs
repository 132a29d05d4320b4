//! Sums of waves at the points of a block.

use std::f64::consts::TAU;

use num_complex::Complex;
use rayon::prelude::*;
use smallvec::SmallVec;

use crate::grid::Block;
use crate::real::{Real, Values};

/// Number of points whose sums stay in cache during the loop over the waves along x.
const CHUNK: usize = 64;

/// exp(2πi n m / N) at the points m of a block along one axis, for n = 0, 1, ….
struct Axis(Vec<Vec<Complex<f64>>>);

impl Axis {
    fn new(max_periods: usize, start: usize, count: usize, points: usize) -> Self {
        let at = |n: usize, m: usize| Complex::cis(TAU * ((n * m) % points) as f64 / points as f64);
        let row = |n| (start..start + count).map(|m| at(n, m)).collect();
        Self((0..=max_periods).map(row).collect())
    }

    /// The wave with `n` periods, positive or negative, at point `m` of the block.
    fn at(&self, n: i32, m: usize) -> Complex<f64> {
        let value = self.0[n.unsigned_abs() as usize][m];
        if n < 0 { value.conj() } else { value }
    }
}

/// Tables for a sum of waves at the points of a block: Σ 2 Re(c exp(i k·x)) over one of each pair k, −k.
///
/// For each line along x, the coefficients of all waves with the same number of periods along x are summed first, then the waves at the
/// points: about 14 operations per wave and line, and 4 per point for each number of periods along x. A value depends only on the point,
/// not on the block.
pub(super) struct Waves {
    axes: [Axis; 3],
    /// Index of the first wave with each number of periods along x, and the total number.
    starts: Vec<usize>,
    lines: [usize; 2],
}

impl Waves {
    /// The waves `periods`, sorted, with first entries not negative, on `block` of a grid of `points`.
    pub(super) fn new(periods: &[[i32; 3]], block: &Block, points: [usize; 3]) -> Self {
        let max_periods =
            |axis: usize| periods.iter().map(|n| n[axis].unsigned_abs() as usize).max();
        let axes = [0, 1, 2].map(|axis| {
            let max_periods = max_periods(axis).unwrap_or(0);
            Axis::new(max_periods, block.start[axis], block.points[axis], points[axis])
        });
        let first = |a: usize| periods.partition_point(|n| (n[0].unsigned_abs() as usize) < a);
        let starts = (0..=axes[0].0.len()).map(first).collect();
        Self { axes, starts, lines: [block.points[0], block.points[1]] }
    }

    /// Set `values`, one per point of the block, to the sum of the waves `periods` with these coefficients.
    pub(super) fn sum(
        &self,
        periods: &[[i32; 3]],
        coefficients: &[Complex<f64>],
        values: &mut Values<'static>,
    ) {
        match values {
            Values::F32(values) => self.sum_typed(periods, coefficients, values.to_mut()),
            Values::F64(values) => self.sum_typed(periods, coefficients, values.to_mut()),
        }
    }

    fn sum_typed<T: Real>(
        &self,
        periods: &[[i32; 3]],
        coefficients: &[Complex<f64>],
        to: &mut [T],
    ) {
        let [nx, ny] = self.lines;
        let [x, y, z] = &self.axes;
        to.par_chunks_mut(nx).enumerate().for_each(|(line, to)| {
            let (j, k) = (line % ny, line / ny);
            let along = self.starts.windows(2).map(|group| {
                let waves = periods[group[0]..group[1]].iter().zip(&coefficients[group[0]..]);
                waves.map(|(n, c)| 2.0 * c * y.at(n[1], j) * z.at(n[2], k)).sum::<Complex<f64>>()
            });
            let along: SmallVec<[_; 32]> = along.collect();
            for (first, to) in to.chunks_mut(CHUNK).enumerate() {
                let mut sums = [0.0; CHUNK];
                for (c, waves) in along.iter().zip(&x.0) {
                    for (sum, wave) in sums.iter_mut().zip(&waves[first * CHUNK..]) {
                        *sum += c.re * wave.re - c.im * wave.im;
                    }
                }
                to.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::of(sum));
            }
        });
    }
}
