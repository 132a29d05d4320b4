//! Interface to a driver, common to CUDA and OpenCL.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::ranks::DeviceGroup;
use crate::error::{Error, Result};
use crate::real::Precision;

/// A buffer, kernel, event or graph of a driver. Only the runtime knows its meaning; 0 means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Handle(pub(super) u64);

impl Handle {
    /// Stores `object` under a unique handle.
    pub(super) fn store<T>(object: T, collection: &mut impl Extend<(Handle, T)>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let handle = Handle(1 + LAST.fetch_add(1, Ordering::Relaxed));
        collection.extend([(handle, object)]);
        handle
    }
}

/// The programming interface of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// NVIDIA's.
    Cuda,
    /// Khronos': GPUs of any vendor, and CPUs through PoCL.
    OpenCl,
}

impl Api {
    /// Returns its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Api::Cuda => "CUDA",
            Api::OpenCl => "OpenCL",
        }
    }
}

/// A device and its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Its interface.
    pub api: Api,
    /// Device number in the order of that interface.
    pub index: usize,
    /// Vendor's name of the device.
    pub name: String,
    /// Driver and its version.
    pub driver: String,
    /// True for a GPU, false for an OpenCL CPU device.
    pub is_gpu: bool,
    /// Bytes of device memory.
    pub memory: u64,
    /// Bytes of the largest single buffer.
    pub largest_buffer: u64,
    /// Largest number of on-chip bytes per block.
    pub on_chip: usize,
    /// Largest number of threads per block.
    pub block_threads: usize,
    /// Number of multiprocessors; each runs its own blocks.
    pub multiprocessors: usize,
    /// Whether it computes in f64.
    pub has_f64: bool,
    /// Whether copies to on-chip memory run while threads compute, or are as cheap as loads.
    pub has_async_copies: bool,
}

impl DeviceInfo {
    /// Returns the precision of sums.
    pub(super) fn sum_precision(&self) -> Precision {
        if self.has_f64 { Precision::F64 } else { Precision::F32 }
    }
}

/// A kernel text with all its constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Name for messages of the compiler.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A kernel to be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelRequest {
    /// The whole text.
    pub source: Source,
    /// Name of the kernel in the text.
    pub entry: String,
    /// Threads per block along x, y, z.
    pub threads: [u32; 3],
    /// Bytes of on-chip memory per block.
    pub on_chip: usize,
}

/// Resources of a compiled kernel on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Registers per thread.
    pub(super) registers: usize,
    /// Resident blocks per multiprocessor.
    pub(super) resident: usize,
}

/// Largest number of arguments of a kernel: the number of pointers that every OpenCL device accepts (1024 bytes; OpenCL
/// 1.2, `CL_DEVICE_MAX_PARAMETER_SIZE`).
pub(super) const MAX_ARGUMENTS: usize = 128;

/// Largest number of bytes sent to a device in one copy that does not wait for its work.
pub(super) const MAX_SEND_BYTES: usize = 8 * 4096;

/// Largest number of bytes read while the device continues.
pub(super) const MAX_FETCH_BYTES: usize = 128;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    /// A pointer to the start of a buffer.
    Buffer(Handle),
    /// An `int`.
    Int(i32),
    /// A `float`, by its bits.
    Float(u32),
    /// A `double`, by its bits.
    Double(u64),
}

/// One kernel launch: see [`KernelRequest`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Launch {
    pub(super) kernel: Handle,
    /// Blocks along x, y, z.
    pub(super) blocks: [u32; 3],
    pub(super) threads: [u32; 3],
    pub(super) on_chip: usize,
    /// In the order of the kernel's parameters.
    pub(super) arguments: Vec<Argument>,
}

/// Many tridiagonal systems in device memory: see [`Device::solve_tridiagonal`](super::Device::solve_tridiagonal).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tridiagonal {
    pub(super) precision: Precision,
    pub(super) rows: i32,
    pub(super) batches: i32,
    pub(super) stride: i32,
    /// Lower, main and upper diagonal, and the right-hand sides.
    pub(super) arrays: [Handle; 4],
}

/// A device with its single queue of work: launches, copies and events are done in order. Only [`Runtime::download`],
/// [`Runtime::finish_fetch`], [`Runtime::finish`] and [`Runtime::seconds`] wait for the device. Errors contain the message
/// of the driver or the compiler; calls that wait also return errors of earlier work.
pub(super) trait Runtime: Send + Sync {
    /// The device.
    fn info(&self) -> &DeviceInfo;

