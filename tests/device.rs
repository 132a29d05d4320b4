//! Kernels on a device: PoCL where there is no GPU.

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

/// The first OpenCL device, the same for all tests, so that a kernel that several of them need is compiled once. A machine
/// that builds this program has one, PoCL at least.
static DEVICE: LazyLock<Arc<Device>> = LazyLock::new(open);

/// OpenCL, or what the variable KOLMO_TEST_DEVICE says: `cuda` on a machine with an NVIDIA GPU.
fn api() -> Api {
    match std::env::var("KOLMO_TEST_DEVICE").as_deref() {
        Ok("cuda") => Api::Cuda,
        Ok(other) if other != "opencl" => panic!("KOLMO_TEST_DEVICE={other}: cuda or opencl"),
        _ => Api::OpenCl,
    }
}

fn open() -> Arc<Device> {
    Device::open(api(), 0).unwrap_or_else(|error| panic!("{error}; run ./test"))
}

fn device() -> Arc<Device> {
    DEVICE.clone()
}

/// Fields of `len` values on the device that all tests share.
pub(crate) fn gpu(precision: Precision, len: usize) -> Gpu {
    Gpu::new(device(), precision, len, None, Pencils::Strided).unwrap()
}

/// Two at a time: what takes long is a compiler or an interpreter, and machines that run these tests have two cores or more.
fn on_two_threads<A: Send, B: Send>(work: Vec<A>, task: impl Fn(&A) -> B + Sync) -> Vec<B> {
    let queue = Mutex::new(work.into_iter().enumerate().collect::<Vec<_>>().into_iter());
    let next = || queue.lock().unwrap().next();
    let mut results: Vec<(usize, B)> = std::thread::scope(|scope| {
        let thread = || {
            let mut done = Vec::new();
            while let Some((at, item)) = next() {
                done.push((at, task(&item)));
            }
            done
        };
        let threads = [scope.spawn(thread), scope.spawn(thread)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
