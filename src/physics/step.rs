//! The parts of a step, for counts of work and memory without computation.

use std::iter;

use super::base_state::BaseState;
use super::discretisation::{filter_sweep, on_grid, operators};
use super::fused::Fused;
use super::metric;
use super::passive::ScalarEquation;
use super::problem::Problem;
use super::slots::conserved;
use super::stage_sweep::StagePart;
use super::{advection, channel, composed, gradients, schedule};
use crate::backend::RightHandSide;
use crate::engine::{LineOperators, Sweep};
use crate::grid::{Axis, Block, Grid};
use crate::physics::Viscosity;
use crate::real::Precision;

/// Sweeps and pointwise passes.
pub(crate) struct StepParts {
    /// The operators of the sweeps.
    pub(crate) operators: LineOperators,
    /// The sweeps of a right-hand side in the order of execution; sweeps of one list run together.
    pub(crate) right_hand_side: Vec<Vec<(Axis, Sweep)>>,
    /// The sweeps that filter the state once; empty without a filter.
    pub(crate) filter: Vec<Vec<(Axis, Sweep)>>,
    /// Number of fields of the state.
    pub(crate) fields: usize,
    /// Number of fields read and written point by point before the sweeps of a right-hand side.
    pub(crate) words: usize,
}

/// Work per point of a stage in 2N storage with fused sweeps that is not the first of its step, without a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageWork {
    /// Values read and written.
    pub words: usize,
    /// The same if consecutive sweeps along x and y run plane by plane, with a plane that stays in the caches.
    pub words_in_planes: usize,
    /// Line systems solved.
    pub solves: usize,
    /// Floating-point operations.
    pub flops: usize,
}

impl StageWork {
    /// The work for `problem`; `None` if its integrator needs more storage.
    pub fn of(problem: &Problem) -> Option<Self> {
        let grid = problem.straight_grid();
        let operators = operators(&problem.scheme, &grid, Precision::F64);
        let mut sweeps = sweeps(problem, RightHandSide::Fused, &axes(problem), |_| true);
        for (axis, sweep) in sweeps.iter_mut().flatten() {
            *sweep = on_grid(sweep, *axis, &grid).into_owned();
        }
        let all = || sweeps.iter().flatten();
        let words_in_planes = |list: &Vec<(Axis, Sweep)>| {
            let planes = list.chunk_by(|(a, _), (b, _)| *a != Axis::Z && *b != Axis::Z);
            let words = |plane: &[(Axis, Sweep)]| {
                Sweep::words_together(plane.iter().map(|(_, sweep)| sweep), grid.points[2])
            };
            planes.map(words).sum::<usize>()
        };
        let flops =
            |(axis, sweep): &(Axis, Sweep)| sweep.flops(|op| operators.get(*axis, op).flops());
        let force = force_words(problem);
        let work = Self {
            words: all().map(|(_, sweep)| sweep.words(grid.points[2])).sum::<usize>() + force,
            words_in_planes: sweeps.iter().map(words_in_planes).sum::<usize>() + force,
            solves: all().map(|(_, sweep)| sweep.solves()).sum(),
            flops: all().map(flops).sum(),
        };
        problem.is_low_storage().then_some(work)
    }
}

/// The sweeps of a right-hand side along `axes` in the order of execution, those of one list together; for fused, the sweeps of such a
/// stage. `is_unsplit`: whether lines along an axis are unsplit.
pub(super) fn sweeps(
    problem: &Problem,
    how: RightHandSide,
    axes: &[Axis],
    is_unsplit: impl Fn(Axis) -> bool,
) -> Vec<Vec<(Axis, Sweep)>> {
    let fused = how == RightHandSide::Fused;
    let advances = |axis: &Axis| fused && Some(axis) == axes.last();
    let Some(case) = problem.case.scalar() else {
        let sweeps = |of: ScalarEquation<'_>| {
            axes.iter().map(|axis| (*axis, of.sweep(*axis, advances(axis)))).collect()
        };
        let mut all: Vec<_> = scalar_equations(problem).map(sweeps).collect();
        all.extend(match how {
            RightHandSide::Fused => {
                schedule::sweeps_of_stage(&Fused::new(problem, axes, is_unsplit))
            }
            RightHandSide::Composed => composed::sweeps(problem, axes),
        });
        return all;
    };
    let sweep = |axis: &Axis| (*axis, advection::rhs_sweep(*axis, case, advances(axis)));
    vec![axes.iter().map(sweep).collect()]
}

