//! A device as a [`Backend`].

use std::borrow::Cow;
use std::sync::Arc;

use super::ends::Lines;
use super::formula::Prepared;
use super::fused::Plan;
use super::lines::DeviceOperator;
use super::program::{Program, Task};
use super::{Api, Buffer, Device, DeviceInfo, Scratch, choose};
use crate::backend::{Backend, Reduction, Weights};
use crate::config::{ComputeConfig, Pencils};
use crate::engine::{Formula, LineOperator, LineOperators, Number, PointFormula, Sweep};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::lines::LineSolver;
use crate::real::Real;

/// Fields of one length in the memory of a device.
pub struct Gpu<T> {
    pub(super) device: Arc<Device>,
    /// Points of a field.
    pub(super) len: usize,
    /// What operators need while they run.
    scratch: Scratch<T>,
    /// What the operators of a sweep make.
    pub(super) values: Scratch<T>,
    solver: Option<LineSolver>,
    pencils: Pencils,
    fusing: Fusing,
    same: Prepared,
    zero: Prepared,
}

/// A copy.
struct Same;

impl Formula<1, 1> for Same {
    fn at<N: Number>(&self, read: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        read
    }
}

/// 0.
struct Zero;

impl Formula<0, 1> for Zero {
    fn at<N: Number>(&self, _: [N; 0], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [N::of(0.0)]
    }
}

/// Which sweeps become one kernel; all others are run operation by operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusing {
    /// None.
    Nothing,
    /// Those that keep all their values on chip.
    OnChip,
    /// Also those whose values spill to device memory.
    All,
}

/// The usual shape of sweeps on a GPU, and the other. Their results differ by round-off.
const SHAPES: [(&str, Fusing); 2] =
    [("a kernel a sweep", Fusing::OnChip), ("operator by operator", Fusing::Nothing)];

/// Those where nothing else is said.
fn usual(info: &DeviceInfo, solver: Option<LineSolver>, pencils: Pencils) -> Fusing {
    match solver.is_none() && pencils == Pencils::Strided {
        true if info.is_gpu => Fusing::OnChip,
        _ => Fusing::Nothing,
    }
}

/// Whether `sweep` over whole lines along `axis` is one kernel on a device, as far as that is known before it is compiled.
pub fn is_one_kernel<T: Real>(
    info: &DeviceInfo,
    compute: &ComputeConfig,
    sweep: &Sweep,
    axis: Axis,
    points: [usize; 3],
    operators: &LineOperators,
) -> bool {
    let operators = operators.rounded::<T>();
    let plan = || Plan::new(sweep, axis, Lines::along(axis, points), &operators);
    usual(info, compute.line_solver, compute.pencils) != Fusing::Nothing
        && plan().is_some_and(|plan| plan.fits(info))
}

impl<T: Real> Gpu<T> {
    /// Fields of `len` values on `device`, lines solved by `solver`, or the one that fits each operator best.
    ///
    /// # Errors
    /// What the driver or the compiler says.
    pub fn new(
        device: Arc<Device>,
        len: usize,
        solver: Option<LineSolver>,
        pencils: Pencils,
    ) -> Result<Self> {
        Ok(Self {
            scratch: Scratch::new(&device),
            values: Scratch::new(&device),
            same: Prepared::new::<T>(&device, len, &PointFormula::map(Same))?,
            zero: Prepared::new::<T>(&device, len, &PointFormula::map(Zero))?,
            fusing: usual(device.info(), solver, pencils),
            device,
            len,
            solver,
            pencils,
        })
    }

    /// The same with other sweeps fused. Where nothing is said, those that keep their values on chip are on a GPU where nobody chose how
    /// lines are solved; on a CPU none, whose compilers take long over such kernels.
    #[must_use]
    pub fn fusing(self, fusing: Fusing) -> Self {
        Self { fusing, ..self }
    }

    /// Which sweeps become one kernel.
    pub(super) fn fuses(&self) -> Fusing {
        self.fusing
    }

