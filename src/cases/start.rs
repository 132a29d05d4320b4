//! Compressible initial states from the velocity and the pressure of an incompressible flow.

use serde::{Deserialize, Serialize};

use super::FlowPoint;
use crate::gas::Gas;

/// The quantity that is uniform at t = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// ρ = 1: d(div u)/dt = 0 at t = 0, so the initial state emits no sound, ⟨(div u)²⟩ = O(t⁴).
    #[default]
    ConstantDensity,
    /// T = 1, so ρ = γ Ma² p: the initial state of the high-order workshop and of Chapelier et al. (2024), ⟨(div u)²⟩ = O(t²).
    ConstantTemperature,
    /// p/ρ^γ, so ρ = (p/p₀)^{1/γ}: isentropic fluctuations, as in sound.
    Isentropic,
}

impl Start {
    /// The state of an incompressible flow with this velocity and this p', at p₀ + p'.
    pub(super) fn point(self, gas: &Gas, velocity: [f64; 3], fluctuation: f64) -> FlowPoint {
        let reference = gas.reference_pressure();
        let density = match self {
            Start::ConstantDensity => 1.0,
            Start::ConstantTemperature => 1.0 + fluctuation / reference,
            Start::Isentropic => (1.0 + fluctuation / reference).powf(1.0 / gas.gamma),
        };
        FlowPoint { density, velocity, pressure: reference + fluctuation }
    }
}
