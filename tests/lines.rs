//! Line systems compared with dense LU with pivoting and with the closed form of their inverse, and their residuals.

#![allow(clippy::cast_possible_truncation, reason = "lines are short, f32 is on purpose")]

use std::collections::{BTreeMap, BTreeSet};

use kolmo::engine::closed_min_points;
use kolmo::lines::{BandedMatrix, Factors, solve};
use kolmo::scheme::*;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

use crate::common::{all_schemes, scheme_family, schemes_of_kind};

/// Limit of errors in units of ε κ and of residuals in units of ε. For tridiagonal diagonally dominant matrices the residual is
/// at most 12 u = 6 ε (Higham 2002, Accuracy and Stability of Numerical Algorithms, theorem 9.14); a second band and the border
/// add a little.
const LIMIT: f64 = 8.0;

/// Pseudorandom numbers in [−1, 1] (Weyl's sequence).
pub(crate) fn noise(n: usize, seed: u32) -> Vec<f64> {
    let start = f64::from(seed).mul_add(0.31, 0.17);
    let golden = 0.618_033_988_749_895;
    (0..n as u32)
        .map(|i| (start + golden * f64::from(i) * f64::from(i + 1)).fract() * 2.0 - 1.0)
        .collect()
}

/// (α, β) of every scheme and of strong to weak filters, without duplicates, with a name.
fn left_hand_sides() -> Vec<(f64, f64, &'static str)> {
    let filters = [-0.45, -0.2, 0.3, 0.45, 0.49, 0.499].map(|alpha| compact_filter(8, alpha));
    let all = all_schemes().copied().chain(filters).chain([CF90, LELE_CUTOFF]);
    let once: BTreeMap<_, _> = all.map(|s| ((s.alpha.to_bits(), s.beta.to_bits()), s)).collect();
    once.values().map(|s| (s.alpha, s.beta, s.name)).collect()
}

fn half_band(alpha: f64, beta: f64) -> usize {
    if beta != 0.0 { 2 } else { usize::from(alpha != 0.0) }
}

/// Every size up to 40, then powers of two, their neighbours and primes.
fn sizes(alpha: f64, beta: f64) -> impl Iterator<Item = usize> {
    (2 * half_band(alpha, beta) + 1..=40).chain([61, 63, 64, 65, 97, 255])
}

fn dense(n: usize, alpha: f64, beta: f64, cyclic: bool) -> DMatrix<f64> {
    let mut a = DMatrix::identity(n, n);
    for (distance, weight) in [(1, alpha), (2, beta)].into_iter().filter(|pair| pair.1 != 0.0) {
        for m in 0..n {
            if m + distance < n || cyclic {
                a[(m, (m + distance) % n)] = weight;
                a[((m + distance) % n, m)] = weight;
            }
        }
    }
    a
}

fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b.abs()) })
}

fn row_sum_norm(a: &DMatrix<f64>) -> f64 {
    norm(a.row_iter().map(|row| row.iter().map(|x| x.abs()).sum()))
}

/// Error of the line solve relative to max |x|, in units of ε κ, where κ = ‖A‖ ‖A⁻¹‖ in the maximum row sum norm.
fn error(matrix: &BandedMatrix, a: &DMatrix<f64>) -> f64 {
    let n = a.nrows();
    let b = DVector::from_vec(noise(n, n as u32));
    let lu = a.clone().full_piv_lu();
    let exact = lu.solve(&b).unwrap();
    let mut x = b.as_slice().to_vec();
    solve(&Factors::new(matrix), &mut x);
    let kappa = row_sum_norm(a) * row_sum_norm(&lu.try_inverse().unwrap());
    norm((0..n).map(|m| x[m] - exact[m])) / (f64::EPSILON * kappa * norm(exact.iter().copied()))
}

#[test]
fn solutions_agree_with_dense_lu_for_every_left_hand_side_and_size() {
    for (alpha, beta, name) in left_hand_sides() {
        for n in sizes(alpha, beta) {
            for cyclic in [true, false] {
                let matrix = BandedMatrix::toeplitz(n, alpha, beta, cyclic);
                let error = error(&matrix, &dense(n, alpha, beta, cyclic));
                assert!(error < LIMIT, "{name}, {n} points, cyclic {cyclic}: {error} ε κ");
            }
        }
    }
}

