//! All line solvers on a device against the operators on the host.

use std::f64::consts::PI;
use std::sync::Arc;

use kolmo::Real;
use kolmo::backend::cpu::{Cpu, Field};
use kolmo::backend::device::*;
use kolmo::config::{Pencils, Precision};
use kolmo::engine::{LineOperators, Op};
use kolmo::grid::{Axis, Grid};
use kolmo::scheme::*;

use super::device;
use crate::common::noise;
use crate::operators::{apply, grid};

/// 25 points are four chunks of which one is longer. PoCL 3.1 compiled this case wrongly when the first point of a chunk was computed by
/// another expression.
const SIZES: [usize; 12] = [8, 9, 17, 25, 31, 32, 33, 64, 65, 127, 128, 257];

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

    fn operators<T: Real>(&self) -> LineOperators {
        let family = family(self.family).unwrap();
        LineOperators::new(family, self.filter.as_ref(), &self.grid(), T::PRECISION)
    }

    fn label(&self, solver: LineSolver, pencils: Pencils) -> String {
        let Self { family, op, axis, n, across, periodic, .. } = self;
        let solver = solver.name();
        format!(
            "{solver} {pencils:?}: {family} {op:?} along {axis:?}, {n} points, {across:?} lines, periodic {periodic}"
        )
    }
}

/// max |device − host| / max |host| of `solver` on noise, NaN where a value is not written.
fn error_of<T: Real>(
    device: &Arc<Device>,
    problem: &Problem,
    solver: LineSolver,
    pencils: Pencils,
) -> f64 {
    let grid = problem.grid();
    let mut random = noise(problem.n as u64);
    let mut host = Field::<T>::zeros(grid.len());
    host.iter_mut().for_each(|to| *to = T::of(random()));
    let operators = problem.operators::<T>();
    let cpu = Cpu::new(Some(1)).unwrap();
    let expected = apply(&cpu, &operators, &grid, problem.axis, problem.op, &host);

    let scratch = Scratch::new(device, T::PRECISION);
    let operator = operators.get(problem.axis, problem.op);
    let method = (solver, pencils);
    let operator = DeviceOperator::new(&scratch, operator, grid.points, problem.axis, method);
    let operator = operator.unwrap_or_else(|e| panic!("{}: {e}", problem.label(solver, pencils)));
    let from = Buffer::from_host(device, &host).unwrap();
    let out = Buffer::from_host(device, &vec![T::of(f64::NAN); grid.len()]).unwrap();
    operator.apply(&from, &out);
    let found = out.download::<T>().unwrap();

    let largest = expected.iter().map(|x| x.f64().abs()).fold(0.0, f64::max);
    let pairs = found.iter().zip(expected.iter());
    let worst = pairs
        .map(|(a, b)| (a.f64() - b.f64()).abs())
        .fold(0.0, |worst: f64, e| if e.is_nan() { e } else { worst.max(e) });
    worst / largest
}

/// The permitted deviation between solver and host relative to max |f'|: 1e-13 in f64, 3e-6 in f32, and ε ‖A‖ ‖A⁻¹‖ for a filter
/// whose matrix is nearly singular.
fn limit<T: Real>(problem: &Problem) -> f64 {
    let condition = problem.filter.map_or(0.0, |filter| {
        let norm = 1.0 + 2.0 * filter.alpha.abs() + 2.0 * filter.beta.abs();
        norm / (0..=64).map(|i| filter.left_symbol(PI * f64::from(i) / 64.0)).fold(1.0, f64::min)
    });
    let limit: f64 = if T::EPSILON < 1e-10 { 1e-13 } else { 3e-6 };
    limit.max(T::EPSILON * condition)
}

/// Panics unless `solver` and the host agree to [`limit`].
fn assert_agrees<T: Real>(device: &Arc<Device>, p: &Problem, solver: LineSolver, pencils: Pencils) {
    let error = error_of::<T>(device, p, solver, pencils);
    assert!(error <= limit::<T>(p), "{}: {error:.2e}", p.label(solver, pencils));
}

/// compact6 at every size. The axis and the kind of ends (periodic or not) vary with the size and the solver.
fn all_sizes(name: &str) {
    let device = device();
    let solver = solver(name);
    let turn = all().position(|other| other == solver).unwrap();
    for (at, n) in SIZES.into_iter().enumerate() {
        let periodic = n < 17 || (at + turn) % 2 == 0;
        let axis = Axis::ALL[(at + turn) % 3];
        let across = [[5, 3], [9, 2], [1, 7]][(at + n) % 3];
        let p = Problem::first(axis, n, across, periodic);
        assert_agrees::<f64>(&device, &p, solver, Pencils::Strided);
    }
}

#[test]
fn cr_solves_lines_of_every_size() {
    all_sizes("cr");
}

#[test]
fn cr_sorted_direct_solves_lines_of_every_size() {
    all_sizes("cr-sorted-direct");
}

#[test]
fn cr_sorted_stepwise_solves_lines_of_every_size() {
    all_sizes("cr-sorted-stepwise");
}

#[test]
fn pcr_solves_lines_of_every_size() {
    all_sizes("pcr");
}

#[test]
fn neato_global_solves_lines_of_every_size() {
    all_sizes("neato-global");
}

#[test]
fn neato_shared_solves_lines_of_every_size() {
    all_sizes("neato-shared");
}

#[test]
fn pcr_banded_solves_lines_of_every_size() {
    all_sizes("pcr-banded");
}

#[test]
fn thomas_solves_lines_of_every_size() {
    all_sizes("thomas");
}

#[test]
fn chunked_solves_lines_of_every_size() {
    all_sizes("chunked");
}

