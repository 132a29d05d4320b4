//! The backend of a benchmark, with functions that a run does not need.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::permute::HostPermutation;
pub(super) use crate::backend::Share as Setup;
use crate::backend::cpu::{self, Cpu};
use crate::backend::device::{Device, Gpu, LineSolver, Permutation, SweepKernel, why_unsupported};
use crate::backend::ranks::Blocks;
use crate::backend::{Backend, Field, Program, Weights};
use crate::config::{ComputeConfig, Config, Pencils};
use crate::engine::{Formula, LineOperators, Number, Op, PointFormula, SweepBuilder};
use crate::error::{Result, refused};
use crate::grid::{Axis, Block, Decomposition};
use crate::real::{Precision, Real};
use crate::time::{available_memory, check_device_memory, check_memory, check_sweeps};

impl Setup {
    /// The same with the sweep blocks of `config` and the line solver `solver`.
    pub(super) fn with_sweeps_of(
        &self,
        config: &Config,
        solver: Option<LineSolver>,
    ) -> Result<Self> {
        let sweeps = config.compute.sweeps;
        let is_chosen = solver.is_some() || self.compute.pencils == Pencils::Permuted;
        if sweeps.is_set() && (self.device.is_none() || is_chosen) {
            let why = match self.device {
                None => "the CPU has no thread blocks",
                Some(_) => "with `--method` or `--pencils`, sweeps are run operator by operator",
            };
            let advice = "remove `--set compute.sweeps`, or `--method` and `--pencils`";
            return Err(refused(format!("compute.sweeps: {why}"), advice));
        }
        Ok(Self { compute: ComputeConfig { sweeps, ..self.compute.clone() }, ..self.clone() })
    }

    /// A place for fields of `len` values, with lines solved by `solver`.
    pub(super) fn place(&self, len: usize, solver: Option<LineSolver>) -> Result<Box<dyn Place>> {
        let cores = self.cores.as_deref();
        let compute = &ComputeConfig { line_solver: solver, ..self.compute.clone() };
        Ok(match (&self.device, compute.precision) {
            (Some(device), _) => Box::new(Gpu::configured(device.clone(), len, compute)?),
            (None, Precision::F64) => Box::new(Cpu::<f64>::configured(compute, cores)?),
            (None, Precision::F32) => Box::new(Cpu::<f32>::configured(compute, cores)?),
        })
    }

    /// Why `solver` cannot solve the lines of this operator.
    pub(super) fn why_unsupported(
        &self,
        solver: LineSolver,
        operators: &LineOperators,
        axis: Axis,
    ) -> Option<String> {
        let operator = operators.get(axis, Op::D1);
        match &self.device {
            Some(device) => {
                why_unsupported(solver, operator, (axis, self.compute.pencils), device.info())
            }
            None => cpu::why_unsupported(solver, operator),
        }
    }

    /// # Errors
    /// If a run of `config` on its `block` does not fit in memory, on a host with this many ranks.
    pub(super) fn check_fits(
        &self,
        config: &Config,
        decomposition: Decomposition,
        block: &Block,
        ranks: usize,
    ) -> Result<()> {
        match &self.device {
            Some(device) => {
                check_sweeps(config, block, device.info())?;
                check_device_memory(config, decomposition, block, device)
            }
            None => check_memory(config, decomposition, block, ranks),
        }
    }

    /// A memory that is too small for `on_host` bytes on the host, `on_place` bytes where fields are stored, or `largest` bytes
    /// in one buffer: its name, and the bytes needed and free.
    pub(super) fn insufficient_memory(
        &self,
        on_host: f64,
        on_place: f64,
        largest: f64,
    ) -> Option<(&'static str, [f64; 2])> {
        let device = self.device.as_ref();
        // The memory of a device that is not a GPU is that of the host.
        let is_shared = device.is_none_or(|device| !device.info().is_gpu);
        let on_host = on_host + if is_shared { on_place } else { 0.0 };
        let host = available_memory(1).map(|free| ("of memory", [on_host, free]));
        let own = device.map(|device| {
            let free = device.free_memory().unwrap_or(device.info().memory) as f64;
            ("of device memory", [on_place, free])
        });
        let buffer = |device: &Arc<Device>| device.info().largest_buffer as f64;
        let buffer = device.map(|device| ("in one buffer", [largest, buffer(device)]));
        [host, own, buffer].into_iter().flatten().find(|(_, [needed, free])| needed > free)
    }

    /// How a device solves lines along y and z.
    pub(super) fn pencils(&self) -> Option<&'static str> {
        self.device.as_ref().map(|_| match self.compute.pencils {
            Pencils::Strided => "strided",
            Pencils::Permuted => "permuted",
        })
    }
}

