//! The command line: from arguments to a configuration to a run. The only place that prints errors and sets the exit code.

mod allocator;
mod arguments;
mod info;
mod manual;
mod runs;
mod signals;
mod terminal;

use std::fmt::Display;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use clap::Parser;
use kolmo::bench::Bench;
use kolmo::cases::{Case, NAMES};
use kolmo::comm::{self, Communicator, Solo};
use kolmo::compare::{PlotOptions, compare, overlay};
use kolmo::config;
use kolmo::converge::{ConvergeOptions, converge};
use kolmo::io::progress::tell;
use kolmo::io::{RunDirectory, json, write_report};
use kolmo::model::ModelOptions;
use kolmo::quality::grid;
use kolmo::reproduce::{ReproduceOptions, listed, reproduce};
use kolmo::scaling::plot_scaling;
use kolmo::time::budget;
use kolmo::verify::{Progress, VerifyOptions, verify};
use kolmo::{Error, Result};
use serde::Serialize;

use arguments::{Arguments, Command};
use info::info;
use manual::{completions, manual};
use runs::{configuration, restart_run, start};
use terminal::say;

#[global_allocator]
static ALLOCATOR: allocator::ExitOnExhaustion = allocator::ExitOnExhaustion;

fn main() -> ExitCode {
    if let Err(error) = signals::watch() {
        return report_on_first(&error);
    }
    let parsed = Arguments::try_parse();
    // Dropped last: it finalizes MPI, where ranks wait for each other.
    let comm = match (comm::world(), &parsed) {
        (Ok(comm), _) => comm,
        (Err(_), Err(usage)) if comm::is_first() => usage.exit(),
        (Err(error), _) => return report_on_first(&error),
    };
    signals::restore();
    match parsed_command(parsed, &*comm) {
        Ok(command) => {
            execute(command, &comm).unwrap_or_else(|error| report_and_end(&error, &*comm))
        }
        Err(code) => code,
    }
}

/// The command, if all ranks have parsed their arguments; otherwise the exit code, after the error is printed.
fn parsed_command(
    parsed: Result<Arguments, clap::Error>,
    comm: &dyn Communicator,
) -> Result<Command, ExitCode> {
    let result = parsed.as_ref().map(|_| ()).map_err(|usage| Error::Elsewhere {
        message: usage.to_string().trim_end().to_string(),
        exit_code: u8::try_from(usage.exit_code()).unwrap_or(2),
    });
    match (comm::all_or_error(comm, result), parsed) {
        (Ok(()), Ok(arguments)) => Ok(arguments.command),
        (Err(error), Err(usage)) if comm.rank() == 0 => {
            match usage.use_stderr() {
                true => tell(usage.render().to_string().trim_end()),
                // Help goes to standard output, which may be closed.
                false => drop(usage.print()),
            }
            comm.barrier();
            Err(ExitCode::from(error.exit_code()))
        }
        (Err(error), _) => Err(report_and_end(&error, comm)),
        (Ok(()), Err(usage)) => usage.exit(),
    }
}

/// Handles an error that every process finds by itself; one process prints it.
fn report_on_first(error: &Error) -> ExitCode {
    match comm::is_first() {
        true => tell(&error.report()),
        // A launcher ends the other processes as soon as one has failed: the first one prints during this wait.
        false => sleep(Duration::from_millis(500)),
    }
    ExitCode::from(error.exit_code())
}

/// Print an error once; end the other ranks if they do not know about it.
fn report_and_end(error: &Error, comm: &dyn Communicator) -> ExitCode {
    if comm.size() > 1 && !error.is_everywhere() {
        tell(&format!("{}: {}", comm::rank_label(comm), error.report()));
        comm.abort(error.exit_code());
    }
    if comm.rank() == 0 {
        tell(&error.report());
    }
    // No rank exits before the error is printed: a launcher ends the others as soon as one exits.
    comm.barrier();
    ExitCode::from(error.exit_code())
}

