//! Parallel cyclic reduction of three or five diagonals, with precomputed coefficients.

use super::{all, less, times};
use crate::lines::{BandedMatrix, BandedPcr, MAX_HALF_BAND};
use crate::real::Real;

/// The coefficients of [`BandedPcr`].
#[derive(Clone, Debug)]
pub(super) struct Banded<T> {
    half_band: usize,
    /// k₋ₚ ... k₋₁ k₁ ... kₚ of every level and row, padded with zeros.
    levels: Vec<Vec<[T; 2 * MAX_HALF_BAND]>>,
    inverse: Vec<T>,
}

impl<T: Real> Banded<T> {
    pub(super) fn new(matrix: &BandedMatrix, tolerance: f64) -> Self {
        let BandedPcr { half_band, levels, inverse } = BandedPcr::new(matrix, tolerance);
        let row = |k: &Vec<f64>| {
            let mut row = [T::ZERO; 2 * MAX_HALF_BAND];
            row.iter_mut().zip(k).for_each(|(to, k)| *to = T::of(*k));
            row
        };
        let level = |rows: &Vec<Vec<f64>>| rows.iter().map(row).collect();
        Self { half_band, levels: levels.iter().map(level).collect(), inverse: all(&inverse) }
    }

    /// d'[i] = d[i] − Σⱼ kⱼ[i] d[i + j s] at stride s = 1, 2, 4, ... (Song et al. 2022, eq. 3), then divided by the
    /// diagonal.
    #[inline(always)]
    pub(super) fn solve<const W: usize>(&self, d: &mut [[T; W]], next: &mut [[T; W]]) {
        let (n, p) = (d.len(), self.half_band);
        let next = &mut next[..n];
        for (level, rows) in self.levels.iter().enumerate() {
            let s = 1 << level;
            for i in 0..n {
                let (k, mut sum) = (rows[i], d[i]);
                for j in 1..=p {
                    if i >= j * s {
                        sum = less(sum, k[p - j], d[i - j * s]);
                    }
                    if i + j * s < n {
                        sum = less(sum, k[p - 1 + j], d[i + j * s]);
                    }
                }
                next[i] = sum;
            }
            d.copy_from_slice(next);
        }
        for i in 0..n {
            d[i] = times(self.inverse[i], d[i]);
        }
    }
}
