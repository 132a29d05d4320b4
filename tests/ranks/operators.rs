//! Operators along lines that are spread over ranks give what they give on one rank.

use std::sync::Arc;

use kolmo::backend::Backend;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::device::{Api, Device, Gpu};
use kolmo::backend::ranks::{Blocks, Ranks};
use kolmo::cases::Domain;
use kolmo::comm::Communicator;
use kolmo::config::{ComputeConfig, Pencils};
use kolmo::engine::distributed::Method;
use kolmo::engine::{LineOperators, Number, Op, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Block, Decomposition, Grid};
use kolmo::scheme::{Scheme, SchemeFamily, compact_filter, family};
use kolmo::{Real, Result};

use super::mpirun;

/// Numbers without any order, between −1 and 1: the same on every rank.
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

/// The values of a field of the whole grid at the points of a block.
pub(crate) fn part<T: Copy>(whole: &[T], points: [usize; 3], block: Block) -> Vec<T> {
    let at = |[i, j, k]: [usize; 3]| i + points[0] * (j + points[1] * k);
    (0..block.len()).map(|here| whole[at(block.index(here))]).collect()
}

/// What to solve, and how.
pub(crate) struct Problem<'a> {
    pub(crate) grid: Grid,
    pub(crate) family: &'a SchemeFamily,
    pub(crate) filter: Option<&'a Scheme>,
    pub(crate) axis: Axis,
    pub(crate) sweep: Sweep,
    /// Fields that the sweep reads and writes.
    pub(crate) fields: [usize; 2],
}

/// The answer of one rank, on every rank.
fn alone<T: Real>(problem: &Problem<'_>) -> (Vec<Vec<f64>>, Vec<Vec<T>>) {
    let Problem { grid, family, filter, axis, sweep, fields } = problem;
    let cpu = Cpu::<T>::new(Some(1)).unwrap();
    let operators = LineOperators::new(family, *filter, grid);
    let program = Backend::program(&cpu, sweep, *axis, grid.points, &operators).unwrap();
    let operands: Vec<_> = (0..fields[0]).map(|f| random(grid.len(), 17 + f as u64)).collect();
    let read: Vec<_> = operands
        .iter()
        .map(|values| cpu.field(values.iter().map(|x| T::of(*x)).collect()).unwrap())
        .collect();
    let mut write: Vec<_> = (0..fields[1]).map(|_| cpu.zeros(grid.len()).unwrap()).collect();
    let read: Vec<_> = read.iter().collect();
    Backend::run(&cpu, &program, &read, &mut write.iter_mut().collect::<Vec<_>>(), 0.0, 1.0);
    let answer = write.iter().map(|field| cpu.values(field).unwrap().into_owned()).collect();
    (operands, answer)
}

/// The largest difference from the answer of one rank, in units of its largest value; `None` where the method refuses.
fn difference<B: Blocks>(
    problem: &Problem<'_>,
    inner: B,
    comm: &Arc<dyn Communicator>,
    decomposition: Decomposition,
    compute: &ComputeConfig,
) -> Result<f64> {
    let Problem { grid, family, filter, axis, sweep, .. } = problem;
    let (operands, expected) = alone::<B::Real>(problem);
    let ranks = Ranks::new(inner, comm.clone(), decomposition, compute)?;
    let block = ranks.block(grid.points);
    let operators = LineOperators::new(family, *filter, grid);
    let program = ranks.program(sweep, *axis, grid.points, &operators)?;
    let local = |values: &[f64]| {
        let values = part(values, grid.points, block);
        ranks.field(values.iter().map(|x| B::Real::of(*x)).collect())
    };
    let read: Vec<_> = operands.iter().map(|values| local(values)).collect::<Result<_>>()?;
    let poison = vec![f64::NAN; grid.len()];
    let mut write: Vec<_> = expected.iter().map(|_| local(&poison)).collect::<Result<_>>()?;
    let read: Vec<_> = read.iter().collect();
    let before = ranks.sent();
    // Twice: nothing of the first time may be left over in the second.
    for _ in 0..2 {
        ranks.run(&program, &read, &mut write.iter_mut().collect::<Vec<_>>(), 0.0, 1.0);
    }
    ranks.finish()?;
    assert!(comm.size() == 1 || ranks.sent() != before, "nothing was sent");
    let mut worst = 0.0_f64;
    for (field, expected) in write.iter().zip(&expected) {
        let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.f64().abs()));
        let expected = part(expected, grid.points, block);
        for (value, expected) in ranks.values(field)?.iter().zip(&expected) {
            let error = (value.f64() - expected.f64()).abs() / largest;
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    let mut worst = [worst];
    comm.max(&mut worst);
    Ok(worst[0])
}

