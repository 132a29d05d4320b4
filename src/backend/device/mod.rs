//! GPUs: the kernels of `kernels/`, run through CUDA or OpenCL.
//!
//! A [`Device`] collects launches in a list and submits it when a result is requested or the list is long: starting many
//! kernels at once is cheaper, and a list that occurs repeatedly becomes a graph if the driver supports graphs. Scalars
//! that change from run to run (dt) are in device memory, not among the arguments of a kernel, so that two steps have the
//! same list.
//!
//! A call that returns a `Result` fails with the message of the driver or the compiler, also for work that was queued
//! before; other errors are described where they occur.

mod block_solver;
mod block_sweeps;
mod blocks;
mod buffer;
mod choice;
mod coefficients;
mod composed;
#[cfg(not(target_family = "wasm"))]
pub mod cuda;
#[cfg(target_family = "wasm")]
#[path = "absent.rs"]
pub mod cuda;
mod ends;
mod fused;
mod gpu;
mod job;
mod lines;
mod list;
mod numbers;
#[cfg(not(target_family = "wasm"))]
mod opencl;
#[cfg(target_family = "wasm")]
#[path = "absent.rs"]
mod opencl;
mod permute;
mod pointwise;
mod program;
mod queue;
mod recording;
mod runtime;
mod sweep_kernel;
mod text;
mod workspace;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use block_sweeps::{BlockKernels, BlockSweeps};
pub use buffer::{Buffer, PendingReduction, Scratch};
pub use choice::{check_memory, choose, why_not_cuda};
pub use gpu::Gpu;
pub use lines::{DeviceOperator, LineSolver, why_unsupported};
pub(in crate::backend) use lines::{OnHost, tolerance};
pub use permute::Permutation;
pub use pointwise::PointKernel;
pub use queue::{Arg, Device, Kernel, Traffic};
pub use recording::Recording;
pub use runtime::{Api, DeviceInfo, KernelRequest, Source};
pub use sweep_kernel::SweepKernel;
pub use workspace::{Fusing, IsKernel, is_kernel};

use crate::error::Result;
use workspace::Workspace;

/// Locks `mutex`, also after another thread has panicked with the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the devices of `api` on this machine, GPUs first.
///
/// # Errors
/// The sentence that explains why there are none.
pub fn devices(api: Api) -> Result<Vec<DeviceInfo>> {
    match api {
        Api::Cuda => cuda::list(),
        Api::OpenCl => opencl::list(),
    }
}

/// Returns the content of `cell`, which is initialised first if it is empty.
fn get_or_try_init<T>(cell: &OnceLock<T>, init: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = init()?;
    Ok(cell.get_or_init(|| value))
}
