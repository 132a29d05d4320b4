//! The commands that run a simulation: permission to replace a run, the initial state, the end of a run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use kolmo::comm::{self, Communicator};
use kolmo::config::{self, Base, Config};
use kolmo::io::progress::tell;
use kolmo::io::{DirectoryLock, Live, RunDirectory, append_to, checkpoint, refuse_file};
use kolmo::time::restart::{self, Restart, RestartOptions};
use kolmo::time::{Ending, Origin, Requests, run};
use kolmo::{Error, Result};

use crate::arguments::{Machine, RestartArguments, RunArguments};
use crate::signals;
use crate::terminal::say;

impl RunArguments {
    /// The command with `out` as its directory, quoted for a shell.
    fn command(&self, out: Option<&Path>) -> String {
        let mut words = vec![program(), "run".into(), self.input.clone()];
        let mut option = |name: &str, value: String| words.extend([name.into(), value]);
        self.set.iter().for_each(|set| option("--set", set.clone()));
        let Machine { backend, device, no_tune } = &self.machine;
        backend.iter().for_each(|backend| option("--backend", backend.clone()));
        device.iter().for_each(|device| option("--device", device.to_string()));
        out.into_iter().for_each(|out| option("--out", out.to_string_lossy().into()));
        words.extend(no_tune.then(|| "--no-tune".into()));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Start a run.
pub(crate) fn start(arguments: &RunArguments, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    // The lock is held until the run ends.
    let (mut config, _lock) =
        restart::with_base_of_rank_0(&**comm, |base| prepare_config(arguments, comm.rank(), base))?;
    comm::same_on_all(&**comm, &config.shared_keys())?;
    let origin = restart::origin(&**comm, &config, arguments.allow_physics_change)?;
    if let Origin::Other(checkpoint) = &origin {
        // The path of this checkpoint, not of the run: the run may continue and write newer ones, and the resolved input must
        // keep its meaning.
        config.origin = Some(checkpoint.path().to_path_buf());
    }
    execute_run(&config, origin, arguments.report.live, comm)
}

/// Continue a run.
pub(crate) fn restart_run(
    arguments: &RestartArguments,
    comm: &Arc<dyn Communicator>,
) -> Result<ExitCode> {
    let RestartArguments { run_dir: directory, from, allow_physics_change, .. } = arguments;
    let options = RestartOptions {
        set: arguments.machine.with(&arguments.set),
        from: *from,
        allow_physics_change: *allow_physics_change,
    };
    // The lock is held until the run ends.
    let lock = (comm.rank() == 0).then(|| RunDirectory::enter(directory));
    let _lock = comm::all_or_error(&**comm, lock.transpose())?;
    match restart::restart(&**comm, directory, &options)? {
        Restart::Run(what) => {
            let (config, origin) = *what;
            execute_run(&config, origin, arguments.report.live, comm)
        }
        Restart::Finished(sentence) => {
            if comm.rank() == 0 {
                say(&(sentence + "\n"))?;
            }
            comm.barrier();
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// `live` is the port of the live report.
fn execute_run(
    config: &Config,
    origin: Origin,
    live: Option<u16>,
    comm: &Arc<dyn Communicator>,
) -> Result<ExitCode> {
    let path = config.output.directory.clone();
    let live = live.filter(|_| comm.rank() == 0).map(Live::open).transpose();
    let live = comm::all_or_error(&**comm, live)?;
    if let Some(live) = &live {
        tell(&format!("the live report: {}", live.address()));
    }
    let requests = Requests { live: live.clone(), ..signals::requests() };
    let ending = run(config, &path, origin, &log_to, &requests, comm.clone());
    if let Some(live) = live {
        live.end();
    }
    let ending = ending?;
    let why = match ending {
        Ending::Finished => return Ok(ExitCode::SUCCESS),
        Ending::Stopped => "stopped early, as asked",
        Ending::OutOfTime => "stopped early, because its wall time is nearly over",
    };
    if comm.rank() == 0 {
        let launcher =
            if comm.size() > 1 { format!("mpirun -n {} ", comm.size()) } else { String::new() };
        tell(&format!("{why}; to continue: {launcher}{}", restart_command(&path)));
    }
    comm.barrier();
    Ok(ExitCode::from(3))
}

/// The command that continues the run in a directory.
fn restart_command(directory: &Path) -> String {
    [&program(), "restart", &directory.to_string_lossy()].map(quoted).join(" ")
}

/// The path by which this program was called: `kolmo` may not be in PATH.
fn program() -> String {
    std::env::args().next().unwrap_or("kolmo".into())
}

/// The configuration of a run whose directory may be used: rank 0 checks and locks the directory.
fn prepare_config(
    arguments: &RunArguments,
    rank: usize,
    base: Base<'_>,
) -> Result<(Config, Option<DirectoryLock>)> {
    let set = arguments.machine.with(&arguments.set);
    let mut config = configuration_with_base(&arguments.input, &set, base)?;
    if let Some(out) = &arguments.out {
        config.output.directory = out.clone();
    }
    let directory = &config.output.directory;
    let lock = (rank == 0).then(|| check_directory(directory, arguments)).transpose()?;
    Ok((config, lock))
}

/// Lock the directory at `path`. Refuse a path that is not a directory, a run that may not be replaced, and foreign files that a
/// run would replace.
fn check_directory(path: &Path, arguments: &RunArguments) -> Result<DirectoryLock> {
    checkpoint::check_name(path)?;
    refuse_file(path, "a run needs")?;
    RunDirectory::refuse_inside_checkpoint(path)?;
    RunDirectory::refuse_links(path)?;
    let lock = DirectoryLock::take(path)?;
    if RunDirectory::contains_run(path) && !arguments.overwrite {
        return Err(Error::RunExists {
            directory: path.to_path_buf(),
            restart_command: restart_command(path),
            elsewhere: arguments.command(Some(&RunDirectory::beside(path))),
            again: format!("{} --overwrite", arguments.command(arguments.out.as_deref())),
        });
    }
    if let Some(name) = RunDirectory::conflict_at(path)? {
        let path = path.display();
        return Err(Error::Config(vec![
            format!(
                "error: {path} holds a {name} that no manifest.txt names, and that a run would replace"
            ),
            "       move it away, or choose another directory with `--out`".to_string(),
        ]));
    }
    Ok(lock)
}

/// The input file, or the built-in input where `input` names a case and no file.
pub(crate) fn configuration(input: &str, set: &[String]) -> Result<Config> {
    configuration_with_base(input, set, &restart::base)
}

/// The same, where `base` gives the resolved input of a checkpoint.
fn configuration_with_base(input: &str, set: &[String], base: Base<'_>) -> Result<Config> {
    let path = Path::new(input);
    if (path.is_dir() || !path.exists())
        && let Ok(text) = config::built_in(input)
    {
        return config::parse_on(text, &format!("{input} (built in)"), set, base);
    }
    config::load_on(Path::new(input), set, base)
}

/// A log without incomplete lines: a line that does not fit on the disk is omitted.
struct CompleteLines(File);

impl Write for CompleteLines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let before = self.0.metadata()?.len();
        let written = self.0.write_all(line).inspect_err(|_| drop(self.0.set_len(before)));
        written.map(|()| line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn log_to(path: &Path) -> Result<()> {
    let log = Mutex::new(CompleteLines(append_to(path)?));
    let lines = tracing_subscriber::fmt().json().with_writer(log);
    // The warning itself is printed even if the log cannot be written.
    let subscriber = lines.log_internal_errors(false).finish();
    // Fails only if a subscriber is already set, and no other code sets one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
