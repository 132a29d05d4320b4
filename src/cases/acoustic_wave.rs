//! Small plane sound or entropy wave in a gas at rest, with viscosity and heat conduction.

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::{About, Case, Definition, Domain, FlowCase, FlowPoint, MAX_PERIODS};
use crate::gas::Gas;
use crate::typed::whole;

/// The three modes along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Sound wave in the +x direction.
    #[default]
    AcousticRight,
    /// Sound wave in the −x direction.
    AcousticLeft,
    /// Entropy wave, which does not propagate.
    Entropy,
}

/// An eigenmode of the one-dimensional Navier-Stokes equations linearised about ρ = T = 1, u = 0.
///
/// With n periods along x, k = 2π n / Lₓ, all perturbations ∝ exp(ikx + st), ν = 4k²/(3 Re), χ = γ k²/(Pr Re) and the
/// speed of sound 1/Ma (Kirchhoff 1868),
///
/// ```text
/// s ρ' = − ik u'
/// s u' = − ik p' − ν u',                p' = (ρ' + T') / (γ Ma²)
/// s T' = − (γ − 1) ik u' − χ T'
/// ```
///
/// which has a solution if s³ + (ν + χ) s² + (νχ + k²/Ma²) s + χ k²/(γ Ma²) = 0. The amplitude A is that of the density: (ρ', u', p') = A
/// Re[(1, is/k, −s(s + ν)/k²) exp(ikx + st)], with x from the edge of the box. The wave is exact up to O(A²).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcousticWave {
    /// A.
    pub amplitude: f64,
    /// n, number of periods in the box.
    #[serde(deserialize_with = "whole::<u32, 1, MAX_PERIODS, _, _>")]
    pub wavenumber: u32,
    /// The mode.
    pub mode: Mode,
}

impl Default for AcousticWave {
    fn default() -> Self {
        AcousticWave { amplitude: 1e-6, wavenumber: 1, mode: Mode::AcousticRight }
    }
}

impl AcousticWave {
    pub(super) const ABOUT: About = About {
        name: "acoustic-wave",
        title: "Acoustic wave",
        summary: "a small sound or entropy wave with viscosity and conduction; exact to first order (1-D)",
        input: include_str!("../../configs/acoustic-wave.toml"),
        mach: |_| 0.5,
        reynolds: 100.0,
        domain: Domain::cube(std::f64::consts::TAU),
        needs: [true, false, false],
    };

    /// s of this mode at the wavenumber `k` > 0: growth Re s ≤ 0 and frequency Im s.
    ///
    /// If viscosity is so strong that sound does not oscillate, its two modes are the other two real roots.
    pub fn eigenvalue(&self, gas: &Gas, k: f64) -> Complex<f64> {
        let (nu, chi) = (damping(gas, k), gas.gamma * k * k / (gas.prandtl * gas.reynolds));
        let sound2 = (k / gas.mach).powi(2);
        let [b, c, d] = [nu + chi, nu * chi + sound2, chi * sound2 / gas.gamma];
        let entropy = real_root(b, c, d, -chi);
        if self.mode == Mode::Entropy {
            return Complex::new(entropy, 0.0);
        }
        // Quadratic factor after division by (s − entropy): s² + p s + q.
        let p = b + entropy;
        let q = c + entropy * p;
        let root = Complex::new(0.25 * p * p - q, 0.0).sqrt();
        match self.mode {
            Mode::AcousticRight => -0.5 * p - root,
            _ => -0.5 * p + root,
        }
    }

    /// k = 2π n / Lₓ.
    pub fn k(&self, domain: &Domain) -> f64 {
        f64::from(self.wavenumber) * domain.wavenumber(0)
    }
}

impl Definition for AcousticWave {
    fn problems(&self, gas: &Gas, domain: &Domain) -> Vec<(&'static str, String)> {
        if self.mode == Mode::Entropy || self.eigenvalue(gas, self.k(domain)).im != 0.0 {
            return Vec::new();
        }
        let what = format!(
            "wavenumber = {} does not oscillate at reynolds = {} and mach = {}; use a longer wave, a larger Reynolds number, or mode = \"entropy\"",
            self.wavenumber, gas.reynolds, gas.mach
        );
        vec![("wavenumber", what)]
    }

    fn periods(&self) -> [u32; 3] {
        [self.wavenumber, 0, 0]
    }

    fn opposite(&self) -> Option<Case> {
        Some(Case::AcousticWave(AcousticWave { amplitude: -self.amplitude, ..*self }))
    }
}

impl FlowCase for AcousticWave {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], t: f64) -> FlowPoint {
        let k = self.k(domain);
        let s = self.eigenvalue(gas, k);
        let wave = (s * t + Complex::new(0.0, k * (x[0] - domain.origin[0]))).exp();
        let perturbation = |amplitude: Complex<f64>| self.amplitude * (amplitude * wave).re;
        FlowPoint {
            density: 1.0 + perturbation(Complex::new(1.0, 0.0)),
            velocity: [perturbation(Complex::new(-s.im, s.re) / k), 0.0, 0.0],
            pressure: gas.reference_pressure() + perturbation(-s * (s + damping(gas, k)) / (k * k)),
        }
    }

    fn is_exact(&self, _: &Gas) -> bool {
        true
    }
}

/// ν = 4k²/(3 Re), the damping of the velocity.
fn damping(gas: &Gas, k: f64) -> f64 {
    4.0 / 3.0 * k * k / gas.reynolds
}

/// The root of s³ + b s² + c s + d in [`low`, 0], where it changes sign, by Newton's method with bisection.
fn real_root(b: f64, c: f64, d: f64, low: f64) -> f64 {
    let value = |s: f64| ((s + b) * s + c) * s + d;
    let (mut low, mut high) = (low, 0.0);
    let mut s = -d / c;
    // Newton's method needs four or five iterations; bisection alone would need all of these.
    for _ in 0..100 {
        let f = value(s);
        if f < 0.0 {
            low = s;
        } else {
            high = s;
        }
        let newton = s - f / ((3.0 * s + 2.0 * b) * s + c);
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - s).abs() <= f64::EPSILON * s.abs() {
            return next;
        }
        s = next;
    }
    s
}
