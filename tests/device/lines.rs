//! Every line solver on a device against the operators of the host.

use std::sync::Arc;

use kolmo::Real;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::*;
use kolmo::config::Pencils;
use kolmo::engine::{LineOperators, Op};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::*;

use super::device;
use crate::common::noise;
use crate::operators::{apply, field, grid};

const SIZES: [usize; 11] = [8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 257];

/// One operator along one axis.
struct Problem {
    family: &'static str,
    filter: Option<Scheme>,
    op: Op,
    axis: Axis,
    n: usize,
    across: [usize; 2],
    periodic: bool,
}

impl Problem {
    /// The first derivative of `compact6`.
    fn first(axis: Axis, n: usize, across: [usize; 2], periodic: bool) -> Self {
        Self { family: "compact6", filter: None, op: Op::D1, axis, n, across, periodic }
    }

    fn grid(&self) -> Grid {
        grid(self.axis, self.n, self.across, self.periodic)
    }

    fn operators<T: Real>(&self) -> LineOperators<T> {
        let family = family(self.family).unwrap();
        LineOperators::new(family, self.filter.as_ref(), &self.grid())
    }

    fn label(&self, solver: LineSolver, pencils: Pencils) -> String {
        let Self { family, op, axis, n, across, periodic, .. } = self;
        let solver = solver.name();
        format!(
            "{solver} {pencils:?}: {family} {op:?} along {axis:?}, {n} points, {across:?} lines, periodic {periodic}"
        )
    }
}

/// max |device − host| / max |host| of `solver` on noise, NaN where a value is not written. The operand is
/// `body` of as many fields, and `formed` says the same on the host.
fn error_of<T: Real>(
    device: &Arc<Device>,
    problem: &Problem,
    solver: LineSolver,
    pencils: Pencils,
    operand: &Operand,
    formed: impl Fn(&[f64]) -> f64,
) -> f64 {
    let grid = problem.grid();
    let mut random = noise(problem.n as u64);
    let fields: Vec<Vec<T>> =
        (0..operand.fields).map(|_| (0..grid.len()).map(|_| T::of(random())).collect()).collect();
    let value = |at: usize| formed(&fields.iter().map(|f| f[at].f64()).collect::<Vec<_>>());
    let mut host = field::<T>(&grid, problem.axis, |_, _| 0.0);
    (0..grid.len()).for_each(|at| host[at] = T::of(value(at)));
    let operators = problem.operators::<T>();
    let cpu = Cpu::new(Some(1)).unwrap();
    let expected = apply(&cpu, &operators, &grid, problem.axis, problem.op, &host);

    let scratch = Scratch::new(device);
    let operator = operators.get(problem.axis, problem.op);
    let operator = DeviceOperator::new(
        device,
        operator,
        grid.points,
        problem.axis,
        solver,
        pencils,
        operand,
        &scratch,
    );
    let operator = operator.unwrap_or_else(|e| panic!("{}: {e}", problem.label(solver, pencils)));
    let fields: Vec<_> = fields.iter().map(|f| Buffer::from_host(device, f).unwrap()).collect();
    let out = Buffer::from_host(device, &vec![T::of(f64::NAN); grid.len()]).unwrap();
    operator.apply(&fields.iter().collect::<Vec<_>>(), &out);
    let found = out.download().unwrap();

    let largest = expected.iter().map(|x| x.f64().abs()).fold(0.0, f64::max);
    let pairs = found.iter().zip(expected.iter());
    let worst = pairs
        .map(|(a, b)| (a.f64() - b.f64()).abs())
        .fold(0.0, |worst: f64, e| if e.is_nan() { e } else { worst.max(e) });
    worst / largest
}

/// Panics unless `solver` and the host agree to 1e-13 of max |f'| in f64, 3e-6 in f32.
fn assert_agrees<T: Real>(device: &Arc<Device>, p: &Problem, solver: LineSolver, pencils: Pencils) {
    let error = error_of::<T>(device, p, solver, pencils, &Operand::field(), |f| f[0]);
    let limit = if T::EPSILON < 1e-10 { 1e-13 } else { 3e-6 };
    assert!(error <= limit, "{}: {error:.2e}", p.label(solver, pencils));
}

/// compact6 at every size, the axis and the kind of ends changing from size to size.
fn all_sizes(solver: LineSolver) {
    let device = device();
    for (at, n) in SIZES.into_iter().enumerate() {
        for periodic in [true, false] {
            let axis = Axis::ALL[(at + usize::from(periodic)) % 3];
            let across = [[5, 3], [9, 2], [1, 7]][(at + n) % 3];
            assert_agrees::<f64>(
                &device,
                &Problem::first(axis, n, across, periodic),
                solver,
                Pencils::Strided,
            );
        }
    }
}

