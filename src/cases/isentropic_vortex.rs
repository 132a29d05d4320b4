//! Vortex carried by a uniform stream: an exact solution of the Euler equations (Shu 1997; Yee, Sandham and
//! Djomehri 1999).

use std::f64::consts::{PI, TAU};

use super::{Domain, FlowCase, FlowPoint};
use crate::physics::Gas;

/// With r the distance from the centre, which moves with the stream,
///
/// ```text
/// f = β/(2π) exp((1 − r²)/2)
/// u = U − f y,  v = V + f x
/// T = 1 − (γ − 1) Ma² β² / (8π²) exp(1 − r²),  ρ = T^{1/(γ − 1)},  p = ρ T / (γ Ma²)
/// ```
///
/// which balances dp/dr = ρ f² r at any Mach number; γ Ma² = 1 gives the usual T = p/ρ. L is the radius of the vortex:
/// it stays 1 in a box of any length. The vortex falls as exp(−r²/2), so a small box has a jump at its boundary:
/// 2.4e-5 at half width 5, 1.3e-13 at 8, below round-off from 9 on (Spiegel, Huynh and DeBonis 2015).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsentropicVortex {
    /// β.
    pub strength: f64,
    /// (U, V).
    pub velocity: [f64; 2],
    /// Half the length of the box along x and y, which is centred at 0.
    pub half_width: f64,
}

impl Default for IsentropicVortex {
    fn default() -> Self {
        IsentropicVortex { strength: 5.0, velocity: [1.0, 1.0], half_width: 10.0 }
    }
}

impl IsentropicVortex {
    /// 1 − T in the centre over e: (γ − 1) Ma² β² / (8π²).
    fn coldness(&self, gas: &Gas) -> f64 {
        (gas.gamma - 1.0) * (gas.mach * self.strength).powi(2) / (8.0 * PI * PI)
    }

    /// See [`Case::problems`](super::Case::problems).
    pub(super) fn problems(&self, gas: &Gas) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let strongest = (1.0_f64.exp() * self.coldness(gas)).sqrt();
        if strongest.is_nan() || strongest >= 1.0 {
            problems.push((
                "strength",
                format!(
                    "strength = {} makes the temperature negative in the centre at mach = {}; it must be below {:.4}",
                    self.strength,
                    gas.mach,
                    self.strength.abs() / strongest
                ),
            ));
        }
        if self.half_width.is_nan() || self.half_width <= 0.0 {
            let what = format!("half_width = {} must be positive", self.half_width);
            problems.push(("half_width", what));
        }
        problems
    }
}

impl FlowCase for IsentropicVortex {
    fn domain(&self) -> Domain {
        let h = self.half_width;
        Domain { origin: [-h; 3], length: [2.0 * h; 3] }
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

impl IsentropicVortex {
    fn at(&self, gas: &Gas, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let middle = domain.middle();
        let [dx, dy] = [0, 1].map(|j| {
            let centre = middle[j] + self.velocity[j] * t;
            if active[j] { domain.shortest(j, centre, x[j]) } else { 0.0 }
        });
        let r2 = dx * dx + dy * dy;
        let f = self.strength / TAU * (0.5 * (1.0 - r2)).exp();
        let temperature = 1.0 - self.coldness(gas) * (1.0 - r2).exp();
        let density = temperature.powf(1.0 / (gas.gamma - 1.0));
        FlowPoint {
            density,
            velocity: [self.velocity[0] - f * dy, self.velocity[1] + f * dx, 0.0],
            pressure: gas.reference_pressure() * density * temperature,
        }
    }
}
