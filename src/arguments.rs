//! Command-line arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use kolmo::bench::Bench;
use kolmo::comm::Fact;
use kolmo::compare::{CompareOptions, PlotOptions};
use kolmo::converge::ConvergeOptions;
use kolmo::model::ModelOptions;
use kolmo::quality::GridOptions;
use kolmo::reproduce::ReproduceOptions;
use kolmo::scaling::PlotScalingOptions;
use kolmo::verify::VerifyOptions;

/// Direct numerical simulation of the compressible Navier-Stokes equations with compact finite differences.
#[derive(Parser)]
#[command(version, after_help = "Start with:  kolmo run taylor-green")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a simulation.
    #[command(
        after_help = "Examples:\n  kolmo run taylor-green\n  kolmo run configs/tgv-re1600-ma0.1-128.toml --set grid.points=[64,64,64] --out runs/re1600-64\n  kolmo run taylor-green --backend cuda --device 1\n  kolmo run taylor-green --backend opencl --set compute.precision=f32\n  kolmo run taylor-green --live"
    )]
    Run(RunArguments),
    /// Continue a run from its newest valid checkpoint, on any number of ranks.
    #[command(
        after_help = "Examples:\n  kolmo restart runs/taylor-green\n  kolmo restart runs/taylor-green --set time.end=20\n  mpirun -n 4 kolmo restart runs/taylor-green --from 100"
    )]
    Restart(RestartArguments),
    /// Print a commented input for a case.
    #[command(after_help = "Example:\n  kolmo init taylor-green > my.toml")]
    Init {
        /// The case: see `kolmo cases`.
        case: String,
    },
    /// List the cases.
    #[command(after_help = "Example:\n  kolmo cases")]
    Cases,
    /// Show the hardware and libraries of this machine, and which of them Kolmo can use.
    #[command(
        after_help = "Examples:\n  kolmo info\n  kolmo info --plan taylor-green --set grid.points=[256,256,256]"
    )]
    Info {
        /// Show the memory, wall time and disk space that a run of this input needs, and the largest grid that fits in memory.
        /// Only a few steps on few points are run.
        #[arg(long, value_name = "CONFIG")]
        plan: Option<String>,
        /// With `--plan`: set a key of the input, as for `run`.
        #[arg(long, value_name = "KEY=VALUE", requires = "plan")]
        set: Vec<String>,
    },
    /// Report the quality of the grid of an input, and draw its lines.
    #[command(
        after_help = "Examples:\n  kolmo grid cylinder -o grid.svg\n  kolmo grid my.toml --set 'grid.mapping={ file = \"grid.npz\" }'"
    )]
    Grid(GridOptions),
    /// Measure the speed of parts of the solver, compared with a copy of the same memory.
    #[command(
        after_help = "Examples:\n  kolmo bench derivative --points 128\n  kolmo bench lines --points 256 --backend opencl --json"
    )]
    Bench {
        /// What to measure.
        #[command(subcommand)]
        what: Bench,
    },
    /// Predict the time of a step on many ranks: all methods, up to 131072 ranks, on several networks.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo model --method neighbour --network torus\n  kolmo model --points 1024 --ranks 8,64,512,4096 --network fat-tree --plot strong.svg"
    )]
    Model(ModelOptions),
    /// Compare several runs in one table and one page of figures.
    #[command(
        after_help = "Examples:\n  kolmo compare runs/coarse runs/fine\n  kolmo compare runs/* --time 9 --out tgv.html"
    )]
    Compare(CompareOptions),
    /// Run a case on a sequence of grids, and report its order of convergence.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo converge acoustic-wave --points 16,32,64\n  kolmo converge isentropic-vortex --points 48,64,96 --set 'time={ end = 0.25, cfl = 0.15 }' --out runs/order"
    )]
    Converge(ConvergeOptions),
    /// Check that the program computes correct results on this machine.
    #[command(
        after_help = "Examples:\n  kolmo verify --quick\n  kolmo verify --backend opencl --json\n  kolmo verify operators manufactured --html verify.html\n  mpirun -n 2 kolmo verify --quick\n\nExit status 1 where a check fails."
    )]
    Verify(VerifyOptions),
    /// Reproduce figures and tables of the papers on the line solvers with this code: numbers, a figure, and the differences.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo reproduce list\n  kolmo reproduce srinath-fig1.1\n  kolmo reproduce --quick all"
    )]
    Reproduce(ReproduceOptions),
    /// Redraw the report and the plots of a run, or overlay the curves of several runs.
    #[command(
        after_help = "Examples:\n  kolmo plot runs/taylor-green\n  kolmo plot runs/coarse runs/fine\n  kolmo plot runs/* --columns dissipation,enstrophy --out tgv.html"
    )]
    Plot(PlotOptions),
    /// Draw the scaling of the time per step with the number of ranks, measured by jobs or predicted by `kolmo model`.
    #[command(
        args_override_self = true,
        after_help = "Examples:\n  kolmo plot-scaling weak-*.json\n  kolmo plot-scaling weak-8.json weak-64.json model.json --base 8 --out h100"
    )]
    PlotScaling(PlotScalingOptions),
    /// Print a shell completion script.
    #[command(
        after_help = "Examples:\n  kolmo completions bash > ~/.local/share/bash-completion/completions/kolmo\n  kolmo completions zsh > ~/.zfunc/_kolmo\n  kolmo completions fish > ~/.config/fish/completions/kolmo.fish"
    )]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a manual page.
    #[command(
        after_help = "Examples:\n  kolmo man | man -l -\n  kolmo man run > ~/.local/share/man/man1/kolmo-run.1"
    )]
    Man {
        /// The command, such as `run` or `bench derivative`; without one, the page of the program is printed.
        command: Vec<String>,
    },
}

