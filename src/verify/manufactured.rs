//! A manufactured solution: the right-hand side of the equations compared with the exact divergence of the fluxes of a smooth
//! field, from automatic differentiation (Roache 2002, J. Fluids Eng. 124, 4).

use super::check::{Check, Convergence, distance, largest, worse};
use super::jet::Jet;
use super::setup::{Forms, Setup, spacing};
use crate::config::Config;
use crate::error::Result;
use crate::gas::{Gas, Viscosity};
use crate::scheme::families;

/// (ρ, u, v, w, p) of the solution at `[x, y, z, t]`.
pub fn solution(gas: &Gas, point: [f64; 4]) -> [f64; 5] {
    jets(gas, point).map(|jet| jet.f)
}

fn jets(gas: &Gas, point: [f64; 4]) -> [Jet; 5] {
    let [x, y, z, t] = [0, 1, 2, 3].map(|axis| Jet::variable(axis, point[axis]));
    [
        1.0 + 0.1 * ((0.3 + x).sin() * y.cos() * (z - t).cos()),
        0.5 + 0.1 * (x.cos() * (y + t).sin() * z.cos()),
        0.3 + 0.1 * (x.sin() * y.cos() * (z + t).sin()),
        -0.2 + 0.1 * ((x + t).cos() * y.cos() * z.sin()),
        gas.reference_pressure() + 0.2 * (x.cos() * (0.2 + y).cos() * (z - t).sin()),
    ]
}

/// (∂U/∂t, − div F) at `[x, y, z, t]`, where F contains all convective and viscous fluxes of the equations on the front page of
/// the crate.
pub fn exact(gas: &Gas, point: [f64; 4]) -> ([f64; 5], [f64; 5]) {
    let [rho, u @ .., p] = jets(gas, point);
    let temperature = gas.gamma * gas.mach * gas.mach * (p * rho.power(-1.0));
    let mu = match gas.viscosity {
        Viscosity::Constant => 1.0 + 0.0 * temperature,
        Viscosity::Power { exponent } => temperature.power(exponent),
        Viscosity::Sutherland { temperature_ratio: s } => {
            (1.0 + s) * (temperature.power(1.5) * (s + temperature).power(-1.0))
        }
    };
    let energy =
        1.0 / (gas.gamma - 1.0) * p + 0.5 * (rho * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
    let divergence = u[0].along(0) + u[1].along(1) + u[2].along(2);
    let tau = |i: usize, j: usize| {
        let shear = u[i].along(j) + u[j].along(i);
        let strain = if i == j { shear - 2.0 / 3.0 * divergence } else { shear };
        1.0 / gas.reynolds * (mu * strain)
    };
    let conductivity = 1.0 / ((gas.gamma - 1.0) * gas.mach * gas.mach * gas.prandtl * gas.reynolds);
    let mut rate = [0.0; 5];
    for j in 0..3 {
        rate[0] -= (rho * u[j]).d[j];
        for i in 0..3 {
            let flux = rho * u[i] * u[j] - tau(i, j);
            rate[1 + i] -= flux.d[j] + if i == j { p.d[j] } else { 0.0 };
        }
        let work = tau(0, j) * u[0] + tau(1, j) * u[1] + tau(2, j) * u[2];
        let heat = -conductivity * (mu * temperature.along(j));
        rate[4] -= ((energy + p) * u[j] - work + heat).d[j];
    }
    let in_time = [rho, rho * u[0], rho * u[1], rho * u[2], energy].map(|q| q.d[3]);
    (in_time, rate)
}

/// The instant of the comparison.
const TIME: f64 = 0.4;
/// Two grids with unequal spacings along the axes, refined by the same factor along every axis.
const GRIDS: [[usize; 3]; 2] = [[21, 24, 27], [28, 32, 36]];
/// Wavenumber of the fluxes, which are products of the waves of the solution; products of two waves are by far the largest.
const WAVENUMBER: f64 = 2.0;

/// The checks of this family: every form with compact6, every scheme with the default form.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for forms in setup.forms() {
        checks.push(converges(setup, &forms, "compact6", &forms.name())?);
    }
    if !setup.is_quick_on_device() {
        for family in families() {
            checks.push(converges(setup, &Forms::default(), family.name, family.name)?);
        }
    }
    Ok(checks)
}

/// max |dU/dt − exact| relative to the largest exact value, for the worst variable, decreases at the order of the scheme.
fn converges(setup: &Setup, forms: &Forms, derivative: &str, name: &str) -> Result<Check> {
    // Viscous terms are as large as the others.
    let scheme = format!("scheme.derivative={derivative}");
    let set = forms.with(&["case.mach=0.5", "case.reynolds=5.0", &scheme]);
    let Convergence { h, error, order } = Convergence::between(GRIDS, |points| {
        Ok((spacing(points[1]), error_of(setup, &setup.config("taylor-green", points, &set)?)?))
    })?;
    let formal = families().iter().find(|family| family.name == derivative);
    let formal = formal.map_or(f64::NAN, |family| f64::from(family.first.order));
    Ok(Check::at_most(name, formal - order, 1.3 * (WAVENUMBER * h).powi(2))
        .shows(format!(
            "dU/dt converges at least at order {formal}: found {order:.2}, error {error:.2e} on 28 x 32 x 36"
        ))
        .source(
            "order of the formulas; next term of Taylor's series for waves of twice the wavenumber",
        ))
}

/// max |dU/dt − exact| relative to the largest exact value, for the worst variable.
pub(super) fn error_of(setup: &Setup, config: &Config) -> Result<f64> {
    let (gas, grid) = (config.gas, config.grid());
    let mut run = setup.start(config)?;
    run.set(|_, [x, y, z]| solution(&gas, [x, y, z, TIME]))?;
    let computed = run.rate()?;
    let exact: Vec<[f64; 5]> = (0..grid.len())
        .map(|at| {
            let [x, y, z] = grid.coordinates(grid.index(at));
            exact(&gas, [x, y, z, TIME]).1
        })
        .collect();
    Ok((0..5).fold(0.0, |worst, variable| {
        let exact: Vec<f64> = exact.iter().map(|rate| rate[variable]).collect();
        worse(worst, distance(&computed[variable], &exact) / largest(&exact))
    }))
}
