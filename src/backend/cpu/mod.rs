//! The host: threads by rayon, SIMD by the compiler in tiles of lines, the instruction set chosen at run time.
//!
//! Work is divided in the same way for any number of threads and sums are evaluated in a fixed order, so results do not
//! depend on the number of threads.

mod applied;
mod backend;
mod block_solver;
mod blocks;
mod closed;
mod copy;
mod direct_step;
mod eliminate;
mod ends;
mod field;
#[cfg(target_arch = "x86_64")]
mod machine;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_machine.rs"]
mod machine;
mod memory;
mod passes;
mod peak;
mod point_code;
mod pointwise;
mod products;
mod program;
mod reduced;
mod rows;
mod run;
mod solver;
mod stager;
mod strips;
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
pub use point_code::PointCode;
pub use program::Program;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
pub use reduced::why_unsupported;

use crate::backend::device::LineSolver;
use crate::backend::{ComputeConfig, Simd};
use crate::comm::placement;
use crate::error::{Error, Result, refused};
use crate::real::Real;
use rows::Scratch;

/// Maximum number of fields that a program or a formula reads or writes.
const MAX_FIELDS: usize = 24;

/// When a thread loads fields into its caches: while it applies operators, or when it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loading {
    Interleaved,
    OnDemand,
}

/// A way to execute sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    loading: Loading,
    /// Whether machine code is generated where the processor allows it.
    generated: bool,
}

/// The ways, by name, preferred ones first; only the first generates code. Where that loads the fields itself, it does
/// so on demand.
static SHAPES: [(&str, Shape); 3] = [
    ("generated code", Shape { loading: Loading::Interleaved, generated: true }),
    ("compiled loops", Shape { loading: Loading::Interleaved, generated: false }),
    ("compiled loops, loads on demand", Shape { loading: Loading::OnDemand, generated: false }),
];

/// The ways that are possible with an instruction set.
fn shapes(arch: pulp::Arch) -> &'static [(&'static str, Shape)] {
    if machine::is_available(arch) { &SHAPES } else { &SHAPES[1..] }
}

/// Threads, their scratch memory, and the instruction set.
pub struct Cpu<T> {
    pool: Arc<ThreadPool>,
    scratch: Vec<Mutex<Scratch<T>>>,
    partials: Mutex<Vec<f64>>,
    arch: pulp::Arch,
    shape: Shape,
    line_solver: LineSolver,
}

impl<T: Real> Cpu<T> {
    /// Creates a backend with `threads` threads, or one per core.
    ///
    /// # Errors
    /// If the system cannot start the threads, or their number far exceeds what the machine can run.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        threads.map_or(Ok(()), check_threads)?;
        Self::with_threads(threads.unwrap_or(0), ThreadPoolBuilder::new())
    }

    /// Creates a backend with the options `compute`, and with one thread pinned to each of `cores` (system numbers) if
    /// given.
    ///
    /// # Errors
    /// As for [`Cpu::new`], and if the processor does not support the requested vector instructions.
    pub fn configured(compute: &ComputeConfig, cores: Option<&[usize]>) -> Result<Self> {
        let arch = compute.simd.map(arch).transpose()?;
        let backend = match cores {
            Some(cores) => {
                let (number, cores) = (cores.len(), cores.to_vec());
                let pin = move |i| placement::pin(cores[i]);
                Self::with_threads(number, ThreadPoolBuilder::new().start_handler(pin))?
            }
            None => Self::new(compute.threads)?,
        };
        let line_solver = compute.line_solver.unwrap_or(LineSolver::THOMAS);
        let arch = arch.unwrap_or(backend.arch);
        Ok(Self { arch, shape: shapes(arch)[0].1, line_solver, ..backend })
    }

    /// Creates a backend with `number` threads, 0 for one per core.
    fn with_threads(number: usize, threads: ThreadPoolBuilder) -> Result<Self> {
        let threads = threads.num_threads(number).thread_name(|i| format!("kolmo-{i}"));
        if !stacks_fit(number) {
            return Err(thread_error("their stacks do not fit into its memory"));
        }
        let pool = pool(threads.stack_size(STACK_BYTES)).map_err(thread_error)?;
        let scratch = (0..pool.current_num_threads()).map(|_| Mutex::default()).collect();
        let (arch, partials) = (pulp::Arch::new(), Mutex::default());
        let (shape, line_solver) = (shapes(arch)[0].1, LineSolver::THOMAS);
        Ok(Self { pool, scratch, partials, arch, shape, line_solver })
    }

    /// Runs `work`, many operations on fields, on one of the threads: entering the thread pool once is cheaper than for
    /// every operation.
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

    /// Name of the instruction set.
    pub fn simd(&self) -> &'static str {
        simd_name(self.arch)
    }
}

