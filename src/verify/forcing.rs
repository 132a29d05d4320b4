//! Forces: the growth under linear forcing, and the budgets of momentum, kinetic and total energy for each force.

use num_complex::Complex;

use super::check::{Check, float, largest, worse};
use super::conservation::totals;
use super::setup::{FILTER, Setup, hale64};
use crate::error::Result;

/// A name, and the keys of a force.
const FORCES: [(&str, &[&str]); 3] = [
    ("coefficient", &["forcing.kind=linear", "forcing.coefficient=0.7"]),
    ("constant-energy", &["forcing.kind=linear", "forcing.energy=constant"]),
    ("stochastic", &["forcing.kind=stochastic", "forcing.amplitude=0.6", "forcing.time_scale=0.3"]),
];

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = vec![growth(setup)?];
    for (name, keys) in FORCES {
        checks.extend(budgets(setup, name, keys)?);
    }
    Ok(checks)
}

/// u = ε sin y exp(At) at uniform density and pressure solves the Euler equations with F = Aρu, whose power F·u is the gain of
/// kinetic energy: every step multiplies u by R(A dt).
fn growth(setup: &Setup) -> Result<Check> {
    let (steps, dt, amplitude) = (20, 0.05, 0.02);
    let dt_key = format!("time.dt={dt}");
    let keys = ["forcing.kind=linear", "forcing.coefficient=1", "case.reynolds=inf", "case.mach=1"];
    let mut run = setup.run("taylor-green", [6, 12, 1], &[&keys[..], &[&dt_key]].concat())?;
    let pressure = 1.0 / 1.4;
    run.set(|_, x| [1.0, amplitude * x[1].sin(), 0.0, 0.0, pressure])?;
    let computed = run.gain(1, [0, 1, 0], steps)?;
    let step = hale64().amplification(Complex::new(dt, 0.0)).re;
    let expected = step.powi(20);
    // The energy of a stage is not the square of its velocity: a pressure error of ε² times the error of a step accelerates u.
    let coupled = amplitude * amplitude * dt.powi(5) * float(steps);
    let roundings = float(steps * hale64().stages()) * f64::EPSILON * (1.0 + pressure / amplitude);
    Ok(Check::at_most("growth", (computed - expected).norm() / expected, coupled + roundings)
        .shows(format!(
            "linear forcing: {steps} steps multiply a shear flow by R(A dt)^{steps}, near exp(A t)"
        ))
        .source("Lundgren 2003; R(z) = Σ γₖ zᵏ (Hairer and Wanner 1996, §IV.2)"))
}

/// The budget of the kinetic energy with the force, the power of the force, momentum, and total energy with heat removal.
fn budgets(setup: &Setup, name: &str, keys: &[&str]) -> Result<Vec<Check>> {
    let (steps, dt) = (12, 0.02);
    let dt_key = format!("time.dt={dt}");
    let more = ["case.mach=0.4", "case.reynolds=50", &dt_key, FILTER];
    let mut run = setup.run("taylor-green", [12, 14, 16], &[keys, &more].concat())?;
    let before = totals(&run.state()?);
    let mut power = Vec::new();
    for _ in 0..steps {
        power.extend(run.quantities(["forcing_power"])?);
        run.steps(1)?;
    }
    let [rate, parts @ .., work] = run.quantities([
        "ke_rate",
        "ke_rate_convection",
        "ke_rate_pressure",
        "ke_rate_viscous",
        "ke_rate_filter",
        "ke_rate_forcing",
        "forcing_power",
    ])?;
    power.push(work);
    let after = totals(&run.state()?);
    let change = (1..4).map(|v| (after[v] - before[v]).abs()).fold(0.0, worse);
    let jump = power.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, worse);
    // The work ⟨f·f⟩ dt of a random force, which is renewed at the end of a step, on the new velocity is not visible in the
    // budget.
    let jump = if name == "stochastic" { jump.max(2.0 * 0.36 * dt) } else { jump };
    let roundings = float(steps * 6) * f64::EPSILON;
    Ok(vec![
        Check::at_most(
            format!("budget/{name}"),
            (rate - parts.iter().sum::<f64>()).abs() / largest(&parts),
            1e-14,
        )
        .shows("terms of the kinetic-energy budget with the force add up to its rate, relative to the largest")
        .source("linearity of the right-hand side; 50 roundings"),
        Check::at_most(format!("power/{name}"), (parts[4] - work).abs() / largest(&parts), 1e-14)
            .shows("the rate of the kinetic energy due to the force is its power ⟨F·u⟩, relative to the largest rate")
            .source("u·F from U and from the rates; 50 roundings"),
        Check::at_most(format!("momentum/{name}"), change, roundings)
            .shows(format!("momentum after {steps} steps"))
            .source("the force has no mean; one rounding per stage"),
        Check::at_most(
            format!("heat/{name}"),
            (after[4] - before[4]).abs(),
            0.6 * dt * jump + before[4].abs() * roundings,
        )
        .shows(format!("total energy after {steps} steps with the heat of the force removed"))
        .source("½ dt² dP/dt of one step (Petersen and Livescu 2010)"),
    ])
}
