//! GPUs: the kernels of `kernels/`, run through CUDA or OpenCL.
//!
//! A [`Device`] keeps what is to be done in a list and hands it over when a result is asked for, or the list is long:
//! starting many kernels at once costs less, and a list that comes again and again becomes a graph where the driver has
//! such a thing. Numbers that change from run to run (dt) lie in device memory, not among the arguments of a kernel, so
//! that the lists of two steps are the same.

mod blocks;
mod choice;
mod coming;
mod composed;
pub mod cuda;
mod ends;
mod formula;
mod fused;
mod gpu;
mod lines;
mod opencl;
mod permute;
mod pointwise;
mod program;
mod queue;
mod recording;
mod runtime;
mod scratch;
mod text;

use std::marker::PhantomData;
use std::sync::Arc;

pub use blocks::{Combination, Pinned};
pub use choice::{check_memory, choose, why_not_cuda};
pub use coming::Coming;
pub use gpu::{Fusing, Gpu, is_one_kernel};
pub use lines::{DeviceOperator, obstacle};
pub use permute::Permutation;
pub use queue::{Arg, Device, Kernel, Traffic};
pub use recording::{RecordedKernel, Recording};
pub use runtime::{Api, DeviceInfo, Source};
pub use scratch::Scratch;

use crate::error::Result;
use crate::real::Real;
use runtime::{Handle, Runtime};

/// The text that makes CUDA C of a kernel file, or OpenCL C.
const PRELUDE: &str = include_str!("../../../kernels/prelude.cu");

/// The devices that `api` has on this machine, GPUs first.
///
/// # Errors
/// The sentence why there can be none.
pub fn devices(api: Api) -> Result<Vec<DeviceInfo>> {
    match api {
        Api::Cuda => cuda::list(),
        Api::OpenCl => opencl::list(),
    }
}

/// Open device `index` of those that `api` has.
///
/// # Errors
/// Where there is no such device, or its driver refuses.
fn open(api: Api, index: usize) -> Result<Arc<dyn Runtime>> {
    match api {
        Api::OpenCl => Ok(Arc::new(opencl::OpenCl::open(index)?)),
        Api::Cuda => Ok(Arc::new(cuda::Cuda::open(index)?)),
    }
}

/// `len` numbers in device memory.
pub struct Buffer<T> {
    device: Arc<Device>,
    handle: Handle,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Real> Buffer<T> {
    /// A buffer whose content is undefined.
    ///
    /// # Errors
    /// Where the device has no memory left.
    pub fn new(device: &Arc<Device>, len: usize) -> Result<Self> {
        let handle = device.allocate(len.max(1) * size_of::<T>())?;
        Ok(Self { device: device.clone(), handle, len, kind: PhantomData })
    }

    /// A buffer that holds `values`.
    ///
    /// # Errors
    /// Where the device has no memory left, or its driver refuses.
    pub fn from_host(device: &Arc<Device>, values: &[T]) -> Result<Self> {
        let mut buffer = Self::new(device, values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Replace the content, after all work queued before.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Panics
    /// Where the lengths differ.
    pub fn upload(&mut self, values: &[T]) -> Result<()> {
        assert_eq!(values.len(), self.len, "values and buffer differ in length");
        self.device.upload(bytes_of(values), self.handle, 0)
    }

    /// The content, after all work queued before.
    ///
    /// # Errors
    /// What the driver says, also of that work.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut values = vec![T::ZERO; self.len];
        self.device.download(self.handle, 0, bytes_of_mut(&mut values))?;
        Ok(values)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.release(self.handle);
    }
}

/// The memory of numbers.
fn bytes_of<T: Real>(values: &[T]) -> &[u8] {
    // SAFETY: f32 and f64 have no padding, and any address does for a byte.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_of_mut<T: Real>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any four or eight bytes are an f32 or f64.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
