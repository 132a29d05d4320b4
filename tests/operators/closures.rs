//! Non-periodic lines: the default closures applied to fields.

use std::f64::consts::PI;

use super::*;

const DERIVATIVES: [Op; 2] = [Op::D1, Op::D2];

/// The schemes with closures: (operator, family, filter).
fn closed_formulas() -> impl Iterator<Item = (Op, &'static SchemeFamily, Scheme)> {
    let derivatives = families()
        .iter()
        .flat_map(|family| DERIVATIVES.map(|op| (op, family, compact_filter(2, 0.4))));
    let filters = [2, 4, 6, 8, 10].into_iter().flat_map(|order| {
        [-0.2, 0.0, 0.3, 0.45, 0.49]
            .map(|alpha| (Op::Filter, &families()[0], compact_filter(order, alpha)))
    });
    derivatives.chain(filters)
}

fn derivative_order(scheme: &Scheme) -> i32 {
    match scheme.kind {
        Kind::FirstDerivative => 1,
        Kind::SecondDerivative => 2,
        _ => 0,
    }
}

/// A and B of `scheme` with its default closure on n points, h = 1, and the order of every row.
fn closed_sides(scheme: &Scheme, n: usize) -> (DMatrix<f64>, DMatrix<f64>, Vec<u32>) {
    let (mut a, mut b) = (DMatrix::identity(n, n), DMatrix::zeros(n, n));
    let mut orders = vec![scheme.order; n];
    let closure = default_closure(scheme).unwrap();
    let ends = closure.rows.len();
    let (pairs, center) = weights(scheme);
    for m in ends..n - ends {
        for (d, weight) in [(1, scheme.alpha), (2, scheme.beta)] {
            if weight != 0.0 {
                a[(m, m - d)] = weight;
                a[(m, m + d)] = weight;
            }
        }
        b[(m, m)] = center;
        for (s, pair) in (1..).zip(&pairs) {
            b[(m, m + s)] += pair.0;
            b[(m, m - s)] += pair.1;
        }
    }
    let mirror = if scheme.kind == Kind::FirstDerivative { -1.0 } else { 1.0 };
    for (m, row) in closure.rows.iter().enumerate() {
        let last = n - 1;
        (orders[m], orders[last - m]) = (row.order, row.order);
        for &(d, weight) in &row.lhs {
            let column = m.checked_add_signed(d).unwrap();
            a[(m, column)] = weight;
            a[(last - m, last - column)] = weight;
        }
        for (column, &weight) in row.rhs.iter().enumerate() {
            b[(m, column)] = weight;
            b[(last - m, last - column)] = mirror * weight;
        }
    }
    (a, b, orders)
}

fn min_points(scheme: &Scheme) -> usize {
    kolmo::engine::closed_min_points(scheme, &default_closure(scheme).unwrap())
}

fn norm(a: &DMatrix<f64>) -> f64 {
    a.row_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max)
}

#[test]
fn closed_operators_match_dense_matrices_along_every_axis_for_every_size() {
    let cpu = Cpu::<f64>::new(Some(2)).unwrap();
    for (op, family, filter) in closed_formulas() {
        let (scheme, ..) = formula(op, family, &filter);
        for n in (min_points(&scheme)..=22).chain([31, 33, 37, 43, 64]) {
            let (a, b, _) = closed_sides(&scheme, n);
            let inverse = a.clone().full_piv_lu().try_inverse().unwrap();
            let kappa = norm(&a) * norm(&inverse);
            assert!(kappa < 3e4, "{} on {n} points: condition {kappa:e}", scheme.name);
            let matrix = &inverse * &b;
            for axis in Axis::ALL {
                let h = SPACING[axis.index()];
                let grid = grid(axis, n, [[3, 2], [17, 1], [1, 16], [66, 1]][n % 4], false);
                let operators =
                    LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
                let lines: Vec<Vec<f64>> =
                    (0..grid.len() / n).map(|line| crate::lines::noise(n, line as u32)).collect();
                let operand = field(&grid, axis, |point, line| lines[line][point]);
                let exact = field(&grid, axis, |point, line| {
                    let row = matrix.row(point);
                    row.iter().zip(&lines[line]).map(|(a, f)| a * f).sum::<f64>()
                        * per_spacing(&scheme, h)
                });
                let found = apply(&cpu, &operators, &grid, axis, op, &operand);
                let unit =
                    f64::EPSILON * kappa * norm(&inverse) * norm(&b) * per_spacing(&scheme, h);
                let error = distance(&found, &exact);
                assert!(
                    error <= 2.0 * unit,
                    "{} along {axis:?} on {n} points: {error:e}, round-off {unit:e}",
                    scheme.name
                );
            }
        }
    }
}

