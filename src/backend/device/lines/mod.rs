//! Line solvers on a device: A f' = B f along one axis, A tri- or pentadiagonal, for all lines of a grid.
//!
//! | solver | method | source |
//! |---|---|---|
//! | `thomas` | LU, one thread per line | textbook |
//! | `cr`, `pcr` | (parallel) cyclic reduction on chip, coefficients reduced with the data | Srinath 2015, §1.4 |
//! | `cr-sorted-direct`, `-stepwise` | cyclic reduction in device memory, rows reordered so that levels are contiguous | Esfahanian 2014 |
//! | `neato-global`, `neato-shared` | cyclic reduction of near-Toeplitz matrices, a few constants per level | Srinath 2015, ch. 2 |
//! | `pcr-banded` | parallel cyclic reduction, tri- and pentadiagonal | Song 2022, eq. 3 to 6 |
//! | `chunked` | each thread eliminates a chunk of a line in registers | Song 2022, §3, on chip |
//! | `cusparse` | NVIDIA's `gtsv2StridedBatch` | NVIDIA |
//!
//! All solvers accept any number of points and lines. A cyclic matrix is solved through its open core
//! ([`Border`](crate::lines::Border)) except by `thomas`, which borders its LU, and `chunked`, whose reduction wraps
//! around. Tables are computed on the host in f64 and rounded.
//!
//! A solver is a file that describes it as a [`Solver`], and an entry in [`LineSolver::ALL`]. It also states how the host
//! solves lines in the same way.

mod chunked;
mod on_chip;
mod plan;
mod reductions;
mod stencil;
mod thomas;

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::{EnumAccess, Error as _, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ends::Lines;
use super::{Api, Arg, Buffer, Device, DeviceInfo, Scratch, permute};
use crate::backend::Pencils;
use crate::engine::LineOperator;
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::lines::{Reduction, TRIDIAGONAL_ONLY};
pub(super) use chunked::{
    CHUNKS, ELIMINATE, bank_row, define_tables, exchanged_words, negligible_coupling, table_words,
};
pub(in crate::backend) use plan::tolerance;
pub(super) use plan::{LINE, define_rows};
use plan::{Plan, Slot, Step};

/// Description of a solver.
struct Solver {
    /// Name in the input.
    name: &'static str,
    /// Interface that it needs.
    api: Option<Api>,
    /// Whether it supports pentadiagonal matrices.
    pentadiagonal: bool,
    /// Why it does not support an operator, as the end of a sentence.
    unsupported: fn(&Problem) -> Option<String>,
    /// Smallest number of on-chip words per block.
    on_chip: fn(&Problem) -> usize,
    /// Number of scratch fields.
    scratch: usize,
    /// Builds its launches.
    steps: fn(&Plan) -> Result<Vec<Step>>,
    /// The corresponding method on the host.
    on_host: OnHost,
}

/// How the host solves lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend) enum OnHost {
    /// By elimination along the line.
    Elimination,
    /// By a reduction of many lines side by side.
    Reduction(Reduction),
    /// Not on the host: the reason, as the end of a sentence.
    Never(&'static str),
}

/// Template of a solver of tridiagonal matrices that needs only device memory.
const TRIDIAGONAL: Solver = Solver {
    name: "",
    api: None,
    pentadiagonal: false,
    unsupported: |_| None,
    on_chip: |_| 0,
    scratch: 0,
    steps: |_| Ok(Vec::new()),
    on_host: OnHost::Never("is for devices"),
};

/// A solver of the line systems.
#[derive(Clone, Copy)]
pub struct LineSolver(&'static Solver);

impl LineSolver {
    /// All solvers.
    pub const ALL: [LineSolver; 10] = [
        LineSolver(&thomas::THOMAS),
        LineSolver(&on_chip::CR),
        LineSolver(&reductions::CR_SORTED_DIRECT),
        LineSolver(&reductions::CR_SORTED_STEPWISE),
        LineSolver(&on_chip::PCR),
        LineSolver(&reductions::NEATO_GLOBAL),
        LineSolver(&on_chip::NEATO_SHARED),
        LineSolver(&on_chip::PCR_BANDED),
        LineSolver(&chunked::CHUNKED),
        LineSolver(&reductions::CUSPARSE),
    ];

    /// LU, one thread per line: supports every operator, and is the default on the host.
    pub const THOMAS: LineSolver = LineSolver(&thomas::THOMAS);
    /// Chunks in registers.
    pub const CHUNKED: LineSolver = LineSolver(&chunked::CHUNKED);

    /// Returns the name in the input.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the solver with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }

    /// Returns the number of scratch fields.
    pub fn scratch_fields(self) -> usize {
        self.0.scratch
    }

    /// Returns the corresponding method on the host.
    pub(in crate::backend) fn on_host(self) -> OnHost {
        self.0.on_host
    }

    /// Returns why the host does not have this solver, as a sentence that lists the solvers of the host; `None` if it has
    /// it.
    pub fn unavailable_on_host(self) -> Option<String> {
        let OnHost::Never(why) = self.on_host() else { return None };
        let has = |solver: &LineSolver| !matches!(solver.on_host(), OnHost::Never(_));
        let names = Self::ALL.into_iter().filter(has).map(|solver| format!("`{}`", solver.name()));
        Some(format!("it {why}; the CPU has {}", names.collect::<Vec<_>>().join(", ")))
    }

    /// Whether it supports pentadiagonal matrices.
    pub(in crate::backend) fn is_pentadiagonal(self) -> bool {
        self.0.pentadiagonal
    }
}

/// Names in the input.
static NAMES: LazyLock<[&str; LineSolver::ALL.len()]> =
    LazyLock::new(|| LineSolver::ALL.map(LineSolver::name));

impl Serialize for LineSolver {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for LineSolver {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = LineSolver;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a line solver")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, word: A) -> Result<LineSolver, A::Error> {
                let (name, rest) = word.variant::<String>()?;
                rest.unit_variant()?;
                let unknown = || A::Error::unknown_variant(&name, &*NAMES);
                LineSolver::from_name(&name).ok_or_else(unknown)
            }
        }
        from.deserialize_enum("LineSolver", &*NAMES, Name)
    }
}

