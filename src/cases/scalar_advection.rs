//! Scalar advection at constant velocity, with or without diffusion: ∂φ/∂t + cⱼ ∂ⱼφ = ν ∂ⱼⱼφ.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, MAX_PERIODS, require};
use crate::gas::Gas;
use crate::typed::{not_negative, positive, three};

/// φ at t = 0. Gaussian and cone are centred in the middle of the box and depend only on the active axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// exp(−r²/(2 s²)), s = `width`, with all its periodic images.
    #[default]
    Gaussian,
    /// sin Σⱼ kⱼ xⱼ, kⱼ = 2π nⱼ / Lⱼ, with x from the edge of the box.
    Sine,
    /// max(0, 1 − r/r₀), r₀ = `width`, r to the nearest image.
    Cone,
}

/// A shape that moves with c. Except for the cone, it has an exact solution with diffusion too:
///
/// ```text
/// sine      φ = exp(−ν k² t) sin Σⱼ kⱼ (xⱼ − cⱼ t)
/// Gaussian  φ = Πⱼ (s/S) exp(−(xⱼ − cⱼ t)²/(2 S²)),  S² = s² + 2 ν t
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScalarAdvection {
    /// Initial shape of the scalar.
    pub shape: Shape,
    /// c.
    pub velocity: [f64; 3],
    /// ν ≥ 0.
    #[serde(deserialize_with = "not_negative")]
    pub diffusivity: f64,
    /// s of the Gaussian, r₀ of the cone.
    #[serde(deserialize_with = "positive")]
    pub width: f64,
    /// n of the sine: numbers of periods in the box along x, y, z.
    #[serde(deserialize_with = "three::<i32, { -MAX_PERIODS }, MAX_PERIODS, _, _>")]
    pub wavenumber: [i32; 3],
}

impl Default for ScalarAdvection {
    fn default() -> Self {
        ScalarAdvection {
            shape: Shape::Gaussian,
            velocity: [1.0, 0.0, 0.0],
            diffusivity: 0.0,
            width: 0.5,
            wavenumber: [1, 0, 0],
        }
    }
}

/// Largest width, in box lengths: a Gaussian this wide is flat.
const MAX_WIDTH: f64 = 10.0;

impl ScalarAdvection {
    pub(super) const ABOUT: About = About {
        name: "scalar-advection",
        title: "Scalar advection",
        summary: "a scalar carried at constant velocity, with diffusion or without; exact",
        input: include_str!("../../configs/scalar-advection.toml"),
        mach: |_| 1.0,
        reynolds: f64::INFINITY,
        domain: Domain::cube(TAU),
        needs: [false; 3],
    };

    /// φ at t = 0 at the point `x` of the box `domain`. `active[axis]` is false where the grid has one point along that
    /// axis: nothing varies there.
    pub fn initial(&self, domain: &Domain, active: [bool; 3], x: [f64; 3]) -> f64 {
        self.value(domain, active, x, 0.0)
    }

    /// φ at time `t`; `None` for a cone with diffusion.
    pub fn exact(&self, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> Option<f64> {
        let known = self.shape != Shape::Cone || self.diffusivity == 0.0;
        known.then(|| self.value(domain, active, x, t))
    }

    fn value(&self, domain: &Domain, active: [bool; 3], x: [f64; 3], t: f64) -> f64 {
        let axes = (0..3).filter(|&j| active[j]);
        let moved = |j: usize, from: f64| x[j] - from - self.velocity[j] * t;
        match self.shape {
            Shape::Sine => {
                let k = |j: usize| f64::from(self.wavenumber[j]) * domain.wavenumber(j);
                let k2: f64 = axes.clone().map(|j| k(j) * k(j)).sum();
                let phase: f64 = axes.map(|j| k(j) * moved(j, domain.origin[j])).sum();
                (-self.diffusivity * k2 * t).exp() * phase.sin()
            }
            Shape::Gaussian => {
                let spread = self.width.hypot((2.0 * self.diffusivity * t).sqrt());
                let middle = domain.middle();
                axes.map(|j| {
                    let r = domain.shortest(j, 0.0, moved(j, middle[j]));
                    self.width / spread * periodic_gaussian(r, spread, domain.length[j])
                })
                .product()
            }
            Shape::Cone => {
                let middle = domain.middle();
                let r2: f64 =
                    axes.map(|j| domain.shortest(j, 0.0, moved(j, middle[j])).powi(2)).sum();
                (1.0 - r2.sqrt() / self.width).max(0.0)
            }
        }
    }
}

impl Definition for ScalarAdvection {
    fn problems(&self, _: &Gas, domain: &Domain) -> Vec<(&'static str, String)> {
        let max_width = MAX_WIDTH * domain.length.iter().copied().fold(0.0, f64::max);
        require(self.width <= max_width, "width", || {
            format!("width = {} must be at most {max_width}", self.width)
        })
    }

    fn periods(&self) -> [u32; 3] {
        match self.shape {
            Shape::Sine => self.wavenumber.map(i32::unsigned_abs),
            _ => [0; 3],
        }
    }
}

/// Σₘ exp(−(r + m L)²/(2 s²)) over all integers m, |r| ≤ L/2, to double precision with a few terms for any s: images for a narrow Gaussian,
/// for a wide one the Poisson sum s √(2π)/L Σₖ exp(−½ (2πks/L)²) cos(2πkr/L).
fn periodic_gaussian(r: f64, s: f64, length: f64) -> f64 {
    // exp(−9²/2) = 3e-18; at s = L/2 both sums need fewer than nine terms.
    let terms = 1..9;
    if s < 0.5 * length {
        let gaussian = |r: f64| (-0.5 * (r / s).powi(2)).exp();
        let image =
            |m: i32| gaussian(r + f64::from(m) * length) + gaussian(r - f64::from(m) * length);
        return gaussian(r) + terms.map(image).sum::<f64>();
    }
    let wave = |k: i32| {
        let angle = TAU * f64::from(k) / length;
        2.0 * (-0.5 * (angle * s).powi(2)).exp() * (angle * r).cos()
    };
    s * TAU.sqrt() / length * (1.0 + terms.map(wave).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::periodic_gaussian;

    #[test]
    fn image_sum_and_fourier_series_give_the_same_gaussian() {
        for r in [0.0, 0.1, 0.37, 0.5] {
            let images = periodic_gaussian(r, 0.499_999_999, 1.0);
            let waves = periodic_gaussian(r, 0.500_000_001, 1.0);
            assert!((images / waves - 1.0).abs() < 2e-8, "{images} {waves}");
        }
    }
}
