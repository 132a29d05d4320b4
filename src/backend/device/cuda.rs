//! CUDA: NVIDIA's GPUs. Only this file and its folder use `cudarc`, which panics if a library or one of its functions is
//! missing: nothing of it is called before `machine::driver` has found that the driver is new enough.

mod libraries;
mod machine;
mod nccl;
mod nvrtc;
mod pinned;
mod sparse;

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex};

use cudarc::driver::result::{self as cu, DriverError};
use cudarc::driver::sys;

pub use machine::compiler;
pub(super) use machine::{has_driver, list};
pub use nvrtc::{Code, Nvrtc, Version};

use super::lock;
use super::runtime::{
    Argument, DeviceInfo, Handle, KernelRequest, Launch, MAX_ARGUMENTS, Runtime, Source,
    Tridiagonal, Usage,
};
use crate::backend::DiskCache;
use crate::backend::ranks::DeviceGroup;
use crate::error::{Error, Result};
use machine::{describe, device, driver, error_text, failed};
use nccl::{Group, Nccl};
use nvrtc::dotted;
use pinned::Slots;
use sparse::Sparse;

/// On-chip bytes per block that need no permission: of 48 KiB a driver may reserve one for itself (CUDA C++ Programming
/// Guide, compute capability 8.x and later).
const ON_CHIP_WITHOUT_OPT_IN: usize = 47 << 10;
/// Share of a multiprocessor's memory preferred for blocks, in per cent of the maximum (CUDA Driver API,
/// `CU_SHAREDMEM_CARVEOUT_MAX_SHARED`).
const MAX_CARVEOUT_PERCENT: i32 = 100;

/// A CUDA device with a single stream.
pub(super) struct Cuda {
    info: DeviceInfo,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    capability: u32,
    nvrtc: Nvrtc,
    cache: DiskCache,
    objects: Mutex<Objects>,
}

// SAFETY: the driver may be called from any thread; the objects behind the handles are protected by a lock.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

/// Driver objects without a handle outside.
#[derive(Default)]
struct Objects {
    modules: HashMap<Source, sys::CUmodule>,
    slots: Slots,
    sparse: Option<Sparse>,
}

/// Converts a driver object to a handle. Handles are the driver's own: integers for buffers, addresses for everything
/// else.
fn handle<T>(object: *mut T) -> Handle {
    Handle(object.expose_provenance() as u64)
}

fn object<T>(handle: Handle) -> *mut T {
    ptr::with_exposed_provenance_mut(usize::try_from(handle.0).unwrap_or(0))
}

/// Opens device `index` of [`list`].
pub(super) fn open(index: usize) -> Result<Arc<dyn Runtime>> {
    let version = driver()?;
    let count = cu::device::get_count().map_err(failed("count the GPUs"))?;
    if usize::try_from(count).is_ok_and(|count| index >= count) {
        return Err(Error::Device(format!(
            "there is no CUDA device {index} on this machine; it has {count}, counted from 0"
        )));
    }
    let device = device(index)?;
    let (info, capability) = describe(index, device, version)?;
    let nvrtc = Nvrtc::find(version, capability)?;
    // SAFETY: the device is one of the driver's; the context is released on drop.
    let context = unsafe { cu::primary_ctx::retain(device) };
    let context = context.map_err(failed(&format!("open {}", info.name)))?;
    let mut cuda = Cuda {
        info,
        device,
        context,
        stream: ptr::null_mut(),
        capability,
        nvrtc,
        cache: DiskCache::of_user(),
        objects: Mutex::default(),
    };
    cuda.enter()?;
    cuda.stream =
        cu::stream::create(cu::stream::StreamKind::NonBlocking).map_err(failed("open a stream"))?;
    Ok(Arc::new(cuda))
}

