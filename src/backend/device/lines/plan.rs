//! Kernel text and launches that line solvers share.

use std::sync::Arc;

use super::super::ends::Lines;
use super::super::job::{Job, LaunchSize};
use super::super::text::Text;
use super::super::{Buffer, Device, Scratch, Source};
use crate::engine::{EndRow, LineOperator};
use crate::error::Result;
use crate::real::Precision;

/// Text shared by all line kernels, and text of those that read the operand from device memory.
pub(in super::super) const LINE: &str = include_str!("../../../../kernels/lines/line.cu");
const ROWS: &str = include_str!("../../../../kernels/lines/rows.cu");

/// An argument of a step.
#[derive(Clone)]
pub(super) enum Slot {
    /// The operand.
    Input,
    /// The result.
    Output,
    /// Memory of the operator, or scratch memory.
    Buffer(Arc<Buffer>),
    /// An integer.
    Int(i32),
}

impl Slot {
    /// Converts a size.
    pub(super) fn int(value: usize) -> Self {
        Slot::Int(i32::try_from(value).unwrap_or(i32::MAX))
    }
}

/// A step of an operator.
pub(super) enum Step {
    /// A launch.
    Launch(Job, Vec<Slot>),
    /// NVIDIA's in-place solver of tridiagonal systems: see [`Device::solve_tridiagonal`].
    Library { systems: [usize; 3], matrix: [Arc<Buffer>; 3], x: Slot },
}

/// An operator on the lines of a grid, as input of a solver.
pub(super) struct Plan<'a> {
    pub(super) operator: &'a LineOperator,
    pub(super) lines: Lines,
    /// Location of the operand.
    pub(super) input: Slot,
    /// Location of the result.
    pub(super) output: Slot,
    pub(super) scratch: &'a Scratch,
    /// Number of buffers of `scratch` that are already in use.
    pub(super) used_scratch: usize,
}

impl Plan<'_> {
    pub(super) fn device(&self) -> &Arc<Device> {
        &self.scratch.device
    }

    pub(super) fn precision(&self) -> Precision {
        self.scratch.precision
    }

    /// Returns the threshold below which couplings are neglected.
    pub(super) fn tolerance(&self) -> f64 {
        tolerance(self.precision())
    }

    /// Returns the number of points per line.
    pub(super) fn len(&self) -> usize {
        self.lines.points
    }

    /// Returns `count` scratch fields that are not otherwise used by this operator.
    pub(super) fn scratch_slots(&self, count: usize) -> Result<Vec<Slot>> {
        let buffers =
            self.scratch.take(self.used_scratch + count, self.lines.count * self.len())?;
        Ok(buffers.into_iter().skip(self.used_scratch).map(Slot::Buffer).collect())
    }

    /// Copies a table to device memory.
    pub(super) fn table(&self, mut values: Vec<f64>) -> Result<Arc<Buffer>> {
        if values.is_empty() {
            values.push(0.0);
        }
        Buffer::table(self.device(), self.precision(), &values).map(Arc::new)
    }

    /// Returns a text that starts with the constants for `rows.cu`; `rows` is the number of rows of the open matrix.
    pub(super) fn text(&self, rows: usize) -> Text {
        let mut text = Text::new(self.precision());
        self.lines.define(&mut text);
        text.define("PERIODIC", u8::from(self.operator.periodic));
        text.define("CORE", rows);
        text.push(LINE);
        define_rows(&mut text, self.operator);
        text.push(ROWS);
        text
    }

    /// Builds the launch of `entry` of a source.
    pub(super) fn step(
        &self,
        source: &Source,
        entry: &str,
        shape: &LaunchSize,
        arguments: Vec<Slot>,
    ) -> Result<Step> {
        Ok(Step::Launch(Job::new(self.device(), source, entry, shape)?, arguments))
    }

    /// Returns the arguments: the operand, the result, and `more`.
    pub(super) fn arguments(&self, more: impl IntoIterator<Item = Slot>) -> Vec<Slot> {
        [self.input.clone(), self.output.clone()].into_iter().chain(more).collect()
    }
}

/// Returns the threshold below which couplings are neglected.
pub(in crate::backend) fn tolerance(precision: Precision) -> f64 {
    1e-3 * precision.epsilon()
}

/// Defines the constants of B and the bandwidth of A for a kernel.
pub(in super::super) fn define_rows(text: &mut Text, operator: &LineOperator) {
    let LineOperator { stencil, left, right, matrix, .. } = operator;
    text.define("P", matrix.half_band());
    let width = stencil.half_width.cast_signed();
    text.define("LOW", width - stencil.down);
    text.define("HIGH", width + stencil.up);
    let sign = if stencil.odd { '-' } else { '+' };
    let mut row = Vec::new();
    if stencil.center != 0.0 {
        row.push(format!("{} * F(0)", text.literal(stencil.center)));
    }
    for (s, weight) in (1..=width).zip(stencil.weights) {
        let weight = text.literal(weight);
        row.push(format!("{weight} * (F({}) {sign} F({}))", s + stencil.up, stencil.down - s));
    }
    text.define("INNER_ROW(F)", format!("({})", row.join(" + ")));
    // Distance that the end rows read from their end.
    let n = operator.len();
    let left_width = left.iter().map(|row| row.first + row.weights.len()).max().unwrap_or(0);
    let right_width = right.iter().map(|row| n - row.first).max().unwrap_or(0);
    for (name, rows, from, width) in
        [("LEFT", left, 0, left_width), ("RIGHT", right, n - right_width, right_width)]
    {
        text.define(&format!("{name}_ROWS"), rows.len());
        text.define(&format!("{name}_WIDTH"), width);
        if left_width + right_width > 0 {
            // A table needs a value even if there are no rows.
            let weights = rows.iter().flat_map(|row| end_row(row, from, width)).chain([0.0]);
            text.constants(&format!("{name}_END"), weights);
        }
    }
}

/// Returns the weights of a row near an end, from point `from` on.
fn end_row(row: &EndRow<f64>, from: usize, width: usize) -> Vec<f64> {
    let mut weights = vec![0.0; width];
    weights[row.first - from..][..row.weights.len()].copy_from_slice(&row.weights);
    weights
}
