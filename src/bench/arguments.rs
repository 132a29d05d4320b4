//! Command-line arguments of `kolmo bench`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use serde::de::{DeserializeOwned, IntoDeserializer, value};

use crate::backend::Backend;
use crate::backend::device::LineSolver;
use crate::config::ComputeConfig;
use crate::engine::closed_min_points;
use crate::engine::distributed::Method;
use crate::error::{Result, refused};
use crate::grid::Axis;
use crate::options::{Several, by_name, points, several};
use crate::scheme::{SchemeFamily, default_closure, families};

use super::output::{Row, shape};

/// The parts that can be measured.
#[derive(Debug, Subcommand)]
#[command(args_override_self = true)]
pub enum Bench {
    /// A copy: one read, one write.
    #[command(after_help = "Example:\n  kolmo bench copy --points 256 --threads 2")]
    Copy(Common),
    /// One compact derivative along each axis.
    #[command(
        after_help = "Example:\n  kolmo bench derivative --points 128,256 --scheme compact6 --json"
    )]
    Derivative(DerivativeOptions),
    /// The solvers of line systems, along x.
    #[command(
        after_help = "Examples:\n  kolmo bench lines --points 256 --backend opencl\n  kolmo bench lines --table4.1 --ends closed"
    )]
    Lines(LinesOptions),
    /// Permutations of the axes of a field.
    #[command(after_help = "Example:\n  kolmo bench permute --points 256 --order zyx")]
    Permute(PermuteOptions),
    /// Whole steps of the Taylor-Green vortex.
    #[command(
        after_help = "Example:\n  kolmo bench step --points 64 --set scheme.convection=feiereisen"
    )]
    Step(StepOptions),
    /// Each sweep of a stage of the Taylor-Green vortex separately, and the blocks of its kernel on a device.
    #[command(
        after_help = "Examples:\n  kolmo bench sweeps --points 64 --backend cpu\n  kolmo bench sweeps --points 256 --set compute.sweeps.lines=4 --json"
    )]
    Sweeps(SweepsOptions),
    /// Multicolour point-implicit sweeps over dense blocks on tetrahedral meshes, as measured by Zubair et al. (2017).
    #[command(
        after_help = "Examples:\n  kolmo bench blocks\n  kolmo bench blocks --points 40 --nb 1-8,16 --off-diagonal f64"
    )]
    Blocks(BlocksOptions),
    /// Messages between ranks, and one derivative along lines that are split across all ranks, by every method.
    #[command(
        after_help = "Example:\n  mpirun -n 4 kolmo bench comm --points 64 --json > rates.json"
    )]
    Comm(CommOptions),
}

/// Options that all benchmarks share.
#[derive(Args, Debug)]
pub struct Common {
    /// Points: N for N x N x N, or NXxNYxNZ; several separated by commas. Default 256; 64 for `step`, `sweeps` and `comm`; for
    /// `blocks`, boxes of the sizes of table II. For `comm` and `step --weak`, the points of one rank.
    #[arg(long, value_name = "POINTS", value_delimiter = ',', value_parser = points, action = ArgAction::Set)]
    pub(super) points: Vec<[usize; 3]>,
    /// Format of the fields.
    #[arg(long, default_value = "f64", value_parser = ["f64", "f32"])]
    pub(super) precision: String,
    /// Threads of the host; by default one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) threads: Option<u16>,
    /// Vector instructions of the host; by default the widest.
    #[arg(long, value_parser = ["avx512", "avx2", "neon", "baseline"])]
    pub(super) simd: Option<String>,
    /// Number of timed repeats of each part.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) repeats: u32,
    /// Where to compute. `auto` selects a GPU if there is one.
    #[arg(long, default_value = "auto", value_parser = ["auto", "cpu", "cuda", "opencl"])]
    pub(super) backend: String,
    /// Number of the device in its interface; by default the first, or one device per rank of a host.
    #[arg(long, value_name = "N")]
    pub(super) device: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `derivative`.
#[derive(Args, Debug)]
pub struct DerivativeOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// x, y, z or all.
    #[arg(long, default_value = "all", value_parser = ["x", "y", "z", "all"])]
    pub(super) axis: String,
    #[command(flatten)]
    pub(super) operator: OperatorOptions,
    /// Line solver: auto, all, or a name such as thomas or chunked.
    #[arg(long, default_value = "auto", value_parser = solvers)]
    pub(super) method: Solvers,
}

/// Options of `lines`.
#[derive(Args, Debug)]
pub struct LinesOptions {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(flatten)]
    pub(super) operator: OperatorOptions,
    /// Line solver: auto, all, or a name such as thomas or chunked.
    #[arg(long, default_value = "all", value_parser = solvers)]
    pub(super) method: Solvers,
    /// The sizes of Srinath (2015), table 4.1: n systems of n points for n = 32 to 2048, n² for n = 32 to 512.
    #[arg(long = "table4.1", conflicts_with = "points")]
    pub(super) table: bool,
}

