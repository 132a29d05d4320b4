//! User options of a force.

use serde::{Serialize, Serializer};

use crate::grid::Axis;

/// `[forcing]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForcingConfig {
    /// The force.
    #[serde(flatten)]
    pub kind: Force,
    /// Whether a uniform heat sink in the energy equation removes the energy added by the force.
    pub heat_removal: bool,
}

impl ForcingConfig {
    /// The random force, if it is one.
    pub(crate) fn stochastic(&self) -> Option<&Stochastic> {
        match &self.kind {
            Force::Stochastic(stochastic) => Some(stochastic),
            Force::Linear(_) | Force::PressureGradient(_) => None,
        }
    }

    /// The uniform force, if it is one.
    pub(crate) fn pressure_gradient(&self) -> Option<&PressureGradient> {
        match &self.kind {
            Force::PressureGradient(gradient) => Some(gradient),
            Force::Linear(_) | Force::Stochastic(_) => None,
        }
    }
}

/// A force with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Force {
    /// ρ f = A ρ (u − {u}) with the Favre mean {u} (Lundgren 2003; Rosales and Meneveau 2005).
    Linear(Linear),
    /// ⟨ρ⟩ f with random solenoidal waves f (Eswaran and Pope 1988).
    Stochastic(Stochastic),
    /// G along one axis, uniform in space.
    PressureGradient(PressureGradient),
}

/// The driving pressure gradient of a channel flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PressureGradient {
    /// Direction of G.
    pub axis: Axis,
    /// How G is determined.
    #[serde(flatten)]
    pub strength: Strength,
}

/// How G is determined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// G, in ρ₀V₀²/L.
    Value(f64),
    /// The mean ⟨ρu⟩ along the axis, kept constant by G(t).
    MassFlux(Held),
}

/// How the coefficient A of linear forcing is determined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linear {
    /// A, in V₀/L.
    Coefficient(f64),
    /// The kinetic energy ⟨ρ u·u⟩ / 2, kept constant by A(t).
    Energy(Held),
}

/// Target of a mean that is kept constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// The initial value.
    Constant,
    /// This value: an energy in ρ₀V₀², or a mass flux in ρ₀V₀.
    At(f64),
}

/// "constant" or the number.
impl Serialize for Held {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            Held::Constant => output.serialize_str("constant"),
            Held::At(value) => output.serialize_f64(*value),
        }
    }
}

/// Random waves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stochastic {
    /// Largest forced |k|, in units of 2π over the longest axis with more than one point.
    pub wavenumber: f64,
    /// ⟨f·f⟩^½, averaged over time, in V₀²/L.
    pub amplitude: f64,
    /// T_L, the correlation time of the force, in L/V₀.
    pub time_scale: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Stochastic {
    /// Largest number of periods along an axis of this `length`.
    #[allow(clippy::cast_possible_truncation, reason = "an input has at most 65536 points")]
    pub(crate) fn periods(&self, longest: f64, length: f64) -> i32 {
        (self.wavenumber * length / longest * (1.0 + 1e-12)).floor() as i32
    }
}

/// The length of the longest axis with more than one point.
pub(crate) fn longest(length: [f64; 3], active: [bool; 3]) -> f64 {
    (0..3).filter(|&axis| active[axis]).map(|axis| length[axis]).fold(0.0, f64::max)
}
