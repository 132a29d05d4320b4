//! The Taylor-Green vortex: its Taylor series in time, and curves of spectral codes.

use super::check::{Check, order, worse};
use super::setup::{Setup, spacing};
use crate::error::Result;

/// The series in time, summed: `cases/taylor-green/reference/short-time.csv`.
const SHORT_TIME: &str = include_str!("../../cases/taylor-green/reference/short-time.csv");

/// The columns of the table.
const QUANTITIES: [&str; 5] = [
    "kinetic_energy",
    "enstrophy",
    "pressure_dilatation",
    "dissipation_solenoidal",
    "dissipation_dilatational",
];

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = short_time(setup)?;
    if !setup.quick {
        checks.extend(curve(
            setup,
            100,
            &[1e-5, 3e-4],
            "compressible spectral solution, 64³ modes",
        )?);
        // Dissipation has no bound: at Re 200 the error on 64³ points is larger than that of the reference (docs/theory.md).
        let source = "incompressible spectral solution; Ma²/10";
        checks.extend(curve(setup, 200, &[COMPRESSIBILITY_ERROR], source)?);
        checks.extend(unresolved_curve(setup, 400)?);
    }
    Ok(checks)
}

/// Deviations from the series decrease at sixth order.
fn short_time(setup: &Setup) -> Result<Vec<Check>> {
    let grids = if setup.quick { [16, 24] } else { [24, 32] };
    let [coarse, fine] = [deviations(setup, grids[0])?, deviations(setup, grids[1])?];
    let (h, finer) = (spacing(grids[0]), spacing(grids[1]));
    let check = |at: usize| {
        let measured = order((h, coarse[at]), (finer, fine[at]));
        Check::at_most(
            format!("short-time/{}", QUANTITIES[at]),
            6.0 - measured,
            // Pressure contains waves of twice the wavenumber.
            1.3 * (2.0 * h).powi(2),
        )
        .shows(format!(
            "deviation from the series falls at least at order 6: found {measured:.2}, {:.1e}",
            fine[at]
        ))
        .source("Taylor series of the compressible equations, exact arithmetic; next term of the scheme's")
    };
    Ok((0..QUANTITIES.len()).map(check).collect())
}

/// The largest deviations over the instants of the table; in a quick check on a device only for the flow at Re = 100 and Ma =
/// 0.5.
fn deviations(setup: &Setup, n: usize) -> Result<[f64; 5]> {
    let rows = SHORT_TIME.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split(',').collect()).collect();
    let mut worst = [0.0; 5];
    let mut flows: Vec<&[&str]> = rows.iter().map(|row| &row[..3]).collect();
    flows.dedup();
    for flow in flows.into_iter().take(if setup.quick { 1 } else { usize::MAX }) {
        let keys = ["case.mach", "case.reynolds", "case.start"];
        let flow_set = keys.iter().zip(flow).map(|(key, value)| format!("{key}={value}"));
        let set: Vec<String> = flow_set.chain(["time.cfl=0.2".into()]).collect();
        let mut run = setup.run("taylor-green", [n; 3], &set)?;
        for row in rows.iter().filter(|row| row[..3] == *flow) {
            let number = |at: usize| row[at].parse().unwrap_or(f64::NAN);
            run.advance(number(3))?;
            let computed = run.quantities(QUANTITIES)?;
            for (at, worst) in worst.iter_mut().enumerate() {
                *worst = worse(*worst, (computed[at] - number(4 + at)).abs());
            }
        }
    }
    Ok(worst)
}

/// Number of instants at which curves are compared.
const INSTANTS: u32 = 20;

/// Kinetic energy and solenoidal dissipation of a flow at Ma = 0.1 up to t = 10 on n³ points.
fn history(setup: &Setup, reynolds: u32, n: usize) -> Result<Vec<[f64; 2]>> {
    let set = ["case.mach=0.1", &format!("case.reynolds={reynolds}")];
    let mut run = setup.run("taylor-green", [n; 3], &set)?;
    let at = |instant: u32| {
        run.advance(time(instant))?;
        run.quantities(["kinetic_energy", "dissipation_solenoidal"])
    };
    (1..=INSTANTS).map(at).collect()
}

fn time(instant: u32) -> f64 {
    0.5 * f64::from(instant)
}

/// The largest deviations of kinetic energy and dissipation, relative to E(0) and to `peak`.
fn max_deviations(one: &[[f64; 2]], other: &[[f64; 2]], peak: f64) -> [f64; 2] {
    let deviation = |at: usize, size: f64| {
        one.iter().zip(other).map(|(a, b)| (a[at] - b[at]).abs() / size).fold(0.0, worse)
    };
    [deviation(0, 0.125), deviation(1, peak)]
}

/// The reference curve at the instants, and the peak of its dissipation.
fn reference(setup: &Setup, reynolds: u32) -> Result<(Vec<[f64; 2]>, f64)> {
    let set = ["case.mach=0.1", &format!("case.reynolds={reynolds}")];
    let config = setup.config("taylor-green", [64; 3], &set)?;
    let curve = config.case.reference(&config.gas, &config.grid.domain, [true; 3]);
    let at = |instant: u32| {
        let curve = curve.as_ref();
        let energy = curve.and_then(|curve| curve.kinetic_energy_at(time(instant)));
        let dissipation = curve.and_then(|curve| curve.dissipation_at(time(instant)));
        [energy, dissipation].map(|value| value.unwrap_or(f64::NAN))
    };
    let peak = curve.iter().flat_map(|curve| curve.dissipation.iter().copied()).fold(0.0, f64::max);
    Ok(((1..=INSTANTS).map(at).collect(), peak))
}

/// A reference is incompressible: its error is O(Ma²), at most a tenth of Ma² = 0.01.
const COMPRESSIBILITY_ERROR: f64 = 1e-3;

/// Kinetic energy, and dissipation if it has a bound, up to t = 10 on 64³ points.
fn curve(setup: &Setup, reynolds: u32, bounds: &[f64], source: &str) -> Result<Vec<Check>> {
    let (reference, peak) = reference(setup, reynolds)?;
    let deviation = max_deviations(&history(setup, reynolds, 64)?, &reference, peak);
    Ok(curve_checks(reynolds, deviation, bounds, source))
}

/// The same if 64³ points do not resolve the flow. The error decreases with the order of the scheme between 48³ and 64³ points,
/// by (4/3)⁶ = 5.6 once they resolve it: if it decreases by at least 2, the remaining error is no more than the difference of the
/// two.
fn unresolved_curve(setup: &Setup, reynolds: u32) -> Result<Vec<Check>> {
    let (reference, peak) = reference(setup, reynolds)?;
    let fine = history(setup, reynolds, 64)?;
    let deviation = max_deviations(&fine, &reference, peak);
    let grid_difference = max_deviations(&fine, &history(setup, reynolds, 48)?, peak);
    let source = "incompressible spectral solution; Ma²/10, and the difference from 48³ points";
    Ok(curve_checks(
        reynolds,
        deviation,
        &grid_difference.map(|difference| COMPRESSIBILITY_ERROR + difference),
        source,
    ))
}

fn curve_checks(reynolds: u32, deviation: [f64; 2], bounds: &[f64], source: &str) -> Vec<Check> {
    let check = |((name, deviation), bound): ((&&str, f64), &f64)| {
        Check::at_most(format!("re{reynolds}/{}", name.replace(' ', "-")), deviation, *bound)
            .shows(format!("{name} at Re {reynolds} to t = 10 on 64³ points"))
            .source(source)
    };
    ["kinetic energy", "dissipation"].iter().zip(deviation).zip(bounds).map(check).collect()
}
