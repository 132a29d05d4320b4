//! A sweep on a device as one kernel: every field is loaded once, everything in between stays on chip.

mod body;
mod shape;

use std::collections::HashMap;

use super::ends::{Columns, blocks};
use super::lines::{CHUNKS, ELIMINATE, LINE, bank_row, rows_of, tables, tolerance};
use super::text::Text;
use super::{Arg, Buffer, Fusing, Gpu, Kernel};
use crate::backend::Weights;
use crate::engine::distributed::{Layout, slot};
use crate::engine::{LineOperator, LineOperators, Op, Operation, Sweep, Value};
use crate::error::Result;
use crate::grid::Axis;
use crate::lines::Chunks;
use crate::real::Real;
use body::Body;
use shape::Shape;

const TILE: &str = include_str!("../../../../kernels/fused/tile.cu");
const APPLY: &str = include_str!("../../../../kernels/fused/apply.cu");
const INFLOW: &str = include_str!("../../../../kernels/fused/inflow.cu");
const KERNEL: &str = include_str!("../../../../kernels/fused/sweep.cu");

/// Most arguments of a kernel.
const MOST_ARGUMENTS: usize = 96;

/// A sweep along one axis as one kernel.
pub(super) struct Fused<T> {
    kernel: Kernel,
    blocks: [u32; 3],
    /// Slots of the fields that are read, and of those that are written.
    read: Vec<usize>,
    written: Vec<usize>,
    /// Stages whose inflow it takes.
    stages: usize,
    /// What the operators take from device memory, one after another.
    tables: Buffer<T>,
}

impl<T: Real> Fused<T> {
    /// `None` where there is nothing to fuse, or no block that the device could start.
    ///
    /// # Errors
    /// What the driver or the compiler says.
    pub(super) fn new(
        gpu: &Gpu<T>,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators<T>,
    ) -> Result<Option<Self>> {
        let info = gpu.device.info();
        let numbers = numbered(sweep);
        let n = points[axis.index()];
        let lines = points.iter().product::<usize>() / n;
        let inner = points[..axis.index()].iter().product();
        let of = |op: &Op| operators.get(axis, *op);
        let Some(p) = numbers.iter().map(|op| of(op).matrix.half_band()).max() else {
            return Ok(None);
        };
        let inflows = inflows(sweep, axis, operators);
        let apply = |op: Op, result: Value, name: &str| {
            let number = numbers.iter().position(|other| *other == op).unwrap_or_default();
            let mut calls =
                vec![format!("apply_{number}({name}, chip, tile, tables + TABLES_{number});")];
            if let Some(Inflow { stage, left, right }) = inflows.get(&result) {
                calls.push(format!(
                    "add_inflow_{number}({name}, tables + COLUMNS_{number}, planes{stage}, {left}, {right}, tile);"
                ));
            }
            calls
        };
        let is_explicit = |op: Op| of(&op).matrix.half_band() == 0;
        let room = Shape::room::<T>();
        let (body, live) =
            Body::<T>::write(&sweep.operations, room, inner == 1, &apply, &is_explicit);
        let shape = Shape::new::<T>([n, lines, inner], p, live, info.block_threads);
        let Some(Shape { chunks, lanes, has_registers }) = shape else {
            return Ok(None);
        };
        let (length, threads) = (n.div_ceil(chunks), chunks * lanes);
        let tried = p <= 1 && n.is_multiple_of(length) && has_registers;
        if gpu.fuses() == Fusing::Tried && !tried {
            return Ok(None);
        }
        let row = threads.next_multiple_of(bank_row::<T>());
        let row = if inner == 1 { row + bank_row::<T>() / length } else { row };
        let on_chip = length * row + 2 * p * threads;
        let read = slots(sweep, |operation| match operation {
            Operation::Read { slot, .. } => Some(*slot),
            _ => None,
        });
        let written = slots(sweep, |operation| match operation {
            Operation::Previous { slot, .. }
            | Operation::Add { slot, .. }
            | Operation::Store { slot, .. } => Some(*slot),
            _ => None,
        });
        let stages = inflows.values().map(|inflow| inflow.stage + 1).max().unwrap_or(0);
        let arguments = read.len() + written.len() + stages + 3;
        if on_chip * size_of::<T>() > info.on_chip || arguments > MOST_ARGUMENTS {
            return Ok(None);
        }

        let mut text = Text::new::<T>();
        text.define("N", n);
        text.define("LINES", lines);
        text.define("INNER", inner);
        text.define("PERIODIC", u8::from(of(&numbers[0]).periodic));
        text.define("TX", lanes);
        text.define("CHUNKS", chunks);
        text.define("THREADS", threads);
        text.define("LENGTH", length);
        text.define("LONG", n - chunks * (length - 1));
        if !info.is_gpu {
            // A compiler that makes a loop of every block takes long over more.
            text.push("#undef UNROLL\n");
            text.define("UNROLL", "_Pragma(\"unroll 1\")");
        }
        text.define("BANK_ROW", bank_row::<T>());
        text.define("ON_CHIP_WORDS", on_chip);
        text.push(LINE);
        text.push(CHUNKS);
        text.push(TILE);
        let mut words = Vec::new();
        for (number, op) in numbers.iter().enumerate() {
            text.define(&format!("TABLES_{number}"), words.len());
            let columns =
                text.scoped(number, &NAMES, |text| operator(text, of(op), chunks, &mut words));
            text.define(&format!("COLUMNS_{number}"), columns);
        }
        let fields = (read.iter().map(|slot| format!("GLOBAL const REAL *restrict r{slot}")))
            .chain(written.iter().map(|slot| format!("GLOBAL REAL *restrict w{slot}")))
            .chain((0..stages).map(|stage| format!("GLOBAL const REAL *restrict planes{stage}")));
        text.define("FIELDS", fields.collect::<Vec<_>>().join(", "));
        text.define_lines("SWEEP", &body);
        text.push(KERNEL);
        let source = text.source("fused sweep");
        let block = [blocks(threads)?, 1, 1];
        if words.is_empty() {
            words.push(T::ZERO);
        }
        Ok(Some(Self {
            kernel: gpu.device.kernel(&source, "fused", block, on_chip * size_of::<T>())?,
            blocks: [blocks(lines.div_ceil(lanes))?, 1, 1],
            read,
            written,
            stages,
            tables: Buffer::from_host(&gpu.device, &words)?,
        }))
    }

