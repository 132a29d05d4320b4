use std::collections::HashSet;
use std::f64::consts::PI;

use nalgebra::{Complex, DMatrix, DVector};

use super::*;

/// Names of the closures, with the truncation error of each row: right minus left = lead h^order f^(order + derivative),
/// h = 1 (exact rationals from the first unmatched term of the Taylor series).
#[rustfmt::skip]
const LEADS: [(&str, &[f64]); 31] = [
    ("c3", &[C3]), ("c4", &[-1.0 / 20.0]), ("c3-pade4", &[C3, PADE4]), ("c4-pade4", &[-1.0 / 20.0, PADE4]),
    ("c5-pade4", &[1.0 / 30.0, PADE4]), ("c5-c5", &[1.0 / 30.0, 1.0 / 168.0]), ("c6-c6", &[-1.0 / 42.0, -3.0 / 770.0]),
    ("c3-asym5", &[C3, 1.0 / 360.0]), ("c6-asym6", &[-1.0 / 42.0, -1.0 / 840.0]), ("e3-pade4", &[1.0 / 4.0, PADE4]),
    ("e4-pade4", &[-1.0 / 5.0, PADE4]), ("e5-pade4", &[1.0 / 6.0, PADE4]), ("e6-pade4", &[-1.0 / 7.0, PADE4]),
    ("cga5", &[-65.1944 / 720.0, -26.6742 / 720.0]), ("c3-pade4-compact6", &[C3, PADE4, 1.0 / 1260.0]), ("e2", &[-1.0 / 3.0]),
    ("e3-skew3", &[1.0 / 4.0, SKEW3]), ("e3-skew3-central4", &[1.0 / 4.0, SKEW3, CENTRAL4]),
    ("e3-skew3-central4-central6", &[1.0 / 4.0, SKEW3, CENTRAL4, 1.0 / 140.0]),
    ("second-c3", &[SECOND_C3]), ("second-c4", &[-7.0 / 180.0]), ("second-c5", &[131.0 / 2340.0]),
    ("second-c3-pade4", &[SECOND_C3, SECOND_PADE4]), ("second-c4-pade4", &[-7.0 / 180.0, SECOND_PADE4]),
    ("second-c5-pade4", &[131.0 / 2340.0, SECOND_PADE4]),
    ("second-c3-pade4-compact6", &[SECOND_C3, SECOND_PADE4, 23.0 / 55440.0]),
    ("second-c4-pade4-compact6", &[-7.0 / 180.0, SECOND_PADE4, 23.0 / 55440.0]),
    ("second-e2", &[-11.0 / 12.0]), ("second-e3-skew3", &[5.0 / 6.0, -1.0 / 12.0]),
    ("second-e3-skew3-central4", &[5.0 / 6.0, -1.0 / 12.0, -1.0 / 90.0]),
    ("second-e3-skew3-central4-central6", &[5.0 / 6.0, -1.0 / 12.0, -1.0 / 90.0, 1.0 / 560.0]),
];
const C3: f64 = 1.0 / 12.0;
const PADE4: f64 = -1.0 / 120.0;
const SKEW3: f64 = -1.0 / 12.0;
const CENTRAL4: f64 = -1.0 / 30.0;
const SECOND_C3: f64 = -1.0 / 12.0;
const SECOND_PADE4: f64 = -1.0 / 200.0;

