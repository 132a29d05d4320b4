//! What a kernel of a line solver is specialised to, as text, and how it is launched.

use std::fmt::{Display, Write};
use std::sync::Arc;

use super::super::{Buffer, Device, Kernel, PRELUDE, Scratch, Source};
use super::MOST_ARGUMENTS;
use crate::engine::{EndRow, LineOperator};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// The text that all line solvers share.
const ROWS: &str = include_str!("../../../../kernels/lines/rows.cu");

/// What an operator is applied to: one field, or an expression of several formed while a line is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Number of fields.
    pub fields: usize,
    /// C statements of a function of (f0, f1, ..., int64 at) that end in `return ...;`.
    pub body: String,
}

impl Operand {
    /// One field as it is.
    pub fn field() -> Self {
        Self { fields: 1, body: "return f0[at];".into() }
    }

    /// FIELDS, FIELD_NAMES and VALUE(at) of this operand.
    pub(crate) fn text(&self) -> String {
        let list = |item: &dyn Fn(usize) -> String| {
            (0..self.fields).map(item).collect::<Vec<_>>().join(", ")
        };
        format!(
            "#define FIELDS {}\n#define FIELD_NAMES {}\n#define VALUE(at) operand(FIELD_NAMES, at)\n\
             DEVICE REAL operand(FIELDS, int64 at)\n{{\n    {}\n}}\n",
            list(&|f| format!("GLOBAL const REAL *restrict f{f}")),
            list(&|f| format!("f{f}")),
            self.body
        )
    }
}

/// An argument of a step.
#[derive(Clone)]
pub(super) enum Slot<T> {
    /// A field of the operand.
    Field(usize),
    /// The result.
    Out,
    /// Memory of the operator's own, or lent.
    Buffer(Arc<Buffer<T>>),
    /// A number.
    Int(i32),
}

/// One launch.
pub(super) struct Step<T> {
    pub(super) kernel: Kernel,
    pub(super) blocks: [u32; 3],
    pub(super) arguments: Vec<Slot<T>>,
}

/// Lines of a grid and what is to be done with them.
pub(super) struct Plan<'a, T> {
    pub(super) device: &'a Arc<Device>,
    pub(super) operator: &'a LineOperator<T>,
    /// Number of lines.
    pub(super) lines: usize,
    /// Distance of neighbouring points of a line.
    pub(super) inner: usize,
    pub(super) operand: Operand,
    /// Where the fields of the operand are.
    pub(super) input: Vec<Slot<T>>,
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
        operand: &Operand,
        scratch: &'a Scratch<T>,
    ) -> Self {
        Self {
            device,
            operator,
            lines: points.iter().product::<usize>() / operator.len(),
            inner: points[..axis.index()].iter().product(),
            operand: operand.clone(),
            input: (0..operand.fields).map(Slot::Field).collect(),
            output: Slot::Out,
            scratch,
            taken: 0,
        }
    }

    /// Points of a line.
    pub(super) fn len(&self) -> usize {
        self.operator.len()
    }

    /// Couplings below this are not used.
    pub(super) fn tolerance() -> f64 {
        1e-3 * T::EPSILON
    }

    /// `count` fields of scratch memory that nothing else of this operator uses.
    pub(super) fn lent(&self, count: usize) -> Result<Vec<Slot<T>>> {
        let buffers = self.scratch.take(self.taken + count, self.lines * self.len())?;
        Ok(buffers.into_iter().skip(self.taken).map(Slot::Buffer).collect())
    }

    /// A table in device memory.
    pub(super) fn table(&self, values: impl IntoIterator<Item = f64>) -> Result<Slot<T>> {
        let mut values: Vec<T> = values.into_iter().map(T::of).collect();
        if values.is_empty() {
            values.push(T::ZERO);
        }
        Ok(Slot::Buffer(Arc::new(Buffer::from_host(self.device, &values)?)))
    }

    /// A text that begins with what `rows.cu` needs; `rows` is the number of those of the open matrix.
    pub(super) fn text(&self, rows: usize) -> Text {
        let LineOperator { stencil, left, right, periodic, matrix, .. } = self.operator;
        let mut text = Text::new::<T>();
        text.define("N", self.len());
        text.define("LINES", self.lines);
        text.define("INNER", self.inner);
        text.define("PERIODIC", u8::from(*periodic));
        text.define("P", matrix.half_band());
        text.define("CORE", rows);
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
        for (name, rows) in [("LEFT", left), ("RIGHT", right)] {
            let width = rows.iter().map(|row| row.weights.len()).max().unwrap_or(0);
            text.define(&format!("{name}_ROWS"), rows.len());
            text.define(&format!("{name}_WIDTH"), width);
            if width > 0 {
                let from = if name == "LEFT" { 0 } else { self.len() - width };
                text.constants::<T>(
                    &format!("{name}_END"),
                    rows.iter().flat_map(|row| end_row(row, from, width)),
                );
            }
        }
        text.push(&self.operand.text());
        text.push(ROWS);
        text
    }

    /// The launch of `entry` of a text with `threads` threads a block, the fields of the operand first among its
    /// arguments.
    pub(super) fn step(
        &self,
        source: &Source,
        entry: &str,
        blocks: usize,
        threads: usize,
        on_chip: usize,
        arguments: Vec<Slot<T>>,
    ) -> Result<Step<T>> {
        if arguments.len() > MOST_ARGUMENTS {
            let most = MOST_ARGUMENTS - 4;
            return Err(Error::Device(format!("an operand has more than {most} fields")));
        }
        let count = |n: usize| {
            u32::try_from(n)
                .map_err(|_| Error::Device(format!("a launch of {n} blocks or threads")))
        };
        let kernel =
            self.device.kernel(source, entry, [count(threads)?, 1, 1], on_chip * size_of::<T>())?;
        Ok(Step { kernel, blocks: [count(blocks)?, 1, 1], arguments })
    }

    /// The fields of the operand, the result, and what follows.
    pub(super) fn arguments(&self, more: impl IntoIterator<Item = Slot<T>>) -> Vec<Slot<T>> {
        self.input.iter().cloned().chain([self.output.clone()]).chain(more).collect()
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

/// The text of a kernel as it grows.
pub(crate) struct Text(String);

impl Text {
    /// The precision and the prelude.
    pub(crate) fn new<T: Real>() -> Self {
        let define = if T::EPSILON < 1e-10 { "#define REAL_IS_DOUBLE\n" } else { "" };
        Self(format!("{define}{PRELUDE}\n"))
    }

    /// `#define name value`
    pub(crate) fn define(&mut self, name: &str, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "#define {name} {value}");
    }

    /// A table in constant memory; none where there are no values.
    pub(crate) fn constants<T: Real>(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        let values: Vec<_> = values.into_iter().map(literal::<T>).collect();
        if !values.is_empty() {
            let (count, list) = (values.len(), values.join(", "));
            let _ = writeln!(self.0, "CONSTANT REAL {name}[{count}] = {{{list}}};");
        }
    }

    /// More text.
    pub(crate) fn push(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// The whole, to be compiled; `name` is for the compiler's messages.
    pub(crate) fn source(self, name: &str) -> Source {
        Source { name: name.into(), text: self.0 }
    }
}

/// A number as C writes it, rounded to the precision.
pub(super) fn literal<T: Real>(value: f64) -> String {
    let value = T::of(value).f64();
    let text = format!("{value:e}");
    let suffix = if T::EPSILON < 1e-10 { "" } else { "f" };
    // 1e0 is a C literal of type double, and with the suffix of type float.
    if value < 0.0 { format!("({text}{suffix})") } else { format!("{text}{suffix}") }
}
