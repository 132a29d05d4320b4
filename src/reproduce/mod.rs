//! `kolmo reproduce`: figures and tables of the papers behind the line solvers, from this code.
//!
//! Each figure is an experiment: a name, the place of publication, the basis of its numbers, and a function that computes it from
//! [`bench`](crate::bench), [`model`](crate::model), the schemes and runs. It writes a CSV, figures, and a text with the results
//! of the paper, the results of this code, and reasons for differences. Published numbers are in `published.rs`, each with its
//! table and page.

mod blocks;
mod chart;
mod cluster;
mod finding;
mod flows;
mod lab;
mod list;
mod options;
mod patterns;
mod published;
mod scaling;
mod schemes;
mod solvers;
mod song;

pub use options::ReproduceOptions;

use crate::config::Config;
use crate::error::Result;
use crate::io::progress::tell;
use finding::Finding;
use lab::Lab;
use list::EXPERIMENTS;
use options::Place;

/// The basis of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// From a paper.
    Published,
    /// Computed, identical on every machine.
    Exact,
    /// Measured on this machine.
    Measured,
    /// Predicted from counted work and rates of a machine.
    Modelled,
    /// From a simulation.
    Simulated,
}

impl Basis {
    fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Exact => "exact",
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Simulated => "simulated",
        }
    }
}

/// A figure or table.
struct Experiment {
    /// Its name on the command line.
    id: &'static str,
    /// Place of publication.
    source: &'static str,
    /// Contents.
    what: &'static str,
    basis: &'static [Basis],
    /// Wall time on two cores, in full and with `--quick`.
    cost: [&'static str; 2],
    make: fn(&Lab<'_>) -> Result<Finding>,
}

impl Experiment {
    fn basis_in_words(&self) -> String {
        self.basis.iter().map(|basis| basis.word()).collect::<Vec<_>>().join(", ")
    }
}

/// The figures, one per line.
pub fn listed() -> String {
    let head = format!("{:26} {:40} {:20} {:>8} {:>8}\n", "", "", "", "", "--quick");
    let line = |one: &Experiment| {
        let Experiment { id, source, what, cost: [full, quick], .. } = one;
        format!(
            "{id:26} {source:40} {:20} {full:>8} {quick:>8}\n{:26} {what}\n",
            one.basis_in_words(),
            ""
        )
    };
    head + &EXPERIMENTS.iter().map(line).collect::<String>()
}

/// Reproduce the figures named in `options` that do not exist yet with these options, so that the same command continues after an
/// interruption; `load` reads an input, or the built-in input of a case, with overrides, and `say` receives a line for each
/// figure.
///
/// # Errors
/// If a name is unknown, or a directory contains other files, before anything is computed. Errors of the parts.
pub fn reproduce(
    options: &ReproduceOptions,
    load: &dyn Fn(&str, &[String]) -> Result<Config>,
    say: &dyn Fn(&str) -> Result<()>,
) -> Result<()> {
    let chosen = options.chosen()?;
    let places = chosen.iter().map(|one| options.place(one)).collect::<Result<Vec<_>>>()?;
    let lab = Lab::new(options, load)?;
    for (one, Place { directory, is_complete }) in chosen.into_iter().zip(places) {
        if is_complete {
            tell(&format!("{} is complete, and is not changed", directory.display()));
            continue;
        }
        tell(&format!("{}: {} ...", one.id, one.what));
        finding::begin(one, &directory)?;
        lab.directory.replace(directory.clone());
        let finding = (one.make)(&lab)?;
        say(&finding.write(one, &directory, &options.last_line(one))?)?;
    }
    Ok(())
}
