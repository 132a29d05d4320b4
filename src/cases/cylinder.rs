//! A circular cylinder in a uniform stream.

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint, body_boundaries, require};
use crate::boundary::{Boundaries, Sponge};
use crate::gas::Gas;
use crate::grid::Mapping;

/// A cylinder of diameter 1 in a stream with V₀ along x, on an O-grid around it. The initial state is potential flow,
///
/// ```text
/// u_r = (1 − a²/r²) cos θ,  u_θ = − (1 + a²/r²) sin θ,  p = p∞ + ½ (1 − u·u),  a = 1/2
/// ```
///
/// with the velocity reduced to zero at the wall over some tenths of a diameter, and isentropic density. A gust behind the cylinder, v = A
/// exp(−(x − 3/2)² − y²), breaks the symmetry where the symmetric flow is unstable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cylinder {
    /// A.
    pub gust: f64,
}

/// a.
const RADIUS: f64 = 0.5;
/// Distance from the wall over which the initial velocity drops to zero.
const LAYER: f64 = 0.2;
/// Radius of the far field, and width and strength of the sponge in front of it.
const FAR_RADIUS: f64 = 40.0;
const SPONGE: Sponge = Sponge { width: 20.0, strength: 0.2 };

impl Cylinder {
    pub(super) const ABOUT: About = About {
        name: "cylinder",
        title: "Circular cylinder",
        summary: "a cylinder in a uniform stream: drag, lift, vortex shedding (2-D or 3-D, O-grid)",
        input: include_str!("../../configs/cylinder.toml"),
        mach: |_| 0.2,
        reynolds: 100.0,
        domain: Domain { origin: [0.0; 3], length: [1.0, 1.0, 4.0] },
        needs: [true, true, false],
    };
}

impl Definition for Cylinder {
    fn mapping(&self) -> Option<Mapping> {
        Some(Mapping::Ring { inner: RADIUS, outer: FAR_RADIUS, first: None })
    }

    fn boundaries(&self, gas: &Gas) -> Boundaries {
        body_boundaries(gas, [1.0, 0.0], SPONGE)
    }

    fn problems(&self, gas: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        // On the sides of the cylinder u·u = 4.
        let max_mach = (1.5 * gas.gamma).powf(-0.5);
        require(gas.mach < max_mach, "mach", || {
            format!(
                "mach = {} leaves the start no pressure beside the cylinder; it must be below {max_mach:.4}\n\
                 start a faster stream from `custom`, or from a checkpoint of a slower one",
                gas.mach
            )
        })
    }
}

impl FlowCase for Cylinder {
    fn at(&self, gas: &Gas, _: &Domain, _: [bool; 3], [x, y, _]: [f64; 3], _: f64) -> FlowPoint {
        let r2 = (x * x + y * y).max(RADIUS * RADIUS);
        let (ratio, cos, sin) = (RADIUS * RADIUS / r2, x * x / r2, x * y / r2);
        // Components of u_r and u_θ along x and y.
        let u = 1.0 - ratio * (2.0 * cos - 1.0);
        let v = -2.0 * ratio * sin;
        let pressure = gas.reference_pressure() + 0.5 * (1.0 - u * u - v * v);
        let scaled_distance = (r2.sqrt() - RADIUS) / LAYER;
        let factor = 1.0 - (-scaled_distance * scaled_distance).exp();
        let gust = self.gust * (-(x - 1.5).powi(2) - y * y).exp();
        FlowPoint {
            density: (pressure / gas.reference_pressure()).powf(1.0 / gas.gamma),
            velocity: [factor * u, factor * (v + gust), 0.0],
            pressure,
        }
    }
}