    /// Returns the bytes of free device memory, if the driver reports them.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// Allocates a buffer of `bytes` > 0 with undefined content.
    fn allocate(&self, bytes: usize) -> Result<Handle>;

    fn release(&self, buffer: Handle);

    /// Page-locks `bytes` bytes of host memory, so that copies run at full speed; returns false if the driver does not
    /// support it, or refuses.
    fn pin(&self, _: *mut u8, _bytes: usize) -> bool {
        false
    }

    /// Unpins memory. No copy may be under way.
    fn unpin(&self, _: *mut u8) {}

    /// Writes `data` to a buffer, `offset` bytes from its start. `data` may be reused on return; if it is pinned, after
    /// the next call that waits.
    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()>;

    /// Reads from a buffer, `offset` bytes from its start, after all work queued before.
    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()>;

    /// Writes at most [`MAX_SEND_BYTES`] bytes to the start of a buffer, after all work queued before, without waiting for it.
    fn send(&self, data: &[u8], to: Handle) -> Result<()>;

    /// Starts to read the first `bytes` bytes of a buffer, at most [`MAX_FETCH_BYTES`], after all work queued before.
    fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle>;

    /// Returns the data of a copy: waits only for the copy, not for work queued since.
    fn finish_fetch(&self, copy: Handle, to: &mut [u8]) -> Result<()>;

    /// Returns the address of a buffer in device memory, if the driver reports it.
    fn address(&self, _: Handle) -> Option<*mut u8> {
        None
    }

    /// Copies the first `bytes` of a buffer to the start of another.
    fn copy(&self, from: Handle, to: Handle, bytes: usize) -> Result<()>;

    /// Whether its compiler is slow, and runs in several threads concurrently.
    fn compiles_concurrently(&self) -> bool {
        false
    }

    /// Compiles a kernel, or returns it if it was compiled before. It lives as long as the runtime, unless discarded.
    /// Other threads may request kernels of other texts at the same time.
    fn kernel(&self, request: &KernelRequest) -> Result<Handle>;

    /// Returns the bytes per thread that a kernel spills to device memory, if the driver reports them.
    fn spilled_bytes(&self, _: Handle) -> Result<usize> {
        Ok(0)
    }

    /// Returns the resources of a kernel in blocks with these threads and on-chip bytes, if the driver reports them.
    fn usage(&self, _: Handle, _threads: usize, _on_chip: usize) -> Result<Option<Usage>> {
        Ok(None)
    }

    /// Discards an unused kernel, and the other kernels of its text.
    fn discard(&self, _: Handle) {}

    fn launch(&self, launch: &Launch) -> Result<()>;

    /// Makes the launches one unit that is cheaper to start again, if the driver supports it.
    fn graph(&self, _: &[Launch]) -> Result<Option<Handle>> {
        Ok(None)
    }

    fn replay(&self, _: Handle) -> Result<()> {
        Err(Error::Device("this driver has no graphs".into()))
    }

    fn destroy_graph(&self, _: Handle) {}

    /// Waits until all queued work is done.
    fn finish(&self) -> Result<()>;

    /// Records an event in the queue, whose time can be read later.
    fn record(&self) -> Result<Handle>;

    /// Returns the device time between two events in seconds; waits for the second and destroys both.
    fn seconds(&self, from: Handle, to: Handle) -> Result<f64>;

    /// Queues the solution of tridiagonal systems by the vendor's library, if there is one.
    fn solve_tridiagonal(&self, _: &Tridiagonal) -> Result<()> {
        Err(Error::Device(format!(
            "the line solver `cusparse` needs a CUDA device; {} is not one",
            self.info().name
        )))
    }

    /// Returns, on rank 0, the identifier of a new group for all ranks; other ranks return nothing and only check that
    /// they can join one.
    fn group_id(&self, _rank: usize) -> Result<Vec<u8>> {
        Err(Error::Device("OpenCL has no messages between devices".into()))
    }

    /// Joins the group of all ranks that have `id`, as (this rank, number of ranks). The group is dropped before the
    /// runtime. Collective.
    fn join(&self, _id: &[u8], _: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        unreachable!("there is no group identifier without groups")
    }
}
