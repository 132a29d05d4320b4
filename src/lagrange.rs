//! Interpolation in tables by Lagrange polynomials.

/// The value at `t` of the polynomial through the `N` rows nearest to it, of at least as many with ascending `x`.
pub(crate) fn interpolated<const N: usize>(x: &[f64], values: &[f64], t: f64) -> f64 {
    let next = x.partition_point(|&row| row < t);
    let first = next.saturating_sub(N / 2).min(x.len() - N);
    let rows = || first..first + N;
    let factor = |i: usize, j: usize| (t - x[j]) / (x[i] - x[j]);
    let weight = |i| -> f64 { rows().filter(|&j| j != i).map(|j| factor(i, j)).product() };
    rows().map(|i| weight(i) * values[i]).sum()
}
