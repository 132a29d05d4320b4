//! The canonical flows: initial state, domain, and the exact solution where there is one.
//!
//! A case knows the gas and the coordinates, never the operators. One file per case; the mathematics of each stands in
//! `cases/<case>/README.md`. Wavelengths follow the box, so that every case is periodic in a box of any length.

mod acoustic_wave;
mod entropy_wave;
mod isentropic_vortex;
mod reference;
mod registry;
mod scalar_advection;
mod shear_wave;
mod spectrum;
mod taylor_green;

pub use acoustic_wave::{AcousticWave, Mode};
pub use entropy_wave::EntropyWave;
pub use isentropic_vortex::IsentropicVortex;
pub use reference::Reference;
pub use registry::{NAMES, input};
pub use scalar_advection::{ScalarAdvection, Shape};
pub use shear_wave::ShearWave;
pub use spectrum::ReferenceSpectrum;
pub use taylor_green::{Start, TaylorGreen};

use std::f64::consts::TAU;

use crate::physics::Gas;

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

/// The box of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Length of a period along x, y, z.
    pub length: [f64; 3],
}

impl Domain {
    /// The box [0, `length`]³.
    pub const fn cube(length: f64) -> Domain {
        Domain { origin: [0.0; 3], length: [length; 3] }
    }

    /// 2π / L along `axis`: the wavenumber of one period in the box.
    pub fn wavenumber(&self, axis: usize) -> f64 {
        TAU / self.length[axis]
    }

    /// The way along `axis` from `from` to the nearest periodic image of `to`, in [−L/2, L/2].
    pub fn shortest(&self, axis: usize, from: f64, to: f64) -> f64 {
        let length = self.length[axis];
        let way = to - from;
        way - length * (way / length).round()
    }

    /// Coordinates of the middle of the box.
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.origin[axis] + 0.5 * self.length[axis])
    }
}

/// A flow governed by the compressible Navier-Stokes (or Euler) equations.
pub trait FlowCase {
    /// Its box, unless the user gives `grid.length`.
    fn domain(&self) -> Domain;

    /// The state at t = 0 at the point `x` of the box `domain`. `active[axis]` is false where the grid has one point
    /// along that axis: nothing varies there.
    fn initial(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3]) -> FlowPoint;

    /// The exact solution at time `t`, where there is one.
    fn exact(
        &self,
        gas: &Gas,
        domain: &Domain,
        active: [bool; 3],
        x: [f64; 3],
        t: f64,
    ) -> Option<FlowPoint>;
}

/// A case with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Case {
    /// Decaying Taylor-Green vortex.
    TaylorGreen(TaylorGreen),
    /// Vortex carried by a uniform stream.
    IsentropicVortex(IsentropicVortex),
    /// Density wave carried by a uniform stream.
    EntropyWave(EntropyWave),
    /// Linear acoustic or entropy mode with viscosity and conduction.
    AcousticWave(AcousticWave),
    /// Transverse velocity wave, decaying by viscosity.
    ShearWave(ShearWave),
    /// Linear scalar advection and diffusion.
    ScalarAdvection(ScalarAdvection),
}

/// A wave that goes along x needs a period there (see [`Case::problems`]).
fn wavenumber_problem(wavenumber: u32) -> Vec<(&'static str, String)> {
    if wavenumber > 0 {
        return Vec::new();
    }
    vec![(
        "wavenumber",
        "wavenumber = 0 is no wave; it counts the periods in the box, 1 or more".into(),
    )]
}
