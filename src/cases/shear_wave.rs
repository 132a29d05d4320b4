//! Transverse velocity wave in a uniform stream with viscous damping.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{About, Case, Definition, Domain, FlowCase, FlowPoint, MAX_PERIODS};
use crate::gas::Gas;
use crate::typed::whole;

/// With n periods along x, k = 2π n / Lₓ and ν = 1/Re,
///
/// ```text
/// u = U,  v = A exp(−ν k² t) sin k (x − U t),  w = 0,  ρ = 1,  p = 1 / (γ Ma²)
/// ```
///
/// which is exact up to viscous heating, O(A²).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShearWave {
    /// A.
    pub amplitude: f64,
    /// n, number of periods in the box.
    #[serde(deserialize_with = "whole::<u32, 1, MAX_PERIODS, _, _>")]
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
    pub(super) const ABOUT: About = About {
        name: "shear-wave",
        title: "Shear wave",
        summary: "a small transverse wave with viscous damping; exact to first order (1-D)",
        input: include_str!("../../configs/shear-wave.toml"),
        mach: |_| 0.5,
        reynolds: 100.0,
        domain: Domain::cube(TAU),
        needs: [true, false, false],
    };
}

impl Definition for ShearWave {
    fn periods(&self) -> [u32; 3] {
        [self.wavenumber, 0, 0]
    }

    fn opposite(&self) -> Option<Case> {
        Some(Case::ShearWave(ShearWave { amplitude: -self.amplitude, ..*self }))
    }
}

impl FlowCase for ShearWave {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let k = f64::from(self.wavenumber) * domain.wavenumber(0);
        let phase = k * (x[0] - domain.origin[0] - self.velocity * t);
        let decay = (-k * k * t / gas.reynolds).exp();
        FlowPoint {
            density: 1.0,
            velocity: [self.velocity, self.amplitude * decay * phase.sin(), 0.0],
            pressure: gas.reference_pressure(),
        }
    }

    fn is_exact(&self, _: &Gas) -> bool {
        true
    }

    /// ρv: the density does not change.
    fn shown(&self) -> usize {
        2
    }
}
