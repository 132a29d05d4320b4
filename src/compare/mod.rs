//! Comparison of several runs: `kolmo compare` for a table, `kolmo plot` for overlaid curves.
//!
//! [`compare`] reads the files of the runs and determines their differences; [`Comparison`] is the result as a table, as JSON and
//! as a page with figures.

mod difference;
mod inputs;
mod options;
mod overlay;
mod page;
mod runs;
mod table;

pub use difference::{difference, value_at};
pub use options::CompareOptions;
pub use overlay::{Overlay, PlotOptions, overlay};
pub use table::Row;

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;

/// A comparison of runs.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The last time common to all runs; `None` if all are steady.
    pub common_time: Option<f64>,
    /// One row per run, in the order of the command line.
    pub rows: Vec<Row>,
    /// Notes for the interpretation, one sentence each.
    pub notes: Vec<String>,
    /// The page that was written.
    pub page: PathBuf,
    /// The figures of the page, as SVG.
    pub pictures: Vec<PathBuf>,
}

/// Compare the runs of `options`, and write the page and its figures.
///
/// # Errors
/// If a directory contains no run, if a file of a run is damaged, or if the page cannot be written.
pub fn compare(options: &CompareOptions) -> Result<Comparison> {
    let out = options::page_path(&options.out, options.runs.len())?;
    let runs = runs::read(&options.runs)?;
    let mut notes = runs::notes(&runs);
    let common_time = runs::common_time(&runs);
    let rows = runs.iter().map(|run| Row::new(run, &runs[0], common_time)).collect();
    let (figures, figure_notes) = page::figures(&runs, options.time);
    notes.extend(figure_notes);
    let mut comparison = Comparison { common_time, rows, notes, page: out, pictures: Vec::new() };
    comparison.write(figures, options.overwrite)?;
    Ok(comparison)
}
