//! Kernels on a device: PoCL where there is no GPU.

mod lines;
mod permute;
mod steps;

use std::sync::{Arc, LazyLock};

use kolmo::backend::device::{Api, Device};

/// The first OpenCL device, the same for all tests, so that a kernel that several of them need is compiled once. A machine
/// that builds this program has one, PoCL at least.
static DEVICE: LazyLock<Arc<Device>> = LazyLock::new(|| Device::open(Api::OpenCl, 0).unwrap());

fn device() -> Arc<Device> {
    DEVICE.clone()
}
