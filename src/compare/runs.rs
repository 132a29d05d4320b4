//! Reads the files of runs.

use std::path::{Path, PathBuf};

use super::inputs::{Input, input, other_flow};
use crate::error::{Error, Result};
use crate::io::directory::check_access;
use crate::io::plot::Line;
use crate::io::spectra::{Spectra, Spectrum};
use crate::io::{Series, Summary, malformed, optional};

/// One run.
pub(super) struct Run {
    /// The directory as typed.
    pub(super) name: String,
    /// Its input.
    pub(super) input: Input,
    pub(super) summary: Summary,
    pub(super) series: Series,
    /// Spectra, if any were written.
    pub(super) spectra: Option<Spectra>,
}

impl Run {
    /// The times of the series.
    pub(super) fn time(&self) -> &[f64] {
        self.series.column("time").unwrap_or_default()
    }

    /// The last time of the series.
    pub(super) fn end(&self) -> f64 {
        self.time().last().copied().unwrap_or(f64::NAN)
    }

    /// See [`Summary::is_steady`].
    pub(super) fn is_steady(&self) -> bool {
        self.summary.is_steady()
    }

    /// A column over time, or over steps for a steady run.
    pub(super) fn curve(&self, column: &str) -> Option<(&[f64], &[f64])> {
        let over = if self.is_steady() { self.series.column("step")? } else { self.time() };
        self.series.column(column).map(|values| (over, values))
    }

    /// The last value of a column.
    pub(super) fn last(&self, column: &str) -> Option<f64> {
        self.series.column(column)?.last().copied()
    }

    /// The spectrum nearest to `time`; the last one without a time, and for a steady run.
    pub(super) fn spectrum(&self, time: Option<f64>) -> Option<&Spectrum> {
        let spectra = self.spectra.as_ref()?;
        match time.filter(|_| !self.is_steady()) {
            Some(time) => spectra.nearest(time),
            None => spectra.times.last(),
        }
    }

    /// Its name and time: `a, t = 0.50`, or `a, steady`.
    pub(super) fn label(&self, time: f64) -> String {
        match self.is_steady() {
            true => format!("{}, steady", self.name),
            false => format!("{}, t = {time:.2}", self.name),
        }
    }

    pub(super) fn is_scalar(&self) -> bool {
        self.series.column("scalar_variance").is_some()
    }
}

/// The runs whose histories are drawn, each with its line, and the abscissa: steps if all runs are steady, otherwise time,
/// without steady runs.
pub(super) fn histories(runs: &[Run]) -> (Vec<(&Run, Line)>, &'static str) {
    let steady = runs.iter().all(Run::is_steady);
    let drawn = runs.iter().zip(Line::SIDE_BY_SIDE).filter(|(run, _)| run.is_steady() == steady);
    (drawn.collect(), if steady { "step" } else { "time t" })
}

/// The last time common to all runs; `None` if all are steady.
pub(super) fn common_time(runs: &[Run]) -> Option<f64> {
    runs.iter().filter(|run| !run.is_steady()).map(Run::end).reduce(f64::min)
}

/// Read the runs in `directories`; all directories without a run are reported at once.
pub(super) fn read(directories: &[PathBuf]) -> Result<Vec<Run>> {
    let mut problems: Vec<String> =
        directories.iter().filter_map(|path| why_no_run(path)).collect();
    if !problems.is_empty() {
        problems.push("       `kolmo run` writes a run directory: `kolmo run taylor-green`".into());
        return Err(Error::Config(problems));
    }
    directories.iter().map(|path| read_one(path)).collect()
}

/// Why `path` cannot be compared; `None` if it can.
fn why_no_run(path: &Path) -> Option<String> {
    if let Err(why) = check_access(path) {
        return Some(format!("error: {}", why.what()));
    }
    let shown = path.display();
    let lacks = |name: &str| !path.join(name).exists();
    Some(match path.is_dir() {
        false if path.exists() => format!("error: {shown} is a file, not the directory of a run"),
        false => format!("error: there is no directory {shown}"),
        true if lacks("series.csv") => format!("error: {shown} has no series.csv: it holds no run"),
        // The summary is the last file that a run writes.
        true if lacks("summary.json") => {
            format!(
                "error: {shown} has no summary.json: the run is still in progress, or was killed"
            )
        }
        true => return None,
    })
}

fn read_one(path: &Path) -> Result<Run> {
    let file = path.join("series.csv");
    let series = Series::read(&file)?;
    if series.times()?.is_empty() {
        let what =
            "there are no rows: the run stopped before its first output, or the file was cut";
        return Err(malformed(&file, what));
    }
    Ok(Run {
        name: path.display().to_string(),
        input: input(path)?,
        summary: Summary::read(&path.join("summary.json"))?,
        spectra: optional(&path.join("statistics/spectra.csv"), Spectra::read)?,
        series,
    })
}

/// Notes on the runs: different cases or parameters, unfinished runs, no common times.
pub(super) fn notes(runs: &[Run]) -> Vec<String> {
    let first = &runs[0];
    let flow = |run: &Run| {
        let Summary { case, mach, reynolds, .. } = &run.summary;
        let number = |name: &str, value: &Option<f64>| match value {
            Some(value) => format!(", {name} = {value}"),
            None => String::new(),
        };
        format!("{case}{}{}", number("Re", reynolds), number("Ma", mach))
    };
    let mut notes = Vec::new();
    for run in &runs[1..] {
        let (name, to) = (&run.name, &first.name);
        if flow(run) != flow(first) {
            notes.push(format!(
                "{name} is a different flow ({}) from {to} ({})",
                flow(run),
                flow(first)
            ));
        } else if run.summary.length != first.summary.length {
            notes.push(format!("{name} has a different box from {to}"));
        } else {
            let keys = other_flow(&run.input, &first.input);
            if !keys.is_empty() {
                notes.push(format!("{name} is a different flow from {to}: {}", keys.join(", ")));
            }
        }
        let timed = !run.is_steady() && !first.is_steady();
        if timed && run.time()[0].max(first.time()[0]) > run.end().min(first.end()) {
            notes.push(format!("{name} has no common time with {to}"));
        }
    }
    for run in runs {
        if let Some(part) = run.summary.earlier.iter().rfind(|part| part.other_flow) {
            notes.push(format!("{} was a different flow up to step {}", run.name, part.until));
        }
    }
    if !runs.iter().all(Run::is_steady) {
        for Run { name, .. } in runs.iter().filter(|run| run.is_steady()) {
            notes.push(format!(
                "{name} is a steady run: it has no times, and is compared only at its end"
            ));
        }
    }
    for run in runs.iter().filter(|run| !run.summary.finished) {
        notes.push(format!("{} did not finish: {}", run.name, run.summary.stop_reason));
    }
    notes
}
