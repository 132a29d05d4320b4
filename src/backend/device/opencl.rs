//! OpenCL: GPUs of any vendor, and CPUs through PoCL. The only user of `opencl3`.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU, Device};
use opencl3::error_codes::{ClError, DLOPEN_FUNCTION_NOT_AVAILABLE};
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_int};

use super::lock;
use super::runtime::{Api, Argument, DeviceInfo, Handle, KernelRequest, Launch, Runtime, Source};
use crate::backend::DiskCache;
use crate::error::{Error, Result};

const OPTIONS: &str = "-cl-std=CL1.2";
/// Declarations of the functions that kernels call, and the macro by which PoCL skips its own declarations of all
/// functions.
const POCL_DECLARATIONS: &str = include_str!("../../../kernels/pocl.h");
const POCL_OPTIONS: &str = "-cl-std=CL1.2 -D_OPENCL_H_";

pub(super) struct OpenCl {
    info: DeviceInfo,
    context: Context,
    queue: CommandQueue,
    objects: Mutex<Objects>,
}

/// Objects behind the handles.
#[derive(Default)]
struct Objects {
    buffers: HashMap<Handle, Buffer<u8>>,
    programs: HashMap<Source, Program>,
    kernels: HashMap<Handle, Kernel>,
    events: HashMap<Handle, Event>,
    /// Copies to the host under way.
    receiving: HashMap<Handle, (Event, Box<[u8]>)>,
    /// Copies to the device under way.
    sending: Vec<(Event, Box<[u8]>)>,
}

impl Drop for OpenCl {
    fn drop(&mut self) {
        // Copies may still be under way to memory that is freed now. Errors at shutdown cannot be handled.
        let _ = self.queue.finish();
    }
}

/// Returns all devices of all platforms, GPUs first; empty if this machine has no OpenCL.
///
/// # Errors
/// If the file named as the OpenCL library is not one, or may not be loaded.
fn devices() -> Result<Vec<Device>> {
    // Loaders and drivers that two threads call for the first time concurrently may report no devices to one of them.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = lock(&ONE_AT_A_TIME);
    check_library_path()?;
    let platforms = match get_platforms() {
        Err(ClError(DLOPEN_FUNCTION_NOT_AVAILABLE)) => {
            return refuse(
                "the libOpenCL.so.1 on the library path lacks OpenCL's functions, so it is not an OpenCL library",
                "take its folder off LD_LIBRARY_PATH and OPENCL_DYLIB_PATH",
            );
        }
        platforms => platforms.unwrap_or_default(),
    };
    let ids = platforms.iter().flat_map(|p| p.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default());
    let mut devices: Vec<Device> = ids.map(Device::new).collect();
    devices.sort_by_key(|device| !is_gpu(device));
    Ok(devices)
}

/// Refuses a relative path in this variable: the loader resolves it in the current directory, where any user may have
/// placed code.
fn check_library_path() -> Result<()> {
    let list = env::var("OPENCL_DYLIB_PATH").unwrap_or_default();
    let relative = |path: &&str| path.contains(['/', '\\']) && !Path::new(path).is_absolute();
    match list.split(';').find(relative) {
        None => Ok(()),
        Some(path) => refuse(
            &format!("OPENCL_DYLIB_PATH names `{path}`, which is in the current directory"),
            "give the absolute path",
        ),
    }
}

fn refuse<T>(what: &str, advice: &str) -> Result<T> {
    Err(Error::Device(format!(
        "OpenCL cannot be used: {what}\n       {advice}, or use `--backend cuda` or `--backend cpu`"
    )))
}

fn is_gpu(device: &Device) -> bool {
    device.dev_type().is_ok_and(|kind| kind & CL_DEVICE_TYPE_GPU != 0)
}

pub(super) fn list() -> Result<Vec<DeviceInfo>> {
    let devices = devices()?;
    let described =
        devices.iter().enumerate().filter_map(|(index, device)| describe(index, device).ok());
    Ok(described.collect())
}

fn describe(index: usize, device: &Device) -> Result<DeviceInfo, ClError> {
    Ok(DeviceInfo {
        api: Api::OpenCl,
        index,
        name: device.name()?,
        driver: format!("{}, driver {}", device.version()?, device.driver_version()?),
        is_gpu: is_gpu(device),
        memory: device.global_mem_size()?,
        largest_buffer: device.max_mem_alloc_size()?,
        on_chip: usize::try_from(device.local_mem_size()?).unwrap_or(usize::MAX),
        block_threads: device.max_work_group_size()?,
        multiprocessors: device.max_compute_units()? as usize,
        has_f64: device.double_fp_config().is_ok_and(|config| config != 0),
        has_async_copies: !is_gpu(device),
    })
}