/// A copy that the compiler cannot replace by a call of the system's copy routine.
struct Negated;

impl Formula<1, 1> for Negated {
    fn at<N: Number>(&self, [f]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [-f]
    }
}

/// An operation from one field to another.
pub(super) enum Work<'a> {
    /// f → −f: the same traffic as a copy.
    Negation,
    /// A copy by a library or a driver, which may be faster than any loop in this code.
    LibraryCopy,
    /// ∂/∂`axis` by the solver of the place.
    Derivative(&'a LineOperators, Axis),
    /// Axis `order[a]` becomes axis a.
    Permutation([usize; 3]),
}

/// [`Work`] prepared to run.
pub(super) type PreparedWork<'a> = Box<dyn Fn(&Field, &mut Field) + Sync + 'a>;

/// A backend that can be measured.
pub(super) trait Place: Blocks {
    /// Names of [`Work::Negation`] and [`Work::LibraryCopy`].
    fn copies(&self) -> [&'static str; 2];

    /// Seconds of `work`, by the clock of the host or the events of the device.
    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64>;

    /// Floating-point operations per second in registers, if it can be measured.
    fn peak(&self) -> Option<f64> {
        None
    }

    /// The kernel of `program`, if it is a single kernel.
    fn kernel(&self, program: &Program) -> Result<Option<SweepKernel>> {
        let _ = program;
        Ok(None)
    }

    /// `work` on fields of `points`.
    fn prepare_work(&self, work: Work<'_>, points: [usize; 3]) -> Result<PreparedWork<'_>>;
}

impl<T: Real> Place for Cpu<T> {
    fn copies(&self) -> [&'static str; 2] {
        ["ordinary-stores", "copy_from_slice"]
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64> {
        let start = Instant::now();
        work();
        Ok(start.elapsed().as_secs_f64())
    }

    fn peak(&self) -> Option<f64> {
        Some(Cpu::peak(self))
    }

    fn prepare_work(&self, work: Work<'_>, points: [usize; 3]) -> Result<PreparedWork<'_>> {
        let backend: &dyn Backend = self;
        Ok(match work {
            Work::Negation => negation(backend)?,
            Work::LibraryCopy => Box::new(|from, to| {
                let (from, to) = values::<T>(from, to);
                let part = from.len().div_ceil(self.threads()).max(1);
                let parts = to.par_chunks_mut(part).zip(from.par_chunks(part));
                parts.for_each(|(to, from)| to.copy_from_slice(from));
            }),
            Work::Derivative(operators, axis) => {
                let s = SweepBuilder::new();
                s.store(0, s.d1(s.read(0)));
                let program = backend.program(&s.build(), (axis, points, operators))?;
                Box::new(move |from, to| backend.run(&program, &[from], &mut [to], Weights::SET))
            }
            Work::Permutation(order) => {
                let permutation = HostPermutation::new(points, order);
                Box::new(move |from, to| {
                    let (from, to) = values::<T>(from, to);
                    permutation.apply(from, to);
                })
            }
        })
    }
}

/// The values of two fields on the host.
fn values<'a, T: Real>(from: &'a Field, to: &'a mut Field) -> (&'a [T], &'a mut [T]) {
    (from.get::<cpu::Field<T>>(), to.get_mut::<cpu::Field<T>>())
}

impl Place for Gpu {
    fn copies(&self) -> [&'static str; 2] {
        ["kernel", "driver"]
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64> {
        self.device().time(work)
    }

    fn kernel(&self, program: &Program) -> Result<Option<SweepKernel>> {
        Gpu::kernel(self, program)
    }

    fn prepare_work(&self, work: Work<'_>, points: [usize; 3]) -> Result<PreparedWork<'_>> {
        Ok(match work {
            Work::Negation => negation(self)?,
            Work::LibraryCopy => Box::new(|from, to| self.device().copy(from.get(), to.get_mut())),
            Work::Derivative(operators, axis) => {
                let operator = self.operator(operators.get(axis, Op::D1), points, axis)?;
                Box::new(move |from, to| operator.apply(from.get(), to.get()))
            }
            Work::Permutation(order) => {
                let permutation = Permutation::new(self.device(), self.precision(), points, order)?;
                Box::new(move |from, to| permutation.apply(from.get(), to.get()))
            }
        })
    }
}

fn negation(backend: &dyn Backend) -> Result<PreparedWork<'_>> {
    let negation = backend.prepare(PointFormula::map(Negated))?;
    Ok(Box::new(move |from, to| backend.map(&negation, &[from], &mut [to], &[])))
}
