//! What `kolmo reproduce` takes on the command line.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};

use super::{EXPERIMENTS, Experiment};
use crate::config::hint;
use crate::error::{Error, Result};
use crate::io::refuse_file;

/// What is reproduced.
#[derive(Args, Debug)]
pub struct ReproduceOptions {
    /// Figures and tables by their names, or all; `list`, or no name, lists them.
    #[arg(value_name = "ID")]
    pub names: Vec<String>,
    /// Smaller sizes and shorter runs, for a laptop.
    #[arg(long)]
    pub quick: bool,
    /// Where the directories of the figures go.
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
    /// Replace figures that are there already.
    #[arg(long)]
    pub overwrite: bool,
    /// Where to compute what is measured: auto, cpu, cuda or opencl.
    #[arg(long, default_value = "auto", value_parser = ["auto", "cpu", "cuda", "opencl"])]
    pub backend: String,
    /// Rates of a machine for what is modelled, from `kolmo bench comm --json`, instead of those of each paper's machine.
    #[arg(long, value_name = "FILE")]
    pub rates: Option<PathBuf>,
    /// How often each part is timed; 20, and 3 with `--quick`.
    #[arg(long, value_name = "N", action = ArgAction::Set, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: Option<u32>,
}

impl ReproduceOptions {
    /// Whether they are to be listed alone.
    pub fn is_list(&self) -> bool {
        matches!(self.names.as_slice(), [] | [_]) && self.names.iter().all(|name| name == "list")
    }

    /// The figures that were named, in the order of the list.
    pub(super) fn chosen(&self) -> Result<Vec<&'static Experiment>> {
        let is_known = |name: &str| EXPERIMENTS.iter().any(|one| one.id == name);
        if let Some(name) = self.names.iter().find(|name| *name != "all" && !is_known(name)) {
            let ids: Vec<&str> = EXPERIMENTS.iter().map(|one| one.id).collect();
            return Err(Error::refused(
                format!("`{name}` is no figure or table{}", hint(name, &ids)),
                "`kolmo reproduce list` lists them; `all` makes every one",
            ));
        }
        let asked =
            |one: &&Experiment| self.names.iter().any(|name| name == "all" || name == one.id);
        Ok(EXPERIMENTS.iter().filter(asked).collect())
    }

    /// The directory of each of `chosen`, all of which may be written.
    pub(super) fn directories(&self, chosen: &[&Experiment]) -> Result<Vec<PathBuf>> {
        chosen.iter().map(|one| self.directory(&self.out.join(one.id))).collect()
    }

    fn directory(&self, directory: &Path) -> Result<PathBuf> {
        refuse_file(directory, "the figure needs")?;
        let shown = directory.display();
        match directory.symlink_metadata() {
            Err(_) => Ok(directory.to_path_buf()),
            Ok(_) if self.overwrite => Ok(directory.to_path_buf()),
            Ok(_) => Err(Error::refused(
                format!("{shown} is there already"),
                "choose another directory with `--out`, or replace it with `--overwrite`",
            )),
        }
    }
}
