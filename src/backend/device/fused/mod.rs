//! A sweep on a device as one kernel: every field is loaded once, and all intermediate results stay on chip.

mod body;
mod early;
mod plan;
mod shape;
mod statements;
mod uses;

use super::ends::Columns;
use super::job::{Job, LaunchSize};
use super::lines::{CHUNKS, ELIMINATE, LINE, define_rows, define_tables, negligible_coupling};
use super::program::{Fields, Task};
use super::sweep_kernel::SweepKernel;
use super::text::Text;
use super::{Arg, Buffer, Fusing};
use crate::backend::Weights;
use crate::engine::LineOperator;
use crate::error::Result;
use crate::lines::Chunks;
use crate::real::Precision;
use body::SweepText;
use shape::Shape;

pub(super) use plan::Plan;

const TILE: &str = include_str!("../../../../kernels/fused/tile.cu");
const PLANE: &str = include_str!("../../../../kernels/fused/plane.cu");
const APPLY: &str = include_str!("../../../../kernels/fused/apply.cu");
const INFLOW: &str = include_str!("../../../../kernels/fused/inflow.cu");
const KERNEL: &str = include_str!("../../../../kernels/fused/sweep.cu");

/// A sweep along one axis as one kernel.
pub(super) struct Fused {
    job: Job,
    shape: Shape,
    /// Slots of the fields that are read, and of the fields that are written.
    read: Vec<usize>,
    written: Vec<usize>,
    /// Number of stages whose interface values it uses.
    stages: usize,
    /// Tables of the operators in device memory, one after another.
    tables: Buffer,
}

/// Largest number of kernels compiled to find one without register spills.
const MAX_TRIES: usize = 12;

/// Largest number of tiles per block. Other work for a multiprocessor, such as messages, waits at most for this many
/// tiles.
const MAX_TURNS: usize = 16;

impl Fused {
    /// Returns `None` if there is nothing to fuse, or if no block that the device can start keeps its values on chip
    /// according to the compiler.
    pub(super) fn new(task: &Task) -> Result<Option<Self>> {
        let Task { workspace, fusing, sweep, axis, operators, .. } = task;
        let info = workspace.device.info();
        let how = (workspace.precision, workspace.compute.sweeps);
        let plan = Plan::new(sweep, *axis, task.lines(), how, operators);
        let Some(plan) = plan.filter(|_| *fusing != Fusing::Nothing) else {
            return Ok(None);
        };
        for (shape, body) in plan.candidates(info).take(MAX_TRIES) {
            let fused = Self::compiled(task, &plan, shape, &body, false)?;
            if fused.is_some() {
                return Ok(fused);
            }
            tracing::debug!("a sweep along {axis:?} spills as {shape:?}");
        }
        let Some((shape, body)) = plan.nearest(info).filter(|_| *fusing == Fusing::All) else {
            return Ok(None);
        };
        Self::compiled(task, &plan, shape, &body, true)
    }

