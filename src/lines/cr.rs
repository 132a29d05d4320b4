//! Cyclic reduction with precomputed coefficients.

use super::BandedMatrix;
use crate::real::Real;

/// Cyclic reduction of one open tridiagonal matrix (Srinath 2015, eq. 1.7 to 1.13), for any number of rows: a neighbour
/// beyond the last row counts as a separate equation, x = 0.
///
/// Level l has the rows (r + 1) 2ˡ − 1, r = 0, 1, ... Its rows with odd r are kept, with
/// ```text
/// d'[r] = d[r] − k1 d[r−1] − k2 d[r+1],   k1 = a[r] / b[r−1],  k2 = c[r] / b[r+1]
/// ```
/// and form the next level; its rows with even r follow in the back substitution,
/// ```text
/// x[r] = d[r] / b[r] − (a[r] / b[r]) x[r−1] − (c[r] / b[r]) x[r+1]
/// ```
/// The last level has one row.
#[derive(Clone, Debug, PartialEq)]
pub struct CyclicReduction<T = f64> {
    /// From the finest level to the coarsest with two rows or more.
    pub levels: Vec<Level<T>>,
    /// 1 / b of the remaining row.
    pub last: T,
}

/// The coefficients of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level<T = f64> {
    /// Number of rows.
    pub rows: usize,
    /// [k1, k2] of rows 1, 3, 5 ...
    pub forward: Vec<[T; 2]>,
    /// [1 / b, a / b, c / b] of rows 0, 2, 4 ...
    pub backward: Vec<[T; 3]>,
}

impl CyclicReduction {
    /// Computes the coefficients of an open tridiagonal matrix.
    ///
    /// # Panics
    /// If the matrix is cyclic or has more than three diagonals.
    pub fn new(matrix: &BandedMatrix) -> Self {
        assert!(!matrix.is_cyclic() && matrix.half_band() <= 1, "not an open tridiagonal matrix");
        let row = |m| [matrix.entry(m, -1), matrix.entry(m, 0), matrix.entry(m, 1)];
        let mut rows: Vec<[f64; 3]> = (0..matrix.len()).map(row).collect();
        let mut levels = Vec::new();
        while rows.len() > 1 {
            let mut forward = Vec::new();
            let mut kept = Vec::new();
            for r in (1..rows.len()).step_by(2) {
                let [a, b, c] = rows[r];
                let below = rows[r - 1];
                let above = rows.get(r + 1).copied().unwrap_or([0.0, 1.0, 0.0]);
                let (k1, k2) = (a / below[1], c / above[1]);
                forward.push([k1, k2]);
                kept.push([-below[0] * k1, b - below[2] * k1 - above[0] * k2, -above[2] * k2]);
            }
            let backward = rows.iter().step_by(2).map(|[a, b, c]| [1.0 / b, a / b, c / b]);
            levels.push(Level { rows: rows.len(), forward, backward: backward.collect() });
            rows = kept;
        }
        Self { levels, last: 1.0 / rows[0][1] }
    }

    /// Converts all numbers to the format `T`.
    pub(super) fn rounded<T: Real>(&self) -> CyclicReduction<T> {
        let level = |Level { rows, forward, backward }: &Level| Level {
            rows: *rows,
            forward: rounded(forward),
            backward: rounded(backward),
        };
        CyclicReduction { levels: self.levels.iter().map(level).collect(), last: T::of(self.last) }
    }
}

/// Coefficients in the format `T`.
pub(super) fn rounded<T: Real, const N: usize>(rows: &[[f64; N]]) -> Vec<[T; N]> {
    rows.iter().map(|row| row.map(T::of)).collect()
}