    /// Fields of `len` values on `device`, lines solved as `compute` says.
    ///
    /// # Errors
    /// What the driver or the compiler says.
    pub fn configured(device: Arc<Device>, len: usize, compute: &ComputeConfig) -> Result<Self> {
        Self::new(device, len, compute.line_solver, compute.pencils)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// `operator` along `axis`, solved as the lines of every sweep are.
    ///
    /// # Errors
    /// Where the solver cannot, or what the driver or the compiler says.
    pub fn operator(
        &self,
        operator: &LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator<T>> {
        let solver = self.solver.unwrap_or_else(|| self.best_solver(operator));
        let (device, scratch) = (&self.device, &self.scratch);
        DeviceOperator::new(device, operator, points, axis, solver, self.pencils, scratch)
    }

    fn best_solver(&self, operator: &LineOperator<T>) -> LineSolver {
        match super::lines::obstacle(LineSolver::Chunked, operator, self.device.info()) {
            None => LineSolver::Chunked,
            Some(_) => LineSolver::Thomas,
        }
    }
}

impl<T: Real> Backend for Gpu<T> {
    type Real = T;
    type Field = Buffer<T>;
    type Program = Program<T>;
    type Prepared = Prepared;

    fn open(compute: &ComputeConfig, len: usize) -> Result<Self> {
        let Some((api, index)) = choose(compute, 0)? else {
            return Err(Error::Device("no GPU was found; `kolmo info` says why".into()));
        };
        Self::configured(Device::open(api, index)?, len, compute)
    }

    fn name(&self) -> &'static str {
        match self.device.info().api {
            Api::Cuda => "cuda",
            Api::OpenCl => "opencl",
        }
    }

    fn threads(&self) -> usize {
        1
    }

    fn simd(&self) -> &'static str {
        "none"
    }

    fn device_name(&self) -> Option<String> {
        Some(self.device.info().name.clone())
    }

    fn queues(&self) -> bool {
        true
    }

    fn shapes(&self) -> Vec<&'static str> {
        match self.fusing {
            Fusing::OnChip => SHAPES.map(|(name, _)| name).to_vec(),
            _ => Vec::new(),
        }
    }

    fn shaped(self, shape: &str) -> Self {
        let known = SHAPES.into_iter().find(|(name, _)| *name == shape);
        let fusing = known.map_or(self.fusing, |(_, fusing)| fusing);
        self.fusing(fusing)
    }

    fn shape(&self) -> Option<&'static str> {
        SHAPES.into_iter().find(|(_, fusing)| *fusing == self.fusing).map(|(name, _)| name)
    }

    fn finish(&self) -> Result<()> {
        self.device.finish()
    }

    fn field(&self, values: Vec<T>) -> Result<Buffer<T>> {
        assert_eq!(values.len(), self.len, "a field of another grid");
        Buffer::from_host(&self.device, &values)
    }

    fn zeros(&self, len: usize) -> Result<Buffer<T>> {
        assert_eq!(len, self.len, "a field of another grid");
        let mut field = Buffer::new(&self.device, len)?;
        self.clear(&mut field);
        Ok(field)
    }

    fn values<'a>(&self, field: &'a Buffer<T>) -> Result<Cow<'a, [T]>> {
        Ok(Cow::Owned(field.download()?))
    }

    fn copy(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        self.same.map(&self.device, &[from], &[to], &[]);
    }

    fn clear(&self, field: &mut Buffer<T>) {
        self.zero.map::<T>(&self.device, &[], &[field], &[]);
    }

    fn program(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Program<T>> {
        Program::new(&Task { gpu: self, sweep, axis, points, operators: &operators.rounded() })
    }

    fn program_of_advanced(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Option<Program<T>>> {
        Program::of_advanced(&Task {
            gpu: self,
            sweep,
            axis,
            points,
            operators: &operators.rounded(),
        })
    }

    fn run(
        &self,
        program: &Program<T>,
        read: &[&Buffer<T>],
        write: &mut [&mut Buffer<T>],
        weights: Weights,
    ) {
        program.run(self, read, write, &[], weights);
    }

    fn prepare(&self, formula: PointFormula) -> Result<Prepared> {
        Prepared::new::<T>(&self.device, self.len, &formula)
    }

    fn map(
        &self,
        formula: &Prepared,
        read: &[&Buffer<T>],
        write: &mut [&mut Buffer<T>],
        parameters: &[f64],
    ) {
        formula.map(&self.device, read, write, parameters);
    }

    fn reduce(
        &self,
        formula: &Prepared,
        read: &[&Buffer<T>],
        parameters: &[f64],
    ) -> Result<Reduction> {
        formula.reduce(&self.device, read, parameters).map(Reduction::Pending)
    }
}
