//! A device as a [`Backend`]: the number type of the trait outside, a precision inside.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use super::blocks::{Combination, Pinned, deal};
use super::lines::{DeviceOperator, LineSolver};
use super::numbers::{bytes_of, bytes_of_mut};
use super::pointwise::PointKernel;
use super::program::{Fields, Program, Task};
use super::workspace::{Fusing, SHAPES, Workspace};
use super::{Api, Buffer, Device, choose};
use crate::backend::ranks::{Blocks, Memory, Sums, TransposeLayout};
use crate::backend::{Backend, Reduction, Weights};
use crate::backend::{ComputeConfig, Pencils};
use crate::engine::{Formula, LineOperator, LineOperators, Number, PointFormula, Sweep};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// Fields of one length in the memory of a device.
pub struct Gpu<T> {
    workspace: Workspace,
    kind: PhantomData<fn() -> T>,
}

/// A copy.
pub(super) struct Same;

impl Formula<1, 1> for Same {
    fn at<N: Number>(&self, read: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        read
    }
}

/// 0.
pub(super) struct Zero;

impl Formula<0, 1> for Zero {
    fn at<N: Number>(&self, _: [N; 0], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [N::of(0.0)]
    }
}

impl<T: Real> Gpu<T> {
    /// Fields of `len` values on `device`, lines solved by `solver`, or the one that fits each operator best.
    pub fn new(
        device: Arc<Device>,
        len: usize,
        solver: Option<LineSolver>,
        pencils: Pencils,
    ) -> Result<Self> {
        let workspace = Workspace::new(device, T::PRECISION, len, solver, pencils)?;
        Ok(Self { workspace, kind: PhantomData })
    }

    /// The same with other sweeps fused. Where nothing is said, those that keep their values on chip are on a GPU where nobody chose how
    /// lines are solved; on a CPU none, whose compilers take long over such kernels.
    #[must_use]
    pub fn fusing(mut self, fusing: Fusing) -> Self {
        self.workspace.fusing = fusing;
        self
    }

    /// Fields of `len` values on `device`, lines solved as `compute` says.
    pub fn configured(device: Arc<Device>, len: usize, compute: &ComputeConfig) -> Result<Self> {
        Self::new(device, len, compute.line_solver, compute.pencils)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.workspace.device
    }

    /// `operator` along `axis`, solved as the lines of every sweep are.
    ///
    /// # Errors
    /// Where the solver cannot, or what the driver or the compiler says.
    pub fn operator(
        &self,
        operator: &LineOperator,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator> {
        self.workspace.operator(operator, points, axis)
    }
}

impl<T: Real> Backend for Gpu<T> {
    type Real = T;
    type Field = Buffer;
    type Program = Program;
    type Prepared = PointKernel;

    fn open(compute: &ComputeConfig, len: usize) -> Result<Self> {
        let Some((api, index)) = choose(compute, 0)? else {
            return Err(Error::Device("no GPU was found; `kolmo info` says why".into()));
        };
        Self::configured(Device::open(api, index)?, len, compute)
    }

    fn name(&self) -> &'static str {
        match self.device().info().api {
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
        Some(self.device().info().name.clone())
    }

    fn queues(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        self.workspace.note().into_iter().collect()
    }

    fn shapes(&self) -> Vec<&'static str> {
        match self.workspace.fusing {
            Fusing::OnChip => SHAPES.map(|(name, _)| name).to_vec(),
            _ => Vec::new(),
        }
    }

    fn shaped(self, shape: &str) -> Self {
        match SHAPES.into_iter().find(|(name, _)| *name == shape) {
            Some((_, fusing)) => self.fusing(fusing),
            None => self,
        }
    }

