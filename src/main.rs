//! The command line: arguments to configuration to run. The only place that prints an error and sets an exit code.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Parser, Subcommand};
use kolmo::cases::{Case, NAMES, input};
use kolmo::config::{self, Config};
use kolmo::io::{RunDirectory, write_report};
use kolmo::time::{Ending, run};
use kolmo::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Direct numerical simulation of the compressible Navier-Stokes equations with compact finite differences.
#[derive(Parser)]
#[command(version, after_help = "Start with:  kolmo run taylor-green")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a simulation.
    #[command(
        after_help = "Examples:\n  kolmo run taylor-green\n  kolmo run configs/tgv-re1600-ma0.1-128.toml --set grid.points=[64,64,64] --out runs/re1600-64"
    )]
    Run {
        /// An input file, or the name of a case for its built-in input.
        input: String,
        /// Change a key of the input: `--set time.end=20`.
        #[arg(long, value_name = "KEY.PATH=VALUE")]
        set: Vec<String>,
        /// The run directory, instead of `output.directory`.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Where to compute: auto or cpu.
        #[arg(long)]
        backend: Option<String>,
        /// Replace a run that is in the directory already.
        #[arg(long)]
        overwrite: bool,
    },
    /// Print a commented input for a case.
    #[command(after_help = "Example:\n  kolmo init taylor-green > my.toml")]
    Init {
        /// The case: see `kolmo cases`.
        case: String,
    },
    /// List the cases.
    #[command(after_help = "Example:\n  kolmo cases")]
    Cases,
    /// Say what this machine has and what Kolmo uses of it.
    #[command(after_help = "Example:\n  kolmo info")]
    Info,
    /// Draw the report and the plots of a run again.
    #[command(after_help = "Example:\n  kolmo plot runs/taylor-green")]
    Plot {
        /// The directory of the run.
        run_dir: PathBuf,
    },
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(code) => code,
        Err(error @ Error::Config(_)) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_code())
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run { input, set, out, backend, overwrite } => {
            let typed = typed(&input, &set, backend.as_deref());
            start(&input, set, out, backend, overwrite, &typed)
        }
        Command::Init { case } => {
            print!("{}", built_in(&case)?);
            Ok(ExitCode::SUCCESS)
        }
        Command::Cases => {
            for case in NAMES.iter().filter_map(|name| Case::default_for(name)) {
                println!("{:18} {}", case.name(), case.summary());
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Info => info(),
        Command::Plot { run_dir } => {
            write_report(&run_dir)?;
            println!("{}", run_dir.join("report.html").display());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The built-in input of a case.
fn built_in(case: &str) -> Result<&'static str> {
    input(case).ok_or_else(|| {
        let known = NAMES.join(", ");
        Error::Config(vec![
            format!("error: `{case}` is no case"),
            format!("       the cases are: {known}"),
        ])
    })
}

/// What the user typed after `kolmo run`, but for the directory: to be repeated in a message.
fn typed(input: &str, set: &[String], backend: Option<&str>) -> String {
    let quoted = |word: &String| match word.contains([' ', '[', '"', '\'', '{']) {
        true => format!("--set '{word}'"),
        false => format!("--set {word}"),
    };
    let backend = backend.map(|name| format!("--backend {name}"));
    let words = std::iter::once(input.to_string()).chain(set.iter().map(quoted)).chain(backend);
    words.collect::<Vec<_>>().join(" ")
}

fn start(
    input: &str,
    mut set: Vec<String>,
    out: Option<PathBuf>,
    backend: Option<String>,
    overwrite: bool,
    typed: &str,
) -> Result<ExitCode> {
    set.extend(backend.map(|name| format!("compute.backend={name}")));
    let mut config = configuration(input, &set)?;
    if let Some(out) = out {
        config.output.directory = out;
    }
    let path = config.output.directory.clone();
    RunDirectory::check(&path, overwrite, typed)?;
    kolmo::time::check_memory(&config)?;
    let directory = RunDirectory::create(&path)?;
    log_to(&directory.join("log.jsonl"))?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second signal ends the program at once.
        let watch = signal_hook::flag::register_conditional_shutdown(signal, 130, stop.clone())
            .and_then(|_| signal_hook::flag::register(signal, stop.clone()));
        watch.map_err(Error::io("signal handler"))?;
    }
    match run(&config, &directory, &stop)? {
        Ending::Finished => Ok(ExitCode::SUCCESS),
        Ending::Stopped => {
            eprintln!(
                "stopped early, as asked; what was computed is in {}\n\
                 this version writes no checkpoints: begin again with  kolmo run {typed} --overwrite",
                path.display()
            );
            Ok(ExitCode::from(3))
        }
    }
}

/// The input file, or the built-in input where `input` names a case and no file.
fn configuration(input: &str, set: &[String]) -> Result<Config> {
    if !Path::new(input).exists()
        && let Ok(text) = built_in(input)
    {
        return config::parse(text, &format!("{input} (built in)"), set);
    }
    config::load(Path::new(input), set)
}

fn log_to(path: &Path) -> Result<()> {
    let file = File::create(path).map_err(Error::io(path))?;
    let subscriber = tracing_subscriber::fmt().json().with_writer(file).finish();
    // Fails only where a subscriber is set already, and there is none before this one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

fn info() -> Result<ExitCode> {
    let cpu = kolmo::backend::cpu::Cpu::<f64>::new(None)?;
    let machine = kolmo::io::summary::Machine::here(cpu.threads(), cpu.simd());
    println!("kolmo    {}", env!("CARGO_PKG_VERSION"));
    println!("cpu      {}", machine.cpu);
    println!("cores    {}", machine.cores);
    println!("threads  {}", machine.threads);
    println!("simd     {}", machine.simd);
    println!("gpu      not used by this version");
    println!("mpi      not used by this version; one rank");
    Ok(ExitCode::SUCCESS)
}
