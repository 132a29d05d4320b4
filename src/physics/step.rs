//! What a step consists of, for those who count and do not compute.

use super::discretisation::{filter_sweep, operators};
use super::slots::conserved;
use super::{advection, navier_stokes, schedule};
use crate::config::{Config, RightHandSide};
use crate::engine::{LineOperators, Sweep};
use crate::grid::{Axis, Grid};
use crate::physics::Viscosity;
use crate::real::Real;

/// Sweeps and passes over the points.
pub(crate) struct StepParts<T> {
    /// The operators of the sweeps.
    pub(crate) operators: LineOperators<T>,
    /// The sweeps of a right-hand side, in the order in which they run, those of one list together.
    pub(crate) right_hand_side: Vec<Vec<(Axis, Sweep)>>,
    /// The sweeps that filter the state once; none where there is no filter.
    pub(crate) filter: Vec<Vec<(Axis, Sweep)>>,
    /// Fields of the state.
    pub(crate) fields: usize,
    /// Fields that are read and written point by point before the sweeps of a right-hand side.
    pub(crate) words: usize,
}

/// Values a point that a stage in 2N storage reads and writes in fused sweeps along `axes`, where it is not the first of its
/// step.
pub fn words_of_stage(config: &Config, axes: &[Axis]) -> usize {
    let sweeps = sweeps(config, RightHandSide::Fused, axes, |_| true);
    sweeps.iter().flatten().map(|(_, sweep)| sweep.words()).sum()
}

/// The sweeps of a right-hand side along `axes`, in the order in which they run, those of one list together: fused, those of
/// such a stage. `whole`: whether lines along an axis are.
pub(super) fn sweeps(
    config: &Config,
    how: RightHandSide,
    axes: &[Axis],
    whole: impl Fn(Axis) -> bool,
) -> Vec<Vec<(Axis, Sweep)>> {
    let Some(case) = config.case.scalar() else {
        return match how {
            RightHandSide::Fused => schedule::sweeps(config, axes, whole),
            RightHandSide::Composed => navier_stokes::sweeps(config, axes),
        };
    };
    let fused = how == RightHandSide::Fused;
    let advances = |axis: &Axis| fused && Some(axis) == axes.last();
    let sweep = |axis: &Axis| (*axis, advection::rhs_sweep(*axis, case, advances(axis)));
    vec![axes.iter().map(sweep).collect()]
}

/// Fields, beside those of the equations themselves, that a right-hand side takes which runs operation by operation.
pub fn composed_room(config: &Config) -> usize {
    let of = |how| sweeps(config, how, &Axis::ALL, |_| false).into_iter().flatten();
    let all = of(RightHandSide::Fused).chain(of(RightHandSide::Composed));
    all.map(|(_, sweep)| sweep.room()).max().unwrap_or(0)
}

impl<T: Real> StepParts<T> {
    /// Those of the equations of `config` on `grid`; `whole` says along which axes lines are.
    pub(crate) fn new(config: &Config, grid: &Grid, whole: impl Fn(Axis) -> bool) -> Self {
        let axes: Vec<Axis> = grid.active_axes().collect();
        let how = config.compute.right_hand_side;
        let right_hand_side = sweeps(config, how, &axes, whole);
        let (fields, words) = match (config.case.scalar(), how) {
            (Some(_), _) => (1, 0),
            (None, RightHandSide::Fused) => (conserved::COUNT, 0),
            // The primitive variables from the conserved ones, and (μ, dμ/dT) from T.
            (None, RightHandSide::Composed) => {
                let law = if config.gas.viscosity == Viscosity::Constant { 0 } else { 3 };
                (conserved::COUNT, 2 * conserved::COUNT + law)
            }
        };
        let filter = config.scheme.filter.iter().flat_map(|_| &axes);
        let filter = filter.map(|&axis| vec![(axis, filter_sweep(fields))]).collect();
        let operators = operators(&config.scheme, grid);
        Self { operators, right_hand_side, filter, fields, words }
    }
}
