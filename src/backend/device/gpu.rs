//! A device as a [`Backend`]: the number type of the trait outside, a precision inside.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use super::blocks::{Combination, Pinned, deal};
use super::lines::{self, DeviceOperator, LineSolver};
use super::numbers::{bytes_of, bytes_of_mut};
use super::pointwise::{PointKernel, Traced};
use super::program::{Fields, Program, Task};
use super::workspace::{self, Fusing, SHAPES, Workspace};
use super::{Api, Buffer, Device, DeviceInfo, Scratch, choose};
use crate::backend::ranks::{Blocks, Deal, Memory, Sums};
use crate::backend::{Backend, Largest, Weights};
use crate::config::{ComputeConfig, Pencils, Precision};
use crate::engine::distributed::Ends;
use crate::engine::{EndRow, Formula, LineOperator, LineOperators, Stencil, Sweep, trace};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::lines::Factors;
use crate::real::Real;

/// Fields of one length in the memory of a device.
pub struct Gpu<T> {
    workspace: Workspace,
    kind: PhantomData<fn() -> T>,
}

/// A formula, ready to run on a device.
pub struct Prepared<F>(PointKernel, PhantomData<fn() -> F>);

/// An operator with the same numbers in f64, which holds those of every precision.
fn widened<T: Real>(operator: &LineOperator<T>) -> LineOperator<f64> {
    let LineOperator { matrix, factors, stencil, periodic, left, right, ends } = operator;
    let wide = |values: &Vec<T>| values.iter().map(|x| x.f64()).collect::<Vec<_>>();
    let rows = |rows: &Vec<Vec<T>>| rows.iter().map(wide).collect();
    let end = |row: &EndRow<T>| EndRow { first: row.first, weights: wide(&row.weights) };
    LineOperator {
        matrix: matrix.clone(),
        factors: Factors {
            n: factors.n,
            half_band: factors.half_band,
            core: factors.core,
            head: factors.head,
            tail: factors.tail,
            lower: factors.lower.iter().map(|row| row.map(T::f64)).collect(),
            upper: factors.upper.iter().map(|row| row.map(T::f64)).collect(),
            rows: factors.rows.iter().map(|row| row.map(T::f64)).collect(),
            columns: factors.columns.iter().map(|row| row.map(T::f64)).collect(),
            corner: factors.corner.map(T::f64),
        },
        stencil: Stencil {
            half_width: stencil.half_width,
            center: stencil.center.f64(),
            weights: stencil.weights.map(T::f64),
            up: stencil.up,
            down: stencil.down,
            odd: stencil.odd,
        },
        periodic: *periodic,
        left: left.iter().map(end).collect(),
        right: right.iter().map(end).collect(),
        ends: ends.as_ref().map(|Ends { sources, left, right }| Ends {
            sources: sources.each_ref().map(rows),
            left: rows(left),
            right: rows(right),
        }),
    }
}

/// The operators of a sweep, widened.
fn operators_of<T: Real>(
    sweep: &Sweep,
    axis: Axis,
    operators: &LineOperators<T>,
) -> LineOperators<f64> {
    let widened = |op| (op, widened(operators.get(axis, op)));
    LineOperators::along(axis, sweep.operators().into_iter().map(widened).collect())
}

/// Why `solver` cannot do `operator` on this device, as a sentence that names the solvers that can; `None` where it can.
pub fn obstacle<T: Real>(
    solver: LineSolver,
    operator: &LineOperator<T>,
    info: &DeviceInfo,
) -> Option<String> {
    lines::obstacle(solver, &widened(operator), Precision::of::<T>(), info)
}

impl DeviceOperator {
    /// Compile the solver of `method`, for lines that lie as it says, for `operator` along `axis` of a grid of `points`, and allocate what it needs; `scratch`
    /// lends the fields that hold something only while it runs.
    ///
    /// # Errors
    /// The sentence of [`obstacle`] where there is one, and what the driver says.
    ///
    /// # Panics
    /// Where `operator` is not for lines of as many points as the grid has along `axis`.
    pub fn new<T: Real>(
        scratch: &Scratch,
        operator: &LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
        method: (LineSolver, Pencils),
    ) -> Result<Self> {
        Self::compile(scratch, &widened(operator), points, axis, method)
    }
}