/// Numbers of fields of the flow equations in addition to the state and its rates.
#[derive(Default)]
pub(crate) struct FieldCounts {
    /// u, p, T, and μ, dμ/dT where they vary.
    pub(crate) primitives: usize,
    /// ∂uᵢ/∂xⱼ.
    pub(crate) gradients: usize,
    /// f of a random force.
    pub(crate) force: usize,
    /// Weights of the points for averages, between walls and on stretched grids.
    pub(crate) weights: usize,
    /// dξ/dx and the second-derivative metric of stretched axes.
    pub(crate) metric: usize,
}

impl FieldCounts {
    /// The counts of `problem` for the points of `block`.
    pub(crate) fn of(problem: &Problem, block: &Block) -> Self {
        let (primitives, gradients) = match problem.right_hand_side {
            RightHandSide::Fused => {
                (0, Fused::new(problem, &axes(problem), is_unsplit(problem, block)).stored.count())
            }
            RightHandSide::Composed => {
                let constant = problem.gas.viscosity == Viscosity::Constant;
                (if constant { 5 } else { 7 }, 9)
            }
        };
        let grid = problem.straight_grid();
        let uniform = grid.is_uniform() && problem.mapping.is_none();
        let weights = usize::from(!(grid.is_periodic() && uniform));
        let metric = metric::fields(&grid, problem, block.points[2]);
        Self { primitives, gradients, force: force_fields(problem), weights, metric }
    }
}

/// Number of fields for f of a random force.
fn force_fields(problem: &Problem) -> usize {
    if problem.forcing.as_ref().is_some_and(|it| it.stochastic().is_some()) { 3 } else { 0 }
}

/// Number of fields that a force reads and writes per point and stage: U, f, and the rates in both directions.
fn force_words(problem: &Problem) -> usize {
    problem.forcing.as_ref().map_or(0, |_| 3 * conserved::COUNT + force_fields(problem))
}

/// Number of fields, in addition to those of the equations, needed by sweeps on the points of `block` that run operation by operation;
/// `runs_fused` selects the sweeps that do not.
pub(crate) fn composed_scratch_fields(
    problem: &Problem,
    block: &Block,
    runs_fused: impl Fn(Axis, &Sweep, &LineOperators) -> bool,
) -> usize {
    let is_unsplit = is_unsplit(problem, block);
    let (mut all, operators) = all_sweeps(problem, block);
    // Along split lines, the values sent to the neighbours are computed operation by operation.
    all.retain(|(axis, sweep)| !(is_unsplit(*axis) && runs_fused(*axis, sweep, &operators)));
    all.iter().map(|(_, sweep)| sweep.workspace()).max().unwrap_or(0)
}

