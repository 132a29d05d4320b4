//! Cyclic reduction of an open tridiagonal matrix of rows (a, b, c); the coefficients are reduced with the data.

use super::{less, times};
use crate::real::Real;

/// Srinath 2015, eq. 1.7 to 1.13, in place: at stride s = 1, 2, 4, ... the neighbours at distance s are eliminated from
/// rows 2s − 1, 4s − 1, ...; in the back substitution rows s − 1, 3s − 1, ... follow. A row beyond the last one counts
/// as x = 0.
#[inline(always)]
pub(super) fn solve<T: Real, const W: usize>(
    matrix: &[[T; 3]],
    d: &mut [[T; W]],
    workspace: &mut [[T; W]],
) {
    let n = d.len();
    let rows = &mut workspace.as_flattened_mut().as_chunks_mut::<3>().0[..n];
    rows.copy_from_slice(matrix);
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
