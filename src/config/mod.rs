//! From what the user typed to what the program uses: checked, with every default filled in.
//!
//! [`load()`] and [`parse`] read an input with its `--set` overrides; all that is wrong with it is told at once, each
//! problem with its line, what was found and what is allowed. [`Config::to_toml`] writes it back, resolved.
//!
//! Keys, defaults and ranges are those of the structs, which serde reads and writes. What serde cannot say (keys that
//! depend on others, tables of formulas by name) is in `resolve`, `case`, `time` and `output`.

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
use crate::grid::Grid;
pub use crate::io::{CheckpointConfig, Schedule, StatisticsConfig};
use crate::physics::Problem;
pub use crate::physics::{
    Convection, EnergyForm, ForcingConfig, SchemeConfig, Variable, ViscousForm,
};
pub use crate::real::Precision;
pub use crate::scheme::FilterConfig;
pub use crate::statistics::Statistic;

/// A run, fully resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The checkpoint that it starts from, or the run whose newest one that is; `None` is the initial state of the case.
    pub origin: Option<PathBuf>,
    /// The flow and its parameters.
    pub case: Case,
    /// Gas with the case's Mach and Reynolds numbers.
    pub gas: Gas,
    /// Passive scalars, in the order of their names.
    pub scalars: Vec<PassiveScalar>,
    /// Points and box.
    pub grid: GridConfig,
    /// What holds at the ends of the axes.
    pub boundaries: Boundaries,
    /// The force on the flow, where there is one.
    pub forcing: Option<ForcingConfig>,
    /// Discretisation in space.
    pub scheme: SchemeConfig,
    /// Discretisation in time, and when to stop.
    pub time: TimeConfig,
    /// Where and how it is computed.
    pub compute: ComputeConfig,
    /// What is written.
    pub output: OutputConfig,
}

impl Config {
    /// The grid.
    pub fn grid(&self) -> Grid {
        self.problem().grid()
    }

    /// The exact solution of what the case's flow shows, at every point; NaN where there is none, nothing for scalars.
    pub(crate) fn exact_solution(&self, time: f64) -> Vec<f64> {
        let (domain, active) = (&self.grid.domain, self.grid.points.map(|n| n > 1));
        let grid = self.grid();
        let Some(flow) = self.case.flow() else { return Vec::new() };
        let at = |point: usize| {
            let x = grid.coordinates(grid.index(point));
            let point = flow.exact(&self.gas, domain, active, x, time)?;
            Some(point.mass_and_momentum()[flow.shown()])
        };
        (0..grid.len()).map(|point| at(point).unwrap_or(f64::NAN)).collect()
    }

    /// See [`Problem::is_of_case`].
    pub fn is_of_case(&self) -> bool {
        self.problem().is_of_case()
    }

    /// Whether the boundaries are those of the case.
    pub(crate) fn has_own_boundaries(&self) -> bool {
        self.boundaries == self.case.boundaries(&self.gas)
    }

    /// Whether the force is that of the case, or none as there.
    pub(crate) fn has_own_forcing(&self) -> bool {
        self.forcing == self.case.forcing(&self.gas, &self.grid.domain)
    }

    /// The same run of another case, which brings its own boundaries and its own force where this one has its own.
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

    /// What is solved, for those who know no input.
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
