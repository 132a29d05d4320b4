//! Decaying isotropic turbulence: a random initial velocity with a prescribed spectrum.

mod spectrum;
mod start;
mod waves;

use serde::{Deserialize, Serialize};

pub use spectrum::Spectrum;

use super::{About, Definition, Domain, Start};
use crate::gas::Gas;
use crate::grid::Grid;
use crate::typed::{fraction, positive, whole};

/// The pressure at t = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pressure {
    /// p = p₀ + p' + p'': −∇²p' = ∂ᵢuⱼ ∂ⱼuᵢ of the solenoidal velocity, and p'' of the sound waves.
    #[default]
    Poisson,
    /// p = p₀.
    Uniform,
}

/// With V₀ = u', the root mean square of a velocity component, so that ½⟨u·u⟩ = 3/2 (1 with one point along z: two components), L = the box
/// length over 2π, p₀ = 1/(γ Ma²) and the energy E_s ∝ E(k) of shell s of the wavenumbers ([`crate::fourier::Shells`]), k = s k₀:
///
/// ```text
/// û(k) = √(2 E_s/N_s) [√(1 − χ) (α e₁ + β e₂) + √χ γ k/|k|],  |α|² + |β|² = |γ|² = 1,  N_s modes in the shell
/// ```
///
/// with e₁, e₂ and k orthogonal (Rogallo 1981) and χ the dilatational fraction. The sound is in acoustic equilibrium (Sarkar et al. 1991):
/// its potential energy ½ Ma² ⟨p''²⟩ equals ½ ⟨u''·u''⟩ in every mode, p̂'' = δ |û''|/Ma, |δ| = 1. The phases depend only on the seed and
/// the mode. Shells that are incomplete on the grid are empty, and so is the mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IsotropicTurbulence {
    /// E(k).
    pub spectrum: Spectrum,
    /// Peak wavenumber of the Passot-Pouquet E(k), and `k0` of an expression, in 1/L.
    #[serde(deserialize_with = "positive")]
    pub peak_wavenumber: f64,
    /// Seed of the random phases.
    #[serde(deserialize_with = "whole::<u64, 0, { i64::MAX }, _, _>")]
    pub seed: u64,
    /// χ: the dilatational fraction of ½⟨u·u⟩.
    #[serde(deserialize_with = "fraction")]
    pub dilatational: f64,
    /// p.
    pub pressure: Pressure,
    /// The uniform quantity.
    pub start: Start,
}

impl Default for IsotropicTurbulence {
    fn default() -> Self {
        Self {
            spectrum: Spectrum::PassotPouquet,
            peak_wavenumber: 4.0,
            seed: 0,
            dilatational: 0.0,
            pressure: Pressure::Poisson,
            start: Start::ConstantDensity,
        }
    }
}

impl IsotropicTurbulence {
    pub(super) const ABOUT: About = About {
        name: "isotropic-turbulence",
        title: "Isotropic turbulence",
        summary: "random velocity with a chosen spectrum; it becomes turbulent and decays",
        input: include_str!("../../../configs/isotropic-turbulence.toml"),
        mach: |_| 0.2,
        reynolds: 50.0,
        domain: Domain::cube(std::f64::consts::TAU),
        needs: [true, true, false],
    };
}

impl Definition for IsotropicTurbulence {
    fn grid_dependence(&self) -> Option<&'static str> {
        Some("it contains the waves that the grid resolves")
    }

    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        self.spectrum.problems().into_iter().map(|sentence| ("spectrum", sentence)).collect()
    }

    fn problems_on(&self, grid: &Grid) -> Vec<(&'static str, String)> {
        let needed = match (grid.is_uniform(), grid.is_periodic()) {
            (false, _) => Some("equal spacings\nremove grid.stretching"),
            (true, false) => Some("a periodic box\nremove [boundary]"),
            (true, true) => None,
        };
        if let Some(needed) = needed {
            let what = format!("name = \"isotropic-turbulence\": its waves need {needed}");
            return vec![("name", what)];
        }
        let has_values = self.spectrum.problems().is_empty();
        has_values.then(|| self.energies(grid).err()).flatten().into_iter().collect()
    }
}
