//! Choice of the device for a run, and check that the run fits in its memory.

use super::{Api, DeviceInfo, cuda, devices};
use crate::backend::{BackendChoice, ComputeConfig, Pencils};
use crate::error::{Error, Result, out_of_memory, refused};
use crate::real::Precision;

/// Returns the device that `compute` asks for; `None` is the CPU. `auto` takes CUDA if it is usable, else an OpenCL GPU,
/// else the CPU. If no device number is given, the ranks of a host take its devices in turn: `local_rank` is the index of
/// this rank among them.
///
/// # Errors
/// If there is no such device, or it cannot do what is requested. The error lists what is available and gives advice.
pub fn choose(compute: &ComputeConfig, local_rank: usize) -> Result<Option<(Api, usize)>> {
    let wanted = (compute.device, local_rank);
    let of = |api| pick(api, devices(api).map_err(refusal)?, wanted);
    let chosen = match compute.backend {
        BackendChoice::Cpu => None,
        BackendChoice::Cuda => {
            let device = of(Api::Cuda)?;
            cuda::compiler(device.index).map_err(refusal)?;
            Some(device)
        }
        BackendChoice::OpenCl => Some(of(Api::OpenCl)?),
        BackendChoice::Auto => best_device(compute, local_rank)?,
    };
    match chosen {
        Some(device) => {
            check_precision(&device, compute.precision)?;
            Ok(Some((device.api, device.index)))
        }
        None => check_cpu(compute).map(|()| None),
    }
}

/// Returns why `auto` does not take CUDA on a machine with NVIDIA's driver; `None` if it does, or without a driver.
pub fn why_not_cuda() -> Option<String> {
    if !cuda::has_driver() {
        return None;
    }
    let reason = devices(Api::Cuda).err().or_else(|| cuda::compiler(0).err());
    reason.map(|reason| reason.to_string())
}

/// Makes a device error a configuration error: the request cannot be met and nothing was run.
fn refusal(why: Error) -> Error {
    Error::Config(vec![format!("error: {why}")])
}

/// Returns the device of `auto`; `None` is the CPU.
fn best_device(compute: &ComputeConfig, local_rank: usize) -> Result<Option<DeviceInfo>> {
    let of = |api| devices(api).unwrap_or_default();
    let nvidia = of(Api::Cuda);
    if !nvidia.is_empty() && cuda::compiler(0).is_ok() {
        return pick(Api::Cuda, nvidia, (compute.device, local_rank)).map(Some);
    }
    let fits = |device: &DeviceInfo| device.is_gpu && precision_fits(device, compute.precision);
    let gpus: Vec<DeviceInfo> = of(Api::OpenCl).into_iter().filter(fits).collect();
    let found = match (compute.device, gpus.len()) {
        (None | Some(0), 0) => return Ok(None),
        (None, count) => gpus.get(local_rank % count),
        // The first device that fits need not be number 0.
        (Some(0), _) => gpus.first(),
        (Some(index), _) => gpus.iter().find(|gpu| gpu.index == index),
    };
    found.cloned().map(Some).ok_or_else(|| {
        let index = compute.device.unwrap_or(0);
        refused(
            format!("compute.device = {index}: there is no such GPU on this machine"),
            "`kolmo info` lists the devices; name the interface too, as in `--backend opencl`",
        )
    })
}

/// Returns device `wanted` of `devices`, or else the device of this rank on its host.
fn pick(
    api: Api,
    devices: Vec<DeviceInfo>,
    (wanted, local_rank): (Option<usize>, usize),
) -> Result<DeviceInfo> {
    let count = devices.len();
    let index = wanted.unwrap_or(local_rank % count.max(1));
    devices.into_iter().find(|device| device.index == index).ok_or_else(|| {
        let name = api.name();
        let what = match count {
            0 => format!("no {name} device was found on this machine"),
            _ => format!(
                "compute.device = {index}: the last {name} device of this machine is number {}",
                count - 1
            ),
        };
        let advice = match (api, count) {
            (Api::OpenCl, 0) => {
                "install the maker's OpenCL driver, or for a CPU PoCL (apt install \
                 pocl-opencl-icd ocl-icd-libopencl1); or use `--backend cpu`"
            }
            _ => "`kolmo info` lists the devices",
        };
        refused(what, advice)
    })
}

fn precision_fits(device: &DeviceInfo, precision: Precision) -> bool {
    precision == Precision::F32 || device.has_f64
}

fn check_precision(device: &DeviceInfo, precision: Precision) -> Result<()> {
    if precision_fits(device, precision) {
        return Ok(());
    }
    let what = format!("{} does not compute in 64 bit", device.name);
    Err(refused(what, "use `compute.precision = \"f32\"`, or `--backend cpu`"))
}

/// Refuses options that need a device on a run without one.
fn check_cpu(compute: &ComputeConfig) -> Result<()> {
    let solver = compute.line_solver.filter(|solver| solver.unavailable_on_host().is_some());
    let what = match (solver, compute.pencils) {
        (Some(solver), _) => format!("compute.line_solver = \"{}\"", solver.name()),
        (None, Pencils::Permuted) => "compute.pencils = \"permuted\"".to_string(),
        (None, Pencils::Strided) if compute.sweeps.is_set() => "compute.sweeps".to_string(),
        (None, Pencils::Strided) => return Ok(()),
    };
    let why = match compute.backend {
        BackendChoice::Cpu => "is for devices, and the CPU was asked for",
        _ => "needs a GPU, and none was found: `kolmo info` says why",
    };
    let advice = "remove it, or use `--backend opencl` where OpenCL runs on the CPU";
    Err(refused(format!("{what} {why}"), advice))
}

/// Refuses a grid whose fields do not fit in device memory; `free` is the number of free bytes if the driver reports it.
///
/// # Errors
/// [`Error::Config`] with the needed and the available memory, and with advice on what would fit.
pub fn check_memory(
    device: &DeviceInfo,
    free: Option<u64>,
    needed: f64,
    points: [usize; 3],
    advice: impl FnOnce() -> String,
) -> Result<()> {
    let available = free.unwrap_or(device.memory) as f64;
    let has = if free.is_some() { "are free on" } else { "is the total memory of" };
    if needed <= available {
        return Ok(());
    }
    let [x, y, z] = points;
    let what = format!("{x} x {y} x {z} points");
    let there = format!("{has} {}", device.name);
    Err(Error::refused(out_of_memory(what, [needed, available], "of memory", there), &advice()))
}