/// Largest |A x − b| in units of ε (‖A‖ max |x| + max |b|), with A from its definition.
fn residual(
    n: usize,
    alpha: f64,
    beta: f64,
    cyclic: bool,
    x: &[f64],
    b: &[f64],
    epsilon: f64,
) -> f64 {
    let x_at = |m: usize, d: isize| match m.checked_add_signed(d) {
        Some(at) if at < n => x[at],
        _ if cyclic => x[(m + n).checked_add_signed(d).unwrap() % n],
        _ => 0.0,
    };
    let row = |m: usize| {
        let (near, far) =
            (x_at(m, -1) + x_at(m, 1), if beta == 0.0 { 0.0 } else { x_at(m, -2) + x_at(m, 2) });
        x[m] + alpha * near + beta * far - b[m]
    };
    let size = (1.0 + 2.0 * alpha.abs() + 2.0 * beta.abs()) * norm(x.iter().copied())
        + norm(b.iter().copied());
    norm((0..n).map(row)) / (epsilon * size)
}

#[test]
fn residuals_are_round_off_for_up_to_300_and_4096_points_in_both_precisions() {
    for (alpha, beta, name) in left_hand_sides() {
        for n in (2 * half_band(alpha, beta) + 1..=300).chain([4096]) {
            for cyclic in [true, false] {
                let matrix = BandedMatrix::toeplitz(n, alpha, beta, cyclic);
                let b: Vec<f32> = noise(n, 7).iter().map(|&b| b as f32).collect();
                let wide: Vec<f64> = b.iter().map(|&b| f64::from(b)).collect();

                let mut x = wide.clone();
                solve(&Factors::new(&matrix), &mut x);
                let double = residual(n, alpha, beta, cyclic, &x, &wide, f64::EPSILON);

                let mut x = b;
                solve(&Factors::new(&matrix).rounded(), &mut x);
                let x: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
                let single = residual(n, alpha, beta, cyclic, &x, &wide, f64::from(f32::EPSILON));
                assert!(
                    double.max(single) < LIMIT,
                    "{name}, {n} points, cyclic {cyclic}: {double} and {single} ε"
                );
            }
        }
    }
}

/// Closures and the schemes that they fit: they have enough rows for the stencil and the band.
fn closed() -> Vec<(Closure, &'static Scheme)> {
    let fits = |c: &Closure, s: &Scheme| c.rows.len() >= s.half_width().max(s.half_band());
    closures()
        .into_iter()
        .flat_map(|c| schemes_of_kind(c.kind).into_iter().map(move |s| (c.clone(), s)))
        .filter(|(c, s)| c.kind == s.kind && fits(c, s))
        .collect()
}

/// The same matrix with closure rows at both ends, banded and dense.
fn with_closure(n: usize, scheme: &Scheme, closure: &Closure) -> (BandedMatrix, DMatrix<f64>) {
    let mut matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, false);
    let mut a = dense(n, scheme.alpha, scheme.beta, false);
    for (i, row) in closure.rows.iter().enumerate() {
        a.row_mut(i).fill(0.0);
        a.row_mut(n - 1 - i).fill(0.0);
        a[(i, i)] = 1.0;
        a[(n - 1 - i, n - 1 - i)] = 1.0;
        for &(offset, weight) in &row.lhs {
            let column = i.checked_add_signed(offset).unwrap();
            a[(i, column)] = weight;
            a[(n - 1 - i, n - 1 - column)] = weight;
        }
        let mirrored: Vec<_> = row.lhs.iter().map(|&(offset, weight)| (-offset, weight)).collect();
        matrix.set_row(i, &row.lhs);
        matrix.set_row(n - 1 - i, &mirrored);
    }
    (matrix, a)
}

/// The second leading minor of A, which is its second pivot without pivoting.
fn second_pivot(a: &DMatrix<f64>) -> f64 {
    1.0 - a[(0, 1)] * a[(1, 0)]
}

#[test]
fn systems_with_closures_match_dense_lu_and_zero_pivots_are_rejected() {
    let mut without_lu = BTreeSet::new();
    for (closure, scheme) in closed() {
        for n in (closed_min_points(scheme, &closure)..=24).chain([63, 97, 128]) {
            let (matrix, a) = with_closure(n, scheme, &closure);
            let pivot = second_pivot(&a).abs();
            if pivot < 1e-12 {
                let rejected = std::panic::catch_unwind(|| Factors::new(&matrix)).is_err();
                assert!(rejected, "{} was factored with a zero pivot", closure.name);
                without_lu.insert(closure.name);
                continue;
            }
            let error = error(&matrix, &a);
            assert!(error < LIMIT, "{} {}, {n} points: {error} ε κ", closure.name, scheme.name);
        }
    }
    // Their second pivot is zero; none of them is a default closure.
    let known = ["c5-pade4", "second-c4", "second-c4-pade4", "second-c4-pade4-compact6"];
    assert_eq!(without_lu.into_iter().collect::<Vec<_>>(), known);
}

