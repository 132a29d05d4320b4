//! Curvilinear grids: properties that hold to round-off for any map, and orders.

use super::check::{Check, Convergence, float, largest, worse};
use super::conservation::{PRESERVING, production, white_noise};
use super::manufactured::error_of;
use super::setup::{Setup, spacing};
use crate::error::Result;
use crate::grid::Grid;
use crate::physics::TermGroup;

/// Lines that are sine waves.
const WAVY: &str = "grid.mapping={ kind = 'wavy', amplitude = 0.05 }";
/// A grid between two circles.
const RING: &str = "grid.mapping={ kind = 'ring', inner = 0.5, outer = 4.0, first = 0.05 }";
/// A grid around an aerofoil.
const AEROFOIL: &str =
    "grid.mapping={ kind = 'naca', digits = '4412', radius = 0.01, outer = 4.0, first = 0.02 }";
const WALLS: &str = "boundary.y={ low = 'wall', high = 'wall' }";
/// The forms available on curvilinear grids.
const FORMS: [[&str; 2]; 5] = [
    ["divergence", "divergence"],
    ["feiereisen", "divergence"],
    ["kennedy-gruber", "divergence"],
    ["kennedy-gruber", "split-enthalpy"],
    ["kennedy-gruber", "split-pressure"],
];

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let few = setup.is_quick_on_device();
    let mut checks = Vec::new();
    for form in FORMS.iter().skip(if few { 4 } else { 0 }) {
        checks.push(stream(setup, form, &[WAVY], [18, 21, 1], "wavy")?);
        checks.push(stream(setup, form, &[RING, WALLS], [24, 19, 1], "ring")?);
        checks.push(stream(setup, form, &[AEROFOIL, WALLS], [96, 25, 1], "naca")?);
    }
    if few {
        return Ok(checks);
    }
    for form in &FORMS[2..] {
        checks.push(manufactured(setup, form)?);
        checks.push(totals(setup, form)?);
    }
    for convection in PRESERVING {
        checks.push(preserves(setup, convection)?);
    }
    checks.push(vortex(setup)?);
    checks.push(couette(setup)?);
    Ok(checks)
}

fn keys([convection, energy]: &[&str; 2], more: &[&str]) -> Vec<String> {
    let forms = [format!("scheme.convection={convection}"), format!("scheme.energy={energy}")];
    forms.into_iter().chain(more.iter().map(ToString::to_string)).collect()
}

/// The largest |∇ξ| / h or |∇η| / h.
fn largest_slope(grid: &Grid) -> f64 {
    let Some(plane) = &grid.plane else { return f64::NAN };
    let at = |at: usize| {
        let [a, b, c, d] = plane.areas(at).map(|area| area / plane.jacobian[at]);
        (a.hypot(b) / grid.spacing[0]).max(c.hypot(d) / grid.spacing[1])
    };
    (0..plane.jacobian.len()).map(at).fold(0.0, f64::max)
}

/// A uniform stream: metrics by other operators, or products in another order, would leave errors of the size of the grid
/// variation.
fn stream(
    setup: &Setup,
    form: &[&str; 2],
    grid: &[&str],
    points: [usize; 3],
    name: &str,
) -> Result<Check> {
    let more = [grid, &["gas.viscosity=sutherland", "case.mach=0.5"]].concat();
    let set = keys(form, &more);
    let config = setup.config("taylor-green", points, &set)?;
    let mut run = setup.start(&config)?;
    let p = config.gas.reference_pressure();
    run.set(move |_, _| [1.0, 0.6, 0.3, -0.2, p])?;
    let deviation = run.rate()?.iter().map(|rate| largest(rate)).fold(0.0, worse);
    // (ρE + p) |u| / h.
    let unit = f64::EPSILON * 3.5 * p * 0.7 * largest_slope(&config.grid());
    Ok(Check::at_most(
        format!("curved-stream-{name}/{}-{}", form[0], form[1]),
        deviation,
        16.0 * unit,
    )
    .shows(format!("a uniform stream is preserved on a {name} grid"))
    .source(
        "metrics by the operators of the flow, which commute (Thomas and Lombard 1979); round-off",
    ))
}

