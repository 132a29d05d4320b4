//! Backends, which store fields and run loops: one trait, implemented by the host and by GPUs.

pub mod cpu;
pub mod device;
mod disk_cache;
mod environment;
mod handles;
mod options;
pub mod ranks;
mod share;

use std::sync::{Arc, OnceLock};

pub use disk_cache::DiskCache;
pub use handles::{BlockSolver, Combination, Field, Prepared, Program};
pub use options::{BackendChoice, ComputeConfig, Pencils, RightHandSide, Simd, SweepConfig, Wish};
pub(crate) use share::Share;

use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::comm::{Communicator, Solo};
use crate::engine::{LineOperators, PointFormula, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Block, Decomposition};
use crate::real::{Precision, Values};
use cpu::Cpu;
use device::{Device, Gpu, choose};
use ranks::Blocks;

/// Fields that are read.
pub type Sources<'a> = &'a [&'a Field];
/// Fields that are written.
pub type Targets<'a, 'f> = &'a mut [&'f mut Field];

/// Factors in a run of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Factor of a field before something is added to it. If it is 0 the old content is not read.
    pub beta: f64,
    /// Factor of the sum in a field where it advances a value.
    pub advance: f64,
}

impl Weights {
    /// Fields are replaced by the sums.
    pub const SET: Self = Self::times(0.0);
    /// Sums are added to the fields.
    pub const ADD: Self = Self::times(1.0);

    /// Fields become β times themselves plus the sums.
    pub const fn times(beta: f64) -> Self {
        Self { beta, advance: 0.0 }
    }

    /// Programs that run one after another, each with its weights: β applies to the first that adds to fields; later
    /// ones add to its result.
    fn of_each<'a>(
        mut self,
        programs: &mut dyn Iterator<Item = &'a Program>,
    ) -> impl Iterator<Item = (&'a Program, Self)> {
        programs.map(move |program| {
            let own = self;
            self = self.after(program.adds);
            (program, own)
        })
    }

    /// Weights of the programs after this one in a list; `adds`: whether this one adds to fields.
    fn after(self, adds: bool) -> Self {
        if adds { Self { beta: 1.0, ..self } } else { self }
    }
}

/// Sums or maxima of a formula's results, at most [`Reduction::MAX`].
#[must_use = "the result may still be pending"]
pub enum Reduction {
    /// The values are known.
    Done([f64; Self::MAX]),
    /// The values are being computed on a device.
    Pending(device::PendingReduction),
}

impl Reduction {
    /// Maximum number of results of a formula.
    pub const MAX: usize = 16;

    /// Waits for the values and returns W of them.
    ///
    /// # Errors
    /// Errors of the device in earlier work.
    pub fn wait<const W: usize>(self) -> Result<[f64; W]> {
        let values = self.values()?;
        Ok(std::array::from_fn(|at| values[at]))
    }

    /// Waits for the values and returns them padded with zeros.
    pub(crate) fn values(self) -> Result<[f64; Self::MAX]> {
        match self {
            Reduction::Done(values) => Ok(values),
            Reduction::Pending(pending) => {
                let mut values = [0.0; Self::MAX];
                pending.wait(&mut values)?;
                Ok(values)
            }
        }
    }
}

/// A map on a part of the points of the fields; it reads no point that it writes.
pub struct OnPart {
    /// The map.
    pub formula: PointFormula,
    /// Points stored in the fields.
    pub points: [usize; 3],
    /// Part where it is evaluated.
    pub part: Block,
    /// Inputs of the formula, read from the fields that it writes: (field, offset from the point in values).
    pub reads: Vec<(usize, isize)>,
    /// This many of the last fields hold the points of the part only.
    pub own: usize,
}

/// Lines along an axis of a grid with the given numbers of points, and the operators of that grid.
pub type Lines<'a> = (Axis, [usize; 3], &'a LineOperators);

/// Stores fields and runs loops on them. Calls take effect in their order. A backend accepts only fields, programs and
/// formulas that it created itself.
///
/// # Errors
/// Calls fail if memory for a new object is exhausted, if a compiler rejects the kernels that they prepare, and if the
/// device reports an error of earlier work. An error of a call that returns nothing is reported by the next fallible
/// call.
///
/// # Panics
/// Calls panic, on a device possibly later, if the length or number of fields is not that of a program or a formula,
/// and if a sweep has an operator that its grid lacks.
pub trait Backend: Send + Sync {
    /// Precision of the fields.
    fn precision(&self) -> Precision;

