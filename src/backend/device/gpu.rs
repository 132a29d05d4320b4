//! A device as a [`Backend`].

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::block_solver::Solver;
use super::blocks::{PlaneSums, deal, staging};
use super::lines::{DeviceOperator, LineSolver};
use super::pointwise::PointKernel;
use super::program::{self, Fields, LazyProgram, Task};
use super::sweep_kernel::SweepKernel;
use super::workspace::{Fusing, SHAPES, Workspace};
use super::{Api, Buffer, Device};
use crate::backend::handles::{BlockSolver, Combination, Field, Prepared, Program, all, all_mut};
use crate::backend::ranks::{Blocks, DeviceGroup, Memory, Staging, Sums, TransposeLayout};
use crate::backend::{
    Backend, ComputeConfig, Lines, OnPart, Pencils, Reduction, Sources, Targets, Weights,
};
use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::engine::{Formula, LineOperator, Number, PointFormula, Sweep};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::{Precision, Values};

/// Fields of one length in device memory.
pub struct Gpu {
    workspace: Arc<Workspace>,
    /// Which sweeps become one kernel.
    fusing: Fusing,
}

/// The copy formula.
pub(super) struct Same;

impl Formula<1, 1> for Same {
    fn at<N: Number>(&self, read: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        read
    }
}

/// The formula 0.
pub(super) struct Zero;

impl Formula<0, 1> for Zero {
    fn at<N: Number>(&self, _: [N; 0], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [N::of(0.0)]
    }
}

impl Gpu {
    /// Creates a backend for fields of `len` values of `precision` on `device`. Lines are solved by `solver`, or by
    /// default the best one for each operator.
    pub fn new(
        device: Arc<Device>,
        precision: Precision,
        len: usize,
        solver: Option<LineSolver>,
        pencils: Pencils,
    ) -> Result<Self> {
        let usual = ComputeConfig::default();
        let compute = ComputeConfig { precision, line_solver: solver, pencils, ..usual };
        Self::configured(device, len, &compute)
    }

    /// Changes which sweeps are fused. The default is, on a GPU, sweeps that keep their values on chip, unless the user
    /// has chosen a line solver or permuted pencils; on a CPU none, because its compilers are slow on such kernels, unless
    /// the user sets their block sizes.
    #[must_use]
    pub fn fusing(mut self, fusing: Fusing) -> Self {
        self.fusing = fusing;
        self
    }

    /// Creates a backend for fields of `len` values on `device`, with the line solver of `compute`.
    pub fn configured(device: Arc<Device>, len: usize, compute: &ComputeConfig) -> Result<Self> {
        let workspace = Workspace::new(device, len, compute)?;
        Ok(Self { fusing: workspace.default_fusing(), workspace: Arc::new(workspace) })
    }

    /// Returns the device.
    pub fn device(&self) -> &Arc<Device> {
        &self.workspace.device
    }

    /// Compiles `operator` along `axis` with the line solver of the sweeps.
    ///
    /// # Errors
    /// If the solver does not support the operator, or if the driver or the compiler fails.
    pub fn operator(
        &self,
        operator: &LineOperator,
        points: [usize; 3],
        axis: Axis,
    ) -> Result<DeviceOperator> {
        self.workspace.operator(operator, points, axis)
    }

    /// Returns the kernel of `program`; `None` if it runs operator by operator.
    pub fn kernel(&self, program: &Program) -> Result<Option<SweepKernel>> {
        program.get::<LazyProgram>().get()?.kernel()
    }

    fn lazy_program(&self, sweep: &Sweep, (axis, points, operators): Lines<'_>) -> LazyProgram {
        let (workspace, fusing) = (self.workspace.clone(), self.fusing);
        let (sweep, operators) = (sweep.clone(), operators.clone());
        let task = Task { workspace, fusing, sweep, axis, points, operators };
        LazyProgram { task, compiled: OnceLock::new() }
    }
}

impl Backend for Gpu {
    fn precision(&self) -> Precision {
        self.workspace.precision
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
        match self.fusing {
            // A user who sets block sizes wants fused kernels.
            Fusing::OnChip if !self.workspace.compute.sweeps.is_set() => {
                SHAPES.map(|(name, _)| name).to_vec()
            }
            _ => Vec::new(),
        }
    }

