//! From the text of the user to a checked configuration with all defaults filled in.
//!
//! [`load()`] and [`parse`] read an input with its `--set` overrides. All problems are reported at once, each with its line, the
//! value found and the values allowed. [`Config::to_toml`] writes the resolved input.
//!
//! Keys, defaults and ranges are defined by the structs, which serde reads and writes. Rules beyond serde (keys that depend on
//! others, tables of formulas by name) are in `resolve`, `case`, `time` and `output`.

mod boundary;
mod case;
mod document;
mod forcing;
mod load;
mod mapping;
mod mistakes;
mod origin;
mod output;
mod problems;
mod reader;
mod resolve;
mod scalars;
mod section;
mod stretching;
mod time;
mod value;
mod write;

pub(crate) use load::of_case;
pub use load::{Base, built_in, load, load_on, parse, parse_on};
pub use output::{FieldsConfig, OnFailure, OutputConfig, PlanesConfig, Region};
pub(crate) use problems::hint;
pub use resolve::GridConfig;
pub use time::{StepSize, TimeConfig, WallLimit};

use std::path::PathBuf;

pub use crate::backend::{
    BackendChoice as Backend, ComputeConfig, Pencils, RightHandSide, SweepConfig, Wish,
};
use crate::boundary::Boundaries;
use crate::cases::{Case, PassiveScalar};
use crate::gas::Gas;
use crate::grid::{Grid, spacings};
pub use crate::io::{CheckpointConfig, Schedule, StatisticsConfig};
use crate::physics::Problem;
pub use crate::physics::{
    Convection, EnergyForm, ForcingConfig, SchemeConfig, Variable, ViscousForm,
};
pub use crate::real::Precision;
pub use crate::scheme::FilterConfig;
pub use crate::statistics::Statistic;

/// A fully resolved run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The checkpoint from which the run starts, or a run whose newest checkpoint is used; `None` is the initial state of the
    /// case.
    pub origin: Option<PathBuf>,
    /// The flow and its parameters.
    pub case: Case,
    /// Gas with the case's Mach and Reynolds numbers.
    pub gas: Gas,
    /// Passive scalars, in the order of their names.
    pub scalars: Vec<PassiveScalar>,
    /// Points and box of the grid.
    pub grid: GridConfig,
    /// Boundary conditions at the ends of the axes.
    pub boundaries: Boundaries,
    /// The force on the flow, if any.
    pub forcing: Option<ForcingConfig>,
    /// Spatial discretisation.
    pub scheme: SchemeConfig,
    /// Time discretisation, and when to stop.
    pub time: TimeConfig,
    /// Where and how the run is computed.
    pub compute: ComputeConfig,
    /// Output of the run.
    pub output: OutputConfig,
}

impl Config {
    /// The grid.
    pub fn grid(&self) -> Grid {
        self.problem().grid()
    }

    /// A grid of `points` with the ends of lines that this run has, but equal spacings.
    pub(crate) fn unmapped_grid(&self, points: [usize; 3]) -> Grid {
        let spacings = spacings(&self.grid.stretching, self.grid.mapping.as_ref());
        self.boundaries.grid(points, &self.grid.domain, spacings)
    }

    /// The exact solution at every point, for the field that is plotted for the case; NaN where there is none.
    pub(crate) fn exact_solution(&self, time: f64) -> Vec<f64> {
        let grid = self.grid();
        let at = |point: usize| self.exact_at(grid.coordinates(grid.index(point)), time);
        (0..grid.len()).map(|point| at(point).unwrap_or(f64::NAN)).collect()
    }

    /// The same at a point x; `None` where there is none.
    pub(crate) fn exact_at(&self, x: [f64; 3], time: f64) -> Option<f64> {
        let (domain, active) = (&self.grid.domain, self.grid.points.map(|n| n > 1));
        if let Some(scalar) = self.case.scalar() {
            return scalar.exact(domain, active, x, time);
        }
        let flow = self.case.flow()?;
        let point = flow.exact(&self.gas, domain, active, x, time)?;
        Some(point.mass_and_momentum()[flow.shown()])
    }

    /// See [`Problem::follows_case`].
    pub fn follows_case(&self) -> bool {
        self.problem().follows_case()
    }

    /// Whether the boundaries are those of the case.
    pub(crate) fn has_own_boundaries(&self) -> bool {
        self.boundaries == self.case.boundaries(&self.gas)
    }

    /// Whether the force is that of the case, or neither has one.
    pub(crate) fn has_own_forcing(&self) -> bool {
        self.forcing == self.case.forcing(&self.gas, &self.grid.domain)
    }

    /// The same run with another case, whose boundaries and force replace those of the present case; those set by the user
    /// remain.
    #[must_use]
    pub fn with_case(&self, case: Case) -> Self {
        let boundaries = match self.has_own_boundaries() {
            true => case.boundaries(&self.gas),
            false => self.boundaries,
        };
        let forcing = match self.has_own_forcing() {
            true => case.forcing(&self.gas, &self.grid.domain),
            false => self.forcing.clone(),
        };
        Self { case, boundaries, forcing, ..self.clone() }
    }

    /// The problem to solve, independent of the input.
    pub fn problem(&self) -> Problem {
        Problem {
            case: self.case.clone(),
            gas: self.gas,
            scalars: self.scalars.clone(),
            points: self.grid.points,
            domain: self.grid.domain,
            stretching: self.grid.stretching.clone(),
            mapping: self.grid.mapping.clone(),
            boundaries: self.boundaries,
            forcing: self.forcing.clone(),
            scheme: self.scheme.clone(),
            integrator: self.time.integrator,
            right_hand_side: self.compute.right_hand_side,
            precision: self.compute.precision,
        }
    }
}
