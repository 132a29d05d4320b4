//! Command-line options of `kolmo plot-scaling`.

use std::path::PathBuf;

use clap::Args;

/// The input and output files.
#[derive(Args, Debug)]
pub struct PlotScalingOptions {
    /// Output of `kolmo bench step --weak --json` or `--strong`, of one job or several, and of `kolmo model --json`.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Prefix of the names of the files that are written: `scaling-weak.svg`, `scaling.csv`.
    #[arg(short, long, value_name = "NAME", default_value = "scaling")]
    pub out: PathBuf,
    /// Number of ranks that efficiencies are relative to; the default is the smallest number measured. 8 is the smallest number
    /// that exchanges along all three axes.
    #[arg(long, value_name = "RANKS", value_parser = clap::value_parser!(u32).range(1..))]
    pub base: Option<u32>,
    /// Replace files of these names even if another program wrote them.
    #[arg(long)]
    pub overwrite: bool,
}
