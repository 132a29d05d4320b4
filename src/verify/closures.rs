//! Derivatives on bounded lines: exactness for polynomials of the degree given by the order of the rows, and the order itself.

use super::check::{Check, Convergence, distance, float, largest, worse};
use super::setup::Setup;
use crate::engine::{LineOperator, LineOperators, Op, closed_min_points};
use crate::error::Result;
use crate::grid::Axis;
use crate::scheme::{Closure, Kind, Scheme, closures, default_closure, families};

/// The checks of this family: the rows of every closure alone, and the operators that use them.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks: Vec<Check> = closures().iter().map(rows).collect();
    let few = setup.is_quick_on_device();
    // Published decimals that satisfy the order conditions only to 2e-7 show neither exactness nor an order.
    let formulas = families().iter().flat_map(|family| [family.first, family.second]);
    let formulas = formulas.filter(|scheme| scheme.lead.is_some());
    for (at, scheme) in formulas.enumerate() {
        let Some(closure) = default_closure(&scheme) else { continue };
        checks.push(closed_order(&scheme, &closure));
        checks.extend((!closure.norm.is_empty()).then(|| by_parts(&scheme, &closure)));
        let (axis, compact6) = (Axis::ALL[at % 3], scheme.name.ends_with("compact6"));
        if !few || compact6 {
            checks.push(exactness(setup, &scheme, &closure, axis)?);
            checks.push(order_on_exp(setup, &scheme, &closure, axis)?);
        }
    }
    Ok(checks)
}

/// Every row of order p is exact for polynomials of degree p, or p + 1 for a second derivative: Σ a f'(x + d) = Σ w f(n) with f =
/// (x − xᵢ)ᵐ. These conditions determine all weights of a row, except for `cga5`, which has two free weights, and for
/// summation-by-parts rows, which [`by_parts`] checks.
fn rows(closure: &Closure) -> Check {
    let derivative = if closure.kind == Kind::FirstDerivative { 1 } else { 2 };
    let mut worst = 0.0;
    for (at, row) in closure.rows.iter().enumerate() {
        for m in 0..row.order.cast_signed() + derivative {
            let slope = |x: f64| derivative_of_power(derivative, m, x);
            let left = row.lhs.iter().map(|&(d, weight)| weight * slope(d as f64));
            let right =
                row.rhs.iter().enumerate().map(|(n, w)| -w * (float(n) - float(at)).powi(m));
            let terms: Vec<f64> = std::iter::once(slope(0.0)).chain(left).chain(right).collect();
            let size: f64 = terms.iter().map(|term| term.abs()).sum();
            if size > 0.0 {
                worst = worse(worst, terms.iter().sum::<f64>().abs() / size);
            }
        }
    }
    let orders: Vec<String> = closure.rows.iter().map(|row| row.order.to_string()).collect();
    Check::at_most(format!("{}-rows", closure.name), worst, 4.0 * f64::EPSILON)
        .shows(format!("rows of {} have orders {}", closure.name, orders.join(", ")))
        .source(format!("{}; Taylor conditions, round-off of the weights", closure.source))
}

/// The first or second `derivative` of xᵐ.
fn derivative_of_power(derivative: i32, m: i32, x: f64) -> f64 {
    match (derivative, m) {
        (1, 0) | (2, 0 | 1) => 0.0,
        (1, m) => f64::from(m) * x.powi(m - 1),
        (_, m) => f64::from(m * (m - 1)) * x.powi(m - 2),
    }
}

/// Order of the operator: the lowest order of its rows.
fn lowest_order(scheme: &Scheme, closure: &Closure) -> u32 {
    closure.rows.iter().map(|row| row.order).chain([scheme.order]).min().unwrap_or(0)
}

/// A closure of order q in a hyperbolic problem with an interior of order p gives an error of order min(p, q + 1): rows of third
/// order suffice for fourth order. For summation by parts, q is at most p/2.
fn closed_order(scheme: &Scheme, closure: &Closure) -> Check {
    let by_parts = !closure.norm.is_empty();
    let required = if by_parts { scheme.order / 2 } else { scheme.order - 1 }.min(3);
    Check::at_most(
        format!("{}-ends", scheme.name),
        f64::from(required) - f64::from(lowest_order(scheme, closure)),
        0.0,
    )
    .shows(format!(
        "rows of {} at the ends of {} have at least order {required}",
        closure.name, scheme.name
    ))
    .source("fourth order overall (Gustafsson 1975), or the order of a diagonal norm (Kreiss and Scherer 1974)")
}

fn operator(
    scheme: &Scheme,
    closure: &Closure,
    axis: Axis,
    n: usize,
    h: f64,
) -> (Op, LineOperators) {
    let op = if closure.kind == Kind::FirstDerivative { Op::D1 } else { Op::D2 };
    (op, LineOperators::along(axis, vec![(op, LineOperator::closed(scheme, closure, n, h))]))
}

