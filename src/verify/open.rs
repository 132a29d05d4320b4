//! Open faces: preservation of a free stream, outflow without reflection, and prescribed reflection.

use super::check::{Check, Convergence, distance_of_all, float, largest, worse};
use super::exact::odd_error;
use super::fields::Run;
use super::setup::{FILTER, Setup};
use super::walls::deviation_from_one_host;
use crate::config::Config;
use crate::error::Result;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = vec![free_stream(setup)?, pulse(setup)?, relaxation(setup)?];
    checks.extend([scalar(setup)?, all_kinds_of_faces(setup)?]);
    if !setup.is_quick_on_device() {
        checks.push(supersonic(setup)?);
        checks.push(vortex(setup)?);
        checks.push(published_vortex(setup, "published-vortex", [0.0, 1.0], 0.003)?);
        checks.push(published_vortex(setup, "published-corner", [0.5_f64.sqrt(); 2], 0.002)?);
    }
    Ok(checks)
}

/// An oblique stream between far fields.
fn free_stream(setup: &Setup) -> Result<Check> {
    let face = "{ kind = 'far-field', velocity = [0.6, -0.5, 0.4], temperature = 1.2, sponge = { width = 3.0 } }";
    let mut set =
        ["x", "y", "z"].map(|axis| format!("boundary.{axis}={{ low = {face}, high = {face} }}"));
    set[2] = set[2].replace("sponge", "relaxation = 1.0, sponge");
    let config = setup.config("taylor-green", [19, 17, 18], &set)?;
    let (mut run, p) = (setup.start(&config)?, config.gas.reference_pressure());
    run.set(move |_, _| [1.0 / 1.2, 0.6, -0.5, 0.4, p])?;
    let start = run.state()?;
    run.steps(20)?;
    Ok(Check::at_most(
        "free-stream",
        distance_of_all(&start, &run.state()?),
        20.0 * 4.0 * p / (config.gas.gamma - 1.0) * f64::EPSILON,
    )
    .shows("an oblique stream between far fields is preserved")
    .source("its derivatives and its deviation from the far field are 0; round-off of each step"))
}

/// One half of a pulse has left, the other half was reflected by the wall.
fn pulse(setup: &Setup) -> Result<Check> {
    let convergence = Convergence::between([97, 193], |n| {
        let config = setup.config("acoustic-pulse", [n, 1, 1], &["time.dt=0.002"])?;
        Ok((1.0 / float(n - 1), odd_error(setup, &config, 0.9)?))
    })?;
    let (order, error) = (convergence.order, convergence.error / 1e-6);
    Ok(Check::at_most("acoustic-pulse", (4.0 - order).max(0.0), 0.1)
        .shows(format!(
            "a pulse reflected by a wall but not by an outflow converges at order 4 or more: {order:.2}, {error:.1e} of A"
        ))
        .source("rows of order 3 at the ends: order 4 overall (Gustafsson 1975)"))
}

