//! Ends of a block's result as weighted sums of its operand, and corrections of the result by the interface values.
//!
//! Both decay like A_k⁻¹ away from the ends, so weights below round-off are omitted.

use super::block::{Shape, inflow, no_pivot};
use super::two_port::inverse_columns;
use crate::engine::LineOperator;
use crate::real::Precision;

/// Rows of A_k⁻¹ B_k of a block: w B_k, with Aᵀ_k w = e.
pub(super) fn result_rows(
    operator: &LineOperator,
    shape: Shape,
    points: impl Iterator<Item = usize>,
) -> Result<Vec<Vec<f64>>, String> {
    let n = shape.points;
    let of_rows = inverse_columns(&shape.matrix(operator).transposed(), points);
    let of_rows = of_rows.map_err(|row| no_pivot(shape, row))?;
    let rows: Vec<Vec<(isize, f64)>> = (0..n).map(|m| shape.b(operator, m)).collect();
    let product = |weights: &Vec<f64>| {
        let mut sums = vec![0.0; n];
        for (m, (weight, row)) in weights.iter().zip(&rows).enumerate() {
            for (offset, b) in row {
                if let Some(column) = m.checked_add_signed(*offset).filter(|c| *c < n) {
                    sums[column] += weight * b;
                }
            }
        }
        sums
    };
    Ok(of_rows.iter().map(product).collect())
}

/// Contributions of unit interface values to the result at the first and at the last points.
pub(super) fn corrections(
    operator: &LineOperator,
    shape: Shape,
) -> Result<[Vec<Vec<f64>>; 2], String> {
    let n = shape.points;
    let [left, right] = inflow(operator, shape);
    let matrix = shape.matrix(operator);
    let columns = inverse_columns(&matrix, (0..left).chain(n - right..n));
    let columns = columns.map_err(|row| no_pivot(shape, row))?;
    let precision = operator.precision;
    Ok([leading(&columns[..left], precision), trailing(&columns[left..], precision)])
}

/// The weights of the first points, up to the last one that is above round-off in any of the planes.
pub(super) fn leading(planes: &[Vec<f64>], precision: Precision) -> Vec<Vec<f64>> {
    let noticed = |plane: &Vec<f64>| {
        let largest = plane.iter().fold(0.0, |largest: f64, w| largest.max(w.abs()));
        let least = precision.epsilon() / 8.0 * largest;
        plane.iter().rposition(|w| w.abs() > least).map_or(0, |last| last + 1)
    };
    let kept = planes.iter().map(noticed).max().unwrap_or(0);
    planes.iter().map(|plane| plane[..kept].to_vec()).collect()
}

/// The weights of the last points, from the first one that is above round-off in any of the planes.
pub(super) fn trailing(planes: &[Vec<f64>], precision: Precision) -> Vec<Vec<f64>> {
    let backwards = |plane: &Vec<f64>| plane.iter().rev().copied().collect();
    let mut kept = leading(&planes.iter().map(backwards).collect::<Vec<_>>(), precision);
    kept.iter_mut().for_each(|plane| plane.reverse());
    kept
}
