//! What `kolmo compare` takes on the command line.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Result;
use crate::io::plot::Line;
use crate::io::refused;

/// What is compared.
#[derive(Args, Debug)]
pub struct CompareOptions {
    /// Directories of runs; what differs is told relative to the first.
    #[arg(required = true, value_name = "RUN_DIR")]
    pub runs: Vec<PathBuf>,
    /// The page to write; its pictures go beside it.
    #[arg(long, value_name = "PAGE.html", default_value = "compare.html")]
    pub out: PathBuf,
    /// Draw the spectra nearest to this time, not those of the last time that all runs have.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Replace the page and its pictures also where something else has those names.
    #[arg(long)]
    pub overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn finite(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|time: &f64| time.is_finite());
    number.ok_or_else(|| "a time is a finite number".into())
}

/// Where a page of so many runs goes.
pub(super) fn page_path(out: &Path, runs: usize) -> Result<PathBuf> {
    let most = Line::SIDE_BY_SIDE.len();
    if runs > most {
        let what = format!("{runs} runs are more than a picture can tell apart");
        return Err(refused(what, format!("name at most {most} at a time")));
    }
    let is_page = out.extension().is_some_and(|ending| ending == "html");
    if !is_page || out.is_dir() {
        let why = if is_page { "is a directory" } else { "does not end in .html" };
        let advice = "give the file that is to be written: `--out runs.html`";
        return Err(refused(format!("--out {} {why}", out.display()), advice));
    }
    Ok(out.to_path_buf())
}
