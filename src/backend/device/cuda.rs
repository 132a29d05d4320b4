//! CUDA: NVIDIA's GPUs. With its folder, the only user of `cudarc`, which panics where a library or one of its functions
//! is missing: nothing of it is called before `machine::driver` has found the driver new enough.

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
    Argument, DeviceInfo, Handle, KernelRequest, Launch, MOST_ARGUMENTS, Runtime, Source,
    Tridiagonal, Usage,
};
use crate::backend::DiskCache;
use crate::backend::ranks::DeviceGroup;
use crate::error::{Error, Result};
use machine::{describe, device, driver, failed, words};
use nccl::{Group, Nccl};
use nvrtc::dotted;
use pinned::Slots;
use sparse::Sparse;

/// On-chip bytes of a block that need no permission: of 48 KiB a driver may count one as its own (CUDA C++ Programming Guide, compute
/// capability 8.x and later).
const ON_CHIP_FREE: usize = 47 << 10;
/// The share of a multiprocessor's memory that blocks are to have, in per cent of what they can (CUDA Driver API,
/// `CU_SHAREDMEM_CARVEOUT_MAX_SHARED`).
const MOST_ON_CHIP: i32 = 100;

/// One CUDA device with its one stream.
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

// SAFETY: the driver may be called from any thread; what handles stand for lies behind a lock.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

/// What is not in anybody's hands.
#[derive(Default)]
struct Objects {
    modules: HashMap<Source, sys::CUmodule>,
    slots: Slots,
    sparse: Option<Sparse>,
}

/// Handles are the driver's own: numbers of buffers, and the addresses of everything else.
fn handle<T>(object: *mut T) -> Handle {
    Handle(object.expose_provenance() as u64)
}

fn object<T>(handle: Handle) -> *mut T {
    ptr::with_exposed_provenance_mut(usize::try_from(handle.0).unwrap_or(0))
}

