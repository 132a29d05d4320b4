//! The distributed Fourier transform, and resampling to other grids.

use std::f64::consts::{PI, TAU};

use kolmo::comm::Solo;
use kolmo::fourier::{Fourier, resample};
use kolmo::grid::Decomposition;
use num_complex::Complex;

use super::{DECOMPOSITIONS, field, part, random, spread};
use crate::common::{float, max_difference, noise, projection};
use crate::spread::threads::on_ranks;

/// Odd, prime and even sizes, one point along some or all axes, and fewer lines than ranks.
const SIZES: [[usize; 3]; 8] =
    [[8, 6, 5], [7, 13, 3], [16, 1, 4], [1, 9, 1], [1, 1, 10], [5, 3, 2], [2, 2, 2], [1, 1, 1]];

/// A signed integer wavenumber, known to be small.
fn integer(periods: f64) -> i32 {
    assert_eq!(periods, periods.round());
    #[allow(clippy::cast_possible_truncation, reason = "a small integer")]
    let periods = periods as i32;
    periods
}

#[test]
fn inverse_transform_recovers_the_field_to_round_off_on_any_ranks() {
    for points in SIZES {
        let values = random(points, 7);
        for ranks in DECOMPOSITIONS {
            let cut = Decomposition { ranks };
            let found = spread(cut, points, |comm| {
                let fourier = Fourier::new(cut, points, comm.size());
                let local = part(&values, points, &cut.block(comm.rank(), points));
                let modes = fourier.forward(&*comm, local);
                fourier.inverse(&*comm, modes)
            });
            // log2 N butterflies in each direction, each with one rounding error of its result, which is of the size of the field.
            let bound = 2.0 * f64::EPSILON * (1.0 + float(values.len()).log2());
            let difference = max_difference(&found, &values);
            assert!(difference <= bound, "{points:?} on {ranks:?}: {difference:e}");
        }
    }
}

#[test]
fn fourier_coefficients_match_the_direct_sum() {
    for points in SIZES {
        let values = random(points, 11);
        for ranks in DECOMPOSITIONS {
            let cut = Decomposition { ranks };
            let counts = on_ranks(cut.size(), |comm| {
                let fourier = Fourier::new(cut, points, comm.size());
                let local = part(&values, points, &cut.block(comm.rank(), points));
                let modes = fourier.forward(&*comm, local);
                let mut count = 0.0;
                for at in 0..modes.values.len() {
                    let mode = modes.mode(at);
                    let expected = 0.5 * projection(points, mode.periods.map(integer), &values);
                    let difference = (modes.values[at] - expected).norm();
                    assert!(
                        difference < 1e-14,
                        "{points:?} on {ranks:?}, {mode:?}: {difference:e}"
                    );
                    for a in 0..3 {
                        let shortest =
                            mode.periods[a] > 0.0 && 2.0 * mode.periods[a] == float(points[a]);
                        assert_eq!(mode.shortest[a], shortest);
                    }
                    count += mode.count;
                }
                count
            });
            assert_eq!(counts.iter().sum::<f64>(), float(points.iter().product()));
        }
    }
}

/// A field on a grid: all waves with up to `max_periods` periods along each axis, with random amplitudes and phases.
fn waves(max_periods: [i32; 3], seed: u64) -> impl Fn([usize; 3]) -> Vec<f64> {
    let mut noise = noise(seed);
    let with_phase = |periods| (periods, Complex::new(noise(), noise()));
    let all: Vec<_> = all_up_to(max_periods).map(with_phase).collect();
    move |points| {
        field(points, |index| {
            let wave = |(periods, amplitude): &([i32; 3], Complex<f64>)| {
                let turns = |a: usize| f64::from(periods[a]) * float(index[a]) / float(points[a]);
                (amplitude * Complex::cis(TAU * (turns(0) + turns(1) + turns(2)))).re
            };
            all.iter().map(wave).sum()
        })
    }
}

fn all_up_to([x, y, z]: [i32; 3]) -> impl Iterator<Item = [i32; 3]> {
    (-x..=x).flat_map(move |a| (-y..=y).flat_map(move |b| (-z..=z).map(move |c| [a, b, c])))
}

