//! The command line: arguments to configuration to run. The only place that prints an error and sets an exit code.

mod allocator;
mod signals;

use std::collections::BTreeSet;
use std::convert::identity;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use clap::{Parser, Subcommand};
use kolmo::backend::device::{Api, DeviceInfo, cuda, devices};
use kolmo::backend::ranks::Route;
use kolmo::bench::Bench;
use kolmo::cases::{Case, NAMES};
use kolmo::comm::{self, Communicator, Solo};
use kolmo::compare::{CompareOptions, compare};
use kolmo::config::{self, Base, Config};
use kolmo::converge::{ConvergeOptions, converge};
use kolmo::io::checkpoint;
use kolmo::io::progress::{tell, visible};
use kolmo::io::{DirectoryLock, RunDirectory, append_to, write_report};
use kolmo::model::ModelOptions;
use kolmo::time::restart::{self, Restart, Wish};
use kolmo::time::{Ending, Origin, budget, run};
use kolmo::{Error, Result};

#[global_allocator]
static ALLOCATOR: allocator::OrEnd = allocator::OrEnd;

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
        after_help = "Examples:\n  kolmo run taylor-green\n  kolmo run configs/tgv-re1600-ma0.1-128.toml --set grid.points=[64,64,64] --out runs/re1600-64\n  kolmo run taylor-green --backend cuda --device 1\n  kolmo run taylor-green --backend opencl --set compute.precision=f32"
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
        /// Where to compute: auto, cpu, cuda or opencl.
        #[arg(long)]
        backend: Option<String>,
        /// Which of the backend's devices, by its number in `kolmo info`.
        #[arg(long, value_name = "N")]
        device: Option<usize>,
        /// Cut work in the usual way: neither measure how it is done fastest on this machine nor take what was measured before.
        #[arg(long)]
        no_tune: bool,
        /// Replace a run that is in the directory already.
        #[arg(long)]
        overwrite: bool,
        /// Start from a checkpoint of another flow all the same.
        #[arg(long)]
        allow_physics_change: bool,
    },
    /// Go on with a run from its newest sound checkpoint, on any number of ranks.
    #[command(
        after_help = "Examples:\n  kolmo restart runs/taylor-green\n  kolmo restart runs/taylor-green --set time.end=20\n  mpirun -n 4 kolmo restart runs/taylor-green --from 100"
    )]
    Restart {
        /// The directory of the run.
        run_dir: PathBuf,
        /// Change a key of its input: `--set time.end=20`.
        #[arg(long, value_name = "KEY.PATH=VALUE")]
        set: Vec<String>,
        /// The step of the checkpoint to go on from, if not the newest; later ones are set aside.
        #[arg(long, value_name = "STEP")]
        from: Option<u64>,
        /// Where to compute: auto, cpu, cuda or opencl.
        #[arg(long)]
        backend: Option<String>,
        /// Which of the backend's devices, by its number in `kolmo info`.
        #[arg(long, value_name = "N")]
        device: Option<usize>,
        /// Cut work in the usual way: neither measure how it is done fastest on this machine nor take what was measured before.
        #[arg(long)]
        no_tune: bool,
        /// Go on with another case, gas or box all the same.
        #[arg(long)]
        allow_physics_change: bool,
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
    #[command(
        after_help = "Examples:\n  kolmo info\n  kolmo info --plan taylor-green --set grid.points=[256,256,256]"
    )]
    Info {
        /// Say what a run of this input would take: memory, the largest grid that fits, time and disk. Nothing of it is run but a
        /// few steps on few points.
        #[arg(long, value_name = "CONFIG")]
        plan: Option<String>,
        /// With `--plan`: set a key of the input, as for `run`.
        #[arg(long, value_name = "KEY=VALUE", requires = "plan")]
        set: Vec<String>,
    },
    /// Measure how fast the parts are, beside a copy of the same memory.
    #[command(
        after_help = "Examples:\n  kolmo bench derivative --points 128\n  kolmo bench lines --points 256 --backend opencl --json"
    )]
    Bench {
        /// What to measure.
        #[command(subcommand)]
        what: Bench,
    },
    /// Predict what a step takes on many ranks: all methods, to 131072 ranks, on several networks.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo model --method neighbour --network torus\n  kolmo model --points 1024 --ranks 8,64,512,4096 --network fat-tree --plot strong.svg"
    )]
    Model(ModelOptions),
    /// Put several runs into one table and one page of pictures.
    #[command(
        after_help = "Examples:\n  kolmo compare runs/coarse runs/fine\n  kolmo compare runs/* --time 9 --out tgv.html"
    )]
    Compare(CompareOptions),
    /// Run a case on grid after grid, and say how its error falls.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo converge acoustic-wave --points 16,32,64\n  kolmo converge isentropic-vortex --points 48,64,96 --set 'time={ end = 0.25, cfl = 0.15 }' --out runs/order"
    )]
    Converge(ConvergeOptions),
    /// Draw the report and the plots of a run again.
    #[command(after_help = "Example:\n  kolmo plot runs/taylor-green")]
    Plot {
        /// The directory of the run.
        run_dir: PathBuf,
    },
}

