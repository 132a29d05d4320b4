//! Lagrange polynomials.

/// The weight of the value at `x[i]` when the polynomial through all points `x` is evaluated at `t`.
pub(crate) fn weight(x: &[f64], i: usize, t: f64) -> f64 {
    let others = x.iter().enumerate().filter(|(j, _)| *j != i);
    others.map(|(_, other)| (t - other) / (x[i] - other)).product()
}

/// The value at `t` of the polynomial through the `N` points nearest to it. There are at least `N` points, and `x` is ascending.
pub(crate) fn interpolated<const N: usize>(x: &[f64], values: &[f64], t: f64) -> f64 {
    let next = x.partition_point(|&row| row < t);
    let first = next.saturating_sub(N / 2).min(x.len() - N);
    (0..N).map(|i| weight(&x[first..first + N], i, t) * values[first + i]).sum()
}
