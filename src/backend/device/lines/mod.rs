//! Line solvers on a device: A f' = B f along one axis, A tri- or pentadiagonal, for all lines of a grid.
//!
//! | solver | what | from |
//! |---|---|---|
//! | `thomas` | LU, one thread a line | textbook |
//! | `cr`, `pcr` | (parallel) cyclic reduction on chip, coefficients reduced with the data | Srinath 2015, §1.4 |
//! | `cr-sorted-direct`, `-stepwise` | cyclic reduction in device memory, rows reordered so that levels are contiguous | Esfahanian 2014 |
//! | `neato-global`, `neato-shared` | cyclic reduction of near-Toeplitz matrices, a handful of constants a level | Srinath 2015, ch. 2 |
//! | `pcr-banded` | parallel cyclic reduction, tri- and pentadiagonal | Song 2022, eq. 3 to 6 |
//! | `chunked` | a thread eliminates a chunk of a line in registers | Song 2022, §3, on chip |
//!
//! Any number of points and lines. A cyclic matrix is solved through its open core ([`Border`](crate::lines::Border))
//! by all but `thomas`, which borders its LU, and `chunked`, whose reduction wraps. Tables are worked out on the host
//! in f64 and rounded.

mod chunked;
mod on_chip;
mod plan;
mod reductions;
mod stencil;
mod thomas;

use std::sync::Arc;

use super::permute::Launch;
use super::{Api, Arg, Buffer, Device, DeviceInfo, Scratch};
use crate::config::Pencils;
use crate::engine::LineOperator;
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::lines::{Border, CyclicReduction, LineSolver, NearToeplitz};
use crate::real::Real;
pub(super) use chunked::{CHUNKS, ELIMINATE, bank_row, tables};
pub(super) use plan::{LINE, rows_of, tolerance};
use plan::{Plan, Slot, Step};

/// An operator along one axis of one grid, ready to be applied by one solver.
pub struct DeviceOperator<T> {
    device: Arc<Device>,
    steps: Vec<Step<T>>,
    len: usize,
}

impl<T: Real> DeviceOperator<T> {
    /// Compile `solver` for `operator` along `axis` of a grid of `points`, and allocate what it needs; `scratch` lends
    /// the fields that hold something only while it runs.
    ///
    /// # Errors
    /// The sentence of [`obstacle`] where there is one, and what the driver says.
    ///
    /// # Panics
    /// Where `operator` is not for lines of as many points as the grid has along `axis`.
    #[allow(clippy::too_many_arguments, reason = "each is a choice of its own")]
    pub fn new(
        device: &Arc<Device>,
        operator: &LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
        solver: LineSolver,
        pencils: Pencils,
        scratch: &Scratch<T>,
    ) -> Result<Self> {
        assert_eq!(operator.len(), points[axis.index()], "operator and grid differ in length");
        if let Some(sentence) = obstacle(solver, operator, device.info()) {
            return Err(refusal(&sentence));
        }
        let solver = if operator.matrix.half_band() == 0 { None } else { Some(solver) };
        if solver == Some(LineSolver::Cusparse) && axis != Axis::X && pencils == Pencils::Strided {
            let what = "the line solver `cusparse` takes lines whose points lie side by side; along y and z \
                 use it with `compute.pencils = \"permuted\"`";
            return Err(refusal(what));
        }
        let plan = Plan::strided(device, operator, points, axis, scratch);
        let steps = if pencils == Pencils::Permuted && axis != Axis::X && solver.is_some() {
            permuted(plan, points, axis, solver)?
        } else {
            steps(&plan, solver)?
        };
        Ok(Self { device: device.clone(), steps, len: points.iter().product() })
    }

    /// out = A⁻¹ B `from`, put on the list of the device. The two are not the same; what `out` held before is not read.
    /// Numbers a point that go through device memory: two; `thomas` two more, `neato-global` six more, `cr-sorted` eight
    /// more, permuted pencils four more.
    ///
    /// # Panics
    /// Where one is shorter than the grid.
    pub fn apply(&self, from: &Buffer<T>, out: &Buffer<T>) {
        let shortest = from.len().min(out.len());
        assert!(shortest >= self.len, "a field is shorter than the grid");
        for step in &self.steps {
            let (kernel, blocks, slots) = match step {
                Step::Launch { kernel, blocks, arguments } => (kernel, *blocks, arguments),
                Step::Library { systems, matrix, x } => {
                    let matrix = matrix.each_ref().map(|diagonal| &**diagonal);
                    let x = if let Slot::Buffer(lent) = x { lent } else { out };
                    self.device.solve_tridiagonal(*systems, matrix, x);
                    continue;
                }
            };
            let arguments = slots.iter().map(|slot| match slot {
                Slot::From => from.arg(),
                Slot::Out => out.arg(),
                Slot::Buffer(buffer) => buffer.arg(),
                Slot::Int(value) => Arg::Int(*value),
            });
            self.device.launch::<T>(kernel, blocks, arguments);
        }
    }
}

