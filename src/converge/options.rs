//! What `kolmo converge` takes on the command line.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::MOST_POINTS;
use crate::io::refuse_file;

/// What is refined.
#[derive(Args, Debug)]
pub struct ConvergeOptions {
    /// An input file, or the name of a case for its built-in input.
    pub input: String,
    /// Numbers of points along every axis that has more than one in the input; where errors are taken against the finest grid and only
    /// some of its axes are periodic, one more along the others.
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', action = ArgAction::Set, required = true, value_parser = count)]
    pub points: Vec<usize>,
    /// Take the same cfl on every grid: without this, it falls on finer ones where the integrator's order is the lower one.
    #[arg(long)]
    pub keep_cfl: bool,
    /// Change a key of the input: `--set scheme.derivative=compact4`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub set: Vec<String>,
    /// Where to compute: auto, cpu, cuda or opencl.
    #[arg(long)]
    pub backend: Option<String>,
    /// Where the table and the picture go, instead of runs/converge-CASE-SCHEME.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a table that is there already.
    #[arg(long)]
    pub overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl ConvergeOptions {
    /// What is set on the command line, for so many `points` along each axis.
    pub(super) fn set(&self, points: Option<[usize; 3]>) -> Vec<String> {
        let mut set = self.set.clone();
        set.extend(self.backend.iter().map(|name| format!("compute.backend={name}")));
        set.extend(points.map(|[x, y, z]| format!("grid.points=[{x}, {y}, {z}]")));
        set
    }

    /// The numbers of points, from the coarsest grid to the finest.
    pub(super) fn ascending(&self) -> Result<Vec<usize>> {
        let mut points = self.points.clone();
        points.sort_unstable();
        points.dedup();
        if points.len() < 2 {
            return Err(Error::refused(
                format!("--points {} is one grid, and an order needs two or more", points[0]),
                "for example `--points 16,32,64`",
            ));
        }
        Ok(points)
    }

    /// Where the files go; a directory that holds a table already is refused, unless it is to be replaced.
    pub(super) fn directory(&self, config: &Config) -> Result<PathBuf> {
        let (case, scheme) = (config.case.name(), config.scheme.derivative.name);
        let usual = || PathBuf::from(format!("runs/converge-{case}-{scheme}"));
        let directory = self.out.clone().unwrap_or_else(usual);
        let shown = directory.display();
        refuse_file(&directory, "the table and the picture need")?;
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

fn count(text: &str) -> std::result::Result<usize, String> {
    let number = text.trim().parse().ok().filter(|n| (2..=MOST_POINTS).contains(n));
    number.ok_or_else(|| format!("a number of points is whole and from 2 to {MOST_POINTS}"))
}
