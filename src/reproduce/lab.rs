//! What experiments are made with: measurements, models and runs of this program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use clap::Parser;

use super::options::ReproduceOptions;
use crate::bench::{self, Bench, Report};
use crate::comm::Solo;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::io::make_directory;
use crate::model::Rates;
use crate::time::{Origin, Requests, run};

/// How often parts are timed, in full and with `--quick`.
const REPEATS: [u32; 2] = [20, 3];

/// What a command line says to `kolmo bench`.
#[derive(Parser)]
struct Words {
    #[command(subcommand)]
    bench: Bench,
}

pub(super) struct Lab<'a> {
    options: &'a ReproduceOptions,
    rates: Option<Rates>,
    load: &'a dyn Fn(&str, &[String]) -> Result<Config>,
    /// By their words: figures of the same paper share measurements.
    measured: RefCell<HashMap<String, Rc<Report>>>,
    /// Where the files of the experiment at hand go.
    pub(super) directory: RefCell<PathBuf>,
}

impl<'a> Lab<'a> {
    /// # Errors
    /// Where the rates cannot be read.
    pub(super) fn new(
        options: &'a ReproduceOptions,
        load: &'a dyn Fn(&str, &[String]) -> Result<Config>,
    ) -> Result<Self> {
        Ok(Self {
            options,
            rates: options.rates.as_deref().map(Rates::load).transpose()?,
            load,
            measured: RefCell::default(),
            directory: RefCell::default(),
        })
    }

    /// One of two, as `--quick` says.
    pub(super) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.options.quick { quick } else { full }
    }

    /// What `kolmo bench` with these words measures, and the command.
    ///
    /// # Errors
    /// What it says, and where a result was wrong.
    pub(super) fn bench(&self, words: &str) -> Result<(Rc<Report>, String)> {
        let repeats = self.options.repeats.unwrap_or(self.pick(REPEATS[0], REPEATS[1]));
        let words = format!("{words} --repeats {repeats} --backend {}", self.options.backend);
        let command = format!("`kolmo bench {words}`");
        if let Some(known) = self.measured.borrow().get(&words) {
            return Ok((known.clone(), command));
        }
        let typed = ["bench"].into_iter().chain(words.split_whitespace());
        let typed = Words::try_parse_from(typed);
        let Words { bench } = typed.unwrap_or_else(|why| unreachable!("`{words}`: {why}"));
        let comm: Arc<dyn crate::comm::Communicator> = Arc::new(Solo);
        let report = bench::run(&bench, &comm)?;
        if !report.sound() {
            let message = format!("error: {command}: {}", report.failures());
            return Err(Error::Elsewhere { message, exit_code: 1 });
        }
        let report = Rc::new(report);
        self.measured.borrow_mut().insert(words, report.clone());
        Ok((report, command))
    }

    /// The rates that the user gave, else those of the paper's machine.
    pub(super) fn rates(&self, usual: Rates) -> Rates {
        self.rates.clone().unwrap_or(usual)
    }

    /// What a text says of them: `usual` of those of the paper's machine, else whose they are.
    pub(super) fn said_of_rates(&self, usual: &str) -> String {
        match &self.rates {
            None => usual.into(),
            Some(Rates { source, .. }) => {
                format!("Rates here are those of another machine ({source}).")
            }
        }
    }

    /// An input, or the built-in one of a case, with what is set.
    pub(super) fn input(&self, input: &str, set: &[&str]) -> Result<Config> {
        let mut set: Vec<String> = set.iter().map(|key| (*key).to_string()).collect();
        set.push(format!("compute.backend={}", self.options.backend));
        (self.load)(input, &set)
    }

    /// Run `config` in the directory `name` beside the files of the experiment; returns that.
    pub(super) fn run(&self, config: &Config, name: &str) -> Result<PathBuf> {
        let directory = self.directory.borrow().join(name);
        make_directory(&directory)?;
        let requests = Requests::default();
        run(config, &directory, Origin::Case, &|_| Ok(()), &requests, Arc::new(Solo))?;
        Ok(directory)
    }
}
