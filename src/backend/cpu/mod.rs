//! The host: threads by rayon, SIMD by the compiler in tiles of lines, the instruction set chosen at run time.
//!
//! Work is cut the same way for any number of threads and sums are taken in a fixed order, so results do not depend on
//! the number of threads.

mod applied;
mod backend;
mod block_solver;
mod blocks;
mod closed;
mod copy;
mod eliminate;
mod ends;
mod field;
mod memory;
mod passes;
mod peak;
mod pointwise;
mod products;
mod program;
mod reduced;
mod rows;
mod run;
mod solver;
mod stager;
mod straight;
mod substitute;
mod sums;
mod tile;
mod transpose;
mod vectors;
mod work;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Display;
use std::hint;
use std::sync::{Arc, Mutex};

pub use field::Field;
pub use program::Program;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
pub use reduced::obstacle;

use crate::backend::device::LineSolver;
use crate::backend::{ComputeConfig, Simd};
use crate::comm::placement;
use crate::error::{Error, Result, refused};
use crate::real::Real;
use rows::Scratch;

/// Most fields that a program or a formula reads or writes.
const MAX_FIELDS: usize = 24;

/// How a thread brings fields into its caches: while it applies operators, or when it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loading {
    Beside,
    WhenNeeded,
}

/// The usual one and the other, by name.
const SHAPES: [(&str, Loading); 2] =
    [("loaded beside operators", Loading::Beside), ("loaded when needed", Loading::WhenNeeded)];

/// Threads, their scratch memory, and the instruction set.
pub struct Cpu<T> {
    pool: Arc<ThreadPool>,
    scratch: Vec<Mutex<Scratch<T>>>,
    partials: Mutex<Vec<f64>>,
    arch: pulp::Arch,
    loading: Loading,
    line_solver: LineSolver,
}

impl<T: Real> Cpu<T> {
    /// A backend with `threads` threads, or one a core.
    ///
    /// # Errors
    /// Where the system does not give the threads, or they are far more than it can run.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        threads.map_or(Ok(()), check_threads)?;
        Self::with(threads.unwrap_or(0), ThreadPoolBuilder::new())
    }

    /// A backend as `compute` says, with a thread that stays on each of `cores`, by the system's numbers, where they are given.
    ///
    /// # Errors
    /// As above, and where the processor has no such vector instructions.
    pub fn configured(compute: &ComputeConfig, cores: Option<&[usize]>) -> Result<Self> {
        let arch = compute.simd.map(arch).transpose()?;
        let usual = match cores {
            Some(cores) => {
                let (number, cores) = (cores.len(), cores.to_vec());
                let pin = move |i| placement::pin(cores[i]);
                Self::with(number, ThreadPoolBuilder::new().start_handler(pin))?
            }
            None => Self::new(compute.threads)?,
        };
        let line_solver = compute.line_solver.unwrap_or(LineSolver::THOMAS);
        Ok(Self { arch: arch.unwrap_or(usual.arch), line_solver, ..usual })
    }

    /// A backend with `number` threads, 0 for one a core.
    fn with(number: usize, threads: ThreadPoolBuilder) -> Result<Self> {
        let threads = threads.num_threads(number).thread_name(|i| format!("kolmo-{i}"));
        if !stacks_fit(number) {
            return Err(no_threads("their stacks do not fit into its memory"));
        }
        let pool = pool(threads.stack_size(STACK)).map_err(no_threads)?;
        let scratch = (0..pool.current_num_threads()).map(|_| Mutex::default()).collect();
        let (arch, partials) = (pulp::Arch::new(), Mutex::default());
        let (loading, line_solver) = (Loading::Beside, LineSolver::THOMAS);
        Ok(Self { pool, scratch, partials, arch, loading, line_solver })
    }

    /// Run `work`, many operations on fields, on one of the threads: handing over to them once is cheaper than at every
    /// operation.
    pub fn within<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The instruction set in use.
    pub fn arch(&self) -> pulp::Arch {
        self.arch
    }

    /// The same in words.
    pub fn simd(&self) -> &'static str {
        simd_name(self.arch)
    }
}

type Built = std::result::Result<Arc<ThreadPool>, ThreadPoolBuildError>;

#[cfg(not(target_family = "wasm"))]
fn pool(threads: ThreadPoolBuilder) -> Built {
    threads.build().map(Arc::new)
}

/// The one thread of a page in a browser, which can be in one pool alone: all backends have that.
#[cfg(target_family = "wasm")]
fn pool(threads: ThreadPoolBuilder) -> Built {
    static POOL: std::sync::OnceLock<Arc<ThreadPool>> = std::sync::OnceLock::new();
    if let Some(pool) = POOL.get() {
        return Ok(pool.clone());
    }
    let pool = Arc::new(threads.num_threads(1).use_current_thread().build()?);
    Ok(POOL.get_or_init(|| pool).clone())
}

/// Bytes of the stack of a thread.
const STACK: usize = 2 << 20;

/// Whether the system gives the stacks of so many threads, 0 for one a core, at once: a thread that has a stack, but nothing beside
/// it, ends the program, and which one that is would be chance. Nothing is touched, so nothing is taken.
fn stacks_fit(threads: usize) -> bool {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads };
    let Ok(stacks) = Layout::array::<[u8; STACK]>(threads) else {
        return false;
    };
    // SAFETY: of more than no bytes, and given back as they were asked for.
    unsafe {
        let start = hint::black_box(System.alloc(stacks));
        if !start.is_null() {
            System.dealloc(start, stacks);
        }
        !start.is_null()
    }
}

/// Threads that a machine of few cores may have as well: with more, those that have nothing to do take the time of the others.
const MOST_THREADS: usize = 256;

/// Refuse threads that would keep the machine busy with themselves: the time of a step rises with the square of their number.
fn check_threads(threads: usize) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = MOST_THREADS.max(4 * cores);
    if threads <= most {
        return Ok(());
    }
    Err(refused(
        format!(
            "{threads} threads are more than this machine of {cores} cores can use: at most {most}"
        ),
        "leave out `compute.threads` for one thread a core",
    ))
}

fn no_threads(error: impl Display) -> Error {
    refused(
        format!("the system does not start the threads: {error}"),
        "use fewer (`compute.threads`), or allow more memory or processes (`ulimit -v`, `ulimit -u`)",
    )
}

/// These vector instructions, where the processor has them.
fn arch(simd: Simd) -> Result<pulp::Arch> {
    let found = match simd {
        Simd::Baseline => Some(pulp::Arch::Scalar),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => pulp::x86::V4::try_new().map(pulp::Arch::V4),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => pulp::x86::V3::try_new().map(pulp::Arch::V3),
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => pulp::aarch64::Neon::try_new().map(pulp::Arch::Neon),
        _ => None,
    };
    found.ok_or_else(|| {
        let (asked, best) = (format!("{simd:?}").to_lowercase(), simd_name(pulp::Arch::new()));
        refused(
            format!("compute.simd = \"{asked}\": the best that this processor has is {best}"),
            "leave out `compute.simd` for that",
        )
    })
}

/// The best instruction set of this machine that the kernels were compiled for.
#[cfg(target_arch = "x86_64")]
fn simd_name(arch: pulp::Arch) -> &'static str {
    match arch {
        pulp::Arch::V4(_) => "AVX-512",
        pulp::Arch::V3(_) => "AVX2 and FMA",
        _ => "SSE2",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn simd_name(arch: pulp::Arch) -> &'static str {
    match arch {
        pulp::Arch::Scalar => "baseline",
        _ => "NEON",
    }
}