fn main() -> ExitCode {
    if let Err(error) = signals::watch() {
        return refuse(&error);
    }
    let typed = Arguments::try_parse();
    // Dropped after all else: the end of MPI, where ranks wait for each other.
    let comm = match (comm::world(), &typed) {
        (Ok(comm), _) => comm,
        (Err(_), Err(usage)) if comm::is_first() => usage.exit(),
        (Err(error), _) => return refuse(&error),
    };
    signals::restore();
    match understood(typed, &*comm) {
        Ok(command) => execute(command, &comm).unwrap_or_else(|error| end(&error, &*comm)),
        Err(code) => code,
    }
}

/// The command, where all ranks have understood theirs; else the exit code, once it was told whose is wrong.
fn understood(
    typed: std::result::Result<Arguments, clap::Error>,
    comm: &dyn Communicator,
) -> std::result::Result<Command, ExitCode> {
    let own = typed.as_ref().map(|_| ()).map_err(|usage| Error::Elsewhere {
        message: usage.to_string().trim_end().to_string(),
        exit_code: u8::try_from(usage.exit_code()).unwrap_or(2),
    });
    match (comm::agree(comm, own), typed) {
        (Ok(()), Ok(arguments)) => Ok(arguments.command),
        (Err(error), Err(usage)) if comm.rank() == 0 => {
            match usage.use_stderr() {
                true => tell(usage.render().to_string().trim_end()),
                // Help goes to standard output. Nobody has to listen.
                false => drop(usage.print()),
            }
            comm.barrier();
            Err(ExitCode::from(error.exit_code()))
        }
        (Err(error), _) => Err(end(&error, comm)),
        (Ok(()), Err(usage)) => usage.exit(),
    }
}

/// What every process finds for itself, and one tells.
fn refuse(error: &Error) -> ExitCode {
    if !comm::is_first() {
        return silent(error.exit_code());
    }
    tell(&error.report());
    ExitCode::from(error.exit_code())
}

/// End while the first process speaks: a launcher ends the others as soon as one has failed.
fn silent(code: u8) -> ExitCode {
    sleep(Duration::from_millis(500));
    ExitCode::from(code)
}

/// Tell an error, once; where other ranks do not know of it, end them.
fn end(error: &Error, comm: &dyn Communicator) -> ExitCode {
    if comm.size() > 1 && !error.is_everywhere() {
        tell(&format!("{}: {}", comm::speaker(comm), error.report()));
        comm.abort(error.exit_code());
    }
    if comm.rank() == 0 {
        tell(&error.report());
    }
    // All ranks have told before one ends: a launcher ends the others then.
    comm.barrier();
    ExitCode::from(error.exit_code())
}

impl Command {
    /// What must be the same on all ranks before anything of it is done. What it says of the input is compared once that is
    /// resolved.
    fn facts(&self) -> Vec<comm::Fact> {
        let fact = |name: &str, value: String| (name.to_string(), value);
        let word = |at| std::env::args().nth(at).unwrap_or_default();
        let mut facts = vec![fact("version", env!("CARGO_PKG_VERSION").into())];
        facts.push(fact("command", word(1)));
        match self {
            Self::Run { overwrite, allow_physics_change, .. } => {
                facts.push(fact("--overwrite", overwrite.to_string()));
                facts.push(fact("--allow-physics-change", allow_physics_change.to_string()));
            }
            Self::Restart { run_dir, from, allow_physics_change, .. } => {
                facts.push(fact("RUN_DIR", run_dir.to_string_lossy().into()));
                facts.push(fact(
                    "--from",
                    from.map_or("the newest".into(), |step| step.to_string()),
                ));
                facts.push(fact("--allow-physics-change", allow_physics_change.to_string()));
            }
            Self::Bench { what } => facts.push(fact("options", format!("{what:?}"))),
            _ => {}
        }
        facts
    }
}