#[test]
fn thomas_solves_lines_of_every_size() {
    all_sizes(LineSolver::Thomas);
}

#[test]
fn chunked_solves_lines_of_every_size() {
    all_sizes(LineSolver::Chunked);
}

/// Solvers of pentadiagonal systems.
const BANDED: [LineSolver; 2] = [LineSolver::Thomas, LineSolver::Chunked];
/// Solvers of tridiagonal systems.
const ALL: [LineSolver; 2] = [LineSolver::Thomas, LineSolver::Chunked];

#[test]
fn every_operator_of_tridiagonal_families_agrees_with_the_host() {
    let device = device();
    let filter = |alpha| Some(compact_filter(10, alpha));
    let cases = [
        ("compact6", None, Op::D2),
        ("compact6", None, Op::DerivativeToMidpoints),
        ("compact6", None, Op::DerivativeToPoints),
        ("compact6", None, Op::InterpolateToMidpoints),
        ("compact8", None, Op::D1),
        ("compact6", filter(0.45), Op::Filter),
        ("compact6", filter(0.495), Op::Filter),
        ("explicit8", None, Op::D1),
    ];
    for (at, solver) in ALL.into_iter().enumerate() {
        for (c, (family, filter, op)) in cases.into_iter().enumerate() {
            let periodic = !matches!(op, Op::D2 | Op::D1 | Op::Filter) || (at + c) % 2 == 0;
            let axis = Axis::ALL[(at + c) % 3];
            let (n, across) = if (at + c / 3) % 2 == 0 { (61, [9, 2]) } else { (34, [3, 5]) };
            let p = Problem { family, filter, op, axis, n, across, periodic };
            assert_agrees::<f64>(&device, &p, solver, Pencils::Strided);
        }
    }
}

#[test]
fn pentadiagonal_operators_agree_with_the_host() {
    let device = device();
    let cases = [
        ("compact10-penta", None, Op::D1),
        ("spectral-like", None, Op::D1),
        ("compact10-penta", None, Op::D2),
        ("compact10-penta", None, Op::DerivativeToMidpoints),
        ("compact6", Some(CF90), Op::Filter),
        ("compact6", Some(LELE_CUTOFF), Op::Filter),
    ];
    for (at, solver) in BANDED.into_iter().enumerate() {
        for (c, (family, filter, op)) in cases.into_iter().enumerate() {
            for (n, across) in [(61, [9, 2]), (32, [3, 5])] {
                let closes = matches!(op, Op::D1 | Op::D2);
                let periodic = !closes || (at + c + n) % 2 == 0;
                let axis = Axis::ALL[(at + c + n) % 3];
                let p = Problem { family, filter, op, axis, n, across, periodic };
                assert_agrees::<f64>(&device, &p, solver, Pencils::Strided);
            }
        }
    }
}

#[test]
fn single_precision_agrees_with_the_host() {
    let device = device();
    for (at, solver) in ALL.into_iter().enumerate() {
        for (n, periodic) in [(33, true), (64, false)] {
            let p = Problem::first(Axis::ALL[at % 3], n, [5, 3], periodic);
            assert_agrees::<f32>(&device, &p, solver, Pencils::Strided);
        }
    }
}

#[test]
fn lines_of_4096_points_agree_with_the_host() {
    let device = device();
    for (at, solver) in ALL.into_iter().enumerate() {
        let p = Problem::first(Axis::ALL[(at + 1) % 3], 4096, [9, 1], at % 2 == 0);
        assert_agrees::<f64>(&device, &p, solver, Pencils::Strided);
    }
}

#[test]
fn an_operand_of_several_fields_is_formed_while_lines_are_loaded() {
    let device = device();
    let product = Operand { fields: 3, body: "return f0[at] * f1[at] + (REAL)2 * f2[at];".into() };
    for (at, solver) in ALL.into_iter().enumerate() {
        let p = Problem::first(Axis::ALL[at % 3], 37, [5, 3], at % 2 == 0);
        let formed = |f: &[f64]| f[0] * f[1] + 2.0 * f[2];
        let error = error_of::<f64>(&device, &p, solver, Pencils::Strided, &product, formed);
        assert!(error <= 1e-13, "{}: {error:.2e}", p.label(solver, Pencils::Strided));
    }
}
