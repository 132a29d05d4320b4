//! Cost estimate of a run before anything is allocated.

use std::sync::Arc;

use super::largest::largest;
use super::memory::{Parts, message_bytes, output_bytes};
use super::outlook::{self, RunLength};
use super::sample::{self, seconds};
use super::sweep_blocks::describe_sweeps;
use super::{available_memory, check_device_memory, check_memory};
use crate::backend::device::{Device, choose};
use crate::backend::{on_device, on_host};
use crate::config::{Config, RightHandSide};
use crate::error::Result;
use crate::grid::{Block, Decomposition};
use crate::io::progress::duration;
use crate::physics::StageWork;

/// Memory and time of `config` on one rank: bytes by purpose, the largest grid of the same proportions that fits, the time per
/// step, from steps on a grid of at most 64 points along each axis, and the time and disk space of the whole run.
///
/// # Errors
/// Errors of a device or a compiler.
pub fn budget(config: &Config) -> Result<String> {
    let points = config.grid.points;
    let block = Block::whole(points);
    let chosen = choose(&config.compute, 0)?;
    let device = chosen.map(|(api, index)| Device::open(api, index)).transpose()?;
    let parts = Parts::of(config, &block, device.as_ref().map(|device| device.info()));
    let mut text = String::new();
    let mut line = |label: &str, content: String| text += &format!("{label:<8} {content}\n");
    let [x, y, z] = points;
    line("points", format!("{x} x {y} x {z}, {}", config.compute.precision.name()));
    line("fields", parts.described());
    let (each, all) = (parts.bytes_per_point(), gib(parts.bytes(&block)));
    line("memory", format!("{each} bytes per point, {all}"));
    let outputs = output_bytes(config, &block);
    if outputs > 0.0 {
        let of = "for pictures, fields, statistics and checkpoints";
        line("outputs", format!("{} more on the host, {of}", gib(outputs)));
    }
    if let Some(ranks) = config.compute.ranks.filter(|ranks| *ranks != Decomposition::ONE.ranks) {
        let decomposition = Decomposition::requested(ranks, ranks.iter().product(), points)?;
        line("ranks", rank_memory(config, decomposition, device.as_deref()));
        line("", "all other lines are for one rank".into());
    }
    let (place, free) = match &device {
        Some(device) => (
            device.info().name.clone(),
            Some(device.free_memory().unwrap_or(device.info().memory) as f64),
        ),
        None => ("this host".into(), available_memory(1)),
    };
    if let Some(free) = free {
        let fits = |config: &Config| {
            let block = Block::whole(config.grid.points);
            let checked = match &device {
                Some(device) => check_device_memory(config, Decomposition::ONE, &block, device),
                None => check_memory(config, Decomposition::ONE, &block, 1),
            };
            checked.is_ok()
        };
        let most = match largest(config, free, fits) {
            Some([x, y, z]) => format!("at most {x} x {y} x {z}"),
            None => "no grid of this shape does".into(),
        };
        let verdict = if fits(config) { "fits" } else { "does not fit" };
        line("free", format!("{} on {place}: it {verdict}; {most}", gib(free)));
    }
    line("words", words(config));
    let describe = |device: &Arc<Device>| describe_sweeps(config, &block, device.info());
    if let Some(sweeps) = device.as_ref().and_then(describe) {
        line("sweeps", sweeps);
    }
    let sample = sample::on_few_points(config);
    let stages = config.time.integrator.stages();
    let (sampled, compute) = (sample.grid.points.iter().product(), &config.compute);
    let backend = match device {
        None => on_host(compute, None)?,
        Some(device) => on_device(device, sampled, compute)?,
    };
    let seconds = seconds(backend.into(), &sample)?;
    let seconds_per_point = seconds.iter().sum::<f64>() / (seconds.len() * sampled) as f64;
    let (step, ns) =
        (seconds_per_point * block.len() as f64, 1e9 * seconds_per_point / stages as f64);
    let [x, y, z] = sample.grid.points;
    let on = format!("as on {x} x {y} x {z} points");
    line("time", format!("{step:.3} s per step expected: {ns:.1} ns per point and stage, {on}"));
    let length = RunLength::of(config)?;
    let RunLength { steps, dt, .. } = length;
    let all = duration(steps * step);
    line("run", format!("about {all}: {steps:.0} steps of dt = {dt:.2e}, that of the first"));
    let parts = outlook::bytes(config, &length, step);
    let named: Vec<_> =
        parts.iter().map(|(name, bytes)| format!("{} of {name}", size(*bytes))).collect();
    let all: f64 = parts.iter().map(|(_, bytes)| bytes).sum();
    line("disk", format!("about {}: {}", size(all), named.join(", ")));
    Ok(text)
}

/// Memory of the first of several ranks, which has the largest block.
fn rank_memory(config: &Config, decomposition: Decomposition, device: Option<&Device>) -> String {
    let block = decomposition.block(0, config.grid.points);
    let parts = Parts::of(config, &block, device.map(|device| device.info()));
    // Where fields are on a device, outputs are on the host.
    let outputs = if device.is_some() { 0.0 } else { output_bytes(config, &block) };
    let fields = parts.bytes(&block) + outputs;
    let messages = message_bytes(config, decomposition, &block);
    let ([px, py, pz], [x, y, z]) = (decomposition.ranks, block.points);
    format!(
        "{px} x {py} x {pz}, each with {x} x {y} x {z} points: {}, {} of it for exchange along axes that are cut",
        gib(fields + messages),
        gib(messages)
    )
}

fn words(config: &Config) -> String {
    match (config.compute.right_hand_side, StageWork::of(&config.problem())) {
        (RightHandSide::Fused, Some(StageWork { words, words_in_planes, solves, flops })) => {
            format!(
                "{words} read and written per point and stage, {words_in_planes} on a host whose caches hold a plane, {solves} line \
                 solves, {flops} operations"
            )
        }
        _ => "not counted: known only for fused sweeps in 2N storage".into(),
    }
}

/// A size in its most readable unit.
fn size(bytes: f64) -> String {
    let units = [("GiB", f64::from(1 << 30)), ("MiB", f64::from(1 << 20)), ("KiB", 1024.0)];
    let (unit, of) = units.into_iter().find(|(_, of)| bytes >= *of).unwrap_or(units[2]);
    format!("{:.1} {unit}", bytes / of)
}

fn gib(bytes: f64) -> String {
    format!("{:.2} GiB", bytes / f64::from(1 << 30))
}
