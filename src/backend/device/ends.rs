//! Ends of lines that are split across ranks: values to send to the neighbours, and the contribution of received
//! interface values.

use std::sync::Arc;

use super::job::{Job, LaunchSize};
use super::pointwise::Visit;
use super::text::Text;
use super::{Buffer, Device};
use crate::engine::distributed::{BlockCoupling, slot};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Precision;

/// Threads per block.
pub(super) const THREADS: usize = 128;

/// Lines of a grid along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Number of points per line.
    pub(super) points: usize,
    /// Number of lines.
    pub(super) count: usize,
    /// Distance in memory between neighbouring points of a line.
    pub(super) inner: usize,
}

impl Lines {
    pub(super) fn along(axis: Axis, points: [usize; 3]) -> Self {
        let at = axis.index();
        Self {
            points: points[at],
            count: points.iter().product::<usize>() / points[at],
            inner: points[..at].iter().product(),
        }
    }

    /// Defines the constants that every line kernel is specialised to.
    pub(super) fn define(&self, text: &mut Text) {
        text.define("N", self.points);
        text.define("LINES", self.count);
        text.define("INNER", self.inner);
    }

    /// Visits the first and the last `reach` points of every line; `None` if these are all points.
    pub(super) fn near_ends(&self, reach: usize) -> Option<Visit> {
        let Self { points, count, inner } = *self;
        let both = 2 * reach;
        if both >= points {
            return None;
        }
        // Neighbouring items are adjacent in memory.
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

/// Kernels for the line ends of one operand and of its result.
pub(super) struct LineEnds {
    /// `None` if nothing is sent.
    pack: Option<Job>,
    weights: Buffer,
    /// `None` if nothing is received.
    inflow: Option<Job>,
    columns: Buffer,
}

impl LineEnds {
    /// Compiles the kernels for planes that start at `starts`, slot by slot.
    pub(super) fn new(
        (device, precision): (&Arc<Device>, Precision),
        ends: &BlockCoupling,
        lines: Lines,
        starts: &[usize],
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
        let mut text = Text::new(precision);
        lines.define(&mut text);
        text.define("THREADS", THREADS);
        text.integers("FIRST_WEIGHT", &first);
        text.integers("POINTS", &points);
        text.integers("FROM_END", &from_end);
        text.integers("PLANE", &planes);
        text.push(include_str!("../../../kernels/ranks/pack.cu"));
        let mut shape = LaunchSize::over(lines.count, THREADS);
        shape.blocks[1] = planes.len();
        let pack = Job::new(device, &text.source("pack.cu"), "pack", &shape)?;

        let columns = Columns::new(ends);
        let count = columns.reach.iter().sum::<usize>().min(lines.points);
        let inflow = || {
            let mut text = Text::new(precision);
            lines.define(&mut text);
            text.define("THREADS", THREADS);
            columns.define(&mut text);
            text.define("LEFT_PLANE", starts[slot::LEFT]);
            text.define("RIGHT_PLANE", starts[slot::RIGHT]);
            text.push(include_str!("../../../kernels/ranks/inflow.cu"));
            let shape = LaunchSize::over(lines.count * count, THREADS);
            Job::new(device, &text.source("inflow.cu"), "inflow", &shape)
        };
        Ok(Self {
            pack: (!planes.is_empty()).then_some(pack),
            weights: Buffer::table(device, precision, &weights)?,
            inflow: (count > 0).then(inflow).transpose()?,
            columns: Buffer::table(device, precision, &columns.values)?,
        })
    }

    /// Fills the planes that are computed from the operand.
    pub(super) fn pack(&self, operand: &Buffer, planes: &Buffer) {
        if let Some(pack) = &self.pack {
            pack.launch([operand.arg(), self.weights.arg(), planes.arg()]);
        }
    }

    /// Adds the contribution of the interface values to the result.
    pub(super) fn add_inflow(&self, result: &Buffer, planes: &Buffer) {
        if let Some(inflow) = &self.inflow {
            inflow.launch([result.arg(), self.columns.arg(), planes.arg()]);
        }
    }
}

/// Contribution of the interface values to the ends of lines.
pub(super) struct Columns {
    /// Columns for the first points, then for the last points, each padded to the longest of its side.
    pub(super) values: Vec<f64>,
    widths: [usize; 2],
    reach: [usize; 2],
}

impl Columns {
    pub(super) fn new(ends: &BlockCoupling) -> Self {
        let longest = |columns: &[Vec<f64>]| columns.iter().map(Vec::len).max().unwrap_or(0);
        let reach = [longest(&ends.left), longest(&ends.right)];
        let mut values = Vec::new();
        for column in &ends.left {
            values.extend_from_slice(column);
            values.resize(values.len() + reach[0] - column.len(), 0.0);
        }
        for column in &ends.right {
            values.resize(values.len() + reach[1] - column.len(), 0.0);
            values.extend_from_slice(column);
        }
        Self { values, widths: [ends.left.len(), ends.right.len()], reach }
    }

    /// Defines the number of columns and their reach.
    pub(super) fn define(&self, text: &mut Text) {
        for (side, name) in ["LEFT", "RIGHT"].into_iter().enumerate() {
            text.define(&format!("INFLOW_{name}"), self.widths[side]);
            text.define(&format!("{name}_REACH"), self.reach[side]);
        }
    }
}
