//! Kernels that look at one point at a time.

use super::ends::Lines;
use super::text::{Place, Text, parameters};
use super::{Device, Gpu, Kernel};
use crate::error::Result;
use crate::real::Real;

/// Threads of a block of a pointwise kernel.
pub(super) const THREADS: u32 = 256;

/// A kernel that looks at one point at a time.
pub(super) struct Pointwise {
    pub(super) kernel: Kernel,
    pub(super) blocks: u32,
    pub(super) read: Vec<Place>,
    pub(super) written: Vec<Place>,
}

impl Pointwise {
    pub(super) fn new<T: Real>(
        gpu: &Gpu<T>,
        name: &str,
        read: Vec<Place>,
        written: Vec<Place>,
        lines: &[String],
        visit: &Visit,
    ) -> Result<Self> {
        let fields = [read.len(), written.len()];
        let kernel = pointwise::<T>(&gpu.device, visit, name, fields, lines)?;
        Ok(Self { kernel, blocks: blocks(visit.count), read, written })
    }
}

/// Which points a pointwise kernel visits.
pub(super) struct Visit {
    pub(super) count: usize,
    /// The point that item `item` is, as C.
    place: String,
}

impl Visit {
    /// All of a field of `len` points.
    pub(super) fn all(len: usize) -> Self {
        Self { count: len, place: "item".into() }
    }
}

impl Lines {
    /// The first and the last `reach` points of every line; `None` where that is all of them.
    pub(super) fn near_ends(&self, reach: usize) -> Option<Visit> {
        let Self { points, count, inner } = *self;
        let both = 2 * reach;
        if both >= points {
            return None;
        }
        // Neighbouring items lie side by side in memory.
        let (line, row) = match inner {
            1 => (format!("(item / {both})"), format!("(item % {both})")),
            _ => (format!("(item % {count})"), format!("(item / {count})")),
        };
        let start = format!("({line} / {inner} * ((int64){inner} * {points}) + {line} % {inner})");
        let skipped = points - both;
        let place = format!("{start} + ({row} + ({row} < {reach} ? 0 : {skipped})) * {inner}");
        Some(Visit { count: count * both, place })
    }
}

/// A kernel that does `lines` at every point that is visited: so many fields that are read, so many that are written.
pub(super) fn pointwise<T: Real>(
    device: &Device,
    visit: &Visit,
    name: &str,
    [read, written]: [usize; 2],
    lines: &[String],
) -> Result<Kernel> {
    let mut text = Text::new::<T>();
    text.define("FIELDS", parameters(read, written));
    text.define("THREADS", THREADS);
    text.define("LENGTH", visit.count);
    text.define("PLACE(item)", format!("({})", visit.place));
    text.define_lines("POINT(at)", lines);
    text.push(include_str!("../../../kernels/pointwise.cu"));
    device.kernel(&text.source(name), "pointwise", [THREADS, 1, 1], 0)
}

/// Blocks of a pointwise kernel.
pub(super) fn blocks(len: usize) -> u32 {
    u32::try_from(len.div_ceil(THREADS as usize)).unwrap_or(u32::MAX)
}