/// Definition of an operator along lines.
#[derive(Args, Debug)]
pub(super) struct OperatorOptions {
    /// Family of formulas, as `scheme.derivative` of an input.
    #[arg(long, default_value = "compact6", value_parser = scheme)]
    pub(super) scheme: &'static SchemeFamily,
    /// periodic, or closed: bounded lines with the default boundary closures; both measures them in turn, with the ratio.
    #[arg(long, default_value = "periodic", value_parser = ["periodic", "closed", "both"])]
    pub(super) ends: String,
    /// How a device solves lines along y and z: in place, or permuted to x and back.
    #[arg(long, default_value = "strided", value_parser = ["strided", "permuted"])]
    pub(super) pencils: String,
}

/// Options of `permute`.
#[derive(Args, Debug)]
pub struct PermuteOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// The axes of the source that become x, y, z of the result, such as zyx; or all.
    #[arg(long, default_value = "all", value_parser = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "all"])]
    pub(super) order: String,
}

/// Options of `step`.
#[derive(Args, Debug)]
pub struct StepOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// Change a key of the input, as with `kolmo run`: `--set scheme.convection=feiereisen`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub(super) set: Vec<String>,
    /// Measure in turn with steps in which this key is also changed, and print the ratio: `--beside scheme.viscous=conservative`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append, conflicts_with_all = ["weak", "strong"])]
    pub(super) beside: Vec<String>,
    /// Line solver: auto or a name such as thomas or chunked.
    #[arg(long, default_value = "auto", value_parser = single_solver)]
    pub(super) method: Solvers,
    /// How a device solves lines along y and z: in place, or permuted to x and back.
    #[arg(long, default_value = "strided", value_parser = ["strided", "permuted"])]
    pub(super) pencils: String,
    /// Weak scaling: on 1, 2, 4, ... and all ranks, each with this many points.
    #[arg(long, group = "scaling")]
    pub(super) weak: bool,
    /// Strong scaling: on 1, 2, 4, ... and all ranks, with this many points in total.
    #[arg(long, group = "scaling")]
    pub(super) strong: bool,
    /// With `--weak` or `--strong`: only these numbers of ranks, such as 8,64; `all` is the size of the job, for one job per
    /// size.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = group, action = ArgAction::Set, requires = "scaling")]
    pub(super) ranks: Vec<Group>,
    /// With `--weak` or `--strong`: predict with these rates, from `kolmo bench comm --json`, instead of rates measured in this
    /// run.
    #[arg(long, value_name = "FILE", requires = "scaling")]
    pub(super) rates: Option<PathBuf>,
}

/// Options of `sweeps`.
#[derive(Args, Debug)]
pub struct SweepsOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// Change a key of the input, as with `kolmo run`: `--set scheme.convection=feiereisen`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub(super) set: Vec<String>,
}

/// Options of `blocks`.
#[derive(Args, Debug)]
pub struct BlocksOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// Rows of a block: numbers and ranges.
    #[arg(long, value_name = "NB", default_value = "1-100", value_delimiter = ',', value_parser = parse_block_rows, action = ArgAction::Set)]
    pub(super) nb: Vec<Several<usize>>,
    /// Format of the off-diagonal blocks.
    #[arg(long, default_value = "f32", value_parser = ["f32", "f64"])]
    pub(super) off_diagonal: String,
    /// On a device: one kernel per colour (fused), or one for products and one for solutions (split).
    #[arg(long, default_value = "fused", value_parser = ["fused", "split"])]
    pub(super) kernels: String,
}

/// Options of `comm`.
#[derive(Args, Debug)]
pub struct CommOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// Axis of the lines that are split across the ranks: x, y, z, or all in turn.
    #[arg(long, default_value = "all", value_parser = ["x", "y", "z", "all"])]
    pub(super) axis: String,
    /// Family of formulas, as `scheme.derivative` of an input.
    #[arg(long, default_value = "compact6", value_parser = scheme)]
    pub(super) scheme: &'static SchemeFamily,
    /// Method for lines that are split across ranks: all, or a name such as neighbour or pcr.
    #[arg(long, default_value = "all", value_parser = distributed)]
    pub(super) method: Several<Method>,
    /// Number of fields that are differentiated together.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(super) operands: u8,
}

impl Bench {
    pub(super) fn common(&self) -> &Common {
        match self {
            Bench::Copy(common) => common,
            Bench::Derivative(options) => &options.common,
            Bench::Lines(options) => &options.common,
            Bench::Permute(options) => &options.common,
            Bench::Step(options) => &options.common,
            Bench::Sweeps(options) => &options.common,
            Bench::Comm(options) => &options.common,
            Bench::Blocks(options) => &options.common,
        }
    }