/// A solver that cannot do what it is asked for is a mistake of the input.
fn refusal(sentence: &str) -> Error {
    Error::Config(vec![format!("error: {sentence}")])
}

/// The launches of `solver`, or of an operator that is explicit.
fn steps<T: Real>(plan: &Plan<T>, solver: Option<LineSolver>) -> Result<Vec<Step<T>>> {
    use LineSolver::{CrSortedDirect, CrSortedStepwise, Cusparse, NeatoGlobal};
    match solver {
        None => stencil::steps(plan),
        Some(LineSolver::Thomas) => thomas::steps(plan),
        Some(LineSolver::Chunked) => chunked::steps(plan),
        Some(solver @ (NeatoGlobal | CrSortedDirect | CrSortedStepwise | Cusparse)) => {
            reductions::steps(plan, solver)
        }
        Some(solver) => on_chip::steps(plan, solver),
    }
}

/// The launches of `solver` on lines along y or z that are permuted to lie one after another, and back.
fn permuted<T: Real>(
    mut plan: Plan<T>,
    points: [usize; 3],
    axis: Axis,
    solver: Option<LineSolver>,
) -> Result<Vec<Step<T>>> {
    let (order, back) = match axis {
        Axis::Z => ([2, 0, 1], [1, 2, 0]),
        _ => ([1, 0, 2], [1, 0, 2]),
    };
    let lent = plan.lent(2)?;
    let there = Launch::new::<T>(plan.device, points, order)?;
    let moved = order.map(|axis| points[axis]);
    let and_back = Launch::new::<T>(plan.device, moved, back)?;
    let step = |launch: Launch, from: &Slot<T>, to: &Slot<T>| Step::Launch {
        kernel: launch.kernel,
        blocks: launch.blocks,
        arguments: vec![from.clone(), to.clone()],
    };
    let first = step(there, &plan.input, &lent[0]);
    let last = step(and_back, &lent[1], &plan.output);
    plan.taken += 2;
    plan.inner = 1;
    plan.input = lent[0].clone();
    plan.output = lent[1].clone();
    let inner = steps(&plan, solver)?;
    Ok(std::iter::once(first).chain(inner).chain([last]).collect())
}

/// Why `solver` cannot do `operator` on this device, as a sentence that names the solvers that can; `None` where it can.
pub fn obstacle<T: Real>(
    solver: LineSolver,
    operator: &LineOperator<T>,
    info: &DeviceInfo,
) -> Option<String> {
    let reason = reason(solver, operator, info)?;
    let others = LineSolver::ALL.into_iter().filter(|s| self::reason(*s, operator, info).is_none());
    let names: Vec<_> = others.map(|other| format!("`{}`", other.name())).collect();
    Some(format!("the line solver `{}` {reason}; use {}", solver.name(), names.join(", ")))
}

/// What `solver` lacks.
fn reason<T: Real>(
    solver: LineSolver,
    operator: &LineOperator<T>,
    info: &DeviceInfo,
) -> Option<String> {
    use LineSolver::{Chunked, Cusparse, NeatoGlobal, NeatoShared, PcrBanded, Thomas};
    if solver == Cusparse && info.api != Api::Cuda {
        return Some("needs CUDA".into());
    }
    let (n, p) = (operator.len(), operator.matrix.half_band());
    if p == 0 {
        return None;
    }
    if p > 1 && !matches!(solver, Thomas | PcrBanded | Chunked) {
        return Some("is for tridiagonal operators, and this one is pentadiagonal".into());
    }
    let border = if operator.matrix.is_cyclic() { p } else { 0 };
    if solver == Chunked && chunked::least_threads(n) > info.block_threads {
        let (needs, has) = (chunked::least_threads(n), info.block_threads);
        return Some(format!(
            "needs blocks of {needs} threads for {n} points, and this device has {has}"
        ));
    }
    let bytes = match solver {
        Chunked => chunked::least_bytes::<T>(n, p, operator.stencil.half_width),
        _ => on_chip::bytes_a_line::<T>(solver, n, border),
    };
    if bytes > info.on_chip {
        let has = info.on_chip;
        return Some(format!(
            "needs {bytes} bytes of on-chip memory for {n} points, and this device has {has}"
        ));
    }
    if matches!(solver, NeatoGlobal | NeatoShared) {
        let core = Border::new(&operator.matrix, tolerance::<T>()).core;
        if NearToeplitz::new(&CyclicReduction::new(&core)).is_none() {
            return Some(
                "needs a near-Toeplitz matrix, and these closures have too many rows".into(),
            );
        }
    }
    None
}
