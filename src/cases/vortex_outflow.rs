//! Vortex convected out of the box by a uniform stream.

use serde::{Deserialize, Serialize};

use super::isentropic_vortex::{centred, temperature_drop, vortex};
use super::{About, Definition, Domain, FlowCase, FlowPoint, require};
use crate::boundary::{Beyond, Boundaries, Known, Open, Stream};
use crate::gas::Gas;
use crate::grid::Axis;
use crate::typed::positive;

/// The vortex of [`IsentropicVortex`](super::IsentropicVortex) in a stream with V₀ along x, in the middle of the box at t = 0,
///
/// ```text
/// f = β/(2π) exp((1 − r²)/2),  u = 1 − f y,  v = f (x − t)
/// T = 1 − (γ − 1) Ma² β² / (8π²) exp(1 − r²),  ρ = T^{1/(γ − 1)},  p = ρ T / (γ Ma²)
/// ```
///
/// which leaves through an outflow at the high end of x. It remains the solution of the Euler equations after the vortex has left, so the
/// error is the reflection from the outflow. The stream enters at the low end. The box is periodic along y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VortexOutflow {
    /// β.
    pub strength: f64,
    /// Half the length of the box along x and y; the box is centred at 0.
    #[serde(deserialize_with = "positive")]
    pub half_width: f64,
}

impl Default for VortexOutflow {
    fn default() -> Self {
        VortexOutflow { strength: 1.0, half_width: 6.0 }
    }
}

impl VortexOutflow {
    pub(super) const ABOUT: About = About {
        name: "vortex-outflow",
        title: "Vortex through an outflow",
        summary: "a vortex convected out of the box by a stream; exact for the Euler equations (2-D)",
        input: include_str!("../../configs/vortex-outflow.toml"),
        mach: |_| 0.3,
        reynolds: f64::INFINITY,
        domain: centred(6.0),
        needs: [true, true, false],
    };
}

impl Definition for VortexOutflow {
    fn domain(&self) -> Domain {
        centred(self.half_width)
    }

    fn boundaries(&self, gas: &Gas) -> Boundaries {
        let pressure = gas.reference_pressure();
        let stream = Stream { velocity: [1.0, 0.0, 0.0], ..Stream::at_rest(gas) };
        let inflow = Open::to(Beyond::Inflow(Known::Stream(stream)));
        let outflow = Open::outflow(pressure);
        Boundaries::along(Axis::X, [inflow, outflow])
    }

    fn problems(&self, gas: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        require(1.0_f64.exp() * temperature_drop(gas, self.strength) < 1.0, "strength", || {
            format!(
                "strength = {} makes the temperature negative in the centre at mach = {}; use a weaker vortex",
                self.strength, gas.mach
            )
        })
    }
}

impl FlowCase for VortexOutflow {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let [centre_x, centre_y, _] = domain.middle();
        let from_centre = [x[0] - centre_x - t, domain.shortest(1, centre_y, x[1])];
        let mut point = vortex(gas, self.strength, from_centre);
        point.velocity[0] += 1.0;
        point
    }

    fn is_exact(&self, gas: &Gas) -> bool {
        gas.is_inviscid()
    }
}
