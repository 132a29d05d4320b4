//! `kolmo info`: the hardware and libraries of this machine, and which of them are used.

use std::collections::BTreeSet;
use std::convert::identity;
use std::process::ExitCode;

use kolmo::Result;
use kolmo::backend::device::{Api, DeviceInfo, cuda, devices};
use kolmo::backend::ranks::Route;
use kolmo::comm::{self, Communicator};

use crate::terminal::say;

pub(crate) fn info(comm: &dyn Communicator) -> Result<ExitCode> {
    let ranks = ranks(comm);
    if comm.rank() > 0 {
        return comm::all_or_error(comm, Ok(ExitCode::SUCCESS));
    }
    comm::all_or_error(comm, machine().and_then(|machine| say(&(machine + &ranks))))
}

/// The properties of this host.
fn machine() -> Result<String> {
    let cpu = kolmo::backend::cpu::Cpu::<f64>::new(None)?;
    let machine = kolmo::io::summary::Machine::here(cpu.threads(), cpu.simd(), None);
    Ok(format!(
        "kolmo    {}\n\
         cpu      {}\n\
         cores    {}\n\
         threads  {}\n\
         simd     {}\n\
         {}{}{}",
        env!("CARGO_PKG_VERSION"),
        machine.cpu,
        machine.cores,
        machine.threads,
        machine.simd,
        device_lines("cuda", &devices(Api::Cuda)),
        compiler(),
        device_lines("opencl", &devices(Api::OpenCl)),
    ))
}

/// The MPI library and the ranks. Collective.
fn ranks(comm: &dyn Communicator) -> String {
    let library = match comm::library() {
        Ok(library) => library,
        Err(why) => return format!("mpi      {why}\n         one rank\n"),
    };
    let hosts = comm.gather(comm::host().as_bytes()).unwrap_or_default();
    let hosts = hosts.iter().collect::<BTreeSet<_>>().len();
    let aware = match comm.reports_device_aware() {
        _ if comm.size() == 1 => "",
        Some(true) => "         reports that it accepts CUDA device addresses\n",
        Some(false) => "         reports that it does not accept device addresses\n",
        None => "         does not report whether it accepts device addresses\n",
    };
    let tested = match (comm.size() > 1).then(|| Route::between_devices(comm)) {
        None => String::new(),
        Some(Ok(Some(route))) => format!("         messages of CUDA devices go {}\n", route.told()),
        Some(Ok(None)) => {
            "         some rank has no CUDA device: messages of devices are not tested\n".into()
        }
        Some(Err(why)) => format!("         {}\n", why.to_string().replace('\n', "\n         ")),
    };
    let many =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "mpi      {library}\n         {} on {}\n{aware}{tested}",
        many(comm.size(), "rank"),
        many(hosts, "host")
    )
}

/// The devices of an interface, at least one line each, or the reason why there are none.
fn device_lines(label: &str, devices: &Result<Vec<DeviceInfo>>) -> String {
    match devices {
        Ok(devices) if devices.is_empty() => format!("{label:8} no device\n"),
        Ok(devices) => devices.iter().map(|device| device_line(label, device)).collect(),
        Err(why) => format!("{label:8} {}\n", why.to_string().replace('\n', "\n  ")),
    }
}

fn device_line(label: &str, device: &DeviceInfo) -> String {
    let kind = if device.is_gpu { "" } else { " (a CPU; `auto` does not select it)" };
    let bits = if device.has_f64 { "f64 and f32" } else { "f32 only" };
    format!(
        "{label:8} {}: {}{kind}\n         {}; {:.1} GiB of memory, {} KiB of on-chip memory per block, {bits}\n",
        device.index,
        device.name,
        device.driver,
        device.memory as f64 / f64::from(1 << 30),
        device.on_chip >> 10,
    )
}

/// The CUDA compiler, a separate library; without a driver, the first version found.
fn compiler() -> String {
    let result = match devices(Api::Cuda) {
        Ok(_) => cuda::compiler(0).map_err(|why| why.to_string().replace('\n', "\n  ")),
        Err(_) => cuda::Nvrtc::first().ok_or("not found".to_string()),
    };
    let description = result.map_or_else(identity, |nvrtc| {
        let (major, minor) = nvrtc.version();
        format!("{major}.{minor}, {}", nvrtc.path().display())
    });
    format!("nvrtc    {description}\n")
}