    /// Name in an input file: `cpu`, `cuda` or `opencl`.
    fn name(&self) -> &'static str;

    /// Number of threads on the host.
    fn threads(&self) -> usize;

    /// The vector instructions used on the host.
    fn simd(&self) -> &'static str;

    /// Name of the device that stores the fields; `None` is the host.
    fn device_name(&self) -> Option<String>;

    /// The ranks that a grid is distributed over. Fields hold the points of [`Backend::block`]; [`Backend::reduce`] is
    /// collective: it reduces over all ranks, and all ranks must call it.
    fn comm(&self) -> &dyn Communicator {
        &Solo
    }

    /// Decomposition of a grid over these ranks.
    fn decomposition(&self) -> Decomposition {
        Decomposition::ONE
    }

    /// The part of a grid of `points` that this rank holds.
    fn block(&self, points: [usize; 3]) -> Block {
        self.decomposition().block(self.comm().rank(), points)
    }

    /// True if work is queued while the host continues and concerns this rank only: a result that is requested early then
    /// delays neither the host nor another rank.
    fn queues(&self) -> bool {
        false
    }

    /// Choices in its work that a user should know of, as sentences.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names of the ways in which it can execute programs, the default first; empty if there is no choice.
    fn shapes(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Selects one of its shapes for programs that are prepared from now on.
    fn set_shape(&mut self, shape: &str) {
        let _ = shape;
    }

    /// Returns the current shape, if there is a choice.
    fn shape(&self) -> Option<&'static str> {
        None
    }

    /// Waits until all requested work is done.
    fn finish(&self) -> Result<()>;

    /// Creates a field of `values`, rounded to its precision.
    fn field(&self, values: &Values<'_>) -> Result<Field>;

    /// Creates a field of `len` zeros, one for every point of the block or of a part of it.
    fn zeros(&self, len: usize) -> Result<Field>;

    /// Returns the values of a field, on the host.
    fn values<'a>(&self, field: &'a Field) -> Result<Values<'a>>;

