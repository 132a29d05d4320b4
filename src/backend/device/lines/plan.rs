//! What a kernel of a line solver is specialised to, as text, and how it is launched.

use std::sync::Arc;

use super::super::text::{Text, literal};
use super::super::{Buffer, Device, Kernel, Scratch, Source};
use crate::engine::{EndRow, LineOperator};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// The text that all kernels about lines share, and that of those that take the operand from device memory.
pub(in crate::backend::device) const LINE: &str = include_str!("../../../../kernels/lines/line.cu");
const ROWS: &str = include_str!("../../../../kernels/lines/rows.cu");

/// An argument of a step.
#[derive(Clone)]
pub(super) enum Slot<T> {
    /// The operand.
    From,
    /// The result.
    Out,
    /// Memory of the operator's own, or lent.
    Buffer(Arc<Buffer<T>>),
    /// A number.
    Int(i32),
}

/// One thing that is done.
pub(super) enum Step<T> {
    /// A launch.
    Launch { kernel: Kernel, blocks: [u32; 3], arguments: Vec<Slot<T>> },
    /// The maker's solver of tridiagonal systems: see [`Device::solve_tridiagonal`].
    Library { systems: [usize; 3], matrix: [Arc<Buffer<T>>; 3], x: Slot<T> },
}

/// Lines of a grid and what is to be done with them.
pub(super) struct Plan<'a, T> {
    pub(super) device: &'a Arc<Device>,
    pub(super) operator: &'a LineOperator<T>,
    /// Number of lines.
    pub(super) lines: usize,
    /// Distance of neighbouring points of a line.
    pub(super) inner: usize,
    /// Where the operand is.
    pub(super) input: Slot<T>,
    /// Where the result goes.
    pub(super) output: Slot<T>,
    pub(super) scratch: &'a Scratch<T>,
    /// Buffers of `scratch` that are in use already.
    pub(super) taken: usize,
}

impl<'a, T: Real> Plan<'a, T> {
    /// Lines along `axis` where they lie.
    pub(super) fn strided(
        device: &'a Arc<Device>,
        operator: &'a LineOperator<T>,
        points: [usize; 3],
        axis: Axis,
        scratch: &'a Scratch<T>,
    ) -> Self {
        Self {
            device,
            operator,
            lines: points.iter().product::<usize>() / operator.len(),
            inner: points[..axis.index()].iter().product(),
            input: Slot::From,
            output: Slot::Out,
            scratch,
            taken: 0,
        }
    }

    /// Points of a line.
    pub(super) fn len(&self) -> usize {
        self.operator.len()
    }

    /// `count` fields of scratch memory that nothing else of this operator uses.
    pub(super) fn lent(&self, count: usize) -> Result<Vec<Slot<T>>> {
        let buffers = self.scratch.take(self.taken + count, self.lines * self.len())?;
        Ok(buffers.into_iter().skip(self.taken).map(Slot::Buffer).collect())
    }

    /// A table in device memory.
    pub(super) fn table(&self, values: impl IntoIterator<Item = f64>) -> Result<Arc<Buffer<T>>> {
        let mut values: Vec<T> = values.into_iter().map(T::of).collect();
        if values.is_empty() {
            values.push(T::ZERO);
        }
        Ok(Arc::new(Buffer::from_host(self.device, &values)?))
    }

    /// A text that begins with what `rows.cu` needs; `rows` is the number of those of the open matrix.
    pub(super) fn text(&self, rows: usize) -> Text {
        let mut text = Text::new::<T>();
        text.define("N", self.len());
        text.define("LINES", self.lines);
        text.define("INNER", self.inner);
        text.define("PERIODIC", u8::from(self.operator.periodic));
        text.define("CORE", rows);
        text.push(LINE);
        rows_of(&mut text, self.operator);
        text.push(ROWS);
        text
    }

    /// The launch of `entry` of a text with `threads` threads a block.
    pub(super) fn step(
        &self,
        source: &Source,
        entry: &str,
        blocks: usize,
        threads: usize,
        on_chip: usize,
        arguments: Vec<Slot<T>>,
    ) -> Result<Step<T>> {
        let count = |n: usize| {
            u32::try_from(n)
                .map_err(|_| Error::Device(format!("a launch of {n} blocks or threads")))
        };
        let kernel =
            self.device.kernel(source, entry, [count(threads)?, 1, 1], on_chip * size_of::<T>())?;
        Ok(Step::Launch { kernel, blocks: [count(blocks)?, 1, 1], arguments })
    }

    /// The operand, the result, and what follows.
    pub(super) fn arguments(&self, more: impl IntoIterator<Item = Slot<T>>) -> Vec<Slot<T>> {
        [self.input.clone(), self.output.clone()].into_iter().chain(more).collect()
    }
}

/// Couplings below this are not used.
pub(in crate::backend::device) fn tolerance<T: Real>() -> f64 {
    1e-3 * T::EPSILON
}

/// What a kernel needs to know of B and of the bandwidth of A.
pub(in crate::backend::device) fn rows_of<T: Real>(text: &mut Text, operator: &LineOperator<T>) {
    let LineOperator { stencil, left, right, matrix, .. } = operator;
    text.define("P", matrix.half_band());
    let width = stencil.half_width.cast_signed();
    text.define("LOW", width - stencil.down);
    text.define("HIGH", width + stencil.up);
    let sign = if stencil.odd { '-' } else { '+' };
    let center = stencil.center.f64();
    let mut row = Vec::new();
    if center != 0.0 {
        row.push(format!("{} * F(0)", literal::<T>(center)));
    }
    for (s, weight) in (1..=width).zip(stencil.weights) {
        let weight = literal::<T>(weight.f64());
        row.push(format!("{weight} * (F({}) {sign} F({}))", s + stencil.up, stencil.down - s));
    }
    text.define("INNER_ROW(F)", format!("({})", row.join(" + ")));
    // How far the rows read from their end.
    let n = operator.len();
    let left_width = left.iter().map(|row| row.first + row.weights.len()).max().unwrap_or(0);
    let right_width = right.iter().map(|row| n - row.first).max().unwrap_or(0);
    for (name, rows, from, width) in
        [("LEFT", left, 0, left_width), ("RIGHT", right, n - right_width, right_width)]
    {
        text.define(&format!("{name}_ROWS"), rows.len());
        text.define(&format!("{name}_WIDTH"), width);
        if left_width + right_width > 0 {
            // A table needs a value even where there are no rows.
            let weights = rows.iter().flat_map(|row| end_row(row, from, width)).chain([0.0]);
            text.constants::<T>(&format!("{name}_END"), weights);
        }
    }
}

/// The weights of points `from` ... of a row near an end.
fn end_row<T: Real>(row: &EndRow<T>, from: usize, width: usize) -> Vec<f64> {
    let mut weights = vec![0.0; width];
    for (at, weight) in (row.first - from..).zip(&row.weights) {
        weights[at] = weight.f64();
    }
    weights
}
