//! Command-line options of `kolmo compare`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Result;
use crate::io::plot::Line;
use crate::io::refused;

/// The runs to compare, and the output.
#[derive(Args, Debug)]
pub struct CompareOptions {
    /// Directories of runs; differences are relative to the first.
    #[arg(required = true, value_name = "RUN_DIR")]
    pub runs: Vec<PathBuf>,
    /// The page to write; its figures are written to the same directory.
    #[arg(long, value_name = "PAGE.html", default_value = "compare.html")]
    pub out: PathBuf,
    /// Draw the spectra nearest to this time, instead of those at the last time common to all runs.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Replace the page and its figures even if another program wrote files of these names.
    #[arg(long)]
    pub overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|time: &f64| time.is_finite());
    number.ok_or_else(|| "a time is a finite number".into())
}

/// The path of a page of this many runs.
pub(super) fn page_path(out: &Path, runs: usize) -> Result<PathBuf> {
    let max_runs = Line::SIDE_BY_SIDE.len();
    if runs > max_runs {
        let what = format!("{runs} runs are too many for one figure");
        return Err(refused(what, format!("name at most {max_runs} at a time")));
    }
    let is_page = out.extension().is_some_and(|ending| ending == "html");
    if !is_page || out.is_dir() {
        let why = if is_page { "is a directory" } else { "does not end in .html" };
        let advice = "give the name of the file to write: `--out runs.html`";
        return Err(refused(format!("--out {} {why}", out.display()), advice));
    }
    Ok(out.to_path_buf())
}
