//! Cyclic reduction where nearly all rows of a level are alike.

use super::{less, times};
use crate::lines::{BandedMatrix, CyclicReduction, NearToeplitz};
use crate::real::Real;

/// The coefficients of [`NearToeplitz`], by level and class.
#[derive(Clone, Debug)]
pub(super) struct Classes<T> {
    ends: usize,
    rows: Vec<usize>,
    forward: Vec<Vec<[T; 2]>>,
    backward: Vec<Vec<[T; 3]>>,
    last: T,
}

impl<T: Real> Classes<T> {
    /// # Panics
    /// Where the matrix is not near-Toeplitz.
    pub(super) fn new(matrix: &BandedMatrix) -> Self {
        let classes = NearToeplitz::new(&CyclicReduction::new(matrix));
        let classes = classes.unwrap_or_else(|| panic!("the matrix is not near-Toeplitz"));
        let NearToeplitz { ends, rows, forward, backward, last } = classes;
        Self {
            ends,
            rows,
            forward: rounded(&forward),
            backward: rounded(&backward),
            last: T::of(last),
        }
    }

    /// Srinath 2015, eq. 2.2 to 2.6, in place: row r of level l lies at (r + 1) 2ˡ − 1.
    #[inline(always)]
    pub(super) fn solve<const W: usize>(&self, d: &mut [[T; W]]) {
        for (level, &rows) in self.rows.iter().enumerate() {
            let s = 1 << level;
            for r in (1..rows).step_by(2) {
                let [k1, k2] = self.forward[level][NearToeplitz::class(r, rows, self.ends)];
                let i = (r + 1) * s - 1;
                d[i] = less(d[i], k1, d[i - s]);
                if r + 1 < rows {
                    d[i] = less(d[i], k2, d[i + s]);
                }
            }
        }
        let last = (1 << self.rows.len()) - 1;
        d[last] = times(self.last, d[last]);
        for (level, &rows) in self.rows.iter().enumerate().rev() {
            let s = 1 << level;
            for r in (0..rows).step_by(2) {
                let [inverse, a, c] = self.backward[level][NearToeplitz::class(r, rows, self.ends)];
                let i = (r + 1) * s - 1;
                let mut x = times(inverse, d[i]);
                if r > 0 {
                    x = less(x, a, d[i - s]);
                }
                if r + 1 < rows {
                    x = less(x, c, d[i + s]);
                }
                d[i] = x;
            }
        }
    }
}

/// In the format of the fields.
pub(super) fn rounded<T: Real, const N: usize>(levels: &[Vec<[f64; N]>]) -> Vec<Vec<[T; N]>> {
    levels.iter().map(|rows| rows.iter().map(|row| row.map(T::of)).collect()).collect()
}