#[test]
fn resampling_is_exact_for_fields_resolved_on_both_grids() {
    for (max_periods, from, to) in [
        ([2, 1, 2], [8, 6, 5], [12, 6, 9]),
        ([2, 1, 2], [13, 7, 8], [5, 3, 6]),
        ([3, 2, 0], [7, 11, 1], [16, 5, 1]),
        ([1, 2, 1], [9, 5, 4], [3, 17, 8]),
        ([0, 0, 3], [1, 1, 7], [1, 1, 64]),
        ([0, 2, 0], [1, 6, 4], [3, 5, 1]),
        ([0, 0, 0], [1, 1, 1], [1, 1, 1]),
    ] {
        let field = waves(max_periods, 5);
        let (before, after) = (field(from), field(to));
        for ranks in DECOMPOSITIONS {
            let cut = Decomposition { ranks };
            let found = spread(cut, to, |comm| {
                let local = part(&before, from, &cut.block(comm.rank(), from));
                resample(&*comm, cut, from, to, local)
            });
            let size = before.iter().map(|x| x.abs()).fold(0.0, f64::max);
            let difference = max_difference(&found, &after);
            assert!(
                difference < 1e-14 * size,
                "{from:?} -> {to:?} on {ranks:?}: {difference:e} of {size:e}"
            );
        }
    }
}

#[test]
fn resampling_leaves_axes_with_equal_points_unchanged() {
    for points in SIZES {
        let values = random(points, 3);
        for ranks in DECOMPOSITIONS {
            let cut = Decomposition { ranks };
            let found = spread(cut, points, |comm| {
                let local = part(&values, points, &cut.block(comm.rank(), points));
                resample(&*comm, cut, points, points, local)
            });
            assert_eq!(found, values);
        }
    }
    // Refinement along z does not mix lines: a field that depends on x and y only is constant along each line, to round-off.
    let constant = field([5, 4, 3], |[i, j, _]| float(i) + 10.0 * float(j));
    let found = resample(&Solo, Decomposition::ONE, [5, 4, 3], [5, 4, 8], constant);
    let expected = field([5, 4, 8], |[i, j, _]| float(i) + 10.0 * float(j));
    assert!(max_difference(&found, &expected) < 4.0 * 34.0 * f64::EPSILON);
}

fn resample_line(n: usize, to: usize, value: impl Fn(f64) -> f64) -> Vec<f64> {
    let values = (0..n).map(|i| value(TAU * float(i) / float(n))).collect();
    resample(&Solo, Decomposition::ONE, [n, 1, 1], [to, 1, 1], values)
}

#[test]
fn nyquist_mode_becomes_a_cosine_on_a_finer_line_and_is_recovered() {
    // The angles, up to 10π, are rounded.
    let rounding = 8e-15;
    let points = |n: usize| (0..n).map(move |i| TAU * float(i) / float(n));
    for (n, to) in [(4, 8), (6, 7), (2, 5), (10, 12)] {
        let periods = float(n / 2);
        let finer = resample_line(n, to, |x| (periods * x).cos());
        let expected: Vec<f64> = points(to).map(|x| (periods * x).cos()).collect();
        assert!(max_difference(&finer, &expected) < rounding, "{n} {to}: {finer:?}");
        // On the coarser line the cosine is recovered from both of its halves; the sine is zero at all points.
        let coarser = resample_line(to, n, |x| (periods * x).cos() + 3.0 * (periods * x).sin());
        let expected: Vec<f64> = points(n).map(|x| (periods * x).cos()).collect();
        assert!(max_difference(&coarser, &expected) < rounding, "{to} {n}: {coarser:?}");
    }
}

#[test]
fn resampling_truncates_unresolved_waves_and_preserves_the_mean() {
    for (n, to) in [(16, 8), (16, 7), (15, 9), (13, 2), (12, 1), (1, 6)] {
        let found = resample_line(n, to, |x| 7.0 + if n > 1 { (6.0 * x).cos() } else { 0.0 });
        let difference = found.iter().map(|x| (x - 7.0).abs()).fold(0.0, f64::max);
        // 6 periods on 12 points are the Nyquist mode, not a constant.
        assert!(difference < 4e-15, "{n} {to}: {found:?}");
    }
    let noise = random([37, 1, 1], 9);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / float(values.len());
    for to in [1, 2, 3, 18, 36, 38, 64, 101] {
        let found = resample(&Solo, Decomposition::ONE, [37, 1, 1], [to, 1, 1], noise.clone());
        assert!((mean(&found) - mean(&noise)).abs() < 1e-15, "{to}");
    }
    assert!((resample_line(8, 4, |x| (x + 0.25 * PI).sin())[0] - 0.5_f64.sqrt()).abs() < 1e-15);
}