/// The right-hand side in a periodic box with wavy grid lines.
fn manufactured(setup: &Setup, form: &[&str; 2]) -> Result<Check> {
    let more = [WAVY, "case.mach=0.5", "case.reynolds=5.0", "gas.viscosity=sutherland"];
    let Convergence { h, error, order } =
        Convergence::between([[36, 40, 18], [54, 60, 27]], |points| {
            let config = setup.config("taylor-green", points, &keys(form, &more))?;
            Ok((spacing(points[1]), error_of(setup, &config)?))
        })?;
    Ok(Check::at_most(
        format!("curved-manufactured/{}-{}", form[0], form[1]),
        (6.0 - order).max(0.0),
        // The sine waves of the grid lines have the wavenumber of the flow, and increase it up to 2 (1 + 2π a).
        1.3 * (2.6 * h).powi(2),
    )
    .shows(format!(
        "dU/dt in a box with wavy lines converges at order 6: found {order:.2}, error {error:.2e}"
    ))
    .source("order of the formulas; next term of Taylor's series for the largest wavenumber along the lines"))
}

/// An initial state of white noise on wavy grid lines.
fn white_noise_run(setup: &Setup, set: &[String]) -> Result<(super::fields::Run, Vec<f64>)> {
    let points = [12, 14, 10];
    let config = setup.config("taylor-green", points, set)?;
    let grid = config.grid();
    let mut run = setup.start(&config)?;
    run.set(|index, _| white_noise(points, index))?;
    let weights = (0..grid.len()).map(|at| grid.weight(grid.index(at))).collect();
    Ok((run, weights))
}

/// Σ J dU/dt.
fn totals(setup: &Setup, form: &[&str; 2]) -> Result<Check> {
    let (mut run, weights) = white_noise_run(setup, &keys(form, &[WAVY, "case.reynolds=20"]))?;
    let deviation = run.rate()?.iter().fold(0.0, |deviation, rate| {
        let terms = || rate.iter().zip(&weights).map(|(rate, weight)| rate * weight);
        let size: f64 = terms().map(f64::abs).sum();
        worse(deviation, terms().sum::<f64>().abs() / size)
    });
    Ok(Check::at_most(
        format!("curved-totals/{}-{}", form[0], form[1]),
        deviation,
        // Roundings of about ten operations, half of which cancel in the mean.
        8.0 * f64::EPSILON,
    )
    .shows("mass, momentum and total energy are conserved on wavy lines, white noise in every variable")
    .source("Σ J dU/dt telescopes along each line; round-off"))
}

/// Conservation of kinetic energy under convection.
fn preserves(setup: &Setup, convection: &'static str) -> Result<Check> {
    let (mut run, weights) = white_noise_run(setup, &keys(&[convection, "divergence"], &[WAVY]))?;
    let (state, mut rate) = (run.state()?, run.terms(TermGroup::Convection)?);
    for field in &mut rate {
        field.iter_mut().zip(&weights).for_each(|(rate, weight)| *rate *= weight);
    }
    let state: Vec<&[f64]> = state.iter().map(Vec::as_slice).collect();
    Ok(Check::at_most(
        format!("curved-kinetic-energy/{convection}"),
        production(&state, &rate),
        8.0 * f64::EPSILON,
    )
    .shows("convection neither makes nor destroys kinetic energy on wavy lines, white noise in every variable")
    .source("Feiereisen et al. 1981; Coppola et al. 2019, with J u·∇ξ instead of u; round-off"))
}

