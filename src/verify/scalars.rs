//! Passive scalars: constants are preserved, convection preserves the variance, its budget closes, and a wave decays at the exact
//! rate.

use std::f64::consts::TAU;

use num_complex::Complex;

use super::check::{Check, Convergence, distance, float, largest, worse};
use super::conservation::{PRESERVING, white_noise};
use super::setup::{FILTER, Forms, Setup, VISCOUS, compact6, hale64, spacing};
use super::waves::Symbols;
use crate::error::Result;

/// Indices of ρ and ρφ in the state.
const MASS: usize = 0;
const SCALAR: usize = 5;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let default = Forms::default();
    let mut checks = Vec::new();
    let forms = setup.pairs();
    for forms in &forms {
        checks.push(constant(setup, forms)?);
    }
    for convection in setup.each(&PRESERVING, default.convection) {
        checks.push(preserves(setup, convection)?);
    }
    for forms in &forms {
        checks.push(budget(setup, forms)?);
    }
    for viscous in setup.each(&VISCOUS, default.viscous) {
        checks.extend(decay(setup, viscous)?);
    }
    Ok(checks)
}

/// The key that adds a scalar.
fn scalar_key(schmidt: f64, start: &str) -> String {
    format!("scalars.dye={{ schmidt = {schmidt:?}, start = '{start}' }}")
}

/// φ = const is a solution for any flow: every term is φ times the corresponding term of the mass equation.
fn constant(setup: &Setup, forms: &Forms) -> Result<Check> {
    const STEPS: usize = 10;
    const STAGES: usize = 3;
    // Filterings times axes times the norm of the inverse of the filter, 1/(1 − 2α).
    const FILTERINGS: usize = STEPS / 2 * 3 * 10;
    let set = forms.with(&[
        "case.mach=0.4",
        "case.reynolds=50",
        &scalar_key(0.7, "2.5"),
        FILTER,
        "time.integrator=williamson3",
    ]);
    let mut run = setup.run("taylor-green", [9, 10, 11], &set)?;
    run.steps(STEPS)?;
    let state = run.state()?;
    let deviation =
        state[MASS].iter().zip(&state[SCALAR]).map(|(rho, it)| (it / rho / 2.5 - 1.0).abs());
    Ok(Check::at_most(
        format!("constant/{}", forms.name()),
        deviation.fold(0.0, worse),
        f64::EPSILON * float(STEPS * STAGES + FILTERINGS),
    )
    .shows(format!("a constant scalar after {STEPS} steps, relative"))
    .source(
        "the equation of mass times a constant; one rounding per stage, and those of the filter",
    ))
}

/// Convection of white noise by white noise.
fn preserves(setup: &Setup, convection: &'static str) -> Result<Check> {
    let points = [12, 13, 15];
    let forms = Forms { convection, ..Forms::default() };
    let set = forms.with(&["case.reynolds=inf", &scalar_key(1.0, "0")]);
    let mut run = setup.run("taylor-green", points, &set)?;
    run.set(|index, _| white_noise(points, index))?;
    let (state, rate) = (run.state()?, run.rate()?);
    let (mut sum, mut size) = (0.0_f64, 0.0);
    for at in 0..state[MASS].len() {
        let phi = state[SCALAR][at] / state[MASS][at];
        let terms = [2.0 * phi * rate[SCALAR][at], -phi * phi * rate[MASS][at]];
        sum += terms.iter().sum::<f64>();
        size += terms.iter().map(|term| term.abs()).sum::<f64>();
    }
    Ok(Check::at_most(
        format!("variance/{convection}"),
        sum.abs() / size,
        // Roundings of about ten operations, half of which cancel in the mean.
        8.0 * f64::EPSILON,
    )
    .shows(
        "convection neither makes nor destroys variance of a scalar, white noise in every variable",
    )
    .source("Feiereisen et al. 1981 with the scalar instead of the velocity; round-off"))
}

