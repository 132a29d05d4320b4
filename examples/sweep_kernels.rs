//! Writes the kernels of a Runge-Kutta stage for an NVIDIA GPU, without a GPU: for each kernel the source `N.cu` and the machine
//! code `N.cubin` in a folder, in the order in which a run requests them. `benches/sass.py` counts their instructions.
//!
//! ```text
//! cargo run --release --example sweep_kernels -- FOLDER POINTS CAPABILITY ON_CHIP [KEY=VALUE ...]
//! cargo run --release --example sweep_kernels -- /tmp/sweeps 256 90 232448 scheme.convection=feiereisen
//! ```

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use kolmo::backend::device::cuda::{Code, Nvrtc};
use kolmo::backend::device::{Api, Device, DeviceInfo, Gpu, KernelRequest};
use kolmo::config::{Config, parse};
use kolmo::physics::NavierStokes;
use kolmo::{Error, Result};

const USAGE: &str = "sweep_kernels FOLDER POINTS CAPABILITY ON_CHIP [KEY=VALUE ...]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, points, capability, on_chip, keys @ ..] = &arguments[..] else {
        return Err(Error::Device(USAGE.into()));
    };
    let number =
        |text: &String| text.parse().map_err(|_| Error::Device(format!("{text}: {USAGE}")));
    let [points, capability, on_chip] = [number(points)?, number(capability)?, number(on_chip)?];
    let input = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = [{points}, {points}, {points}]\n[time]\nend = 1.0\n"
    );
    let config = parse(&input, "sweep_kernels", keys)?;
    let folder = PathBuf::from(folder);
    let failed = |error: std::io::Error| Error::Device(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (at, (kernel, image)) in kernels(&config, capability, on_chip)?.into_iter().enumerate() {
        std::fs::write(folder.join(format!("{at}.cu")), &kernel.source.text).map_err(failed)?;
        std::fs::write(folder.join(format!("{at}.cubin")), image).map_err(failed)?;
    }
    Ok(())
}

/// The kernels with which a run of `config` advances its state, on a GPU of this compute capability (times ten) with `on_chip` bytes
/// of on-chip memory per block.
fn kernels(
    config: &Config,
    capability: usize,
    on_chip: usize,
) -> Result<Vec<(KernelRequest, Vec<u8>)>> {
    let nvrtc = Nvrtc::first().ok_or_else(|| {
        Error::Device("NVRTC is missing; pip install nvidia-cuda-nvrtc, and set VIRTUAL_ENV".into())
    })?;
    let code = Code::Cubin(u32::try_from(capability).unwrap_or(u32::MAX));
    let info = DeviceInfo {
        api: Api::Cuda,
        index: 0,
        name: "a GPU".into(),
        driver: String::new(),
        is_gpu: true,
        memory: u64::MAX,
        largest_buffer: u64::MAX,
        on_chip,
        block_threads: 1024,
        multiprocessors: 132,
        has_f64: true,
        has_async_copies: true,
    };
    let images = Arc::<Mutex<HashMap<KernelRequest, Result<Vec<u8>>>>>::default();
    let compiled = images.clone();
    let (device, recording) = Device::recording(info, move |kernel| {
        if !advances(kernel) {
            return 0;
        }
        let image = nvrtc.compile(&kernel.source, code);
        let spilled = image.as_ref().map_or(0, |image| frame(image));
        if let Ok(mut images) = compiled.lock() {
            images.insert(kernel.clone(), image);
        }
        spilled
    });
    let gpu = Gpu::configured(device, config.grid.points.iter().product(), &config.compute)?;
    // The fields are never accessed, so their memory pages are never allocated.
    NavierStokes::new(&config.problem(), Arc::new(gpu))?;
    let mut images =
        images.lock().map(|mut images| std::mem::take(&mut *images)).unwrap_or_default();
    let kernels = recording.kernels().into_iter();
    kernels
        .filter_map(|kernel| Some((images.remove(&kernel)?, kernel)))
        .map(|(image, kernel)| Ok((kernel, image?)))
        .collect()
}

/// Whether a kernel is a sweep that reads only fields that it writes.
fn advances(kernel: &KernelRequest) -> bool {
    let fields = kernel.source.text.lines().find(|line| line.starts_with("#define FIELDS "));
    fields.is_some_and(|fields| !fields.contains("restrict r"))
}

/// Bytes per thread in device memory: the largest EIATTR_FRAME_SIZE of an image, as nvdisasm names it (format 4, number
/// 0x11, 8 bytes: function and value). The next attribute is another EIATTR_FRAME_SIZE, or the first EIATTR_MIN_STACK_SIZE, number 0x12.
fn frame(image: &[u8]) -> usize {
    let sizes = image.windows(16).filter_map(|bytes| match bytes {
        [0x04, 0x11, 8, 0, _, _, _, _, a, b, c, d, 0x04, 0x11 | 0x12, 8, 0] => {
            Some(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        _ => None,
    });
    sizes.max().unwrap_or(0) as usize
}