/// Returns a function that converts a driver error to a sentence.
fn failed(what: &str) -> impl FnOnce(ClError) -> Error + '_ {
    move |error| Error::Device(format!("OpenCL could not {what}: {error}"))
}

fn unknown_handle() -> Error {
    Error::Device("OpenCL: this buffer, kernel or event is of another device".into())
}

/// Opens device `index` of [`list`].
pub(super) fn open(index: usize) -> Result<Arc<dyn Runtime>> {
    let device = devices()?.into_iter().nth(index).ok_or_else(|| {
        Error::Device(format!("there is no OpenCL device {index} on this machine"))
    })?;
    let info = describe(index, &device).map_err(failed("describe the device"))?;
    let context = Context::from_device(&device).map_err(failed("open the device"))?;
    // SAFETY: the device belongs to this context.
    let queue = unsafe {
        #[allow(deprecated, reason = "the replacement needs OpenCL 2.0")]
        CommandQueue::create(&context, device.id(), CL_QUEUE_PROFILING_ENABLE)
    };
    let queue = queue.map_err(failed("open a queue"))?;
    Ok(Arc::new(OpenCl { info, context, queue, objects: Mutex::default() }))
}

impl OpenCl {
    /// Builds a program of `text`; the error is the compiler's log.
    fn build(&self, text: &str) -> Result<Program, String> {
        let build = |text: &str, options| {
            Program::create_and_build_from_source(&self.context, text, options)
        };
        let is_pocl = self.info.driver.to_lowercase().contains("pocl");
        let quick = is_pocl.then(|| build(&[POCL_DECLARATIONS, text].concat(), POCL_OPTIONS));
        // Errors are reported for the text without our declarations; a PoCL with different declarations uses its own.
        quick.and_then(std::result::Result::ok).map_or_else(|| build(text, OPTIONS), Ok)
    }
}

