//! Derivatives between two ends: exact for polynomials of the degree that the rows have as their order, and of that order.

use super::check::{Check, distance, float, largest, order, worse};
use super::setup::Setup;
use crate::engine::{LineOperator, LineOperators, Op, closed_min_points};
use crate::error::Result;
use crate::grid::Axis;
use crate::scheme::{Closure, Kind, Scheme, closures, default_closure, families};

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for (at, closure) in closures().iter().enumerate() {
        if setup.quick
            && setup.is_device()
            && !["c3-pade4", "second-c3-pade4"].contains(&closure.name)
        {
            continue;
        }
        let Some(scheme) = inner(closure) else { continue };
        let axis = Axis::ALL[at % 3];
        checks.push(exactness(setup, &scheme, closure, axis)?);
        checks.push(slope(setup, &scheme, closure, axis)?);
    }
    Ok(checks)
}

/// A formula that the closure closes: that which it is the default of, else the sixth-order or fourth-order compact one.
fn inner(closure: &Closure) -> Option<Scheme> {
    let first = closure.kind == Kind::FirstDerivative;
    let of =
        |family: &crate::scheme::SchemeFamily| if first { family.first } else { family.second };
    let compact = |scheme: &Scheme| scheme.half_band() == 1;
    let fits = |scheme: &Scheme| scheme.half_width().max(scheme.half_band()) == closure.rows.len();
    let all = || families().iter().map(of);
    let default = all()
        .find(|scheme| default_closure(scheme).is_some_and(|default| default.name == closure.name));
    default.or_else(|| all().find(|scheme| compact(scheme) && fits(scheme)))
}

/// Order of the operator: that of its worst row.
fn lowest(scheme: &Scheme, closure: &Closure) -> u32 {
    closure.rows.iter().map(|row| row.order).chain([scheme.order]).min().unwrap_or(0)
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

/// A first derivative of order p is exact for polynomials of degree p, a second one for those of degree p + 1. The order
/// conditions determine all weights of a row but those of `cga5`, so a wrong weight shows here.
fn exactness(setup: &Setup, scheme: &Scheme, closure: &Closure, axis: Axis) -> Result<Check> {
    let n = closed_min_points(scheme, closure).max(24);
    let h = 1.0 / float(n - 1);
    let (op, operators) = operator(scheme, closure, axis, n, h);
    let derivative = if op == Op::D1 { 1 } else { 2 };
    let degree = lowest(scheme, closure).cast_signed() + derivative - 1;
    let (place, x) = setup.one_line(axis, n)?;
    let mut off = 0.0;
    for m in 0..=degree {
        let f: Vec<f64> = x.iter().map(|x| (h * x).powi(m)).collect();
        let exact = |x: &f64| match (derivative, m) {
            (1, 0) | (2, 0 | 1) => 0.0,
            (1, m) => f64::from(m) * (h * x).powi(m - 1),
            (_, m) => f64::from(m * (m - 1)) * (h * x).powi(m - 2),
        };
        let exact: Vec<f64> = x.iter().map(exact).collect();
        off = worse(off, distance(&place.apply(&operators, axis, op, &f)?, &exact));
    }
    // Round-off of the right-hand sides, which the solve passes on with the norm of the inverse.
    let rows = closure.rows.iter().map(|row| row.rhs.iter().map(|weight| weight.abs()).sum());
    let size = rows.fold(4.0, f64::max) / h.powi(derivative);
    let bound = 8.0 * f64::EPSILON * size * inverse_norm(operators.get(axis, op));
    Ok(Check::at_most(
        format!("{}-exact", closure.name),
        format!("{} at the ends of {} is exact for degree {degree}", closure.name, scheme.name),
        off,
        bound,
        format!("{}; round-off ε ‖B‖ ‖A⁻¹‖ (Higham 2002, §7)", closure.source),
    ))
}

/// ‖A⁻¹‖, the largest sum of absolute values of a row.
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

/// The largest error of exp x falls at the order of the worst row. A row with points up to w h away leaves hᵖ f⁽ᵖ⁺¹⁾ at some
/// point between them, and exp differs by a factor of exp(w h) there.
fn slope(setup: &Setup, scheme: &Scheme, closure: &Closure, axis: Axis) -> Result<Check> {
    let formal = f64::from(lowest(scheme, closure));
    let error = |intervals: usize| -> Result<(f64, f64)> {
        let (n, h) = (intervals + 1, 1.0 / float(intervals));
        let (op, operators) = operator(scheme, closure, axis, n, h);
        let (place, x) = setup.one_line(axis, n)?;
        let exact: Vec<f64> = x.iter().map(|x| (h * x).exp()).collect();
        Ok((h, distance(&place.apply(&operators, axis, op, &exact)?, &exact)))
    };
    let coarse = if lowest(scheme, closure) < 5 { 48 } else { 32 };
    let (coarse, fine) = (error(coarse)?, error(2 * coarse)?);
    let slope = order(coarse, fine);
    let reach = closure.rows.iter().map(|row| row.rhs.len()).max().unwrap_or(0) - 1;
    Ok(Check::at_most(
        format!("{}-order", closure.name),
        format!(
            "order of {} at the ends of {} is {formal}: found {slope:.3}",
            closure.name, scheme.name
        ),
        (slope - formal).abs(),
        float(reach) * coarse.0 / std::f64::consts::LN_2,
        format!("{}; remainder of Taylor's series over the row", closure.source),
    ))
}