/// fᵀ H D g + gᵀ H D f = f_N g_N − f₀ g₀ for unit vectors f and g.
fn by_parts(scheme: &Scheme, closure: &Closure) -> Check {
    let n = closed_min_points(scheme, closure) + 5;
    let operator = LineOperator::closed(scheme, closure, n, 1.0);
    // Columns of D.
    let column = |j: usize| {
        let entry = |i: usize| {
            let row = operator.row(i).into_iter();
            row.filter(|(d, _)| i.checked_add_signed(*d) == Some(j)).map(|(_, weight)| weight).sum()
        };
        let mut column: Vec<f64> = (0..n).map(entry).collect();
        crate::lines::solve(operator.factors(), &mut column);
        column
    };
    let d: Vec<Vec<f64>> = (0..n).map(column).collect();
    let deviation = |i: usize, j: usize| {
        let ends = match (i, j) {
            (0, 0) => -1.0,
            _ if i == j && i == n - 1 => 1.0,
            _ => 0.0,
        };
        (closure.weight(i, n) * d[j][i] + closure.weight(j, n) * d[i][j] - ends).abs()
    };
    let all = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
    Check::at_most(
        format!("{}-by-parts", scheme.name),
        all.map(|(i, j)| deviation(i, j)).fold(0.0, worse),
        8.0 * f64::EPSILON * inverse_norm(&operator),
    )
    .shows(format!("{} at the ends of {} sums by parts", closure.name, scheme.name))
    .source(format!("{}; round-off ε ‖B‖ ‖A⁻¹‖ (Higham 2002, §7)", closure.source))
}

/// A first derivative of order p is exact for polynomials of degree p, a second derivative for degree p + 1.
fn exactness(setup: &Setup, scheme: &Scheme, closure: &Closure, axis: Axis) -> Result<Check> {
    let n = closed_min_points(scheme, closure).max(24);
    let h = 1.0 / float(n - 1);
    let (op, operators) = operator(scheme, closure, axis, n, h);
    let derivative = if op == Op::D1 { 1 } else { 2 };
    let degree = lowest_order(scheme, closure).cast_signed() + derivative - 1;
    let (place, x) = setup.one_line(axis, n)?;
    let mut deviation = 0.0;
    for m in 0..=degree {
        let f: Vec<f64> = x.iter().map(|x| (h * x).powi(m)).collect();
        let exact: Vec<f64> = x.iter().map(|x| derivative_of_power(derivative, m, h * x)).collect();
        deviation = worse(deviation, distance(&place.apply(&operators, axis, op, &f)?, &exact));
    }
    // Round-off of the right-hand sides, amplified by the norm of the inverse in the solve.
    let rows = closure.rows.iter().map(|row| row.rhs.iter().map(|weight| weight.abs()).sum());
    let size = rows.fold(4.0, f64::max) / h.powi(derivative);
    let bound = 8.0 * f64::EPSILON * size * inverse_norm(operators.get(axis, op));
    Ok(Check::at_most(format!("{}-exact", scheme.name), deviation, bound)
        .shows(format!(
            "{} at the ends of {} is exact for degree {degree}",
            closure.name, scheme.name
        ))
        .source(format!("{}; round-off ε ‖B‖ ‖A⁻¹‖ (Higham 2002, §7)", closure.source)))
}

/// ‖A⁻¹‖, the largest absolute row sum.
fn inverse_norm(operator: &LineOperator) -> f64 {
    let n = operator.len();
    let mut sums = vec![0.0; n];
    for column in 0..n {
        let mut unit = vec![0.0; n];
        unit[column] = 1.0;
        crate::lines::solve(operator.factors(), &mut unit);
        sums.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += value.abs());
    }
    largest(&sums)
}

/// The largest error of exp x decreases at the order of the worst row. A row that uses points up to w h away leaves hᵖ f⁽ᵖ⁺¹⁾ at
/// some point between them, and exp differs by a factor of exp(w h) there.
fn order_on_exp(setup: &Setup, scheme: &Scheme, closure: &Closure, axis: Axis) -> Result<Check> {
    let formal = f64::from(lowest_order(scheme, closure));
    let coarse = if lowest_order(scheme, closure) < 5 { 48 } else { 32 };
    let Convergence { h, order, .. } = Convergence::between([coarse, 2 * coarse], |intervals| {
        let (n, h) = (intervals + 1, 1.0 / float(intervals));
        let (op, operators) = operator(scheme, closure, axis, n, h);
        let (place, x) = setup.one_line(axis, n)?;
        let exact: Vec<f64> = x.iter().map(|x| (h * x).exp()).collect();
        Ok((h, distance(&place.apply(&operators, axis, op, &exact)?, &exact)))
    })?;
    let reach = closure.rows.iter().map(|row| row.rhs.len()).max().unwrap_or(0) - 1;
    Ok(Check::at_most(
        format!("{}-order", scheme.name),
        (order - formal).abs(),
        float(reach) * h / std::f64::consts::LN_2,
    )
    .shows(format!(
        "order of {} at the ends of {} is {formal}: found {order:.3}",
        closure.name, scheme.name
    ))
    .source(format!("{}; remainder of Taylor's series over the row", closure.source)))
}
