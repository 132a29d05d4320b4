//! The tools of experiments: measurements, models and runs of this program.

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

/// Number of timed repeats, in full and with `--quick`.
const REPEATS: [u32; 2] = [20, 3];

/// Parses a command line of `kolmo bench`.
#[derive(Parser)]
struct Words {
    #[command(subcommand)]
    bench: Bench,
}

pub(super) struct Lab<'a> {
    options: &'a ReproduceOptions,
    rates: Option<Rates>,
    load: &'a dyn Fn(&str, &[String]) -> Result<Config>,
    /// Reports by their command line: figures of the same paper share measurements.
    measured: RefCell<HashMap<String, Rc<Report>>>,
    /// Directory of the files of the current experiment.
    pub(super) directory: RefCell<PathBuf>,
}

impl<'a> Lab<'a> {
    /// # Errors
    /// If the rates cannot be read.
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

    /// The value for a full run, or that for `--quick`.
    pub(super) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.options.quick { quick } else { full }
    }

    /// The report of `kolmo bench` with these arguments, and the command.
    ///
    /// # Errors
    /// Errors of the benchmark, and wrong results.
    pub(super) fn bench(&self, words: &str) -> Result<(Rc<Report>, String)> {
        let repeats = self.options.repeats.unwrap_or(self.pick(REPEATS[0], REPEATS[1]));
        let words = format!("{words} --repeats {repeats} --backend {}", self.options.backend);
        let command = format!("`kolmo bench {words}`");
        if let Some(known) = self.measured.borrow().get(&words) {
            return Ok((known.clone(), command));
        }
        let arguments = ["bench"].into_iter().chain(words.split_whitespace());
        let parsed = Words::try_parse_from(arguments);
        let Words { bench } = parsed.unwrap_or_else(|why| unreachable!("`{words}`: {why}"));
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

    /// The rates of the user, otherwise those of the machine of the paper.
    pub(super) fn rates(&self, default: Rates) -> Rates {
        self.rates.clone().unwrap_or(default)
    }

    /// The description of the rates: `default` for those of the machine of the paper, otherwise their source.
    pub(super) fn describe_rates(&self, default: &str) -> String {
        match &self.rates {
            None => default.into(),
            Some(Rates { source, .. }) => {
                format!("The rates are those of another machine ({source}).")
            }
        }
    }

    /// An input, or the built-in input of a case, with the overrides `set`.
    pub(super) fn input(&self, input: &str, set: &[&str]) -> Result<Config> {
        let mut set: Vec<String> = set.iter().map(|key| (*key).to_string()).collect();
        set.push(format!("compute.backend={}", self.options.backend));
        (self.load)(input, &set)
    }

    /// Run `config` in the directory `name` next to the files of the experiment; returns that directory.
    pub(super) fn run(&self, config: &Config, name: &str) -> Result<PathBuf> {
        let directory = self.directory.borrow().join(name);
        make_directory(&directory)?;
        let requests = Requests::default();
        run(config, &directory, Origin::Case, &|_| Ok(()), &requests, Arc::new(Solo))?;
        Ok(directory)
    }
}
