//! Density wave carried by a uniform stream at uniform pressure: an exact solution of the Euler equations.

use std::f64::consts::TAU;

use super::{Domain, FlowCase, FlowPoint};
use crate::physics::Gas;

/// One period along every active axis j, of length Lⱼ:
///
/// ```text
/// ρ = 1 + A sin 2π Σⱼ (xⱼ − Uⱼ t) / Lⱼ,  (u, v, w) = U,  p = 1 / (γ Ma²)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyWave {
    /// A, of the density.
    pub amplitude: f64,
    /// U.
    pub velocity: [f64; 3],
}

impl Default for EntropyWave {
    fn default() -> Self {
        EntropyWave { amplitude: 0.2, velocity: [1.0; 3] }
    }
}

impl EntropyWave {
    /// See [`Case::problems`](super::Case::problems).
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        if self.amplitude.abs() < 1.0 {
            return Vec::new();
        }
        let what = format!(
            "amplitude = {} makes the density negative; it must lie between -1 and 1",
            self.amplitude
        );
        vec![("amplitude", what)]
    }

    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let periods: f64 = (0..3)
            .filter(|&j| active[j])
            .map(|j| (x[j] - domain.origin[j] - self.velocity[j] * t) / domain.length[j])
            .sum();
        FlowPoint {
            density: 1.0 + self.amplitude * (TAU * periods).sin(),
            velocity: self.velocity,
            pressure: gas.reference_pressure(),
        }
    }
}

impl FlowCase for EntropyWave {
    fn domain(&self) -> Domain {
        Domain::cube(1.0)
    }

    fn initial(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3]) -> FlowPoint {
        self.at(gas, domain, active, x, 0.0)
    }

    fn exact(
        &self,
        gas: &Gas,
        domain: &Domain,
        active: [bool; 3],
        x: [f64; 3],
        t: f64,
    ) -> Option<FlowPoint> {
        gas.is_inviscid().then(|| self.at(gas, domain, active, x, t))
    }
}