/// Largest real part, times h, of the eigenvalues of −d/dx with f(0) = 0 on 21, 41 and 81 points (LAPACK, via NumPy).
#[rustfmt::skip]
const SPECTRA: [(&str, &str, [f64; 3]); 19] = [
    ("c3", "compact4", [-4.8750e-4, -5.3347e-5, -6.2772e-6]),
    ("c4", "compact4", [1.3214e-2, 7.4233e-3, 3.7255e-3]),
    ("c3-pade4", "compact6", [-1.0687e-3, -1.2031e-4, -1.4243e-5]),
    ("c4-pade4", "compact6", [1.2328e-2, 6.9656e-3, 3.4512e-3]),
    ("c5-pade4", "compact6", [2.8743e-4, 3.3184e-5, 9.6572e-5]),
    ("c5-c5", "compact6", [7.1463e-2, 5.5062e-2, 4.3636e-2]),
    ("c6-c6", "compact6", [1.9582e-1, 1.9901e-1, 1.9901e-1]),
    ("c3-asym5", "compact6", [-4.1077e-4, -4.5216e-5, -5.2764e-6]),
    ("c6-asym6", "compact6", [1.9582e-1, 1.9901e-1, 1.9901e-1]),
    ("e3-pade4", "compact6", [-1.0222e-3, -1.1403e-4, -1.3453e-5]),
    ("e4-pade4", "compact6", [3.3914e-3, 1.7672e-3, 8.8870e-4]),
    ("e5-pade4", "compact6", [7.7832e-2, 4.6979e-2, 4.1249e-2]),
    ("e6-pade4", "compact6", [2.6979e-1, 2.6933e-1, 2.6933e-1]),
    ("cga5", "compact6", [-1.1320e-2, -9.7420e-4, -1.0212e-4]),
    ("c3-pade4-compact6", "compact8", [-1.2121e-3, -1.3421e-4, -1.5730e-5]),
    ("e2", "explicit2", [-1.9727e-3, -2.3952e-4, -2.9443e-5]),
    ("e3-skew3", "explicit4", [-5.4973e-4, -5.8333e-5, -6.9067e-6]),
    ("e3-skew3-central4", "explicit6", [-8.2427e-4, -8.8702e-5, -1.0320e-5]),
    ("e3-skew3-central4-central6", "explicit8", [-4.8839e-4, -4.4979e-5, -4.9136e-6]),
];

/// Left-hand and right-hand sides of the closed operator as dense matrices on n points, h = 1.
fn sides(scheme: &Scheme, closure: &Closure, n: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    let (mut left, mut right) = (DMatrix::identity(n, n), DMatrix::zeros(n, n));
    let (derivative, mirror) = match scheme.kind {
        Kind::FirstDerivative => (1, -1.0),
        _ => (2, 1.0),
    };
    let ends = closure.rows.len();
    for i in ends..n - ends {
        for (reach, weight) in
            [(1, scheme.alpha), (2, scheme.beta)].into_iter().filter(|pair| pair.1 != 0.0)
        {
            left[(i, i - reach)] = weight;
            left[(i, i + reach)] = weight;
        }
        for (s, &a) in (1..).zip(&scheme.rhs[..scheme.half_width()]) {
            let step = s as f64;
            let weight = a / if derivative == 1 { 2.0 * step } else { step * step };
            right[(i, i + s)] += weight;
            right[(i, i - s)] += mirror * weight;
            right[(i, i)] -= (1.0 + mirror) * weight;
        }
    }
    for (i, row) in closure.rows.iter().enumerate() {
        for &(offset, weight) in &row.lhs {
            left[(i, i.checked_add_signed(offset).unwrap())] = weight;
            left[(n - 1 - i, (n - 1 - i).checked_add_signed(-offset).unwrap())] = weight;
        }
        for (j, &weight) in row.rhs.iter().enumerate() {
            right[(i, j)] = weight;
            right[(n - 1 - i, n - 1 - j)] = mirror * weight;
        }
    }
    (left, right)
}

/// The closed operator on n points, h = 1.
fn dense(scheme: &Scheme, closure: &Closure, n: usize) -> DMatrix<f64> {
    let (left, right) = sides(scheme, closure, n);
    left.lu().solve(&right).unwrap()
}

/// Eigenvalues of u_t = −u_x, u(0) = 0, times h.
fn advection(scheme: &Scheme, closure: &Closure, n: usize) -> Vec<Complex<f64>> {
    let operator = -dense(scheme, closure, n).remove_row(0).remove_column(0);
    operator.complex_eigenvalues().iter().copied().collect()
}

fn largest_real_part(eigenvalues: &[Complex<f64>]) -> f64 {
    eigenvalues.iter().map(|e| e.re).fold(f64::NEG_INFINITY, f64::max)
}

