//! The cases with exact solutions: the error that the discrete equations must have, and its order.

use num_complex::Complex;

use super::check::{Check, distance, float, order, worse};
use super::setup::{Setup, spacing};
use super::waves::Symbols;
use crate::config::Config;
use crate::error::Result;
use crate::scheme::{family, tableau};

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = carried(setup, "entropy-wave", 0.2, "1, 0, 0")?;
    checks.extend(carried(setup, "scalar-advection", 1.0, "1, 0, 0")?);
    if setup.is_brief() {
        return Ok(checks);
    }
    for case in ["acoustic-wave", "shear-wave"] {
        checks.push(first_order_wave(setup, case)?);
    }
    checks.push(vortex(setup)?);
    checks.push(gaussian(setup)?);
    Ok(checks)
}

/// Grids on which order is told for one wave a period.
const GRIDS: [usize; 2] = [12, 24];
/// The largest wavenumber is one: the next term of the error is so much less.
fn next() -> f64 {
    1.3 * spacing(GRIDS[0]).powi(2)
}

/// A wave that is carried unchanged: each step multiplies it by R(−i K dt), so that its error is known to round-off.
fn carried(setup: &Setup, case: &str, amplitude: f64, velocity: &str) -> Result<Vec<Check>> {
    const STEPS: u32 = 50;
    // Lengths of the boxes differ: 1 and 2π.
    let is_flow = case == "entropy-wave";
    let length = if is_flow { 1.0 } else { std::f64::consts::TAU };
    let (k, end) = (std::f64::consts::TAU / length, 0.1 * length);
    let dt = end / f64::from(STEPS);
    let mut set = vec![
        format!("time.dt={dt:?}"),
        "time.integrator=hale64".to_string(),
        format!("case.velocity=[{velocity}]"),
    ];
    if !is_flow {
        set.push("case.shape=sine".into());
    }
    let (mut errors, mut off): (Vec<(f64, f64)>, f64) = (Vec::new(), 0.0);
    for n in GRIDS {
        let mut run = setup.run(case, [n, 1, 1], &set)?;
        run.steps(STEPS as usize)?;
        let found = run.simulation.error()?.map_or(f64::NAN, |error| error[0]);
        let h = length / float(n);
        let symbols =
            family("compact6").map_or(f64::NAN, |family| Symbols::new(family, k, h).collocated);
        let step = tableau("hale64")
            .map_or(Complex::ZERO, |hale| hale.amplification(Complex::new(0.0, -symbols * dt)));
        let exact = Complex::cis(-k * end);
        let expected = amplitude * (step.powu(STEPS) - exact).norm() / std::f64::consts::SQRT_2;
        off = worse(off, (found - expected).abs());
        errors.push((h, found));
    }
    let found = order(errors[0], errors[1]);
    // Pressure of the stream, which moves velocity by its own round-off, or the scalar.
    let unit = f64::EPSILON * if is_flow { 10.0 } else { 1.0 };
    Ok(vec![
        Check::at_most(
            format!("{case}-error"),
            format!("error of {case} after {STEPS} steps is that of the discrete equations"),
            off,
            unit * f64::from(STEPS),
            "A |R(−iK dt)ⁿ − exp(−ikt)| / √2; round-off of each step",
        ),
        converged(case, found),
    ])
}

fn converged(case: &str, found: f64) -> Check {
    Check::at_most(
        format!("{case}-order"),
        format!("{case} converges at order 6: found {found:.3}"),
        (found - 6.0).abs(),
        next(),
        "Lele 1992, eq. 2.1.7; next term of Taylor's series",
    )
}

/// A wave that is exact to first order in its amplitude: half the difference of two runs with opposite amplitudes.
fn first_order_wave(setup: &Setup, case: &str) -> Result<Check> {
    let end = 0.5;
    let set = [
        "case.amplitude=1e-5".to_string(),
        "case.wavenumber=1".into(),
        "case.reynolds=20".into(),
        "time.dt=0.005".into(),
    ];
    let mut errors = Vec::new();
    for n in GRIDS {
        let config = setup.config(case, [n, 1, 1], &set)?;
        errors.push((spacing(n), odd_error(setup, &config, end)?));
    }
    Ok(converged(case, order(errors[0], errors[1])))
}

/// The largest error at `end` of half the difference of two runs with opposite amplitudes.
pub(super) fn odd_error(setup: &Setup, config: &Config, end: f64) -> Result<f64> {
    let Some(opposite) = config.case.opposite() else { return Ok(f64::NAN) };
    let (one, one_exact) = at_end(setup, config, end)?;
    let (other, other_exact) = at_end(setup, &config.with_case(opposite), end)?;
    let half = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| 0.5 * (a - b)).collect()
    };
    Ok(distance(&half(&one, &other), &half(&one_exact, &other_exact)))
}

/// The field that shows the wave, and its exact values.
fn at_end(setup: &Setup, config: &Config, end: f64) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut run = setup.start(config)?;
    run.advance(end)?;
    let (grid, domain) = (config.grid(), &config.grid.domain);
    let flow = config.case.flow();
    let exact = |at: usize| {
        let x = grid.coordinates(grid.index(at));
        flow.map_or(f64::NAN, |flow| {
            flow.at(&config.gas, domain, grid.active(), x, end).mass_and_momentum()[flow.shown()]
        })
    };
    let exact = (0..grid.len()).map(exact).collect();
    Ok((run.state()?.swap_remove(config.case.shown()), exact))
}

/// A vortex in a stream. Its spectrum k⁷ exp(−k²/2) of the sixth-order error has its middle at k² = 7.
fn vortex(setup: &Setup) -> Result<Check> {
    let set = ["time.dt=0.01".to_string(), "time.integrator=hale64".into()];
    smooth(setup, "isentropic-vortex", [[72, 72, 1], [96, 96, 1]], &set, 7.0)
}

/// A Gaussian of width 0.5 that is carried and spreads: k² = 7/0.5² is the middle of its sixth-order error.
fn gaussian(setup: &Setup) -> Result<Check> {
    let set = ["time.dt=0.002".to_string(), "case.diffusivity=0.02".into()];
    smooth(setup, "scalar-advection", [[64, 1, 1], [96, 1, 1]], &set, 7.0 / 0.25)
}

fn smooth(
    setup: &Setup,
    case: &str,
    grids: [[usize; 3]; 2],
    set: &[String],
    k2: f64,
) -> Result<Check> {
    let mut errors = Vec::new();
    for points in grids {
        let config = setup.config(case, points, set)?;
        let mut run = setup.start(&config)?;
        run.advance(0.2)?;
        let error = run.simulation.error()?.map_or(f64::NAN, |error| error[0]);
        errors.push((config.grid.domain.length[0] / float(points[0]), error));
    }
    let found = order(errors[0], errors[1]);
    let name = if case == "scalar-advection" { "gaussian" } else { case };
    Ok(Check::at_most(
        format!("{name}-order"),
        format!("{name} converges at order 6: found {found:.3}, error {:.2e}", errors[1].1),
        (found - 6.0).abs(),
        1.3 * k2 * errors[0].0.powi(2),
        "Lele 1992, eq. 2.1.7; next term of Taylor's series at the wavenumber of most error",
    ))
}
