//! `summary.json`: what was run, on what, how fast, and whether the result can be trusted.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::gas::Gas;
use crate::io::reference::Comparison;
use crate::io::series::Series;
use crate::io::verdict::Verdict;
use crate::io::{read_json, write_json};

/// The contents of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of Kolmo.
    pub version: String,
    /// Name of the case: `taylor-green`.
    pub case: String,
    /// The case in words: `Taylor-Green vortex`.
    pub title: String,
    /// Mach number; `None` where the equations have none.
    pub mach: Option<f64>,
    /// Reynolds number; `None` for an inviscid flow.
    pub reynolds: Option<f64>,
    /// Whether walls or open faces bound the flow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walls: bool,
    /// Whether symmetry planes bound the flow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub symmetry: bool,
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// Lengths of the box along x, y, z.
    pub length: [f64; 3],
    /// Largest distance between neighbouring points.
    pub largest_spacing: f64,
    /// The gas; `None` without viscosity, and where the equations have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gas: Option<Gas>,
    /// Discretisation of the equations.
    pub scheme: SchemeSummary,
    /// `cpu`.
    pub backend: String,
    /// `f64` or `f32`.
    pub precision: String,
    /// Machine of the run.
    pub machine: Machine,
    /// Distribution over ranks; `None` for one rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksSummary>,
    /// Steps taken.
    pub steps: u64,
    /// Time reached.
    pub end_time: f64,
    /// Whether the run reached the end it was given.
    pub finished: bool,
    /// Reason for the stop, as a sentence.
    pub stop_reason: String,
    /// Steps from which the run was restarted after it had been stopped or interrupted, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<u64>,
    /// Earlier parts of the run, where a restart changed the grid or the flow, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Part>,
    /// Seconds from the first step to the last, including outputs, excluding work lost before a restart.
    pub wall_seconds: f64,
    /// Nanoseconds per point and right-hand side (one per Runge-Kutta stage) since the last restart, excluding outputs; `None`
    /// where no step was taken.
    pub ns_per_point_stage: Option<f64>,
    /// Seconds by phase since the last restart, each of the slowest rank.
    pub phases: BTreeMap<String, f64>,
    /// The smallest kmax η; `None` without viscosity or dissipation, in a plane or on a line, and with walls or open faces.
    pub resolution: Option<Resolution>,
    /// Wall-unit spacings of a channel flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_units: Option<WallUnits>,
    /// Difference from the reference, where the case has one.
    pub reference: Option<Comparison>,
    /// Verdict on the run.
    pub verdict: Verdict,
    /// Reason for the verdict, a sentence without a capital and a full stop.
    pub verdict_reason: String,
}

/// Names as in the input file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchemeSummary {
    /// First derivative.
    pub derivative: String,
    /// Form of the convective terms.
    pub convection: String,
    /// Form of the energy equation.
    pub energy: String,
    /// Form of the viscous terms.
    pub viscous: String,
    /// Filter, or `none`.
    pub filter: String,
    /// Runge-Kutta tableau, or method of implicit steps.
    pub integrator: String,
}

/// Distribution of a run over ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RanksSummary {
    /// Number of ranks.
    pub count: usize,
    /// Ranks along x, y, z.
    pub decomposition: [usize; 3],
    /// Solver of lines that are split across ranks.
    pub method: String,
    /// Seconds by phase, averaged over all ranks.
    pub phases_mean: BTreeMap<String, f64>,
}

/// A machine, as far as speed depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor model; its architecture where the system does not report the model.
    pub cpu: String,
    /// Hardware threads that this process may use.
    pub cores: usize,
    /// Threads that the run used.
    pub threads: usize,
    /// Vector instructions of the host: `avx512`, `avx2`, `neon` ...
    pub simd: String,
    /// The GPU that held the fields, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Kernel variant, where there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

impl Machine {
    /// The machine of this process.
    pub fn here(threads: usize, simd: &str, device: Option<String>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cpu: cpu_model(), cores, threads, simd: simd.to_string(), device, shape: None }
    }
}

/// `model name` of the first processor that Linux lists.
fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| Some(line.split_once(':')?.1.trim()));
    model.unwrap_or(std::env::consts::ARCH).to_string()
}

/// The worst resolution of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Smallest kmax η.
    pub kmax_eta_min: f64,
    /// Time of this minimum.
    pub time: f64,
}

/// Grid spacings of a channel at the end of a run in wall units, δ/Re_τ with half the distance δ of the walls: the measure of a
/// channel's resolution (Kim, Moin and Moser 1987; Moin and Mahesh 1998).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WallUnits {
    /// Re_τ.
    pub friction_reynolds: f64,
    /// The smallest and the largest spacing along x, y, z; `None` along an axis of one point.
    pub spacing: [Option<[f64; 2]>; 3],
}

