//! Operators along lines that are split over ranks give the results of one rank.

use std::sync::Arc;

use kolmo::Result;
use kolmo::backend::device::{Api, Device, Gpu};
use kolmo::backend::ranks::{Blocks, Ranks};
use kolmo::backend::{Backend, Weights};
use kolmo::cases::Domain;
use kolmo::comm::Communicator;
use kolmo::config::{ComputeConfig, Pencils, Precision};
use kolmo::engine::distributed::Method;
use kolmo::engine::{LineOperators, Op, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Block, Decomposition, End, Grid};
use kolmo::scheme::{Scheme, SchemeFamily, compact_filter, family};

use super::{mpirun, world};
use crate::common::host_with_threads;

/// Pseudo-random numbers between −1 and 1, identical on every rank.
pub(crate) fn random(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX) * 2.0 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the values at the points of a block from a field of the whole grid.
pub(crate) fn part(whole: &[f64], points: [usize; 3], block: Block) -> Vec<f64> {
    let at = |[i, j, k]: [usize; 3]| i + points[0] * (j + points[1] * k);
    (0..block.len()).map(|here| whole[at(block.index(here))]).collect()
}

/// A sweep with its grid and schemes.
pub(crate) struct Problem<'a> {
    pub(crate) grid: Grid,
    pub(crate) family: &'a SchemeFamily,
    pub(crate) filter: Option<&'a Scheme>,
    pub(crate) axis: Axis,
    pub(crate) sweep: Sweep,
    /// Numbers of fields that the sweep reads and writes.
    pub(crate) fields: [usize; 2],
}

impl Problem<'_> {
    fn operands(&self) -> Vec<Vec<f64>> {
        (0..self.fields[0]).map(|f| random(self.grid.len(), 17 + f as u64)).collect()
    }
}

/// Returns the result of one rank, computed on every rank.
fn on_one_rank(problem: &Problem<'_>, backend: &dyn Backend) -> Vec<Vec<f64>> {
    let Problem { grid, family, filter, axis, sweep, fields } = problem;
    let operators = LineOperators::new(family, *filter, grid, backend.precision());
    let program = backend.program(sweep, (*axis, grid.points, &operators)).unwrap();
    let field = |values: Vec<f64>| backend.field(&values.into()).unwrap();
    let read: Vec<_> = problem.operands().into_iter().map(field).collect();
    let mut write: Vec<_> = (0..fields[1]).map(|_| backend.zeros(grid.len()).unwrap()).collect();
    let read: Vec<_> = read.iter().collect();
    backend.run(&program, &read, &mut write.iter_mut().collect::<Vec<_>>(), Weights::SET);
    write.iter().map(|field| backend.values(field).unwrap().into()).collect()
}

