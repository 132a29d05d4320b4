//! Parallel cyclic reduction of an open tridiagonal matrix of rows (a, b, c); the coefficients are reduced with the
//! data.

use super::{less, times};
use crate::real::Real;

/// Srinath 2015, §1.4.3: at stride s = 1, 2, 4, ... the neighbours at distance s are eliminated from every row, by eq.
/// 1.7 to 1.12, until no row has neighbours.
#[inline(always)]
pub(super) fn solve<T: Real, const W: usize>(
    matrix: &[[T; 3]],
    d: &mut [[T; W]],
    workspace: &mut [[T; W]],
) {
    let n = d.len();
    let (next, rows) = workspace.split_at_mut(n);
    let rows = &mut rows.as_flattened_mut().as_chunks_mut::<3>().0[..2 * n];
    let (rows, next_rows) = rows.split_at_mut(n);
    rows.copy_from_slice(matrix);
    let mut s = 1;
    while s < n {
        for i in 0..n {
            let [a, mut b, c] = rows[i];
            let (mut sum, mut ends) = (d[i], [T::ZERO; 2]);
            if i >= s {
                let below = rows[i - s];
                let k1 = a / below[1];
                ends[0] = -(below[0] * k1);
                b -= below[2] * k1;
                sum = less(sum, k1, d[i - s]);
            }
            if i + s < n {
                let above = rows[i + s];
                let k2 = c / above[1];
                ends[1] = -(above[2] * k2);
                b -= above[0] * k2;
                sum = less(sum, k2, d[i + s]);
            }
            next[i] = sum;
            next_rows[i] = [ends[0], b, ends[1]];
        }
        d.copy_from_slice(&next[..n]);
        rows.copy_from_slice(next_rows);
        s *= 2;
    }
    for i in 0..n {
        d[i] = times(T::of(1.0) / rows[i][1], d[i]);
    }
}
