//! A sweep as one kernel, before compilation: the fields that it reads and writes, and the blocks that could run it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::DeviceInfo;
use super::super::coefficients::MAX_COEFFICIENTS;
use super::super::ends::Lines;
use super::super::lines::{exchanged_words, negligible_coupling, table_words};
use super::super::runtime::MAX_ARGUMENTS;
use super::body::{Body, SweepText};
use super::shape::Shape;
use super::uses::Uses;
use crate::backend::SweepConfig;
use crate::engine::distributed::{Layout, slot};
use crate::engine::{LineOperators, Op, Operation, Sweep, Value};
use crate::grid::Axis;
use crate::lines::Chunks;
use crate::real::Precision;

/// Largest reduction of the estimated number of values per point in registers, tried if kernels spill.
const MAX_REGISTER_CUT: usize = 4;

/// Properties of a sweep as one kernel.
pub(in super::super) struct Plan<'a> {
    pub(super) lines: Lines,
    /// The operators, without repetition.
    pub(super) ops: Vec<Op>,
    /// Slots of the fields that are read, and of the fields that are written.
    pub(super) read: Vec<usize>,
    pub(super) written: Vec<usize>,
    /// Number of stages whose interface values it uses.
    pub(super) stages: usize,
    /// The largest half-bandwidth.
    pub(super) half_band: usize,
    /// Whether operators apply to fields that the sweep advances, and the user did not ask for this: it saves a pass over
    /// memory, but is not worth an inefficient block.
    links: bool,
    pub(super) sweeps: SweepConfig,
    inflows: HashMap<Value, Inflow>,
    pub(super) uses: Uses<'a>,
    axis: Axis,
    pub(super) precision: Precision,
    operators: &'a LineOperators,
}

impl<'a> Plan<'a> {
    /// Returns `None` if there is nothing to fuse, if the kernel would have too many arguments, or if the sweep applies
    /// operators to fields that it advances and the user has switched that off (`link`).
    pub(in super::super) fn new(
        sweep: &'a Sweep,
        axis: Axis,
        lines: Lines,
        (precision, sweeps): (Precision, SweepConfig),
        operators: &'a LineOperators,
    ) -> Option<Self> {
        let links = links(sweep);
        if links && sweeps.link == Some(false) {
            return None;
        }
        let ops = distinct_ops(sweep);
        let half_bands = ops.iter().map(|op| operators.get(axis, *op).matrix.half_band());
        let half_band = half_bands.max()?;
        let inflows = inflows(sweep, axis, operators);
        let read = slots(sweep, |operation| matches!(operation, Operation::Read { .. }));
        let written = slots(sweep, |operation| !matches!(operation, Operation::Read { .. }));
        let stages = inflows.values().map(|inflow| inflow.stage + 1).max().unwrap_or(0);
        let uses = Uses::of(&sweep.operations);
        let arguments = MAX_COEFFICIENTS + read.len() + written.len() + stages + 3;
        (arguments <= MAX_ARGUMENTS).then_some(Self {
            lines,
            ops,
            read,
            written,
            stages,
            half_band,
            links: links && sweeps.link.is_none(),
            sweeps,
            inflows,
            uses,
            axis,
            precision,
            operators,
        })
    }

    /// Returns the blocks that a device can start and that keep all values on chip, best first, with their kernel text.
    pub(super) fn candidates(&self, info: &DeviceInfo) -> impl Iterator<Item = (Shape, SweepText)> {
        let is_worth_it = |shape: &Shape| !self.links || shape.is_good(self.lines.points);
        let shapes = self.shapes(info).into_iter().filter(is_worth_it);
        let shapes = shapes.flat_map(|shape| {
            (0..=MAX_REGISTER_CUT).filter_map(move |fewer| shape.with_fewer(fewer))
        });
        let (mut too_small, mut before) = (HashSet::new(), None);
        shapes.filter_map(move |shape| {
            if too_small.contains(&shape.capacity) {
                return None;
            }
            let body = Body::write(self, shape.capacity, info.has_async_copies);
            if shape.excess_values(body.live) > 0 {
                too_small.insert(shape.capacity);
                return None;
            }
            // With fewer registers the text may be unchanged.
            let text = Some(([shape.chunks, shape.lanes, shape.resident], body.lines.clone()));
            let is_new = before != text;
            before = text;
            is_new.then_some((shape, body))
        })
    }

    /// Whether there is such a block with chunks of equal length: with unequal chunks a compiler may spill in every case.
    /// `None` if there is no block at all.
    pub(in super::super) fn fits(&self, info: &DeviceInfo) -> Option<bool> {
        let mut even = self.candidates(info).map(|(shape, _)| shape.is_even(self.lines.points));
        even.next().map(|first| first || even.any(|is_even| is_even))
    }

