//! A comparison as a table and as JSON.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::Comparison;
use super::difference::{difference, value_at};
use super::runs::Run;
use crate::io::page::Table;
use crate::io::report::{grid, peak};
use crate::io::verdict::{Verdict, floored};

/// The row of a run in the table. `None` if the run has no such value.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The directory, as typed.
    pub run: String,
    /// Name of the case.
    pub case: String,
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// First derivative.
    pub scheme: String,
    /// Backend of the run.
    pub backend: String,
    /// Steps taken.
    pub steps: u64,
    /// Time reached; a steady run has none.
    pub end_time: Option<f64>,
    /// Kinetic energy at the last time common to all runs, or at the end of a steady run.
    pub kinetic_energy: Option<f64>,
    /// The largest dissipation in the series.
    pub peak_dissipation: Option<f64>,
    /// Time of the peak.
    pub peak_time: Option<f64>,
    /// Largest difference from the first run over the common time interval, or between the ends if one of the two runs is steady;
    /// infinite (null in JSON) if the run diverged.
    pub kinetic_energy_difference: Option<f64>,
    /// The same for the dissipation.
    pub dissipation_difference: Option<f64>,
    /// Variance of a scalar, at the same time as the energy.
    pub scalar_variance: Option<f64>,
    /// Largest difference from the first run.
    pub scalar_variance_difference: Option<f64>,
    /// Root mean square of the error at the end, if the solution is known.
    pub error_l2: Option<f64>,
    /// Largest error at the end.
    pub error_max: Option<f64>,
    /// Smallest value of the whole run.
    pub smallest_kmax_eta: Option<f64>,
    /// Nanoseconds per point and Runge-Kutta stage.
    pub ns_per_point_stage: Option<f64>,
    /// Verdict of the run.
    pub verdict: Verdict,
    /// Reason of the verdict, in a sentence.
    pub verdict_reason: String,
}

impl Row {
    pub(super) fn new(run: &Run, first: &Run, common_time: Option<f64>) -> Self {
        let summary = &run.summary;
        let steady = run.is_steady();
        let at_common = |column: &str| {
            let (time, values) = run.curve(column)?;
            if steady { run.last(column) } else { value_at(time, values, common_time?) }
        };
        let difference_from_first = |column: &str| match steady || first.is_steady() {
            true => difference((&[0.0], &[run.last(column)?]), (&[0.0], &[first.last(column)?])),
            false => difference(run.curve(column)?, first.curve(column)?),
        };
        // The dissipation of an inviscid flow is only round-off.
        let dissipates = summary.reynolds.is_some();
        let peak = (dissipates && !steady).then(|| peak(&run.series, "dissipation")).flatten();
        Self {
            run: run.name.clone(),
            case: summary.case.clone(),
            points: summary.points,
            scheme: summary.scheme.derivative.clone(),
            backend: summary.backend.clone(),
            steps: summary.steps,
            end_time: (!steady).then_some(summary.end_time),
            kinetic_energy: at_common("kinetic_energy"),
            peak_dissipation: peak.map(|peak| peak.0),
            peak_time: peak.map(|peak| peak.1),
            kinetic_energy_difference: difference_from_first("kinetic_energy"),
            dissipation_difference: difference_from_first("dissipation").filter(|_| dissipates),
            scalar_variance: at_common("scalar_variance"),
            scalar_variance_difference: difference_from_first("scalar_variance"),
            error_l2: run.last("error_l2"),
            error_max: run.last("error_max"),
            smallest_kmax_eta: summary.resolution.map(|worst| worst.kmax_eta_min),
            ns_per_point_stage: summary.ns_per_point_stage,
            verdict: summary.verdict,
            verdict_reason: summary.verdict_reason.clone(),
        }
    }
}

/// A column with a value for some runs: its name, the value, and its format.
type Column = (String, fn(&Row) -> Option<f64>, fn(f64) -> String);

impl Comparison {
    /// One row per run. Columns without any value are omitted.
    pub(super) fn table(&self) -> Table {
        let at = self.common_time.map_or("the end".into(), |time| format!("t = {}", number(time)));
        let columns: [Column; 11] = [
            (format!("energy at {at}"), |row| row.kinetic_energy, number),
            ("peak dissip.".into(), |row| row.peak_dissipation, number),
            ("at t".into(), |row| row.peak_time, fixed),
            ("energy differs".into(), |row| row.kinetic_energy_difference, short),
            ("dissip. differs".into(), |row| row.dissipation_difference, short),
            (format!("variance at {at}"), |row| row.scalar_variance, number),
            ("variance differs".into(), |row| row.scalar_variance_difference, short),
            ("error rms".into(), |row| row.error_l2, short),
            ("error max".into(), |row| row.error_max, short),
            ("kmax eta".into(), |row| row.smallest_kmax_eta, |value| fixed(floored(value))),
            ("ns/pt/stage".into(), |row| row.ns_per_point_stage, fixed),
        ];
        let mut columns = Vec::from(columns);
        columns.retain(|(_, of, _)| self.rows.iter().any(|row| of(row).is_some()));
        let names =
            ["run", "case", "points", "scheme", "backend", "steps", "end"].map(String::from);
        let mut header = Vec::from(names);
        header.extend(columns.iter().map(|(name, ..)| name.clone()));
        header.push("verdict".into());
        let cells = |row: &Row| {
            let mut cells = vec![
                row.run.clone(),
                row.case.clone(),
                grid(row.points),
                row.scheme.clone(),
                row.backend.clone(),
                row.steps.to_string(),
                row.end_time.map_or("steady".into(), number),
            ];
            cells.extend(columns.iter().map(|(_, of, write)| of(row).map_or("-".into(), write)));
            cells.push(row.verdict.to_string());
            cells
        };
        let rows = self.rows.iter().map(cells).collect();
        Table { header, rows }
    }

    /// The reason of the verdict of each run, one sentence each.
    pub(super) fn reasons(&self) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| !row.verdict_reason.is_empty());
        rows.map(|row| format!("{}: {}: {}", row.run, row.verdict, row.verdict_reason)).collect()
    }
}

impl Display for Comparison {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str(&self.table().text())?;
        self.reasons().iter().try_for_each(|reason| writeln!(to, "{reason}"))?;
        self.notes.iter().try_for_each(|note| writeln!(to, "note: {note}"))?;
        writeln!(to, "{}", self.page.display())
    }
}

/// Six digits, with a power of ten if far from one.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Two digits.
fn short(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

fn fixed(value: f64) -> String {
    format!("{value:.2}")
}
