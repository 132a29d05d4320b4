//! Transverse velocity wave in a uniform stream, damped by viscosity.

use std::f64::consts::TAU;

use super::{Domain, FlowCase, FlowPoint};
use crate::physics::Gas;

/// With n periods along x, k = 2π n / Lₓ and ν = 1/Re,
///
/// ```text
/// u = U,  v = A exp(−ν k² t) sin k (x − U t),  w = 0,  ρ = 1,  p = 1 / (γ Ma²)
/// ```
///
/// which is exact up to the heat of viscosity, O(A²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearWave {
    /// A.
    pub amplitude: f64,
    /// n, periods in the box.
    pub wavenumber: u32,
    /// U.
    pub velocity: f64,
}

impl Default for ShearWave {
    fn default() -> Self {
        ShearWave { amplitude: 1e-4, wavenumber: 1, velocity: 1.0 }
    }
}

impl ShearWave {
    /// See [`Case::problems`](super::Case::problems).
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        super::wavenumber_problem(self.wavenumber)
    }

    fn at(&self, gas: &Gas, domain: &Domain, x: [f64; 3], t: f64) -> FlowPoint {
        let k = f64::from(self.wavenumber) * domain.wavenumber(0);
        let phase = k * (x[0] - domain.origin[0] - self.velocity * t);
        let decay = (-k * k * t / gas.reynolds).exp();
        FlowPoint {
            density: 1.0,
            velocity: [self.velocity, self.amplitude * decay * phase.sin(), 0.0],
            pressure: gas.reference_pressure(),
        }
    }
}

impl FlowCase for ShearWave {
    fn domain(&self) -> Domain {
        Domain::cube(TAU)
    }

    fn initial(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3]) -> FlowPoint {
        self.at(gas, domain, x, 0.0)
    }

    fn exact(
        &self,
        gas: &Gas,
        domain: &Domain,
        _: [bool; 3],
        x: [f64; 3],
        t: f64,
    ) -> Option<FlowPoint> {
        Some(self.at(gas, domain, x, t))
    }
}
