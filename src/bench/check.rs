//! Reference for the results: plain loops on the host, in f64.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::LineOperator;
use crate::grid::Axis;
use crate::lines;
use crate::real::Values;

/// The largest difference between `output` and `operator` applied to `input` along `axis`, relative to the largest result. The
/// difference of NaN is infinite.
pub(super) fn operator_error(
    operator: &LineOperator,
    points: [usize; 3],
    axis: Axis,
    input: &Values<'_>,
    output: &Values<'_>,
) -> f64 {
    let n = operator.len();
    let inner: usize = points[..axis.index()].iter().product();
    let at = |q: usize, m: usize| q / inner * inner * n + q % inner + m * inner;
    let lines: Vec<usize> = (0..input.len() / n).collect();
    error_of_lines(operator, &lines, 0..n, |q, m| input.at(at(q, m)), |q, m| output.at(at(q, m)))
}

/// The same for some `lines` of which only the points of `range` were computed: `input` and `output` are values by line and point.
pub(super) fn error_of_lines(
    operator: &LineOperator,
    lines: &[usize],
    range: Range<usize>,
    input: impl Fn(usize, usize) -> f64 + Sync,
    output: impl Fn(usize, usize) -> f64 + Sync,
) -> f64 {
    let line = |&q: &usize| {
        let f: Vec<f64> = (0..operator.len()).map(|m| input(q, m)).collect();
        let mut expected: Vec<f64> =
            (0..f.len()).map(|m| right_hand_side(operator, &f, m)).collect();
        lines::solve(&operator.factors, &mut expected);
        let deviation =
            range.clone().map(|m| difference(output(q, m), expected[m])).fold(0.0, f64::max);
        (deviation, expected.iter().fold(0.0, |size: f64, x| size.max(x.abs())))
    };
    let max_of_both = |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1.max(b.1));
    let (worst, largest) = lines.par_iter().map(line).reduce(|| (0.0, 0.0), max_of_both);
    worst / largest
}

/// |a − b|, infinite if either is NaN.
pub(super) fn difference(a: f64, b: f64) -> f64 {
    let difference = (a - b).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

/// Row m of B f.
fn right_hand_side(operator: &LineOperator, f: &[f64], m: usize) -> f64 {
    let (n, stencil) = (f.len(), &operator.stencil);
    let first_right = n - operator.right.len();
    let end = match m {
        m if m < operator.left.len() => Some(&operator.left[m]),
        m if m >= first_right => Some(&operator.right[m - first_right]),
        _ => None,
    };
    if let Some(row) = end {
        return row.weights.iter().zip(&f[row.first..]).map(|(weight, f)| weight * f).sum();
    }
    let value = |offset: isize| f[(m + n).wrapping_add_signed(offset) % n];
    let sign = if stencil.odd { -1.0 } else { 1.0 };
    let sides = (1_isize..).zip(&stencil.weights[..stencil.half_width]);
    let pair = |s: isize| value(s + stencil.up) + sign * value(stencil.down - s);
    stencil.center * f[m] + sides.map(|(s, weight)| weight * pair(s)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::engine::{Shift, closed_min_points};
    use crate::scheme::{default_closure, family};

    /// The error of the exact derivative of `f` along y, with one value changed by `change`.
    fn error(operator: &LineOperator, h: f64, f: fn(f64) -> [f64; 2], change: f64) -> f64 {
        let points = [3, operator.len(), 2];
        let x = |at: usize| h * (at / 3 % points[1]) as f64;
        let len = points.iter().product();
        let input: Vec<f64> = (0..len).map(|at| f(x(at))[0]).collect();
        let mut output: Vec<f64> = (0..len).map(|at| f(x(at))[1]).collect();
        output[len / 2] += change;
        operator_error(operator, points, Axis::Y, &input.into(), &output.into())
    }

    #[test]
    fn reference_is_accurate_for_periodic_waves_and_closed_parabolas() {
        let (n, h) = (41, TAU / 41.0);
        let wave: fn(f64) -> [f64; 2] = |x| [x.sin(), x.cos()];
        let parabola: fn(f64) -> [f64; 2] = |x| [x * x - 3.0 * x, 2.0 * x - 3.0];
        for scheme in ["compact6", "compact10-penta"].map(|name| family(name).unwrap().first) {
            let periodic = LineOperator::periodic(&scheme, Shift::None, n, h);
            assert!(error(&periodic, h, wave, 0.0) < 1e-8, "{}", scheme.name);
            let closure = default_closure(&scheme).unwrap();
            assert!(n >= closed_min_points(&scheme, &closure));
            let closed = LineOperator::closed(&scheme, &closure, n, h);
            assert!(error(&closed, h, parabola, 0.0) < 1e-13, "{}", scheme.name);
        }
    }

    #[test]
    fn single_wrong_value_is_detected() {
        let h = TAU / 41.0;
        let operator =
            LineOperator::periodic(&family("compact6").unwrap().first, Shift::None, 41, h);
        let wave: fn(f64) -> [f64; 2] = |x| [x.sin(), x.cos()];
        assert!((error(&operator, h, wave, 1e-3) - 1e-3).abs() < 1e-6);
        assert_eq!(error(&operator, h, wave, f64::NAN), f64::INFINITY);
    }
}
