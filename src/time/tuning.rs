//! The fastest kernel variant of a backend, measured once per machine and cached.

use super::sample;
use crate::backend::ranks::Blocks;
use crate::backend::{Backend, DiskCache};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Block;
use crate::io::progress::tell;
use crate::io::summary::Machine;

/// A variant is preferred to the default one if it takes less than this fraction of its time.
const MAX_TIME_RATIO: f64 = 0.97;

/// A backend for `block`, as `open` returns it for fields of a given number of values, in the variant that is fastest on this
/// machine. Where the fastest is unknown it is measured by steps of the same equations on few points and stored in the user's
/// cache directory. A run that is no larger than this measurement gets the default variant. Only the `first` rank reports a
/// measurement to the user and stores it.
pub(super) fn tuned(
    open: impl Fn(usize) -> Result<Box<dyn Blocks>>,
    config: &Config,
    block: &Block,
    first: bool,
) -> Result<Box<dyn Blocks>> {
    let mut backend = open(block.len())?;
    let shapes = backend.shapes();
    if shapes.len() < 2 || block.len() <= sample::MAX_POINTS.pow(3) {
        return Ok(backend);
    }
    let (key, cache) = (key(&*backend, config), DiskCache::of_user());
    let cached = cache
        .get(&key)
        .and_then(|name| shapes.iter().copied().find(|shape| shape.as_bytes() == name));
    let shape = cached.unwrap_or_else(|| {
        if first {
            tell("measuring once which kernel variant is fastest on this machine (`--no-tune` skips this)");
        }
        // A failure on few points, such as an impossible state, is not a measurement.
        let measured = fastest(&open, &shapes, config);
        if let Some(fastest) = measured.filter(|_| first) {
            cache.put(&key, fastest.as_bytes());
        }
        measured.unwrap_or(shapes[0])
    });
    backend.set_shape(shape);
    Ok(backend)
}

/// Conditions under which a measurement holds.
fn key(backend: &dyn Backend, config: &Config) -> String {
    let machine = Machine::here(backend.threads(), backend.simd(), backend.device_name());
    let Machine { cpu, threads, simd, device, .. } = machine;
    let place = device.unwrap_or(format!("{cpu}, {threads} threads, {simd}"));
    let compute = &config.compute;
    format!(
        "kolmo {} shape ({}) on {} {place}, {}, {:?}, {}, viscous {}",
        env!("CARGO_PKG_VERSION"),
        backend.shapes().join(" or "),
        backend.name(),
        compute.precision.name(),
        compute.right_hand_side,
        config.scheme.derivative.name,
        !config.gas.is_inviscid(),
    )
}

/// The first of `shapes` unless another is clearly faster; `None` where all fail.
fn fastest(
    open: impl Fn(usize) -> Result<Box<dyn Blocks>>,
    shapes: &[&'static str],
    config: &Config,
) -> Option<&'static str> {
    let sample = sample::on_few_points(config);
    let points = sample.grid.points.iter().product();
    let seconds = |shape| {
        let mut backend = open(points)?;
        backend.set_shape(shape);
        let seconds = sample::seconds(backend.into(), &sample)?;
        Ok::<_, Error>(seconds.into_iter().fold(f64::INFINITY, f64::min))
    };
    let mut best: Option<(&'static str, f64)> = None;
    for &shape in shapes {
        let result = seconds(shape);
        tracing::debug!("shape {shape}: {result:?} s a step");
        if let Ok(seconds) = result
            && best.is_none_or(|(_, least)| seconds < MAX_TIME_RATIO * least)
        {
            best = Some((shape, seconds));
        }
    }
    best.map(|(shape, _)| shape)
}
