//! Open faces: what stays as it is, what leaves without coming back, and what comes back as it must.

use super::check::{Check, Fall, distance_of_all, float, largest, worse};
use super::exact::odd_error;
use super::fields::Run;
use super::setup::{FILTER, Setup};
use super::walls::off_one_host;
use crate::error::Result;

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = vec![free_stream(setup)?, pulse(setup)?, relaxation(setup)?];
    checks.extend([scalar(setup)?, places(setup)?]);
    if !setup.is_brief() {
        checks.push(supersonic(setup)?);
        checks.push(vortex(setup)?);
    }
    Ok(checks)
}

/// A stream at an angle between far fields.
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
    .shows("a stream at an angle between far fields stays as it is")
    .source("its derivatives are 0, and so is what it is off; round-off of each step"))
}

/// Half of a pulse has left, the other half was reflected by the wall.
fn pulse(setup: &Setup) -> Result<Check> {
    let fall = Fall::between([97, 193], |n| {
        let config = setup.config("acoustic-pulse", [n, 1, 1], &["time.dt=0.002"])?;
        Ok((1.0 / float(n - 1), odd_error(setup, &config, 0.9)?))
    })?;
    let (found, error) = (fall.order, fall.error / 1e-6);
    Ok(Check::at_most("acoustic-pulse", (4.0 - found).max(0.0), 0.1)
        .shows(format!(
            "a pulse that a wall reflects and an outflow does not converges at order 4 or more: {found:.2}, {error:.1e} of A"
        ))
        .source("rows of order 3 at the ends: one more within (Gustafsson 1975)"))
}

/// What an outflow that relaxes reflects of a pulse p₊(t): dp₋/dt = −½ K (p₊ + p₋), K = σ c/L, which is |R| = 1/√(1 + (2ω/K)²)
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
    let mut off = 0.0;
    for (at, rho) in state[0].iter().enumerate() {
        let x = config.grid().coordinates([at, 0, 0])[0];
        off = worse(off, ((rho - 1.0) / (A * p) - reflected(x)).abs());
    }
    let most = largest(&(0..193).map(|at| reflected(float(at) / 192.0)).collect::<Vec<_>>());
    Ok(Check::at_most("relaxation", off, 2e-4)
        .shows(format!(
            "an outflow with sigma = {SIGMA} reflects {:.0} % of a pulse, as its equation has it",
            100.0 * most
        ))
        .source(
            "dp/dt = -K/2 (p+ + p), K = sigma c/L; error of the formulas on 15 points a half width",
        ))
}

/// A scalar that is uniform, and what strong sound does to it at a wall and an outflow.
fn scalar(setup: &Setup) -> Result<Check> {
    const PHI: f64 = 1.7;
    const STEPS: u32 = 150;
    let set = ["case.amplitude=0.2", &format!("scalars.dye={{ schmidt = 1, start = {PHI} }}")];
    let mut run = setup.run("acoustic-pulse", [65, 1, 1], &set)?;
    run.steps(STEPS as usize)?;
    let state = run.state()?;
    let off = state[0].iter().zip(&state[5]).map(|(rho, carried)| (carried / rho - PHI).abs());
    Ok(Check::at_most("scalar", off.fold(0.0, worse), f64::from(STEPS) * 6.0 * PHI * f64::EPSILON)
        .shows("a uniform scalar stays uniform while sound of a fifth of the pressure leaves through an outflow")
        .source("d(rho phi)/dt = phi d(rho)/dt at the face as well; round-off of each of six stages"))
}

/// Four steps with every kind of face, in other places than one host too.
fn places(setup: &Setup) -> Result<Check> {
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
        off_one_host(setup, &config, |run| run.set(|_, x| start(x)))?,
        1e-12,
    )
    .shows("four steps of a box with an inflow, an outflow, a far field with a sponge, a wall and a scalar as on one host")
    .source("same formulas in another order: round-off"))
}

/// The largest error of the pressure of the vortex when it has left, over the depth of its own.
fn left_over(setup: &Setup, mach: f64) -> Result<f64> {
    let set = ["case.half_width=5", &format!("case.mach={mach}")];
    let config = setup.config("vortex-outflow", [81, 80, 1], &set)?;
    let mut run = setup.start(&config)?;
    let pressure = |run: &mut Run| -> Result<Vec<f64>> {
        let state = run.state()?;
        let p = |at: usize| {
            let [rho, u, v, _, e] = [0, 1, 2, 3, 4].map(|k| state[k][at]);
            (config.gas.gamma - 1.0) * (e - 0.5 * (u * u + v * v) / rho)
        };
        Ok((0..state[0].len()).map(p).collect())
    };
    let rest = config.gas.reference_pressure();
    let off = |p: Vec<f64>| p.into_iter().map(|p| (p - rest).abs()).fold(0.0, worse);
    let own = off(pressure(&mut run)?);
    let mut most = 0.0;
    // The vortex is 4 radii beyond the face and more.
    for end in [9.0, 9.5, 10.0, 11.0] {
        run.advance(end)?;
        most = worse(most, off(pressure(&mut run)?));
    }
    Ok(most / own)
}

fn supersonic(setup: &Setup) -> Result<Check> {
    let found = left_over(setup, 2.0)?;
    Ok(Check::at_most("supersonic-vortex", found, 1e-3)
        .shows("a vortex in a stream of Ma 2 leaves, and nothing of its pressure is left")
        .source("no wave leads back"))
}

fn vortex(setup: &Setup) -> Result<Check> {
    let found = left_over(setup, 0.3)?;
    Ok(Check::at_most("vortex", found, 0.05)
        .shows(format!(
            "a vortex leaves at Ma 0.3, and {:.1} % of its pressure come back",
            100.0 * found
        ))
        .source("measured"))
}