/// All sweeps that a run requests on the points of `block` on any backend, and their operators.
pub(crate) fn all_sweeps(problem: &Problem, block: &Block) -> (Vec<(Axis, Sweep)>, LineOperators) {
    let (axes, is_unsplit) = (axes(problem), is_unsplit(problem, block));
    let grid = problem.straight_grid();
    let mut all = match (problem.case.scalar(), problem.right_hand_side) {
        (None, RightHandSide::Fused) => {
            schedule::all_sweeps(&Fused::new(problem, &axes, &is_unsplit))
        }
        (_, how) => sweeps(problem, how, &axes, &is_unsplit).concat(),
    };
    if problem.case.is_flow() {
        let base = BaseState::of(&problem.gas, Precision::F64);
        all.extend(axes.iter().map(|&axis| (axis, gradients::sweep(axis, base))));
        all.extend(problem.axis_between_walls().map(|axis| (axis, channel::sweep(problem, base))));
    }
    for of in scalar_equations(problem) {
        all.extend(axes.iter().flat_map(|&axis| {
            [of.sweep(axis, false), of.sweep(axis, true), of.terms(axis)].map(|it| (axis, it))
        }));
    }
    if problem.scheme.filter.is_some() {
        all.extend(axes.iter().flat_map(|&axis| filter_sweeps(problem, axis)));
    }
    for (axis, sweep) in &mut all {
        *sweep = on_grid(sweep, *axis, &grid).into_owned();
    }
    (all, operators(&problem.scheme, &grid, problem.precision))
}

/// The passes and sweeps of the flow in stages in 2N storage on the points of `block` on any backend, and their operators.
pub(crate) fn sweeps_of_stages(
    problem: &Problem,
    block: &Block,
) -> (Vec<(StagePart, Axis, Sweep)>, LineOperators) {
    let grid = problem.straight_grid();
    let fused = Fused::new(problem, &axes(problem), is_unsplit(problem, block));
    let mut all = schedule::all_stage_sweeps(&fused);
    for (_, axis, sweep) in &mut all {
        *sweep = on_grid(sweep, *axis, &grid).into_owned();
    }
    (all, operators(&problem.scheme, &grid, problem.precision))
}

/// The passive scalars of `problem`, for counts only.
fn scalar_equations(problem: &Problem) -> impl Iterator<Item = ScalarEquation<'_>> {
    ScalarEquation::all(problem, BaseState::of(&problem.gas, Precision::F64))
}

/// The sweeps that filter the state once along `axis`: one for the flow, or for the advected scalar, and one for each passive scalar.
fn filter_sweeps(problem: &Problem, axis: Axis) -> impl Iterator<Item = (Axis, Sweep)> {
    let passive = problem.scalars.len();
    let fields = iter::once(problem.fields() - passive).chain(iter::repeat_n(1, passive));
    fields.map(move |fields| (axis, filter_sweep(axis, fields)))
}

/// The axes with more than one point.
fn axes(problem: &Problem) -> Vec<Axis> {
    problem.straight_grid().active_axes().collect()
}

/// Whether the lines of `block` along an axis are unsplit.
fn is_unsplit(problem: &Problem, block: &Block) -> impl Fn(Axis) -> bool {
    let (all, here) = (problem.points, block.points);
    move |axis| all[axis.index()] == here[axis.index()]
}

impl StepParts {
    /// The parts of a step of `problem` on `grid`; `is_unsplit` gives the axes along which lines are unsplit.
    pub(crate) fn new(problem: &Problem, grid: &Grid, is_unsplit: impl Fn(Axis) -> bool) -> Self {
        let axes: Vec<Axis> = grid.active_axes().collect();
        let how = problem.right_hand_side;
        let mut right_hand_side = sweeps(problem, how, &axes, is_unsplit);
        for (axis, sweep) in right_hand_side.iter_mut().flatten() {
            *sweep = on_grid(sweep, *axis, grid).into_owned();
        }
        let fields = problem.fields();
        let words = match (problem.case.scalar(), how) {
            (Some(_), _) | (None, RightHandSide::Fused) => 0,
            // The primitive variables from the conserved ones, and (μ, dμ/dT) from T.
            (None, RightHandSide::Composed) => {
                let viscosity = if problem.gas.viscosity == Viscosity::Constant { 0 } else { 3 };
                2 * conserved::COUNT + viscosity
            }
        };
        let filter = problem.scheme.filter.iter().flat_map(|_| &axes);
        let filter = filter.map(|&axis| filter_sweeps(problem, axis).collect()).collect();
        let operators = operators(&problem.scheme, grid, problem.precision);
        let words = words + force_words(problem);
        Self { operators, right_hand_side, filter, fields, words }
    }
}
