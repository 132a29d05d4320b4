//! The cases with exact solutions: the predicted error of the discrete equations, and its order.

use num_complex::Complex;

use super::check::{Check, Convergence, distance, float, worse};
use super::setup::{Setup, compact6, hale64, spacing};
use super::waves::Symbols;
use crate::config::Config;
use crate::error::Result;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = convected_wave(setup, "entropy-wave", 0.2)?;
    checks.extend(convected_wave(setup, "scalar-advection", 1.0)?);
    if setup.is_quick_on_device() {
        return Ok(checks);
    }
    for case in ["acoustic-wave", "shear-wave"] {
        checks.push(first_order_wave(setup, case)?);
    }
    checks.push(vortex(setup)?);
    checks.push(gaussian(setup)?);
    Ok(checks)
}

/// Grids for the order of one wave per period.
const GRIDS: [usize; 2] = [12, 24];
/// A wave convected without change of shape: each step multiplies it by R(−i K dt), so its error is known to round-off.
fn convected_wave(setup: &Setup, case: &str, amplitude: f64) -> Result<Vec<Check>> {
    const STEPS: u32 = 50;
    // The box lengths differ: 1 and 2π.
    let is_flow = case == "entropy-wave";
    let length = if is_flow { 1.0 } else { std::f64::consts::TAU };
    let (k, end) = (std::f64::consts::TAU / length, 0.1 * length);
    let dt = end / f64::from(STEPS);
    let dt_key = format!("time.dt={dt:?}");
    let mut set = vec!["time.integrator=hale64", "case.velocity=[1, 0, 0]", &dt_key];
    if !is_flow {
        set.push("case.shape=sine");
    }
    let mut deviation = 0.0;
    let Convergence { order, .. } = Convergence::between(GRIDS, |n| {
        let mut run = setup.run(case, [n, 1, 1], &set)?;
        run.steps(STEPS as usize)?;
        let ([computed, _], h) = (run.error()?, length / float(n));
        let symbol = Symbols::new(compact6(), k, h).collocated;
        let step = hale64().amplification(Complex::new(0.0, -symbol * dt));
        let exact = Complex::cis(-k * end);
        let expected = amplitude * (step.powu(STEPS) - exact).norm() / std::f64::consts::SQRT_2;
        deviation = worse(deviation, (computed - expected).abs());
        Ok((h, computed))
    })?;
    // Pressure of the stream, whose round-off changes the velocity, or the scalar.
    let unit = f64::EPSILON * if is_flow { 10.0 } else { 1.0 };
    Ok(vec![
        Check::at_most(format!("{case}-error"), deviation, unit * f64::from(STEPS))
            .shows(format!("error of {case} after {STEPS} steps is that of the discrete equations"))
            .source("A |R(−iK dt)ⁿ − exp(−ikt)| / √2; round-off of each step"),
        order_check(case, order),
    ])
}

fn order_check(case: &str, order: f64) -> Check {
    // The largest wavenumber is one, which bounds the next term of the error.
    let next = 1.3 * spacing(GRIDS[0]).powi(2);
    Check::at_most(format!("{case}-order"), (order - 6.0).abs(), next)
        .shows(format!("{case} converges at order 6: found {order:.3}"))
        .source("Lele 1992, eq. 2.1.7; next term of Taylor's series")
}

/// A wave that is exact to first order in its amplitude: half of the difference of two runs with opposite amplitudes.
fn first_order_wave(setup: &Setup, case: &str) -> Result<Check> {
    let set = ["case.amplitude=1e-5", "case.wavenumber=1", "case.reynolds=20", "time.dt=0.005"];
    let Convergence { order, .. } = Convergence::between(GRIDS, |n| {
        let config = setup.config(case, [n, 1, 1], &set)?;
        Ok((spacing(n), odd_error(setup, &config, 0.5)?))
    })?;
    Ok(order_check(case, order))
}

/// The largest error at `end` of half of the difference of two runs with opposite amplitudes.
pub(super) fn odd_error(setup: &Setup, config: &Config, end: f64) -> Result<f64> {
    let Some(opposite) = config.case.opposite() else { return Ok(f64::NAN) };
    let (one, one_exact) = at_end(setup, config, end)?;
    let (other, other_exact) = at_end(setup, &config.with_case(opposite), end)?;
    let half = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| 0.5 * (a - b)).collect()
    };
    Ok(distance(&half(&one, &other), &half(&one_exact, &other_exact)))
}

/// The field that contains the wave, and its exact values.
fn at_end(setup: &Setup, config: &Config, end: f64) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut run = setup.start(config)?;
    run.advance(end)?;
    Ok((run.state()?.swap_remove(config.case.shown()), config.exact_solution(end)))
}

/// A vortex in a stream. The spectrum k⁷ exp(−k²/2) of the sixth-order error is centred at k² = 7.
fn vortex(setup: &Setup) -> Result<Check> {
    let set = ["time.dt=0.01", "time.integrator=hale64"];
    smooth(setup, "isentropic-vortex", [[72, 72, 1], [96, 96, 1]], &set, 7.0)
}

/// A Gaussian of width 0.5 under convection and diffusion: its sixth-order error is centred at k² = 7/0.5².
fn gaussian(setup: &Setup) -> Result<Check> {
    let set = ["time.dt=0.002", "case.diffusivity=0.02"];
    smooth(setup, "scalar-advection", [[64, 1, 1], [96, 1, 1]], &set, 7.0 / 0.25)
}

fn smooth(
    setup: &Setup,
    case: &str,
    grids: [[usize; 3]; 2],
    set: &[&str],
    k2: f64,
) -> Result<Check> {
    let Convergence { h, error, order } = Convergence::between(grids, |points| {
        let config = setup.config(case, points, set)?;
        let mut run = setup.start(&config)?;
        run.advance(0.2)?;
        Ok((config.grid.domain.length[0] / float(points[0]), run.error()?[0]))
    })?;
    let name = if case == "scalar-advection" { "gaussian" } else { case };
    Ok(Check::at_most(format!("{name}-order"), (order - 6.0).abs(), 1.3 * k2 * h.powi(2))
        .shows(format!("{name} converges at order 6: found {order:.3}, error {error:.2e}"))
        .source(
            "Lele 1992, eq. 2.1.7; next term of Taylor's series at the wavenumber of most error",
        ))
}
