//! What a driver can do: CUDA and OpenCL behind one small face.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::ranks::DeviceGroup;
use crate::error::{Error, Result};
use crate::real::Precision;

/// A buffer, kernel, event or graph of a driver. Its meaning is the runtime's own; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Handle(pub(super) u64);

impl Handle {
    /// Keep `object` under a handle that nothing else has.
    pub(super) fn to<T>(object: T, among: &mut impl Extend<(Handle, T)>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let handle = Handle(1 + LAST.fetch_add(1, Ordering::Relaxed));
        among.extend([(handle, object)]);
        handle
    }
}

/// The programming interface of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// NVIDIA's.
    Cuda,
    /// Khronos': GPUs of any maker, and CPUs through PoCL.
    OpenCl,
}

impl Api {
    /// As a user calls it.
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
    /// Its number in the order of that interface.
    pub index: usize,
    /// Name by its maker.
    pub name: String,
    /// Driver and its version.
    pub driver: String,
    /// True for a GPU, false for an OpenCL CPU device.
    pub is_gpu: bool,
    /// Bytes of device memory.
    pub memory: u64,
    /// Bytes of the largest single buffer.
    pub largest_buffer: u64,
    /// Bytes of on-chip memory that one block may take.
    pub on_chip: usize,
    /// Most threads of a block.
    pub block_threads: usize,
    /// Multiprocessors, each of which runs blocks of its own.
    pub multiprocessors: usize,
    /// True where it computes in f64.
    pub has_f64: bool,
    /// True where it copies to on-chip memory while threads compute, or where copies are as cheap as loads.
    pub copies_beside: bool,
}

impl DeviceInfo {
    /// The precision that sums are taken in.
    pub(super) fn widest(&self) -> Precision {
        if self.has_f64 { Precision::F64 } else { Precision::F32 }
    }
}

/// A kernel text with everything it is specialised to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// What to call it in messages of the compiler.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A kernel that a device is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelRequest {
    /// The whole text.
    pub source: Source,
    /// The kernel within it.
    pub entry: String,
    /// Threads of a block along x, y, z.
    pub threads: [u32; 3],
    /// Bytes of on-chip memory of a block.
    pub on_chip: usize,
}

/// What a compiled kernel takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Registers of a thread.
    pub(super) registers: usize,
    /// Blocks that a multiprocessor holds at once.
    pub(super) resident: usize,
}

/// Most arguments of a kernel: as many pointers as every OpenCL device takes (1024 bytes; OpenCL 1.2,
/// `CL_DEVICE_MAX_PARAMETER_SIZE`).
pub(super) const MOST_ARGUMENTS: usize = 128;

/// Most bytes that are sent to a device at once while it works on.
pub(super) const MOST_SENT: usize = 8 * 4096;

/// Most bytes that are read while the device goes on.
pub(super) const MOST_FETCHED: usize = 128;

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

/// One kernel to be run: see [`KernelRequest`].
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

/// A device with its one queue of work: what is launched, copied and recorded is done in that order. Only
/// [`Runtime::download`], [`Runtime::fetched`], [`Runtime::finish`] and [`Runtime::seconds`] wait for the device. Errors are
/// what the driver or the compiler says, where a call waits also of the work before.
pub(super) trait Runtime: Send + Sync {
    /// The device.
    fn info(&self) -> &DeviceInfo;

    /// Bytes of device memory that are free now, where the driver tells.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// A buffer of `bytes` > 0, its content undefined.
    fn allocate(&self, bytes: usize) -> Result<Handle>;

    fn release(&self, buffer: Handle);

    /// Lock `bytes` bytes of host memory to their place, so that copies run at full speed; false where the driver has no
    /// such thing, or refuses.
    fn pin(&self, _: *mut u8, _bytes: usize) -> bool {
        false
    }

    /// Give memory that was pinned back to the system's care. No copy may be under way.
    fn unpin(&self, _: *mut u8) {}

    /// Write `data` to a buffer, `offset` bytes from its start. `data` may be reused on return; where it was pinned, after
    /// the next call that waits.
    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()>;

    /// Read from a buffer, `offset` bytes from its start, after all work queued before.
    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()>;

    /// Write to the start of a buffer, at most [`MOST_SENT`] bytes, after all work queued before, which is not waited for.
    fn send(&self, data: &[u8], to: Handle) -> Result<()>;

    /// Begin to read the first `bytes` bytes of a buffer, at most [`MOST_FETCHED`], after all work queued before.
    fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle>;

    /// What was read: waits for that alone, not for work queued since.
    fn fetched(&self, copy: Handle, to: &mut [u8]) -> Result<()>;

    /// Where a buffer lies in the memory of the device, where the driver tells.
    fn address(&self, _: Handle) -> Option<*mut u8> {
        None
    }

    /// Copy the first `bytes` of one buffer to the start of another.
    fn copy(&self, from: Handle, to: Handle, bytes: usize) -> Result<()>;

    /// Whether its compiler takes long, and works in several threads at once.
    fn compiles_at_once(&self) -> bool {
        false
    }

    /// A kernel, compiled, or as it was compiled before. It lives as long as the runtime, unless discarded. Other threads may ask for
    /// kernels of other texts meanwhile.
    fn kernel(&self, request: &KernelRequest) -> Result<Handle>;

    /// Bytes that a thread of a kernel keeps in device memory, where the driver tells: values that it has no registers for.
    fn spilled(&self, _: Handle) -> Result<usize> {
        Ok(0)
    }

    /// What a kernel takes in blocks of so many threads and bytes of on-chip memory, where the driver tells.
    fn usage(&self, _: Handle, _threads: usize, _on_chip: usize) -> Result<Option<Usage>> {
        Ok(None)
    }

    /// Give back a kernel that nobody holds, and the others of its text.
    fn discard(&self, _: Handle) {}

    fn launch(&self, launch: &Launch) -> Result<()>;

    /// The launches as one unit that is cheaper to start again, where the driver has such a thing.
    fn graph(&self, _: &[Launch]) -> Result<Option<Handle>> {
        Ok(None)
    }

    fn replay(&self, _: Handle) -> Result<()> {
        Err(Error::Device("this driver has no graphs".into()))
    }

    fn forget(&self, _: Handle) {}

    /// Wait until all queued work is done.
    fn finish(&self) -> Result<()>;

    /// A point in the queue whose time will be known.
    fn record(&self) -> Result<Handle>;

    /// Device time between two recorded points, in seconds; waits for the second and forgets both.
    fn seconds(&self, from: Handle, to: Handle) -> Result<f64>;

    /// Queue the solution of tridiagonal systems by the maker's own library, where there is one.
    fn solve_tridiagonal(&self, _: &Tridiagonal) -> Result<()> {
        Err(Error::Device(format!(
            "the line solver `cusparse` needs a CUDA device; {} is none",
            self.info().name
        )))
    }

    /// What all ranks of a new group have to know, from rank 0; nothing from others, which look whether they can join one.
    fn group_id(&self, _rank: usize) -> Result<Vec<u8>> {
        Err(Error::Device("OpenCL has no messages between devices".into()))
    }

    /// The group of all ranks that know `id`, for (this rank, number of ranks). The group goes before the runtime. Collective.
    fn join(&self, _id: &[u8], _: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        unreachable!("there is no number of a group without groups")
    }
}
