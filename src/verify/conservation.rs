//! Discrete conservation: mass, momentum, total energy; kinetic energy under convection, and its budget.

use super::check::{Check, float, largest, worse};
use super::setup::{CONVECTION, FILTER, Forms, Setup, VISCOUS};
use crate::error::Result;
use crate::physics::TermGroup;
use crate::splitmix::{STEP, mixed, unit};

/// Forms of convection that preserve kinetic energy (Feiereisen et al. 1981; Coppola et al. 2019).
pub(super) const PRESERVING: [&str; 2] = ["feiereisen", "kennedy-gruber"];

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let default = Forms::default();
    let mut checks = Vec::new();
    // The split pressure converts kinetic energy produced by convection into total energy: it is conservative with convection
    // forms that produce none.
    let preserving = |forms: &Forms| PRESERVING.contains(&forms.convection);
    let conservative = |forms: &Forms| {
        (forms.law == "constant" || forms.viscous != "laplacian")
            && (forms.energy != "split-pressure" || preserving(forms))
    };
    for forms in setup.pairs().iter().filter(|forms| conservative(forms)) {
        checks.push(conserves(setup, forms)?);
    }
    for convection in setup.each(&PRESERVING, default.convection) {
        checks.push(preserves(setup, convection)?);
    }
    for convection in setup.each(&CONVECTION, default.convection) {
        for viscous in setup.each(&VISCOUS, default.viscous) {
            checks.push(budget(setup, &Forms { convection, viscous, ..default })?);
        }
    }
    if !setup.is_quick_on_device() {
        checks.push(rate(setup)?);
    }
    Ok(checks)
}

/// Mean of each field over the points, by Neumaier's sum, whose own round-off is negligible.
pub fn totals(state: &[Vec<f64>]) -> Vec<f64> {
    let total = |field: &Vec<f64>| {
        let (mut sum, mut low) = (0.0_f64, 0.0);
        for &x in field {
            let next = sum + x;
            low += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
            sum = next;
        }
        (sum + low) / float(field.len())
    };
    state.iter().map(total).collect()
}

/// Conservation of mass, momentum and total energy over many steps.
fn conserves(setup: &Setup, forms: &Forms) -> Result<Check> {
    const STAGES: usize = 3;
    let steps = if setup.quick { 100 } else { 1000 };
    let keys = ["case.reynolds=100", "case.mach=0.1", "time.integrator=williamson3", FILTER];
    let set = forms.with(&keys);
    let mut run = setup.run("taylor-green", [10, 12, 14], &set)?;
    let before = totals(&run.state()?);
    run.steps(steps)?;
    let after = totals(&run.state()?);
    let change = |v: usize| (after[v] - before[v]).abs();
    // Momentum has no mean value for comparison: ρ and V₀ are 1.
    let drift = [change(0) / before[0], change(1), change(2), change(3), change(4) / before[4]];
    Ok(Check::at_most(
        format!("totals/{}", forms.name()),
        drift.into_iter().fold(0.0, worse),
        f64::EPSILON * float(steps * STAGES),
    )
    .shows(format!("mass, momentum and total energy after {steps} steps, with a filter"))
    .source("telescoping sums on periodic lines; one rounding per stage"))
}

/// (ρ, u, v, w, p) and a scalar of white noise at a point, identical on all machines and ranks.
pub(super) fn white_noise([nx, ny, _]: [usize; 3], [i, j, k]: [usize; 3]) -> [f64; 6] {
    let at = i + nx * (j + ny * k);
    let noise = |of: u64| 2.0 * unit(mixed((at as u64 * 5 + of + 1).wrapping_mul(STEP))) - 1.0;
    let [rho, u, v, w, p, phi] = [0, 1, 2, 3, 4, 1 << 32].map(noise);
    [1.0 + 0.4 * rho, u, v, w, 10.0 * (1.0 + 0.4 * p), phi]
}

/// |Σ (u·M − ½ u·u C)| / Σ |terms| of the convective terms `rate` of mass, C, and momentum, M, of U.
pub fn production(state: &[&[f64]], rate: &[Vec<f64>]) -> f64 {
    let (mut sum, mut size) = (0.0_f64, 0.0);
    for at in 0..state[0].len() {
        let u = [1, 2, 3].map(|v| state[v][at] / state[0][at]);
        let half = 0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        let terms =
            [u[0] * rate[1][at], u[1] * rate[2][at], u[2] * rate[3][at], -half * rate[0][at]];
        sum += terms.iter().sum::<f64>();
        size += terms.iter().map(|term| term.abs()).sum::<f64>();
    }
    sum.abs() / size
}

/// The same for white noise.
fn preserves(setup: &Setup, convection: &'static str) -> Result<Check> {
    let forms = Forms { convection, ..Forms::default() };
    let points = [12, 14, 16];
    let mut run = setup.run("taylor-green", points, &forms.with(&[]))?;
    run.set(|index, _| white_noise(points, index))?;
    let (state, rate) = (run.state()?, run.terms(TermGroup::Convection)?);
    let state: Vec<&[f64]> = state.iter().map(Vec::as_slice).collect();
    Ok(Check::at_most(
        format!("kinetic-energy/{convection}"),
        production(&state, &rate),
        // Roundings of about ten operations, half of which cancel in the mean.
        8.0 * f64::EPSILON,
    )
    .shows("convection neither makes nor destroys kinetic energy, white noise in every variable")
    .source("Feiereisen et al. 1981; Coppola et al. 2019; round-off"))
}

/// The terms of the kinetic-energy budget add up.
fn budget(setup: &Setup, forms: &Forms) -> Result<Check> {
    let set = forms.with(&["case.mach=0.4", "case.reynolds=50", FILTER]);
    let mut run = setup.run("taylor-green", [12, 14, 16], &set)?;
    run.steps(12)?;
    let [rate, parts @ ..] = run.quantities([
        "ke_rate",
        "ke_rate_convection",
        "ke_rate_pressure",
        "ke_rate_viscous",
        "ke_rate_filter",
    ])?;
    let size = largest(&parts);
    Ok(Check::at_most(
        format!("budget/{}/{}", forms.convection, forms.viscous),
        (rate - parts.iter().sum::<f64>()).abs() / size,
        1e-14,
    )
    .shows("terms of the kinetic-energy budget add up to its rate, relative to the largest")
    .source("linearity of the right-hand side; 50 roundings"))
}

/// The kinetic energy changes at its computed rate: a fourth-order difference in time.
fn rate(setup: &Setup) -> Result<Check> {
    let set = ["case.mach=0.4", "case.reynolds=50", "time.dt=0.0025"];
    let mut run = setup.run("taylor-green", [16; 3], &set)?;
    let h = 0.02;
    let mut energies = [0.0; 5];
    let mut rate = 0.0;
    for (at, energy) in energies.iter_mut().enumerate() {
        run.advance(0.46 + h * float(at))?;
        [*energy] = run.quantities(["kinetic_energy"])?;
        if at == 2 {
            [rate] = run.quantities(["ke_rate"])?;
        }
    }
    let [before2, before, _, after, after2] = energies;
    let slope = (8.0 * (after - before) - (after2 - before2)) / (12.0 * h);
    Ok(Check::at_most("rate", (rate / slope - 1.0).abs(), 2e-6)
        .shows("the kinetic energy changes at its computed rate, relative")
        .source("h⁴/30 of the fifth derivative, of sound that crosses the box in 2.5"))
}