/// Reflection of a pulse p₊(t) by an outflow with relaxation: dp₋/dt = −½ K (p₊ + p₋), K = σ c/L. It gives |R| = 1/√(1 + (2ω/K)²)
/// (Selle, Nicoud and Poinsot 2004) at all frequencies at once.
fn relaxation(setup: &Setup) -> Result<Check> {
    const A: f64 = 1e-6;
    const SIGMA: f64 = 4.0;
    const END: f64 = 1.2;
    let pulse = |s: f64| (-(s / 0.08).powi(2)).exp();
    let faces = format!(
        "boundary.x={{ low = {{ kind = 'outflow', relaxation = 0 }}, high = {{ kind = 'outflow', relaxation = {SIGMA} }} }}"
    );
    let config = setup.config("acoustic-pulse", [193, 1, 1], &["time.dt=0.002", &faces])?;
    let (mut run, p) = (setup.start(&config)?, config.gas.reference_pressure());
    run.set(move |_, [x, ..]| {
        let rise = A * p * pulse(x - 0.5);
        [1.0 + rise, rise, 0.0, 0.0, p + rise]
    })?;
    run.advance(END)?;
    let state = run.state()?;
    let reflected = |x: f64| {
        // p₋ = −½ K ∫ exp(−½ K (t − s)) p₊(s) ds at the time at which it left the face.
        let (left, parts) = (END - (1.0 - x), 2000_u32);
        let ds = left / f64::from(parts);
        let part = |i: u32| {
            let s = (f64::from(i) + 0.5) * ds;
            (-0.5 * SIGMA * (left - s)).exp() * pulse(0.5 - s)
        };
        -0.5 * SIGMA * ds * (0..parts).map(part).sum::<f64>()
    };
    let mut deviation = 0.0;
    for (at, rho) in state[0].iter().enumerate() {
        let x = config.grid().coordinates([at, 0, 0])[0];
        deviation = worse(deviation, ((rho - 1.0) / (A * p) - reflected(x)).abs());
    }
    let max_reflection =
        largest(&(0..193).map(|at| reflected(float(at) / 192.0)).collect::<Vec<_>>());
    Ok(Check::at_most("relaxation", deviation, 2e-4)
        .shows(format!(
            "an outflow with sigma = {SIGMA} reflects {:.0} % of a pulse, in agreement with its equation",
            100.0 * max_reflection
        ))
        .source(
            "dp/dt = -K/2 (p+ + p), K = sigma c/L; error of the formulas with 15 points per half width",
        ))
}

/// A uniform scalar stays uniform under strong sound at a wall and at an outflow.
fn scalar(setup: &Setup) -> Result<Check> {
    const PHI: f64 = 1.7;
    const STEPS: u32 = 150;
    let set = ["case.amplitude=0.2", &format!("scalars.dye={{ schmidt = 1, start = {PHI} }}")];
    let mut run = setup.run("acoustic-pulse", [65, 1, 1], &set)?;
    run.steps(STEPS as usize)?;
    let state = run.state()?;
    let deviation =
        state[0].iter().zip(&state[5]).map(|(rho, carried)| (carried / rho - PHI).abs());
    Ok(Check::at_most(
        "scalar",
        deviation.fold(0.0, worse),
        f64::from(STEPS) * 6.0 * PHI * f64::EPSILON,
    )
    .shows("a uniform scalar stays uniform while sound of a fifth of the pressure leaves through an outflow")
    .source("d(rho phi)/dt = phi d(rho)/dt also at the face; round-off of each of six stages"))
}

/// Four steps with every kind of face, compared with one host.
fn all_kinds_of_faces(setup: &Setup) -> Result<Check> {
    let set = [
        "case.reynolds=50",
        FILTER,
        "boundary.x={ low = { kind = 'inflow', velocity = [0.4, 0.1, 0.0], temperature = 1.1 }, high = 'outflow' }",
        "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [0.3, 0, 0], sponge = { width = 0.2, strength = 3.0 } } }",
        "scalars.dye={ schmidt = 0.7, start = 'x - y', beyond = { x = { low = 2.0 } } }",
    ];
    let config = setup.config("lid-driven-cavity", [31, 29, 1], &set)?;
    let start = |[x, y, z]: [f64; 3]| {
        let wave = (3.0 * x + 2.0 * y + z).sin();
        let (rho, p) = (1.0 + 0.1 * wave, 20.0 * (1.0 + 0.1 * wave));
        [rho, 0.3 * wave, 0.2 - 0.1 * wave, 0.0, p, 1.0 + wave]
    };
    Ok(Check::at_most(
        "places",
        deviation_from_one_host(setup, &config, |run| run.set(|_, x| start(x)))?,
        1e-12,
    )
    .shows("four steps of a box with an inflow, an outflow, a far field with a sponge, a wall and a scalar agree with one host")
    .source("same formulas in another order: round-off"))
}

