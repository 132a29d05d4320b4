//! Where a bench runs: a backend, with what the benches need of it beyond what a run does.

use std::sync::Arc;

use rayon::prelude::*;

use super::measure::Clock;
use super::permute::HostPermutation;
use crate::backend::cpu::{self, Cpu};
use crate::backend::device::{Device, Gpu, LineSolver, Permutation, SweepKernel, obstacle};
use crate::backend::ranks::Blocks;
use crate::backend::{Backend, Field, Program, Share, Weights};
use crate::comm::Communicator;
use crate::config::{ComputeConfig, Config, Pencils};
use crate::engine::{Formula, LineOperators, Number, Op, PointFormula, SweepBuilder};
use crate::error::{Result, refused};
use crate::grid::{Axis, Block, Decomposition};
use crate::real::{Precision, Real};
use crate::time::{check_device_memory, check_memory, check_sweeps};

/// What the user chose.
pub(super) struct Setup {
    /// `None` is the host.
    pub(super) device: Option<Arc<Device>>,
    pub(super) compute: ComputeConfig,
    /// The core of each thread, where this rank has some of the host's to itself.
    cores: Option<Vec<usize>>,
    /// Where the ranks are, on rank 0 of several.
    pub(super) placement: Option<String>,
}

impl Setup {
    /// Each rank of a host has its share of the cores, and the next device. Collective.
    pub(super) fn new(compute: ComputeConfig, comm: &dyn Communicator) -> Result<Self> {
        let Share { device, compute, cores, placement } = Share::find(compute, comm)?;
        Ok(Self { device, compute, cores, placement })
    }

    /// The same with sweeps cut as `config` asks, lines solved by `solver`.
    pub(super) fn cut(&self, config: &Config, solver: Option<LineSolver>) -> Result<Self> {
        let sweeps = config.compute.sweeps;
        let is_chosen = solver.is_some() || self.compute.pencils == Pencils::Permuted;
        let why = match &self.device {
            _ if !sweeps.is_set() => None,
            None => Some("the CPU has no such blocks"),
            Some(_) if is_chosen => Some("beside it sweeps are run operator by operator"),
            Some(_) => None,
        };
        if let Some(why) = why {
            let advice = "take out `--set compute.sweeps`, or `--method` and `--pencils`";
            return Err(refused(format!("compute.sweeps: {why}"), advice));
        }
        Ok(Self {
            device: self.device.clone(),
            compute: ComputeConfig { sweeps, ..self.compute.clone() },
            cores: self.cores.clone(),
            placement: self.placement.clone(),
        })
    }

    /// Fields of `len` values, lines solved by `solver`.
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
    pub(super) fn obstacle(
        &self,
        solver: LineSolver,
        operators: &LineOperators,
        axis: Axis,
    ) -> Option<String> {
        let operator = operators.get(axis, Op::D1);
        match &self.device {
            Some(device) => obstacle(solver, operator, (axis, self.compute.pencils), device.info()),
            None => cpu::obstacle(solver, operator),
        }
    }

    /// # Errors
    /// Where a run of `config` has no room for its `block`, on a host with so many ranks.
    pub(super) fn check_room(
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

    /// Whether device memory, or what stands for it, is the host's.
    pub(super) fn shares_memory(&self) -> bool {
        self.device.as_ref().is_none_or(|device| !device.info().is_gpu)
    }

    /// Bytes of device memory.
    pub(super) fn device_memory(&self) -> Option<f64> {
        let device = self.device.as_ref()?;
        Some(device.free_memory().unwrap_or(device.info().memory) as f64)
    }

    /// Bytes of the largest field.
    pub(super) fn largest_buffer(&self) -> Option<f64> {
        self.device.as_ref().map(|device| device.info().largest_buffer as f64)
    }

    /// How a device solves lines along y and z.
    pub(super) fn pencils(&self) -> Option<&'static str> {
        self.device.as_ref().map(|_| match self.compute.pencils {
            Pencils::Strided => "strided",
            Pencils::Permuted => "permuted",
        })
    }
}

/// A copy that the compiler does not make a call to the system's own copy of.
struct Negated;

impl Formula<1, 1> for Negated {
    #[inline(always)]
    fn at<N: Number>(&self, [f]: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [-f]
    }
}

/// What one field is made of another by.
pub(super) enum Work<'a> {
    /// −f of f: as much traffic as a copy.
    Negation,
    /// A copy by a library or a driver, which may do what no loop of ours does.
    LibraryCopy,
    /// ∂/∂`axis` by the solver of the place.
    Derivative(&'a LineOperators, Axis),
    /// Axis `order[a]` becomes axis a.
    Permutation([usize; 3]),
}

/// [`Work`] that is ready to run.
pub(super) type Ready<'a> = Box<dyn Fn(&Field, &mut Field) + Sync + 'a>;

/// A backend that can be measured.
pub(super) trait Place: Blocks {
    /// What to call [`Work::Negation`] and [`Work::LibraryCopy`].
    fn copies(&self) -> [&'static str; 2];

    fn clock(&self) -> Clock;

    /// Operations a second in registers, where it can be measured.
    fn peak(&self) -> Option<f64> {
        None
    }

    /// The kernel of `program`, where it is one.
    fn kernel(&self, program: &Program) -> Result<Option<SweepKernel>> {
        let _ = program;
        Ok(None)
    }

    /// `work` on fields of `points`.
    fn ready(&self, work: Work<'_>, points: [usize; 3]) -> Result<Ready<'_>>;
}

impl<T: Real> Place for Cpu<T> {
    fn copies(&self) -> [&'static str; 2] {
        ["ordinary-stores", "copy_from_slice"]
    }

    fn clock(&self) -> Clock {
        Clock::Host
    }

    fn peak(&self) -> Option<f64> {
        Some(Cpu::peak(self))
    }

    fn ready(&self, work: Work<'_>, points: [usize; 3]) -> Result<Ready<'_>> {
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
                let program = backend.program(&s.build(), axis, points, operators)?;
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

/// Those of two fields on the host.
fn values<'a, T: Real>(from: &'a Field, to: &'a mut Field) -> (&'a [T], &'a mut [T]) {
    (from.get::<cpu::Field<T>>(), to.get_mut::<cpu::Field<T>>())
}

impl Place for Gpu {
    fn copies(&self) -> [&'static str; 2] {
        ["kernel", "driver"]
    }

    fn clock(&self) -> Clock {
        Clock::Device(self.device().clone())
    }

    fn kernel(&self, program: &Program) -> Result<Option<SweepKernel>> {
        Gpu::kernel(self, program)
    }

    fn ready(&self, work: Work<'_>, points: [usize; 3]) -> Result<Ready<'_>> {
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

fn negation(backend: &dyn Backend) -> Result<Ready<'_>> {
    let negation = backend.prepare(PointFormula::map(Negated))?;
    Ok(Box::new(move |from, to| backend.map(&negation, &[from], &mut [to], &[])))
}