/// Largest error of the closed operator on eˣ, 0 ≤ x ≤ 1, n points; and its prediction from the leading truncation
/// errors of the closure's rows, e = left⁻¹ τ.
fn closed_error(scheme: &Scheme, closure: &Closure, n: usize) -> (f64, f64) {
    let h = 1.0 / (n - 1) as f64;
    let derivative = if scheme.kind == Kind::FirstDerivative { 1 } else { 2 };
    let f = DVector::from_fn(n, |i, _| (i as f64 * h).exp()); // equal to all its derivatives
    let (left, right) = sides(scheme, closure, n);
    let left = left.lu();
    let error = left.solve(&(right * &f / h.powi(derivative))).unwrap() - &f;

    let mut truncation = DVector::zeros(n);
    for (i, row) in closure.rows.iter().enumerate() {
        let (order, (lead, _)) = (
            row.order as i32,
            defect(
                i as u32,
                row,
                row.order + derivative.cast_unsigned(),
                derivative.cast_unsigned(),
            ),
        );
        let error_at = |i: usize| lead * h.powi(order) * f[i];
        truncation[i] = error_at(i);
        // The mirror image of a row of odd order has the opposite error.
        truncation[n - 1 - i] =
            if order % 2 == 0 { error_at(n - 1 - i) } else { -error_at(n - 1 - i) };
    }
    (error.amax(), left.solve(&truncation).unwrap().amax())
}

/// Right minus left of a row on xᵐ/m!, with x relative to the row's point, and the sum of the magnitudes of its terms.
fn defect(point: u32, row: &ClosureRow, m: u32, derivative: u32) -> (f64, f64) {
    let monomial = |x: f64, m: u32| x.powi(m as i32) / factorial(m);
    let left = |x: f64| if m < derivative { 0.0 } else { monomial(x, m - derivative) };
    let points = (0u32..).map(|n| f64::from(n) - f64::from(point));
    let rhs = points.zip(&row.rhs).map(|(x, weight)| weight * monomial(x, m));
    let lhs = row.lhs.iter().map(|&(offset, weight)| -weight * left(offset as f64));
    let terms: Vec<_> = rhs.chain(lhs).chain([-left(0.0)]).collect();
    (terms.iter().sum::<f64>(), terms.iter().map(|term| term.abs()).sum::<f64>())
}

fn closable() -> impl Iterator<Item = (Scheme, Closure)> {
    let schemes =
        [Kind::FirstDerivative, Kind::SecondDerivative].into_iter().flat_map(schemes_of_kind);
    schemes.map(|scheme| (*scheme, default_closure(scheme).unwrap()))
}

#[test]
fn closure_rows_have_the_stated_order_and_leading_error() {
    for (name, leads) in LEADS {
        let closure = closure(name).unwrap();
        assert_eq!(closure.rows.len(), leads.len(), "{name}");
        let derivative = if closure.kind == Kind::FirstDerivative { 1 } else { 2 };
        for ((point, row), lead) in (0u32..).zip(&closure.rows).zip(leads) {
            let defect = |m: u32| defect(point, row, m, derivative);
            for m in 0..row.order + derivative {
                let (sum, size) = defect(m);
                assert_near(
                    sum,
                    0.0,
                    4.0 * f64::EPSILON * size,
                    &format!("{name}, row {point}, degree {m}"),
                );
            }
            let (sum, size) = defect(row.order + derivative);
            assert_near(
                sum,
                *lead,
                4.0 * f64::EPSILON * size,
                &format!("{name}, row {point}, leading error"),
            );
        }
    }
}

#[test]
fn closed_derivatives_have_the_order_of_the_lowest_row_and_predicted_error() {
    for (scheme, closure) in closable() {
        let order = closure.rows.iter().map(|row| row.order).min().unwrap();
        let sizes = if closure.norm.is_empty() { [21, 41] } else { [81, 161] };
        let [(coarse, _), (fine, predicted)] = sizes.map(|n| closed_error(&scheme, &closure, n));
        let slope = (coarse / fine).log2();
        assert!(
            (slope - f64::from(order)).abs() < 0.1,
            "{}: slope {slope}, order {order}",
            scheme.name
        );
        assert_near(fine / predicted, 1.0, 0.08, scheme.name); // The next term is of the relative size of a few row widths.
    }
}

