//! The base state, to which density, energy, pressure and temperature are stored relative.

use super::Gas;
use crate::real::Precision;

/// In f32 the fields hold deviations from the state at rest: at Ma 0.1 the round-off unit of ρE itself would be 1e-4 of the kinetic energy.
/// In f64 they hold the quantities themselves: the base state is zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct BaseState {
    /// ρ.
    pub density: f64,
    /// p; ρE is stored relative to p / (γ − 1).
    pub pressure: f64,
    /// T.
    pub temperature: f64,
}

impl BaseState {
    /// The base state of fields of `precision`.
    pub fn of(gas: &Gas, precision: Precision) -> Self {
        if precision == Precision::F64 {
            return Self::default();
        }
        Self { density: 1.0, pressure: gas.reference_pressure(), temperature: 1.0 }
    }

    /// The base state of (ρ, ρu, ρv, ρw, ρE).
    pub fn conserved(&self, gamma: f64) -> [f64; 5] {
        [self.density, 0.0, 0.0, 0.0, self.pressure / (gamma - 1.0)]
    }
}
