//! From what the user typed to what the program uses: checked, with every default filled in.
//!
//! [`load`] and [`parse`] read an input with its `--set` overrides; all that is wrong with it is told at once, each
//! problem with its line, what was found and what is allowed. [`Config::to_toml`] writes it back, resolved.

mod case;
mod document;
mod keys;
mod mistakes;
mod origin;
mod output;
mod problems;
mod read;
mod section;
mod value;
mod write;

pub use read::{Base, built_in, load, load_on, parse, parse_on};

use std::path::PathBuf;

use crate::backend::device::LineSolver;
use crate::cases::{Case, Domain};
use crate::engine::distributed::Method;
use crate::physics::Gas;
pub use crate::real::Precision;
use crate::scheme::{SchemeFamily, Tableau};

/// A run, fully resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The checkpoint that it starts from, or the run whose newest one that is; `None` is the initial state of the case.
    pub origin: Option<PathBuf>,
    /// The flow and its parameters.
    pub case: Case,
    /// Gas with the case's Mach and Reynolds numbers.
    pub gas: Gas,
    /// Points and box.
    pub grid: GridConfig,
    /// Discretisation in space.
    pub scheme: SchemeConfig,
    /// Discretisation in time, and when to stop.
    pub time: TimeConfig,
    /// Where and how it is computed.
    pub compute: ComputeConfig,
    /// What is written.
    pub output: OutputConfig,
}

/// `[grid]`
#[derive(Clone, Debug, PartialEq)]
pub struct GridConfig {
    /// Points along x, y, z; 1 where the problem does not vary.
    pub points: [usize; 3],
    /// The box: the case's own, or the user's `length`.
    pub domain: Domain,
}

/// `[scheme]`
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeConfig {
    /// The family of formulas named by `derivative`.
    pub derivative: SchemeFamily,
    /// Form of the convective terms.
    pub convection: Convection,
    /// Form of the convective terms of the energy equation.
    pub energy: EnergyForm,
    /// Form of the viscous terms; `auto` is resolved.
    pub viscous: ViscousForm,
    /// Compact filter, if any.
    pub filter: Option<FilterConfig>,
}

/// Form of the convective terms (see `physics::convection`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convection {
    /// ∂ⱼ(ρ uⱼ uᵢ).
    Divergence,
    /// Half divergence, half advective (Feiereisen, Reynolds and Ferziger 1981).
    Feiereisen,
    /// Cubic split with all weights ¼ (Kennedy and Gruber 2008, Pirozzoli 2010).
    KennedyGruber,
    /// Interpolation to midpoints and midpoint derivatives (Nagarajan, Lele and Ferziger 2003).
    Staggered,
}

/// Form of the convective terms of the energy equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyForm {
    /// ∂ⱼ((ρE + p) uⱼ).
    Divergence,
    /// ½ [∂ⱼ(ρ uⱼ H) + ρ uⱼ ∂ⱼH + H ∂ⱼ(ρ uⱼ)].
    SplitEnthalpy,
    /// Internal energy, pressure work and kinetic energy split apart.
    SplitPressure,
}

/// Form of the viscous terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViscousForm {
    /// Compact second derivatives for ∂ⱼⱼ.
    Laplacian,
    /// Fluxes at midpoints.
    Midpoint,
    /// ∂ⱼ τᵢⱼ with first derivatives.
    Conservative,
}

/// `filter = { order, alpha, every }`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterConfig {
    /// 2, 4, 6, 8 or 10.
    pub order: u32,
    /// α_f in (−½, ½); weaker as it grows.
    pub alpha: f64,
    /// Steps from one application to the next.
    pub every: u64,
}

/// `[time]`
#[derive(Clone, Debug, PartialEq)]
pub struct TimeConfig {
    /// Runge-Kutta tableau.
    pub integrator: &'static Tableau,
    /// Step size.
    pub step: StepSize,
    /// Stop at this time.
    pub end: Option<f64>,
    /// Stop after this many steps.
    pub max_steps: Option<u64>,
    /// Stop with a checkpoint before so much wall time is over.
    pub wall_limit: Option<WallLimit>,
}

/// Wall time that a run has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WallLimit {
    /// Seconds from its start.
    Seconds(f64),
    /// Until the batch system ends it.
    Auto,
}

/// How the step is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// Fraction of the linear stability limit of the scheme with the integrator.
    Cfl(f64),
    /// The same step always (but for outputs, which land on their times).
    Fixed(f64),
}

/// `[compute]`
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeConfig {
    /// Where fields live.
    pub backend: Backend,
    /// Number of the device among those of its interface; `None` gives each rank of a host the next.
    pub device: Option<usize>,
    /// Threads; `None` is one per core.
    pub threads: Option<usize>,
    /// Precision of the fields.
    pub precision: Precision,
    /// How a device solves line systems; `None` is the best for each operator.
    pub line_solver: Option<LineSolver>,
    /// How a device solves lines along y and z.
    pub pencils: Pencils,
    /// How the right-hand side is computed.
    pub right_hand_side: RightHandSide,
    /// Whether the backend measures how it cuts its work best, where that is not known of this machine.
    pub tune: bool,
    /// How lines that are spread over ranks are solved; `None` is the best for each operator.
    pub distributed: Option<Method>,
    /// Ranks along x, y and z; `None` is the best for their number.
    pub ranks: Option<[usize; 3]>,
    /// Whether messages go from device to device.
    pub device_aware: DeviceAware,
}

