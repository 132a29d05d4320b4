//! Gas in a square box with a moving lid (Ghia, Ghia and Shin 1982).

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint};
use crate::boundary::{Boundaries, Wall};
use crate::gas::Gas;

/// Gas at rest, ρ = T = 1, between walls with T = 1; from t = 0 on the wall at the high end of y moves with V₀ along x. The corners are at
/// rest, because the other walls are impermeable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LidDrivenCavity {}

impl LidDrivenCavity {
    pub(super) const ABOUT: About = About {
        name: "lid-driven-cavity",
        title: "Lid-driven cavity",
        summary: "gas in a square box with a moving lid (2-D)",
        input: include_str!("../../configs/lid-driven-cavity.toml"),
        mach: |_| 0.1,
        reynolds: 100.0,
        domain: Domain::cube(1.0),
        needs: [true, true, false],
    };
}

impl Definition for LidDrivenCavity {
    fn boundaries(&self, _: &Gas) -> Boundaries {
        let wall = Wall::isothermal(1.0);
        let lid = wall.moving([1.0, 0.0, 0.0]).into();
        let wall = wall.into();
        Boundaries([Some([wall, wall]), Some([wall, lid]), None])
    }
}

impl FlowCase for LidDrivenCavity {
    fn at(&self, gas: &Gas, _: &Domain, _: [bool; 3], _: [f64; 3], _: f64) -> FlowPoint {
        FlowPoint { density: 1.0, velocity: [0.0; 3], pressure: gas.reference_pressure() }
    }
}
