//! `kolmo reproduce`: figures and tables of the papers behind the line solvers, from this code.
//!
//! A figure is an experiment: a name, where it is published, what its numbers are, and a function that makes it of what
//! [`bench`](crate::bench), [`model`](crate::model), the schemes and runs give. It leaves a CSV, pictures, and a text that says what the
//! paper had, what is found here, and why they differ. Published numbers are in `published.rs`, each with its table and page.

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

/// What numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// From a paper.
    Published,
    /// Worked out, the same on every machine.
    Exact,
    /// Taken on the machine at hand.
    Measured,
    /// Predicted from counted work and rates of a machine.
    Modelled,
    /// Of a simulation.
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
    /// Where it is published.
    source: &'static str,
    /// What it shows.
    what: &'static str,
    basis: &'static [Basis],
    /// How long it takes on two cores, and with `--quick`.
    cost: [&'static str; 2],
    make: fn(&Lab<'_>) -> Result<Finding>,
}

impl Experiment {
    fn basis_in_words(&self) -> String {
        self.basis.iter().map(|basis| basis.word()).collect::<Vec<_>>().join(", ")
    }
}

/// The figures, a line each.
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

/// Make what `options` name and is not there as they ask for it, so that the same command again goes on; `load` reads an input, or the
/// built-in one of a case, with what is set, `say` gets a line for each that is made.
///
/// # Errors
/// Where a name is unknown, or something else is in a directory: nothing was made then. What a part says that fails.
pub fn reproduce(
    options: &ReproduceOptions,
    load: &dyn Fn(&str, &[String]) -> Result<Config>,
    say: &dyn Fn(&str) -> Result<()>,
) -> Result<()> {
    let chosen = options.chosen()?;
    let places = chosen.iter().map(|one| options.place(one)).collect::<Result<Vec<_>>>()?;
    let lab = Lab::new(options, load)?;
    for (one, Place { directory, is_made }) in chosen.into_iter().zip(places) {
        if is_made {
            tell(&format!("{} is made already, and stays as it is", directory.display()));
            continue;
        }
        tell(&format!("{}: {} ...", one.id, one.what));
        finding::begin(one, &directory)?;
        lab.directory.replace(directory.clone());
        let finding = (one.make)(&lab)?;
        say(&finding.write(one, &directory, &options.made(one))?)?;
    }
    Ok(())
}
