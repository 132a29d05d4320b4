//! A device: its buffers, the kernels compiled for it, and its queue of work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::list::{List, SCALAR_BYTES};
use super::numbers::to_i32;
use super::recording::{Recorder, Recording};
use super::runtime::{Handle, KernelRequest, Runtime, Source, Tridiagonal, Usage};
use super::{Api, Buffer, DeviceInfo, cuda, lock, opencl};
use crate::backend::ranks::{DeviceGroup, DeviceMessage, Underway};
use crate::error::{Error, Result};
use crate::real::Precision;

/// Largest number of blocks along y and z on every device (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
const MAX_BLOCKS_YZ: u32 = 65535;

/// A compiled kernel on a device.
#[derive(Clone)]
pub struct Kernel {
    device: Arc<Device>,
    pub(super) handle: Handle,
    pub(super) threads: [u32; 3],
    pub(super) on_chip: usize,
}

impl Kernel {
    /// Queues the kernel with this number of blocks on the device. The next fallible call reports errors.
    ///
    /// # Panics
    /// If a buffer is on another device.
    pub fn launch<'a>(
        &self,
        blocks: [u32; 3],
        arguments: impl IntoIterator<Item = Arg<'a>, IntoIter: Clone>,
    ) {
        let arguments = arguments.into_iter();
        for argument in arguments.clone() {
            if let Arg::Buffer(buffer) = argument {
                self.device.assert_owns(buffer);
            }
        }
        let list = &mut self.device.state().list;
        if blocks[1].max(blocks[2]) > MAX_BLOCKS_YZ {
            let [_, y, z] = blocks;
            let sentence = format!("{y} x {z} rows of blocks, more than {MAX_BLOCKS_YZ}");
            return list.defer_error(Err(Error::Device(sentence)));
        }
        list.push(self, blocks, arguments);
    }

    /// Returns the resources that it needs on a multiprocessor, if the driver reports them.
    pub(super) fn usage(&self) -> Result<Option<Usage>> {
        self.device.runtime.usage(self.handle, self.block_threads(), self.on_chip)
    }

    /// Returns the number of threads per block.
    pub(super) fn block_threads(&self) -> usize {
        self.threads.iter().map(|&n| n as usize).product()
    }
}

/// An argument of a launch.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// A pointer to a buffer.
    Buffer(&'a Buffer),
    /// An `int`.
    Int(i32),
    /// A number of this precision, equal in every launch.
    Real(Precision, f64),
    /// Numbers that may differ from run to run, as two parameters: a pointer to numbers of this precision, and the `int`
    /// index of the first number.
    Scalars(Precision, &'a [f64]),
}

impl Buffer {
    /// Returns this buffer as an argument of a launch.
    pub fn arg(&self) -> Arg<'_> {
        Arg::Buffer(self)
    }
}

/// Transfers between host and device so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes copied to the device.
    pub to_device: u64,
    /// Bytes copied to the host.
    pub to_host: u64,
    /// Buffers that were allocated.
    pub allocations: u64,
    /// Kernels launched, including those in graphs.
    pub launches: u64,
}

/// Kernels of one source, by name, threads per block, and bytes of on-chip memory.
type SourceKernels = HashMap<(String, [u32; 3], usize), Handle>;

/// State behind the lock of a device.
struct State {
    list: List,
    /// Kernels by source. A thread that compiles a source holds its lock, without blocking threads that compile others.
    kernels: HashMap<Source, Arc<Mutex<SourceKernels>>>,
}

/// A device, the kernels compiled for it, and its queued work.
pub struct Device {
    pub(super) runtime: Arc<dyn Runtime>,
    state: Mutex<State>,
}

impl Device {
    /// Opens device `index` of `api`.
    ///
    /// # Errors
    /// If there is no such device, or its driver fails.
    pub fn open(api: Api, index: usize) -> Result<Arc<Self>> {
        Self::from_runtime(match api {
            Api::Cuda => cuda::open(index)?,
            Api::OpenCl => opencl::open(index)?,
        })
    }

    /// Returns a device with the properties `info` that computes nothing: its memory is host memory, and kernels are kept
    /// in the [`Recording`], neither compiled nor run. It serves to collect the kernels of any computation on a machine
    /// without a GPU. `spilled_bytes` returns the number of bytes per thread that a kernel spills to device memory.
    pub fn recording(
        info: DeviceInfo,
        spilled_bytes: impl Fn(&KernelRequest) -> usize + Send + Sync + 'static,
    ) -> (Arc<Self>, Recording) {
        let (recorder, recording) = Recorder::new(info, Box::new(spilled_bytes));
        let device = Self::from_runtime(Arc::new(recorder));
        (device.unwrap_or_else(|_| unreachable!("a recorder allocates")), recording)
    }