    fn shape(&self) -> Option<&'static str> {
        let fusing = self.workspace.fusing;
        SHAPES.into_iter().find(|(_, known)| *known == fusing).map(|(name, _)| name)
    }

    fn finish(&self) -> Result<()> {
        self.device().finish()
    }

    fn field(&self, values: Vec<T>) -> Result<Buffer> {
        assert_eq!(values.len(), self.workspace.len, "a field of another grid");
        Buffer::from_host(self.device(), &values)
    }

    fn zeros(&self, len: usize) -> Result<Buffer> {
        assert_eq!(len, self.workspace.len, "a field of another grid");
        let mut field = Buffer::new(self.device(), T::PRECISION, len)?;
        self.clear(&mut field);
        Ok(field)
    }

    fn values<'a>(&self, field: &'a Buffer) -> Result<Cow<'a, [T]>> {
        field.download().map(Cow::Owned)
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer) {
        self.workspace.copy.run(&[from], &[to], &[]);
    }

    fn clear(&self, field: &mut Buffer) {
        self.workspace.clear.run(&[], &[field], &[]);
    }

    fn program(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Program> {
        Program::new(&Task { workspace: &self.workspace, sweep, axis, points, operators })
    }

    fn program_of_advanced(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Option<Program>> {
        Program::of_advanced(&Task { workspace: &self.workspace, sweep, axis, points, operators })
    }

    fn run(
        &self,
        program: &Program,
        read: &[&Buffer],
        write: &mut [&mut Buffer],
        weights: Weights,
    ) {
        program.run(Fields { read, write, planes: &[] }, weights);
    }

    fn prepare(&self, formula: PointFormula) -> Result<PointKernel> {
        let Workspace { device, precision, len, .. } = &self.workspace;
        PointKernel::new((device, *precision), *len, &formula)
    }

    fn map(
        &self,
        formula: &PointKernel,
        read: &[&Buffer],
        write: &mut [&mut Buffer],
        parameters: &[f64],
    ) {
        formula.run(read, write, parameters);
    }

    fn reduce(
        &self,
        formula: &PointKernel,
        read: &[&Buffer],
        parameters: &[f64],
    ) -> Result<Reduction> {
        formula.begin(read, parameters).map(Reduction::Pending)
    }
}

impl<T: Real> Blocks for Gpu<T> {
    type Combination = Combination;
    type Staging = Pinned<T>;

    fn staging(&self, len: usize) -> Pinned<T> {
        Pinned::new(self.device(), vec![T::ZERO; len])
    }

    fn planes(&self, len: usize) -> Result<Buffer> {
        Buffer::from_host(self.device(), &vec![T::ZERO; len])
    }

    fn pack(
        &self,
        program: &Program,
        stage: usize,
        read: &[&Buffer],
        write: &mut [&mut Buffer],
        planes: &mut [Buffer],
    ) {
        program.pack(stage, Fields { read, write, planes });
    }

    fn complete(
        &self,
        program: &Program,
        read: &[&Buffer],
        write: &mut [&mut Buffer],
        planes: &[Buffer],
        weights: Weights,
    ) {
        program.run(Fields { read, write, planes }, weights);
    }

    fn run_on_beginnings(&self, program: &Program, read: &Buffer, write: &mut Buffer) {
        self.run(program, &[read], &mut [write], Weights::SET);
    }

    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination> {
        Combination::new((self.device(), T::PRECISION), lines, &sums)
    }

    fn combine(&self, combination: &Combination, planes: &mut Buffer) {
        combination.run(planes);
    }

    fn deal(&self, of: &TransposeLayout, at: usize, field: &Buffer, parts: &mut Buffer) {
        self.device().note(deal(of, false, at, [field, parts]));
    }

    fn collect(&self, of: &TransposeLayout, at: usize, parts: &Buffer, field: &mut Buffer) {
        self.device().note(deal(of, true, at, [field, parts]));
    }

    fn memory(&self, array: &mut Buffer) -> Memory {
        self.device().runtime.address(array.handle).map_or(Memory::Opaque, Memory::Device)
    }

    fn fetch(&self, array: &Buffer, first: usize, to: &mut [T]) -> Result<()> {
        array.read(first, bytes_of_mut(to))
    }

    fn put(&self, array: &mut Buffer, first: usize, values: &[T]) -> Result<()> {
        array.write(first, bytes_of(values))
    }
}
