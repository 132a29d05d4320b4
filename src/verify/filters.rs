//! Compact filters: order, error constant, transfer function, and behaviour at the ends of lines.

use super::check::{Check, distance, float, largest, worse};
use super::operators::{
    ROUND_OFF_UNITS, Subject, filter, order_and_constant, published_decimals, symbol_error,
};
use super::setup::Setup;
use crate::engine::{LineOperator, LineOperators, Op, closed_min_points};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Precision;
use crate::scheme::{CF90, LELE_CUTOFF, Scheme, filter_closure};

/// α of the filters in the checks.
const ALPHA: f64 = 0.4;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let few = setup.is_quick_on_device();
    let orders: &[u32] = if few { &[8] } else { &[2, 4, 6, 8, 10] };
    let mut checks = Vec::new();
    for (at, &order) in orders.iter().enumerate() {
        let (axis, subject) = (Axis::ALL[at % 3], filter(order, ALPHA));
        checks.extend(order_and_constant(setup, &subject, axis)?);
        checks.push(transfer(setup, &subject.scheme, axis)?);
        checks.extend(ends(setup, order, axis)?);
    }
    if !few {
        for scheme in [CF90, LELE_CUTOFF] {
            checks.push(transfer(setup, &scheme, Axis::Y)?);
            checks.push(published_decimals(setup, &Subject { scheme, ..filter(2, 0.4) }, Axis::Z)?);
        }
    }
    Ok(checks)
}

/// The filter multiplies waves by T(kh).
fn transfer(setup: &Setup, scheme: &Scheme, axis: Axis) -> Result<Check> {
    let subject = Subject { scheme: *scheme, ..filter(2, 0.4) };
    Ok(Check::at_most(
        format!("{}-transfer", scheme.name),
        symbol_error(setup, &subject, axis, 37, Precision::F64)?,
        ROUND_OFF_UNITS,
    )
    .shows(format!("transfer function of {}, in units of round-off", scheme.name))
    .source(format!("T(kh), {}; round-off of a banded solve (Higham 2002, §9)", scheme.source)))
}

/// On bounded lines a filter of order p preserves polynomials of degree p − 1. Of the shortest wave (−1)ⁱ only the effect of the
/// unfiltered end points remains: α f̂ᵢ₋₁ + f̂ᵢ + α f̂ᵢ₊₁ = 0 between them.
fn ends(setup: &Setup, order: u32, axis: Axis) -> Result<[Check; 2]> {
    let (scheme, closure) = (filter(order, ALPHA).scheme, filter_closure(order, ALPHA));
    let n = closed_min_points(&scheme, &closure).max(32);
    let operator = LineOperator::closed(&scheme, &closure, n, 1.0);
    let operators = LineOperators::along(axis, vec![(Op::Filter, operator)]);
    let (place, x) = setup.one_line(axis, n)?;
    let mut deviation = 0.0;
    for degree in 0..order.cast_signed() {
        let f: Vec<f64> = x.iter().map(|x| x.powi(degree)).collect();
        let computed = place.apply(&operators, axis, Op::Filter, &f)?;
        deviation = worse(deviation, distance(&computed, &f) / largest(&f));
    }
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let shortest: Vec<f64> = (0..n).map(sign).collect();
    let computed = place.apply(&operators, axis, Op::Filter, &shortest)?;
    // The root of α r² + r + α = 0 inside the unit circle.
    let r = ((1.0 - 4.0 * ALPHA * ALPHA).sqrt() - 1.0) / (2.0 * ALPHA);
    let root = |i: usize| (0..i).map(|_| r).product::<f64>();
    let (across, last) = (root(n - 1), sign(n - 1));
    let [of_first, of_last] =
        [1.0 - last * across, last - across].map(|end| end / (1.0 - across * across));
    let spread: Vec<f64> = (0..n).map(|i| of_first * root(i) + of_last * root(n - 1 - i)).collect();
    // The absolute weights of a row add up to at most 2 + (1 − 2α), and A has the condition number (1 + 2α)/(1 − 2α) = 9.
    let bound = f64::EPSILON * 9.0 * (3.0 + float(order as usize));
    let source = "Gaitonde and Visbal 2000; round-off, condition (1 + 2α)/(1 − 2α)";
    let name = scheme.name;
    Ok([
        Check::at_most(format!("{name}-ends"), deviation, bound)
            .shows(format!("{name} between ends keeps polynomials of degree {}", order - 1))
            .source(source),
        Check::at_most(format!("{name}-ends-shortest"), distance(&computed, &spread), bound)
            .shows(format!(
                "{name} between ends removes the shortest wave except for the effect of the ends"
            ))
            .source(source),
    ])
}