/// Where fields live and loops run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The best there is on this machine.
    Auto,
    /// Threads and SIMD on the host.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// A GPU of any maker, or a CPU through PoCL.
    OpenCl,
}

/// Whether MPI is given addresses in the memory of CUDA devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceAware {
    /// Where the library says that it takes them, and a first message arrives.
    Auto,
    /// Whatever the library says. One that does not take them crashes.
    Force,
    /// Never: messages go through the memory of the host.
    Off,
}

/// How lines along y and z, whose points lie far apart, are solved on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pencils {
    /// Where they lie.
    Strided,
    /// After the field is permuted so that a line's points are neighbours; then it is permuted back.
    Permuted,
}

/// How the right-hand side is computed; the results differ by round-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightHandSide {
    /// One sweep an axis forms everything from the state, and the last one advances it.
    Fused,
    /// Operation by operation from stored primitive variables and gradients: the reference to read.
    Composed,
}

/// `[output]`
#[derive(Clone, Debug, PartialEq)]
pub struct OutputConfig {
    /// The run directory.
    pub directory: PathBuf,
    /// When a row of `series.csv` is written.
    pub series: Schedule,
    /// When fields are written and which; `None` is never.
    pub fields: Option<FieldsConfig>,
    /// When planes of fields are written and which; `None` is never.
    pub planes: Option<PlanesConfig>,
    /// When statistics are taken and of what; `None` is never.
    pub statistics: Option<StatisticsConfig>,
    /// Which checkpoints are written; `None` is one where a run is stopped, and no other.
    pub checkpoint: Option<CheckpointConfig>,
    /// What happens where a file cannot be written.
    pub on_failure: OnFailure,
}

/// `fields = { every_time, variables }`
#[derive(Clone, Debug, PartialEq)]
pub struct FieldsConfig {
    /// When.
    pub schedule: Schedule,
    /// Which.
    pub variables: Vec<Variable>,
    /// Precision of the values in the files; `None` is that of the run.
    pub precision: Option<Precision>,
    /// The box that is written, by the coordinates of two of its corners; `None` is all.
    pub region: Option<Region>,
    /// Every how-manieth point of it is written along each axis.
    pub stride: usize,
    /// Into how many files the ranks write each time; `None` is one a rank.
    pub pieces: Option<usize>,
}

/// `region = { from, to }`: points within are those from the one next to `from` to the one next to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Smallest coordinates.
    pub from: [f64; 3],
    /// Largest coordinates.
    pub to: [f64; 3],
}

/// `planes = { every_time, z = [0.0], variables }`
#[derive(Clone, Debug, PartialEq)]
pub struct PlanesConfig {
    /// When.
    pub schedule: Schedule,
    /// Where: coordinates along x, y and z that planes across them have; each takes the points next to it.
    pub at: [Vec<f64>; 3],
    /// Which fields.
    pub variables: Vec<Variable>,
    /// Precision of the values in the files; `None` is that of the run.
    pub precision: Option<Precision>,
}

/// `statistics = { every_time, from, quantities }`
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsConfig {
    /// When.
    pub schedule: Schedule,
    /// The time at which averages over time begin.
    pub from: f64,
    /// Of what.
    pub quantities: Vec<Statistic>,
}

/// What statistics can be taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Means and second moments, of Reynolds and of Favre.
    Moments,
    /// Spectra of energy and dissipation.
    Spectra,
    /// Structure functions of the velocity.
    Increments,
    /// Probability densities of the velocity gradients.
    Gradients,
}

/// `checkpoint = { every_time, keep }`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointConfig {
    /// When, besides at step 0 and at the end; `None`: the last state alone.
    pub schedule: Option<Schedule>,
    /// How many there are at most; older ones are removed.
    pub keep: usize,
    /// Whether steps go on while one is written.
    pub asynchronous: bool,
    /// Whether the values are compressed (Zstandard).
    pub compress: bool,
}

impl CheckpointConfig {
    /// A run leaves its last state, by which it can be extended.
    pub const LAST: Self =
        Self { schedule: None, keep: KEEP, asynchronous: false, compress: false };
}

/// Checkpoints that are kept where the user does not say: should one be damaged there is one before.
const KEEP: usize = 2;

/// What happens where a file cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The run stops.
    Stop,
    /// It is told, and the run goes on without that file.
    Continue,
}

/// When something is done: any of these that is set; the first and the last step always.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Schedule {
    /// Steps.
    pub every_steps: Option<u64>,
    /// Non-dimensional time; the step is cut to land on it.
    pub every_time: Option<f64>,
    /// Seconds of wall time.
    pub every_wall: Option<f64>,
}

/// A field that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// (u, v, w).
    Velocity,
    /// ρ.
    Density,
    /// p.
    Pressure,
    /// T.
    Temperature,
    /// curl u.
    Vorticity,
    /// Q = −½ ∂ᵢuⱼ ∂ⱼuᵢ (Hunt, Wray and Moin 1988).
    QCriterion,
    /// div u.
    Dilatation,
    /// The advected scalar φ.
    Scalar,
}