    /// Whether all ranks take part; otherwise only rank 0 does.
    pub fn is_collective(&self) -> bool {
        match self {
            Bench::Comm(_) => true,
            Bench::Step(options) => options.weak || options.strong,
            _ => false,
        }
    }

    /// Whether the report is printed as JSON.
    pub fn json(&self) -> bool {
        self.common().json
    }

    /// Where to measure; each benchmark chooses its own line solver.
    pub(super) fn compute(&self) -> ComputeConfig {
        let common = self.common();
        let pencils = match self {
            Bench::Derivative(options) => &options.operator.pencils,
            Bench::Lines(options) => &options.operator.pencils,
            Bench::Step(options) => &options.pencils,
            _ => "strided",
        };
        ComputeConfig {
            backend: parse_word(&common.backend),
            device: common.device,
            threads: common.threads.map(usize::from),
            simd: common.simd.as_deref().map(parse_word),
            precision: parse_word(&common.precision),
            pencils: parse_word(pencils),
            tune: false,
            ..ComputeConfig::default()
        }
    }
}

/// The value that a word represents in an input.
fn parse_word<T: DeserializeOwned>(word: &str) -> T {
    T::deserialize(word.into_deserializer())
        .unwrap_or_else(|why: value::Error| unreachable!("{why}"))
}

impl Common {
    /// The requested sizes, or N x N x N with N = `default`.
    pub(super) fn sizes(&self, default: usize) -> Vec<[usize; 3]> {
        if self.points.is_empty() { vec![[default; 3]] } else { self.points.clone() }
    }

    /// A result on `place` without measurements yet.
    pub(super) fn row(&self, place: &dyn Backend, points: [usize; 3]) -> Row {
        Row {
            points,
            backend: place.name(),
            threads: place.threads(),
            precision: place.precision().name(),
            repeats: self.repeats,
            ..Row::default()
        }
    }
}

impl OperatorOptions {
    /// The kinds of ends of lines, in turn.
    pub(super) fn ends(&self) -> &'static [&'static str] {
        match self.ends.as_str() {
            "periodic" => &["periodic"],
            "closed" => &["closed"],
            _ => &["periodic", "closed"],
        }
    }

    /// Refuse an axis with fewer points than the formula needs.
    pub(super) fn check(&self, points: [usize; 3], axis: Axis, ends: &str) -> Result<()> {
        let scheme = &self.scheme.first;
        let required = match default_closure(scheme) {
            _ if ends == "periodic" => scheme.min_points(),
            Some(closure) => closed_min_points(scheme, &closure),
            None => {
                let problem = format!("{} has no closure for the ends of a line", scheme.name);
                return Err(refused(&problem, "use `--ends periodic`, or another scheme"));
            }
        };
        let actual = points[axis.index()];
        if actual >= required {
            return Ok(());
        }
        let problem = format!("{} points have {actual} along {}", shape(points), axis.name());
        let advice = format!("{} needs {required} on {} lines", scheme.name, ends);
        Err(refused(&problem, &advice))
    }
}

fn scheme(name: &str) -> Result<&'static SchemeFamily, String> {
    by_name("schemes", families().iter().map(|family| (family.name, family)), name)
}

/// Line solvers; `None` is the choice of the backend.
type Solvers = Several<Option<LineSolver>>;

fn solvers(name: &str) -> Result<Solvers, String> {
    let all = LineSolver::ALL.map(Some).to_vec();
    let each = LineSolver::ALL.map(|solver| (solver.name(), Some(solver)));
    several("methods", [("auto", vec![None]), ("all", all)], each, name)
}

fn single_solver(name: &str) -> Result<Solvers, String> {
    match name {
        "all" => Err("a step takes one method".to_string()),
        _ => solvers(name),
    }
}

/// Maximum number of rows of a block.
const MAX_ROWS: usize = 512;

/// N, or FIRST-LAST.
fn parse_block_rows(text: &str) -> Result<Several<usize>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 1 <= first && first <= last && last <= MAX_ROWS => {
            Ok(Several((first..=last).collect()))
        }
        _ => Err(format!("rows of a block are N or FIRST-LAST, from 1 to {MAX_ROWS}")),
    }
}

/// The first ranks of a job, which take steps together: their number, `None` for all of them.
pub(super) type Group = Option<usize>;

fn group(text: &str) -> Result<Group, String> {
    match (text.trim(), text.trim().parse()) {
        ("all", _) => Ok(None),
        (_, Ok(ranks)) if ranks > 0 => Ok(Some(ranks)),
        _ => Err("numbers of ranks are 1 or more, such as 8,64; or all".into()),
    }
}

fn distributed(name: &str) -> Result<Several<Method>, String> {
    let each = Method::ALL.map(|method| (method.name(), method));
    several("methods", [("all", Method::ALL.to_vec())], each, name)
}
