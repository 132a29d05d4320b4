//! Command-line options of `kolmo converge`.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::MAX_POINTS_PER_AXIS;
use crate::io::refuse_file;

/// The case and the grids.
#[derive(Args, Debug)]
pub struct ConvergeOptions {
    /// An input file, or the name of a case for its built-in input.
    pub input: String,
    /// Numbers of points along every axis with more than one point in the input; if errors are taken against the finest grid and
    /// only some axes are periodic, the other axes have one more point.
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', action = ArgAction::Set, required = true, value_parser = count)]
    pub points: Vec<usize>,
    /// Use the same cfl on every grid; by default it decreases on finer grids if the order of the integrator is the lower one.
    #[arg(long)]
    pub keep_cfl: bool,
    /// Change a key of the input: `--set scheme.derivative=compact4`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub set: Vec<String>,
    /// Where to compute: auto, cpu, cuda or opencl.
    #[arg(long)]
    pub backend: Option<String>,
    /// Directory of the table and the figure, instead of runs/converge-CASE-SCHEME.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace an existing table.
    #[arg(long)]
    pub overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl ConvergeOptions {
    /// The overrides of the command line, for the given `points` along each axis.
    pub(super) fn set(&self, points: Option<[usize; 3]>) -> Vec<String> {
        let mut set = self.set.clone();
        set.extend(self.backend.iter().map(|name| format!("compute.backend={name}")));
        set.extend(points.map(|[x, y, z]| format!("grid.points=[{x}, {y}, {z}]")));
        set
    }

    /// The numbers of points in ascending order.
    pub(super) fn ascending(&self) -> Result<Vec<usize>> {
        let mut points = self.points.clone();
        points.sort_unstable();
        points.dedup();
        if points.len() < 2 {
            return Err(Error::refused(
                format!("--points {} is one grid, but an order needs two or more", points[0]),
                "for example `--points 16,32,64`",
            ));
        }
        Ok(points)
    }

    /// The directory of the files; a directory that already holds a table is refused, unless `--overwrite` is given.
    pub(super) fn directory(&self, config: &Config) -> Result<PathBuf> {
        let (case, scheme) = (config.case.name(), config.scheme.derivative.name);
        let default = || PathBuf::from(format!("runs/converge-{case}-{scheme}"));
        let directory = self.out.clone().unwrap_or_else(default);
        let shown = directory.display();
        refuse_file(&directory, "the table and the figure need")?;
        let is_there = |name: &&str| directory.join(name).symlink_metadata().is_ok();
        let files = ["converge.csv", "converge.html", "converge.svg"];
        match files.into_iter().find(is_there).filter(|_| !self.overwrite) {
            Some(name) => Err(Error::refused(
                format!("{shown} already holds a table: {name}"),
                "choose another directory with `--out`, or replace it with `--overwrite`",
            )),
            None => Ok(directory),
        }
    }
}

fn count(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|n| (2..=MAX_POINTS_PER_AXIS).contains(n));
    number.ok_or_else(|| {
        format!("a number of points is a whole number from 2 to {MAX_POINTS_PER_AXIS}")
    })
}
