//! Where fields live and loops run: one trait, the host and GPUs behind it.

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

/// What a run of a program multiplies by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// What is in a field before something is added to it. Where it is 0 the old content is not read.
    pub beta: f64,
    /// The sum of a field, where it advances a value.
    pub advance: f64,
}

impl Weights {
    /// Fields become what is added.
    pub const SET: Self = Self::times(0.0);
    /// What is added is added to what is there.
    pub const ADD: Self = Self::times(1.0);

    /// Fields become β times themselves plus what is added.
    pub const fn times(beta: f64) -> Self {
        Self { beta, advance: 0.0 }
    }

    /// Programs that run one after another, each with its weights: β is for the first that adds to fields, those after it add to what
    /// it made.
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

    /// Those of the programs that follow one in a list; `adds`: whether it adds to fields.
    fn after(self, adds: bool) -> Self {
        if adds { Self { beta: 1.0, ..self } } else { self }
    }
}

/// The sums or the largest values of a formula's results, at most [`Reduction::MOST`].
#[must_use = "it may have to be waited for"]
pub enum Reduction {
    /// They are known.
    Done([f64; Self::MOST]),
    /// They are on their way from a device.
    Pending(device::PendingReduction),
}

impl Reduction {
    /// Results of a formula.
    pub const MOST: usize = 16;

    /// Wait for them, as many as there are.
    ///
    /// # Errors
    /// What the device says of the work before.
    pub fn wait<const W: usize>(self) -> Result<[f64; W]> {
        let values = self.values()?;
        Ok(std::array::from_fn(|at| values[at]))
    }

    /// The same with zeros behind them.
    pub(crate) fn values(self) -> Result<[f64; Self::MOST]> {
        match self {
            Reduction::Done(values) => Ok(values),
            Reduction::Pending(pending) => {
                let mut values = [0.0; Self::MOST];
                pending.wait(&mut values)?;
                Ok(values)
            }
        }
    }
}

/// A map at a part of the points that fields hold, which reads no point that it writes.
pub struct OnPart {
    /// The map.
    pub formula: PointFormula,
    /// Points that fields hold.
    pub points: [usize; 3],
    /// Where it is evaluated.
    pub part: Block,
    /// What it reads of the fields that it writes: (field, values further on than the point).
    pub reads: Vec<(usize, isize)>,
    /// So many of the last fields hold the points of the part alone.
    pub own: usize,
}

/// Lines along an axis of a grid of so many points, and the operators of that grid.
pub type Lines<'a> = (Axis, [usize; 3], &'a LineOperators);

/// A place where fields live. Calls take effect in their order. Fields, programs and formulas are those that it made itself.
///
/// # Errors
/// Calls fail where there is no memory left for what they make, with what a compiler says of what they prepare, and with what the
/// device says of the work so far. An error of a call that returns nothing is reported by the next fallible call.
///
/// # Panics
/// Calls panic, on a device perhaps later, where fields are not as long or as many as a program or a formula takes, and where a sweep
/// has an operator that its grid lacks.
pub trait Backend: Send + Sync {
    /// Precision of the fields.
    fn precision(&self) -> Precision;

    /// Its name in an input: `cpu`, `cuda` or `opencl`.
    fn name(&self) -> &'static str;

    /// Threads on the host.
    fn threads(&self) -> usize;

    /// The vector instructions of the host that are used.
    fn simd(&self) -> &'static str;

    /// Name of the device that fields live on; `None` is the host.
    fn device_name(&self) -> Option<String>;

    /// The ranks that a grid is spread over. Fields hold the points of [`Backend::block`]; [`Backend::reduce`]
    /// goes over all ranks, and all ranks must ask for it.
    fn comm(&self) -> &dyn Communicator {
        &Solo
    }

    /// How a grid is cut over these ranks.
    fn decomposition(&self) -> Decomposition {
        Decomposition::ONE
    }

    /// The part of a grid of `points` that this rank holds.
    fn block(&self, points: [usize; 3]) -> Block {
        self.decomposition().block(self.comm().rank(), points)
    }

    /// True where work for this rank alone is queued while the host goes on: what is asked for early costs nobody a wait.
    fn queues(&self) -> bool {
        false
    }

    /// How it goes about its work, where there are choices that a user should know of: sentences.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The shapes in which it can cut its work, by name, the usual one first; empty where there is no choice.
    fn shapes(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Take one of its shapes for programs that are prepared from now on.
    fn set_shape(&mut self, shape: &str) {
        let _ = shape;
    }

    /// Its shape, where there is a choice.
    fn shape(&self) -> Option<&'static str> {
        None
    }

    /// Wait until all that was asked for is done.
    fn finish(&self) -> Result<()>;

    /// A field of `values`, rounded to its precision.
    fn field(&self, values: &Values<'_>) -> Result<Field>;

    /// A field of `len` zeros, one for every point of the block or of a part of it.
    fn zeros(&self, len: usize) -> Result<Field>;

    /// The values of a field, on the host.
    fn values<'a>(&self, field: &'a Field) -> Result<Values<'a>>;