/// Returns the largest difference from `expected`, relative to the largest value of each field.
fn difference(
    problem: &Problem<'_>,
    expected: &[Vec<f64>],
    inner: Box<dyn Blocks>,
    comm: &Arc<dyn Communicator>,
    decomposition: Decomposition,
    compute: &ComputeConfig,
) -> Result<f64> {
    let Problem { grid, family, filter, axis, sweep, .. } = problem;
    let operands = problem.operands();
    let ranks = Ranks::new(inner, comm.clone(), decomposition, compute)?;
    let block = ranks.block(grid.points);
    let operators = LineOperators::new(family, *filter, grid, ranks.precision());
    let program = ranks.program(sweep, (*axis, grid.points, &operators))?;
    let local = |values: &[f64]| ranks.field(&part(values, grid.points, block).into());
    let read: Vec<_> = operands.iter().map(|values| local(values)).collect::<Result<_>>()?;
    let poison = vec![f64::NAN; grid.len()];
    let mut write: Vec<_> = expected.iter().map(|_| local(&poison)).collect::<Result<_>>()?;
    let read: Vec<_> = read.iter().collect();
    let before = ranks.sent();
    // Twice: the first run must not affect the second.
    for _ in 0..2 {
        ranks.run(&program, &read, &mut write.iter_mut().collect::<Vec<_>>(), Weights::SET);
    }
    ranks.finish()?;
    assert!(comm.size() == 1 || ranks.sent() != before, "nothing was sent");
    let mut worst = 0.0_f64;
    for (field, expected) in write.iter().zip(expected) {
        let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let expected = part(expected, grid.points, block);
        for (value, expected) in ranks.values(field)?.iter().zip(&expected) {
            let error = (value - expected).abs() / largest;
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    let mut worst = [worst];
    comm.max(&mut worst);
    Ok(worst[0])
}

/// Returns the settings of a run with this method.
pub(crate) fn compute(method: Method) -> ComputeConfig {
    let text = "[case]\nname = 'taylor-green'\n[grid]\npoints = [8, 8, 8]\n[time]\nmax_steps = 1\n";
    let mut compute = kolmo::config::parse(text, "test", &[]).unwrap().compute;
    compute.distributed = Some(method);
    compute
}

/// Sweeps of one operator, of two operators on three operands, and of one operator applied after another.
fn sweeps(op: Op) -> Vec<(Sweep, [usize; 2])> {
    let single = SweepBuilder::new();
    single.store(0, single.apply(op, single.read(0)));
    let mut sweeps = vec![(single.build(), [1, 1])];
    if op == Op::D1 {
        let s = SweepBuilder::new();
        let (a, b, c) = (s.read(0), s.read(1), s.read(2));
        s.add(0, s.d1(a * b) + 0.5 * s.d2(c));
        s.store(1, s.d1(c) * a);
        s.add(0, 0.25 * s.d1(s.d1(a) * b));
        s.store(2, s.d2(b));
        sweeps.push((s.build(), [3, 3]));
    }
    if op == Op::InterpolateToMidpoints {
        let s = SweepBuilder::new();
        let (a, b) = (s.read(0), s.read(1));
        let faces = s.define(s.apply(op, a) * s.apply(op, b));
        s.add(0, s.apply(Op::DerivativeToPoints, faces * s.apply(Op::DerivativeToMidpoints, a)));
        sweeps.push((s.build(), [2, 1]));
    }
    sweeps
}

const OPS: [Op; 6] = [
    Op::D1,
    Op::D2,
    Op::DerivativeToMidpoints,
    Op::DerivativeToPoints,
    Op::InterpolateToMidpoints,
    Op::Filter,
];

/// Numbers of points along a split axis: not divisible by the ranks, few per rank or as many as `neighbour` needs.
fn lengths(ranks: usize, method: Method, family: &SchemeFamily) -> Vec<usize> {
    match method {
        Method::Neighbour if family.name == "spectral-like" => vec![130 * ranks + 1],
        Method::Neighbour => vec![80 * ranks + ranks / 2],
        _ => vec![12 * ranks + ranks / 3 + 6, 33 * ranks + 1],
    }
}

/// The ranks, and the backend that computes a block.
struct Harness<F> {
    comm: Arc<dyn Communicator>,
    tolerance: f64,
    open: F,
}

impl<F: Fn(usize) -> Box<dyn Blocks>> Harness<F> {
    fn new(tolerance: f64, open: F) -> Self {
        Self { comm: world(), tolerance, open }
    }

    /// Checks one problem with one method. `transpose` matches the same backend on one rank bit for bit; all other methods match the
    /// host to the tolerance.
    fn agree(&self, problem: &Problem<'_>, method: Method, ranks: [usize; 3]) {
        let Self { comm, tolerance, open } = self;
        let grid = &problem.grid;
        let label = format!(
            "{} along {:?} of {:?} points, {} on {ranks:?}, ends: {:?}",
            problem.family.name,
            problem.axis,
            grid.points,
            method.name(),
            grid.ends
        );
        let decomposition = Decomposition { ranks };
        let inner = open(decomposition.block(comm.rank(), grid.points).len());
        let (expected, tolerance) = match method {
            Method::Transpose => (on_one_rank(problem, &*open(grid.len())), 0.0),
            _ => {
                let host = on_one_rank(problem, &*host_with_threads(inner.precision(), 1));
                (host, tolerance.max(round_off_of_a_solve(problem.filter, inner.precision())))
            }
        };
        let error = difference(problem, &expected, inner, comm, decomposition, &compute(method))
            .unwrap_or_else(|why| panic!("{label}: {why}"));
        assert!(error <= tolerance, "{label}: error {error:e}");
    }

    /// Checks every operator along these axes, on all ranks of the job.
    fn agree_along(&self, families: &[&str], axes: &[Axis]) {
        let ranks = self.comm.size();
        // `neighbour` is not tested with the second filter, whose inverse decays too slowly for it.
        let filters = [compact_filter(6, 0.3), compact_filter(8, 0.49)];
        for name in families {
            let family = family(name).unwrap();
            for (method, &axis) in
                Method::ALL.iter().flat_map(|m| axes.iter().map(move |a| (*m, a)))
            {
                for (case, n) in lengths(ranks, method, family).into_iter().enumerate() {
                    let (mut points, mut split) = ([5, 3, 4], [1; 3]);
                    points[axis.index()] = n;
                    split[axis.index()] = ranks;
                    for (op, periodic) in OPS.into_iter().flat_map(|op| [(op, true), (op, false)]) {
                        if is_staggered(op) && !periodic {
                            continue;
                        }
                        let filter = &filters[usize::from(case == 1 && op == Op::Filter)];
                        for (sweep, fields) in sweeps(op) {
                            let grid = grid(points, axis, periodic);
                            let filter = Some(filter);
                            let problem = Problem { grid, family, filter, axis, sweep, fields };
                            self.agree(&problem, method, split);
                        }
                    }
                }
            }
        }
    }
}

/// Unit round-off times the condition number (1 + 2α)/(1 − 2α) of a filter's left-hand side, which is 99 for α = 0.49.
fn round_off_of_a_solve(filter: Option<&Scheme>, precision: Precision) -> f64 {
    let alpha = filter.map_or(0.0, |filter| filter.alpha);
    0.5 * precision.epsilon() * (1.0 + 2.0 * alpha) / (1.0 - 2.0 * alpha)
}

/// A cube whose lines along `axis` are periodic or have two ends.
fn grid(points: [usize; 3], axis: Axis, periodic: bool) -> Grid {
    let mut ends = [None; 3];
    ends[axis.index()] = (!periodic).then_some([End::ByParts; 2]);
    Grid::new(points, &Domain::cube(1.0), ends)
}

fn is_staggered(op: Op) -> bool {
    !matches!(op, Op::D1 | Op::D2 | Op::Filter)
}

/// Decompositions along two and three axes for this many ranks.
fn blocks(ranks: usize) -> &'static [[usize; 3]] {
    match ranks {
        4 => &[[2, 2, 1], [1, 2, 2]],
        6 => &[[2, 3, 1], [3, 1, 2]],
        8 => &[[2, 2, 2], [4, 1, 2]],
        12 => &[[3, 2, 2], [2, 2, 3], [1, 3, 4]],
        _ => panic!("no blocks for {ranks} ranks"),
    }
}

mod worker {
    use super::*;

    fn cpu(precision: Precision) -> impl Fn(usize) -> Box<dyn Blocks> {
        move |_| host_with_threads(precision, 1)
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_on_the_host() {
        let harness = Harness::new(1e-13, cpu(Precision::F64));
        let axis = if harness.comm.size().is_multiple_of(2) { Axis::Z } else { Axis::X };
        harness.agree_along(&["compact6", "compact10-penta", "explicit4"], &[axis]);
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_for_all_families() {
        let families =
            ["compact4", "compact6", "compact8", "compact8-penta", "spectral-like", "explicit8"];
        Harness::new(1e-13, cpu(Precision::F64)).agree_along(&families, &[Axis::Y]);
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_in_single_precision() {
        Harness::new(2e-6, cpu(Precision::F32)).agree_along(&["compact6"], &[Axis::X]);
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_on_blocks() {
        let harness = Harness::new(1e-13, cpu(Precision::F64));
        let (family, filter) = (family("compact6").unwrap(), compact_filter(6, 0.3));
        for &split in blocks(harness.comm.size()) {
            for axis in Axis::ALL.into_iter().filter(|axis| split[axis.index()] > 1) {
                for method in Method::ALL {
                    for op in [Op::D1, Op::InterpolateToMidpoints, Op::Filter] {
                        let mut points = [7, 5, 6];
                        let ranks = split[axis.index()];
                        points[axis.index()] = *lengths(ranks, method, family).last().unwrap();
                        let grid = grid(points, axis, is_staggered(op));
                        let (sweep, fields) = sweeps(op).pop().unwrap();
                        let filter = Some(&filter);
                        let problem = Problem { grid, family, filter, axis, sweep, fields };
                        harness.agree(&problem, method, split);
                    }
                }
            }
        }
    }

    /// Kernels are compiled for every problem on every rank, so there are few problems: every axis, both kinds of ends, and every
    /// method but `chain`.
    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_on_a_device() {
        let harness = Harness::new(1e-13, |len| {
            let device = Device::open(Api::OpenCl, 0).unwrap();
            Box::new(Gpu::new(device, Precision::F64, len, None, Pencils::Strided).unwrap())
        });
        let ranks = harness.comm.size();
        let cases = match ranks {
            2 => [
                (Method::Neighbour, Axis::X, true),
                (Method::Pcr, Axis::Y, false),
                (Method::Transpose, Axis::Z, false),
            ],
            _ => [
                (Method::Neighbour, Axis::Z, false),
                (Method::Gather, Axis::X, true),
                (Method::Transpose, Axis::Y, true),
            ],
        };
        let family = family("compact6").unwrap();
        for (method, axis, periodic) in cases {
            let (mut points, mut split) = ([5, 3, 4], [1; 3]);
            points[axis.index()] = lengths(ranks, method, family)[0];
            split[axis.index()] = ranks;
            let (sweep, fields) = sweeps(Op::D1).pop().unwrap();
            let grid = grid(points, axis, periodic);
            let problem = Problem { grid, family, filter: None, axis, sweep, fields };
            harness.agree(&problem, method, split);
        }
    }
}

/// `distributed::accuracy` has all numbers of blocks from 2 to 16 in one process.
#[test]
fn every_method_matches_one_rank_on_1_to_16_ranks() {
    for ranks in [1, 2, 3, 4, 5, 7, 8, 12, 16] {
        mpirun(ranks, "ranks::operators::worker::agree_on_the_host");
    }
}

#[test]
fn every_family_matches_one_rank() {
    for ranks in [2, 3, 5] {
        mpirun(ranks, "ranks::operators::worker::agree_for_all_families");
    }
}

#[test]
fn decompositions_along_two_and_three_axes_match_one_rank() {
    for ranks in [4, 6, 8, 12] {
        mpirun(ranks, "ranks::operators::worker::agree_on_blocks");
    }
}

#[test]
fn single_precision_matches_one_rank() {
    mpirun(3, "ranks::operators::worker::agree_in_single_precision");
}

#[test]
fn devices_match_one_rank() {
    for ranks in [2, 3] {
        mpirun(ranks, "ranks::operators::worker::agree_on_a_device");
    }
}
