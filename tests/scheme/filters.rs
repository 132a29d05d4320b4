use std::f64::consts::PI;

use super::*;

const TABLE: &str = include_str!("../data/scheme/filters.csv");
const ALPHAS: [f64; 5] = [-0.3, 0.0, 0.3, 0.45, 0.495];

/// Weights (p + q α)/2^order of one row of the table.
fn weights(row: &[&str], order: u32, alpha: f64) -> Vec<f64> {
    let numbers = |text: &str| text.split(' ').map(number).collect::<Vec<_>>();
    numbers(row[2])
        .iter()
        .zip(numbers(row[3]))
        .map(|(p, q)| (p + q * alpha) / f64::from(1 << order))
        .collect()
}

#[test]
fn filter_weights_match_exact_rational_solutions() {
    assert_eq!(rows(TABLE).count(), 5 + 2 + 3 + 4 + 5);
    for row in rows(TABLE) {
        let order: u32 = row[0].parse().unwrap();
        for alpha in ALPHAS {
            let found = match row[1] {
                "interior" => {
                    let filter = compact_filter(order, alpha);
                    assert_eq!(
                        (filter.order, filter.half_width(), filter.half_band()),
                        (order, order as usize / 2, usize::from(alpha != 0.0))
                    );
                    [&[filter.center], &filter.rhs[..filter.half_width()]].concat()
                }
                point => filter_row(order, alpha, point.parse().unwrap()).rhs,
            };
            let expected = weights(&row, order, alpha);
            assert_eq!(found.len(), expected.len());
            for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_near(
                    *found,
                    expected,
                    1e-15,
                    &format!("order {order}, point {}, weight {n}", row[1]),
                );
            }
        }
    }
}

#[test]
fn filters_have_the_transfer_function_of_gaitonde_and_visbal() {
    for order in [2, 4, 6, 8, 10] {
        for alpha in ALPHAS {
            let filter = compact_filter(order, alpha);
            for i in 0..=48 {
                let w = f64::from(i) * PI / 48.0;
                let damped = (1.0 - 2.0 * alpha) * (w / 2.0).sin().powi(order as i32)
                    / (1.0 + 2.0 * alpha * w.cos());
                let tolerance = 4.0 * f64::EPSILON / filter.left_symbol(w);
                assert_near(filter.transfer(w), 1.0 - damped, tolerance, filter.name);
            }
            let lead = filter.lead.unwrap();
            assert_eq!(lead.power, order as i32);
            let strength = (1.0 - 2.0 * alpha) / (1.0 + 2.0 * alpha);
            assert_near(lead.coefficient * f64::from(1 << order), -strength, 1e-15, filter.name);
        }
    }
}

#[test]
fn filter_boundary_rows_preserve_polynomials_and_remove_the_nyquist_wave() {
    for order in [2, 4, 6, 8, 10] {
        for alpha in ALPHAS {
            let closure = filter_closure(order, alpha);
            assert_eq!(closure.rows.len(), order as usize / 2);
            assert_eq!(
                (closure.rows[0].lhs.len(), closure.rows[0].rhs.as_slice()),
                (0, &[1.0][..])
            );
            let points = (0..order / 2).map(|point| (point, filter_row(order, alpha, point)));
            for (point, row) in points {
                assert!(point == 0 || row == closure.rows[point as usize]);
                // Both sides of the row for f(x), with x in grid spacings relative to the row's point.
                let sides = |f: &dyn Fn(i32) -> f64| {
                    let left = f(0)
                        + row
                            .lhs
                            .iter()
                            .map(|&(offset, weight)| weight * f(offset as i32))
                            .sum::<f64>();
                    let right = (0..)
                        .zip(&row.rhs)
                        .map(|(n, weight)| weight * f(n - point as i32))
                        .sum::<f64>();
                    (left, right)
                };
                for degree in 0..order as i32 {
                    let (left, right) = sides(&|x| (f64::from(x) / f64::from(order)).powi(degree));
                    assert_near(
                        right,
                        left,
                        1e-15,
                        &format!("order {order}, point {point}, degree {degree}"),
                    );
                }
                let (left, right) =
                    sides(&|x| (f64::from(x) / f64::from(order)).powi(order as i32));
                assert!(
                    (right - left).abs() > 1e-9,
                    "order {order}, point {point}: exact beyond its order"
                );
                let (_, right) = sides(&|x| if x % 2 == 0 { 1.0 } else { -1.0 });
                assert_near(
                    right,
                    0.0,
                    2e-15,
                    &format!("order {order}, point {point}, Nyquist wave"),
                );
            }
        }
    }
}

#[test]
fn pentadiagonal_filters_have_the_published_cutoff() {
    // T = ½ (bisection in 30 digits).
    assert_near(CF90.resolving_efficiency(0.5), 0.9073875781, 1e-8, "cf90");
    assert_near(LELE_CUTOFF.resolving_efficiency(0.5), 0.7957760566, 1e-8, "lele-cutoff");
    assert_near(CF90.transfer(PI), 0.0, 1e-12, "cf90 at π");
    assert_near(LELE_CUTOFF.transfer(PI), 0.0, 2e-5, "lele-cutoff at π");
    assert_near(CF90.transfer(0.0), 1.0, 1e-15, "cf90 preserves the mean");
    assert_near(LELE_CUTOFF.transfer(0.0), 1.0, 3e-7, "lele-cutoff preserves the mean");
    assert_near(CF90.max_symbol().0, 1.0, 1e-15, "cf90 never amplifies");
    assert_near(
        LELE_CUTOFF.max_symbol().0,
        1.0 + 1.5374e-5,
        1e-9,
        "lele-cutoff amplifies by 1.5e-5",
    );
}

#[test]
fn weaker_and_higher_order_filters_resolve_more() {
    let efficiency = |order, alpha| compact_filter(order, alpha).resolving_efficiency(0.01);
    assert!([-0.3, 0.0, 0.3, 0.45, 0.495].map(|alpha| efficiency(8, alpha)).is_sorted());
    assert!([2, 4, 6, 8, 10].map(|order| efficiency(order, 0.45)).is_sorted());
}

#[test]
#[should_panic(expected = "order 2, 4, 6, 8 or 10, not 5")]
fn a_filter_of_odd_order_is_rejected() {
    compact_filter(5, 0.4);
}

#[test]
#[should_panic(expected = "-0.5 < alpha < 0.5, not 0.5")]
fn a_filter_with_a_singular_left_hand_side_is_rejected() {
    filter_closure(8, 0.5);
}
