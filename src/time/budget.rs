//! What a run would take, told before anything is allocated.

use std::fmt::Write as _;

use super::memory::{Parts, available_memory};
use super::sample::{self, seconds};
use super::{check_device_memory, check_memory};
use crate::backend::cpu::Cpu;
use crate::backend::device::{Device, Gpu, choose};
use crate::config::{Config, Precision, RightHandSide};
use crate::error::Result;
use crate::grid::{Block, Grid};
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
        let factor = (free / parts.bytes(&block)).powf(1.0 / active(config));
        let largest = points.map(|n| if n > 1 { (n as f64 * factor).floor() } else { 1.0 });
        let fits = match &device {
            Some(device) => check_device_memory(config, &block, device).is_ok(),
            None => check_memory(config, &block, 1).is_ok(),
        };
        let [x, y, z] = largest;
        let verdict = if fits { "fits" } else { "does not fit" };
        line("free", format!("{} on {place}: it {verdict}; at most {x} x {y} x {z}", gib(free)));
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

/// Axes with more than one point.
fn active(config: &Config) -> f64 {
    Grid::periodic(config.grid.points, &config.grid.domain).active_axes().map(|_| 1.0).sum()
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
