//! Command-line options of `kolmo verify`.

use std::path::PathBuf;

use clap::Args;

use super::families::{FAMILIES, Family};
use crate::error::{Error, Result, refused};
use crate::io::make_directory_of;
use crate::io::page::check_replaceable;

/// Selection of the checks and of the backend.
#[derive(Args, Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Families of checks; the default is all. `kolmo verify --list` lists them.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Run in less than a minute: fewer grids, forms and shapes per family, and no slow checks.
    #[arg(long)]
    pub quick: bool,
    /// List the families of checks, and run nothing.
    #[arg(long)]
    pub list: bool,
    /// Where to compute: auto, cpu, cuda or opencl.
    #[arg(long)]
    pub backend: Option<String>,
    /// Number of the device of the backend, as listed by `kolmo info`.
    #[arg(long, value_name = "N")]
    pub device: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write the table as an HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace a page that another program wrote.
    #[arg(long)]
    pub overwrite: bool,
}

impl VerifyOptions {
    /// The requested families, in the order of the list.
    pub(super) fn families(&self) -> Result<Vec<&'static Family>> {
        let unknown = |name: &&String| FAMILIES.iter().all(|family| family.name != **name);
        if let Some(name) = self.names.iter().find(unknown) {
            let known: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            let problem = format!("`{name}` is not a family of checks");
            return Err(refused(problem, format!("the families are {}", known.join(", "))));
        }
        let is_named = |family: &Family| self.names.iter().any(|name| name == family.name);
        let is_requested = |family: &&Family| self.names.is_empty() || is_named(family);
        Ok(FAMILIES.iter().filter(is_requested).collect())
    }

    /// Refuse an impossible path of the page, or one that would replace a file not written by Kolmo, before anything is run.
    pub(super) fn check_page(&self) -> Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        if path.is_dir() {
            let problem = format!("{} is a directory; a page needs a file", path.display());
            return Err(refused(problem, "for example `--html verify.html`"));
        }
        if !self.overwrite {
            check_replaceable(path, "verify")?;
        }
        let advice = "give --html a file in a directory that exists or can be created";
        make_directory_of(path).map_err(|why| Error::refused(why.what(), advice))
    }

    /// The families, one per line.
    pub fn listed() -> String {
        FAMILIES.iter().map(|family| format!("{:14} {}\n", family.name, family.shows)).collect()
    }
}
