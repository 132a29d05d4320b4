//! Small sound pulse between a wall and an outflow.

use serde::{Deserialize, Serialize};

use super::{About, Case, Definition, Domain, FlowCase, FlowPoint};
use crate::boundary::{Boundaries, Face, Open, Wall};
use crate::gas::Gas;
use crate::grid::Axis;
use crate::typed::positive;

/// A pressure pulse in a gas at rest, at the distance x₀ from an adiabatic wall at the low end of x. With the speed of sound c = 1/Ma and
/// g(x) = exp(−(x/w)²), P(x) = g(x − x₀) + g(x + x₀) the pulse and its image,
///
/// ```text
/// p' = A p₀/2 [P(x − ct) + P(x + ct)],  u' = A p₀/(2 ρ₀c) [P(x − ct) − P(x + ct)],  ρ' = p'/c²
/// ```
///
/// (d'Alembert 1747): half of it leaves through the outflow at the high end; the other half is reflected by the wall and leaves later. It
/// is exact up to O(A²) and O(1/Re).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcousticPulse {
    /// A.
    pub amplitude: f64,
    /// w.
    #[serde(deserialize_with = "positive")]
    pub width: f64,
    /// x₀.
    #[serde(deserialize_with = "positive")]
    pub distance: f64,
}

impl Default for AcousticPulse {
    fn default() -> Self {
        AcousticPulse { amplitude: 1e-6, width: 0.08, distance: 0.5 }
    }
}

impl AcousticPulse {
    pub(super) const ABOUT: About = About {
        name: "acoustic-pulse",
        title: "Acoustic pulse",
        summary: "a pulse of sound between a wall and an outflow; exact to first order (1-D)",
        input: include_str!("../../configs/acoustic-pulse.toml"),
        mach: |_| 1.0,
        reynolds: 1e8,
        domain: Domain::cube(1.0),
        needs: [true, false, false],
    };
}

impl Definition for AcousticPulse {
    fn boundaries(&self, gas: &Gas) -> Boundaries {
        let outflow = Open { relaxation: 0.0, ..Open::outflow(gas.reference_pressure()) };
        Boundaries::along(Axis::X, [Face::Wall(Wall::ADIABATIC), outflow.into()])
    }

    fn opposite(&self) -> Option<Case> {
        Some(Case::AcousticPulse(AcousticPulse { amplitude: -self.amplitude, ..*self }))
    }
}

impl FlowCase for AcousticPulse {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let (x, c, p) = (x[0] - domain.origin[0], 1.0 / gas.mach, gas.reference_pressure());
        let shape = |x: f64| (-(x / self.width).powi(2)).exp();
        let pulse = |x: f64| shape(x - self.distance) + shape(x + self.distance);
        let [right, left] = [x - c * t, x + c * t].map(|x| 0.5 * self.amplitude * p * pulse(x));
        FlowPoint {
            density: 1.0 + (right + left) / (c * c),
            velocity: [(right - left) / c, 0.0, 0.0],
            pressure: p + right + left,
        }
    }

    fn is_exact(&self, _: &Gas) -> bool {
        true
    }
}
