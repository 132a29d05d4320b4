//! Points of stretched axes and curvilinear grids, and the derivatives of x there, by the operators that differentiate
//! the flow.

use std::sync::Arc;

use super::{LineOperator, LineOperators, Op, closure_at};
use crate::grid::{Axis, Curvilinear, Domain, Grid, Line, Maps, Nodes, Plane, Stretching};
use crate::lines::solve;
use crate::real::Precision;
use crate::scheme::{Scheme, SchemeFamily};

/// Returns `grid` over `domain` with points mapped by `stretching`, and with the summation-by-parts weights of the
/// first derivative of `family`. An axis of one point, or of too few points for the operators, is left unchanged.
pub fn stretched(grid: Grid, domain: &Domain, stretching: &Maps, family: &SchemeFamily) -> Grid {
    let grid = with_norm(grid, &family.first);
    if stretching.iter().all(Option::is_none) {
        return grid;
    }
    let operators = LineOperators::new(family, None, &grid, Precision::F64);
    let lines = Axis::ALL.map(|axis| {
        let a = axis.index();
        let map = stretching[a].as_ref()?;
        // x changes sign by reflection.
        let ops = match grid.is_mirrored(axis) {
            false => [Op::D1, Op::D2],
            true => [Op::D1OfOdd, Op::D2OfOdd],
        };
        let [first, second] = ops.map(|op| operators.find(axis, op));
        let ends = (domain.origin[a], domain.length[a]);
        Some(Arc::new(line(map, ends, grid.spacing[a], [first?, second?])))
    });
    Grid { lines, ..grid }
}

/// Returns `grid` with the norm weights of `first` at the ends that have a norm.
fn with_norm(mut grid: Grid, first: &Scheme) -> Grid {
    for (weights, ends) in grid.end_weights.iter_mut().zip(grid.ends) {
        for (weights, end) in weights.iter_mut().zip(ends.into_iter().flatten()) {
            let norm = closure_at(end, first, false).map_or(&[][..], |closure| closure.norm);
            if !norm.is_empty() {
                *weights = norm;
            }
        }
    }
    grid
}

/// Returns `grid` over `domain`, of equal spacings, with the points of `curvilinear`. ∂x/∂ξ and the other metric terms
/// are computed by the first derivative of `family`, so that ∂(∂y/∂η)/∂ξ − ∂(∂y/∂ξ)/∂η = 0 and a free stream is
/// preserved (Thomas and Lombard 1979): operators along two axes commute. The grid is left unchanged where lines are
/// too short for the operators.
pub fn curved(
    grid: Grid,
    domain: &Domain,
    curvilinear: &Curvilinear,
    family: &SchemeFamily,
) -> Grid {
    let operators = LineOperators::new(family, None, &grid, Precision::F64);
    let [Some(along_xi), Some(along_eta)] =
        [Axis::X, Axis::Y].map(|axis| operators.find(axis, Op::D1))
    else {
        return grid;
    };
    let [nx, ny, _] = grid.points;
    let two = |of: [f64; 3]| [of[0], of[1]];
    let closes = [grid.is_closed_along(0), grid.is_closed_along(1)];
    let Nodes { coordinates, periods, .. } =
        curvilinear.nodes([nx, ny], closes, (two(domain.origin), two(domain.length)));
    let h = grid.spacing;
    // Remove the linear growth from period to period, whose slope is known.
    let slope = |k: usize, a: usize| {
        let rise = periods[a][k] / grid.points[a] as f64;
        let (lines, stride, next, operator) = match a {
            0 => (ny, 1, nx, along_xi),
            _ => (nx, nx, 1, along_eta),
        };
        let mut slopes = vec![0.0; nx * ny];
        for line in 0..lines {
            let at = |i: usize| line * next + i * stride;
            let from = |m: usize, i: usize| {
                let apart = coordinates[k][at(i)] - coordinates[k][at(m)];
                apart - rise * (i as f64 - m as f64)
            };
            let own = derivative(operator, from);
            for (i, own) in own.into_iter().enumerate() {
                slopes[at(i)] = own + rise / h[a];
            }
        }
        slopes
    };
    let slopes = [slope(0, 0), slope(0, 1), slope(1, 0), slope(1, 1)];
    let [x_xi, x_eta, y_xi, y_eta] = &slopes;
    let jacobian = (0..nx * ny).map(|at| x_xi[at] * y_eta[at] - x_eta[at] * y_xi[at]).collect();
    Grid { plane: Some(Arc::new(Plane { coordinates, periods, slopes, jacobian })), ..grid }
}

/// x, D₁ x = 1 + D₁ (x − ξ) and D₂ x = D₂ (x − ξ), where x − ξ is periodic on a periodic line.
fn line(
    map: &Stretching,
    (origin, length): (f64, f64),
    h: f64,
    [first, second]: [&LineOperator; 2],
) -> Line {
    let n = first.len();
    let intervals = if first.periodic { n } else { n - 1 };
    let place = |i: usize| map.place(i as f64 / intervals as f64, origin, length);
    let coordinates: Vec<f64> = (0..=intervals).map(place).collect();
    let moved: Vec<f64> = (0..n).map(|i| coordinates[i] - (origin + h * i as f64)).collect();
    let moved = |_: usize, i: usize| moved[i];
    let jacobian = derivative(first, moved).into_iter().map(|slope| 1.0 + slope).collect();
    Line { coordinates, jacobian, curvature: derivative(second, moved) }
}

/// Applies `operator` to the values of a line; `values(m, i)` is the value at point i for row m. Where constants have
/// zero derivative, `values` may subtract the value at m: the round-off is then that of the spacings, not of the
/// distance from the origin.
fn derivative(operator: &LineOperator, values: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let n = operator.len();
    let at = |m: usize, offset: isize| values(m, (m + n).wrapping_add_signed(offset) % n);
    let row = |m: usize| operator.row(m).into_iter().map(|(d, weight)| weight * at(m, d)).sum();
    let mut derivative: Vec<f64> = (0..n).map(row).collect();
    solve(operator.factors(), &mut derivative);
    derivative
}