    /// Make a field hold `values`, as many as it has, rounded to its precision.
    fn write(&self, field: &mut Field, values: &Values<'_>) -> Result<()>;

    /// Make one field equal to another.
    fn copy(&self, from: &Field, to: &mut Field);

    /// Make every value of a field zero.
    fn clear(&self, field: &mut Field);

    /// Do `work` for 0 to `count` − 1, what it prepares in several threads where its compiler takes long. See
    /// [`all_of`](#method.all_of).
    fn at_once(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// `sweep` ready to run along `lines`.
    fn program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program>;

    /// The same, which a device compiles when it is first run, or as [`Backend::compile`] asks; what a compiler says may be told after
    /// that.
    fn program_later(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        self.program(sweep, lines)
    }

    /// Compile those of `programs` that are to be run and are not compiled yet, at once.
    fn compile(&self, programs: &[&Program]) {
        let _ = programs;
    }

    /// The same of a sweep that applies operators to a field that it advances itself: `None` where it could not run.
    fn program_of_advanced(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Option<Program>>;

    /// Run `program`.
    fn run(&self, program: &Program, read: &[&Field], write: &mut [&mut Field], weights: Weights);

    /// Run programs one after another: β is for the first that adds to fields, those after it add to what it made.
    fn run_all(
        &self,
        programs: &mut dyn Iterator<Item = &Program>,
        read: &[&Field],
        write: &mut [&mut Field],
        weights: Weights,
    ) {
        for (program, weights) in weights.of_each(programs) {
            self.run(program, read, write, weights);
        }
    }

    /// A formula made ready for [`Backend::map`] or [`Backend::reduce`].
    fn prepare(&self, formula: PointFormula) -> Result<Prepared>;

    /// Evaluate a map at every point.
    fn map(
        &self,
        formula: &Prepared,
        read: &[&Field],
        write: &mut [&mut Field],
        parameters: &[f64],
    );

    /// A map made ready for [`Backend::map_part`].
    fn prepare_part(&self, map: OnPart) -> Result<Prepared>;

    /// Evaluate a map at the points of its part.
    fn map_part(&self, formula: &Prepared, fields: &mut [&mut Field], parameters: &[f64]);

    /// Sums over all points in a fixed order, or largest values; maybe still on their way: what is queued next is not waited
    /// for.
    fn reduce(&self, formula: &Prepared, read: &[&Field], parameters: &[f64]) -> Result<Reduction>;

    /// The same of the points of this rank alone.
    fn reduce_here(
        &self,
        formula: &Prepared,
        read: &[&Field],
        parameters: &[f64],
    ) -> Result<Reduction> {
        self.reduce(formula, read, parameters)
    }

    /// Room for a matrix of blocks of `nb` x `nb` numbers that is coloured so, whose rows are the points of fields; `halo` is what they
    /// know of other ranks.
    fn block_solver(
        &self,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<BlockSolver>;

    /// Take the numbers of a matrix of that colouring.
    fn set_blocks(&self, solver: &mut BlockSolver, matrix: Factored<f32>) -> Result<()>;

    /// x of A x ≈ b by sweeps from x = 0, where A was set: a field of each unknown of a row. Over ranks the sweeps are those of the whole
    /// matrix; all of them must ask for them.
    fn sweep_blocks(
        &self,
        solver: &mut BlockSolver,
        sweeps: Sweeps,
        b: &[&Field],
        x: &mut [&mut Field],
    );

    /// Do `work`, many calls of the above, where they cost least. See [`within`](#method.within).
    fn carry_out(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

impl dyn Backend + '_ {
    /// What `prepare` makes of each of `asked`, in their order; the compilers of a device work on them at once.
    ///
    /// # Errors
    /// The first in that order.
    pub fn all_of<A: Sync, B: Send + Sync>(
        &self,
        asked: &[A],
        prepare: impl Fn(&A) -> Result<B> + Sync,
    ) -> Result<Vec<B>> {
        let made: Vec<_> = asked.iter().map(|_| OnceLock::new()).collect();
        self.at_once(asked.len(), &|at| drop(made[at].set(prepare(&asked[at]))));
        let done = |made: OnceLock<_>| made.into_inner();
        made.into_iter().filter_map(done).collect()
    }

    /// What `work`, many calls to the backend, returns where they cost least.
    pub fn within<A: Send>(&self, work: impl FnOnce() -> A + Send) -> A {
        let (mut work, mut made) = (Some(work), None);
        self.carry_out(&mut || made = work.take().map(|work| work()));
        made.unwrap_or_else(|| unreachable!("work is done once"))
    }
}

impl From<Box<dyn Blocks>> for Arc<dyn Backend> {
    fn from(backend: Box<dyn Blocks>) -> Self {
        Arc::<dyn Blocks>::from(backend)
    }
}

/// The backend that `compute` asks for, on one rank, for fields of `len` values.
///
/// # Errors
/// Where there is no such device, or it refuses.
pub fn open(compute: &ComputeConfig, len: usize) -> Result<Box<dyn Blocks>> {
    match choose(compute, 0)? {
        Some((api, index)) => on_device(Device::open(api, index)?, len, compute),
        None => on_host(compute, None),
    }
}

/// Fields of `len` values on `device`, lines solved as `compute` says.
///
/// # Errors
/// What the device or its compiler says.
pub fn on_device(
    device: Arc<Device>,
    len: usize,
    compute: &ComputeConfig,
) -> Result<Box<dyn Blocks>> {
    Ok(Box::new(Gpu::configured(device, len, compute)?))
}

/// The host as `compute` says, with a thread on each of `cores` where they are given.
///
/// # Errors
/// Where the system does not give the threads, or the processor has no such vector instructions.
pub fn on_host(compute: &ComputeConfig, cores: Option<&[usize]>) -> Result<Box<dyn Blocks>> {
    Ok(match compute.precision {
        Precision::F64 => Box::new(Cpu::<f64>::configured(compute, cores)?),
        #[cfg(not(target_family = "wasm"))]
        Precision::F32 => Box::new(Cpu::<f32>::configured(compute, cores)?),
        // A page in a browser loads half as much.
        #[cfg(target_family = "wasm")]
        Precision::F32 => {
            let what = "compute.precision = \"f32\": a page in a browser computes in 64 bit";
            return Err(crate::Error::refused(what, ""));
        }
    })
}
