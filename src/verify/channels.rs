//! Channels: the exact profile between two plates, and the mass flux that a pressure gradient holds.

use super::check::{Check, distance, float, order, worse};
use super::setup::Setup;
use crate::error::Result;

/// Points from wall to wall: every rank has five.
const POINTS: usize = 45;

/// The checks of channels.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = held(setup)?;
    checks.push(converges(setup)?);
    Ok(checks)
}

/// Poiseuille flow at constant mass flux stays as it is where second derivatives are taken at once: u and T are polynomials of degrees
/// 2 and 4.
fn held(setup: &Setup) -> Result<Vec<Check>> {
    const STEPS: usize = 50;
    let force = ["forcing.kind=pressure-gradient", "forcing.mass_flux=constant"];
    let set = force.map(String::from);
    let mut run = setup.run("poiseuille-flow", [1, POINTS, 1], &set)?;
    let gas = setup.config("poiseuille-flow", [1, POINTS, 1], &set)?.gas;
    let start = run.state()?;
    let [flux] = run.quantities(["momentum_x"])?;
    let (mut moved, mut off): (f64, f64) = (0.0, 0.0);
    for _ in 0..STEPS {
        run.steps(1)?;
        let [now, gradient] = run.quantities(["momentum_x", "pressure_gradient"])?;
        moved = worse(moved, (now - flux).abs());
        off = worse(off, (gradient - 2.0 / gas.reynolds).abs());
    }
    let dt = run.simulation.time() / float(STEPS);
    let end = run.state()?;
    let changed = start.iter().zip(&end).map(|(a, b)| distance(a, b)).fold(0.0, worse);
    // ρE, at rest, and what a step adds of its round-off.
    let unit = gas.reference_pressure() / (gas.gamma - 1.0) * f64::EPSILON;
    Ok(vec![
        Check::at_most(
            "poiseuille",
            "Poiseuille flow driven at constant mass flux stays as it is",
            changed,
            float(STEPS) * unit,
            "the closed second derivative is exact on polynomials of fourth degree; round-off",
        ),
        Check::at_most(
            "mass-flux",
            format!("the mass flux after each of {STEPS} steps"),
            moved,
            20.0 * f64::EPSILON,
            "round-off of a step and of a sum: a deviation decays",
        ),
        Check::at_most(
            "pressure-gradient",
            "the pressure gradient that holds it is 2/Re",
            off,
            20.0 * f64::EPSILON / dt,
            "the round-off of the mass flux over a step",
        ),
    ])
}

/// With nested first derivatives the profile is one of their own.
fn converges(setup: &Setup) -> Result<Check> {
    let set = ["scheme.viscous=conservative".to_string(), "case.reynolds=10".into()];
    let mut errors = Vec::new();
    for n in [POINTS, 2 * POINTS - 1] {
        let mut run = setup.run("poiseuille-flow", [1, n, 1], &set)?;
        run.advance(1.0)?;
        let error = run.simulation.error()?.map_or(f64::NAN, |[_, most]| most);
        errors.push((2.0 / float(n - 1), error));
    }
    let (found, error) = (order(errors[0], errors[1]), errors[1].1);
    let (wanted, reach) = super::walls::at_wall("compact6", "conservative");
    Ok(Check::at_most(
        "poiseuille-conservative",
        format!(
            "Poiseuille flow converges at order {wanted} with nested derivatives: {found:.2}, {error:.1e} in ρ"
        ),
        (f64::from(wanted) - found).max(0.0),
        reach / (float(POINTS - 1) * std::f64::consts::LN_2),
        "rows of order 3 at the wall: one more within (Gustafsson 1975); next term of Taylor's series",
    ))
}
