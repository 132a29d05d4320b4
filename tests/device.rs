//! Tests of the device backend. Kernels run on PoCL where there is no GPU.

mod block_sweeps;
mod blocks;
mod budget;
mod coefficients;
mod copies;
pub(crate) mod cuda;
mod fused;
mod implicit;
mod lines;
mod nvrtc;
mod oclgrind;
mod permute;
mod planes;
mod quotients;
pub(crate) mod runtime;
mod small;
mod steps;
mod switches;

use std::sync::{Arc, LazyLock, Mutex};

use kolmo::backend::device::{Api, Device, Gpu};
use kolmo::config::{Pencils, Precision};

/// The first device of [`api`]. All tests share it, so that a kernel that several of them need is compiled once. A machine that
/// builds this program has at least PoCL.
static DEVICE: LazyLock<Arc<Device>> = LazyLock::new(open);

/// OpenCL, or the value of the environment variable KOLMO_TEST_DEVICE: `cuda` on a machine with an NVIDIA GPU.
fn api() -> Api {
    match std::env::var("KOLMO_TEST_DEVICE").as_deref() {
        Ok("cuda") => Api::Cuda,
        Ok(other) if other != "opencl" => {
            panic!("KOLMO_TEST_DEVICE={other}: must be cuda or opencl")
        }
        _ => Api::OpenCl,
    }
}

fn open() -> Arc<Device> {
    Device::open(api(), 0).unwrap_or_else(|error| panic!("{error}; run ./test"))
}

fn device() -> Arc<Device> {
    DEVICE.clone()
}

/// A backend for fields of `len` values on the shared device.
pub(crate) fn gpu(precision: Precision, len: usize) -> Gpu {
    Gpu::new(device(), precision, len, None, Pencils::Strided).unwrap()
}

/// Runs `task` on each item, two at a time, and returns the results in order. A compiler or an interpreter takes most of the
/// time, and machines that run these tests have at least two cores.
fn on_two_threads<A: Send, B: Send>(work: Vec<A>, task: impl Fn(&A) -> B + Sync) -> Vec<B> {
    let queue = Mutex::new(work.into_iter().enumerate().collect::<Vec<_>>().into_iter());
    let next = || queue.lock().unwrap().next();
    let mut results: Vec<(usize, B)> = std::thread::scope(|scope| {
        let thread = || {
            let mut results_of_thread = Vec::new();
            while let Some((at, item)) = next() {
                results_of_thread.push((at, task(&item)));
            }
            results_of_thread
        };
        let threads = [scope.spawn(thread), scope.spawn(thread)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