/// Device `index` of [`list`].
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
    // SAFETY: the device is one of the driver's; the context is given back when this is dropped.
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
    /// Make this device the one that the calling thread speaks to.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context lives as long as this.
        unsafe { cu::ctx::set_current(self.context) }.map_err(failed("use the device"))
    }

    /// The text as a module: as it was compiled before, by this run or an earlier one, or compiled.
    fn module(&self, source: &Source) -> Result<sys::CUmodule> {
        let code = self.nvrtc.code_for(self.capability)?;
        // Not where the compiler lies: what one machine compiled can be carried to another.
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
        let mut values = [0_u64; MOST_ARGUMENTS];
        let mut pointers = [ptr::null_mut::<c_void>(); MOST_ARGUMENTS];
        let count = launch.arguments.len();
        if count > MOST_ARGUMENTS {
            let most = format!("a kernel takes {count} arguments; at most {MOST_ARGUMENTS} can be");
            return Err(Error::Device(most));
        }
        for (at, argument) in launch.arguments.iter().enumerate() {
            pointers[at] = match argument {
                Argument::Buffer(handle) => {
                    values[at] = handle.0;
                    (&raw mut values[at]).cast()
                }
                // Only read by the driver.
                Argument::Int(value) => ptr::from_ref(value).cast_mut().cast(),
                Argument::Float(bits) => ptr::from_ref(bits).cast_mut().cast(),
                Argument::Double(bits) => ptr::from_ref(bits).cast_mut().cast(),
            };
        }
        let ([bx, by, bz], [tx, ty, tz]) = (launch.blocks, launch.threads);
        let on_chip = u32::try_from(launch.on_chip).unwrap_or(u32::MAX);
        // SAFETY: kernel and buffers are of this device, and alive; the driver copies the arguments before it returns.
        // That they are what the kernel's text takes is the concern of who wrote the launch.
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

fn load(mut image: Vec<u8>) -> std::result::Result<sys::CUmodule, DriverError> {
    // PTX is a text, which ends with a zero; behind machine code it does no harm.
    image.push(0);
    // SAFETY: an image that NVRTC made.
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
        // SAFETY: the content is undefined, as said.
        let buffer = unsafe { cu::malloc_sync(bytes) }.map_err(|error| {
            let free = self.free_memory().unwrap_or(0);
            Error::Device(format!(
                "CUDA could not allocate {bytes} bytes on {}, where {free} are free: {}",
                self.info.name,
                words(error)
            ))
        })?;
        Ok(Handle(buffer))
    }

    fn release(&self, buffer: Handle) {
        if self.enter().is_ok() {
            // SAFETY: it was allocated here and is not used again; the driver waits for work that does.
            let _ = unsafe { cu::free_sync(buffer.0) };
        }
    }

    fn pin(&self, memory: *mut u8, bytes: usize) -> bool {
        // SAFETY: the memory is the caller's until it is unpinned; the driver checks the range.
        let pin = || unsafe { sys::cuMemHostRegister_v2(memory.cast(), bytes, 0) };
        self.enter().is_ok() && pin().result().is_ok()
    }

    fn unpin(&self, memory: *mut u8) {
        // SAFETY: as above. What a driver that is going away says is of no use to anybody.
        let _ = unsafe { sys::cuMemHostUnregister(memory.cast()) }.result();
    }

    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        self.enter()?;
        let to = to.0 + offset as u64;
        // SAFETY: memory of the host that is not pinned is staged before this returns (CUDA Driver API, "API
        // synchronization behavior"), and callers leave alone what they pinned; the driver checks the range.
        unsafe { cu::memcpy_htod_async(to, data, self.stream) }
            .map_err(failed("copy to the device"))
    }

    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        self.enter()?;
        let from = from.0 + offset as u64;
        // SAFETY: the copy has ended when the stream has, so `to` outlives it; the driver checks the range.
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

    fn fetched(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        self.enter()?;
        // Others may speak to the device while this waits.
        let slot = lock(&self.objects).slots.take(copy);
        let mut slot = slot.ok_or_else(|| Error::Device("CUDA: nothing is on its way".into()))?;
        let result = slot.wait(to).map_err(failed("finish its work"));
        lock(&self.objects).slots.back(slot);
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

    fn compiles_at_once(&self) -> bool {
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
        let told = format!("find the kernel `{entry}` in `{}`", source.name);
        let name = CString::new(&**entry).unwrap_or_default();
        // SAFETY: the module is loaded and stays so.
        let kernel = unsafe { cu::module::get_function(module, name) }.map_err(failed(&told))?;
        if *on_chip > 0 {
            permit(kernel, (*on_chip > ON_CHIP_FREE).then_some(self.info.on_chip))
                .map_err(failed(&format!("give `{entry}` {on_chip} bytes of on-chip memory")))?;
        }
        Ok(handle(kernel))
    }

    fn spilled(&self, kernel: Handle) -> Result<usize> {
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
        counted.result().map_err(failed(TAKES))?;
        Ok(Some(Usage { registers, resident: usize::try_from(resident).unwrap_or(0) }))
    }

    fn discard(&self, kernel: Handle) {
        let mut module = ptr::null_mut();
        // SAFETY: the kernel is of a loaded module.
        let mut found =
            || unsafe { sys::cuFuncGetModule(&raw mut module, object(kernel)) }.result();
        if self.enter().is_ok() && found().is_ok() {
            lock(&self.objects).modules.retain(|_, known| *known != module);
            // SAFETY: it was loaded here, and nothing that runs is of it. A refusal leaves it loaded.
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
        let told = failed("make a graph");
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives as long as this; it is taken back from capture whatever happens in between.
        let (result, graph) = unsafe {
            cu::stream::begin_capture(self.stream, mode).map_err(&told)?;
            let result = launches.iter().try_for_each(|launch| self.start(launch));
            (result, cu::stream::end_capture(self.stream))
        };
        result?;
        let graph = graph.map_err(&told)?;
        // SAFETY: the graph was captured above; the executable one does not need it.
        let executable = unsafe {
            let executable = cu::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = cu::graph::destroy(graph);
            executable.map_err(&told)?
        };
        Ok(Some(handle(executable)))
    }

    fn replay(&self, graph: Handle) -> Result<()> {
        self.enter()?;
        // SAFETY: a graph of this device, and alive; its buffers are, or its list of launches could not come again.
        unsafe { cu::graph::launch(object(graph), self.stream) }.map_err(failed("start a graph"))
    }

    fn forget(&self, graph: Handle) {
        if self.enter().is_ok() {
            // SAFETY: made here and not used again; what is running of it goes on (CUDA Driver API, cuGraphExecDestroy).
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
        let told = failed("record an event");
        let event = cu::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(&told)?;
        // SAFETY: both are of this device, and alive.
        unsafe { cu::event::record(event, self.stream) }.map_err(&told)?;
        Ok(handle(event))
    }

    fn seconds(&self, from: Handle, to: Handle) -> Result<f64> {
        self.enter()?;
        let (from, to) = (object(from), object(to));
        // SAFETY: both were recorded on the one stream and are used no more.
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

/// What a driver is asked about a kernel.
const TAKES: &str = "ask what a kernel takes";

fn attribute(kernel: Handle, which: sys::CUfunction_attribute) -> Result<usize> {
    // SAFETY: the kernel is of a loaded module.
    let value = unsafe { cu::function::get_function_attribute(object(kernel), which) };
    Ok(usize::try_from(value.map_err(failed(TAKES))?).unwrap_or(0))
}

/// Ask that a multiprocessor give as much of its memory as it can to the blocks of a kernel, not to its cache: as many as there is
/// room for run at once. Where a block needs permission for so much, let it take all the `on_chip` memory that there is; it takes
/// what a launch says.
fn permit(kernel: sys::CUfunction, on_chip: Option<usize>) -> std::result::Result<(), DriverError> {
    use sys::CUfunction_attribute as Function;
    // SAFETY: the kernel is of a loaded module.
    unsafe {
        cu::function::set_function_attribute(
            kernel,
            Function::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            MOST_ON_CHIP,
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
        // Buffers and graphs have been given back by those who had them.
        // SAFETY: all of it was made here, and nobody is left who could use it. A refusal has nobody to be told to.
        unsafe {
            let _ = cu::stream::synchronize(self.stream);
            drop(objects.sparse);
            objects.slots.give_back();
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
