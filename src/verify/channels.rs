//! Channels: the exact profile between two plates, and the pressure gradient that keeps the mass flux constant.

use super::check::{Check, Convergence, distance_of_all, float, worse};
use super::setup::Setup;
use crate::error::Result;

/// Points from wall to wall: at least five per rank.
const POINTS: usize = 45;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = constant_flux(setup)?;
    checks.push(converges(setup)?);
    Ok(checks)
}

/// Poiseuille flow at constant mass flux remains steady with a direct second derivative: u and T are polynomials of degrees 2 and
/// 4.
fn constant_flux(setup: &Setup) -> Result<Vec<Check>> {
    const STEPS: usize = 50;
    let set = ["forcing.kind=pressure-gradient", "forcing.mass_flux=constant"];
    let mut run = setup.run("poiseuille-flow", [1, POINTS, 1], &set)?;
    let gas = setup.config("poiseuille-flow", [1, POINTS, 1], &set)?.gas;
    let start = run.state()?;
    let [flux] = run.quantities(["momentum_x"])?;
    let (mut drift, mut deviation): (f64, f64) = (0.0, 0.0);
    for _ in 0..STEPS {
        run.steps(1)?;
        let [now, gradient] = run.quantities(["momentum_x", "pressure_gradient"])?;
        drift = worse(drift, (now - flux).abs());
        deviation = worse(deviation, (gradient - 2.0 / gas.reynolds).abs());
    }
    let dt = run.simulation.time() / float(STEPS);
    let end = run.state()?;
    let changed = distance_of_all(&start, &end);
    // ρE at rest, and the round-off that a step adds to it.
    let unit = gas.reference_pressure() / (gas.gamma - 1.0) * f64::EPSILON;
    Ok(vec![
        Check::at_most("poiseuille", changed, float(STEPS) * unit)
            .shows("Poiseuille flow driven at constant mass flux remains steady")
            .source(
                "the closed second derivative is exact on polynomials of fourth degree; round-off",
            ),
        Check::at_most("mass-flux", drift, 20.0 * f64::EPSILON)
            .shows(format!("the mass flux after each of {STEPS} steps"))
            .source("round-off of a step and of a sum: a deviation decays"),
        Check::at_most("pressure-gradient", deviation, 20.0 * f64::EPSILON / dt)
            .shows("the pressure gradient that holds it is 2/Re")
            .source("the round-off of the mass flux over a step"),
    ])
}

/// With nested first derivatives, the discrete profile differs from the exact one and converges to it.
fn converges(setup: &Setup) -> Result<Check> {
    let set = ["scheme.viscous=conservative", "case.reynolds=10"];
    let convergence = Convergence::between([POINTS, 2 * POINTS - 1], |n| {
        let mut run = setup.run("poiseuille-flow", [1, n, 1], &set)?;
        run.advance(1.0)?;
        Ok((2.0 / float(n - 1), run.error()?[1]))
    })?;
    let Convergence { error, order, .. } = convergence;
    let (required, reach) = super::walls::order_at_wall("compact6", "conservative");
    Ok(Check::at_most(
        "poiseuille-conservative",
        (f64::from(required) - order).max(0.0),
        reach / (float(POINTS - 1) * std::f64::consts::LN_2),
    )
    .shows(format!(
        "Poiseuille flow converges at order {required} with nested derivatives: {order:.2}, {error:.1e} in ρ"
    ))
    .source("rows of order 3 at the wall: order 4 overall (Gustafsson 1975); next term of Taylor's series"))
}