fn execute(command: Command, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    comm::same_on_all(&**comm, &command.facts())?;
    if comm.rank() == 0 && matches!(command, Command::Run { .. } | Command::Restart { .. }) {
        signals::prepare();
    }
    match command {
        Command::Run {
            input,
            set,
            out,
            backend,
            device,
            no_tune,
            overwrite,
            allow_physics_change,
        } => {
            let set = with_tuning(set, !no_tune);
            let typed = Typed { input, set, backend, device, out };
            return start(&typed, overwrite, allow_physics_change, comm);
        }
        Command::Restart { run_dir, set, from, backend, device, no_tune, allow_physics_change } => {
            let set = with_tuning(with_device(set, backend.as_ref(), device), !no_tune);
            return go_on(&run_dir, &Wish { set, from, allow_physics_change }, comm);
        }
        Command::Info { plan: None, .. } => return info(&**comm),
        Command::Bench { what } if what.is_collective() => return measure(&what, comm),
        _ => {}
    }
    // The rest needs one rank.
    if comm.rank() > 0 {
        return comm::agree(&**comm, Ok(ExitCode::SUCCESS));
    }
    let done = match command {
        Command::Init { case } => config::built_in(&case).and_then(say),
        Command::Cases => {
            let cases = NAMES.iter().filter_map(|name| Case::default_for(name));
            say(&cases
                .map(|case| format!("{:18} {}\n", case.name(), case.summary()))
                .collect::<String>())
        }
        Command::Bench { what } => measure(&what, &(Arc::new(Solo) as Arc<dyn Communicator>)),
        Command::Model(options) => predicted(&options),
        Command::Compare(options) => compare(&options)
            .and_then(|found| say(&if options.json { found.json() } else { found.to_string() })),
        Command::Converge(options) => converged(&options, comm.size()),
        Command::Plot { run_dir } => drawn(&run_dir),
        Command::Info { plan: Some(input), set } => {
            configuration(&input, &set).and_then(|config| say(&budget(&config)?))
        }
        Command::Run { .. } | Command::Restart { .. } | Command::Info { plan: None, .. } => {
            Ok(ExitCode::SUCCESS)
        }
    };
    comm::agree(&**comm, done)
}

/// What the user typed, to be repeated in a message.
struct Typed {
    input: String,
    set: Vec<String>,
    backend: Option<String>,
    device: Option<usize>,
    out: Option<PathBuf>,
}