impl Cuda {
    /// Makes this device current for the calling thread.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context lives as long as this.
        unsafe { cu::ctx::set_current(self.context) }.map_err(failed("use the device"))
    }

    /// Returns the compiled module of a source, from the cache of this or an earlier run if possible.
    fn module(&self, source: &Source) -> Result<sys::CUmodule> {
        let code = self.nvrtc.code_for(self.capability)?;
        // Without the path of the compiler, so that the cache can be copied to another machine.
        let key = format!(
            "kolmo {}, NVRTC {}, {code:?}, {}\n{}",
            env!("CARGO_PKG_VERSION"),
            dotted(self.nvrtc.version()),
            source.name,
            source.text
        );
        if let Some(module) = self.cache.get(&key).and_then(|image| load(image).ok()) {
            return Ok(module);
        }
        let image = self.nvrtc.compile(source, code)?;
        self.cache.put(&key, &image);
        load(image).map_err(failed(&format!("load the compiled `{}`", source.name)))
    }

    fn start(&self, launch: &Launch) -> Result<()> {
        let mut values = [0_u64; MAX_ARGUMENTS];
        let mut pointers = [ptr::null_mut::<c_void>(); MAX_ARGUMENTS];
        let count = launch.arguments.len();
        if count > MAX_ARGUMENTS {
            let most = format!("a kernel takes {count} arguments, more than {MAX_ARGUMENTS}");
            return Err(Error::Device(most));
        }
        for (at, argument) in launch.arguments.iter().enumerate() {
            pointers[at] = match argument {
                Argument::Buffer(handle) => {
                    values[at] = handle.0;
                    (&raw mut values[at]).cast()
                }
                // The driver only reads them.
                Argument::Int(value) => ptr::from_ref(value).cast_mut().cast(),
                Argument::Float(bits) => ptr::from_ref(bits).cast_mut().cast(),
                Argument::Double(bits) => ptr::from_ref(bits).cast_mut().cast(),
            };
        }
        let ([bx, by, bz], [tx, ty, tz]) = (launch.blocks, launch.threads);
        let on_chip = u32::try_from(launch.on_chip).unwrap_or(u32::MAX);
        // SAFETY: kernel and buffers are of this device and alive; the driver copies the arguments before it returns. The
        // author of the launch guarantees that they match the kernel's parameters.
        let started = unsafe {
            cu::launch_kernel(
                object(launch.kernel),
                (bx, by, bz),
                (tx, ty, tz),
                on_chip,
                self.stream,
                &mut pointers[..count],
            )
        };
        started.map_err(failed("start a kernel"))
    }
}

fn load(mut image: Vec<u8>) -> Result<sys::CUmodule, DriverError> {
    // PTX is a text and ends with a zero byte, which is harmless after machine code.
    image.push(0);
    // SAFETY: NVRTC produced the image.
    unsafe { cu::module::load_data(image.as_ptr().cast()) }
}