impl PartialEq for LineSolver {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for LineSolver {}

impl fmt::Debug for LineSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An operator, and the device that applies it.
struct Problem<'a> {
    operator: &'a LineOperator,
    info: &'a DeviceInfo,
    /// Whether the points of a line are contiguous in memory while it is solved.
    contiguous: bool,
}

impl Problem<'_> {
    /// Returns why a solver does not support the operator, as the end of a sentence.
    fn why_unsupported(&self, solver: LineSolver) -> Option<String> {
        let Solver { api, pentadiagonal, unsupported, on_chip, .. } = solver.0;
        if let Some(api) = api.filter(|api| *api != self.info.api) {
            return Some(format!("needs {}", api.name()));
        }
        let (n, p) = (self.operator.len(), self.operator.matrix.half_band());
        if p == 0 {
            return None;
        }
        if p > 1 && !pentadiagonal {
            return Some(TRIDIAGONAL_ONLY.into());
        }
        unsupported(self).or_else(|| {
            let (bytes, has) = (on_chip(self) * self.operator.precision.bytes(), self.info.on_chip);
            (bytes > has).then(|| {
                format!("needs {bytes} bytes of on-chip memory for {n} points, and this device has {has}")
            })
        })
    }
}

/// Returns why `solver` cannot solve `operator` along `axis` on this device with the layout `pencils`, as a sentence that
/// lists the solvers that can; `None` if it can.
pub fn why_unsupported(
    solver: LineSolver,
    operator: &LineOperator,
    (axis, pencils): (Axis, Pencils),
    info: &DeviceInfo,
) -> Option<String> {
    let contiguous = axis == Axis::X || pencils == Pencils::Permuted;
    let problem = Problem { operator, info, contiguous };
    let reason = problem.why_unsupported(solver)?;
    let others =
        LineSolver::ALL.into_iter().filter(|other| problem.why_unsupported(*other).is_none());
    let names: Vec<_> = others.map(|other| format!("`{}`", other.name())).collect();
    Some(format!("the line solver `{}` {reason}; use {}", solver.name(), names.join(", ")))
}

