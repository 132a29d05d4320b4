//! Command-line options of `kolmo reproduce`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};

use super::finding::{UNFINISHED, text_of};
use super::{EXPERIMENTS, Experiment};
use crate::config::hint;
use crate::error::{Error, Result};
use crate::io::{read_text, refuse_file, with_ending};

/// The figures to reproduce.
#[derive(Args, Debug)]
pub struct ReproduceOptions {
    /// Names of figures and tables, or all; `list`, or no name, lists them.
    #[arg(value_name = "ID")]
    pub names: Vec<String>,
    /// Smaller sizes and shorter runs, for a laptop.
    #[arg(long)]
    pub quick: bool,
    /// Parent directory of the directories of the figures.
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
    /// Recompute existing figures, and replace other files with their names.
    #[arg(long)]
    pub overwrite: bool,
    /// Backend of measurements: auto, cpu, cuda or opencl.
    #[arg(long, default_value = "auto", value_parser = ["auto", "cpu", "cuda", "opencl"])]
    pub backend: String,
    /// Rates of a machine for modelled figures, from `kolmo bench comm --json`, instead of those of the machine of each paper.
    #[arg(long, value_name = "FILE")]
    pub rates: Option<PathBuf>,
    /// Number of timed repeats of each part; the default is 20, and 3 with `--quick`.
    #[arg(long, value_name = "N", action = ArgAction::Set, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: Option<u32>,
}

/// The directory of a figure, and whether the figure exists with the same options.
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) is_complete: bool,
}

impl ReproduceOptions {
    /// Whether the figures are only listed.
    pub fn is_list(&self) -> bool {
        matches!(self.names.as_slice(), [] | [_]) && self.names.iter().all(|name| name == "list")
    }

    /// The requested figures, in the order of the list.
    pub(super) fn chosen(&self) -> Result<Vec<&'static Experiment>> {
        let is_known = |name: &str| EXPERIMENTS.iter().any(|one| one.id == name);
        if let Some(name) = self.names.iter().find(|name| *name != "all" && !is_known(name)) {
            let ids: Vec<&str> = EXPERIMENTS.iter().map(|one| one.id).collect();
            return Err(Error::refused(
                format!("`{name}` is not a figure or table{}", hint(name, &ids)),
                "`kolmo reproduce list` lists them; `all` selects all of them",
            ));
        }
        let is_requested =
            |one: &&Experiment| self.names.iter().any(|name| name == "all" || name == one.id);
        Ok(EXPERIMENTS.iter().filter(is_requested).collect())
    }

    /// The last line of the text of a figure computed with these options.
    pub(super) fn last_line(&self, one: &Experiment) -> String {
        let repeats = self.repeats.map(|n| format!(" --repeats {n}"));
        let rates = self.rates.as_ref().map(|file| format!(" --rates {file:?}"));
        let backend = (self.backend != "auto").then(|| format!(" --backend {}", self.backend));
        let quick = self.quick.then(|| " --quick".into());
        let set: String = [quick, backend, repeats, rates].into_iter().flatten().collect();
        format!("Made by `kolmo reproduce {}{set}`.", one.id)
    }

    /// The directory of a figure; refuses to replace foreign files.
    pub(super) fn place(&self, one: &Experiment) -> Result<Place> {
        let directory = self.out.join(one.id);
        refuse_file(&directory, "the figure needs")?;
        let text_path = text_of(one, &directory);
        let text = read_text(&text_path).unwrap_or_default();
        let last = text.lines().last().unwrap_or_default();
        let is_own = last == UNFINISHED || last == self.last_line(one);
        // The contents of the file of rates may have changed.
        let is_finished =
            last != UNFINISHED && self.rates.is_none() && text_path.with_extension("csv").exists();
        let is_complete = is_own && is_finished && !self.overwrite;
        if is_own || self.overwrite || is_free(&directory, &text_path) {
            return Ok(Place { directory, is_complete });
        }
        let by = last
            .strip_prefix("Made by ")
            .map(|by| format!(", made by {}", by.trim_end_matches('.')));
        Err(Error::refused(
            format!("{} already exists{}", directory.display(), by.unwrap_or_default()),
            "choose another directory with `--out`, or replace it with `--overwrite`",
        ))
    }
}

/// Whether `directory` is empty or absent, or contains only the unfinished first file `text` of a killed run.
fn is_free(directory: &Path, text: &Path) -> bool {
    let partial = with_ending(text, ".part");
    let names = fs::read_dir(directory).map(|files| files.map(|file| file.map(|it| it.path())));
    match names {
        Ok(mut paths) => paths.all(|path| path.is_ok_and(|path| path == partial)),
        Err(_) => directory.symlink_metadata().is_err(),
    }
}