    /// Returns `None` if the kernel spills and `may_spill` is false.
    fn compiled(
        task: &Task,
        plan: &Plan,
        shape: Shape,
        body: &SweepText,
        may_spill: bool,
    ) -> Result<Option<Self>> {
        let Plan { lines, ops, stages, .. } = plan;
        let (device, precision) = (&task.workspace.device, task.workspace.precision);
        let (threads, words) = (shape.threads(), shape.on_chip(body.parked));
        let mut text = Text::new(precision);
        lines.define(&mut text);
        text.define("PERIODIC", u8::from(task.operator(ops[0]).periodic));
        text.define("TX", shape.lanes);
        text.define("CHUNKS", shape.chunks);
        text.define("THREADS", threads);
        text.define("LENGTH", shape.length);
        text.define("LONG_CHUNKS", lines.points - shape.chunks * (shape.length - 1));
        if !device.info().is_gpu {
            text.make_compact();
        }
        text.push("#undef RESIDENT\n");
        text.define("RESIDENT", shape.resident);
        text.define("STRIDE", shape.stride);
        text.define("PARKED_AT", shape.words);
        text.define("ON_CHIP_WORDS", words);
        text.define("TABLE_SPACE", "ON_CHIP_PTR");
        text.define("STAGING_WORDS", shape.index_words);
        text.define("STAGING_AT", shape.words - shape.index_words);
        [LINE, CHUNKS, TILE].iter().for_each(|part| text.push(part));
        if plan.reads_planes() {
            text.define("PLANE", task.points[0] * task.points[1]);
            text.push(PLANE);
        }
        let (mut table, mut columns) = (Vec::new(), Vec::new());
        for (number, op) in ops.iter().enumerate() {
            text.define(&format!("TABLES_{number}"), table.len());
            text.define(&format!("COLUMNS_{number}"), columns.len());
            let op = task.operator(*op);
            let (own, of_inflow) =
                text.scoped(number, &NAMES, |text| operator(text, precision, op, shape.chunks));
            table.extend(own);
            columns.extend(of_inflow);
        }
        text.define("TABLE_WORDS", table.len());
        text.define("TABLES_AT", shape.words - shape.index_words - table.len());
        table.extend(columns);
        let fields = (plan.read.iter().map(|slot| format!("GLOBAL const REAL *restrict r{slot}")))
            .chain(plan.written.iter().map(|slot| format!("GLOBAL REAL *restrict w{slot}")))
            .chain((0..*stages).map(|stage| format!("GLOBAL const REAL *restrict planes{stage}")));
        text.define("FIELDS", body.coefficients.parameters(fields));
        let tiles = lines.count.div_ceil(shape.lanes);
        let at_once = shape.resident * device.info().multiprocessors;
        let turns = plan.sweeps.turns.unwrap_or(MAX_TURNS);
        let blocks = match body.first_tile_loads.is_empty() {
            true => tiles,
            // As many blocks as run at once, or a multiple: a remainder would leave most multiprocessors idle.
            false => tiles.div_ceil(turns).next_multiple_of(at_once).min(tiles),
        };
        text.define("IN_TURN", u8::from(!body.first_tile_loads.is_empty()));
        text.define("BLOCKS", blocks);
        text.define("TILES", tiles);
        text.define_lines("FIRST_TILE_LOADS", &body.first_tile_loads);
        text.define_lines("SWEEP", &body.lines);
        text.push(KERNEL);
        let source = text.source("fused sweep");
        let launch = LaunchSize::linear(blocks, threads, words * precision.bytes());
        let kernel = device.compiled(launch.request(&source, "fused")?, may_spill)?;
        let Some(kernel) = kernel else { return Ok(None) };
        if table.is_empty() {
            table.push(0.0);
        }
        Ok(Some(Self {
            job: Job::from_kernel(kernel, &launch)?.with_coefficients(body.coefficients.clone()),
            shape,
            read: plan.read.clone(),
            written: plan.written.clone(),
            stages: *stages,
            tables: Buffer::table(device, precision, &table)?,
        }))
    }

    /// Whether lines are split across ranks.
    pub(super) fn is_coupled(&self) -> bool {
        self.stages > 0
    }

    /// Returns its blocks and the compiler's resource usage.
    pub(super) fn kernel(&self) -> Result<SweepKernel> {
        let Shape { length, lanes, resident, .. } = self.shape;
        self.job.describe_sweep([length, lanes], resident)
    }

    pub(super) fn run(&self, fields: Fields, weights: Weights) {
        let scalars = [weights.beta, weights.advance];
        let arguments = (self.read.iter().map(|slot| fields.read[*slot].arg()))
            .chain(self.written.iter().map(|slot| fields.write[*slot].arg()))
            .chain(fields.planes[..self.stages].iter().map(|planes| planes.arg()))
            .chain([self.tables.arg(), Arg::Scalars(self.tables.precision, &scalars)]);
        self.job.launch(arguments);
    }
}

/// Names of functions and tables that each operator defines for itself.
const NAMES: [&str; 12] = [
    "apply",
    "publish_operand",
    "multiply",
    "add_inflow",
    "eliminate",
    "eliminate_interior",
    "solve_separators",
    "substitute_separators",
    "LEFT_END",
    "RIGHT_END",
    "CLASS_TABLE",
    "WEIGHTS",
];

/// Adds the functions of one operator; returns its tables, and the columns of its interface values.
fn operator(
    text: &mut Text,
    precision: Precision,
    operator: &LineOperator,
    chunks: usize,
) -> (Vec<f64>, Vec<f64>) {
    define_rows(text, operator);
    let (mut table, mut of_inflow) = (Vec::new(), Vec::new());
    if operator.matrix.half_band() > 0 {
        let chunks = Chunks::cut(&operator.matrix, chunks, negligible_coupling(precision));
        table = define_tables(text, &chunks);
        text.push(ELIMINATE);
    }
    text.push(APPLY);
    if let Some(ends) = &operator.ends {
        let columns = Columns::new(ends);
        columns.define(text);
        of_inflow = columns.values;
        text.push(INFLOW);
    }
    (table, of_inflow)
}
