//! Line solvers on a device: A f' = B (operand) along one axis, A tri- or pentadiagonal, for all lines of a grid.
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
use crate::lines::{Border, CyclicReduction, NearToeplitz};
use crate::real::Real;
use plan::{Plan, Slot, Step};

pub use plan::Operand;
pub(super) use plan::Text;

/// Arguments of a launch at most.
const MOST_ARGUMENTS: usize = 32;

/// How the line systems are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineSolver {
    /// LU, one thread a line.
    Thomas,
    /// Cyclic reduction on chip.
    Cr,
    /// Cyclic reduction in device memory, rows sorted once.
    CrSortedDirect,
    /// Cyclic reduction in device memory, rows sorted level by level.
    CrSortedStepwise,
    /// Parallel cyclic reduction on chip.
    Pcr,
    /// Near-Toeplitz cyclic reduction in device memory.
    NeatoGlobal,
    /// Near-Toeplitz cyclic reduction on chip.
    NeatoShared,
    /// Parallel cyclic reduction of tri- and pentadiagonal systems on chip, coefficients worked out beforehand.
    PcrBanded,
    /// Chunks in registers.
    Chunked,
    /// NVIDIA's `gtsv2StridedBatch`.
    Cusparse,
}

impl LineSolver {
    /// All of them.
    pub const ALL: [LineSolver; 10] = [
        LineSolver::Thomas,
        LineSolver::Cr,
        LineSolver::CrSortedDirect,
        LineSolver::CrSortedStepwise,
        LineSolver::Pcr,
        LineSolver::NeatoGlobal,
        LineSolver::NeatoShared,
        LineSolver::PcrBanded,
        LineSolver::Chunked,
        LineSolver::Cusparse,
    ];

    /// What a user types.
    pub fn name(self) -> &'static str {
        match self {
            LineSolver::Thomas => "thomas",
            LineSolver::Cr => "cr",
            LineSolver::CrSortedDirect => "cr-sorted-direct",
            LineSolver::CrSortedStepwise => "cr-sorted-stepwise",
            LineSolver::Pcr => "pcr",
            LineSolver::NeatoGlobal => "neato-global",
            LineSolver::NeatoShared => "neato-shared",
            LineSolver::PcrBanded => "pcr-banded",
            LineSolver::Chunked => "chunked",
            LineSolver::Cusparse => "cusparse",
        }
    }

    /// The solver of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }
}

/// An operator along one axis of one grid, ready to be applied by one solver.
pub struct DeviceOperator<T> {
    device: Arc<Device>,
    steps: Vec<Step<T>>,
    fields: usize,
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
        operand: &Operand,
        scratch: &Scratch<T>,
    ) -> Result<Self> {
        assert_eq!(operator.len(), points[axis.index()], "operator and grid differ in length");
        if let Some(sentence) = obstacle(solver, operator, device.info()) {
            return Err(Error::Device(sentence));
        }
        let solver = if operator.matrix.half_band() == 0 { None } else { Some(solver) };
        let plan = Plan::strided(device, operator, points, axis, operand, scratch);
        let steps = if pencils == Pencils::Permuted && axis != Axis::X && solver.is_some() {
            permuted(plan, points, axis, solver)?
        } else {
            steps(&plan, solver)?
        };
        Ok(Self {
            device: device.clone(),
            steps,
            fields: operand.fields,
            len: points.iter().product(),
        })
    }

    /// out = A⁻¹ B (operand of `fields`), put on the list of the device. `out` is none of the fields.
    ///
    /// # Panics
    /// Where there are not as many fields as the operand has, or a length is not that of the grid.
    pub fn apply(&self, fields: &[&Buffer<T>], out: &Buffer<T>) {
        assert_eq!(fields.len(), self.fields, "fields and operand differ in number");
        let fits = |buffer: &Buffer<T>| buffer.len() == self.len;
        assert!(fields.iter().all(|f| fits(f)) && fits(out), "a field differs in length");
        for step in &self.steps {
            let mut arguments = [Arg::Int(0); MOST_ARGUMENTS];
            for (argument, slot) in arguments.iter_mut().zip(&step.arguments) {
                *argument = match slot {
                    Slot::Field(index) => fields[*index].arg(),
                    Slot::Out => out.arg(),
                    Slot::Buffer(buffer) => buffer.arg(),
                    Slot::Int(value) => Arg::Int(*value),
                };
            }
            let arguments = &arguments[..step.arguments.len()];
            self.device.launch::<T>(&step.kernel, step.blocks, arguments);
        }
    }
}

/// The launches of `solver`, or of an operator that is explicit.
fn steps<T: Real>(plan: &Plan<T>, solver: Option<LineSolver>) -> Result<Vec<Step<T>>> {
    use LineSolver::{CrSortedDirect, CrSortedStepwise, NeatoGlobal};
    match solver {
        None => stencil::steps(plan),
        Some(LineSolver::Thomas) => thomas::steps(plan),
        Some(LineSolver::Chunked) => chunked::steps(plan),
        Some(solver @ (NeatoGlobal | CrSortedDirect | CrSortedStepwise)) => {
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
    let there = Launch::new::<T>(plan.device, points, order, &plan.operand)?;
    let moved = order.map(|axis| points[axis]);
    let and_back = Launch::new::<T>(plan.device, moved, back, &Operand::field())?;
    let step = |launch: Launch, from: &[Slot<T>], to: &Slot<T>| Step {
        kernel: launch.kernel,
        blocks: launch.blocks,
        arguments: from.iter().chain([to]).cloned().collect(),
    };
    let first = step(there, &plan.input, &lent[0]);
    let last = step(and_back, &lent[1..], &plan.output);
    plan.taken += 2;
    plan.inner = 1;
    plan.operand = Operand::field();
    plan.input = vec![lent[0].clone()];
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
    if solver == Cusparse {
        let what = if info.api == Api::Cuda { "is not built in" } else { "needs CUDA" };
        return Some(what.into());
    }
    let (n, p) = (operator.len(), operator.matrix.half_band());
    if p == 0 {
        return None;
    }
    if p > 1 && !matches!(solver, Thomas | PcrBanded | Chunked) {
        return Some("is for tridiagonal operators, and this one is pentadiagonal".into());
    }
    let border = if operator.matrix.is_cyclic() { p } else { 0 };
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
        let core = Border::new(&operator.matrix, Plan::<T>::tolerance()).core;
        if NearToeplitz::new(&CyclicReduction::new(&core)).is_none() {
            return Some(
                "needs a near-Toeplitz matrix, and these closures have too many rows".into(),
            );
        }
    }
    None
}