impl Typed {
    /// The command with `out` for its directory, as a shell takes it.
    fn command(&self, out: Option<&Path>) -> String {
        let mut words = vec![program(), "run".into(), self.input.clone()];
        let mut option = |name: &str, value: String| words.extend([name.into(), value]);
        self.set.iter().for_each(|set| option("--set", set.clone()));
        self.backend.iter().for_each(|backend| option("--backend", backend.clone()));
        self.device.iter().for_each(|device| option("--device", device.to_string()));
        out.into_iter().for_each(|out| option("--out", out.to_string_lossy().into()));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The same command, to take the place of its run.
    fn again(&self) -> String {
        format!("{} --overwrite", self.command(self.out.as_deref()))
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

fn start(
    typed: &Typed,
    overwrite: bool,
    allow_physics_change: bool,
    comm: &Arc<dyn Communicator>,
) -> Result<ExitCode> {
    // The lock is held until the run has ended.
    let (mut config, _lock) =
        restart::on_base_of_first(&**comm, |base| prepared(typed, overwrite, comm.rank(), base))?;
    comm::same_on_all(&**comm, &config.shared_keys())?;
    let origin = restart::origin(&**comm, &config, allow_physics_change)?;
    if let Origin::Other(checkpoint) = &origin {
        // Not the newest of a run that may go on: what is resolved means the same tomorrow.
        config.origin = Some(checkpoint.path().to_path_buf());
    }
    execute_run(&config, origin, comm)
}

/// Go on with the run in `directory`.
fn go_on(directory: &Path, wish: &Wish, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    // The lock is held until the run has ended.
    let lock = (comm.rank() == 0).then(|| RunDirectory::enter(directory));
    let _lock = comm::agree(&**comm, lock.transpose())?;
    match restart::restart(&**comm, directory, wish)? {
        Restart::Run(what) => {
            let (config, origin) = *what;
            execute_run(&config, origin, comm)
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

fn execute_run(config: &Config, origin: Origin, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    let path = config.output.directory.clone();
    let ending = run(config, &path, origin, &log_to, &signals::requests(), comm.clone())?;
    let why = match ending {
        Ending::Finished => return Ok(ExitCode::SUCCESS),
        Ending::Stopped => "stopped early, as asked",
        Ending::OutOfTime => "stopped early, since its wall time is nearly over",
    };
    if comm.rank() == 0 {
        tell(&format!("{why}; to go on: {}", onwards(&path)));
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

/// What `--backend` and `--device` stand for.
fn with_device(set: Vec<String>, backend: Option<&String>, device: Option<usize>) -> Vec<String> {
    let backend = backend.map(|name| format!("compute.backend={name}"));
    let device = device.map(|index| format!("compute.device={index}"));
    set.into_iter().chain(backend).chain(device).collect()
}

/// What `--no-tune` stands for.
fn with_tuning(set: Vec<String>, tune: bool) -> Vec<String> {
    let without = (!tune).then(|| "compute.tune=false".to_string());
    set.into_iter().chain(without).collect()
}

/// The configuration, of a run that may go where it is to go: rank 0 looks there, and locks the directory.
fn prepared(
    typed: &Typed,
    overwrite: bool,
    rank: usize,
    base: Base<'_>,
) -> Result<(Config, Option<DirectoryLock>)> {
    let set = with_device(typed.set.clone(), typed.backend.as_ref(), typed.device);
    let mut config = configuration_on(&typed.input, &set, base)?;
    if let Some(out) = &typed.out {
        config.output.directory = out.clone();
    }
    let directory = &config.output.directory;
    let lock = (rank == 0).then(|| check_directory(directory, overwrite, typed)).transpose()?;
    Ok((config, lock))
}

/// Refuse a path that is no directory, that holds a run which may not be replaced, or files of others that a run would replace;
/// else lock it.
fn check_directory(path: &Path, overwrite: bool, typed: &Typed) -> Result<DirectoryLock> {
    checkpoint::check_name(path)?;
    if path.exists() && !path.is_dir() {
        let path = path.display();
        return Err(Error::Config(vec![format!(
            "error: {path} is a file; a run needs a directory"
        )]));
    }
    RunDirectory::refuse_inside_checkpoint(path)?;
    RunDirectory::refuse_links(path)?;
    let lock = DirectoryLock::take(path)?;
    if RunDirectory::holds_run(path) && !overwrite {
        return Err(Error::RunExists {
            directory: path.to_path_buf(),
            onwards: onwards(path),
            elsewhere: typed.command(Some(&RunDirectory::beside(path))),
            again: typed.again(),
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

/// Draw the report of a run again.
fn drawn(run_dir: &Path) -> Result<ExitCode> {
    let _lock = RunDirectory::enter(run_dir)?;
    let mut directory = RunDirectory::open(run_dir, None)?;
    write_report(run_dir, &mut |names| directory.claim(names))?;
    say(&format!("{}\n", run_dir.join("report.html").display()))
}

/// The input file, or the built-in input where `input` names a case and no file.
fn configuration(input: &str, set: &[String]) -> Result<Config> {
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

/// Print what `bench` finds. A wrong answer or a part that failed is a failure, told after all that was found.
fn measure(bench: &Bench, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
    let report = kolmo::bench::run(bench, comm)?;
    let mut code = ExitCode::SUCCESS;
    if comm.rank() == 0 {
        say(&if bench.json() { report.json() } else { report.to_string() })?;
        if !report.sound() {
            tell(&format!("error: {}", report.failures()));
            code = ExitCode::from(1);
        }
    }
    // A launcher ends the others as soon as one has failed.
    comm.barrier();
    Ok(code)
}

/// Print what the model says.
fn predicted(options: &ModelOptions) -> Result<ExitCode> {
    let config = configuration(&options.input, &options.set)?;
    let study = kolmo::model::run(options, &config)?;
    if let Some(path) = &options.plot {
        study.draw(path)?;
    }
    say(&if options.json { study.json() } else { study.to_string() })
}

/// Print how errors fall. The grids are small ones, so one rank runs them.
fn converged(options: &ConvergeOptions, ranks: usize) -> Result<ExitCode> {
    if ranks > 1 {
        tell(&format!("note: converge runs on one rank; the other {} wait", ranks - 1));
    }
    let study = converge(options, &|set| configuration(&options.input, set))?;
    say(&if options.json { study.json() } else { study.to_string() })
}

fn log_to(path: &Path) -> Result<()> {
    let file = append_to(path)?;
    let subscriber = tracing_subscriber::fmt().json().with_writer(file).finish();
    // Fails only where a subscriber is set already, and there is none before this one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

fn info(comm: &dyn Communicator) -> Result<ExitCode> {
    let ranks = ranks(comm);
    if comm.rank() > 0 {
        return comm::agree(comm, Ok(ExitCode::SUCCESS));
    }
    comm::agree(comm, machine().and_then(|machine| say(&(machine + &ranks))))
}

/// What this host has.
fn machine() -> Result<String> {
    let cpu = kolmo::backend::cpu::Cpu::<f64>::new(None)?;
    let machine = kolmo::io::summary::Machine::here(cpu.threads(), cpu.simd(), None);
    Ok(format!(
        "kolmo    {}\n\
         cpu      {}\n\
         cores    {}\n\
         threads  {}\n\
         simd     {}\n\
         {}{}{}",
        env!("CARGO_PKG_VERSION"),
        machine.cpu,
        machine.cores,
        machine.threads,
        machine.simd,
        listed("cuda", &devices(Api::Cuda)),
        compiler(),
        listed("opencl", &devices(Api::OpenCl)),
    ))
}

/// The library that ranks talk by, and the ranks. Collective.
fn ranks(comm: &dyn Communicator) -> String {
    let Some(library) = comm::library() else {
        return "mpi      not built in: `cargo install --path . --features mpi`; one rank\n".into();
    };
    let hosts = comm.gather(comm::host().as_bytes()).unwrap_or_default();
    let hosts = hosts.iter().collect::<BTreeSet<_>>().len();
    let aware = match comm.says_device_aware() {
        _ if comm.size() == 1 => "",
        Some(true) => "         says that it takes addresses in the memory of CUDA devices\n",
        Some(false) => "         says that it takes no addresses in the memory of devices\n",
        None => "         does not say whether it takes addresses in the memory of devices\n",
    };
    let tested = match (comm.size() > 1).then(|| Route::between_devices(comm)) {
        None => String::new(),
        Some(Ok(Some(route))) => format!("         messages of CUDA devices go {}\n", route.name()),
        Some(Ok(None)) => "         no CUDA device on some rank: nothing to test with one\n".into(),
        Some(Err(why)) => format!("         {}\n", why.to_string().replace('\n', "\n         ")),
    };
    let many =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "mpi      {library}\n         {} on {}\n{aware}{tested}",
        many(comm.size(), "rank"),
        many(hosts, "host")
    )
}

/// The devices of an interface, a line or more for each, or why there are none.
fn listed(label: &str, devices: &Result<Vec<DeviceInfo>>) -> String {
    match devices {
        Ok(devices) if devices.is_empty() => format!("{label:8} no device\n"),
        Ok(devices) => devices.iter().map(|device| described(label, device)).collect(),
        Err(why) => format!("{label:8} {}\n", why.to_string().replace('\n', "\n  ")),
    }
}

#[allow(clippy::cast_precision_loss, reason = "to be read")]
fn described(label: &str, device: &DeviceInfo) -> String {
    let kind = if device.is_gpu { "" } else { " (a CPU; `auto` does not take it)" };
    let bits = if device.has_f64 { "f64 and f32" } else { "f32 only" };
    format!(
        "{label:8} {}: {}{kind}\n         {}; {:.1} GiB of memory, {} KiB on chip a block, {bits}\n",
        device.index,
        device.name,
        device.driver,
        device.memory as f64 / f64::from(1 << 30),
        device.on_chip >> 10,
    )
}

/// CUDA's compiler, which is a library of its own; without a driver, any that is there.
fn compiler() -> String {
    let found = match devices(Api::Cuda) {
        Ok(_) => cuda::compiler(0).map_err(|why| why.to_string().replace('\n', "\n  ")),
        Err(_) => cuda::Nvrtc::first().ok_or("not found".to_string()),
    };
    let said = found.map_or_else(identity, |nvrtc| {
        let (major, minor) = nvrtc.version();
        format!("{major}.{minor}, {}", nvrtc.path().display())
    });
    format!("nvrtc    {said}\n")
}

/// Print to standard output. A reader that has gone away, such as `head`, has what it wanted.
fn say(text: &str) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    match out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output")(error))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
