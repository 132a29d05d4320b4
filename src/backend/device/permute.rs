//! Permutation of the axes of a field.

use std::sync::Arc;

use super::job::{Job, LaunchSize};
use super::text::Text;
use super::{Buffer, Device};
use crate::error::Result;
use crate::real::Precision;

/// Points of a tile along both axes, and rows of a tile that its threads process at a time.
const TILE: usize = 32;
const ROWS: usize = 8;
/// Threads per block without tiles.
const THREADS: usize = 256;

/// Permutes the axes of a field in one pass over memory.
pub struct Permutation {
    job: Job,
    len: usize,
}

impl Permutation {
    /// Compiles a permutation. Axis a of the result is axis `order[a]` of a source of `points` points (a = 0 fastest):
    /// with `points` = [nx, ny, nz] and `order` = [2, 0, 1] the result has nz x nx x ny points, z fastest.
    ///
    /// # Panics
    /// If `order` does not name every axis once.
    pub fn new(
        device: &Arc<Device>,
        precision: Precision,
        points: [usize; 3],
        order: [usize; 3],
    ) -> Result<Self> {
        let job = job(device, precision, points, order)?;
        Ok(Self { job, len: points.iter().product() })
    }

    /// Queues `to` = `from` in the new order on the device. The two buffers differ.
    ///
    /// # Panics
    /// If a buffer is shorter than the grid.
    pub fn apply(&self, from: &Buffer, to: &Buffer) {
        assert!(from.len().min(to.len()) >= self.len, "a field is shorter than the grid");
        self.job.launch([from.arg(), to.arg()]);
    }
}

/// Compiles the kernel of a permutation. Its parameters are the source and the result.
pub(super) fn job(
    device: &Arc<Device>,
    precision: Precision,
    points: [usize; 3],
    order: [usize; 3],
) -> Result<Job> {
    assert!((0..3).all(|axis| order.contains(&axis)), "{order:?} is no order of three axes");
    let result = order.map(|axis| points[axis]);
    let stride = |axis: usize| points[..axis].iter().product::<usize>();
    let stride_to = |axis: usize| result[..axis].iter().product::<usize>();
    let tiled = order[0] != 0;

    let mut text = Text::new(precision);
    text.define("TILED", u8::from(tiled));
    for axis in 0..3 {
        text.define(&format!("M{axis}"), result[axis]);
        text.define(&format!("STRIDE{axis}"), format!("(int64){}", stride(order[axis])));
    }
    let shape = if tiled {
        // The target axis of source axis 0, and the axis that is neither 0 nor the new fastest.
        let across = if order[1] == 0 { 1 } else { 2 };
        let other = 3 - across;
        text.define("N0", points[0]);
        text.define("ACROSS", stride_to(across));
        text.define("FROM_OTHER", stride(order[other]));
        text.define("TO_OTHER", stride_to(other));
        text.define("TILE", TILE);
        text.define("ROWS", ROWS);
        LaunchSize {
            threads: [TILE, ROWS, 1],
            blocks: [points[0].div_ceil(TILE), result[0].div_ceil(TILE), result[other]],
            on_chip: TILE * (TILE + 1) * precision.bytes(),
        }
    } else {
        text.define("THREADS", THREADS);
        LaunchSize::over(points.iter().product(), THREADS)
    };
    text.push(include_str!("../../../kernels/permute.cu"));
    Job::new(device, &text.source("permute.cu"), "permute", &shape)
}