#[test]
fn spectra_of_closed_operators_match_reference_values() {
    for (name, scheme, expected) in SPECTRA {
        let closure = closure(name).unwrap();
        for (n, expected) in [21, 41, 81].into_iter().zip(expected) {
            let found = largest_real_part(&advection(&scheme_family(scheme).first, &closure, n));
            // The matrices are far from normal, so eigenvalues lose digits: 1e-9 of the largest at n = 81.
            assert_near(
                found,
                expected,
                1e-4 * expected.abs() + 1e-9,
                &format!("{name}, {n} points"),
            );
        }
    }
}

#[test]
fn default_closures_are_stable_for_advection() {
    for scheme in schemes_of_kind(Kind::FirstDerivative) {
        let closure = default_closure(scheme).unwrap();
        let growth = [21, 41, 81, 161].map(|n| largest_real_part(&advection(scheme, &closure, n)));
        assert!(growth.iter().all(|&g| g < 0.0), "{}: {growth:?}", scheme.name);
        // The least damped mode is a resolved wave that leaves through the right end: h³ for a third-order closure.
        assert!(
            !closure.norm.is_empty() || (growth[2] / growth[3]).log2() > 2.9,
            "{}: {growth:?}",
            scheme.name
        );
    }
}

/// A line of n points from 0 to 1, clustered at both ends (`factor` 0: uniform): d/dx and the quadrature weights along x.
fn stretched(
    scheme: &Scheme,
    closure: &Closure,
    n: usize,
    factor: f64,
) -> (DMatrix<f64>, DVector<f64>) {
    let along = dense(scheme, closure, n);
    let s = |i: usize| 2.0 * i as f64 / (n - 1) as f64 - 1.0;
    let place = |i: usize| {
        let x = if factor == 0.0 { s(i) } else { (factor * s(i)).tanh() / factor.tanh() };
        0.5 * (1.0 + x)
    };
    let slope = &along * DVector::from_fn(n, |i, _| place(i));
    let weights = DVector::from_fn(n, |i, _| closure.weight(i, n) * slope[i]);
    (DMatrix::from_diagonal(&slope.map(f64::recip)) * along, weights)
}

fn by_parts() -> impl Iterator<Item = (Scheme, Closure)> {
    closable().filter(|(_, closure)| !closure.norm.is_empty())
}

/// fᵀ H D g + gᵀ H D f = f_N g_N − f₀ g₀ for any mapping of the line, down to the minimum number of points.
#[test]
fn closures_with_a_norm_satisfy_summation_by_parts() {
    assert_eq!(by_parts().count(), closures().iter().filter(|it| !it.norm.is_empty()).count());
    for (scheme, closure) in by_parts() {
        let fewest = kolmo::engine::closed_min_points(&scheme, &closure);
        for (n, factor) in [(fewest, 0.0), (fewest + 1, 0.0), (40, 0.0), (41, 2.0)] {
            let (derivative, weights) = stretched(&scheme, &closure, n, factor);
            let product = DMatrix::from_diagonal(&weights) * derivative;
            let mut sum = &product + product.transpose();
            sum[(0, 0)] += 1.0;
            sum[(n - 1, n - 1)] -= 1.0;
            // Round-off of weights of size 2, amplified a few times by the inverse of A.
            assert!(sum.amax() < 64.0 * f64::EPSILON, "{}, {n}: {:e}", scheme.name, sum.amax());
        }
    }
}

/// Detects summation-by-parts rows combined with another scheme on the same stencil: mass would drift between walls.
#[test]
fn sbp_closures_are_not_used_for_other_schemes_on_the_same_stencil() {
    for (scheme, _) in by_parts() {
        let other = Scheme { order: scheme.order - 2, ..scheme };
        assert_eq!(default_closure(&other), open_closure(&other), "{}", scheme.name);
    }
}

/// Summation by parts with powers of x: the norm of an operator that is exact for degree p integrates degree 2p − 1 exactly.
#[test]
fn norms_integrate_polynomials_of_twice_the_degree_exactly() {
    for (scheme, closure) in by_parts() {
        let n = 30;
        let order = closure.rows.iter().map(|row| row.order).min().unwrap();
        let at = |i: usize| i as f64 / (n - 1) as f64;
        for m in 0..2 * order {
            let sum: f64 = (0..n).map(|i| closure.weight(i, n) * at(i).powi(m as i32)).sum();
            let found = sum / (n - 1) as f64;
            assert_near(found, 1.0 / f64::from(m + 1), 4.0 * f64::EPSILON, scheme.name);
        }
    }
}

