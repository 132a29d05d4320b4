//! Gas between two plates at rest, driven by a pressure gradient (Poiseuille), with viscous heating.

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint};
use crate::boundary::{Boundaries, Wall};
use crate::force::{Force, ForcingConfig, PressureGradient, Strength};
use crate::gas::{Gas, Viscosity};
use crate::grid::Axis;

/// Plates with T = 1 at y = ±h and a force G = 2/(Re h²) per unit volume along x. If the viscosity is constant, with η = y/h,
///
/// ```text
/// u = 1 − η²,  T = 1 + ⅓ (γ − 1) Ma² Pr (1 − η⁴),  p = 1 / (γ Ma²),  v = w = 0
/// ```
///
/// is an exact steady solution: friction balances G, and conduction transports the viscous heat to the plates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoiseuilleFlow {}

impl PoiseuilleFlow {
    pub(super) const ABOUT: About = About {
        name: "poiseuille-flow",
        title: "Poiseuille flow",
        summary: "gas between two plates, driven by a pressure gradient, with viscous heating; exact (1-D)",
        input: include_str!("../../configs/poiseuille-flow.toml"),
        mach: |_| 0.8,
        reynolds: 100.0,
        domain: Domain { origin: [0.0, -1.0, 0.0], length: [2.0; 3] },
        needs: [false, true, false],
    };
}

impl Definition for PoiseuilleFlow {
    fn boundaries(&self, _: &Gas) -> Boundaries {
        Boundaries::along(Axis::Y, [Wall::isothermal(1.0); 2])
    }

    fn forcing(&self, gas: &Gas, domain: &Domain) -> Option<ForcingConfig> {
        let half = 0.5 * domain.length[1];
        let strength = Strength::Value(2.0 / (gas.reynolds * half * half));
        let kind = Force::PressureGradient(PressureGradient { axis: Axis::X, strength });
        Some(ForcingConfig { kind, heat_removal: false })
    }
}

impl FlowCase for PoiseuilleFlow {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let eta = 2.0 * (x[1] - domain.origin[1]) / domain.length[1] - 1.0;
        let square = eta * eta;
        let heated = (gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl / 3.0;
        FlowPoint {
            density: 1.0 / (1.0 + heated * (1.0 - square * square)),
            velocity: [1.0 - square, 0.0, 0.0],
            pressure: gas.reference_pressure(),
        }
    }

    fn is_exact(&self, gas: &Gas) -> bool {
        gas.viscosity == Viscosity::Constant
    }

    fn shown(&self) -> usize {
        1
    }
}
