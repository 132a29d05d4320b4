//! The operator rows used in the tests of this module are those that a backend applies.

use kolmo::backend::cpu::Cpu;
use kolmo::engine::{LineOperators, Op};
use kolmo::grid::Axis;

use super::*;
use crate::operators::{apply, field, grid};

#[test]
fn operator_rows_reproduce_the_results_of_a_backend() {
    let staggered = [Op::DerivativeToMidpoints, Op::DerivativeToPoints, Op::InterpolateToMidpoints];
    let filter = compact_filter(10, 0.45);
    let cpu = Cpu::<f64>::new(Some(1)).unwrap();
    for periodic in [true, false] {
        for family in families() {
            let grid = grid(Axis::Y, 37, [3, 1], periodic);
            let operators = LineOperators::new(family, Some(&filter), &grid, kolmo::Precision::F64);
            let values: Vec<f64> = operand(37);
            let read = field(&grid, Axis::Y, |point, _| values[point]);
            let mut ops = vec![Op::D1, Op::D2, Op::Filter];
            ops.extend(staggered.iter().filter(|_| periodic));
            for op in ops {
                let exact = result(operators.get(Axis::Y, op), &values);
                let found = apply(&cpu, &operators, &grid, Axis::Y, op, &read);
                let largest = exact.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
                for (point, x) in exact.iter().enumerate() {
                    let difference = (found[3 * point] - x).abs();
                    assert!(
                        difference <= 1e-14 * largest,
                        "{} {op:?} {periodic}: {difference:e}",
                        family.name
                    );
                }
            }
        }
    }
}
