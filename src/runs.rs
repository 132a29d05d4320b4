//! The commands that run: what they may replace, what they begin from, how they end.

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
    /// The command with `out` for its directory, as a shell takes it.
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Begin a run.
pub(crate) fn start(typed: &RunArguments, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    // The lock is held until the run has ended.
    let (mut config, _lock) =
        restart::on_base_of_first(&**comm, |base| prepared(typed, comm.rank(), base))?;
    comm::same_on_all(&**comm, &config.shared_keys())?;
    let origin = restart::origin(&**comm, &config, typed.allow_physics_change)?;
    if let Origin::Other(checkpoint) = &origin {
        // Not the newest of a run that may go on: what is resolved means the same tomorrow.
        config.origin = Some(checkpoint.path().to_path_buf());
    }
    execute_run(&config, origin, typed.report.live, comm)
}

/// Go on with a run.
pub(crate) fn go_on(typed: &RestartArguments, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    let RestartArguments { run_dir: directory, from, allow_physics_change, .. } = typed;
    let wish = RestartOptions {
        set: typed.machine.with(&typed.set),
        from: *from,
        allow_physics_change: *allow_physics_change,
    };
    // The lock is held until the run has ended.
    let lock = (comm.rank() == 0).then(|| RunDirectory::enter(directory));
    let _lock = comm::all_or_error(&**comm, lock.transpose())?;
    match restart::restart(&**comm, directory, &wish)? {
        Restart::Run(what) => {
            let (config, origin) = *what;
            execute_run(&config, origin, typed.report.live, comm)
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

/// `live` is the port of its report.
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
        tell(&format!("the report as it grows: {}", live.address()));
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
        Ending::OutOfTime => "stopped early, since its wall time is nearly over",
    };
    if comm.rank() == 0 {
        let launcher =
            if comm.size() > 1 { format!("mpirun -n {} ", comm.size()) } else { String::new() };
        tell(&format!("{why}; to go on: {launcher}{}", onwards(&path)));
    }
    comm.barrier();
    Ok(ExitCode::from(3))
}

/// The command that goes on with the run in a directory.
fn onwards(directory: &Path) -> String {
    [&program(), "restart", &directory.to_string_lossy()].map(quoted).join(" ")
}

/// This program as it was called: not just `kolmo`, which need not be in the path.
fn program() -> String {
    std::env::args().next().unwrap_or("kolmo".into())
}

/// The configuration, of a run that may go where it is to go: rank 0 looks there, and locks the directory.
fn prepared(
    typed: &RunArguments,
    rank: usize,
    base: Base<'_>,
) -> Result<(Config, Option<DirectoryLock>)> {
    let set = typed.machine.with(&typed.set);
    let mut config = configuration_on(&typed.input, &set, base)?;
    if let Some(out) = &typed.out {
        config.output.directory = out.clone();
    }
    let directory = &config.output.directory;
    let lock = (rank == 0).then(|| check_directory(directory, typed)).transpose()?;
    Ok((config, lock))
}

/// Refuse a path that is no directory, that holds a run which may not be replaced, or files of others that a run would replace;
/// else lock it.
fn check_directory(path: &Path, typed: &RunArguments) -> Result<DirectoryLock> {
    checkpoint::check_name(path)?;
    refuse_file(path, "a run needs")?;
    RunDirectory::refuse_inside_checkpoint(path)?;
    RunDirectory::refuse_links(path)?;
    let lock = DirectoryLock::take(path)?;
    if RunDirectory::holds_run(path) && !typed.overwrite {
        return Err(Error::RunExists {
            directory: path.to_path_buf(),
            onwards: onwards(path),
            elsewhere: typed.command(Some(&RunDirectory::beside(path))),
            again: format!("{} --overwrite", typed.command(typed.out.as_deref())),
        });
    }
    if let Some(name) = RunDirectory::in_the_way(path)? {
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
    configuration_on(input, set, &restart::base)
}

/// The same, where `base` gives what a checkpoint carries.
fn configuration_on(input: &str, set: &[String], base: Base<'_>) -> Result<Config> {
    let path = Path::new(input);
    if (path.is_dir() || !path.exists())
        && let Ok(text) = config::built_in(input)
    {
        return config::parse_on(text, &format!("{input} (built in)"), set, base);
    }
    config::load_on(Path::new(input), set, base)
}

/// A log without half lines: one for which there is no room on the disk is left out.
struct WholeLines(File);

impl Write for WholeLines {
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
    let log = Mutex::new(WholeLines(append_to(path)?));
    let lines = tracing_subscriber::fmt().json().with_writer(log);
    // What could not be written is told by the warning itself.
    let subscriber = lines.log_internal_errors(false).finish();
    // Fails only where a subscriber is set already, and there is none before this one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
