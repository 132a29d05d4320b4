//! The points of stretched axes, and dx/dξ there by the operator that differentiates a flow.

use std::sync::Arc;

use super::{LineOperator, LineOperators, Op};
use crate::grid::{Axis, Domain, Grid, Line, Stretching};
use crate::lines::solve;
use crate::real::Precision;
use crate::scheme::SchemeFamily;

/// `grid` over `domain` with points as `stretching` maps them. An axis of one point, or of too few for the operator, stays as it is.
pub fn stretched(
    grid: Grid,
    domain: &Domain,
    stretching: &[Option<Stretching>; 3],
    family: &SchemeFamily,
) -> Grid {
    if stretching.iter().all(Option::is_none) {
        return grid;
    }
    let operators = LineOperators::new(family, None, &grid, Precision::F64);
    let lines = Axis::ALL.map(|axis| {
        let a = axis.index();
        let (map, operator) = (stretching[a].as_ref()?, operators.find(axis, Op::D1)?);
        let ends = (domain.origin[a], domain.length[a]);
        Some(Arc::new(line(map, ends, grid.spacing[a], operator)))
    });
    Grid { lines, ..grid }
}

/// D₁ x = 1 + D₁ (x − ξ), where x − ξ is periodic where the line is.
#[allow(clippy::cast_precision_loss, reason = "lines are far shorter than 2^52 points")]
fn line(map: &Stretching, (origin, length): (f64, f64), h: f64, operator: &LineOperator) -> Line {
    let n = operator.len();
    let intervals = if operator.periodic { n } else { n - 1 };
    let place = |i: usize| map.place(i as f64 / intervals as f64, origin, length);
    let coordinates: Vec<f64> = (0..=intervals).map(place).collect();
    let moved: Vec<f64> = (0..n).map(|i| coordinates[i] - (origin + h * i as f64)).collect();
    let at = |m: usize, offset: isize| moved[(m + n).wrapping_add_signed(offset) % n];
    let row = |m: usize| operator.row(m).into_iter().map(|(d, weight)| weight * at(m, d)).sum();
    let mut jacobian: Vec<f64> = (0..n).map(row).collect();
    solve(operator.factors(), &mut jacobian);
    jacobian.iter_mut().for_each(|slope| *slope += 1.0);
    Line { coordinates, jacobian }
}