    fn set_shape(&mut self, shape: &str) {
        if let Some((_, fusing)) = SHAPES.into_iter().find(|(name, _)| *name == shape) {
            self.fusing = fusing;
        }
    }

    fn shape(&self) -> Option<&'static str> {
        let known = SHAPES.into_iter().find(|(_, known)| *known == self.fusing);
        known.map(|(name, _)| name)
    }

    fn finish(&self) -> Result<()> {
        self.device().finish()
    }

    fn field(&self, values: &Values<'_>) -> Result<Field> {
        let Workspace { device, precision, len, .. } = &*self.workspace;
        // Fewer values: fields of a part.
        assert!(values.len() <= *len, "a field of another grid");
        let mut field = Field::new(Buffer::new(device, *precision, values.len())?);
        self.write(&mut field, values)?;
        Ok(field)
    }

    fn zeros(&self, len: usize) -> Result<Field> {
        if len != self.workspace.len {
            return self.field(&Values::zeros(self.precision(), len));
        }
        let mut field = Field::new(Buffer::new(self.device(), self.precision(), len)?);
        self.clear(&mut field);
        Ok(field)
    }

    fn values<'a>(&self, field: &'a Field) -> Result<Values<'a>> {
        field.get::<Buffer>().values()
    }

    fn write(&self, field: &mut Field, values: &Values<'_>) -> Result<()> {
        let field: &Buffer = field.get();
        assert_eq!(field.len(), values.len(), "values for another field");
        match values.precision() == field.precision {
            true => field.write(0, values.bytes()),
            false => field.write(0, values.clone().with_precision(field.precision).bytes()),
        }
    }

    fn copy(&self, from: &Field, to: &mut Field) {
        self.workspace.copy.run(&[from.get()], &[to.get_mut()], &[]);
    }

    fn clear(&self, field: &mut Field) {
        self.workspace.clear.run(&[], &[field.get_mut()], &[]);
    }

    fn for_each_concurrently(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        match self.device().compiles_concurrently() {
            true => (0..count).into_par_iter().for_each(work),
            false => (0..count).for_each(work),
        }
    }

    fn program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        let lazy = self.lazy_program(sweep, lines);
        lazy.get()?;
        Ok(Program::new(lazy, sweep))
    }

    fn lazy_program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        match self.device().compiles_concurrently() {
            true => Ok(Program::new(self.lazy_program(sweep, lines), sweep)),
            false => self.program(sweep, lines),
        }
    }

    fn compile(&self, programs: &[&Program]) {
        let lazy = programs.iter().map(|program| program.get::<LazyProgram>());
        let missing: Vec<&LazyProgram> =
            lazy.filter(|lazy| lazy.compiled.get().is_none()).collect();
        // An error occurs again when the program runs, and is reported then.
        self.for_each_concurrently(missing.len(), &|at| drop(missing[at].get()));
    }

    fn program_on_advanced_field(
        &self,
        sweep: &Sweep,
        lines: Lines<'_>,
    ) -> Result<Option<Program>> {
        let LazyProgram { task, .. } = self.lazy_program(sweep, lines);
        let compiled = program::Program::of_advanced(&task)?;
        Ok(compiled
            .map(|compiled| Program::new(LazyProgram { task, compiled: compiled.into() }, sweep)))
    }

    fn run(&self, program: &Program, read: Sources, write: Targets, weights: Weights) {
        self.complete(program, read, write, &[], weights);
    }

    fn prepare(&self, formula: PointFormula) -> Result<Prepared> {
        let Workspace { device, precision, len, .. } = &*self.workspace;
        PointKernel::new((device, *precision), *len, &formula).map(Prepared::new)
    }

    fn map(&self, formula: &Prepared, read: Sources, write: Targets, parameters: &[f64]) {
        formula.get::<PointKernel>().run(&all(read), &all_mut(write), parameters);
    }

    fn prepare_part(&self, map: OnPart) -> Result<Prepared> {
        PointKernel::on_part((self.device(), self.precision()), &map).map(Prepared::new)
    }

    fn map_part(&self, formula: &Prepared, fields: Targets, parameters: &[f64]) {
        formula.get::<PointKernel>().run(&[], &all_mut(fields), parameters);
    }

    fn reduce(&self, formula: &Prepared, read: Sources, parameters: &[f64]) -> Result<Reduction> {
        formula.get::<PointKernel>().begin(&all(read), parameters).map(Reduction::Pending)
    }

    fn block_solver(
        &self,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<BlockSolver> {
        let border = self.planes(halo.len(nb))?;
        let place = (self.device(), self.precision());
        Solver::new(place, colouring, (halo, border), nb).map(BlockSolver::new)
    }

    fn set_blocks(&self, solver: &mut BlockSolver, matrix: Factored<f32>) -> Result<()> {
        solver.get_mut::<Solver>().set(&matrix)
    }

    fn sweep_blocks(&self, solver: &mut BlockSolver, sweeps: Sweeps, b: Sources, x: Targets) {
        self.sweep_blocks_with_exchange(solver, sweeps, b, x, &mut |_, _| ());
    }
}

