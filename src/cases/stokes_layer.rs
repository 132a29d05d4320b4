//! Gas over a plate that oscillates in its plane (Stokes 1851).

use std::f64::consts::TAU;

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::{About, Case, Definition, Domain, FlowCase, FlowPoint};
use crate::boundary::{Boundaries, Wall};
use crate::gas::Gas;
use crate::grid::Axis;
use crate::typed::positive;

/// The plate at y = 0 moves with u = A cos ωt; the plate at y = h is at rest. With λ² = iω Re,
///
/// ```text
/// u = A Re[exp(iωt) sinh λ(h − y) / sinh λh],  ρ = T = 1,  p = 1 / (γ Ma²),  v = w = 0
/// ```
///
/// which is exact up to viscous heating, O(A²). Over a single plate, h → ∞, u = A exp(−κy) cos(ωt − κy) with κ² = ω Re/2 (Stokes's second
/// problem).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StokesLayer {
    /// A.
    pub amplitude: f64,
    /// ω.
    #[serde(deserialize_with = "positive")]
    pub frequency: f64,
}

impl Default for StokesLayer {
    fn default() -> Self {
        StokesLayer { amplitude: 1e-4, frequency: TAU }
    }
}

impl StokesLayer {
    pub(super) const ABOUT: About = About {
        name: "stokes-layer",
        title: "Stokes layer",
        summary: "gas over a plate that oscillates in its plane; exact to first order (1-D)",
        input: include_str!("../../configs/stokes-layer.toml"),
        mach: |_| 0.5,
        reynolds: 20.0,
        domain: Domain::cube(1.0),
        needs: [false, true, false],
    };
}

impl Definition for StokesLayer {
    fn boundaries(&self, _: &Gas) -> Boundaries {
        let plate = Wall::isothermal(1.0);
        let velocity = [self.amplitude, 0.0, 0.0];
        let oscillating = Wall { velocity, frequency: self.frequency, ..plate };
        Boundaries::along(Axis::Y, [oscillating, plate])
    }

    fn opposite(&self) -> Option<Case> {
        Some(Case::StokesLayer(StokesLayer { amplitude: -self.amplitude, ..*self }))
    }
}

impl FlowCase for StokesLayer {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let (y, height) = (x[1] - domain.origin[1], domain.length[1]);
        let lambda = (Complex::I * self.frequency * gas.reynolds).sqrt();
        // sinh λ(h − y) / sinh λh without overflow.
        let decays = |distance: f64| 1.0 - (-2.0 * lambda * distance).exp();
        let shape = (-lambda * y).exp() * decays(height - y) / decays(height);
        let phase = Complex::new(0.0, self.frequency * t).exp();
        FlowPoint {
            density: 1.0,
            velocity: [self.amplitude * (phase * shape).re, 0.0, 0.0],
            pressure: gas.reference_pressure(),
        }
    }

    fn is_exact(&self, _: &Gas) -> bool {
        true
    }

    /// ρu: the density does not change.
    fn shown(&self) -> usize {
        1
    }
}