/// An operator along one axis of one grid, compiled for one solver.
pub struct DeviceOperator {
    device: Arc<Device>,
    steps: Vec<Step>,
    len: usize,
}

impl DeviceOperator {
    /// Compiles `solver` for `operator` along `axis` of a grid of `points`, with lines in the layout `pencils`, and
    /// allocates its memory; `scratch` provides fields that are used only during a call.
    ///
    /// # Errors
    /// The sentence of [`why_unsupported`], or an error of the driver.
    ///
    /// # Panics
    /// If `operator` is not for lines with the number of points of the grid along `axis`.
    pub fn new(
        scratch: &Scratch,
        operator: &LineOperator,
        points: [usize; 3],
        axis: Axis,
        (solver, pencils): (LineSolver, Pencils),
    ) -> Result<Self> {
        assert_eq!(operator.len(), points[axis.index()], "operator and grid differ in length");
        let device = scratch.device.clone();
        if let Some(sentence) = why_unsupported(solver, operator, (axis, pencils), device.info()) {
            return Err(Error::Config(vec![format!("error: {sentence}")]));
        }
        let is_explicit = operator.matrix.half_band() == 0;
        let steps = if is_explicit { stencil::steps } else { solver.0.steps };
        let (lines, input, output) = (Lines::along(axis, points), Slot::Input, Slot::Output);
        let plan = Plan { operator, lines, input, output, scratch, used_scratch: 0 };
        let steps = if pencils == Pencils::Permuted && axis != Axis::X && !is_explicit {
            permuted(plan, points, axis, steps)?
        } else {
            steps(&plan)?
        };
        Ok(Self { device, steps, len: points.iter().product() })
    }

    /// Queues out = A⁻¹ B `from` on the device. The two fields differ; the previous content of `out` is not read. Numbers
    /// per point moved through device memory: two; `thomas` two more, `neato-global` six more, `cr-sorted` eight more,
    /// permuted pencils four more.
    ///
    /// # Panics
    /// If a field is shorter than the grid.
    pub fn apply(&self, from: &Buffer, out: &Buffer) {
        assert!(from.len().min(out.len()) >= self.len, "a field is shorter than the grid");
        for step in &self.steps {
            match step {
                Step::Launch(job, slots) => job.launch(slots.iter().map(|slot| match slot {
                    Slot::Input => from.arg(),
                    Slot::Output => out.arg(),
                    Slot::Buffer(buffer) => buffer.arg(),
                    Slot::Int(value) => Arg::Int(*value),
                })),
                Step::Library { systems, matrix, x } => {
                    let x = if let Slot::Buffer(buffer) = x { buffer } else { out };
                    let matrix = matrix.each_ref().map(|diagonal| &**diagonal);
                    self.device.solve_tridiagonal(*systems, matrix, x);
                }
            }
        }
    }
}

/// Wraps the launches of `steps` for lines along y or z: permutes them to contiguous lines, and back.
fn permuted(
    mut plan: Plan,
    points: [usize; 3],
    axis: Axis,
    steps: fn(&Plan) -> Result<Vec<Step>>,
) -> Result<Vec<Step>> {
    let (order, back) = match axis {
        Axis::Z => ([2, 0, 1], [1, 2, 0]),
        _ => ([1, 0, 2], [1, 0, 2]),
    };
    let buffers = plan.scratch_slots(2)?;
    let (device, precision) = (plan.device(), plan.precision());
    let forward = permute::job(device, precision, points, order)?;
    let backward = permute::job(device, precision, order.map(|axis| points[axis]), back)?;
    let first = Step::Launch(forward, vec![plan.input.clone(), buffers[0].clone()]);
    let last = Step::Launch(backward, vec![buffers[1].clone(), plan.output.clone()]);
    plan.used_scratch += 2;
    plan.lines.inner = 1;
    [plan.input, plan.output] = [buffers[0].clone(), buffers[1].clone()];
    let inner = steps(&plan)?;
    Ok(std::iter::once(first).chain(inner).chain([last]).collect())
}
