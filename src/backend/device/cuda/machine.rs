//! The driver of this machine and its devices.

use cudarc::driver::result::{self as cu, DriverError};
use cudarc::driver::sys;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use libloading::Library;

use super::super::runtime::{Api, DeviceInfo};
use super::libraries::{load_first, missing_function};
use super::nvrtc::{Nvrtc, Version, capability_name, dotted};
use crate::error::{Error, Result};

/// The oldest driver that has all functions used.
const OLDEST_DRIVER: Version = (12, 8);

/// The compute capability from which copies to on-chip memory run asynchronously to the threads.
const ASYNC_COPY_CAPABILITY: u32 = 80;

/// File names of the driver's library.
const DRIVER: [&str; 2] = ["cuda", "nvcuda"];

/// The functions used of the driver.
#[rustfmt::skip]
const FUNCTIONS: [&str; 46] = [
    "cuCtxGetStreamPriorityRange", "cuCtxSetCurrent", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain", "cuDeviceTotalMem_v2",
    "cuEventCreate", "cuEventDestroy_v2", "cuEventElapsedTime_v2", "cuEventQuery", "cuEventRecord",
    "cuEventSynchronize", "cuFuncGetAttribute", "cuFuncGetModule", "cuFuncSetAttribute",
    "cuGetErrorString", "cuGraphDestroy", "cuGraphExecDestroy", "cuGraphInstantiateWithFlags",
    "cuGraphLaunch", "cuInit", "cuLaunchKernel", "cuMemAlloc_v2", "cuMemFreeHost", "cuMemFree_v2",
    "cuMemGetInfo_v2", "cuMemHostAlloc", "cuMemHostRegister_v2", "cuMemHostUnregister",
    "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuModuleGetFunction",
    "cuModuleLoadData", "cuModuleUnload", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuStreamBeginCapture_v2", "cuStreamCreate",
    "cuStreamCreateWithPriority", "cuStreamDestroy_v2", "cuStreamEndCapture", "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

pub(in super::super) fn list() -> Result<Vec<DeviceInfo>> {
    let version = driver()?;
    let count = cu::device::get_count().map_err(failed("count the GPUs"))?;
    let count = usize::try_from(count).unwrap_or(0);
    (0..count).map(|index| Ok(describe(index, device(index)?, version)?.0)).collect()
}

/// Returns the compiler that is used for device `index`.
///
/// # Errors
/// A sentence that explains why there is no compiler: because of the driver, the device, or the compiler.
pub fn compiler(index: usize) -> Result<Nvrtc> {
    let version = driver()?;
    Nvrtc::find(version, describe(index, device(index)?, version)?.1)
}

/// Whether NVIDIA's driver is installed, in any version.
pub(in super::super) fn has_driver() -> bool {
    load_first(&DRIVER).is_some()
}

/// Returns the version of the driver, or an error if the driver is not usable.
pub(super) fn driver() -> Result<Version> {
    let Some(library) = load_first(&DRIVER) else {
        return refuse(
            "NVIDIA's driver (libcuda.so.1) was not found",
            "install it where there is an NVIDIA GPU",
        );
    };
    check_functions(&library, &["cuDriverGetVersion", "cuGetErrorString"])?;
    let mut version = 0;
    // SAFETY: one integer is written.
    let result = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
    usable("ask the driver for its version", result)?;
    let version = u32::try_from(version).unwrap_or(0);
    let version = (version / 1000, version % 1000 / 10);
    if version < OLDEST_DRIVER {
        return refuse(
            &format!(
                "NVIDIA's driver is of CUDA {}; {} or newer is needed",
                dotted(version),
                dotted(OLDEST_DRIVER)
            ),
            "update the driver to release 570 or newer",
        );
    }
    check_functions(&library, &FUNCTIONS)?;
    match cu::init() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => {
            let hidden = std::env::var("CUDA_VISIBLE_DEVICES");
            let hidden = hidden.map(|ids| format!(" among CUDA_VISIBLE_DEVICES={ids}"));
            refuse(
                &format!("NVIDIA's driver finds no GPU{}", hidden.unwrap_or_default()),
                "`nvidia-smi` lists what it finds",
            )
        }
        other => usable("start the driver", other).map(|()| version),
    }
}

/// Converts the result of a driver call. A stub library returns a special error for every call, and has no text for it.
fn usable<T>(what: &str, result: Result<T, DriverError>) -> Result<T> {
    match result {
        Err(DriverError(sys::CUresult::CUDA_ERROR_STUB_LIBRARY)) => refuse(
            "the libcuda.so on the library path is the stub of a toolkit, which serves only for linking",
            "take its folder off LD_LIBRARY_PATH",
        ),
        other => other.map_err(failed(what)),
    }
}

/// Checks that the functions exist: cudarc panics when it calls a missing function.
fn check_functions(driver: &Library, functions: &[&str]) -> Result<()> {
    match missing_function(driver, functions) {
        None => Ok(()),
        Some(name) => refuse(
            &format!(
                "the libcuda.so on the library path has no function {name}, so it is not NVIDIA's driver"
            ),
            "take its folder off LD_LIBRARY_PATH",
        ),
    }
}

fn refuse<T>(what: &str, advice: &str) -> Result<T> {
    Err(Error::Device(format!(
        "CUDA cannot be used: {what}\n       {advice}, or use `--backend opencl` or `--backend cpu`"
    )))
}

/// Returns a function that converts a driver error to a sentence.
pub(super) fn failed(what: &str) -> impl Fn(DriverError) -> Error + '_ {
    move |error| Error::Device(format!("CUDA could not {what}: {}", error_text(error)))
}

pub(super) fn error_text(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{:?}", error.0))
}

pub(super) fn device(index: usize) -> Result<sys::CUdevice> {
    let ordinal = i32::try_from(index).unwrap_or(i32::MAX);
    cu::device::get(ordinal).map_err(failed(&format!("open device {index}")))
}

/// Returns a device's description and limits, and its compute capability.
pub(super) fn describe(
    index: usize,
    device: sys::CUdevice,
    driver: Version,
) -> Result<(DeviceInfo, u32)> {
    let to_error = failed("describe the device");
    let number = |attribute| {
        // SAFETY: the device is one of the driver's.
        let value = unsafe { cu::device::get_attribute(device, attribute) }.map_err(&to_error)?;
        Ok::<_, Error>(u32::try_from(value).unwrap_or(0))
    };
    let capability = 10 * number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
        + number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    // SAFETY: as above.
    let memory = unsafe { cu::device::total_mem(device) }.map_err(&to_error)? as u64;
    let info = DeviceInfo {
        api: Api::Cuda,
        index,
        name: cu::device::get_name(device).map_err(&to_error)?,
        driver: format!(
            "CUDA {}, compute capability {}",
            dotted(driver),
            capability_name(capability)
        ),
        is_gpu: true,
        memory,
        largest_buffer: memory,
        on_chip: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
        block_threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as usize,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize,
        has_f64: true,
        has_async_copies: capability >= ASYNC_COPY_CAPABILITY,
    };
    Ok((info, capability))
}