    fn from_runtime(runtime: Arc<dyn Runtime>) -> Result<Arc<Self>> {
        let list = List::new(runtime.clone(), runtime.allocate(SCALAR_BYTES)?);
        let state = State { list, kernels: HashMap::new() };
        Ok(Arc::new(Self { runtime, state: Mutex::new(state) }))
    }

    /// Returns the device's description and limits.
    pub fn info(&self) -> &DeviceInfo {
        self.runtime.info()
    }

    /// Returns the bytes of free device memory, if the driver reports them.
    pub fn free_memory(&self) -> Option<u64> {
        self.runtime.free_memory()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<Handle> {
        let handle = self.runtime.allocate(bytes)?;
        self.state().list.traffic.allocations += 1;
        Ok(handle)
    }

    pub(super) fn release(&self, buffer: Handle) {
        self.state().list.finish_and_forget(buffer);
        self.runtime.release(buffer);
    }

    /// Writes to a buffer, `offset` bytes from its start, after all work queued before.
    pub(super) fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        let list = &mut self.state().list;
        list.submit()?;
        list.traffic.to_device += data.len() as u64;
        self.runtime.upload(data, to, offset)
    }

    /// Reads from a buffer, `offset` bytes from its start, after all work queued before.
    pub(super) fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        let list = &mut self.state().list;
        list.submit()?;
        list.traffic.to_host += to.len() as u64;
        self.runtime.download(from, offset, to)
    }

    /// Like [`Runtime::fetch`]; [`Device::finish_fetch`] returns the data of the copy.
    pub(super) fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle> {
        let list = &mut self.state().list;
        list.submit()?;
        list.traffic.to_host += bytes as u64;
        self.runtime.fetch(from, bytes)
    }

    /// Waits for a copy and returns its data; submits work queued since, without waiting for it.
    pub(super) fn finish_fetch(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        let submitted = self.state().list.submit();
        self.runtime.finish_fetch(copy, to).and(submitted)
    }

    /// Waits for all copies and unpins memory.
    pub(super) fn unpin(&self, memory: *mut u8) {
        self.defer_error(self.finish());
        self.runtime.unpin(memory);
    }

    /// Stores an error for the next call that returns a result.
    pub(super) fn defer_error(&self, result: Result<()>) {
        if result.is_err() {
            self.state().list.defer_error(result);
        }
    }

    /// Whether it is faster to request kernels from several threads at once.
    pub(super) fn compiles_concurrently(&self) -> bool {
        self.runtime.compiles_concurrently()
    }

    /// Returns a kernel. Each source is compiled once.
    ///
    /// # Errors
    /// If the device does not support such blocks, or if the compiler fails.
    pub fn kernel(self: &Arc<Self>, request: KernelRequest) -> Result<Kernel> {
        let kernel = self.compiled(request, true)?;
        Ok(kernel.unwrap_or_else(|| unreachable!("any kernel will do")))
    }

    /// Like [`Device::kernel`], but returns `None` if the driver reports that threads spill registers to device memory
    /// and `may_spill` is false. The source must then have no other kernel; the kernel is discarded unless it was
    /// compiled before.
    pub fn compiled(
        self: &Arc<Self>,
        request: KernelRequest,
        may_spill: bool,
    ) -> Result<Option<Kernel>> {
        self.check_block(&request)?;
        let kernels = self.state().kernels.entry(request.source.clone()).or_default().clone();
        let mut kernels = lock(&kernels);
        let key = (request.entry.clone(), request.threads, request.on_chip);
        let known = kernels.get(&key).copied();
        let handle = known.map_or_else(|| self.runtime.kernel(&request), Ok)?;
        if may_spill || self.runtime.spilled_bytes(handle)? == 0 {
            kernels.insert(key, handle);
            let KernelRequest { threads, on_chip, .. } = request;
            return Ok(Some(Kernel { device: self.clone(), handle, threads, on_chip }));
        }
        if known.is_none() {
            self.runtime.discard(handle);
        }
        Ok(None)
    }

    /// Refuses blocks that are too large for the device.
    fn check_block(&self, request: &KernelRequest) -> Result<()> {
        let KernelRequest { source, entry, threads, on_chip } = request;
        let info = self.info();
        let count: u64 = threads.iter().map(|&n| u64::from(n)).product();
        let (what, has) = if count > info.block_threads as u64 {
            (format!("{count} threads"), info.block_threads)
        } else if *on_chip > info.on_chip {
            (format!("{on_chip} bytes of on-chip memory"), info.on_chip)
        } else {
            return Ok(());
        };
        let (kernel, name) = (&source.name, &info.name);
        Err(Error::Device(format!(
            "the kernel `{entry}` of `{kernel}` needs {what} per block; {name} has {has}"
        )))
    }

    /// A handle is only valid on the device that created it.
    fn assert_owns(&self, buffer: &Buffer) {
        assert!(std::ptr::eq(&*buffer.device, self), "a buffer of another device");
    }

    /// Copies a buffer to another of the same length.
    ///
    /// # Panics
    /// If the lengths differ, or a buffer is on another device.
    pub fn copy(&self, from: &Buffer, to: &mut Buffer) {
        assert_eq!(from.bytes(), to.bytes(), "buffers differ in length");
        [from, to].iter().for_each(|buffer| self.assert_owns(buffer));
        let list = &mut self.state().list;
        let copy = |()| self.runtime.copy(from.handle, to.handle, from.bytes());
        let result = list.submit().and_then(copy);
        list.defer_error(result);
    }

    /// Solves `batches` tridiagonal systems of `rows` unknowns by the vendor's library (cuSPARSE), after all work queued
    /// before. System b starts `b * stride` numbers after the start of each buffer; `matrix` contains the lower diagonal
    /// (its first number 0), the main and the upper diagonal (its last number 0); `x` contains the right-hand sides and
    /// then the solutions. The next fallible call reports errors.
    ///
    /// # Panics
    /// If a buffer is too short, or on another device.
    pub fn solve_tridiagonal(
        &self,
        [rows, batches, stride]: [usize; 3],
        [lower, diagonal, upper]: [&Buffer; 3],
        x: &Buffer,
    ) {
        let arrays = [lower, diagonal, upper, x];
        arrays.iter().for_each(|array| self.assert_owns(array));
        let needed = batches.saturating_sub(1) * stride + rows;
        assert!(arrays.iter().all(|array| array.len >= needed), "a buffer is too short");
        let list = &mut self.state().list;
        let solve = |list: &mut List| {
            let [rows, batches, stride] = [to_i32(rows)?, to_i32(batches)?, to_i32(stride)?];
            let (precision, arrays) = (x.precision, arrays.map(|array| array.handle));
            list.submit()?;
            let systems = Tridiagonal { precision, rows, batches, stride, arrays };
            self.runtime.solve_tridiagonal(&systems)
        };
        let result = solve(list);
        list.defer_error(result);
    }

    /// Submits the list and waits until all work is done.
    pub fn finish(&self) -> Result<()> {
        let submitted = self.state().list.submit();
        // Wait even after an error: copies may be under way.
        let finished = self.runtime.finish();
        submitted.and(finished)
    }

    /// Returns the device time in seconds of the work that `work` queues.
    pub fn time(&self, work: impl FnOnce()) -> Result<f64> {
        let record_event = || {
            self.state().list.submit()?;
            self.runtime.record()
        };
        let start = record_event()?;
        work();
        self.runtime.seconds(start, record_event()?)
    }

    /// Returns the transfers between host and device so far.
    pub fn traffic(&self) -> Traffic {
        self.state().list.traffic
    }

    /// As [`Runtime::group_id`].
    pub(super) fn group_id(&self, rank: usize) -> Result<Vec<u8>> {
        self.runtime.group_id(rank)
    }

    /// Joins the group of all ranks that have `id`, as (this rank, number of ranks). Collective.
    pub(super) fn join(self: &Arc<Self>, id: &[u8], place: [usize; 2]) -> Result<OrderedGroup> {
        Ok(OrderedGroup { group: self.runtime.join(id, place)?, device: self.clone() })
    }
}

/// A device in a group; messages are ordered with the launches on its list.
pub(super) struct OrderedGroup {
    /// Dropped before the device.
    group: Box<dyn DeviceGroup>,
    device: Arc<Device>,
}

impl DeviceGroup for OrderedGroup {
    fn library(&self) -> String {
        self.group.library()
    }

    unsafe fn begin(&self, send: &[DeviceMessage], receive: &[DeviceMessage]) -> Result<Underway> {
        self.device.state().list.submit()?;
        // SAFETY: as the caller promises.
        unsafe { self.group.begin(send, receive) }
    }

    fn wait(&self, underway: Underway) -> Result<()> {
        let submitted = self.device.state().list.submit();
        self.group.wait(underway).and(submitted)
    }

    fn trust(&self) {
        self.group.trust();
    }
}