#[test]
fn systems_with_filter_boundary_rows_match_dense_lu() {
    for order in [2, 4, 6, 8, 10] {
        for alpha in [-0.45, 0.3, 0.45, 0.499] {
            let (filter, ends) = (compact_filter(order, alpha), filter_closure(order, alpha));
            for n in (closed_min_points(&filter, &ends)..=24).chain([63, 97, 128]) {
                let (matrix, a) = with_closure(n, &filter, &ends);
                let error = error(&matrix, &a);
                assert!(error < LIMIT, "order {order}, α = {alpha}, {n} points: {error} ε κ");
            }
        }
    }
}

/// The root of α + z + α z² = 0 inside the unit circle.
fn decay(alpha: f64) -> f64 {
    (1.0 - (1.0 - 4.0 * alpha * alpha).sqrt()) / (2.0 * alpha)
}

#[test]
fn columns_of_a_cyclic_inverse_match_their_closed_form() {
    // A⁻¹ of the infinite line is (−λ)^d / √(1 − 4α²); the cyclic inverse adds the images at d ± n, d ± 2n, ...
    for alpha in [0.1, 0.25, 1.0 / 3.0, 0.45, 0.49, 0.499, -0.4] {
        let lambda = -decay(alpha);
        for n in (3..=120).chain([255, 256, 257, 300, 1021, 4096]) {
            let factors = Factors::new(&BandedMatrix::toeplitz(n, alpha, 0.0, true));
            let power = |d: usize| lambda.powi(d as i32);
            for j in [0, 1, n / 2, n - 2, n - 1] {
                let mut x = vec![0.0; n];
                x[j] = 1.0;
                solve(&factors, &mut x);
                let largest = 1.0 / (1.0 - 4.0 * alpha * alpha).sqrt() / (1.0 - power(n).abs());
                for (i, x) in x.iter().enumerate() {
                    let d = i.abs_diff(j);
                    let exact = (power(d) + power(n - d))
                        / (1.0 - power(n))
                        / (1.0 - 4.0 * alpha * alpha).sqrt();
                    let tolerance = 8.0 * f64::EPSILON * (1.0 + 2.0 * alpha.abs())
                        / (1.0 - 2.0 * alpha.abs())
                        * largest;
                    assert!(
                        (x - exact).abs() < tolerance,
                        "α = {alpha}, {n} points, A⁻¹[{i}, {j}]: {x:e}, expected {exact:e}"
                    );
                }
            }
        }
    }
}

/// Entry at distance d of the inverse of the infinite line with 1, α, β: with t = z + 1/z its symbol is
/// 1 + α t + β (t² − 2) = β (t − t₁)(t − t₂), and 1/(t − tᵢ) has the coefficients zᵢ^|d| / (zᵢ − 1/zᵢ), |zᵢ| < 1.
fn infinite_inverse(alpha: f64, beta: f64, d: usize) -> f64 {
    if beta == 0.0 {
        return (-decay(alpha)).powi(d as i32) / (1.0 - 4.0 * alpha * alpha).sqrt();
    }
    let root = Complex::new(alpha * alpha - 4.0 * beta * (1.0 - 2.0 * beta), 0.0).sqrt();
    let [t1, t2] = [root, -root].map(|root| (root - alpha) / (2.0 * beta));
    let [g1, g2] = [t1, t2].map(|t| {
        let half = (t * t - 4.0).sqrt();
        let z =
            if (t - half).norm() < (t + half).norm() { (t - half) / 2.0 } else { (t + half) / 2.0 };
        z.powu(d as u32) / (z - z.inv())
    });
    ((g1 - g2) / (beta * (t1 - t2))).re
}

/// Smallest distance d such that the entries of the infinite inverse at a distance d or more are at most `tolerance` times the largest.
fn infinite_reach(alpha: f64, beta: f64, tolerance: f64) -> usize {
    let entry = |d| infinite_inverse(alpha, beta, d).abs();
    (0..2000).rev().find(|&d| entry(d) > tolerance * entry(0)).unwrap() + 1
}

/// The reach of the inverse: the smallest distance J such that every entry of A⁻¹ at a distance J or more from the diagonal
/// is at most `tolerance` times the largest entry of its column. `None` if the line is too short.
fn reach(matrix: &BandedMatrix, tolerance: f64) -> Option<usize> {
    let (n, factors) = (matrix.len(), Factors::new(matrix));
    let farthest = if matrix.is_cyclic() { n / 2 } else { n - 1 };
    let mut reach = 0;
    for j in 0..n {
        let mut column = vec![0.0; n];
        column[j] = 1.0;
        solve(&factors, &mut column);
        let largest = norm(column.iter().copied());
        for (i, _) in column.iter().enumerate().filter(|(_, x)| x.abs() > tolerance * largest) {
            let d = i.abs_diff(j);
            reach = reach.max(1 + if matrix.is_cyclic() { d.min(n - d) } else { d });
        }
    }
    (reach <= farthest).then_some(reach)
}

