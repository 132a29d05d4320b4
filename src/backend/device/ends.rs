//! The ends of lines that are blocks of longer ones: what is taken there for the neighbours, and what their inflow adds.

use std::sync::Arc;

use super::text::Text;
use super::{Buffer, Device, Kernel};
use crate::engine::distributed::{Ends, Starts, slot};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;

const THREADS: usize = 128;

/// Lines of a block along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Points of a line.
    pub(super) points: usize,
    /// Number of lines.
    pub(super) count: usize,
    /// Distance of neighbouring points of a line.
    pub(super) inner: usize,
}

impl Lines {
    /// Those of a grid.
    pub(super) fn along(axis: Axis, points: [usize; 3]) -> Self {
        let at = axis.index();
        Self {
            points: points[at],
            count: points.iter().product::<usize>() / points[at],
            inner: points[..at].iter().product(),
        }
    }

    /// What every kernel about lines is specialised to.
    pub(super) fn define(&self, text: &mut Text) {
        text.define("N", self.points);
        text.define("LINES", self.count);
        text.define("INNER", self.inner);
        text.define("THREADS", THREADS);
    }
}

/// The ends of the lines of one operand and of its result.
pub(super) struct Joints<T> {
    device: Arc<Device>,
    pack: Kernel,
    pack_blocks: [u32; 3],
    weights: Buffer<T>,
    inflow: Option<(Kernel, [u32; 3])>,
    columns: Buffer<T>,
}

impl<T: Real> Joints<T> {
    /// For planes that begin at `starts`.
    ///
    /// # Errors
    /// What the driver or the compiler says.
    pub(super) fn new(
        device: &Arc<Device>,
        ends: &Ends<T>,
        lines: Lines,
        starts: Starts,
    ) -> Result<Self> {
        let mut weights = Vec::new();
        let [mut first, mut points, mut from_end, mut planes] = [const { Vec::new() }; 4];
        for (at, rows) in ends.sources.iter().enumerate() {
            for (plane, row) in rows.iter().enumerate() {
                first.push(weights.len());
                points.push(row.len());
                from_end.push(usize::from(at == slot::TO_RIGHT || at == slot::TAIL));
                planes.push(starts[at] + plane);
                weights.extend_from_slice(row);
            }
        }
        let rows = planes.len();
        let mut text = Text::new::<T>();
        lines.define(&mut text);
        for (name, values) in
            [("FIRST_WEIGHT", first), ("POINTS", points), ("FROM_END", from_end), ("PLANE", planes)]
        {
            text.integers(name, &values);
        }
        text.push(include_str!("../../../kernels/ranks/pack.cu"));
        let block = [blocks(THREADS)?, 1, 1];
        let pack = device.kernel(&text.source("pack.cu"), "pack", block, 0)?;
        let pack_blocks = [blocks(lines.count.div_ceil(THREADS))?, blocks(rows)?, 1];
        let columns = Columns::new(ends);
        let reach = columns.reach;
        let count = (reach[0] + reach[1]).min(lines.points);
        let inflow = if count == 0 {
            None
        } else {
            let mut text = Text::new::<T>();
            lines.define(&mut text);
            columns.define(&mut text);
            text.define("LEFT_PLANE", starts[slot::LEFT]);
            text.define("RIGHT_PLANE", starts[slot::RIGHT]);
            text.push(include_str!("../../../kernels/ranks/inflow.cu"));
            let kernel = device.kernel(&text.source("inflow.cu"), "inflow", block, 0)?;
            Some((kernel, [blocks((lines.count * count).div_ceil(THREADS))?, 1, 1]))
        };
        Ok(Self {
            pack,
            pack_blocks,
            weights: Buffer::from_host(device, &weights)?,
            inflow,
            columns: Buffer::from_host(device, &columns.values)?,
            device: device.clone(),
        })
    }

    /// Fill the planes that are made from the operand.
    pub(super) fn pack(&self, operand: &Buffer<T>, planes: &Buffer<T>) {
        if self.pack_blocks[1] > 0 {
            let arguments = [operand.arg(), self.weights.arg(), planes.arg()];
            self.device.launch::<T>(&self.pack, self.pack_blocks, arguments);
        }
    }

    /// Add what the inflow does to the result.
    pub(super) fn add_inflow(&self, result: &Buffer<T>, planes: &Buffer<T>) {
        if let Some((kernel, blocks)) = &self.inflow {
            let arguments = [result.arg(), self.columns.arg(), planes.arg()];
            self.device.launch::<T>(kernel, *blocks, arguments);
        }
    }
}

/// What the inflow does to the ends of lines.
pub(super) struct Columns<T> {
    /// Those for the first points, then those for the last, each as long as the longest of its side.
    pub(super) values: Vec<T>,
    widths: [usize; 2],
    reach: [usize; 2],
}

impl<T: Real> Columns<T> {
    pub(super) fn new(ends: &Ends<T>) -> Self {
        let longest = |columns: &[Vec<T>]| columns.iter().map(Vec::len).max().unwrap_or(0);
        let reach = [longest(&ends.left), longest(&ends.right)];
        let mut values = Vec::new();
        for column in &ends.left {
            values.extend_from_slice(column);
            values.resize(values.len() + reach[0] - column.len(), T::ZERO);
        }
        for column in &ends.right {
            values.resize(values.len() + reach[1] - column.len(), T::ZERO);
            values.extend_from_slice(column);
        }
        Self { values, widths: [ends.left.len(), ends.right.len()], reach }
    }

    /// How many there are, and how far they reach.
    pub(super) fn define(&self, text: &mut Text) {
        for (side, name) in ["LEFT", "RIGHT"].into_iter().enumerate() {
            text.define(&format!("INFLOW_{name}"), self.widths[side]);
            text.define(&format!("{name}_REACH"), self.reach[side]);
        }
    }
}

/// A number of blocks or threads as a launch takes it.
pub(super) fn blocks(count: usize) -> Result<u32> {
    u32::try_from(count)
        .map_err(|_| crate::Error::Device(format!("a launch of {count} blocks along one axis")))
}
