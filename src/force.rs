//! What a user chooses of a force.

use serde::{Serialize, Serializer};

use crate::grid::Axis;

/// `[forcing]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForcingConfig {
    /// The force.
    #[serde(flatten)]
    pub kind: Force,
    /// Whether a uniform sink takes out of the energy equation what the force puts in.
    pub heat_removal: bool,
}

impl ForcingConfig {
    /// The random force, where it is one.
    pub(crate) fn stochastic(&self) -> Option<&Stochastic> {
        match &self.kind {
            Force::Stochastic(stochastic) => Some(stochastic),
            Force::Linear(_) | Force::PressureGradient(_) => None,
        }
    }

    /// The uniform force, where it is one.
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
    /// G along an axis, the same everywhere.
    PressureGradient(PressureGradient),
}

/// What drives a flow through a channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PressureGradient {
    /// Where G points.
    pub axis: Axis,
    /// What sets it.
    #[serde(flatten)]
    pub strength: Strength,
}

/// What sets G.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// G itself, in ρ₀V₀²/L.
    Value(f64),
    /// The mean ⟨ρu⟩ along the axis that G(t) holds.
    MassFlux(Held),
}

/// What sets the coefficient A of linear forcing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linear {
    /// A itself, in V₀/L.
    Coefficient(f64),
    /// The kinetic energy ⟨ρ u·u⟩ / 2 that A(t) holds.
    Energy(Held),
}

/// A mean that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// That of the start.
    Constant,
    /// This one, of an energy in ρ₀V₀², of a mass flux in ρ₀V₀.
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
    /// The largest |k| that is forced, in units of 2π over the longest axis along which the grid has more than one point.
    pub wavenumber: f64,
    /// ⟨f·f⟩^½ in the mean over time, in V₀²/L.
    pub amplitude: f64,
    /// T_L, over which the force forgets what it was, in L/V₀.
    pub time_scale: f64,
    /// Another seed gives other numbers.
    pub seed: u64,
}

impl Stochastic {
    /// Largest number of periods along an axis as long as `length`.
    #[allow(clippy::cast_possible_truncation, reason = "an input has at most 65536 points")]
    pub(crate) fn periods(&self, longest: f64, length: f64) -> i32 {
        (self.wavenumber * length / longest * (1.0 + 1e-12)).floor() as i32
    }
}

/// The length of the longest axis that has more than one point.
pub(crate) fn longest(length: [f64; 3], active: [bool; 3]) -> f64 {
    (0..3).filter(|&axis| active[axis]).map(|axis| length[axis]).fold(0.0, f64::max)
}
