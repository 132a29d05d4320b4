//! The canonical flows: initial state, domain, and the exact solution if one exists.
//!
//! A case depends on the gas and the coordinates, never on the operators. There is one file per case; `cases/<case>/README.md` has the
//! mathematics. Wavelengths scale with the box, so that every case is periodic in a box of any length.

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

use crate::boundary::{Beyond, Boundaries, Face, Known, Open, Sponge, Stream, Wall};
use crate::comm::Communicator;
use crate::error::Result;
use crate::force::ForcingConfig;
use crate::gas::Gas;
pub use crate::grid::Domain;
use crate::grid::{Axis, Decomposition, Grid, Mapping};

/// Description of a case, independent of its parameters.
#[derive(Debug)]
pub struct About {
    /// Value of `case.name` in inputs.
    pub name: &'static str,
    /// Title in texts.
    pub title: &'static str,
    /// One line for `kolmo cases`.
    pub summary: &'static str,
    /// The commented input: what `kolmo init` prints, and what `kolmo run` runs given only the name.
    pub input: &'static str,
    /// Default Ma as a function of γ.
    pub mach: fn(f64) -> f64,
    /// Default Re; infinite if the exact solution is a solution of the Euler equations. A scalar uses neither Ma nor Re.
    pub reynolds: f64,
    /// The box for the default parameters.
    pub domain: Domain,
    /// The axes along which the grid must have more than one point.
    pub needs: [bool; 3],
}

/// A flow or a scalar with its parameters. The set of cases is that of [`Case`]: a program that uses the library starts other flows from
/// arrays ([`Simulation::start_from`](crate::time::Simulation::start_from)) or from the expressions of `custom`.
pub trait Definition: Listed {
    /// The default box, without `grid.length`.
    fn domain(&self) -> Domain {
        self.about().domain
    }

    /// The default boundary conditions.
    fn boundaries(&self, _: &Gas) -> Boundaries {
        Boundaries::PERIODIC
    }

    /// The default map of its curvilinear grid.
    fn mapping(&self) -> Option<Mapping> {
        None
    }

    /// The default force in the box `domain`.
    fn forcing(&self, _: &Gas, _domain: &Domain) -> Option<ForcingConfig> {
        None
    }

    /// Errors of the parameters with this gas and box: (key of `[case]`, or `length` of `[grid]`; a sentence that states what was found,
    /// and the allowed values there or on further lines). Empty if there are none.
    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Errors of the parameters on this grid, in the same form.
    fn problems_on(&self, _: &Grid) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Why the initial flow depends on the grid; `None` if it does not.
    fn grid_dependence(&self) -> Option<&'static str> {
        None
    }

    /// Numbers of periods of its `wavenumber` along x, y, z, which the grid must resolve; 0 without periods.
    fn periods(&self) -> [u32; 3] {
        [0; 3]
    }

    /// For a case whose solution is exact only to first order in its amplitude, the case with the opposite amplitude: half the difference
    /// of the two is exact to second order. `None` if the solution is exact, or unknown.
    fn opposite(&self) -> Option<Case> {
        None
    }

    /// Published or computed history for comparison with a run, if there is one for this gas, box and grid.
    fn reference(&self, _: &Gas, _: &Domain, _: [bool; 3]) -> Option<ReferenceHistory> {
        None
    }

    /// Reference spectrum for comparison with a run, if there is one for this gas, box and grid.
    fn reference_spectrum(&self, _: &Gas, _: &Domain, _: [bool; 3]) -> Option<ReferenceSpectrum> {
        None
    }
}

/// A flow governed by the compressible Navier-Stokes (or Euler) equations.
pub trait FlowCase: Definition {
    /// The solution at the point `x` of the box `domain` at time `t`, or the initial state if the solution is unknown. `active[axis]` is
    /// false where the grid has one point along that axis: nothing varies there.
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint;

    /// Whether [`at`](Self::at) is the solution at t > 0 too.
    fn is_exact(&self, _: &Gas) -> bool {
        false
    }

    /// Index in (ρ, ρu, ρv, ρw) of the quantity used for profiles and errors.
    fn shown(&self) -> usize {
        0
    }

    /// The state at t = 0.
    fn initial(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3]) -> FlowPoint {
        self.at(gas, domain, active, x, 0.0)
    }

    /// The exact solution at time `t`, if there is one.
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

/// A flow whose initial state has no pointwise formula: it is constructed on the grid as a whole, from arrays or random modes.
pub trait GridCase: Definition {
    /// A file with arrays for the initial state, and the names that these may have.
    fn file(&self) -> Option<(&Path, &'static [&'static str])> {
        None
    }

    /// Number of values per point held at once while the initial state is constructed, without those of the file: by default those of
    /// [`FlowPoint`].
    fn values(&self) -> usize {
        5
    }

    /// The flow at the points of this rank's block, i fastest. `arrays` are the arrays of the file at these points, with the index of their
    /// names. Collective.
    ///
    /// # Errors
    /// On all ranks, if the parameters give no valid flow on this grid.
    fn start(&self, place: &Place<'_>, arrays: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>>;
}

/// Context for the construction of an initial state.
pub struct Place<'a> {
    /// The ranks.
    pub comm: &'a dyn Communicator,
    /// The decomposition of the grid over the ranks.
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

/// Largest number of periods on any grid.
const MAX_PERIODS: i64 = 32768;

/// The boundaries of an O-grid about an adiabatic body in a stream along (u, v), with a sponge before the far field.
fn body_boundaries(gas: &Gas, [u, v]: [f64; 2], sponge: Sponge) -> Boundaries {
    let stream = Stream { velocity: [u, v, 0.0], ..Stream::at_rest(gas) };
    let far = Open::to(Beyond::FarField(Known::Stream(stream)));
    let far = Open { sponge: Some(sponge), ..far };
    Boundaries::along(Axis::Y, [Face::Wall(Wall::ADIABATIC), Face::Open(far)])
}

/// The error of a parameter with this key, unless its value `is_valid`.
fn require(
    is_valid: bool,
    key: &'static str,
    what: impl FnOnce() -> String,
) -> Vec<(&'static str, String)> {
    if is_valid { Vec::new() } else { vec![(key, what())] }
}

/// The error that a box is not a cube, for the flow `name` that needs one.
fn cube_problem(name: &str, domain: &Domain) -> Vec<(&'static str, String)> {
    let [x, y, z] = domain.length;
    require(x == y && y == z, "length", || {
        format!("length = [{x}, {y}, {z}]: {name} needs a cube\nuse three equal lengths")
    })
}