fn execute(command: Command, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    comm::same_on_all(&**comm, &command.facts())?;
    if comm.rank() == 0 && matches!(command, Command::Run(_) | Command::Restart(_)) {
        signals::prepare();
    }
    match command {
        Command::Run(run) => return start(&run, comm),
        Command::Restart(restart) => return restart_run(&restart, comm),
        Command::Info { plan: None, .. } => return info(&**comm),
        Command::Bench { what } if what.is_collective() => return run_bench(&what, comm),
        Command::Verify(options) if !options.list => return run_verify(&options, comm),
        _ => {}
    }
    // The remaining commands need one rank.
    if comm.rank() > 0 {
        return comm::all_or_error(&**comm, Ok(ExitCode::SUCCESS));
    }
    let result = match command {
        Command::Grid(options) => configuration(&options.input, &options.set)
            .and_then(|config| say(&grid(&config, &options)?.to_string())),
        Command::Init { case } => config::built_in(&case).and_then(say),
        Command::Cases => {
            let cases = NAMES.iter().filter_map(|name| Case::default_for(name));
            say(&cases
                .map(|case| format!("{:20} {}\n", case.name(), case.about().summary))
                .collect::<String>())
        }
        Command::Bench { what } => run_bench(&what, &(Arc::new(Solo) as Arc<dyn Communicator>)),
        Command::Model(options) => run_model(&options),
        Command::Compare(options) => {
            compare(&options).and_then(|found| say(&shown(&found, options.json)))
        }
        Command::Converge(options) => run_converge(&options, comm.size()),
        Command::Plot(options) => run_plot(&options),
        Command::PlotScaling(options) => plot_scaling(&options).and_then(|found| say(&found)),
        Command::Reproduce(options) => run_reproduce(&options),
        Command::Completions { shell } => completions(shell),
        Command::Man { command } => manual(&command),
        Command::Verify(_) => say(&VerifyOptions::listed()),
        Command::Info { plan: Some(input), set } => {
            configuration(&input, &set).and_then(|config| say(&budget(&config)?))
        }
        Command::Run(_) | Command::Restart(_) | Command::Info { plan: None, .. } => {
            Ok(ExitCode::SUCCESS)
        }
    };
    comm::all_or_error(&**comm, result)
}

/// Overlay the curves of several runs, or redraw the report of one.
fn run_plot(options: &PlotOptions) -> Result<ExitCode> {
    let Some(run_dir) = options.single()? else { return say(&overlay(options)?.to_string()) };
    let _lock = RunDirectory::enter(run_dir)?;
    let mut directory = RunDirectory::open(run_dir, None)?;
    write_report(run_dir, &mut |names| directory.claim(names))?;
    say(&format!("{}\n", run_dir.join("report.html").display()))
}

/// Results as JSON or as text.
fn shown(found: &(impl Serialize + Display), as_json: bool) -> String {
    if as_json { json(found) } else { found.to_string() }
}

/// Print the results of `bench`. A wrong result or a failed part is an error, reported after all results.
fn run_bench(bench: &Bench, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    let report = kolmo::bench::run(bench, comm)?;
    let mut code = ExitCode::SUCCESS;
    if comm.rank() == 0 {
        say(&shown(&report, bench.json()))?;
        if !report.sound() {
            tell(&format!("error: {}", report.failures()));
            code = ExitCode::from(1);
        }
    }
    // A launcher ends the other ranks as soon as one has failed.
    comm.barrier();
    Ok(code)
}

/// Print the results of the checks. A failed check is an error, reported after all results.
fn run_verify(options: &VerifyOptions, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    let first = comm.rank() == 0;
    let progress = |progress: Progress<'_>| {
        match progress {
            Progress::Begins(family) if first => tell(&format!("checking {family} ...")),
            Progress::Ends(checks) if first && !options.json => return say(checks).map(|_| ()),
            _ => {}
        }
        Ok(())
    };
    let report = verify(options, comm, &progress)?;
    let mut code = ExitCode::SUCCESS;
    if first {
        say(&if options.json { json(&report) } else { format!("\n{}\n", report.verdict()) })?;
        if let Some(path) = &options.html {
            report.write_page(path)?;
        }
    }
    if report.failed > 0 {
        code = ExitCode::from(1);
    }
    // A launcher ends the other ranks as soon as one has failed.
    comm.barrier();
    Ok(code)
}

/// List the figures of the papers, or reproduce some of them.
fn run_reproduce(options: &ReproduceOptions) -> Result<ExitCode> {
    if options.is_list() {
        return say(&listed());
    }
    reproduce(options, &|input, set| configuration(input, set), &|line| say(line).map(|_| ()))?;
    Ok(ExitCode::SUCCESS)
}

/// Print the predictions of the model.
fn run_model(options: &ModelOptions) -> Result<ExitCode> {
    let config = configuration(&options.input, &options.set)?;
    let study = kolmo::model::run(options, &config)?;
    if let Some(path) = &options.plot {
        study.draw(path)?;
    }
    say(&shown(&study, options.json))
}

/// Print the order of convergence. The grids are small, so one rank runs them.
fn run_converge(options: &ConvergeOptions, ranks: usize) -> Result<ExitCode> {
    if ranks > 1 {
        tell(&format!("note: converge runs on one rank; the other {} wait", ranks - 1));
    }
    let study = converge(options, &|set| configuration(&options.input, set))?;
    // The results are printed even if the files cannot be written.
    let code = say(&shown(&study, options.json))?;
    study.write().map(|()| code)
}