/// The largest deviation of the pressure from the far field at these times, relative to that at the start.
fn remaining_pressure(run: &mut Run, config: &Config, times: &[f64]) -> Result<f64> {
    let (gamma, rest) = (config.gas.gamma, config.gas.reference_pressure());
    let deviation = |run: &mut Run| -> Result<f64> {
        let state = run.state()?;
        let p = |at: usize| {
            let [rho, u, v, _, e] = [0, 1, 2, 3, 4].map(|k| state[k][at]);
            (gamma - 1.0) * (e - 0.5 * (u * u + v * v) / rho)
        };
        Ok((0..state[0].len()).map(|at| (p(at) - rest).abs()).fold(0.0, worse))
    };
    let initial = deviation(run)?;
    let mut max_deviation = 0.0;
    for end in times {
        run.advance(*end)?;
        max_deviation = worse(max_deviation, deviation(run)?);
    }
    Ok(max_deviation / initial)
}

/// The remaining pressure of the vortex of the case, once it is 4 radii or more beyond the face.
fn remaining_for_case(setup: &Setup, mach: f64) -> Result<f64> {
    let set = [format!("case.mach={mach}"), "case.half_width=5".into()];
    let config = setup.config("vortex-outflow", [81, 80, 1], &set)?;
    remaining_pressure(&mut setup.start(&config)?, &config, &[9.0, 9.5, 10.0, 11.0])
}

fn supersonic(setup: &Setup) -> Result<Check> {
    let computed = remaining_for_case(setup, 2.0)?;
    Ok(Check::at_most("supersonic-vortex", computed, 1e-3)
        .shows("a vortex leaves in a stream of Ma 2 and no pressure remains")
        .source("no wave travels upstream"))
}

fn vortex(setup: &Setup) -> Result<Check> {
    let computed = remaining_for_case(setup, 0.3)?;
    Ok(Check::at_most("vortex", computed, 0.05)
        .shows(format!(
            "a vortex leaves at Ma 0.3, and {:.1} % of its pressure is reflected",
            100.0 * computed
        ))
        .source("measured"))
}

/// A vortex of 0.25 √(p/ρ) in a stream of Ma 0.5 that leaves a box with four open sides, through one side or through a corner
/// (Alferez, Touber, Winn and Ali 2022, dNami, exm/2d_vortex_exit): at t = 2 it is ten radii or more outside.
fn published_vortex(
    setup: &Setup,
    name: &'static str,
    direction: [f64; 2],
    bound: f64,
) -> Result<Check> {
    const RADIUS: f64 = 0.05;
    const SWIRL: f64 = 0.25;
    let [u, v] = direction.map(|part| 0.5 * 1.4_f64.sqrt() * part);
    let face = |kind: &str| format!("{{ kind = '{kind}', velocity = [{u:?}, {v:?}, 0] }}");
    let [side, inflow] = ["far-field", "inflow"].map(face);
    let x = match u > 0.0 {
        true => format!("boundary.x={{ low = {inflow}, high = 'outflow' }}"),
        false => format!("boundary.x={{ low = {side}, high = {side} }}"),
    };
    let set = [
        format!(
            "case={{ name = 'custom', mach = {:?}, reynolds = inf, u = '0' }}",
            1.4_f64.powf(-0.5)
        ),
        "grid.length=[1, 1, 1]".into(),
        x,
        format!("boundary.y={{ low = {inflow}, high = 'outflow' }}"),
    ];
    let config = setup.config("custom", [138, 138, 1], &set)?;
    let mut run = setup.start(&config)?;
    run.set(move |_, [x, y, _]| {
        let [x, y] = [x, y].map(|x| (x - 0.5) / RADIUS);
        let round = (0.5 * (1.0 - x * x - y * y)).exp() * SWIRL;
        [1.0, u + round * y, v - round * x, 0.0, 1.0 - 0.5 * round * round]
    })?;
    let computed = remaining_pressure(&mut run, &config, &[2.0])?;
    Ok(Check::at_most(name, computed, bound)
        .shows(format!(
            "a strong vortex leaves at Ma 0.5 through a {}, and {:.2} % of its pressure remains",
            if u > 0.0 { "corner" } else { "face" },
            100.0 * computed
        ))
        .source("measured; the conditions of dNami leave 11 % and 12 %, in its own program"))
}