    /// Whether lines are blocks of longer ones.
    pub(super) fn is_coupled(&self) -> bool {
        self.stages > 0
    }

    /// Run it. `planes` of every stage hold its inflow; there are none where lines are whole.
    pub(super) fn run(
        &self,
        gpu: &Gpu<T>,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        planes: &[Buffer<T>],
        weights: Weights,
    ) {
        let Weights { beta, scale, advance } = weights;
        let scalars = [beta, scale, advance];
        let fields = (self.read.iter().map(|slot| read[*slot].arg()))
            .chain(self.written.iter().map(|slot| write[*slot].arg()))
            .chain(planes[..self.stages].iter().map(Buffer::arg))
            .chain([self.tables.arg(), Arg::Scalars(&scalars)]);
        let mut arguments = [Arg::Int(0); MOST_ARGUMENTS];
        let mut count = 0;
        for (to, from) in arguments.iter_mut().zip(fields) {
            *to = from;
            count += 1;
        }
        gpu.device.launch::<T>(&self.kernel, self.blocks, &arguments[..count]);
    }
}

/// The operators of a sweep, each once.
fn numbered(sweep: &Sweep) -> Vec<Op> {
    let mut numbers = Vec::new();
    for operation in &sweep.operations {
        if let Operation::Apply { op, .. } = operation
            && !numbers.contains(op)
        {
            numbers.push(*op);
        }
    }
    numbers
}

/// The slots that operations name, each once.
fn slots(sweep: &Sweep, slot: impl Fn(&Operation) -> Option<usize>) -> Vec<usize> {
    let mut slots: Vec<usize> = sweep.operations.iter().filter_map(slot).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// What belongs to one operator: functions and tables.
const NAMES: [&str; 7] =
    ["apply", "add_inflow", "eliminate", "LEFT_END", "RIGHT_END", "CLASS_TABLE", "BLOCKS"];

/// The functions of one operator; its tables in device memory are put behind `words`, and then what its inflow does, which
/// begins at the number returned.
fn operator<T: Real>(
    text: &mut Text,
    operator: &LineOperator<T>,
    chunks: usize,
    words: &mut Vec<T>,
) -> usize {
    rows_of(text, operator);
    if operator.matrix.half_band() > 0 {
        let chunks = Chunks::cut(&operator.matrix, chunks, tolerance::<T>());
        words.extend(tables::<T>(text, &chunks).into_iter().map(T::of));
        text.push(ELIMINATE);
    }
    text.push(APPLY);
    let columns = words.len();
    if let Some(ends) = &operator.ends {
        let columns = Columns::new(ends);
        columns.define(text);
        words.extend(columns.values);
        text.push(INFLOW);
    }
    columns
}

/// Where the inflow of one result is found.
struct Inflow {
    stage: usize,
    /// The first plane from the left, and from the right.
    left: usize,
    right: usize,
}

/// The inflow of every result, where lines are blocks of longer ones.
fn inflows<T: Real>(
    sweep: &Sweep,
    axis: Axis,
    operators: &LineOperators<T>,
) -> HashMap<Value, Inflow> {
    let mut inflows = HashMap::new();
    for (stage, applied) in sweep.stages().into_iter().enumerate() {
        let ends: Vec<_> =
            applied.iter().filter_map(|(op, ..)| operators.get(axis, *op).ends.as_ref()).collect();
        let layout = Layout::of_ends(ends.into_iter());
        for ((_, _, result), starts) in applied.into_iter().zip(layout.starts) {
            let [left, right] = [starts[slot::LEFT], starts[slot::RIGHT]];
            inflows.insert(result, Inflow { stage, left, right });
        }
    }
    inflows
}
