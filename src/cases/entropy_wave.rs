//! Density wave in a uniform stream at uniform pressure: an exact solution of the Euler equations.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint, require};
use crate::gas::Gas;

/// One period along every active axis j, of length Lⱼ:
///
/// ```text
/// ρ = 1 + A sin 2π Σⱼ (xⱼ − Uⱼ t) / Lⱼ,  (u, v, w) = U,  p = 1 / (γ Ma²)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntropyWave {
    /// Density amplitude A.
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
    pub(super) const ABOUT: About = About {
        name: "entropy-wave",
        title: "Entropy wave",
        summary: "a density wave carried at uniform pressure; exact for the Euler equations",
        input: include_str!("../../configs/entropy-wave.toml"),
        mach: |_| 0.5,
        reynolds: f64::INFINITY,
        domain: Domain::cube(1.0),
        needs: [false; 3],
    };
}

impl Definition for EntropyWave {
    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        let amplitude = self.amplitude;
        require(amplitude.abs() < 1.0, "amplitude", || {
            format!(
                "amplitude = {amplitude} makes the density negative; it must lie between -1 and 1"
            )
        })
    }
}

impl FlowCase for EntropyWave {
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

    fn is_exact(&self, gas: &Gas) -> bool {
        gas.is_inviscid()
    }
}