/// Solvers that also support pentadiagonal systems.
const BANDED: [&str; 3] = ["thomas", "pcr-banded", "chunked"];

fn solver(name: &str) -> LineSolver {
    LineSolver::from_name(name).unwrap()
}

/// All solvers that do not need CUDA.
fn all() -> impl Iterator<Item = LineSolver> {
    LineSolver::ALL.into_iter().filter(|solver| solver.name() != "cusparse")
}

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
    for (at, solver) in all().enumerate() {
        // Every second operator per solver; two consecutive solvers together cover all operators.
        for (c, (family, filter, op)) in cases.into_iter().enumerate().skip(at % 2).step_by(2) {
            let periodic = !matches!(op, Op::D2 | Op::D1 | Op::Filter) || (at / 2 + c / 2) % 2 == 0;
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
    for (at, solver) in BANDED.map(solver).into_iter().enumerate() {
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
    for (at, solver) in all().enumerate() {
        for (n, periodic) in [(33, true), (64, false)] {
            let p = Problem::first(Axis::ALL[at % 3], n, [5, 3], periodic);
            assert_agrees::<f32>(&device, &p, solver, Pencils::Strided);
        }
    }
}

#[test]
fn lines_of_4096_points_agree_with_the_host() {
    let device = device();
    for (at, solver) in all().enumerate() {
        let p = Problem::first(Axis::ALL[(at + 1) % 3], 4096, [9, 1], at % 2 == 0);
        assert_agrees::<f64>(&device, &p, solver, Pencils::Strided);
    }
}

#[test]
fn permuted_pencils_agree_with_the_host() {
    let device = device();
    for (at, solver) in all().enumerate() {
        for (axis, n) in [(Axis::Y, 33), (Axis::Z, 40)] {
            let p = Problem::first(axis, n, [5, 3], (at + n) % 2 == 0);
            assert_agrees::<f64>(&device, &p, solver, Pencils::Permuted);
        }
    }
}

#[test]
fn line_solver_limits_are_reported_with_suitable_alternatives() {
    let device = device();
    let penta = Problem { family: "compact10-penta", ..Problem::first(Axis::X, 16, [1, 1], true) };
    let operators = penta.operators::<f64>();
    let (operator, along_x) = (operators.get(Axis::X, Op::D1), (Axis::X, Pencils::Strided));
    for solver in LineSolver::ALL {
        assert_eq!(LineSolver::from_name(solver.name()), Some(solver));
        let message = why_unsupported(solver, operator, along_x, device.info());
        assert_eq!(message.is_none(), BANDED.contains(&solver.name()), "{message:?}");
    }
    let message =
        why_unsupported(solver("neato-shared"), operator, along_x, device.info()).unwrap();
    let expected = "the line solver `neato-shared` is for tridiagonal operators, and this one is pentadiagonal; \
        use `thomas`, `pcr-banded`, `chunked`";
    assert_eq!(message, expected);
    let opencl = DeviceInfo { api: Api::OpenCl, ..device.info().clone() };
    let message = why_unsupported(solver("cusparse"), operator, along_x, &opencl).unwrap();
    assert!(message.contains("needs CUDA"), "{message}");

    let long = Problem::first(Axis::X, 4096, [1, 1], true).operators::<f64>();
    let mut small = device.info().clone();
    small.on_chip = 48 << 10;
    let message =
        why_unsupported(solver("cr"), long.get(Axis::X, Op::D1), along_x, &small).unwrap();
    assert!(message.contains("131072 bytes") && message.contains("49152"), "{message}");
    let chunked = why_unsupported(LineSolver::CHUNKED, long.get(Axis::X, Op::D1), along_x, &small);
    assert_eq!(chunked, None);

    let scratch = Scratch::new(&device, Precision::F64);
    let method = (solver("cr"), Pencils::Strided);
    let rejected = DeviceOperator::new(&scratch, operator, [16, 1, 1], Axis::X, method);
    assert!(rejected.err().unwrap().to_string().contains("pentadiagonal"));
}

#[test]
fn line_solvers_are_created_exactly_if_supported() {
    let info = DeviceInfo { api: Api::Cuda, ..device().info().clone() };
    let (device, _) = Device::recording(info, |_| 0);
    let scratch = Scratch::new(&device, Precision::F64);
    for (family, axis) in
        [("compact6", Axis::X), ("compact6", Axis::Y), ("compact10-penta", Axis::Z)]
    {
        let p = Problem { family, ..Problem::first(axis, 32, [3, 5], true) };
        let (operators, points) = (p.operators::<f64>(), p.grid().points);
        let operator = operators.get(axis, Op::D1);
        for solver in LineSolver::ALL {
            for pencils in [Pencils::Strided, Pencils::Permuted] {
                let reported = why_unsupported(solver, operator, (axis, pencils), device.info());
                let created =
                    DeviceOperator::new(&scratch, operator, points, axis, (solver, pencils));
                let error_message = created.err().map(|error| error.to_string());
                let same = match (&reported, &error_message) {
                    (None, None) => true,
                    (Some(reported), Some(error_message)) => error_message.contains(reported),
                    _ => false,
                };
                assert!(same, "{}: {reported:?}, {error_message:?}", p.label(solver, pencils));
            }
        }
    }
    // The limit of cuSPARSE along y depends on the pencils, not on the operator alone.
    let operators = Problem::first(Axis::Y, 32, [3, 5], true).operators::<f64>();
    let operator = operators.get(Axis::Y, Op::D1);
    let of = |layout| why_unsupported(solver("cusparse"), operator, layout, device.info());
    assert!(of((Axis::Y, Pencils::Strided)).unwrap().contains("compute.pencils = \"permuted\""));
    assert_eq!(of((Axis::Y, Pencils::Permuted)), None);
}
