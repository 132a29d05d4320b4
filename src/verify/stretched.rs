//! Stretched grids: properties that hold to round-off for any map, and orders.

use super::check::{Check, Convergence, float, largest, worse};
use super::exact::odd_error;
use super::manufactured::error_of;
use super::setup::Setup;
use crate::error::Result;

/// Walls along y with clustered points, and other maps along the periodic axes.
const MAPS: &str = "grid.stretching={ x = 's + 0.1*sin(2*pi*s)', y = { map = 'tanh', factor = 1.5 }, z = 's - 0.05*cos(2*pi*s)' }";
const WALLS: &str = "boundary.y={ low = 'wall', high = 'wall' }";
/// Largest dξ/dx of these maps, from tanh: sinh(2 · 1.5) / (2 · 1.5).
const MAX_METRIC: f64 = 3.4;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for viscous in ["laplacian", "conservative"] {
        checks.push(shear(setup, viscous)?);
        checks.push(manufactured(setup, viscous)?);
        checks.push(stokes(setup, viscous)?);
    }
    Ok(checks)
}

/// A uniform stream along y with velocity linear in y: du/dy = 1, and the flow is steady.
fn shear(setup: &Setup, viscous: &str) -> Result<Check> {
    let set = [MAPS, WALLS, &format!("scheme.viscous={viscous}")];
    let config = setup.config("taylor-green", [17, 33, 17], &set)?;
    let mut run = setup.start(&config)?;
    let p = config.gas.reference_pressure();
    let length = config.grid.domain.length[1];
    run.set(move |_, [_, y, _]| [1.0, y / length, 0.0, 0.3, p])?;
    let rate = run.rate()?;
    let deviation = rate[..4].iter().map(|rate| largest(rate)).fold(0.0, worse);
    // Differences of p divided by the smallest spacing.
    let unit = p * f64::EPSILON * MAX_METRIC * 33.0 / length;
    Ok(Check::at_most(format!("stretched-shear-{viscous}"), deviation, 16.0 * unit)
        .shows(format!("a stream with constant shear is preserved on a stretched grid, {viscous}"))
        .source("operators are exact on constants and on x itself; round-off"))
}

/// Walls of given temperature across an axis.
fn walls(axis: &str) -> String {
    let wall = "{ kind = 'wall', temperature = 1.0 }";
    format!("boundary.{axis}={{ low = {wall}, high = {wall} }}")
}

/// The right-hand side with walls on all faces and stretching along every axis, clustered at the walls and near them.
fn manufactured(setup: &Setup, viscous: &str) -> Result<Check> {
    let set = [
        "grid.stretching={ x = { map = 'sinh', factor = 1.0, at = 2.0 }, y = { map = 'tanh', factor = 1.0 }, z = 's + 0.2*s^2' }",
        "grid.length=[3.0, 3.0, 3.0]",
        // A given heat flux would be imposed on the rates.
        &walls("x"),
        &walls("y"),
        &walls("z"),
        &format!("scheme.viscous={viscous}"),
        "case.mach=0.5",
        "case.reynolds=5.0",
    ];
    let Convergence { error, order, .. } = Convergence::between([32, 48], |n| {
        let config = setup.config("taylor-green", [n, n + 1, n + 2], &set)?;
        Ok((1.0 / float(n - 1), error_of(setup, &config)?))
    })?;
    Ok(Check::at_most(format!("stretched-manufactured-{viscous}"), (2.0 - order).max(0.0), 0.1)
        .shows(format!(
            "dU/dt between walls on all faces of a stretched box converges at order 2 or more ({viscous}): {order:.2}, {error:.1e}"
        ))
        .source("rows of order 3 at the walls, a second derivative one order less; next term of Taylor's series"))
}

/// The oscillating plate with points clustered near it.
fn stokes(setup: &Setup, viscous: &str) -> Result<Check> {
    let set = [
        "case.amplitude=1e-5",
        "time.dt=0.0005",
        &format!("scheme.viscous={viscous}"),
        "grid.stretching={ y = { map = 'tanh', factor = 1.0, ends = 'low' } }",
    ];
    let convergence = Convergence::between([31, 45], |n| {
        let config = setup.config("stokes-layer", [1, n, 1], &set)?;
        Ok((1.0 / float(n - 1), odd_error(setup, &config, 0.1)?))
    })?;
    let (order, error) = (convergence.order, convergence.error / 1e-5);
    Ok(Check::at_most(format!("stretched-stokes-layer-{viscous}"), (4.0 - order).max(0.0), 0.1)
        .shows(format!(
            "a Stokes layer on a stretched grid converges at order 4 or more ({viscous}): {order:.2}, {error:.1e} of A"
        ))
        .source("rows of order 3 at the wall: order 4 overall (Gustafsson 1975); next term of Taylor's series"))
}
