//! Profiles of computed and exact solution along a line, from runs on several ranks.

use std::fs;

use super::{no_stop, run_on_blocks};
use crate::common::config;

/// Runs a case and returns the header and the three columns of its `profile.csv`.
fn profile(
    case: &str,
    points: [usize; 3],
    set: &[&str],
    ranks: [usize; 3],
) -> (String, [Vec<f64>; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    for ending in run_on_blocks(&config(case, points, set), ranks, &run, no_stop) {
        ending.unwrap();
    }
    let text = fs::read_to_string(run.join("profile.csv")).unwrap();
    let (names, rows) = text.split_once('\n').unwrap();
    let rows: Vec<Vec<f64>> =
        rows.lines().map(|row| row.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    (names.to_string(), [0, 1, 2].map(|column| rows.iter().map(|row| row[column]).collect()))
}

#[test]
fn profile_matches_the_exact_solution_at_every_point_on_any_ranks() {
    let (single, double) = ("compute.precision=f32", "compute.precision=f64");
    // The amplitudes are 0.2, 0.01 and 1. The tolerances cover the error of the scheme on these grids at t = 0.1, and round-off in f32.
    for (case, points, set, axis, tolerance) in [
        ("entropy-wave", [24, 8, 9], ["case.velocity=[1, 0, 0]", double], "x,density,exact", 2e-5),
        ("entropy-wave", [24, 8, 9], ["case.velocity=[1, 0, 0]", single], "x,density,exact", 2e-5),
        ("entropy-wave", [1, 24, 8], ["case.velocity=[0, 1, 0]", double], "y,density,exact", 2e-5),
        ("shear-wave", [24, 7, 1], ["case.amplitude=0.01", double], "x,momentum_y,exact", 1e-6),
        ("scalar-advection", [24, 9, 1], ["case.shape=sine", single], "x,scalar,exact", 2e-5),
    ] {
        let set = [&set[..], &["time.end=0.1"]].concat();
        let (names, [x, computed, exact]) = profile(case, points, &set, [1; 3]);
        assert_eq!((names.as_str(), x.len()), (axis, 24));
        let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
        assert!(x.is_sorted_by(|a, b| a < b) && largest(&exact) > largest(&exact[..1]));
        for (computed, exact) in computed.iter().zip(&exact) {
            assert!((computed - exact).abs() < tolerance, "{case}: {computed} {exact}");
        }
        let ranks = if points[0] > 1 { [3, 2, 1] } else { [1, 3, 2] };
        let (_, [_, distributed, same]) = profile(case, points, &set, ranks);
        assert_eq!(exact, same);
        let round_off = if set.contains(&single) { 1e-6 } else { 1e-12 };
        for (one, many) in computed.iter().zip(&distributed) {
            assert!((one - many).abs() < round_off, "{case}: {one} {many}");
        }
    }
}
