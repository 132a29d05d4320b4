//! Orders of convergence on periodic lines, slope and size, from the leading errors of the formulas.

use std::f64::consts::TAU;

use super::*;

/// Amplitude of the error of `op` on sin x over n points of [0, 2π): a wave of the same wavenumber, so √2 times its root
/// mean square.
fn error(cpu: &Cpu<f64>, family: &SchemeFamily, filter: &Scheme, op: Op, n: usize) -> f64 {
    let grid = Grid::periodic([1, n, 1], &Domain::cube(TAU));
    let h = TAU / n as f64;
    let operators = LineOperators::new(family, Some(filter), &grid, kolmo::Precision::F64);
    let (scheme, _, from, to) = formula(op, family, filter);
    let x = |point: usize, shift: f64| h * (point as f64 + shift);
    let operand = field(&grid, Axis::Y, |point, _| x(point, from).sin());
    let found = apply(cpu, &operators, &grid, Axis::Y, op, &operand);
    let exact = |point| match scheme.kind {
        Kind::FirstDerivative | Kind::MidpointDerivative => x(point, to).cos(),
        Kind::SecondDerivative => -x(point, to).sin(),
        Kind::MidpointInterpolation | Kind::Filter => x(point, to).sin(),
    };
    let squares: f64 = (0..n).map(|m| (found[m] - exact(m)).powi(2)).sum();
    (2.0 * squares / n as f64).sqrt()
}

#[test]
fn every_operator_converges_at_its_order_with_its_leading_error() {
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for family in families() {
        for (op, filter) in OPS.iter().flat_map(|&op| {
            let orders = if op == Op::Filter { &[2, 4, 6, 8, 10][..] } else { &[2] };
            orders.iter().map(move |&order| (op, compact_filter(order, 0.4)))
        }) {
            let (scheme, ..) = formula(op, family, &filter);
            let Some(lead) = scheme.lead else { continue };
            let order = f64::from(scheme.order);
            // Fine enough for the leading term, coarse enough for an error far above round-off.
            let coarse = match scheme.order {
                2 => 128,
                4 => 48,
                6 => 32,
                8 => 20,
                _ => 14,
            };
            let errors = [1, 2].map(|refined| error(&cpu, family, &filter, op, coarse * refined));
            let h = TAU / (2 * coarse) as f64;
            let slope = (errors[0] / errors[1]).log2();
            let size = errors[1] / (lead.coefficient.abs() * h.powf(order));
            // The next term of the symbol's series is at most 0.3 (kh)² times the leading one.
            assert!((slope - order).abs() < 1.3 * h * h, "{}: slope {slope}", scheme.name);
            assert!((size - 1.0).abs() < 0.3 * h * h, "{}: size {size}", scheme.name);
        }
    }
}
