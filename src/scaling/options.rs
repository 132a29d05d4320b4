//! What `kolmo plot-scaling` takes on the command line.

use std::path::PathBuf;

use clap::Args;

/// What is drawn.
#[derive(Args, Debug)]
pub struct PlotScalingOptions {
    /// What `kolmo bench step --weak --json` or `--strong` printed in one job or several, and what `kolmo model --json` printed.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What the names of the files that are written begin with: `scaling-weak.svg`, `scaling.csv`.
    #[arg(short, long, value_name = "NAME", default_value = "scaling")]
    pub out: PathBuf,
    /// Efficiencies are relative to so many ranks, not to the fewest that were measured: 8 are the fewest that exchange along all
    /// three axes.
    #[arg(long, value_name = "RANKS", value_parser = clap::value_parser!(u32).range(1..))]
    pub base: Option<u32>,
    /// Replace the files also where something else has those names.
    #[arg(long)]
    pub overwrite: bool,
}
