//! `kolmo plot-scaling`: times that several jobs measured on increasing numbers of ranks, and predictions of the model, in one
//! table and in figures.
//!
//! `file` reads the output of `kolmo bench step --weak` (or `--strong`) and of `kolmo model` and refuses files that cannot be
//! compared, `series` computes efficiencies from times, `output` writes. Measured and modelled values are always separate series.

mod file;
mod options;
mod output;
mod series;

pub use options::PlotScalingOptions;

use crate::error::Result;

/// Read the files of `options`, and write figures and a CSV. Returns a table for each kind of scaling, notes for its
/// interpretation, and the names of the files, one per line.
///
/// # Errors
/// If a file is not the output of those commands, if files cannot be compared, if efficiencies have no base, or if a file not
/// written by Kolmo would be replaced.
pub fn plot_scaling(options: &PlotScalingOptions) -> Result<String> {
    let read = file::read(&options.files)?;
    let studies = series::studies(read, options.base)?;
    let files = output::write(&studies, options)?;
    let tables = studies.iter().map(|study| format!("{study}\n"));
    Ok(tables.chain(files.iter().map(|file| format!("{}\n", file.display()))).collect())
}
