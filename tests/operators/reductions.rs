//! The line solvers of the host against elimination, for every formula that they take.

use kolmo::Error;
use kolmo::backend::cpu::obstacle;
use kolmo::backend::device::LineSolver;
use kolmo::backend::{Backend, ComputeConfig};

use super::*;

/// The result of `op` on noise by `solver`, or the sentence that refuses it.
fn by<T: Real>(
    solver: LineSolver,
    operators: &LineOperators,
    grid: &Grid,
    (axis, op): (Axis, Op),
) -> Result<Vec<f64>, String> {
    let compute =
        ComputeConfig { line_solver: Some(solver), threads: Some(2), ..ComputeConfig::default() };
    let cpu = Cpu::<T>::configured(&compute, None).unwrap();
    let backend: &dyn Backend = &cpu;
    let s = SweepBuilder::new();
    // A product, and a sum beside it: the way through registers.
    s.store(0, s.apply(op, s.read(0) * s.read(1)));
    s.add(1, s.apply(op, s.read(0)));
    let program = match backend.program(&s.build(), axis, grid.points, operators) {
        Ok(program) => program,
        Err(Error::Config(lines)) => return Err(lines.join("\n")),
        Err(other) => panic!("{other}"),
    };
    let [f, g] =
        [3, 5].map(|seed| backend.field(&crate::lines::noise(grid.len(), seed).into()).unwrap());
    let poison = || backend.field(&vec![f64::NAN; grid.len()].into()).unwrap();
    let (mut product, mut sum) = (poison(), poison());
    backend.run(&program, &[&f, &g], &mut [&mut product, &mut sum], Weights::SET);
    let values = |field| -> Vec<f64> { backend.values(field).unwrap().into() };
    Ok([values(&product), values(&sum)].concat())
}

fn check<T: Real>(sizes: &[usize]) {
    let mut taken = vec![0; LineSolver::ALL.len()];
    for family in families() {
        let filter = compact_filter(8, 0.45);
        for (&n, axis) in sizes.iter().flat_map(|n| Axis::ALL.map(|axis| (n, axis))) {
            for periodic in [true, false] {
                let grid = grid(axis, n, [9, 2], periodic);
                let operators = LineOperators::new(family, Some(&filter), &grid, T::PRECISION);
                for op in OPS {
                    let Some(operator) = operators.find(axis, op) else { continue };
                    let expected =
                        by::<T>(LineSolver::THOMAS, &operators, &grid, (axis, op)).unwrap();
                    let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                    for (solver, taken) in LineSolver::ALL.into_iter().zip(&mut taken) {
                        let what =
                            format!("{solver:?}, {} {op:?} {axis:?} {n} {periodic}", family.name);
                        match (
                            by::<T>(solver, &operators, &grid, (axis, op)),
                            obstacle(solver, operator),
                        ) {
                            (Err(said), Some(why)) => {
                                assert_eq!(said, format!("error: {why}"), "{what}")
                            }
                            (Ok(found), None) => {
                                *taken += 1;
                                let apart = crate::common::max_difference(&found, &expected);
                                assert!(
                                    apart < 2e3 * T::EPSILON * largest,
                                    "{what}: {apart:.1e} of {largest:.1e}"
                                );
                            }
                            (found, why) => {
                                panic!("{what}: done: {}, refused: {why:?}", found.is_ok())
                            }
                        }
                    }
                }
            }
        }
    }
    let by_name: Vec<_> = LineSolver::ALL.map(LineSolver::name).into_iter().zip(taken).collect();
    let never = by_name.iter().filter(|(_, count)| *count == 0).map(|(name, _)| *name);
    assert_eq!(never.collect::<Vec<_>>(), ["neato-global", "chunked", "cusparse"]);
}

/// Catches a reduction that lacks the rows at the ends of closed lines, a product of two fields, or the last lines of a tile.
#[test]
fn every_line_solver_of_the_host_gives_the_result_of_elimination_or_is_refused() {
    check::<f64>(&[3, 4, 5, 7, 17, 19, 32, 37]);
}

/// Catches a room that is cut for eight lines side by side, where f32 has sixteen.
#[test]
fn the_same_in_single_precision() {
    check::<f32>(&[7, 19, 32]);
}
