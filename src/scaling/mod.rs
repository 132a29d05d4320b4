//! `kolmo plot-scaling`: what several jobs measured on more and more ranks, and what the model says of it, in one table and in pictures.
//!
//! `file` reads what `kolmo bench step --weak` (or `--strong`) and `kolmo model` printed and refuses what cannot be compared,
//! `series` makes efficiencies of times, `output` writes. What is measured and what is modelled are series of their own everywhere.

mod file;
mod options;
mod output;
mod series;

pub use options::PlotScalingOptions;

use crate::error::Result;

/// Read the files of `options`, and write pictures and a CSV. Returns a table for each kind of scaling, what has to be known to read it,
/// and the names of the files, a line each.
///
/// # Errors
/// Where a file is not what those commands print, where files cannot be compared, where efficiencies have no base, and where
/// somebody else's file would be replaced.
pub fn plot_scaling(options: &PlotScalingOptions) -> Result<String> {
    let read = file::read(&options.files)?;
    let studies = series::studies(read, options.base)?;
    let files = output::write(&studies, options)?;
    let tables = studies.iter().map(|study| format!("{study}\n"));
    Ok(tables.chain(files.iter().map(|file| format!("{}\n", file.display()))).collect())
}
