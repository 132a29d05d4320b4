//! The command line: arguments to configuration to run. The only place that prints an error and sets an exit code.

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
use kolmo::cases::{Case, NAMES, input};
use kolmo::comm::{self, Communicator, Solo};
use kolmo::compare::{CompareOptions, compare};
use kolmo::config::{self, Config};
use kolmo::converge::{ConvergeOptions, converge};
use kolmo::io::progress::tell;
use kolmo::io::{RunDirectory, append_to, write_report};
use kolmo::model::ModelOptions;
use kolmo::time::restart::{self, Restart, Wish};
use kolmo::time::{Ending, Origin, Requests, budget, run};
use kolmo::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

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
        /// Say what a run of this input would take: memory, the largest grid that fits, a step's time. Nothing of it is run but a
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
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(usage) if comm::is_first() => usage.exit(),
        Err(usage) => return silent(u8::try_from(usage.exit_code()).unwrap_or(2)),
    };
    let comm = match comm::world() {
        Ok(comm) => comm,
        Err(error) => return refuse(&error),
    };
    // Dropped after all else: the end of MPI, where ranks wait for each other.
    execute(command, &comm).unwrap_or_else(|error| end(&error, &*comm))
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

fn execute(command: Command, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
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
        Command::Init { case } => built_in(&case).and_then(say),
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
        Command::Plot { run_dir } => write_report(&run_dir)
            .and_then(|()| say(&format!("{}\n", run_dir.join("report.html").display()))),
        Command::Info { plan: Some(input), set } => {
            configuration(&input, &set).and_then(|config| say(&budget(&config)?))
        }
        Command::Run { .. } | Command::Restart { .. } | Command::Info { plan: None, .. } => {
            Ok(ExitCode::SUCCESS)
        }
    };
    comm::agree(&**comm, done)
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
    let mut config = comm::agree(&**comm, prepared(typed, overwrite, comm.rank()))?;
    let origin = restart::origin(&**comm, &config, allow_physics_change)?;
    if let Origin::Other(checkpoint) = &origin {
        // Not the newest of a run that may go on: what is resolved means the same tomorrow.
        config.origin = Some(checkpoint.path().to_path_buf());
    }
    execute_run(&config, origin, comm)
}

/// Go on with the run in `directory`.
fn go_on(directory: &Path, wish: &Wish, comm: &Arc<dyn Communicator>) -> Result<ExitCode> {
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
    let requests = Requests { watch: Some(watch_signals), ..Requests::default() };
    let ending = run(config, &path, origin, &log_to, &requests, comm.clone())?;
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

/// The configuration, of a run that may go where it is to go: rank 0 looks there.
fn prepared(typed: &Typed, overwrite: bool, rank: usize) -> Result<Config> {
    let set = with_device(typed.set.clone(), typed.backend.as_ref(), typed.device);
    let mut config = configuration(&typed.input, &set)?;
    if let Some(out) = &typed.out {
        config.output.directory = out.clone();
    }
    if rank == 0 {
        check_directory(&config.output.directory, overwrite, typed)?;
    }
    Ok(config)
}

/// SIGINT and SIGTERM ask for the end, where the second ends the program at once; SIGUSR1 asks for a checkpoint.
fn watch_signals(requests: &Requests) -> Result<()> {
    let stop = &requests.stop;
    let asked = [
        (SIGINT, stop),
        (SIGTERM, stop),
        #[cfg(unix)]
        (signal_hook::consts::SIGUSR1, &requests.checkpoint),
    ];
    for (signal, flag) in asked {
        // What is added is called beside the handlers that libraries have left, some of which end the process.
        #[cfg(unix)]
        // SAFETY: no handler is called any more that was there before, and none of ours was.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
        let watch = match Arc::ptr_eq(flag, stop) {
            true => register_conditional_shutdown(signal, 130, stop.clone()).map(|_| ()),
            false => Ok(()),
        };
        watch.and_then(|()| register(signal, flag.clone())).map_err(Error::io("signal handler"))?;
    }
    Ok(())
}

/// Refuse a path that is no directory, or that holds a run which may not be replaced.
fn check_directory(path: &Path, overwrite: bool, typed: &Typed) -> Result<()> {
    if path.exists() && !path.is_dir() {
        let path = path.display();
        return Err(Error::Config(vec![format!(
            "error: {path} is a file; a run needs a directory"
        )]));
    }
    if let Some(name) = RunDirectory::in_the_way(path) {
        let path = path.display();
        return Err(Error::Config(vec![
            format!(
                "error: {path} is no run's directory, but holds a {name}, which a run would replace"
            ),
            "       choose another directory with `--out`".to_string(),
        ]));
    }
    if RunDirectory::holds_run(path) && !overwrite {
        return Err(Error::RunExists {
            directory: path.to_path_buf(),
            onwards: onwards(path),
            elsewhere: typed.command(Some(&RunDirectory::beside(path))),
            again: typed.again(),
        });
    }
    Ok(())
}

/// The input file, or the built-in input where `input` names a case and no file.
fn configuration(input: &str, set: &[String]) -> Result<Config> {
    if !Path::new(input).exists()
        && let Ok(text) = built_in(input)
    {
        return config::parse(text, &format!("{input} (built in)"), set);
    }
    config::load_on(Path::new(input), set, &restart::base)
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
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output")(error))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