/// The isentropic vortex convected across wavy grid lines.
fn vortex(setup: &Setup) -> Result<Check> {
    let set = keys(&["kennedy-gruber", "split-pressure"], &[WAVY, "time.cfl=0.4"]);
    let Convergence { error, order, .. } = Convergence::between([48, 72], |n| {
        let mut run = setup.run("isentropic-vortex", [n, n, 1], &set)?;
        run.advance(1.0)?;
        Ok((1.0 / float(n), run.error()?[0]))
    })?;
    Ok(Check::at_most("curved-vortex", (6.0 - order).max(0.0), 0.5)
        .shows(format!(
            "an isentropic vortex that crosses wavy lines converges at order 6: found {order:.2}, error {error:.1e}"
        ))
        .source("order of the formulas; a vortex with about seven points per radius"))
}

/// Gas between two cylinders of radius 1 and 2, the inner one rotating: with u = A r + B/r clockwise and constant viscosity
///
/// ```text
/// T = 1 + a (1 − 1/r²) − (3/4) a ln r / ln 2,  a = B² Pr (γ − 1) Ma²,  d(ln p)/dr = γ Ma² u² / (r T)
/// ```
fn couette(setup: &Setup) -> Result<Check> {
    let (a, b) = (-1.0 / 3.0, 4.0 / 3.0);
    let more = [
        "grid.mapping={ kind = 'ring', inner = 1.0, outer = 2.0 }",
        "boundary.y={ low = { kind = 'wall', temperature = 1.0, velocity = [1.0, 0.0, 0.0] }, high = { kind = 'wall', temperature = 1.0 } }",
        "case.mach=0.8",
        "case.reynolds=10",
    ];
    let set = keys(&["kennedy-gruber", "split-pressure"], &more);
    let Convergence { error, order, .. } = Convergence::between([25, 37], |n| {
        let config = setup.config("taylor-green", [20, n, 1], &set)?;
        let gas = config.gas;
        let heating = b * b * gas.prandtl * (gas.gamma - 1.0) * gas.mach.powi(2);
        let speed = move |r: f64| a * r + b / r;
        let temperature = move |r: f64| {
            1.0 + heating * (1.0 - 1.0 / (r * r)) - 0.75 * heating * r.ln() / 2.0_f64.ln()
        };
        let rise = move |r: f64| gas.gamma * (gas.mach * speed(r)).powi(2) / (r * temperature(r));
        let flow = move |[x, y, _]: [f64; 3]| {
            let r = x.hypot(y);
            let p = gas.reference_pressure() * simpson(rise, 1.0, r).exp();
            let u = speed(r);
            let rho = gas.temperature(1.0, p) / temperature(r);
            [rho, u * y / r, -u * x / r, 0.0, p]
        };
        let mut run = setup.start(&config)?;
        run.set(move |_, x| flow(x))?;
        run.advance(2.0)?;
        let (grid, state) = (config.grid(), run.state()?);
        let mut deviation = 0.0;
        for at in 0..grid.len() {
            let [rho, u, v, _, p] = flow(grid.coordinates(grid.index(at)));
            let [m0, m1] = [1, 2].map(|k| state[k][at] / state[0][at]);
            let inner = state[4][at] - 0.5 * state[0][at] * (m0 * m0 + m1 * m1);
            let t = gas.temperature(state[0][at], (gas.gamma - 1.0) * inner);
            deviation = worse(deviation, (m0 - u).hypot(m1 - v));
            deviation = worse(deviation, (t - gas.temperature(rho, p)).abs());
        }
        Ok((1.0 / float(n - 1), deviation))
    })?;
    Ok(Check::at_most("curved-couette", (3.0 - order).max(0.0), 0.2)
        .shows(format!(
            "heated flow between cylinders, of which one turns, converges at order 3: found {order:.2}, error {error:.1e}"
        ))
        .source("exact solution of the compressible equations; rows of order 3 at the walls, next term of Taylor's series"))
}

/// ∫ f dr by Simpson's rule.
fn simpson(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const PARTS: usize = 64;
    let h = (to - from) / float(2 * PARTS);
    let part = |k: usize| {
        let r = from + h * float(2 * k);
        h / 3.0 * (f(r) + 4.0 * f(r + h) + f(r + 2.0 * h))
    };
    (0..PARTS).map(part).sum()
}
