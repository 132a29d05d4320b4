//! A sweep on a device as one kernel: every field is loaded once, everything in between stays on chip.

mod body;
mod plan;
mod shape;
mod uses;

use super::ends::{Columns, blocks};
use super::lines::{CHUNKS, ELIMINATE, LINE, rows_of, tables, tolerance};
use super::program::Task;
use super::text::Text;
use super::{Arg, Buffer, Device, Fusing, Gpu, Kernel, Source};
use crate::backend::Weights;
use crate::engine::{LineOperator, Op};
use crate::error::Result;
use crate::lines::Chunks;
use crate::real::Real;
use body::Written;
use shape::Shape;

pub(super) use plan::Plan;

const TILE: &str = include_str!("../../../../kernels/fused/tile.cu");
const APPLY: &str = include_str!("../../../../kernels/fused/apply.cu");
const INFLOW: &str = include_str!("../../../../kernels/fused/inflow.cu");
const KERNEL: &str = include_str!("../../../../kernels/fused/sweep.cu");

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

/// Kernels that are compiled at most to find one that spills no register.
const TRIES: usize = 8;

impl<T: Real> Fused<T> {
    /// `None` where there is nothing to fuse, or no block that the device could start and that keeps its values on chip, as its
    /// compiler says.
    ///
    /// # Errors
    /// What the driver or the compiler says.
    pub(super) fn new(task: &Task<T>) -> Result<Option<Self>> {
        let Task { gpu, sweep, axis, operators, .. } = *task;
        let info = gpu.device.info();
        let plan = Plan::new(sweep, axis, task.lines(), operators);
        let Some(plan) = plan.filter(|_| gpu.fuses() != Fusing::Nothing) else {
            return Ok(None);
        };
        for (shape, body) in plan.candidates(info).take(TRIES) {
            let fused = Self::compiled(task, &plan, shape, &body, Device::unspilled_kernel)?;
            if fused.is_some() {
                return Ok(fused);
            }
            tracing::debug!("a sweep along {axis:?} spills as {shape:?}");
        }
        let Some((shape, body)) = plan.nearest(info).filter(|_| gpu.fuses() == Fusing::All) else {
            return Ok(None);
        };
        let any = |device: &Device, source: &Source, entry: &str, threads, on_chip| {
            device.kernel(source, entry, threads, on_chip).map(Some)
        };
        Self::compiled(task, &plan, shape, &body, any)
    }

    /// `None` where `compile` gives no kernel.
    fn compiled(
        task: &Task<T>,
        plan: &Plan<T>,
        shape: Shape,
        body: &Written,
        compile: impl Fn(&Device, &Source, &str, [u32; 3], usize) -> Result<Option<Kernel>>,
    ) -> Result<Option<Self>> {
        let Plan { lines, numbers, stages, .. } = plan;
        let info = task.gpu.device.info();
        let of = |op: &Op| task.operators.get(task.axis, *op);
        let (threads, on_chip) = (shape.threads(), shape.on_chip(body.parked));
        let mut text = Text::new::<T>();
        text.define("N", lines.points);
        text.define("LINES", lines.count);
        text.define("INNER", lines.inner);
        text.define("PERIODIC", u8::from(of(&numbers[0]).periodic));
        text.define("TX", shape.lanes);
        text.define("CHUNKS", shape.chunks);
        text.define("THREADS", threads);
        text.define("LENGTH", shape.length);
        text.define("LONG", lines.points - shape.chunks * (shape.length - 1));
        if !info.is_gpu {
            // A compiler that makes a loop of every block takes long over more.
            text.push("#undef UNROLL\n");
            text.define("UNROLL", "_Pragma(\"unroll 1\")");
        }
        text.define("RESIDENT", shape.resident);
        text.define("STRIDE", shape.stride);
        text.define("PARKED_AT", shape.words);
        text.define("ON_CHIP_WORDS", on_chip);
        text.push(LINE);
        text.push(CHUNKS);
        text.push(TILE);
        let mut words = Vec::new();
        for (number, op) in numbers.iter().enumerate() {
            text.define(&format!("TABLES_{number}"), words.len());
            let columns = text
                .scoped(number, &NAMES, |text| operator(text, of(op), shape.chunks, &mut words));
            text.define(&format!("COLUMNS_{number}"), columns);
        }
        let fields = (plan.read.iter().map(|slot| format!("GLOBAL const REAL *restrict r{slot}")))
            .chain(plan.written.iter().map(|slot| format!("GLOBAL REAL *restrict w{slot}")))
            .chain((0..*stages).map(|stage| format!("GLOBAL const REAL *restrict planes{stage}")));
        text.define("FIELDS", fields.collect::<Vec<_>>().join(", "));
        text.define_lines("SWEEP", &body.lines);
        text.push(KERNEL);
        let source = text.source("fused sweep");
        let device = &task.gpu.device;
        let block = [blocks(threads)?, 1, 1];
        if words.is_empty() {
            words.push(T::ZERO);
        }
        let kernel = compile(device, &source, "fused", block, on_chip * size_of::<T>())?;
        let Some(kernel) = kernel else { return Ok(None) };
        Ok(Some(Self {
            kernel,
            blocks: [blocks(lines.count.div_ceil(shape.lanes))?, 1, 1],
            read: plan.read.clone(),
            written: plan.written.clone(),
            stages: *stages,
            tables: Buffer::from_host(device, &words)?,
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
        let scalars = [weights.beta, weights.advance];
        let arguments = (self.read.iter().map(|slot| read[*slot].arg()))
            .chain(self.written.iter().map(|slot| write[*slot].arg()))
            .chain(planes[..self.stages].iter().map(Buffer::arg))
            .chain([self.tables.arg(), Arg::Scalars(&scalars)]);
        gpu.device.launch::<T>(&self.kernel, self.blocks, arguments);
    }
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
