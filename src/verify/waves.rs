//! Linear waves. For a plane wave of small amplitude every derivative is a factor: i K for the first (K the symbol over h), −B
//! for the second. The discrete linear wave is therefore known in closed form, and a run must agree with it to round-off and
//! O(A²).

use std::f64::consts::TAU;

use num_complex::Complex;

use super::check::{Check, float, worse};
use super::setup::{CONVECTION, Forms, Setup, VISCOUS, compact6, hale64, spacing};
use crate::error::Result;
use crate::gas::{Gas, Viscosity};
use crate::scheme::SchemeFamily;

const I: Complex<f64> = Complex::I;

/// Symbols of the operators of a family for a wave of one wavenumber on a grid.
pub struct Symbols {
    /// K of the collocated first derivative.
    pub collocated: f64,
    /// K of interpolation to midpoints followed by the derivative back.
    pub staggered: f64,
    /// B of the second derivative.
    pub second: f64,
    /// K of the derivative to midpoints.
    pub midpoint: f64,
}

impl Symbols {
    /// The symbols for the wavenumber `k` on a grid of spacing `h`.
    pub fn new(family: &SchemeFamily, k: f64, h: f64) -> Self {
        let w = k * h;
        let midpoint = family.midpoint_derivative.symbol(w) / h;
        Self {
            collocated: family.first.symbol(w) / h,
            staggered: family.midpoint_interpolation.symbol(w) * midpoint,
            second: family.second.symbol(w) / (h * h),
            midpoint,
        }
    }

    /// K of a form of convection.
    pub fn convection(&self, convection: &str) -> f64 {
        if convection == "staggered" { self.staggered } else { self.collocated }
    }

    /// B of the diffusion of shear and heat in a viscous form.
    pub fn diffusion(&self, viscous: &str) -> f64 {
        match viscous {
            "laplacian" => self.second,
            "midpoint" => self.midpoint * self.midpoint,
            _ => self.collocated * self.collocated,
        }
    }

    /// The damping of the longitudinal velocity times Re: 4/3 k² in the continuous equations.
    pub fn longitudinal(&self, viscous: &str) -> f64 {
        match viscous {
            "laplacian" => self.second + self.collocated * self.collocated / 3.0,
            _ => 4.0 / 3.0 * self.diffusion(viscous),
        }
    }

    /// s of a mode exp(ikx + st) of the discrete equations next to `guess`: the root of
    /// s \[(s + ν)(s + χ) + γ p₀ K Kₑ\] + K² χ/(γ Ma²) by Newton's method, ν = L/Re, χ = γ B/(Pr Re), K of mass and pressure
    /// gradient, Kₑ of the energy (Kirchhoff 1868 with k replaced).
    pub fn eigenvalue(
        &self,
        gas: &Gas,
        [convection, energy, viscous]: [&str; 3],
        guess: Complex<f64>,
    ) -> Complex<f64> {
        let k = self.convection(convection);
        let k_e = if energy == "divergence" { k } else { self.collocated };
        let nu = self.longitudinal(viscous) / gas.reynolds;
        let chi = gas.gamma * self.diffusion(viscous) / (gas.prandtl * gas.reynolds);
        let sound2 = k * k_e / (gas.mach * gas.mach);
        let last = k * k * chi / (gas.gamma * gas.mach * gas.mach);
        let mut s = guess;
        for _ in 0..20 {
            let value = s * ((s + nu) * (s + chi) + sound2) + last;
            let slope = (s + nu) * (s + chi) + sound2 + s * (2.0 * s + nu + chi);
            s -= value / slope;
        }
        s
    }
}

/// Amplitude of the density: its square is neglected, and round-off is 1e-11 of it.
const AMPLITUDE: f64 = 1e-5;
const POINTS: usize = 20;
const PERIODS: usize = 3;
const STEPS: u32 = 30;
const DT: f64 = 0.02;
/// A² over A, and the second-order effect of the wave on the energy, multiplied by the steps.
const SECOND_ORDER: f64 = 1e-9;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let gas =
        Gas { gamma: 1.4, prandtl: 0.9, mach: 0.5, reynolds: 30.0, viscosity: Viscosity::Constant };
    let mut checks = Vec::new();
    for forms in setup.forms() {
        let mut deviation = 0.0;
        for axis in 0..3 {
            for guess in [Complex::new(-0.2, 6.0), Complex::new(-0.4, 0.0)] {
                deviation = worse(deviation, mode(setup, &gas, &forms, axis, guess)?);
            }
        }
        checks.push(
            Check::at_most(forms.name(), deviation, SECOND_ORDER)
                .shows(
                    "sound and heat along x, y, z grow and oscillate with their discrete eigenvalues",
                )
                .source(
                    "Kirchhoff 1868 with modified wavenumbers; R(s dt)ⁿ; square of the amplitude",
                ),
        );
    }
    checks.extend(shear(setup)?);
    Ok(checks)
}

