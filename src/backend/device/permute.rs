//! The axes of a field in another order.

use std::sync::Arc;

use super::text::Text;
use super::{Buffer, Device, Kernel};
use crate::error::{Error, Result};
use crate::real::Real;

const KERNEL: &str = include_str!("../../../kernels/permute.cu");
/// Points of a tile along both axes, and rows of them that its threads take at a time.
const TILE: usize = 32;
const ROWS: usize = 8;
/// Threads of a block where no tile is needed.
const THREADS: usize = 256;

/// A field of one order of axes as a field of another, in one pass over memory.
pub struct Permutation<T> {
    device: Arc<Device>,
    launch: Launch,
    len: usize,
    kind: std::marker::PhantomData<T>,
}

/// A compiled permutation and its grid of blocks.
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    pub(super) blocks: [u32; 3],
}

impl<T: Real> Permutation<T> {
    /// Axis a of the result is axis `order[a]` of a source of `points` points (a = 0 fastest): with `points` = [nx, ny, nz]
    /// and `order` = [2, 0, 1] the result has nz x nx x ny points, z fastest.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Panics
    /// Where `order` does not name every axis once.
    pub fn new(device: &Arc<Device>, points: [usize; 3], order: [usize; 3]) -> Result<Self> {
        let launch = Launch::new::<T>(device, points, order)?;
        let len = points.iter().product();
        Ok(Self { device: device.clone(), launch, len, kind: std::marker::PhantomData })
    }

    /// `to` = `from` in the new order, put on the list of the device. The two are not the same.
    ///
    /// # Panics
    /// Where one is shorter than the grid.
    pub fn apply(&self, from: &Buffer<T>, to: &Buffer<T>) {
        let shortest = from.len().min(to.len());
        assert!(shortest >= self.len, "a field is shorter than the grid");
        let arguments = [from.arg(), to.arg()];
        self.device.launch::<T>(&self.launch.kernel, self.launch.blocks, arguments);
    }
}

impl Launch {
    /// Its parameters are the source and the result.
    pub(super) fn new<T: Real>(
        device: &Device,
        points: [usize; 3],
        order: [usize; 3],
    ) -> Result<Self> {
        assert!((0..3).all(|axis| order.contains(&axis)), "{order:?} is no order of three axes");
        let stride = |axis: usize| points[..axis].iter().product::<usize>();
        let result = order.map(|axis| points[axis]);
        let tiled = order[0] != 0;

        let mut text = Text::new::<T>();
        text.define("TILED", u8::from(tiled));
        for axis in 0..3 {
            text.define(&format!("M{axis}"), result[axis]);
            text.define(&format!("STRIDE{axis}"), format!("(int64){}", stride(order[axis])));
        }
        let (threads, blocks, on_chip) = if tiled {
            // Where source axis 0 went, and the axis that is neither 0 nor the new fastest.
            let across = if order[1] == 0 { 1 } else { 2 };
            let other = 3 - across;
            let stride_to = |axis: usize| result[..axis].iter().product::<usize>();
            text.define("N0", points[0]);
            text.define("ACROSS", stride_to(across));
            text.define("FROM_OTHER", stride(order[other]));
            text.define("TO_OTHER", stride_to(other));
            text.define("TILE", TILE);
            text.define("ROWS", ROWS);
            let blocks = [points[0].div_ceil(TILE), result[0].div_ceil(TILE), result[other]];
            ([TILE, ROWS, 1], blocks, TILE * (TILE + 1) * size_of::<T>())
        } else {
            text.define("THREADS", THREADS);
            let len: usize = points.iter().product();
            ([THREADS, 1, 1], [len.div_ceil(THREADS), 1, 1], 0)
        };
        text.push(KERNEL);
        let source = text.source("permute.cu");
        let kernel = device.kernel(&source, "permute", counts(threads)?, on_chip)?;
        Ok(Self { kernel, blocks: counts(blocks)? })
    }
}

/// Blocks or threads as a launch takes them.
fn counts(sizes: [usize; 3]) -> Result<[u32; 3]> {
    let mut counts = [0; 3];
    for (count, size) in counts.iter_mut().zip(sizes) {
        let refusal = |_| Error::Device(format!("a launch of {size} blocks along one axis"));
        *count = u32::try_from(size).map_err(refusal)?;
    }
    Ok(counts)
}