#[test]
fn closed_operators_are_exact_for_polynomials_up_to_their_order() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    let n = 24;
    for (op, family, filter) in closed_formulas() {
        let (scheme, ..) = formula(op, family, &filter);
        let d = derivative_order(&scheme);
        let (a, b, orders) = closed_sides(&scheme, n);
        // Published decimals satisfy the order conditions to 2e-7 only.
        let decimals = if scheme.lead.is_none() { 2e-7 } else { 0.0 };
        let unit = (8.0 * f64::EPSILON + decimals) * norm(&a.try_inverse().unwrap()) * norm(&b);
        let degree = orders.into_iter().min().unwrap().cast_signed() + d - 1;
        let grid = grid(Axis::Z, n, [2, 1], false);
        let h = SPACING[2];
        let operators = LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
        for p in 0..=degree {
            let s = |m: usize| m as f64 / (n - 1) as f64;
            let operand = field(&grid, Axis::Z, |m, _| s(m).powi(p));
            let falling: f64 = (0..d).map(|i| f64::from(p - i)).product();
            let steepness = falling * ((n - 1) as f64 * h).powi(-d);
            let exact = field(&grid, Axis::Z, |m, _| match p >= d {
                true => steepness * s(m).powi(p - d),
                false => 0.0,
            });
            let error = distance(&apply(&cpu, &operators, &grid, Axis::Z, op, &operand), &exact);
            let unit = unit * per_spacing(&scheme, h);
            assert!(error <= unit, "{}: degree {p}: {error:e} > {unit:e}", scheme.name);
        }
    }
}

#[test]
fn staggered_operators_are_unavailable_on_non_periodic_lines() {
    let grid = grid(Axis::X, 24, [1, 1], false);
    let operators = LineOperators::new(&families()[4], None, &grid, kolmo::Precision::F64);
    for op in [Op::DerivativeToMidpoints, Op::DerivativeToPoints, Op::InterpolateToMidpoints] {
        let get = std::panic::AssertUnwindSafe(|| operators.get(Axis::X, op).len());
        assert!(std::panic::catch_unwind(get).is_err(), "{op:?}");
    }
}

#[test]
fn non_periodic_lines_lack_the_pentadiagonal_filter_but_keep_derivatives() {
    let grid = grid(Axis::X, 24, [1, 1], false);
    let operators = LineOperators::new(&families()[4], Some(&CF90), &grid, kolmo::Precision::F64);
    assert_eq!(operators.get(Axis::X, Op::D1).len(), 24);
    let get = std::panic::AssertUnwindSafe(|| operators.get(Axis::X, Op::Filter).len());
    assert!(std::panic::catch_unwind(get).is_err());
}

const KAPPA: f64 = 6.0;

/// The p-th derivative of sin(κ x + π/4).
fn sine(x: f64, p: i32) -> f64 {
    KAPPA.powi(p) * (KAPPA * x + (0.25 + 0.5 * f64::from(p)) * PI).sin()
}

/// Weight of f^(q + d) h^q in B f − A f^(d) for row m of order q.
fn row_lead(a: &DMatrix<f64>, b: &DMatrix<f64>, m: usize, q: u32, d: i32) -> f64 {
    let p = q.cast_signed() + d;
    let power = |x: f64, p: i32| x.powi(p) / (1..=p).map(f64::from).product::<f64>();
    let at = |column: usize| column as f64 - m as f64;
    (0..a.ncols())
        .map(|column| {
            b[(m, column)] * power(at(column), p) - a[(m, column)] * power(at(column), p - d)
        })
        .sum()
}

#[test]
fn default_closures_converge_with_the_truncation_error_of_their_rows() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for (op, family, filter) in closed_formulas() {
        let (scheme, ..) = formula(op, family, &filter);
        if scheme.lead.is_none() {
            continue;
        }
        let d = derivative_order(&scheme);
        let lowest = closed_sides(&scheme, 30).2.into_iter().min().unwrap();
        let intervals = match lowest {
            2 | 3 => 160,
            4 => 80,
            6 => 48,
            8 => 36,
            _ => 30,
        };
        let results = [1, 2].map(|refined| {
            let n = intervals * refined + 1;
            let h = 1.0 / (n - 1) as f64;
            let grid = Grid::new([n, 1, 1], &Domain::cube(1.0), [Some([End::ByParts; 2]); 3]);
            let operators = LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
            let operand = field(&grid, Axis::X, |m, _| sine(m as f64 * h, 0));
            let found = apply(&cpu, &operators, &grid, Axis::X, op, &operand);
            let exact: Vec<f64> = (0..n).map(|m| sine(m as f64 * h, d)).collect();

            // A e = B f − A f^(d), with the leading terms of all rows.
            let (a, b, orders) = closed_sides(&scheme, n);
            let truncation = nalgebra::DVector::from_fn(n, |m, _| {
                let q = orders[m];
                row_lead(&a, &b, m, q, d)
                    * h.powi(q.cast_signed())
                    * sine(m as f64 * h, q.cast_signed() + d)
            });
            let predicted = a.lu().solve(&truncation).unwrap();
            (distance(&found, &exact), predicted.amax())
        });
        let [(coarse, _), (fine, predicted)] = results;
        // The next term of the series is of relative size κ h, and larger where high derivatives enter.
        let slope = (coarse / fine).log2() - f64::from(lowest);
        let widest = default_closure(&scheme).unwrap().rows.iter().map(|row| row.rhs.len()).max();
        let next = KAPPA * (widest.unwrap() as f64 / 4.0).max(1.0) / (2 * intervals) as f64;
        assert!(slope.abs() < 2.4 * next, "{}: slope exceeds {lowest} by {slope}", scheme.name);
        let size = fine / predicted - 1.0;
        assert!(size.abs() < 1.2 * next, "{}: relative size {size} too large", scheme.name);
    }
}