type PoolResult = std::result::Result<Arc<ThreadPool>, ThreadPoolBuildError>;

#[cfg(not(target_family = "wasm"))]
fn pool(threads: ThreadPoolBuilder) -> PoolResult {
    threads.build().map(Arc::new)
}

/// The single thread of a web page can belong to one pool only: all backends share it.
#[cfg(target_family = "wasm")]
fn pool(threads: ThreadPoolBuilder) -> PoolResult {
    static POOL: std::sync::OnceLock<Arc<ThreadPool>> = std::sync::OnceLock::new();
    if let Some(pool) = POOL.get() {
        return Ok(pool.clone());
    }
    let pool = Arc::new(threads.num_threads(1).use_current_thread().build()?);
    Ok(POOL.get_or_init(|| pool).clone())
}

/// Stack size of a thread in bytes.
const STACK_BYTES: usize = 2 << 20;

/// True if the system can provide the stacks of this many threads (0 for one per core) at once: a thread that gets a
/// stack but no further memory aborts the program, and it is arbitrary which thread that is. The memory is not touched,
/// so none is used.
fn stacks_fit(threads: usize) -> bool {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads };
    let Ok(stacks) = Layout::array::<[u8; STACK_BYTES]>(threads) else {
        return false;
    };
    // SAFETY: the size is not zero, and the memory is returned with the same layout.
    unsafe {
        let start = hint::black_box(System.alloc(stacks));
        if !start.is_null() {
            System.dealloc(start, stacks);
        }
        !start.is_null()
    }
}

/// Number of threads that is allowed even on a machine of few cores; with more, idle threads take time from the others.
const ALWAYS_ALLOWED_THREADS: usize = 256;

/// Rejects numbers of threads at which scheduling dominates: the time of a step rises with the square of their number.
fn check_threads(threads: usize) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let max = ALWAYS_ALLOWED_THREADS.max(4 * cores);
    if threads <= max {
        return Ok(());
    }
    Err(refused(
        format!(
            "{threads} threads are more than this machine of {cores} cores can use: at most {max}"
        ),
        "leave out `compute.threads` for one thread per core",
    ))
}

fn thread_error(error: impl Display) -> Error {
    refused(
        format!("the system cannot start the threads: {error}"),
        "use fewer (`compute.threads`), or allow more memory or processes (`ulimit -v`, `ulimit -u`)",
    )
}

/// Returns the requested vector instructions if the processor supports them.
fn arch(simd: Simd) -> Result<pulp::Arch> {
    let available = match simd {
        Simd::Baseline => Some(pulp::Arch::Scalar),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => pulp::x86::V4::try_new().map(pulp::Arch::V4),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => pulp::x86::V3::try_new().map(pulp::Arch::V3),
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => pulp::aarch64::Neon::try_new().map(pulp::Arch::Neon),
        _ => None,
    };
    available.ok_or_else(|| {
        let (requested, best) = (format!("{simd:?}").to_lowercase(), simd_name(pulp::Arch::new()));
        refused(
            format!("compute.simd = \"{requested}\": the best that this processor has is {best}"),
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