impl fmt::Display for WallUnits {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let number = |value: f64| match value < 1.0 {
            true => format!("{value:.2}"),
            false => format!("{value:.1}"),
        };
        for (axis, spacing) in ["x", "y", "z"].iter().zip(self.spacing) {
            let Some([lowest, highest]) = spacing.map(|ends| ends.map(number)) else { continue };
            write!(f, "Δ{axis}⁺ = {lowest}")?;
            if highest != lowest {
                write!(f, " to {highest}")?;
            }
            f.write_str(", ")?;
        }
        write!(f, "Re_τ = {:.1} at the end", self.friction_reynolds)
    }
}

/// kmax η = (π/h) (ν³/ε)^¼ with the Kolmogorov length η (Kolmogorov 1941), ν = μ/(Re ρ) and ε = `dissipation`/ρ. `spacing` is the
/// largest of the grid. Infinite without dissipation.
pub fn kmax_eta(
    dissipation: f64,
    [density, viscosity]: [f64; 2],
    spacing: f64,
    reynolds: f64,
) -> f64 {
    let nu = viscosity / (reynolds * density);
    PI / spacing * (nu.powi(3) * density / dissipation).powf(0.25)
}

/// A part of a run with constant grid and flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its last step.
    pub until: u64,
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// Lengths of the box along x, y, z.
    pub length: [f64; 3],
    /// As in [`Summary`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walls: bool,
    /// As in [`Summary`].
    pub largest_spacing: f64,
    /// As in [`Summary`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gas: Option<Gas>,
    /// Reynolds number; `None` without viscosity, and where the equations have none.
    pub reynolds: Option<f64>,
    /// Whether the case, the gas or the box differed.
    pub other_flow: bool,
}

impl Part {
    /// μ at the mean temperature, weighted with the density (Favre 1965): T̃ = γ (γ − 1) Ma² ⟨ρe⟩/⟨ρ⟩.
    fn viscosity(&self, density: f64, internal_energy: f64) -> f64 {
        self.gas.map_or(1.0, |gas| {
            gas.mu(gas.temperature(density, (gas.gamma - 1.0) * internal_energy))
        })
    }
}

/// kmax η of every row of a series of a run of `parts`; NaN where a part has no viscosity or has one point along an axis (η is a
/// scale of three-dimensional turbulence), where it has walls or open faces (near which η and the spacings differ from their
/// averages), and where a row has no dissipation. `None` where the series has no dissipation column.
pub fn kmax_etas(series: &Series, parts: &[Part]) -> Option<Vec<f64>> {
    let names = ["step", "dissipation", "mass", "total_energy", "kinetic_energy"];
    let [step, dissipation, mass, total, kinetic] = names.map(|name| series.column(name));
    let [step, dissipation, mass] = [step?, dissipation?, mass?];
    let [total, kinetic] = [total?, kinetic?];
    let of_row = |row: usize| {
        let part = parts.iter().find(|part| step[row] <= part.until as f64)?;
        if part.walls || part.points.contains(&1) {
            return None;
        }
        let (density, dissipation) = (mass[row], dissipation[row]);
        let viscosity = part.viscosity(density, total[row] - kinetic[row]);
        let value =
            kmax_eta(dissipation, [density, viscosity], part.largest_spacing, part.reynolds?);
        (dissipation > 0.0 && value.is_finite()).then_some(value)
    };
    Some((0..step.len()).map(|row| of_row(row).unwrap_or(f64::NAN)).collect())
}

/// The smallest kmax η of a series of a run of `parts`; `None` where no row has one.
pub fn resolution(series: &Series, parts: &[Part]) -> Option<Resolution> {
    let values = kmax_etas(series, parts)?;
    let rows = series.column("time")?.iter().zip(values);
    rows.map(|(&time, kmax_eta_min)| Resolution { kmax_eta_min, time })
        .filter(|resolution| resolution.kmax_eta_min.is_finite())
        .min_by(|a, b| a.kmax_eta_min.total_cmp(&b.kmax_eta_min))
}

impl Summary {
    /// Whether the run marched to a steady flow, in steps that grow by orders of magnitude: time means nothing there.
    pub fn is_steady(&self) -> bool {
        self.scheme.integrator == "steady"
    }

    /// The parts of the run, including the current one.
    pub fn parts(&self) -> Vec<Part> {
        let Self { points, length, walls, largest_spacing, gas, reynolds, .. } = *self;
        let (until, other_flow) = (u64::MAX, false);
        let last =
            Part { until, points, length, walls, largest_spacing, gas, reynolds, other_flow };
        self.earlier.iter().cloned().chain([last]).collect()
    }

    /// `passed: on the reference ...`: the verdict and the reason for it.
    pub fn verdict_sentence(&self) -> String {
        format!("{}: {}", self.verdict, self.verdict_reason)
    }

    /// The summary of a run in progress, with the values of the last row of its series.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps")]
    pub(crate) fn with_last_row(self, series: &Series) -> Self {
        let last = |name: &str| series.column(name).and_then(|values| values.last().copied());
        Self {
            steps: last("step").unwrap_or(0.0) as u64,
            end_time: last("time").unwrap_or(0.0),
            resolution: resolution(series, &self.parts()),
            ..self
        }
    }

    /// Write `summary.json`.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }

    /// Read `summary.json`.
    pub fn read(path: &Path) -> Result<Self> {
        read_json(path)
    }
}
