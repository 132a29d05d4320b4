//! Gas between two plates, one of which moves (Couette), with viscous heating.

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint};
use crate::boundary::{Boundaries, Wall};
use crate::gas::{Gas, Viscosity};
use crate::grid::Axis;
use crate::typed::positive;

/// A plate at y = 0, at rest with T = 1, and a plate at y = h, which moves with V₀ and has T = T₁. If the viscosity is constant, with η =
/// y/h,
///
/// ```text
/// u = η,  T = 1 + (T₁ − 1) η + ½ (γ − 1) Ma² Pr η (1 − η),  p = 1 / (γ Ma²),  v = w = 0
/// ```
///
/// is an exact steady solution: the shear stress is uniform, and conduction removes the viscous heat.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CouetteFlow {
    /// T₁.
    #[serde(deserialize_with = "positive")]
    pub temperature: f64,
}

impl Default for CouetteFlow {
    fn default() -> Self {
        CouetteFlow { temperature: 1.0 }
    }
}

impl CouetteFlow {
    pub(super) const ABOUT: About = About {
        name: "couette-flow",
        title: "Couette flow",
        summary: "gas between a resting and a moving plate, with viscous heating; exact (1-D)",
        input: include_str!("../../configs/couette-flow.toml"),
        mach: |_| 0.8,
        reynolds: 100.0,
        domain: Domain::cube(1.0),
        needs: [false, true, false],
    };
}

impl Definition for CouetteFlow {
    fn boundaries(&self, _: &Gas) -> Boundaries {
        let moving = Wall::isothermal(self.temperature).moving([1.0, 0.0, 0.0]);
        Boundaries::along(Axis::Y, [Wall::isothermal(1.0), moving])
    }
}

impl FlowCase for CouetteFlow {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let eta = (x[1] - domain.origin[1]) / domain.length[1];
        let heated = 0.5 * (gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl;
        let t = 1.0 + (self.temperature - 1.0) * eta + heated * eta * (1.0 - eta);
        FlowPoint {
            density: 1.0 / t,
            velocity: [eta, 0.0, 0.0],
            pressure: gas.reference_pressure(),
        }
    }

    fn is_exact(&self, gas: &Gas) -> bool {
        gas.viscosity == Viscosity::Constant
    }
}