impl Runtime for OpenCl {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        // SAFETY: no host pointer is given.
        let buffer = unsafe {
            Buffer::<u8>::create(&self.context, CL_MEM_READ_WRITE, bytes, ptr::null_mut())
        };
        let buffer = buffer.map_err(failed(&format!("allocate {bytes} bytes")))?;
        Ok(Handle::store(buffer, &mut lock(&self.objects).buffers))
    }

    fn release(&self, buffer: Handle) {
        lock(&self.objects).buffers.remove(&buffer);
    }

    fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        let mut objects = lock(&self.objects);
        let buffer = objects.buffers.get_mut(&to).ok_or_else(unknown_handle)?;
        // SAFETY: the write has ended on return, so `data` outlives it; the driver checks the range.
        let event =
            unsafe { self.queue.enqueue_write_buffer(buffer, CL_BLOCKING, offset, data, &[]) };
        event.map_err(failed("copy to the device")).map(drop)
    }

    fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        let objects = lock(&self.objects);
        let buffer = objects.buffers.get(&from).ok_or_else(unknown_handle)?;
        // SAFETY: the read has ended on return, so `to` outlives it; the driver checks the range.
        let event = unsafe { self.queue.enqueue_read_buffer(buffer, CL_BLOCKING, offset, to, &[]) };
        event.map_err(failed("copy from the device")).map(drop)
    }

    fn send(&self, data: &[u8], to: Handle) -> Result<()> {
        let mut objects = lock(&self.objects);
        let Objects { buffers, sending, .. } = &mut *objects;
        let buffer = buffers.get_mut(&to).ok_or_else(unknown_handle)?;
        // Completed copies, successful or not, have a status of at most 0.
        sending.retain(|(event, _)| !event.command_execution_status().is_ok_and(|s| s.0 <= 0));
        let memory = Box::from(data);
        // SAFETY: the memory is kept until the write has ended; the driver checks the range.
        let event =
            unsafe { self.queue.enqueue_write_buffer(buffer, CL_NON_BLOCKING, 0, &memory, &[]) };
        sending.push((event.map_err(failed("copy to the device"))?, memory));
        Ok(())
    }

    fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle> {
        let mut objects = lock(&self.objects);
        let buffer = objects.buffers.get(&from).ok_or_else(unknown_handle)?;
        let mut memory = vec![0; bytes].into_boxed_slice();
        // SAFETY: the memory is kept until the wait for the event, or for the whole queue on drop; the driver checks the
        // range.
        let event =
            unsafe { self.queue.enqueue_read_buffer(buffer, CL_NON_BLOCKING, 0, &mut memory, &[]) };
        let event = event.map_err(failed("copy from the device"))?;
        Ok(Handle::store((event, memory), &mut objects.receiving))
    }

    fn finish_fetch(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        let copy = lock(&self.objects).receiving.remove(&copy);
        let (event, memory) = copy.ok_or_else(unknown_handle)?;
        let result = event.wait().map_err(failed("copy from the device"));
        to.copy_from_slice(&memory);
        result
    }

    fn copy(&self, from: Handle, to: Handle, bytes: usize) -> Result<()> {
        let mut objects = lock(&self.objects);
        let mut target = objects.buffers.remove(&to).ok_or_else(unknown_handle)?;
        let event = match objects.buffers.get(&from) {
            // SAFETY: both are buffers of this context; the driver checks the range.
            Some(source) => unsafe {
                self.queue
                    .enqueue_copy_buffer(source, &mut target, 0, 0, bytes, &[])
                    .map_err(failed("copy on the device"))
                    .map(drop)
            },
            None => Err(unknown_handle()),
        };
        objects.buffers.insert(to, target);
        event
    }

    fn kernel(&self, KernelRequest { source, entry, .. }: &KernelRequest) -> Result<Handle> {
        let mut objects = lock(&self.objects);
        if !objects.programs.contains_key(source) {
            // PoCL fails with an empty log if several processes build the same program concurrently in its cache (pocl
            // issue 1480).
            let _one_process_at_a_time = DiskCache::of_user().lock("opencl-build.lock");
            let program = self.build(&source.text).map_err(|log| {
                Error::Device(format!("OpenCL could not compile `{}`:\n{log}", source.name))
            })?;
            objects.programs.insert(source.clone(), program);
        }
        let program = &objects.programs[source];
        let kernel = Kernel::create(program, entry)
            .map_err(failed(&format!("find the kernel `{entry}` in `{}`", source.name)))?;
        Ok(Handle::store(kernel, &mut objects.kernels))
    }

    fn launch(&self, launch: &Launch) -> Result<()> {
        let objects = lock(&self.objects);
        let kernel = objects.kernels.get(&launch.kernel).ok_or_else(unknown_handle)?;
        for (at, argument) in (0_u32..).zip(&launch.arguments) {
            let set = match argument {
                Argument::Buffer(handle) => {
                    let buffer = objects.buffers.get(handle).ok_or_else(unknown_handle)?;
                    // SAFETY: the argument is a cl_mem of this context.
                    unsafe { kernel.set_arg(at, &buffer.get()) }
                }
                // SAFETY: the argument is a cl_int.
                Argument::Int(value) => unsafe { kernel.set_arg::<cl_int>(at, value) },
                // SAFETY: the argument is a float.
                Argument::Float(bits) => unsafe { kernel.set_arg(at, bits) },
                // SAFETY: the argument is a double.
                Argument::Double(bits) => unsafe { kernel.set_arg(at, bits) },
            };
            set.map_err(failed("set an argument of a kernel"))?;
        }
        let local = launch.threads.map(|n| n as usize);
        let global: [usize; 3] =
            std::array::from_fn(|axis| local[axis] * launch.blocks[axis] as usize);
        // SAFETY: all arguments are set; sizes are three numbers each.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(
                kernel.get(),
                3,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                &[],
            )
        };
        event.map_err(failed("start a kernel")).map(drop)
    }

    fn finish(&self) -> Result<()> {
        self.queue.finish().map_err(failed("finish its work"))
    }

    fn record(&self) -> Result<Handle> {
        // SAFETY: the wait list is empty.
        let event = unsafe { self.queue.enqueue_marker_with_wait_list(&[]) };
        let event = event.map_err(failed("record an event"))?;
        Ok(Handle::store(event, &mut lock(&self.objects).events))
    }

    fn seconds(&self, from: Handle, to: Handle) -> Result<f64> {
        let mut objects = lock(&self.objects);
        let mut end = |handle| {
            let event = objects.events.remove(&handle).ok_or_else(unknown_handle)?;
            let time = event.wait().and_then(|()| event.profiling_command_end());
            time.map_err(failed("time its work"))
        };
        let (from, to) = (end(from)?, end(to)?);
        Ok(to.saturating_sub(from) as f64 * 1e-9)
    }
}
