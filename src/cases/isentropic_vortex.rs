//! Vortex carried by a uniform stream: an exact solution of the Euler equations (Shu 1997; Yee, Sandham and
//! Djomehri 1999).

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint, require};
use crate::gas::Gas;
use crate::typed::positive;

/// With r the distance from the centre, which moves with the stream,
///
/// ```text
/// f = β/(2π) exp((1 − r²)/2)
/// u = U − f y,  v = V + f x
/// T = 1 − (γ − 1) Ma² β² / (8π²) exp(1 − r²),  ρ = T^{1/(γ − 1)},  p = ρ T / (γ Ma²)
/// ```
///
/// where dp/dr = ρ f² r is satisfied at any Mach number; γ Ma² = 1 gives the usual T = p/ρ. L is the radius of the vortex: it is 1 in a box
/// of any length. The velocity decays as exp(−r²/2), so a small box has a jump at its boundary, 2 f h at half width h: 4.9e-5 at 5, 2.7e-13
/// at 8, below round-off from 9 on (Spiegel, Huynh and DeBonis 2015).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IsentropicVortex {
    /// β.
    pub strength: f64,
    /// (U, V).
    pub velocity: [f64; 2],
    /// Half the length of the box along x and y; the box is centred at 0.
    #[serde(deserialize_with = "positive")]
    pub half_width: f64,
}

impl Default for IsentropicVortex {
    fn default() -> Self {
        IsentropicVortex { strength: 5.0, velocity: [1.0, 1.0], half_width: 10.0 }
    }
}

impl IsentropicVortex {
    pub(super) const ABOUT: About = About {
        name: "isentropic-vortex",
        title: "Isentropic vortex",
        summary: "a vortex carried by a uniform stream; exact for the Euler equations (2-D)",
        input: include_str!("../../configs/isentropic-vortex.toml"),
        mach: |gamma| 1.0 / gamma.sqrt(),
        reynolds: f64::INFINITY,
        domain: centred(10.0),
        needs: [true, true, false],
    };
}

/// The box of this half width, centred at 0.
pub(super) const fn centred(h: f64) -> Domain {
    Domain { origin: [-h; 3], length: [2.0 * h; 3] }
}

/// 1 − T in the centre of a vortex of strength β, divided by e: (γ − 1) Ma² β² / (8π²).
pub(super) fn temperature_drop(gas: &Gas, strength: f64) -> f64 {
    (gas.gamma - 1.0) * (gas.mach * strength).powi(2) / (8.0 * PI * PI)
}

/// The vortex without a stream, at (x, y) from its centre.
pub(super) fn vortex(gas: &Gas, strength: f64, [x, y]: [f64; 2]) -> FlowPoint {
    let r2 = x * x + y * y;
    let f = strength / TAU * (0.5 * (1.0 - r2)).exp();
    let temperature = 1.0 - temperature_drop(gas, strength) * (1.0 - r2).exp();
    let density = temperature.powf(1.0 / (gas.gamma - 1.0));
    FlowPoint {
        density,
        velocity: [-f * y, f * x, 0.0],
        pressure: gas.reference_pressure() * density * temperature,
    }
}

impl Definition for IsentropicVortex {
    fn domain(&self) -> Domain {
        centred(self.half_width)
    }

    fn problems(&self, gas: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        let strongest = (1.0_f64.exp() * temperature_drop(gas, self.strength)).sqrt();
        require(strongest < 1.0, "strength", || {
            format!(
                "strength = {} makes the temperature negative in the centre at mach = {}; it must be below {:.4}",
                self.strength,
                gas.mach,
                self.strength.abs() / strongest
            )
        })
    }
}

impl FlowCase for IsentropicVortex {
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let middle = domain.middle();
        let from_centre = [0, 1].map(|j| {
            let centre = middle[j] + self.velocity[j] * t;
            if active[j] { domain.shortest(j, centre, x[j]) } else { 0.0 }
        });
        let mut point = vortex(gas, self.strength, from_centre);
        point.velocity[0] += self.velocity[0];
        point.velocity[1] += self.velocity[1];
        point
    }

    fn is_exact(&self, gas: &Gas) -> bool {
        gas.is_inviscid()
    }
}
