//! State shared by the programs of a device: length and precision of fields, scratch memory, the line solver, and the
//! choice of fused sweeps.

use std::sync::Arc;

use super::ends::Lines;
use super::fused::Plan;
use super::gpu::{Same, Zero};
use super::lines::{DeviceOperator, LineSolver, why_unsupported};
use super::pointwise::PointKernel;
use super::{Device, DeviceInfo, Scratch};
use crate::backend::{ComputeConfig, Pencils};
use crate::engine::{LineOperator, LineOperators, PointFormula, Sweep};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Precision;

/// Which sweeps become one kernel; all others run operation by operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusing {
    /// No sweeps.
    Nothing,
    /// Sweeps that keep all their values on chip.
    OnChip,
    /// Also sweeps whose values spill to device memory.
    All,
}

/// The default form of sweeps on a GPU, and the alternative. Their results differ by round-off.
pub(super) const SHAPES: [(&str, Fusing); 2] =
    [("a kernel a sweep", Fusing::OnChip), ("operator by operator", Fusing::Nothing)];

/// Fields of one length and precision in device memory.
pub(super) struct Workspace {
    pub(super) device: Arc<Device>,
    pub(super) precision: Precision,
    /// Number of points of a field.
    pub(super) len: usize,
    /// Scratch fields of operators while they run.
    scratch: Scratch,
    /// Results of the operators of a sweep.
    pub(super) values: Scratch,
    /// Line solver, and blocks of fused sweeps.
    pub(super) compute: ComputeConfig,
    /// Kernels that set the first written field to the field that is read, or to 0.
    pub(super) copy: PointKernel,
    pub(super) clear: PointKernel,
}

impl Workspace {
    pub(super) fn new(device: Arc<Device>, len: usize, compute: &ComputeConfig) -> Result<Self> {
        let precision = compute.precision;
        let prepared = |formula| PointKernel::new((&device, precision), len, &formula);
        Ok(Self {
            scratch: Scratch::new(&device, precision),
            values: Scratch::new(&device, precision),
            copy: prepared(PointFormula::map(Same))?,
            clear: prepared(PointFormula::map(Zero))?,
            device,
            precision,
            len,
            compute: compute.clone(),
        })
    }

    /// Returns which sweeps are fused by default.
    pub(super) fn default_fusing(&self) -> Fusing {
        default_fusing(self.device.info(), &self.compute)
    }

    /// Returns a note on a side effect of a chosen line solver.
    pub(super) fn note(&self) -> Option<String> {
        let (line_solver, pencils) = (None, Pencils::Strided);
        let defaults = ComputeConfig { line_solver, pencils, ..self.compute.clone() };
        let is_chosen = default_fusing(self.device.info(), &defaults) != self.default_fusing();
        is_chosen.then(|| {
            "sweeps are run operator by operator, since `compute.line_solver` or `compute.pencils` is set; \
             otherwise each is one kernel, with the elimination of `chunked`"
                .into()
        })
    }

    /// Compiles `operator` along `axis` with the line solver of the sweeps.
    pub(super) fn operator(
        &self,
        operator: &LineOperator,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator> {
        let ComputeConfig { line_solver, pencils, .. } = self.compute;
        let best = || {
            let chunked = LineSolver::CHUNKED;
            match why_unsupported(chunked, operator, (axis, pencils), self.device.info()) {
                None => chunked,
                Some(_) => LineSolver::THOMAS,
            }
        };
        let method = (line_solver.unwrap_or_else(best), pencils);
        DeviceOperator::new(&self.scratch, operator, points, axis, method)
    }
}

/// Returns which sweeps are fused by default: on a GPU, those that keep their values on chip, unless the user has chosen
/// a line solver or permuted pencils; on a CPU none, because its compilers are slow on such kernels, unless the user sets
/// their block sizes.
fn default_fusing(info: &DeviceInfo, compute: &ComputeConfig) -> Fusing {
    let &ComputeConfig { line_solver, pencils, sweeps, .. } = compute;
    let is_free = line_solver.is_none() && pencils == Pencils::Strided;
    match is_free && (info.is_gpu || sweeps.is_set()) {
        true => Fusing::OnChip,
        false => Fusing::Nothing,
    }
}

/// Whether a sweep is one kernel on a device, as far as this is known before compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsKernel {
    /// It runs operator by operator.
    No,
    /// One kernel if the compiler finds registers for chunks of two lengths.
    Perhaps,
    /// One kernel.
    Yes,
}

/// Whether `sweep` over whole lines along `axis` is one kernel on a device.
pub fn is_kernel(
    info: &DeviceInfo,
    compute: &ComputeConfig,
    sweep: &Sweep,
    axis: Axis,
    points: [usize; 3],
    operators: &LineOperators,
) -> IsKernel {
    if default_fusing(info, compute) == Fusing::Nothing {
        return IsKernel::No;
    }
    let (lines, how) = (Lines::along(axis, points), (compute.precision, compute.sweeps));
    let plan = Plan::new(sweep, axis, lines, how, operators);
    match plan.and_then(|plan| plan.fits(info)) {
        Some(true) => IsKernel::Yes,
        Some(false) => IsKernel::Perhaps,
        None => IsKernel::No,
    }
}
