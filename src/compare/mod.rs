//! Several runs beside each other: `kolmo compare`, and over each other: `kolmo plot`.
//!
//! [`compare`] reads what the runs left and finds where they differ; [`Comparison`] is that as a table, as JSON and as a
//! page with pictures.

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

/// Runs beside each other.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The last time that all of them have; `None` where all are steady.
    pub common_time: Option<f64>,
    /// One row a run, in the order in which they were named.
    pub rows: Vec<Row>,
    /// What has to be known to read them, a sentence each.
    pub notes: Vec<String>,
    /// The page that was written.
    pub page: PathBuf,
    /// The pictures of it, as SVG.
    pub pictures: Vec<PathBuf>,
}

/// Compare the runs of `options`, and write the page and its pictures.
///
/// # Errors
/// Where a directory holds no run, or a file of one is damaged, or the page cannot be written.
pub fn compare(options: &CompareOptions) -> Result<Comparison> {
    let out = options::page_path(&options.out, options.runs.len())?;
    let runs = runs::read(&options.runs)?;
    let mut notes = runs::notes(&runs);
    let common_time = runs::common_time(&runs);
    let rows = runs.iter().map(|run| Row::new(run, &runs[0], common_time)).collect();
    let (figures, more) = page::figures(&runs, options.time);
    notes.extend(more);
    let mut found = Comparison { common_time, rows, notes, page: out, pictures: Vec::new() };
    found.write(figures, options.overwrite)?;
    Ok(found)
}