/// The settings of a run, with one method.
pub(crate) fn compute(method: Method) -> ComputeConfig {
    let text = "[case]\nname = 'taylor-green'\n[grid]\npoints = [8, 8, 8]\n[time]\nmax_steps = 1\n";
    let mut compute = kolmo::config::parse(text, "test", &[]).unwrap().compute;
    compute.distributed = Some(method);
    compute
}

/// Every operator alone, two operators on three operands, and one behind the other.
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

/// Points along a split axis: not divisible by the ranks, few a rank or as many as `neighbour` wants.
fn lengths(ranks: usize, method: Method, family: &SchemeFamily) -> Vec<usize> {
    match method {
        Method::Neighbour if family.name == "spectral-like" => vec![130 * ranks + 1],
        Method::Neighbour => vec![80 * ranks + ranks / 2],
        _ => vec![7 * ranks + ranks / 3 + 12, 33 * ranks + 1],
    }
}

/// Along one axis, on as many ranks as there are.
fn agree_along_an_axis<B: Blocks>(
    families: &[&str],
    axes: &[Axis],
    tolerance: f64,
    open: impl Fn(usize) -> B,
) {
    let comm = super::world();
    let ranks = comm.size();
    // The last one decays slowly: `neighbour` cannot, and is not asked.
    let filters = [compact_filter(6, 0.3), compact_filter(8, 0.49)];
    for name in families {
        let family = family(name).unwrap();
        for method in Method::ALL {
            for (case, n) in lengths(ranks, method, family).into_iter().enumerate() {
                for &axis in axes {
                    for op in OPS {
                        for periodic in [true, false] {
                            let staggered = !matches!(op, Op::D1 | Op::D2 | Op::Filter);
                            if staggered && !periodic {
                                continue;
                            }
                            let slow = case == 1 && op == Op::Filter;
                            for (sweep, fields) in sweeps(op) {
                                let mut points = [5, 3, 4];
                                points[axis.index()] = n;
                                let mut ends = [true; 3];
                                ends[axis.index()] = periodic;
                                let grid = Grid::new(points, &Domain::cube(1.0), ends);
                                let filter = &filters[usize::from(slow)];
                                let problem = Problem {
                                    grid,
                                    family,
                                    filter: Some(filter),
                                    axis,
                                    sweep,
                                    fields,
                                };
                                let mut split = [1; 3];
                                split[axis.index()] = ranks;
                                let split = Decomposition { ranks: split };
                                let inner = open(split.block(comm.rank(), points).len());
                                let compute = compute(method);
                                let what = format!(
                                    "{name} {op:?} along {axis:?}, {} on {ranks} ranks of {n} points, periodic: {periodic}",
                                    method.name()
                                );
                                let error = difference(&problem, inner, &comm, split, &compute)
                                    .unwrap_or_else(|why| panic!("{what}: {why}"));
                                let exact =
                                    if method == Method::Transpose { 0.0 } else { tolerance };
                                assert!(error <= exact, "{what}: off by {error:e}");
                            }
                        }
                    }
                }
            }
        }
    }
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_on_the_host() {
        let families = ["compact6", "compact10-penta", "explicit4"];
        agree_along_an_axis(&families, &[Axis::X, Axis::Z], 1e-13, |_| {
            Cpu::<f64>::new(Some(1)).unwrap()
        });
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_for_all_families() {
        let families =
            ["compact4", "compact6", "compact8", "compact8-penta", "spectral-like", "explicit8"];
        agree_along_an_axis(&families, &[Axis::Y], 1e-13, |_| Cpu::<f64>::new(Some(1)).unwrap());
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_in_single_precision() {
        agree_along_an_axis(&["compact6"], &[Axis::X], 2e-6, |_| Cpu::<f32>::new(Some(1)).unwrap());
    }

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn agree_on_a_device() {
        agree_along_an_axis(&["compact6"], &Axis::ALL, 1e-13, |len| {
            let device = Device::open(Api::OpenCl, 0).unwrap();
            Gpu::<f64>::new(device, len, None, Pencils::Strided).unwrap()
        });
    }
}

#[test]
fn every_method_gives_the_answer_of_one_rank_on_any_number_of_ranks() {
    for ranks in 1..=16 {
        mpirun(ranks, "ranks::operators::worker::agree_on_the_host");
    }
}

#[test]
fn every_family_gives_the_answer_of_one_rank() {
    for ranks in [2, 3, 5] {
        mpirun(ranks, "ranks::operators::worker::agree_for_all_families");
    }
}

#[test]
fn single_precision_gives_the_answer_of_one_rank() {
    mpirun(3, "ranks::operators::worker::agree_in_single_precision");
}

#[test]
fn devices_give_the_answer_of_one_rank() {
    for ranks in [2, 3] {
        mpirun(ranks, "ranks::operators::worker::agree_on_a_device");
    }
}
