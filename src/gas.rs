//! The perfect gas and its viscosity, non-dimensional with L, V₀, ρ₀, T₀ and μ₀.

use serde::{Deserialize, Serialize};

use crate::real::Number;

/// The dependence of the viscosity μ/μ₀ on the temperature T/T₀.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "lowercase")]
pub enum Viscosity {
    /// μ = 1.
    #[default]
    Constant,
    /// μ = Tⁿ.
    Power {
        /// n.
        exponent: f64,
    },
    /// μ = T^{3/2} (1 + S) / (T + S) (Sutherland 1893).
    Sutherland {
        /// S = S₀/T₀, by default 110.4 K / 273.15 K.
        temperature_ratio: f64,
    },
}

impl Viscosity {
    /// The power law of air.
    pub const POWER: Self = Viscosity::Power { exponent: 0.76 };
    /// Sutherland's law of air at 0 °C.
    pub const SUTHERLAND: Self = Viscosity::Sutherland { temperature_ratio: 110.4 / 273.15 };
}

/// A perfect gas in the scaling of the equations (see the crate's front page).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gas {
    /// γ, ratio of the specific heats.
    pub gamma: f64,
    /// Pr = μ c_p / k.
    pub prandtl: f64,
    /// Ma = V₀ / c₀ with c₀ the speed of sound at T₀.
    pub mach: f64,
    /// Re = ρ₀ V₀ L / μ₀; infinite for the Euler equations.
    pub reynolds: f64,
    /// Viscosity law.
    pub viscosity: Viscosity,
}

impl Gas {
    /// p₀ = 1 / (γ Ma²), the pressure at ρ = T = 1.
    pub fn reference_pressure(&self) -> f64 {
        1.0 / (self.gamma * self.mach * self.mach)
    }

    /// T = γ Ma² p / ρ.
    pub fn temperature(&self, density: f64, pressure: f64) -> f64 {
        self.gamma * self.mach * self.mach * pressure / density
    }

    /// 1 / ((γ − 1) Ma² Pr Re): the heat flux is −λ ∂T/∂x, with λ this number times μ.
    pub fn conductivity(&self) -> f64 {
        let Gas { gamma, mach, prandtl, reynolds, .. } = *self;
        1.0 / ((gamma - 1.0) * mach * mach * prandtl * reynolds)
    }

    /// True if there are no viscous terms.
    pub fn is_inviscid(&self) -> bool {
        self.reynolds.is_infinite()
    }

    /// μ(T).
    #[inline(always)]
    pub fn mu<N: Number>(&self, t: N) -> N {
        match self.viscosity {
            Viscosity::Constant => N::of(1.0),
            Viscosity::Power { exponent } => t.powf(exponent),
            Viscosity::Sutherland { temperature_ratio: s } => {
                t * t.sqrt() * N::of(1.0 + s) / (t + N::of(s))
            }
        }
    }

    /// dμ/dT.
    #[inline(always)]
    pub fn dmu_dt<N: Number>(&self, t: N) -> N {
        match self.viscosity {
            Viscosity::Constant => N::of(0.0),
            Viscosity::Power { exponent } => N::of(exponent) * t.powf(exponent - 1.0),
            Viscosity::Sutherland { temperature_ratio: s } => {
                let sum = t + N::of(s);
                t.sqrt() * N::of(1.0 + s) / sum * (N::of(1.5) - t / sum)
            }
        }
    }
}
