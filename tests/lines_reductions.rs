//! Reductions of several lines side by side, compared with elimination line by line.

#![allow(clippy::cast_possible_truncation, reason = "lines are short, f32 is intended")]

use kolmo::lines::{BandedMatrix, Factors, Reduced, Reduction, solve};
use kolmo::{Precision, Real};

use crate::lines::noise;

/// Number of lines side by side.
const LANES: usize = 8;

/// Largest deviation of a reduction from elimination, in units of ε: the error of each is below 8 κ (tests/lines.rs), and κ is at
/// most (1 + 2α + 2β) / (1 − 2α − 2β) for the diagonally dominant matrices used here.
fn max_deviation(alpha: f64, beta: f64) -> f64 {
    16.0 * (1.0 + 2.0 * alpha + 2.0 * beta) / (1.0 - 2.0 * alpha - 2.0 * beta)
}

/// Largest difference between the two solutions for noise, relative to the largest value.
fn distance<T: Real>(matrix: &BandedMatrix, reduction: Reduction) -> f64 {
    let (n, tolerance) = (matrix.len(), 1e-3 * T::EPSILON);
    let reduced = Reduced::<T>::new(matrix, reduction, tolerance);
    let b: Vec<Vec<T>> =
        (0..LANES as u32).map(|q| noise(n, q).into_iter().map(T::of).collect()).collect();
    let mut x: Vec<[T; LANES]> = (0..n).map(|m| std::array::from_fn(|q| b[q][m])).collect();
    let mut workspace = vec![[T::of(f64::NAN); LANES]; reduced.workspace(LANES)];
    reduced.solve(&mut x, &mut workspace);
    let mut worst = [0.0_f64; 2];
    for (q, b) in b.iter().enumerate() {
        let mut expected: Vec<f64> = b.iter().map(|value| value.f64()).collect();
        solve(&Factors::new(matrix), &mut expected);
        for (found, expected) in x.iter().zip(&expected) {
            let distance = (found[q].f64() - expected).abs();
            assert!(!distance.is_nan(), "{reduction:?} on {n} points gives NaN");
            worst = [worst[0].max(distance), worst[1].max(expected.abs())];
        }
    }
    worst[0] / worst[1]
}

fn check<T: Real>(sizes: impl Iterator<Item = usize>) {
    for n in sizes {
        for (alpha, beta) in
            [(0.25, 0.0), (1.0 / 3.0, 0.0), (0.49, 0.0), (-0.2, 0.0), (0.3, 0.05), (0.2, 0.05)]
        {
            let p = if beta == 0.0 { 1 } else { 2 };
            for cyclic in [false, true].into_iter().filter(|_| n > 2 * p) {
                let matrix = BandedMatrix::toeplitz(n, alpha, beta, cyclic);
                for reduction in Reduction::ALL {
                    if let Some(why) = reduction.lacks(&matrix, 1e-3 * T::EPSILON) {
                        assert!(p == 2 && why.contains("pentadiagonal"), "{reduction:?}: {why}");
                        continue;
                    }
                    let found = distance::<T>(&matrix, reduction);
                    let limit = max_deviation(alpha.abs(), beta) * T::EPSILON;
                    let what = format!("{reduction:?}, n = {n}, α = {alpha}, cyclic: {cyclic}");
                    assert!(found <= limit, "{what}: {found:.1e} > {limit:.1e}");
                }
            }
        }
    }
}

/// Detects a reduction that is correct for powers of two only, uses a row beyond the last one as a neighbour, or divides couplings that
/// are round-off by each other (five diagonals, from 257 rows on).
#[test]
fn every_reduction_agrees_with_elimination_for_every_number_of_rows() {
    check::<f64>((3..=40).chain([61, 63, 64, 65, 97, 127, 128, 129, 257, 513]));
}

/// Detects coefficients that are rounded before they are computed.
#[test]
fn every_reduction_agrees_with_elimination_in_single_precision() {
    assert_eq!(f32::PRECISION, Precision::F32);
    check::<f32>([3, 4, 5, 7, 31, 32, 33].into_iter());
}
