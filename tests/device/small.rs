//! The kernels on grids so small that Oclgrind can interpret them (`oclgrind.rs` runs these tests). On a real device, the other tests of
//! this folder cover the same and more.

use std::sync::Arc;

use kolmo::Real;
use kolmo::backend::Backend;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::{
    Buffer, DeviceOperator, LineSolver, Permutation, Scratch, why_unsupported,
};
use kolmo::config::{Pencils, Precision};
use kolmo::engine::{Formula, LineOperators, Number, Op, PointFormula};
use kolmo::grid::Axis;
use kolmo::scheme::family;
use kolmo::time::Simulation;

use super::{device, gpu};
use crate::common::{config, noise};
use crate::operators::{apply, field, grid};

/// Compares derivatives along one axis by every suitable solver with the host.
fn check<T: Real>(name: &str, op: Op, axis: Axis, n: usize, periodic: bool, bound: f64) {
    let device = device();
    let grid = grid(axis, n, [3, 2], periodic);
    let operators = LineOperators::new(family(name).unwrap(), None, &grid, T::PRECISION);
    let mut random = noise(1);
    let values: Vec<T> = (0..grid.len()).map(|_| T::of(random())).collect();
    let mut on_host = field::<T>(&grid, axis, |_, _| 0.0);
    on_host.copy_from_slice(&values);
    let cpu = Cpu::new(Some(1)).unwrap();
    let expected = apply(&cpu, &operators, &grid, axis, op, &on_host);
    let largest = expected.iter().map(|x| x.f64().abs()).fold(0.0, f64::max);
    let operator = operators.get(axis, op);
    let able = |solver: &LineSolver| {
        why_unsupported(*solver, operator, (axis, Pencils::Strided), device.info()).is_none()
    };
    let solvers: Vec<LineSolver> = LineSolver::ALL.into_iter().filter(able).collect();
    assert!(solvers.len() > 1, "{name}: {solvers:?}");
    let scratch = Scratch::new(&device, T::PRECISION);
    // If a buffer replaces a smaller one that was released, Oclgrind 21.10 treats it as never written beyond the end of the smaller one.
    // So nothing is released before the end.
    let mut retained = Vec::new();
    for solver in solvers {
        for pencils in [Pencils::Strided, Pencils::Permuted] {
            // cuSPARSE solves lines along y and z only as permuted pencils.
            if solver.name() == "cusparse" && axis != Axis::X && pencils == Pencils::Strided {
                continue;
            }
            let method = (solver, pencils);
            let device_operator =
                DeviceOperator::new(&scratch, operator, grid.points, axis, method);
            let from = Buffer::from_host(&device, &values).unwrap();
            let out = Buffer::from_host(&device, &vec![T::of(f64::NAN); values.len()]).unwrap();
            let device_operator = device_operator.unwrap();
            device_operator.apply(&from, &out);
            for (found, expected) in out.download::<T>().unwrap().iter().zip(expected.iter()) {
                let deviation = (found.f64() - expected.f64()).abs() / largest;
                assert!(
                    deviation <= bound,
                    "{} {pencils:?}, {name}, {n}: {deviation:.1e}",
                    solver.name()
                );
            }
            retained.push((device_operator, from, out));
        }
    }
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_lines_of_a_tridiagonal_scheme() {
    check::<f64>("compact6", Op::D1, Axis::X, 9, true, 1e-13);
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_lines_in_single_precision() {
    check::<f32>("compact6", Op::D2, Axis::Z, 8, true, 3e-6);
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_lines_with_boundary_closures() {
    check::<f64>("compact6", Op::D1, Axis::Y, 18, false, 1e-13);
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_lines_of_a_pentadiagonal_scheme() {
    check::<f64>("compact10-penta", Op::D1, Axis::X, 13, true, 1e-13);
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_permutations() {
    let (device, points) = (device(), [5, 3, 4]);
    let values: Vec<f64> = (0..60_u8).map(f64::from).collect();
    let mut retained = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let permutation = Permutation::new(&device, Precision::F64, points, order).unwrap();
        let from = Buffer::from_host(&device, &values).unwrap();
        let to = Buffer::from_host(&device, &[f64::NAN; 60]).unwrap();
        permutation.apply(&from, &to);
        // Axis a of the result is axis order[a] of the source.
        let moved = order.map(|axis| points[axis]);
        let found = to.download::<f64>().unwrap();
        for (at, found) in found.iter().enumerate() {
            let index = [at % moved[0], at / moved[0] % moved[1], at / (moved[0] * moved[1])];
            let mut source = [0; 3];
            (0..3).for_each(|axis| source[order[axis]] = index[axis]);
            assert_eq!(*found, values[source[0] + 5 * (source[1] + 3 * source[2])], "{order:?}");
        }
        retained.push((permutation, from, to));
    }
}

/// Adds u v to the first result, and stores u as the second.
struct Product;

impl Formula<2, 2> for Product {
    fn at<N: Number>(&self, [u, v]: [N; 2], [before, _]: [N; 2], _: [N; 0]) -> [N; 2] {
        [before + u * v, u]
    }
}

#[test]
#[ignore = "run under Oclgrind"]
fn small_formulas_and_reductions() {
    let len = 7;
    let gpu = gpu(Precision::F64, len);
    let u = gpu.field(&vec![2.0; len].into()).unwrap();
    let mut w = [gpu.field(&vec![1.0; len].into()).unwrap(), gpu.zeros(len).unwrap()];
    let product = gpu.prepare(PointFormula::map(Product)).unwrap();
    let [a, b] = &mut w;
    gpu.map(&product, &[&u, &u], &mut [a, b], &[]);
    assert_eq!(gpu.values(&w[0]).unwrap(), vec![5.0; 7].into());
    let sum = gpu.prepare(PointFormula::sum(Value)).unwrap();
    assert_eq!(gpu.reduce(&sum, &[&w[0]], &[]).unwrap().wait().unwrap(), [35.0]);
    let max = gpu.prepare(PointFormula::max(Value)).unwrap();
    assert_eq!(gpu.reduce(&max, &[&w[1]], &[]).unwrap().wait().unwrap(), [2.0]);
}

/// u.
struct Value;

impl Formula<1, 1> for Value {
    fn at<N: Number>(&self, read: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        read
    }
}

/// Runs all kernels of a right-hand side with products at points and at midpoints, of a filter and of a step.
#[test]
#[ignore = "run under Oclgrind"]
fn small_step_with_filter_and_midpoint_products() {
    let set = [
        "scheme.viscous=midpoint",
        "gas.viscosity={ law = 'sutherland' }",
        "scheme.filter={ order = 4 }",
        "time.integrator=ssprk3",
    ];
    let config =
        config("isentropic-vortex", [8, 9, 1], &[&set[..], &["case.reynolds=100"]].concat());
    let gpu = gpu(Precision::F64, 72);
    let mut simulation = Simulation::on(Arc::new(gpu), &config).unwrap();
    simulation.step(None).unwrap();
    assert!(simulation.row().unwrap().iter().all(|x| x.is_finite()));
}