/// The rate of the variance as the sum of its terms equals the rate from the right-hand side.
fn budget(setup: &Setup, forms: &Forms) -> Result<Check> {
    let dye = scalar_key(0.7, "1 + sin(x)*cos(y) + cos(z)");
    let set = forms.with(&["case.mach=0.4", "case.reynolds=50", &dye]);
    let mut run = setup.run("taylor-green", [11, 12, 13], &set)?;
    run.steps(12)?;
    let [mean, rate, convection, diffusion] =
        run.quantities(["dye_mean", "dye_rate", "dye_rate_convection", "dye_rate_diffusion"])?;
    let (state, of) = (run.state()?, run.rate()?);
    let one = |at: usize| {
        let phi = state[SCALAR][at] / state[MASS][at];
        (phi - mean) * (2.0 * of[SCALAR][at] - (phi + mean) * of[MASS][at])
    };
    let count = state[MASS].len();
    let expected = (0..count).map(one).sum::<f64>() / float(count);
    let size = largest(&[convection, diffusion]);
    Ok(Check::at_most(
        format!("budget/{}", forms.name()),
        worse((rate - expected).abs(), (rate - convection - diffusion).abs()) / size,
        1e-13,
    )
    .shows(
        "terms of the budget of the variance add up to its rate in the right-hand side, relative",
    )
    .source("linearity of the right-hand side; 500 roundings"))
}

/// A sine wave in a uniform stream: each step multiplies it by R((−i K − B/(Re Sc)) dt).
fn decay(setup: &Setup, viscous: &'static str) -> Result<Vec<Check>> {
    const GRIDS: [usize; 2] = [12, 24];
    const STEPS: u32 = 50;
    const SCHMIDT: f64 = 0.5;
    const REYNOLDS: f64 = 20.0;
    let (dt, diffusivity) = (0.01, 1.0 / (REYNOLDS * SCHMIDT));
    let end = dt * f64::from(STEPS);
    let set = [
        format!("time.dt={dt:?}"),
        format!("scheme.viscous={viscous}"),
        format!("case.reynolds={REYNOLDS:?}"),
        "case.mach=1.0".into(),
        "case.u=1".into(),
        "time.integrator=hale64".into(),
        scalar_key(SCHMIDT, "sin(x)"),
    ];
    let mut deviation = 0.0;
    let Convergence { h, order, .. } = Convergence::between(GRIDS, |n| {
        let mut run = setup.run("custom", [n, 1, 1], &set)?;
        run.steps(STEPS as usize)?;
        let state = run.state()?;
        let computed: Vec<f64> =
            state[SCALAR].iter().zip(&state[MASS]).map(|(a, b)| a / b).collect();
        let wave = |factor: Complex<f64>| -> Vec<f64> {
            (0..n).map(|i| (factor * Complex::cis(TAU * float(i) / float(n))).im).collect()
        };
        let symbols = Symbols::new(compact6(), 1.0, spacing(n));
        let damping = diffusivity * symbols.diffusion(viscous);
        let step = hale64().amplification(Complex::new(-damping, -symbols.collocated) * dt);
        deviation = worse(deviation, distance(&computed, &wave(step.powu(STEPS))));
        let exact = (-diffusivity * end).exp() * Complex::cis(-end);
        Ok((spacing(n), distance(&computed, &wave(exact))))
    })?;
    Ok(vec![
        Check::at_most(
            format!("decay-error/{viscous}"),
            deviation,
            10.0 * f64::EPSILON * f64::from(STEPS),
        )
        .shows(format!(
            "a sine after {STEPS} steps in a uniform stream agrees with the discrete equations"
        ))
        .source("R((−iK − B/(Re Sc)) dt)ⁿ; round-off of each step"),
        Check::at_most(format!("decay-order/{viscous}"), (order - 6.0).abs(), 1.3 * h.powi(2))
            .shows(format!("decay as exp(−k²t/(Re Sc)) converges at order 6: found {order:.3}"))
            .source("Lele 1992, eqs. 2.1.7 and 2.2.7; next term of Taylor's series"),
    ])
}
