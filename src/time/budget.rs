//! What a run would take, told before anything is allocated.

use std::fmt::Write as _;

use super::memory::{Parts, available_memory};
use super::sample::{self, seconds};
use super::{check_device_memory, check_memory};
use crate::backend::cpu::Cpu;
use crate::backend::device::{Device, Gpu, choose};
use crate::config::{Config, Precision, RightHandSide};
use crate::error::Result;
use crate::grid::{Block, MOST_POINTS};
use crate::physics::StageWork;

/// Memory and time of `config` on one rank: bytes by what they are for, the largest grid of the same proportions that fits,
/// and a step's time, from steps on a grid of at most 64 points along each axis.
///
/// # Errors
/// What a device or a compiler says.
pub fn budget(config: &Config) -> Result<String> {
    let points = config.grid.points;
    let block = Block { start: [0; 3], points };
    let chosen = choose(&config.compute, 0)?;
    let device = chosen.map(|(api, index)| Device::open(api, index)).transpose()?;
    let parts = Parts::of(config, &block, device.as_ref().map(|device| device.info()));
    let mut text = String::new();
    let mut line = |label: &str, content: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<8} {content}");
    };
    let [x, y, z] = points;
    line("points", format!("{x} x {y} x {z}, {}", config.compute.precision.name()));
    line("fields", parts.described());
    line(
        "memory",
        format!("{} bytes a point, {}", parts.bytes_a_point(), gib(parts.bytes(&block))),
    );
    let (place, free) = match &device {
        Some(device) => (device.info().name.clone(), Some(device_memory(device))),
        None => ("this host".into(), available_memory()),
    };
    if let Some(free) = free {
        let fits = |config: &Config| {
            let block = Block { start: [0; 3], points: config.grid.points };
            match &device {
                Some(device) => check_device_memory(config, &block, device).is_ok(),
                None => check_memory(config, &block, 1).is_ok(),
            }
        };
        let most = match largest(config, free, fits) {
            Some([x, y, z]) => format!("at most {x} x {y} x {z}"),
            None => "no grid of this shape does".into(),
        };
        let verdict = if fits(config) { "fits" } else { "does not fit" };
        line("free", format!("{} on {place}: it {verdict}; {most}", gib(free)));
    }
    line("words", words(config));
    let sample = sample::on_few_points(config);
    let stages = config.time.integrator.stages();
    let seconds = match (device, config.compute.precision) {
        (None, Precision::F64) => seconds(Cpu::<f64>::new(config.compute.threads)?, &sample)?,
        (None, Precision::F32) => seconds(Cpu::<f32>::new(config.compute.threads)?, &sample)?,
        (Some(device), precision) => {
            let (len, compute) = (sample.grid.points.iter().product(), &config.compute);
            match precision {
                Precision::F64 => seconds(Gpu::<f64>::configured(device, len, compute)?, &sample)?,
                Precision::F32 => seconds(Gpu::<f32>::configured(device, len, compute)?, &sample)?,
            }
        }
    };
    let sampled: usize = sample.grid.points.iter().product();
    let a_point = seconds.iter().sum::<f64>() / (seconds.len() * sampled) as f64;
    let [x, y, z] = sample.grid.points;
    line(
        "time",
        format!(
            "{:.3} s a step expected: {:.1} ns a point and stage, as on {x} x {y} x {z} points",
            a_point * block.len() as f64,
            1e9 * a_point / stages as f64
        ),
    );
    Ok(text)
}

#[allow(clippy::cast_precision_loss, reason = "for a message")]
fn device_memory(device: &Device) -> f64 {
    device.free_memory().unwrap_or(device.info().memory) as f64
}

/// The most points in the shape of the grid of `config` that `fits` says of that they fit into `free` bytes: none, or at least 16
/// along each axis, which all formulas have enough of, in multiples of 8, or of 64 beyond 1024. On a device, lines of other lengths may
/// need more fields.
#[allow(clippy::cast_precision_loss, reason = "an estimate to begin with")]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST_POINTS")]
fn largest(config: &Config, free: f64, fits: impl Fn(&Config) -> bool) -> Option<[usize; 3]> {
    let points = config.grid.points;
    let longest = points.into_iter().max().unwrap_or(1);
    let scaled = |to: usize| {
        let mut config = config.clone();
        let one = |n: usize| (n * to / longest / 8 * 8).max(16);
        config.grid.points = points.map(|n| if n > 1 { one(n) } else { 1 });
        config
    };
    // No device needs fewer fields than the host.
    let bytes = Parts::of(config, &Block { start: [0; 3], points }, None).bytes_a_point();
    let active = || points.iter().filter(|n| **n > 1);
    let shape: f64 = active().map(|&n| n as f64 / longest as f64).product();
    let estimate = (free / bytes / shape).powf(1.0 / active().count() as f64);
    let most = ((estimate / 64.0) as usize + 1).min(MOST_POINTS / 64) * 64;
    let before = |n: &usize| Some(n - if *n > 1024 { 64 } else { 8 }).filter(|n| *n > 8);
    let lengths = std::iter::successors(Some(most), before);
    lengths.map(scaled).find(fits).map(|config| config.grid.points)
}

fn words(config: &Config) -> String {
    match (config.compute.right_hand_side, StageWork::of(config)) {
        (RightHandSide::Fused, Some(StageWork { words, solves, flops })) => {
            format!(
                "{words} read and written a point and stage, {solves} line solves, {flops} operations"
            )
        }
        _ => "not counted: only of fused sweeps in 2N storage".into(),
    }
}

fn gib(bytes: f64) -> String {
    format!("{:.2} GiB", bytes / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::device::{Api, DeviceInfo};

    #[test]
    fn the_largest_grid_fits_and_the_next_does_not() {
        let gpu = DeviceInfo {
            api: Api::Cuda,
            index: 0,
            name: "G".into(),
            driver: String::new(),
            is_gpu: true,
            memory: 0,
            largest_buffer: 0,
            on_chip: 232_448,
            block_threads: 1024,
            has_f64: true,
        };
        for (case, points, device, gib, expected) in [
            // 15 fields of 8 bytes: 1024^3 are 120 GiB.
            ("taylor-green", [64, 64, 64], None, 120.0, Some([1024, 1024, 1024])),
            ("taylor-green", [64, 64, 64], None, 119.0, Some([1016, 1016, 1016])),
            ("taylor-green", [64, 64, 64], Some(&gpu), 120.0, Some([1024, 1024, 1024])),
            // Lines of more than 1024 points take operators one after another, 50 fields and more.
            ("taylor-green", [64, 64, 64], Some(&gpu), 200.0, Some([1024, 1024, 1024])),
            ("isentropic-vortex", [100, 50, 1], None, 1.0, Some([4224, 2112, 1])),
            ("acoustic-wave", [32, 1, 1], Some(&gpu), 78.0, Some([65536, 1, 1])),
            ("taylor-green", [16, 16, 16], None, 1e-9, None),
        ] {
            let free = gib * f64::from(1 << 30);
            let input = format!(
                "[case]\nname = '{case}'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n"
            );
            let config = crate::config::parse(&input, "test", &[]).unwrap();
            let fits = |config: &Config| {
                let block = Block { start: [0; 3], points: config.grid.points };
                Parts::of(config, &block, device).bytes(&block) <= free
            };
            assert_eq!(largest(&config, free, fits), expected);
        }
    }
}
