//! The line solvers of the host compared with elimination, for every scheme that they support.

use kolmo::Error;
use kolmo::backend::cpu::why_unsupported;
use kolmo::backend::device::LineSolver;
use kolmo::backend::{Backend, ComputeConfig};

use super::*;

/// A host backend with the line solver `solver`.
fn host<T: Real>(solver: LineSolver) -> Cpu<T> {
    let (line_solver, threads) = (Some(solver), Some(2));
    let compute = ComputeConfig { line_solver, threads, ..ComputeConfig::default() };
    Cpu::configured(&compute, None).unwrap()
}

/// The results of `op` for a product of noise fields (stored) and for one noise field (added), or the error message.
fn results(
    backend: &dyn Backend,
    operators: &LineOperators,
    grid: &Grid,
    (axis, op): (Axis, Op),
) -> Result<Vec<f64>, String> {
    let s = SweepBuilder::new();
    s.store(0, s.apply(op, s.read(0) * s.read(1)));
    s.add(1, s.apply(op, s.read(0)));
    let program = match backend.program(&s.build(), (axis, grid.points, operators)) {
        Ok(program) => program,
        Err(Error::Config(lines)) => return Err(lines.join("\n")),
        Err(other) => panic!("{other}"),
    };
    let noise = |seed| backend.field(&crate::lines::noise(grid.len(), seed).into()).unwrap();
    let poison = || backend.field(&vec![f64::NAN; grid.len()].into()).unwrap();
    let (mut product, mut sum) = (poison(), poison());
    let mut write = [&mut product, &mut sum];
    backend.run(&program, &[&noise(3), &noise(5)], &mut write, Weights::SET);
    let values = |field| -> Vec<f64> { backend.values(field).unwrap().into() };
    Ok([values(&product), values(&sum)].concat())
}

/// Checks all schemes along lines of `sizes` points. Returns the number of operators that each solver accepted.
fn check<T: Real>(sizes: &[usize]) -> Vec<(&'static str, usize)> {
    let thomas = host::<T>(LineSolver::THOMAS);
    let hosts = LineSolver::ALL.map(|solver| (solver, host::<T>(solver)));
    let mut accepted = vec![0; hosts.len()];
    let filter = compact_filter(8, 0.45);
    for (family, &n) in families().iter().flat_map(|family| sizes.iter().map(move |n| (family, n)))
    {
        for (at, periodic) in [true, false].into_iter().enumerate() {
            let axis = Axis::ALL[(n + at) % 3];
            let grid = grid(axis, n, [9, 2], periodic);
            let operators = LineOperators::new(family, Some(&filter), &grid, T::PRECISION);
            for op in OPS {
                let Some(operator) = operators.find(axis, op) else { continue };
                let expected = results(&thomas, &operators, &grid, (axis, op)).unwrap();
                let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                for ((solver, host), accepted) in hosts.iter().zip(&mut accepted) {
                    let what =
                        format!("{solver:?}, {} {op:?} {axis:?} {n} {periodic}", family.name);
                    match (
                        results(host, &operators, &grid, (axis, op)),
                        why_unsupported(*solver, operator),
                    ) {
                        (Err(message), Some(why)) => {
                            assert_eq!(message, format!("error: {why}"), "{what}")
                        }
                        (Ok(found), None) => {
                            *accepted += 1;
                            let deviation = crate::common::max_difference(&found, &expected);
                            let tolerance = 2e3 * T::EPSILON * largest;
                            assert!(
                                deviation < tolerance,
                                "{what}: {deviation:.1e} of {largest:.1e}"
                            );
                        }
                        (found, why) => panic!(
                            "{what}: succeeded: {}, expected rejection: {why:?}",
                            found.is_ok()
                        ),
                    }
                }
            }
        }
    }
    LineSolver::ALL.map(LineSolver::name).into_iter().zip(accepted).collect()
}

/// Detects a reduction that omits the rows at the ends of closed lines, a product of two fields, or the last lines of a tile, and a
/// solver that is missing or wrongly accepted.
#[test]
fn every_host_line_solver_matches_elimination_or_is_rejected() {
    let accepted = check::<f64>(&[3, 4, 5, 7, 9, 17, 19, 21, 32, 37, 41]);
    let never: Vec<_> = accepted.iter().filter(|(_, count)| *count == 0).map(|one| one.0).collect();
    assert_eq!(never, ["neato-global", "chunked", "cusparse"]);
}

/// Detects a workspace sized for eight lines side by side, where f32 has sixteen.
#[test]
fn every_host_line_solver_matches_elimination_in_single_precision() {
    assert!(check::<f32>(&[7, 19, 33]).iter().any(|(_, count)| *count > 0));
}