/// p_t = −v_x, v_t = −p_x with v = 0 at both ends, on uniform and stretched lines: acoustic energy in the norm is conserved, so
/// √H M 1/√H is antisymmetric, and a step within the imaginary-axis limit amplifies no eigenvector.
#[test]
fn sound_between_walls_conserves_energy_and_is_stable_within_the_limit() {
    for (scheme, closure) in by_parts() {
        for (n, factor) in [(33, 0.0), (33, 2.0), (64, 1.5)] {
            let (derivative, weights) = stretched(&scheme, &closure, n, factor);
            // p at all points, then v at the interior points.
            let inner = |at: usize| if at < n { at } else { at - n + 1 };
            let root = weights.map(f64::sqrt);
            let size = 2 * n - 2;
            let matrix = DMatrix::from_fn(size, size, |row, column| {
                let (i, j) = (inner(row), inner(column));
                let differs = (row < n) != (column < n);
                if differs { -derivative[(i, j)] * root[i] / root[j] } else { 0.0 }
            });
            let fastest = matrix.amax();
            let deviation = (&matrix + matrix.transpose()).amax() / fastest;
            assert!(
                deviation < 64.0 * f64::EPSILON,
                "{}, {n} points, {factor}: {deviation:e}",
                scheme.name
            );
            let eigenvalues = matrix.complex_eigenvalues();
            let largest = eigenvalues.iter().map(|it| it.norm()).fold(0.0, f64::max);
            for integrator in TABLEAUX.iter().filter(|it| it.imaginary_limit() > 0.0) {
                let dt = 0.98 * integrator.imaginary_limit() / largest;
                let growth = eigenvalues.iter().map(|it| integrator.amplification(it * dt).norm());
                let growth = growth.fold(0.0, f64::max);
                assert!(growth < 1.0 + 1e-10, "{} {}: {growth}", scheme.name, integrator.name);
            }
        }
    }
}

#[test]
fn default_closures_are_stable_for_diffusion_and_decay_at_the_exact_rate() {
    for scheme in schemes_of_kind(Kind::SecondDerivative) {
        let closure = default_closure(scheme).unwrap();
        for n in [21, 41, 81] {
            let operator = dense(scheme, &closure, n).view((1, 1), (n - 2, n - 2)).into_owned();
            let eigenvalues: Vec<_> = operator.complex_eigenvalues().iter().copied().collect();
            let slowest = largest_real_part(&eigenvalues) * ((n - 1) as f64).powi(2);
            assert_near(slowest, -PI * PI, 0.03, scheme.name);
            let (fastest, limit) =
                (eigenvalues.iter().map(|e| e.norm()).fold(0.0, f64::max), scheme.max_symbol().0);
            assert!(fastest < 1.001 * limit, "{}: {fastest} > {limit}", scheme.name);
        }
    }
}

#[test]
fn default_closures_have_enough_rows_for_the_interior_stencil() {
    let filter = compact_filter(8, 0.45);
    let filters = [(filter, default_closure(&filter).unwrap())];
    for (scheme, closure) in closable().chain(filters) {
        assert_eq!(closure.kind, scheme.kind, "{}", scheme.name);
        assert!(
            closure.rows.len() >= scheme.half_width().max(scheme.half_band()),
            "{}",
            scheme.name
        );
    }
    let staggered = [Kind::MidpointDerivative, Kind::MidpointInterpolation];
    for scheme in staggered.into_iter().flat_map(schemes_of_kind).chain([&CF90]) {
        assert_eq!(default_closure(scheme), None, "{}", scheme.name);
    }
}

#[test]
fn closure_names_are_unique_and_resolve() {
    let names: HashSet<_> = closures().iter().map(|closure| closure.name).collect();
    assert_eq!(names.len(), closures().len());
    assert!(closures().into_iter().all(|c| closure(c.name) == Some(c)));
    assert_eq!(closure("c7"), None);
}
