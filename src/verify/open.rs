//! Open faces: what stays as it is, what leaves without coming back, and what comes back as it must.

use super::check::{Check, distance, float, largest, order, worse};
use super::exact::odd_error;
use super::fields::Run;
use super::setup::Setup;
use crate::error::Result;

/// The checks of this family.
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
    let end = run.state()?;
    let off = start.iter().zip(&end).map(|(a, b)| distance(a, b)).fold(0.0, worse);
    Ok(Check::at_most(
        "free-stream",
        "a stream at an angle between far fields stays as it is",
        off,
        20.0 * 4.0 * p / (config.gas.gamma - 1.0) * f64::EPSILON,
        "its derivatives are 0, and so is what it is off; round-off of each step",
    ))
}

/// Half of a pulse has left, the other half was reflected by the wall.
fn pulse(setup: &Setup) -> Result<Check> {
    let set = ["time.dt=0.002".to_string()];
    let mut errors = Vec::new();
    for n in [97, 193] {
        let config = setup.config("acoustic-pulse", [n, 1, 1], &set)?;
        errors.push((1.0 / float(n - 1), odd_error(setup, &config, 0.9)?));
    }
    let (found, error) = (order(errors[0], errors[1]), errors[1].1 / 1e-6);
    Ok(Check::at_most(
        "acoustic-pulse",
        format!(
            "a pulse that a wall reflects and an outflow does not converges at order 4 or more: {found:.2}, {error:.1e} of A"
        ),
        (4.0 - found).max(0.0),
        0.1,
        "rows of order 3 at the ends: one more within (Gustafsson 1975)",
    ))
}

/// What an outflow that relaxes reflects of a pulse p₊(t): dp₋/dt = −½ K (p₊ + p₋), K = σ c/L, which is |R| = 1/√(1 + (2ω/K)²)
/// (Selle, Nicoud and Poinsot 2004) at all frequencies at once.
fn relaxation(setup: &Setup) -> Result<Check> {
    const A: f64 = 1e-6;
    const SIGMA: f64 = 4.0;
    const END: f64 = 1.2;
    let pulse = |s: f64| (-(s / 0.08).powi(2)).exp();
    let set = [
        "time.dt=0.002".to_string(),
        format!(
            "boundary.x={{ low = {{ kind = 'outflow', relaxation = 0 }}, high = {{ kind = 'outflow', relaxation = {SIGMA} }} }}"
        ),
    ];
    let config = setup.config("acoustic-pulse", [193, 1, 1], &set)?;
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
    Ok(Check::at_most(
        "relaxation",
        format!(
            "an outflow with sigma = {SIGMA} reflects {:.0} % of a pulse, as its equation has it",
            100.0 * most
        ),
        off,
        2e-4,
        "dp/dt = -K/2 (p+ + p), K = sigma c/L; error of the formulas on 15 points a half width",
    ))
}

/// A scalar that is uniform, and what strong sound does to it at a wall and an outflow.
fn scalar(setup: &Setup) -> Result<Check> {
    const PHI: f64 = 1.7;
    const STEPS: u32 = 150;
    let set =
        ["case.amplitude=0.2".to_string(), format!("scalars.dye={{ schmidt = 1, start = {PHI} }}")];
    let mut run = setup.start(&setup.config("acoustic-pulse", [65, 1, 1], &set)?)?;
    run.steps(STEPS as usize)?;
    let state = run.state()?;
    let off = state[0].iter().zip(&state[5]).map(|(rho, carried)| (carried / rho - PHI).abs());
    Ok(Check::at_most(
        "scalar",
        "a uniform scalar stays uniform while sound of a fifth of the pressure leaves through an outflow",
        off.fold(0.0, worse),
        f64::from(STEPS) * 6.0 * PHI * f64::EPSILON,
        "d(rho phi)/dt = phi d(rho)/dt at the face as well; round-off of each of six stages",
    ))
}

/// Four steps with every kind of face, in other places than one host too.
fn places(setup: &Setup) -> Result<Check> {
    let set = [
        "case.reynolds=50".to_string(),
        "scheme.filter={ order = 8, alpha = 0.45, every = 2 }".into(),
        "boundary.x={ low = { kind = 'inflow', velocity = [0.4, 0.1, 0.0], temperature = 1.1 }, high = 'outflow' }".into(),
        "boundary.y={ low = 'wall', high = { kind = 'far-field', velocity = [0.3, 0, 0], sponge = { width = 0.2, strength = 3.0 } } }".into(),
        "scalars.dye={ schmidt = 0.7, start = 'x - y', beyond = { x = { low = 2.0 } } }".into(),
    ];
    let config = setup.config("lid-driven-cavity", [31, 29, 1], &set)?;
    let start = |[x, y, z]: [f64; 3]| {
        let wave = (3.0 * x + 2.0 * y + z).sin();
        let flow = [1.0 + 0.1 * wave, 0.3 * wave, 0.2 - 0.1 * wave, 0.0, 20.0 * (1.0 + 0.1 * wave)];
        let [rho, u, v, w, p] = flow;
        [rho, u, v, w, p, 1.0 + wave]
    };
    let state = |mut run: Run| -> Result<_> {
        run.set(|_, x| start(x))?;
        run.steps(4)?;
        run.state()
    };
    let (found, expected) = (state(setup.start(&config)?)?, state(setup.reference(&config)?)?);
    let off = found.iter().zip(&expected).map(|(a, b)| distance(a, b) / largest(b).max(1e-3));
    Ok(Check::at_most(
        "places",
        "four steps of a box with an inflow, an outflow, a far field with a sponge, a wall and a scalar as on one host",
        off.fold(0.0, worse),
        1e-12,
        "same formulas in another order: round-off",
    ))
}

/// The largest error of the pressure of the vortex when it has left, over the depth of its own.
fn left_over(setup: &Setup, mach: f64, set: &[String]) -> Result<f64> {
    let set = [&[format!("case.mach={mach}"), "case.half_width=5".into()], set].concat();
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
    let found = left_over(setup, 2.0, &[])?;
    Ok(Check::at_most(
        "supersonic-vortex",
        "a vortex in a stream of Ma 2 leaves, and nothing of its pressure is left",
        found,
        1e-3,
        "no wave leads back",
    ))
}

fn vortex(setup: &Setup) -> Result<Check> {
    let found = left_over(setup, 0.3, &[])?;
    Ok(Check::at_most(
        "vortex",
        format!("a vortex leaves at Ma 0.3, and {:.1} % of its pressure come back", 100.0 * found),
        found,
        0.05,
        "measured",
    ))
}