#[test]
fn reach_of_inverses_matches_the_roots_of_their_symbols() {
    for (alpha, beta, name) in left_hand_sides().into_iter().filter(|lhs| lhs.0 != 0.0) {
        for tolerance in [1e-4, 1e-8, 1e-16] {
            let expected = infinite_reach(alpha, beta, tolerance);
            let cyclic = |n| reach(&BandedMatrix::toeplitz(n, alpha, beta, true), tolerance);
            assert_eq!(cyclic(3 * expected + 1), Some(expected), "{name}, {tolerance:e}");
            // On this line, the entry half a line away is at distance `expected` − 1. It has contributions from both sides and is too large.
            let short = 2 * (expected - 1);
            if short > 2 * half_band(alpha, beta) {
                assert_eq!(cyclic(short), None, "{name}, {tolerance:e}");
            }
        }
    }
}

#[test]
fn reach_of_compact6_and_a_weak_filter_matches_known_values() {
    // ln(tolerance) / ln λ with λ = (3 − √5)/2 for α = 1/3, rounded up.
    let reach =
        |alpha, tolerance| reach(&BandedMatrix::toeplitz(2000, alpha, 0.0, true), tolerance);
    assert_eq!([1e-8, 1e-16].map(|tolerance| reach(1.0 / 3.0, tolerance)), [Some(20), Some(39)]);
    assert_eq!([1e-8, 1e-16].map(|tolerance| reach(0.499, tolerance)), [Some(292), Some(583)]);
    assert_eq!(reach(0.0, 1e-16), Some(1));
}

#[test]
fn reach_on_short_or_closed_lines_matches_the_dense_inverse() {
    let c3_pade4 = closure("c3-pade4").unwrap();
    let matrices = [5, 9, 12, 21, 40].into_iter().flat_map(|n| {
        let toeplitz = |alpha, beta, cyclic| {
            let banded = BandedMatrix::toeplitz(n, alpha, beta, cyclic);
            (banded, dense(n, alpha, beta, cyclic))
        };
        let ends = with_closure(n, &scheme_family("compact6").first, &c3_pade4);
        let penta = [true, false].map(|cyclic| toeplitz(0.5, 0.05, cyclic));
        [true, false]
            .map(|cyclic| toeplitz(0.4, 0.0, cyclic))
            .into_iter()
            .chain(penta)
            .chain([ends])
    });
    for (banded, dense) in matrices {
        let (n, inverse) = (banded.len(), dense.try_inverse().unwrap());
        let distance = |i: usize, j: usize| {
            let d = i.abs_diff(j);
            if banded.is_cyclic() { d.min(n - d) } else { d }
        };
        let farthest = if banded.is_cyclic() { n / 2 } else { n - 1 };
        for tolerance in [0.3, 0.1, 1e-2, 1e-4, 1e-8] {
            let large = |&(i, j): &(usize, usize)| {
                inverse[(i, j)].abs() > tolerance * inverse.column(j).amax()
            };
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let known = 1 + pairs.filter(large).map(|(i, j)| distance(i, j)).max().unwrap();
            let expected = (known <= farthest).then_some(known);
            assert_eq!(reach(&banded, tolerance), expected, "{n} points, {tolerance}");
        }
    }
}

#[test]
fn banded_matrices_report_their_shape_and_match_dense_products() {
    for (n, alpha, beta, cyclic) in [(7, 0.3, 0.0, true), (9, 0.5, 0.1, false), (5, 0.4, 0.2, true)]
    {
        let matrix = BandedMatrix::toeplitz(n, alpha, beta, cyclic);
        assert_eq!((matrix.len(), matrix.is_empty(), matrix.is_cyclic()), (n, false, cyclic));
        assert_eq!(matrix.half_band(), half_band(alpha, beta));
        let factors = Factors::new(&matrix).rounded::<f32>();
        assert_eq!((factors.len(), factors.half_band()), (n, half_band(alpha, beta)));
        let x = noise(n, 1);
        let product = dense(n, alpha, beta, cyclic) * DVector::from_column_slice(&x);
        let entry = |m: usize, d: isize| matrix.entry(m, d) * x[(m + n).wrapping_add_signed(d) % n];
        let difference = |m: usize| (-2..=2).map(|d| entry(m, d)).sum::<f64>() - product[m];
        let difference = (0..n).map(difference);
        assert!(norm(difference) < 4.0 * f64::EPSILON);
    }
}

#[test]
#[should_panic(expected = "4 points are too few for a half-bandwidth of 2")]
fn a_matrix_too_small_for_its_band_is_rejected() {
    BandedMatrix::toeplitz(4, 0.4, 0.1, true);
}

#[test]
#[should_panic(expected = "differ in length")]
fn a_right_hand_side_of_another_length_is_rejected() {
    solve(&Factors::new(&BandedMatrix::toeplitz(8, 0.3, 0.0, true)), &mut [0.0; 7]);
}
