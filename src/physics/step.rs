//! What a step consists of, for those who count and do not compute.

use super::discretisation::{filter_sweep, operators};
use super::slots::conserved;
use super::{advection, navier_stokes};
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

impl<T: Real> StepParts<T> {
    /// Those of the equations of `config` on `grid`; `whole` says along which axes lines are.
    pub(crate) fn new(config: &Config, grid: &Grid, whole: impl Fn(Axis) -> bool) -> Self {
        let axes: Vec<Axis> = grid.active_axes().collect();
        let fused = config.compute.right_hand_side == RightHandSide::Fused;
        let (right_hand_side, fields, words) = match config.case.scalar() {
            Some(case) => {
                let advances = |axis: &Axis| fused && Some(axis) == axes.last();
                let sweep =
                    |axis: &Axis| (*axis, advection::rhs_sweep(*axis, case, advances(axis)));
                (vec![axes.iter().map(sweep).collect()], 1, 0)
            }
            // Composed, the primitive variables from the conserved ones, and (μ, dμ/dT) from T.
            None => {
                let law = if config.gas.viscosity == Viscosity::Constant { 0 } else { 3 };
                let words = if fused { 0 } else { 2 * conserved::COUNT + law };
                (navier_stokes::sweeps(config, &axes, whole), conserved::COUNT, words)
            }
        };
        let filter = config.scheme.filter.iter().flat_map(|_| &axes);
        let filter = filter.map(|&axis| vec![(axis, filter_sweep(fields))]).collect();
        let operators = operators(&config.scheme, grid);
        Self { operators, right_hand_side, filter, fields, words }
    }
}