/// The input of a line of points along one axis, in a box of length 2π.
fn line_keys(gas: &Gas, forms: &Forms) -> Vec<String> {
    forms.with(&[
        &format!("case.mach={}", gas.mach),
        &format!("case.reynolds={}", gas.reynolds),
        &format!("gas.prandtl={}", gas.prandtl),
        &format!("time.dt={DT}"),
        "time.integrator=hale64",
        &format!("grid.length={:?}", [TAU; 3]),
    ])
}

/// |ratio of amplitudes / R(s dt)ⁿ − 1|.
fn deviation(ratio: Complex<f64>, s: Complex<f64>) -> f64 {
    (ratio / hale64().amplification(s * DT).powu(STEPS) - 1.0).norm()
}

fn points_and_periods(axis: usize) -> ([usize; 3], [usize; 3]) {
    let (mut points, mut periods) = ([1; 3], [0; 3]);
    (points[axis], periods[axis]) = (POINTS, PERIODS);
    (points, periods)
}

fn symbols() -> Symbols {
    Symbols::new(compact6(), float(PERIODS), spacing(POINTS))
}

/// The error of the eigenmode next to `guess`.
fn mode(setup: &Setup, gas: &Gas, forms: &Forms, axis: usize, guess: Complex<f64>) -> Result<f64> {
    let symbols = symbols();
    let s = symbols.eigenvalue(gas, [forms.convection, forms.energy, forms.viscous], guess);
    let k = symbols.convection(forms.convection);
    let nu = symbols.longitudinal(forms.viscous) / gas.reynolds;
    let (velocity, pressure) = (I * s / k, -s * (s + nu) / (k * k));
    let (points, periods) = points_and_periods(axis);
    let mut run = setup.run("entropy-wave", points, &line_keys(gas, forms))?;
    run.set(|index, _| {
        let angle = TAU * float(PERIODS * index[axis]) / float(POINTS);
        let part = |factor: Complex<f64>| AMPLITUDE * (factor * Complex::cis(angle)).re;
        let mut flow = [1.0 + part(Complex::ONE), 0.0, 0.0, 0.0, 0.0];
        flow[1 + axis] = part(velocity);
        flow[4] = gas.reference_pressure() + part(pressure);
        flow
    })?;
    Ok(deviation(run.gain(0, periods, STEPS as usize)?, s))
}

/// Shear in a stream decays and is convected: s = − B/Re − i U K.
fn shear(setup: &Setup) -> Result<Vec<Check>> {
    const STREAM: f64 = 0.7;
    let (viscosity, default) = (Viscosity::Constant, Forms::default());
    let gas = Gas { gamma: 1.4, prandtl: 0.71, mach: 0.2, reynolds: 40.0, viscosity };
    let symbols = symbols();
    let convection = setup.each(&CONVECTION, default.convection).into_iter();
    let viscous = setup.each(&VISCOUS, default.viscous);
    let mut checks = Vec::new();
    for (convection, &viscous) in convection.flat_map(|c| viscous.iter().map(move |v| (c, v))) {
        let forms = Forms { convection, viscous, ..default };
        let s = -symbols.diffusion(viscous) / gas.reynolds
            - I * STREAM * symbols.convection(convection);
        let mut worst = 0.0;
        // The wave varies along one axis, its velocity is along another.
        for (axis, across) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            let (points, periods) = points_and_periods(axis);
            let mut run = setup.run("entropy-wave", points, &line_keys(&gas, &forms))?;
            run.set(|index, _| {
                let mut flow = [1.0, 0.0, 0.0, 0.0, gas.reference_pressure()];
                flow[1 + axis] = STREAM;
                flow[1 + across] =
                    AMPLITUDE * (TAU * float(PERIODS * index[axis]) / float(POINTS)).sin();
                flow
            })?;
            worst = worse(worst, deviation(run.gain(1 + across, periods, STEPS as usize)?, s));
        }
        checks.push(
            Check::at_most(format!("shear/{convection}/{viscous}"), worst, SECOND_ORDER)
                .shows("shear in a stream decays and is convected with −B/Re − i U K, along all pairs of axes")
                .source("Stokes 1851 with modified wavenumbers; R(s dt)ⁿ; square of the amplitude"),
        );
    }
    Ok(checks)
}
