//! Forces: the growth that a linear one gives, and the budgets of momentum, kinetic and total energy under each.

use num_complex::Complex;

use super::check::{Check, float, largest, worse};
use super::conservation::totals;
use super::fields::projection;
use super::setup::Setup;
use crate::error::Result;
use crate::scheme::TABLEAUX;

/// A name, and the keys of a force.
const FORCES: [(&str, &[&str]); 3] = [
    ("coefficient", &["forcing.kind=linear", "forcing.coefficient=0.7"]),
    ("constant-energy", &["forcing.kind=linear", "forcing.energy=constant"]),
    ("stochastic", &["forcing.kind=stochastic", "forcing.amplitude=0.6", "forcing.time_scale=0.3"]),
];

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = vec![growth(setup)?];
    for (name, keys) in FORCES {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        checks.extend(budgets(setup, name, &keys)?);
    }
    Ok(checks)
}

/// u = ε sin y exp(At) at uniform density and pressure solves the Euler equations with F = Aρu, whose F·u is what the kinetic energy
/// gains: every step multiplies u by R(A dt).
fn growth(setup: &Setup) -> Result<Check> {
    let (points, steps, dt, amplitude) = ([6, 12, 1], 20, 0.05, 0.02);
    let keys = ["forcing.kind=linear", "forcing.coefficient=1", "case.reynolds=inf", "case.mach=1"];
    let mut set: Vec<String> = keys.iter().map(ToString::to_string).collect();
    set.push(format!("time.dt={dt}"));
    let mut run = setup.run("taylor-green", points, &set)?;
    let pressure = 1.0 / 1.4;
    run.set(|_, x| [1.0, amplitude * x[1].sin(), 0.0, 0.0, pressure])?;
    let before = projection(points, [0, 1, 0], &run.state()?[1]);
    run.steps(steps)?;
    let found = projection(points, [0, 1, 0], &run.state()?[1]) / before;
    let hale64 = TABLEAUX.into_iter().find(|tableau| tableau.name == "hale64");
    let hale64 = hale64.unwrap_or(TABLEAUX[0]);
    let step = hale64.amplification(Complex::new(dt, 0.0)).re;
    let expected = step.powi(20);
    // The energy of a stage is not the square of its velocity: a pressure of ε² times the error of a step moves u by its gradient.
    let coupled = amplitude * amplitude * dt.powi(5) * float(steps);
    let roundings = float(steps * hale64.stages()) * f64::EPSILON * (1.0 + pressure / amplitude);
    Ok(Check::at_most(
        "growth",
        format!(
            "linear forcing: {steps} steps multiply a shear flow by R(A dt)^{steps}, near exp(A t)"
        ),
        (found - expected).norm() / expected,
        coupled + roundings,
        "Lundgren 2003; R(z) = Σ γₖ zᵏ (Hairer and Wanner 1996, §IV.2)",
    ))
}

/// The budget of the kinetic energy with the force, its power, momentum, and total energy with the heat removed.
fn budgets(setup: &Setup, name: &str, keys: &[String]) -> Result<Vec<Check>> {
    let (steps, dt) = (12, 0.02);
    let more = ["case.mach=0.4".to_string(), "case.reynolds=50".into(), format!("time.dt={dt}")];
    let filter = ["scheme.filter={ order = 8, alpha = 0.45, every = 2 }".to_string()];
    let mut run =
        setup.run("taylor-green", [12, 14, 16], &[keys, &more[..], &filter[..]].concat())?;
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
    let moved = (1..4).map(|v| (after[v] - before[v]).abs()).fold(0.0, worse);
    let jump = power.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, worse);
    // What a random force does at the end of a step with the new velocity is not seen: ⟨f·f⟩ dt of it.
    let jump = if name == "stochastic" { jump.max(2.0 * 0.36 * dt) } else { jump };
    let roundings = float(steps * 6) * f64::EPSILON;
    Ok(vec![
        Check::at_most(
            format!("budget/{name}"),
            "terms of the kinetic-energy budget with the force add up to its rate, relative to the largest",
            (rate - parts.iter().sum::<f64>()).abs() / largest(&parts),
            1e-14,
            "linearity of the right-hand side; 50 roundings",
        ),
        Check::at_most(
            format!("power/{name}"),
            "the rate that the force gives the kinetic energy is its power ⟨F·u⟩, relative to the largest rate",
            (parts[4] - work).abs() / largest(&parts),
            1e-14,
            "u·F from U and from the rates; 50 roundings",
        ),
        Check::at_most(
            format!("momentum/{name}"),
            format!("momentum after {steps} steps"),
            moved,
            roundings,
            "the force has no mean; one rounding a stage",
        ),
        Check::at_most(
            format!("heat/{name}"),
            format!("total energy after {steps} steps with the heat of the force removed"),
            (after[4] - before[4]).abs(),
            0.6 * dt * jump + before[4].abs() * roundings,
            "½ dt² dP/dt of one step (Petersen and Livescu 2010)",
        ),
    ])
}