impl Runtime for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_memory(&self) -> Option<u64> {
        self.enter().ok()?;
        cu::mem_get_info().ok().map(|(free, _)| free as u64)
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        self.enter()?;
        // SAFETY: the content is documented as undefined.
        let buffer = unsafe { cu::malloc_sync(bytes) }.map_err(|error| {
            let free = self.free_memory().unwrap_or(0);
            Error::Device(format!(
                "CUDA could not allocate {bytes} bytes on {}, where {free} are free: {}",
                self.info.name,
                error_text(error)
            ))
        })?;
        Ok(Handle(buffer))
    }

    fn release(&self, buffer: Handle) {
        if self.enter().is_ok() {
            // SAFETY: it was allocated here and is not used again; the driver waits for work that uses it.
            let _ = unsafe { cu::free_sync(buffer.0) };
        }
    }

    fn pin(&self, memory: *mut u8, bytes: usize) -> bool {
        // SAFETY: the memory is the caller's until it is unpinned; the driver checks the range.
        let pin = || unsafe { sys::cuMemHostRegister_v2(memory.cast(), bytes, 0) };
        self.enter().is_ok() && pin().result().is_ok()
    }

    fn unpin(&self, memory: *mut u8) {
        // SAFETY: as above. An error at shutdown cannot be handled.
        let _ = unsafe { sys::cuMemHostUnregister(memory.cast()) }.result();
    }

    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        self.enter()?;
        let to = to.0 + offset as u64;
        // SAFETY: pageable host memory is staged before this returns (CUDA Driver API, "API synchronization behavior"),
        // and callers do not touch memory that they pinned; the driver checks the range.
        unsafe { cu::memcpy_htod_async(to, data, self.stream) }
            .map_err(failed("copy to the device"))
    }

    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        self.enter()?;
        let from = from.0 + offset as u64;
        // SAFETY: the copy has ended when the stream is synchronized, so `to` outlives it; the driver checks the range.
        unsafe { cu::memcpy_dtoh_async(to, from, self.stream) }
            .map_err(failed("copy from the device"))?;
        self.finish()
    }

    fn send(&self, data: &[u8], to: Handle) -> Result<()> {
        self.enter()?;
        // SAFETY: the driver checks the range.
        unsafe { lock(&self.objects).slots.send(data, to.0, self.stream) }
            .map_err(failed("copy to the device"))
    }

    fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle> {
        self.enter()?;
        // SAFETY: the driver checks the range.
        unsafe { lock(&self.objects).slots.fetch(from.0, bytes, self.stream) }
            .map_err(failed("copy from the device"))
    }

    fn finish_fetch(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        self.enter()?;
        // Without the lock, so that other threads can use the device during the wait.
        let slot = lock(&self.objects).slots.take(copy);
        let mut slot = slot.ok_or_else(|| Error::Device("CUDA: no copy is under way".into()))?;
        let result = slot.wait(to).map_err(failed("finish its work"));
        lock(&self.objects).slots.put_back(slot);
        result
    }

    fn address(&self, buffer: Handle) -> Option<*mut u8> {
        Some(ptr::without_provenance_mut(usize::try_from(buffer.0).ok()?))
    }

    fn copy(&self, from: Handle, to: Handle, bytes: usize) -> Result<()> {
        self.enter()?;
        // SAFETY: both are buffers of this device; the driver checks the range.
        unsafe { cu::memcpy_dtod_async(to.0, from.0, bytes, self.stream) }
            .map_err(failed("copy on the device"))
    }

    fn compiles_concurrently(&self) -> bool {
        true
    }

    fn kernel(&self, request: &KernelRequest) -> Result<Handle> {
        let KernelRequest { source, entry, on_chip, .. } = request;
        self.enter()?;
        let known = lock(&self.objects).modules.get(source).copied();
        let module = match known {
            Some(module) => module,
            None => {
                let module = self.module(source)?;
                lock(&self.objects).modules.insert(source.clone(), module);
                module
            }
        };
        let action = format!("find the kernel `{entry}` in `{}`", source.name);
        let name = CString::new(&**entry).unwrap_or_default();
        // SAFETY: the module is loaded and stays so.
        let kernel = unsafe { cu::module::get_function(module, name) }.map_err(failed(&action))?;
        if *on_chip > 0 {
            configure_on_chip(
                kernel,
                (*on_chip > ON_CHIP_WITHOUT_OPT_IN).then_some(self.info.on_chip),
            )
            .map_err(failed(&format!("give `{entry}` {on_chip} bytes of on-chip memory")))?;
        }
        Ok(handle(kernel))
    }

    fn spilled_bytes(&self, kernel: Handle) -> Result<usize> {
        self.enter()?;
        attribute(kernel, sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    }

    fn usage(&self, kernel: Handle, threads: usize, on_chip: usize) -> Result<Option<Usage>> {
        self.enter()?;
        let registers = attribute(kernel, sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let (threads, mut resident) = (i32::try_from(threads).unwrap_or(i32::MAX), 0);
        // SAFETY: the kernel is of a loaded module; one integer is written.
        let counted = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut resident,
                object(kernel),
                threads,
                on_chip,
            )
        };
        counted.result().map_err(failed(QUERY_RESOURCES))?;
        Ok(Some(Usage { registers, resident: usize::try_from(resident).unwrap_or(0) }))
    }

    fn discard(&self, kernel: Handle) {
        let mut module = ptr::null_mut();
        // SAFETY: the kernel is of a loaded module.
        let mut found =
            || unsafe { sys::cuFuncGetModule(&raw mut module, object(kernel)) }.result();
        if self.enter().is_ok() && found().is_ok() {
            lock(&self.objects).modules.retain(|_, known| *known != module);
            // SAFETY: it was loaded here, and no running kernel belongs to it. If unloading fails it stays loaded.
            let _ = unsafe { cu::module::unload(module) };
        }
    }

    fn launch(&self, launch: &Launch) -> Result<()> {
        self.enter()?;
        self.start(launch)
    }

    fn graph(&self, launches: &[Launch]) -> Result<Option<Handle>> {
        if launches.len() < 2 {
            return Ok(None);
        }
        self.enter()?;
        let to_error = failed("make a graph");
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives as long as this; capture is ended in every case.
        let (result, graph) = unsafe {
            cu::stream::begin_capture(self.stream, mode).map_err(&to_error)?;
            let result = launches.iter().try_for_each(|launch| self.start(launch));
            (result, cu::stream::end_capture(self.stream))
        };
        result?;
        let graph = graph.map_err(&to_error)?;
        // SAFETY: the graph was captured above; the executable graph does not need it.
        let executable = unsafe {
            let executable = cu::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = cu::graph::destroy(graph);
            executable.map_err(&to_error)?
        };
        Ok(Some(handle(executable)))
    }

    fn replay(&self, graph: Handle) -> Result<()> {
        self.enter()?;
        // SAFETY: a live graph of this device. Its buffers are alive too: otherwise the same list of launches could not
        // occur again.
        unsafe { cu::graph::launch(object(graph), self.stream) }.map_err(failed("start a graph"))
    }

    fn destroy_graph(&self, graph: Handle) {
        if self.enter().is_ok() {
            // SAFETY: made here and not used again; launches in progress continue (CUDA Driver API, cuGraphExecDestroy).
            let _ = unsafe { cu::graph::exec_destroy(object(graph)) };
        }
    }

    fn finish(&self) -> Result<()> {
        self.enter()?;
        // SAFETY: the stream lives as long as this.
        unsafe { cu::stream::synchronize(self.stream) }.map_err(failed("finish its work"))
    }

    fn record(&self) -> Result<Handle> {
        self.enter()?;
        let to_error = failed("record an event");
        let event = cu::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(&to_error)?;
        // SAFETY: both are of this device, and alive.
        unsafe { cu::event::record(event, self.stream) }.map_err(&to_error)?;
        Ok(handle(event))
    }

    fn seconds(&self, from: Handle, to: Handle) -> Result<f64> {
        self.enter()?;
        let (from, to) = (object(from), object(to));
        // SAFETY: both were recorded on the single stream and are not used again.
        unsafe {
            let milliseconds =
                cu::event::synchronize(to).and_then(|()| cu::event::elapsed(from, to));
            let _ = cu::event::destroy(from);
            let _ = cu::event::destroy(to);
            Ok(f64::from(milliseconds.map_err(failed("time its work"))?) * 1e-3)
        }
    }

    fn solve_tridiagonal(&self, systems: &Tridiagonal) -> Result<()> {
        self.enter()?;
        let mut objects = lock(&self.objects);
        let sparse = match &mut objects.sparse {
            Some(sparse) => sparse,
            none => none.insert(Sparse::new(self.stream)?),
        };
        sparse.solve(systems)
    }

    fn group_id(&self, rank: usize) -> Result<Vec<u8>> {
        self.enter()?;
        let nccl = Nccl::find()?;
        if rank == 0 { nccl.new_id() } else { Ok(Vec::new()) }
    }

    fn join(&self, id: &[u8], place: [usize; 2]) -> Result<Box<dyn DeviceGroup>> {
        self.enter()?;
        Ok(Box::new(Group::join(Nccl::find()?, (self.context, self.stream), id, place)?))
    }
}

