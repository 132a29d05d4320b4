//! Cyclic reduction, the coefficients reduced with the data.

use super::{less, times};
use crate::lines::BandedMatrix;
use crate::real::Real;

/// The rows (a, b, c) of an open tridiagonal matrix.
#[derive(Clone, Debug)]
pub(super) struct Cyclic<T> {
    rows: Vec<[T; 3]>,
}

/// The rows (a, b, c) of an open tridiagonal matrix, in the format of the fields.
pub(super) fn rows_of<T: Real>(matrix: &BandedMatrix) -> Vec<[T; 3]> {
    let row = |m| [-1, 0, 1].map(|d| T::of(matrix.entry(m, d)));
    (0..matrix.len()).map(row).collect()
}

impl<T: Real> Cyclic<T> {
    pub(super) fn new(matrix: &BandedMatrix) -> Self {
        Self { rows: rows_of(matrix) }
    }

    /// Rows of `lanes` numbers for a copy of the matrix.
    pub(super) fn room(rows: usize, lanes: usize) -> usize {
        (3 * rows).div_ceil(lanes)
    }

    /// Srinath 2015, eq. 1.7 to 1.13, in place: at stride s = 1, 2, 4, ... rows 2s − 1, 4s − 1, ... lose their neighbours s
    /// away; on the way back rows s − 1, 3s − 1, ... follow. A row beyond the last one counts as x = 0.
    #[inline(always)]
    pub(super) fn solve<const W: usize>(&self, d: &mut [[T; W]], room: &mut [[T; W]]) {
        let n = d.len();
        let rows = &mut room.as_flattened_mut().as_chunks_mut::<3>().0[..n];
        rows.copy_from_slice(&self.rows);
        let mut s = 1;
        while 2 * s <= n {
            for i in (2 * s - 1..n).step_by(2 * s) {
                let [a, b, c] = rows[i];
                let below = rows[i - s];
                let k1 = a / below[1];
                rows[i] = [-(below[0] * k1), b - below[2] * k1, T::ZERO];
                d[i] = less(d[i], k1, d[i - s]);
                if i + s < n {
                    let above = rows[i + s];
                    let k2 = c / above[1];
                    rows[i] = [rows[i][0], rows[i][1] - above[0] * k2, -(above[2] * k2)];
                    d[i] = less(d[i], k2, d[i + s]);
                }
            }
            s *= 2;
        }
        while s > 0 {
            for i in (s - 1..n).step_by(2 * s) {
                let [a, b, c] = rows[i];
                let mut x = d[i];
                if i >= s {
                    x = less(x, a, d[i - s]);
                }
                if i + s < n {
                    x = less(x, c, d[i + s]);
                }
                d[i] = times(T::of(1.0) / b, x);
            }
            s /= 2;
        }
    }
}
