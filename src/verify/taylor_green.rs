//! The Taylor-Green vortex: its Taylor series in time, and curves of spectral codes.

use super::check::{Check, order, worse};
use super::setup::{Setup, spacing};
use crate::error::Result;

/// The series in time, summed: `cases/taylor-green/reference/short-time.csv`.
const SHORT_TIME: &str = include_str!("../../cases/taylor-green/reference/short-time.csv");

/// What the table holds of each instant.
const QUANTITIES: [&str; 5] = [
    "kinetic_energy",
    "enstrophy",
    "pressure_dilatation",
    "dissipation_solenoidal",
    "dissipation_dilatational",
];

/// The checks of this family.
pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = short_time(setup)?;
    if !setup.quick {
        checks.extend(curve(
            setup,
            100,
            &[1e-5, 3e-4],
            "compressible spectral solution, 64³ modes",
        )?);
        // The reference is incompressible: right to O(Ma²), of which Ma² = 0.01 is a tenth at most. No bound on
        // its dissipation: at Re 200 the error of 64³ points is larger than that (docs/theory.md).
        checks.extend(curve(setup, 200, &[1e-3], "incompressible spectral solution; Ma²/10")?);
    }
    Ok(checks)
}

/// Deviations from the series fall at sixth order.
fn short_time(setup: &Setup) -> Result<Vec<Check>> {
    let grids = if setup.quick { [16, 24] } else { [24, 32] };
    let [coarse, fine] = [deviations(setup, grids[0])?, deviations(setup, grids[1])?];
    let (h, finer) = (spacing(grids[0]), spacing(grids[1]));
    let check = |at: usize| {
        let found = order((h, coarse[at]), (finer, fine[at]));
        Check::at_most(
            format!("short-time/{}", QUANTITIES[at]),
            format!(
                "deviation from the series falls at order 6 at least: found {found:.2}, {:.1e}",
                fine[at]
            ),
            6.0 - found,
            // Pressure has waves of twice the wavenumber.
            1.3 * (2.0 * h).powi(2),
            "Taylor series of the compressible equations, exact arithmetic; next term of the scheme's",
        )
    };
    Ok((0..QUANTITIES.len()).map(check).collect())
}

/// The largest deviations over the instants of the table; of the flow at Re = 100 and Ma = 0.5 alone where there is a minute.
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
            let found = run.quantities(QUANTITIES)?;
            for (at, worst) in worst.iter_mut().enumerate() {
                *worst = worse(*worst, (found[at] - number(4 + at)).abs());
            }
        }
    }
    Ok(worst)
}

/// Kinetic energy, and dissipation where it has a bound, to t = 10 on 64³ points: the largest deviations, as fractions of E(0) and
/// of the peak.
fn curve(setup: &Setup, reynolds: u32, bounds: &[f64], source: &str) -> Result<Vec<Check>> {
    let set = ["case.mach=0.1".to_string(), format!("case.reynolds={reynolds}")];
    let config = setup.config("taylor-green", [64; 3], &set)?;
    let reference = config.case.reference(&config.gas, &config.grid.domain, [true; 3]);
    let Some(reference) = reference else { return Ok(Vec::new()) };
    let peak = reference.dissipation.iter().copied().fold(0.0, f64::max);
    let mut run = setup.start(&config)?;
    let mut off = [0.0; 2];
    for half in 1..=20 {
        let time = 0.5 * f64::from(half);
        run.advance(time)?;
        let [energy, dissipation] = run.quantities(["kinetic_energy", "dissipation_solenoidal"])?;
        let at = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let apart = [
            (energy - at(reference.kinetic_energy_at(time))) / 0.125,
            (dissipation - at(reference.dissipation_at(time))) / peak,
        ];
        off = [worse(off[0], apart[0].abs()), worse(off[1], apart[1].abs())];
    }
    let names = ["kinetic energy", "dissipation"];
    Ok(names
        .iter()
        .zip(off)
        .zip(bounds)
        .map(|((name, off), bound)| {
            Check::at_most(
                format!("re{reynolds}/{}", name.replace(' ', "-")),
                format!("{name} at Re {reynolds} to t = 10 on 64³ points"),
                off,
                *bound,
                source,
            )
        })
        .collect())
}