impl Blocks for Gpu {
    fn staging(&self, values: usize) -> Staging {
        staging(self.device(), values * self.precision().bytes())
    }

    fn planes(&self, len: usize) -> Result<Field> {
        Buffer::table(self.device(), self.precision(), &vec![0.0; len]).map(Field::new)
    }

    fn pack(
        &self,
        program: &Program,
        stage: usize,
        read: Sources,
        write: Targets,
        planes: &mut [Field],
    ) {
        let (read, write, planes) = (all(read), all_mut(write), all(planes));
        let fields = Fields { read: &read, write: &write, planes: &planes };
        let compiled = program.get::<LazyProgram>().get();
        self.device().defer_error(compiled.map(|program| program.pack(stage, fields)));
    }

    fn complete(
        &self,
        program: &Program,
        read: Sources,
        write: Targets,
        planes: &[Field],
        weights: Weights,
    ) {
        let (read, write, planes) = (all(read), all_mut(write), all(planes));
        let fields = Fields { read: &read, write: &write, planes: &planes };
        let compiled = program.get::<LazyProgram>().get();
        self.device().defer_error(compiled.map(|program| program.run(fields, weights)));
    }

    fn run_on_leading_values(&self, program: &Program, read: &Field, write: &mut Field) {
        self.run(program, &[read], &mut [write], Weights::SET);
    }

    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination> {
        PlaneSums::new((self.device(), self.precision()), lines, &sums).map(Combination::new)
    }

    fn combine(&self, combination: &Combination, planes: &mut Field) {
        combination.get::<PlaneSums>().run(planes.get_mut());
    }

    fn deal(&self, of: &TransposeLayout, at: usize, field: &Field, parts: &mut Field) {
        self.device().defer_error(deal(of, false, at, [field.get(), parts.get_mut()]));
    }

    fn collect(&self, of: &TransposeLayout, at: usize, parts: &Field, field: &mut Field) {
        self.device().defer_error(deal(of, true, at, [field.get_mut(), parts.get()]));
    }

    fn sweep_blocks_with_exchange(
        &self,
        solver: &mut BlockSolver,
        sweeps: Sweeps,
        b: Sources,
        x: Targets,
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    ) {
        solver.get_mut::<Solver>().sweep(sweeps, &all(b), &all_mut(x), exchange);
    }

    fn memory(&self, array: &mut Field) -> Memory {
        let handle = array.get::<Buffer>().handle;
        self.device().runtime.address(handle).map_or(Memory::Opaque, Memory::Device)
    }

    fn fetch(&self, array: &Field, first: usize, to: &mut [u8]) -> Result<()> {
        array.get::<Buffer>().read(first, to)
    }

    fn put(&self, array: &mut Field, first: usize, from: &[u8]) -> Result<()> {
        array.get::<Buffer>().write(first, from)
    }

    fn group_id(&self, rank: usize) -> Result<Vec<u8>> {
        self.device().group_id(rank)
    }

    fn join(&self, id: &[u8], place: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        Ok(Box::new(self.device().join(id, place)?))
    }
}
