//! The canonical flows: initial state, domain, and the exact solution where there is one.
//!
//! A case knows the gas and the coordinates, never the operators. One file per case; the mathematics of each stands in
//! `cases/<case>/README.md`. Wavelengths follow the box, so that every case is periodic in a box of any length.

mod abc_flow;
mod acoustic_pulse;
mod acoustic_wave;
mod aerofoil;
mod boundary_layer;
mod channel;
mod couette;
pub mod custom;
mod cylinder;
mod double_shear_layer;
mod entropy_wave;
mod isentropic_vortex;
mod isotropic_turbulence;
mod kida_vortex;
mod lid_driven_cavity;
mod passive_scalar;
mod poiseuille;
mod reference;
mod registry;
mod scalar_advection;
mod shear_wave;
mod start;
mod stokes_layer;
mod taylor_green;
mod vortex_outflow;

pub use acoustic_wave::Mode;
pub use boundary_layer::Similarity;
pub use double_shear_layer::Layer;
pub use isotropic_turbulence::{Pressure, Spectrum};
pub use passive_scalar::{AtWall, PassiveScalar, ScalarBeyond};
pub use reference::{ReferenceHistory, ReferenceSpectrum};
pub use registry::*;
pub use scalar_advection::Shape;
pub use start::Start;

use std::path::Path;

use crate::boundary::Boundaries;
use crate::comm::Communicator;
use crate::error::Result;
use crate::force::ForcingConfig;
use crate::gas::Gas;
pub use crate::grid::Domain;
use crate::grid::{Decomposition, Grid, Mapping};

/// What is said of a case, whatever its parameters.
#[derive(Debug)]
pub struct About {
    /// What the user types as `case.name`.
    pub name: &'static str,
    /// What it is called in a text.
    pub title: &'static str,
    /// One line for `kolmo cases`.
    pub summary: &'static str,
    /// The commented input: what `kolmo init` prints, and what `kolmo run` runs given only the name.
    pub input: &'static str,
    /// Ma where the user gives none, from γ.
    pub mach: fn(f64) -> f64,
    /// Re where the user gives none; infinite where the exact solution is one of the Euler equations. A scalar has no use for both.
    pub reynolds: f64,
    /// Its box with the usual parameters.
    pub domain: Domain,
    /// The axes along which the grid must have more than one point.
    pub needs: [bool; 3],
}

/// A flow or a scalar with its parameters. Cases are those of [`Case`]: a program that uses the library begins another flow from arrays
/// ([`Simulation::start_from`](crate::time::Simulation::start_from)) or from the expressions of `custom`.
pub trait Definition: Listed {
    /// Its box, unless the user gives `grid.length`.
    fn domain(&self) -> Domain {
        self.about().domain
    }

    /// What holds at the ends of its box, unless the user says otherwise.
    fn boundaries(&self, _: &Gas) -> Boundaries {
        Boundaries::PERIODIC
    }

    /// The map of its curvilinear grid, unless the user says otherwise.
    fn mapping(&self) -> Option<Mapping> {
        None
    }

    /// The force that keeps it going in the box `domain`, unless the user says otherwise.
    fn forcing(&self, _: &Gas, _domain: &Domain) -> Option<ForcingConfig> {
        None
    }

    /// What is impossible about the parameters with this gas and box: (key of `[case]`, or `length` of `[grid]`; a sentence
    /// that says what was found, and what is allowed there or in further lines). Empty where all is well.
    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What is impossible about the parameters on this grid, as above.
    fn problems_on(&self, _: &Grid) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Why its start is another flow on every grid; `None` where it is the same.
    fn grid_dependence(&self) -> Option<&'static str> {
        None
    }

    /// Periods of its `wavenumber` along x, y, z, which the grid must resolve; 0 where there are none.
    fn periods(&self) -> [u32; 3] {
        [0; 3]
    }

    /// Of a case whose solution is exact to first order in its amplitude only, that with the opposite amplitude: half the
    /// difference of the two is exact to second order. `None` where the solution is exact, or unknown.
    fn opposite(&self) -> Option<Case> {
        None
    }

    /// Published or computed history to hold a run against, where there is one for this gas, box and grid.
    fn reference(&self, _: &Gas, _: &Domain, _: [bool; 3]) -> Option<ReferenceHistory> {
        None
    }

    /// The spectrum to hold a run against, where there is one for this gas, box and grid.
    fn reference_spectrum(&self, _: &Gas, _: &Domain, _: [bool; 3]) -> Option<ReferenceSpectrum> {
        None
    }
}

/// A flow governed by the compressible Navier-Stokes (or Euler) equations.
pub trait FlowCase: Definition {
    /// The solution at the point `x` of the box `domain` at time `t`; where none is known, the initial state. `active[axis]`
    /// is false where the grid has one point along that axis: nothing varies there.
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint;

    /// Whether [`at`](Self::at) is the solution at t > 0 too.
    fn is_exact(&self, _: &Gas) -> bool {
        false
    }

    /// Which of (ρ, ρu, ρv, ρw) shows what an exact solution does, and what a run makes of it: errors are of it.
    fn shown(&self) -> usize {
        0
    }

    /// The state at t = 0.
    fn initial(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3]) -> FlowPoint {
        self.at(gas, domain, active, x, 0.0)
    }

    /// The exact solution at time `t`, where there is one.
    fn exact(
        &self,
        gas: &Gas,
        domain: &Domain,
        active: [bool; 3],
        x: [f64; 3],
        t: f64,
    ) -> Option<FlowPoint> {
        self.is_exact(gas).then(|| self.at(gas, domain, active, x, t))
    }
}

/// A flow whose start no formula gives at a point: it is made of arrays, or of random modes, on the grid as a whole.
pub trait GridCase: Definition {
    /// A file with arrays that the start is made of, and the names that these may have.
    fn file(&self) -> Option<(&Path, &'static [&'static str])> {
        None
    }

    /// Values at every point that are held at a time while the start is made, those of the file left aside: those of [`FlowPoint`].
    fn values(&self) -> usize {
        5
    }

    /// The flow at the points of this rank's block, i fastest. `arrays` are those of the file at these points, by the position
    /// of their names. Collective.
    ///
    /// # Errors
    /// On all ranks, where the parameters give no flow on this grid.
    fn start(&self, place: &Place<'_>, arrays: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>>;
}

/// Where a start is made.
pub struct Place<'a> {
    /// The ranks.
    pub comm: &'a dyn Communicator,
    /// How the grid is cut among them.
    pub decomposition: Decomposition,
    /// The grid.
    pub grid: Grid,
    /// The box.
    pub domain: Domain,
    /// The gas.
    pub gas: Gas,
}

/// The flow at a point, non-dimensional.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowPoint {
    /// ρ.
    pub density: f64,
    /// (u, v, w).
    pub velocity: [f64; 3],
    /// p.
    pub pressure: f64,
}

impl FlowPoint {
    /// (ρ, ρu, ρv, ρw).
    pub fn mass_and_momentum(&self) -> [f64; 4] {
        let [u, v, w] = self.velocity;
        [self.density, self.density * u, self.density * v, self.density * w]
    }
}

/// More periods than this fit no grid.
const MOST_PERIODS: i64 = 32768;

/// What is wrong with a box that is no cube, for the flow `name` that needs one.
fn no_cube(name: &str, domain: &Domain) -> Vec<(&'static str, String)> {
    let [x, y, z] = domain.length;
    if x == y && y == z {
        return Vec::new();
    }
    let what = format!("length = [{x}, {y}, {z}]: {name} needs a cube\nuse three equal lengths");
    vec![("length", what)]
}