/// The query about a kernel, for error messages.
const QUERY_RESOURCES: &str = "query the resources of a kernel";

fn attribute(kernel: Handle, which: sys::CUfunction_attribute) -> Result<usize> {
    // SAFETY: the kernel is of a loaded module.
    let value = unsafe { cu::function::get_function_attribute(object(kernel), which) };
    Ok(usize::try_from(value.map_err(failed(QUERY_RESOURCES))?).unwrap_or(0))
}

/// Asks for as much of a multiprocessor's memory as possible for the blocks of a kernel instead of the cache, so that as
/// many blocks as fit run at once. If a block needs permission for its on-chip memory, allows all `on_chip` bytes; a
/// launch takes the amount that it specifies.
fn configure_on_chip(kernel: sys::CUfunction, on_chip: Option<usize>) -> Result<(), DriverError> {
    use sys::CUfunction_attribute as Function;
    // SAFETY: the kernel is of a loaded module.
    unsafe {
        cu::function::set_function_attribute(
            kernel,
            Function::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            MAX_CARVEOUT_PERCENT,
        )?;
        let Some(on_chip) = on_chip else { return Ok(()) };
        let fixed = cu::function::get_function_attribute(
            kernel,
            Function::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        )?;
        let on_chip = i32::try_from(on_chip).unwrap_or(i32::MAX);
        cu::function::set_function_attribute(
            kernel,
            Function::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            on_chip - fixed,
        )
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        let objects = std::mem::take(&mut *lock(&self.objects));
        // The owners of buffers and graphs have released them.
        // SAFETY: all objects were made here and have no users left. Errors at shutdown cannot be handled.
        unsafe {
            let _ = cu::stream::synchronize(self.stream);
            drop(objects.sparse);
            objects.slots.free_all();
            for module in objects.modules.into_values() {
                let _ = cu::module::unload(module);
            }
            if !self.stream.is_null() {
                let _ = cu::stream::destroy(self.stream);
            }
            let _ = cu::primary_ctx::release(self.device);
        }
    }
}