    /// Returns the block that keeps the most values on chip.
    pub(super) fn nearest(&self, info: &DeviceInfo) -> Option<(Shape, SweepText)> {
        let body = |shape: Shape| (shape, Body::write(self, shape.capacity, info.has_async_copies));
        let bodies = self.shapes(info).into_iter().map(body);
        bodies.min_by_key(|(shape, body)| shape.excess_values(body.live))
    }

    /// Returns the blocks that a device can start, best first.
    fn shapes(&self, info: &DeviceInfo) -> Vec<Shape> {
        // The number of exchanged words per line, and the size of the tables, depend on the reach of the chunks.
        let known = RefCell::new(HashMap::new());
        let words_of = |op: &Op, count: usize| match &self.operators.get(self.axis, *op).matrix {
            matrix if matrix.half_band() == 0 => [0, 0],
            matrix => {
                let chunks = Chunks::cut(matrix, count, negligible_coupling(self.precision));
                [exchanged_words(&chunks, 1), table_words(&chunks)]
            }
        };
        let words = |count: usize| {
            *known.borrow_mut().entry(count).or_insert_with(|| {
                let words = self.ops.iter().map(|op| words_of(op, count));
                words.fold([0, 0], |[most, sum], [of, tables]| [most.max(of), sum + tables])
            })
        };
        Shape::all(self.lines, self.half_band, self.precision, info, self.sweeps, words)
    }

    /// Returns the calls that apply an operator to the array `name`, whose result is `result`.
    pub(super) fn calls(&self, op: Op, result: Value, name: &str) -> Vec<String> {
        let number = self.ops.iter().position(|other| *other == op).unwrap_or_default();
        let apply =
            format!("apply_{number}({name}, chip, tile, ON_CHIP_TABLES + TABLES_{number});");
        let inflow = self.inflows.get(&result).map(|Inflow { stage, left, right }| {
            format!("add_inflow_{number}({name}, tables + TABLE_WORDS + COLUMNS_{number}, planes{stage}, {left}, {right}, tile);")
        });
        std::iter::once(apply).chain(inflow).collect()
    }

    /// Whether an operator is explicit: it ends without a barrier, so that other threads may still read on-chip memory.
    pub(super) fn is_explicit(&self, op: Op) -> bool {
        self.operators.get(self.axis, op).matrix.half_band() == 0
    }

    /// Whether it reads planes.
    pub(super) fn reads_planes(&self) -> bool {
        let is_plane =
            |operation: &Operation| matches!(operation, Operation::Read { plane: true, .. });
        self.uses.operations.iter().any(is_plane)
    }

    /// Whether loads and stores of fields go through on-chip memory.
    pub(super) fn gathers(&self) -> bool {
        self.lines.inner == 1
    }
}

/// Whether an operator applies to a value that the sweep advances.
fn links(sweep: &Sweep) -> bool {
    let mut advanced: HashSet<Value> = HashSet::new();
    for operation in &sweep.operations {
        let follows = operation.used().any(|value| advanced.contains(&value));
        match operation {
            Operation::Apply { .. } if follows => return true,
            Operation::Advance { .. } => advanced.extend(operation.results()),
            _ if follows => advanced.extend(operation.results()),
            _ => {}
        }
    }
    false
}

/// Returns the operators of a sweep, without repetition.
fn distinct_ops(sweep: &Sweep) -> Vec<Op> {
    let mut ops = Vec::new();
    for operation in &sweep.operations {
        match operation {
            Operation::Apply { op, .. } if !ops.contains(op) => ops.push(*op),
            _ => {}
        }
    }
    ops
}

/// Returns the slots of fields that operations of a kind read or write, without repetition.
fn slots(sweep: &Sweep, kind: impl Fn(&Operation) -> bool) -> Vec<usize> {
    let slot = |operation: &Operation| match operation {
        Operation::Read { slot, .. }
        | Operation::Previous { slot, .. }
        | Operation::Add { slot, .. }
        | Operation::Store { slot, .. } => Some(*slot),
        _ => None,
    };
    let operations = sweep.operations.iter().filter(|operation| kind(operation));
    operations.filter_map(slot).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Location of the interface values of one result.
struct Inflow {
    stage: usize,
    /// First plane from the left, and from the right.
    left: usize,
    right: usize,
}

/// Returns the interface values of every result, if lines are split across ranks.
fn inflows(sweep: &Sweep, axis: Axis, operators: &LineOperators) -> HashMap<Value, Inflow> {
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
