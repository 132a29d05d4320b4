//! Which values of a run are only round-off.

use std::f64::consts::PI;

use crate::io::series::Series;
use crate::io::summary::Summary;

/// Number of roundings that may add up before a value counts.
const ROUNDINGS: f64 = 100.0;

/// Values of a flow that round-off alone explains: that of a velocity u = √(2E) and of an energy ρE, differentiated up to kmax =
/// π/h. Zero where the series has no flow.
pub(crate) struct RoundOff {
    /// Round-off of |ω|: a few times ε u kmax.
    pub(crate) vorticity: f64,
    /// Round-off of ⟨ρ ω·ω⟩ / 2.
    pub(crate) enstrophy: f64,
    /// Round-off of dE/dt and its terms: ε ρE u kmax.
    pub(crate) rate: f64,
    /// Round-off of force coefficients: that of a pressure of the size of ρE over ½ ρ₀ V₀².
    pub(crate) force: f64,
}

impl RoundOff {
    /// The round-off of a run.
    pub(crate) fn of(series: &Series, summary: &Summary) -> Self {
        let largest = |name| series.column(name).map_or(0.0, largest);
        let unit = if summary.precision == "f32" { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let spacings = summary.points.iter().zip(summary.length).filter(|(n, _)| **n > 1);
        let kmax = spacings.map(|(&n, length)| PI * n as f64 / length).fold(0.0, f64::max);
        let velocity = (2.0 * largest("kinetic_energy")).sqrt();
        let vorticity = ROUNDINGS * unit * velocity * kmax;
        Self {
            vorticity,
            enstrophy: 0.5 * vorticity * vorticity,
            rate: unit * largest("total_energy") * velocity * kmax,
            force: ROUNDINGS * unit * 2.0 * largest("total_energy"),
        }
    }

    /// Whether the terms of the energy budget exceed round-off.
    pub(crate) fn has_budget(&self, series: &Series) -> bool {
        let rates = ["ke_rate", "ke_rate_convection", "ke_rate_pressure", "ke_rate_viscous"];
        rates.iter().any(|name| series.column(name).is_some_and(|rate| largest(rate) > self.rate))
    }
}

/// The largest finite magnitude; 0 where there is none.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).filter(|value| value.is_finite()).fold(0.0, f64::max)
}