/// Whether `sweep` over whole lines along `axis` is one kernel on a device, as far as that is known before it is compiled.
pub fn is_one_kernel<T: Real>(
    info: &DeviceInfo,
    compute: &ComputeConfig,
    sweep: &Sweep,
    axis: Axis,
    points: [usize; 3],
    operators: &LineOperators<T>,
) -> bool {
    let operators = operators_of(sweep, axis, operators);
    let operators = (Precision::of::<T>(), &operators);
    workspace::is_one_kernel(info, compute, sweep, axis, points, operators)
}

impl<T: Real> Gpu<T> {
    /// Fields of `len` values on `device`, lines solved by `solver`, or the one that fits each operator best.
    pub fn new(
        device: Arc<Device>,
        len: usize,
        solver: Option<LineSolver>,
        pencils: Pencils,
    ) -> Result<Self> {
        let workspace = Workspace::new(device, Precision::of::<T>(), len, solver, pencils)?;
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
        operator: &LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator> {
        self.workspace.operator(&widened(operator), points, axis)
    }

    fn traced<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        make: impl FnOnce((&Arc<Device>, Precision), usize, Traced) -> Result<PointKernel>,
    ) -> Result<Prepared<F>> {
        let Workspace { device, precision, len, .. } = &self.workspace;
        let (name, (nodes, results)) = (std::any::type_name::<F>(), trace(formula));
        let traced = Traced { name, reads: R, nodes: &nodes, results: &results };
        make((device, *precision), *len, traced).map(|kernel| Prepared(kernel, PhantomData))
    }

    fn reduction<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &F,
        maximum: bool,
    ) -> Result<Prepared<F>> {
        self.traced(formula, |place, len, of| PointKernel::reduction(place, len, of, maximum))
    }
}

impl<T: Real> Backend for Gpu<T> {
    type Real = T;
    type Field = Buffer;
    type Program = Program;
    type Prepared<F: Send + Sync + 'static> = Prepared<F>;

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
        let mut field = Buffer::new(self.device(), Precision::of::<T>(), len)?;
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
        operators: &LineOperators<T>,
    ) -> Result<Program> {
        let operators = &operators_of(sweep, axis, operators);
        Program::new(&Task { workspace: &self.workspace, sweep, axis, points, operators })
    }

    fn program_of_advanced(
        &self,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators<T>,
    ) -> Result<Option<Program>> {
        let operators = &operators_of(sweep, axis, operators);
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

    fn mapping<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Prepared<F>> {
        self.traced(&formula, PointKernel::map)
    }

    fn summing<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Prepared<F>> {
        self.reduction(&formula, false)
    }

    fn maximising<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: F,
    ) -> Result<Prepared<F>> {
        self.reduction(&formula, true)
    }

    fn map<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Prepared<F>,
        read: [&Buffer; R],
        write: [&mut Buffer; W],
        parameters: [f64; P],
    ) {
        formula.0.run(&read, &write, &parameters);
    }

    fn sum<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Prepared<F>,
        read: [&Buffer; R],
        parameters: [f64; P],
    ) -> Result<[f64; W]> {
        let mut results = [0.0; W];
        formula.0.begin(&read, &parameters)?.wait(&mut results)?;
        Ok(results)
    }

    fn max<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Prepared<F>,
        read: [&Buffer; R],
        parameters: [f64; P],
    ) -> Result<[f64; W]> {
        self.sum(formula, read, parameters)
    }

    fn max_begun<F: Formula<R, W, P>, const R: usize, const W: usize, const P: usize>(
        &self,
        formula: &Prepared<F>,
        read: [&Buffer; R],
        parameters: [f64; P],
    ) -> Result<Largest> {
        formula.0.begin(&read, &parameters).map(Largest::Coming)
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
        Combination::new((self.device(), Precision::of::<T>()), lines, &sums)
    }

    fn combine(&self, combination: &Combination, planes: &mut Buffer) {
        combination.run(planes);
    }

    fn deal(&self, of: &Deal, at: usize, field: &Buffer, parts: &mut Buffer) {
        self.device().note(deal(of, false, at, [field, parts]));
    }

    fn collect(&self, of: &Deal, at: usize, parts: &Buffer, field: &mut Buffer) {
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