/// Arguments of `kolmo run`.
#[derive(Args)]
pub(crate) struct RunArguments {
    /// An input file, or the name of a case for its built-in input.
    pub(crate) input: String,
    /// Change a key of the input: `--set time.end=20`.
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// The run directory, instead of `output.directory`.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Replace a run that the directory already holds.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Allow starting from a checkpoint with different physics.
    #[arg(long)]
    pub(crate) allow_physics_change: bool,
    #[command(flatten)]
    pub(crate) report: LiveReport,
}

/// Arguments of `kolmo restart`.
#[derive(Args)]
pub(crate) struct RestartArguments {
    /// The directory of the run.
    pub(crate) run_dir: PathBuf,
    /// Change a key of its input: `--set time.end=20`.
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Step of the checkpoint to continue from; the default is the newest. Later checkpoints are set aside.
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<u64>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Allow continuing with a different case, gas or box.
    #[arg(long)]
    pub(crate) allow_physics_change: bool,
    #[command(flatten)]
    pub(crate) report: LiveReport,
}

/// Where a run is computed.
#[derive(Args)]
pub(crate) struct Machine {
    /// Where to compute: auto, cpu, cuda or opencl.
    #[arg(long)]
    pub(crate) backend: Option<String>,
    /// Number of the device of the backend, as listed by `kolmo info`.
    #[arg(long, value_name = "N")]
    pub(crate) device: Option<usize>,
    /// Disable auto-tuning: run no timing tests, and ignore stored tuning results.
    #[arg(long)]
    pub(crate) no_tune: bool,
}

impl Machine {
    /// The overrides in `set`, followed by those that these options stand for.
    pub(crate) fn with(&self, set: &[String]) -> Vec<String> {
        let backend = self.backend.iter().map(|name| format!("compute.backend={name}"));
        let device = self.device.iter().map(|index| format!("compute.device={index}"));
        let tune = self.no_tune.then(|| "compute.tune=false".to_string());
        set.iter().cloned().chain(backend).chain(device).chain(tune).collect()
    }
}

/// Where the report of a run is shown during the run.
#[derive(Args)]
pub(crate) struct LiveReport {
    /// Serve the report during the run to a browser on this machine, on this port of 127.0.0.1; without a number, on any free
    /// port.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = port)]
    pub(crate) live: Option<u16>,
}

impl Command {
    /// Arguments that must be the same on all ranks, compared before any work. The input is compared once it is resolved.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| (name.to_string(), value);
        let command = std::env::args().nth(1).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION").into();
        let mut facts = vec![fact("version", version), fact("command", command)];
        match self {
            Self::Run(RunArguments { overwrite, allow_physics_change, .. }) => {
                facts.push(fact("--overwrite", overwrite.to_string()));
                facts.push(fact("--allow-physics-change", allow_physics_change.to_string()));
            }
            Self::Restart(RestartArguments { run_dir, from, allow_physics_change, .. }) => {
                facts.push(fact("RUN_DIR", run_dir.to_string_lossy().into()));
                facts.push(fact(
                    "--from",
                    from.map_or("the newest".into(), |step| step.to_string()),
                ));
                facts.push(fact("--allow-physics-change", allow_physics_change.to_string()));
            }
            Self::Bench { what } => facts.push(fact("options", format!("{what:?}"))),
            Self::Verify(options) => facts.push(fact("options", format!("{options:?}"))),
            _ => {}
        }
        facts
    }
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "a port is a whole number from 0 (any free port) to 65535".into())
}
