//! The problem: equations and their discretisation.

use super::slots::conserved;
use super::{ForcingConfig, SchemeConfig};
use crate::backend::RightHandSide;
use crate::boundary::Boundaries;
use crate::cases::{Case, PassiveScalar};
use crate::engine::{curved, stretched};
use crate::gas::Gas;
use crate::grid::{Axis, Curvilinear, Domain, Grid, Maps, spacings};
use crate::real::Precision;
use crate::scheme::{Form, Tableau};

/// The equations of a run, without its end time, its hardware and its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The flow and its parameters.
    pub case: Case,
    /// Gas with the case's Mach and Reynolds numbers.
    pub gas: Gas,
    /// Passive scalars, in the order of the state.
    pub scalars: Vec<PassiveScalar>,
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// The box.
    pub domain: Domain,
    /// Stretching maps of the axes with variable spacing.
    pub stretching: Maps,
    /// The points of a curvilinear grid.
    pub mapping: Option<Curvilinear>,
    /// Boundary conditions at the ends of the axes.
    pub boundaries: Boundaries,
    /// The force on the flow, if any.
    pub forcing: Option<ForcingConfig>,
    /// Discretisation in space.
    pub scheme: SchemeConfig,
    /// Runge-Kutta tableau.
    pub integrator: &'static Tableau,
    /// How the right-hand side is computed.
    pub right_hand_side: RightHandSide,
    /// Precision of the fields.
    pub precision: Precision,
}

impl Problem {
    /// The grid.
    pub fn grid(&self) -> Grid {
        let grid = self.straight_grid();
        match &self.mapping {
            None => grid,
            Some(mapping) => curved(grid, &self.domain, mapping, &self.scheme.derivative),
        }
    }

    /// The grid without the points of a curvilinear grid, for counting: those points take time and memory.
    pub(super) fn straight_grid(&self) -> Grid {
        let spacings = spacings(&self.stretching, self.mapping.as_ref());
        let grid = self.boundaries.grid(self.points, &self.domain, spacings);
        stretched(grid, &self.domain, &self.stretching, &self.scheme.derivative)
    }

    /// Whether the flow is that of the case at all times, with the force and the boundaries of the case.
    pub fn follows_case(&self) -> bool {
        self.forcing == self.case.forcing(&self.gas, &self.domain)
            && self.boundaries == self.case.boundaries(&self.gas)
    }

    /// Whether lines along ξ of a curvilinear grid surround a wall at the low end of η.
    pub fn has_body(&self) -> bool {
        let [around, outward, _] = self.boundaries.0;
        let wall = outward.and_then(|[low, _]| low.wall());
        let plane = [self.domain.origin, self.domain.length].map(|[x, y, _]| [x, y]);
        let is_closed_curve = |it: &Curvilinear| it.is_closed_curve(plane.into());
        around.is_none() && wall.is_some() && self.mapping.as_ref().is_some_and(is_closed_curve)
    }

    /// The largest damping rate of the flow by sponges and by a filter that acts as a rate.
    pub fn damping(&self) -> f64 {
        let filter = self.scheme.filter.and_then(|filter| filter.time);
        self.boundaries.damping() + filter.map_or(0.0, |time| 1.0 / time)
    }

    /// See [`Boundaries::between_walls`].
    pub fn axis_between_walls(&self) -> Option<Axis> {
        self.boundaries.between_walls(self.points).filter(|_| self.mapping.is_none())
    }

    /// Whether the integrator has 2N storage.
    pub(super) fn is_low_storage(&self) -> bool {
        matches!(self.integrator.form, Form::LowStorage { .. })
    }

    /// Number of fields of the state.
    pub fn fields(&self) -> usize {
        let own = if self.case.is_flow() { conserved::COUNT } else { 1 };
        own + self.scalars.len()
    }
}