    /// Writes `values`, as many as the field has, to a field, rounded to its precision.
    fn write(&self, field: &mut Field, values: &Values<'_>) -> Result<()>;

    /// Copies one field to another.
    fn copy(&self, from: &Field, to: &mut Field);

    /// Sets every value of a field to zero.
    fn clear(&self, field: &mut Field);

    /// Calls `work` for 0 to `count` − 1, in several threads if the backend's compiler is slow. See
    /// [`all_of`](#method.all_of).
    fn for_each_concurrently(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// Prepares `sweep` for execution along `lines`.
    fn program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program>;

    /// Like [`Backend::program`], but a device compiles the kernels at the first run, or in [`Backend::compile`];
    /// compiler errors may be reported after that.
    fn lazy_program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        self.program(sweep, lines)
    }

    /// Compiles, concurrently, the `programs` that are not compiled yet. Call it for programs that will run.
    fn compile(&self, programs: &[&Program]) {
        let _ = programs;
    }

    /// Like [`Backend::program`], for a sweep that applies operators to a field that it advances itself: `None` if it
    /// could not run.
    fn program_on_advanced_field(&self, sweep: &Sweep, lines: Lines<'_>)
    -> Result<Option<Program>>;

    /// Runs `program`.
    fn run(&self, program: &Program, read: Sources, write: Targets, weights: Weights);

    /// Runs programs one after another: β applies to the first that adds to fields; later ones add to its result.
    fn run_all(
        &self,
        programs: &mut dyn Iterator<Item = &Program>,
        read: Sources,
        write: Targets,
        weights: Weights,
    ) {
        for (program, weights) in weights.of_each(programs) {
            self.run(program, read, write, weights);
        }
    }

    /// Prepares a formula for [`Backend::map`] or [`Backend::reduce`].
    fn prepare(&self, formula: PointFormula) -> Result<Prepared>;

    /// Evaluates a map at every point.
    fn map(&self, formula: &Prepared, read: Sources, write: Targets, parameters: &[f64]);

    /// Prepares a map for [`Backend::map_part`].
    fn prepare_part(&self, map: OnPart) -> Result<Prepared>;

    /// Evaluates a map at the points of its part.
    fn map_part(&self, formula: &Prepared, fields: Targets, parameters: &[f64]);

    /// Starts sums over all points in a fixed order, or maxima. They may still be pending on return; waiting for
    /// them does not wait for work that is queued later.
    fn reduce(&self, formula: &Prepared, read: Sources, parameters: &[f64]) -> Result<Reduction>;

    /// Like [`Backend::reduce`], for the points of this rank only.
    fn reduce_here(
        &self,
        formula: &Prepared,
        read: Sources,
        parameters: &[f64],
    ) -> Result<Reduction> {
        self.reduce(formula, read, parameters)
    }

    /// Allocates storage for a matrix of blocks of `nb` x `nb` numbers with the given colouring, whose rows are the
    /// points of fields; `halo` describes their values from other ranks.
    fn block_solver(
        &self,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<BlockSolver>;

    /// Sets the entries of a matrix with that colouring.
    fn set_blocks(&self, solver: &mut BlockSolver, matrix: Factored<f32>) -> Result<()>;

    /// Computes x of A x ≈ b by sweeps from x = 0, after A was set; one field per unknown of a row. Across ranks the
    /// sweeps are those of the whole matrix; the call is collective.
    fn sweep_blocks(&self, solver: &mut BlockSolver, sweeps: Sweeps, b: Sources, x: Targets);

    /// Runs `work`, which makes many calls to the methods above, where a call costs least. See [`within`](#method.within).
    fn execute(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

impl dyn Backend + '_ {
    /// Calls `prepare` for each of `requests` and returns the results in order; the compilers of a device work on them
    /// concurrently.
    ///
    /// # Errors
    /// The first error in that order.
    pub fn all_of<A: Sync, B: Send + Sync>(
        &self,
        requests: &[A],
        prepare: impl Fn(&A) -> Result<B> + Sync,
    ) -> Result<Vec<B>> {
        let results: Vec<_> = requests.iter().map(|_| OnceLock::new()).collect();
        self.for_each_concurrently(requests.len(), &|at| {
            drop(results[at].set(prepare(&requests[at])))
        });
        let done = |result: OnceLock<_>| result.into_inner();
        results.into_iter().filter_map(done).collect()
    }

    /// Runs `work`, which makes many calls to the backend, where a call costs least, and returns its result.
    pub fn within<A: Send>(&self, work: impl FnOnce() -> A + Send) -> A {
        let (mut work, mut result) = (Some(work), None);
        self.execute(&mut || result = work.take().map(|work| work()));
        result.unwrap_or_else(|| unreachable!("work is done once"))
    }
}

impl From<Box<dyn Blocks>> for Arc<dyn Backend> {
    fn from(backend: Box<dyn Blocks>) -> Self {
        Arc::<dyn Blocks>::from(backend)
    }
}

/// Opens the backend requested by `compute`, on one rank, for fields of `len` values.
///
/// # Errors
/// If there is no such device, or it cannot be used.
pub fn open(compute: &ComputeConfig, len: usize) -> Result<Box<dyn Blocks>> {
    match choose(compute, 0)? {
        Some((api, index)) => on_device(Device::open(api, index)?, len, compute),
        None => on_host(compute, None),
    }
}

/// Creates a backend on `device` for fields of `len` values, with the line solver of `compute`.
///
/// # Errors
/// Errors of the device or its compiler.
pub fn on_device(
    device: Arc<Device>,
    len: usize,
    compute: &ComputeConfig,
) -> Result<Box<dyn Blocks>> {
    Ok(Box::new(Gpu::configured(device, len, compute)?))
}

/// Creates the host backend with the options `compute`, and with one thread pinned to each of `cores` if given.
///
/// # Errors
/// If the system cannot start the threads, or the processor does not support the requested vector instructions.
pub fn on_host(compute: &ComputeConfig, cores: Option<&[usize]>) -> Result<Box<dyn Blocks>> {
    Ok(match compute.precision {
        Precision::F64 => Box::new(Cpu::<f64>::configured(compute, cores)?),
        #[cfg(not(target_family = "wasm"))]
        Precision::F32 => Box::new(Cpu::<f32>::configured(compute, cores)?),
        // The web page has no f32 code: it loads half as much.
        #[cfg(target_family = "wasm")]
        Precision::F32 => {
            let what = "compute.precision = \"f32\": a page in a browser computes in 64 bit";
            return Err(crate::Error::refused(what, ""));
        }
    })
}
