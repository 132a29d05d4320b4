//! One sweep along one axis, in numbers: of the very plans that ranks carry out.

use std::collections::BTreeSet;

use crate::backend::ranks::{Deal, Joined, Part, Sum};
use crate::comm::Sent;
use crate::engine::distributed::{self, Ends, Layout, Method, Parts, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::grid::{Axis, Block, Decomposition};
use crate::real::Real;

/// A sweep along an axis.
#[derive(Clone, Debug)]
pub struct Sweeping {
    /// Along which.
    pub axis: Axis,
    /// Points of every block along it.
    pub lengths: Vec<usize>,
    /// Operators that are applied.
    pub operands: usize,
    /// How its lines are solved.
    pub lines: Lines,
}

/// How the lines of a sweep are solved.
#[derive(Clone, Debug)]
pub enum Lines {
    /// Each rank has them from end to end.
    Whole,
    /// They are blocks of longer ones.
    Blocks {
        /// How these are joined.
        method: Method,
        /// What the rank at each position along the axis does: its stages, one after another.
        positions: Vec<Vec<Stage>>,
    },
    /// They are made whole.
    Transposed {
        /// For every transfer there and back, the operands that travel together.
        transfers: Vec<usize>,
        /// Fields read and written point by point: where products are made, and results go where they belong.
        words: usize,
    },
}

/// Operators that do not depend on each other, on one rank, counted for one line.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Operators.
    pub operands: usize,
    /// Points of operands that planes are made of.
    pub packed: usize,
    /// Points of results that inflow is added to, once for every plane of it.
    pub corrected: usize,
    /// What is done from the planes packed to the inflow.
    pub steps: Vec<Step>,
}

/// A step from the planes packed to the inflow.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sums of planes, which read and write so many in memory.
    Combine(usize),
    /// One round of messages.
    Exchange {
        /// (position along the axis, planes) of those that go out.
        send: Vec<(usize, usize)>,
        /// Of those that come in.
        receive: Vec<(usize, usize)>,
    },
}

impl Sweeping {
    /// # Errors
    /// A sentence where the method that was asked for cannot.
    pub(crate) fn new<T: Real>(
        (axis, sweep): &(Axis, Sweep),
        decomposition: Decomposition,
        points: [usize; 3],
        operators: &LineOperators<T>,
        asked: Option<Method>,
    ) -> Result<Self, String> {
        let (axis, a) = (*axis, axis.index());
        let lengths = decomposition.lengths(a, points[a]);
        let applied = sweep.stages();
        let mut ops: Vec<Op> = applied.iter().flatten().map(|(op, ..)| *op).collect();
        let operands = ops.len();
        ops.sort_unstable_by_key(|op| *op as usize);
        ops.dedup();
        if let Some(op) = ops.iter().find(|op| operators.find(axis, **op).is_none()) {
            let (n, op, along) = (points[a], op.name(), axis.name());
            return Err(format!("{n} points along {along} are too few for {op}"));
        }
        if lengths.len() == 1 || operands == 0 {
            return Ok(Self { axis, lengths, operands, lines: Lines::Whole });
        }
        let (method, _) = distributed::settle(asked, axis, &ops, operators, &lengths);
        if method == Method::Transpose {
            let parts = Parts::of(sweep);
            let mut transfers = Vec::new();
            let mut words = parts.last.words();
            for stage in &parts.stages {
                words += stage.products.words();
                let count = |op: &Op| stage.applied.iter().filter(|(other, _)| other == op).count();
                transfers.extend(ops.iter().map(count).filter(|count| *count > 0));
            }
            return Ok(Self {
                axis,
                lengths,
                operands,
                lines: Lines::Transposed { transfers, words },
            });
        }
        let stages: Vec<Vec<Op>> =
            applied.iter().map(|stage| stage.iter().map(|(op, ..)| *op).collect()).collect();
        let at = |position: usize| {
            let mut known = Vec::new();
            for &op in &ops {
                let operator = operators.get(axis, op);
                let (block, plan) = distributed::distribute(operator, &lengths, position, method)?;
                known.push((op, Corrected::of(block.ends()), plan));
            }
            Ok(stages.iter().map(|stage| Stage::new(stage, &known)).collect())
        };
        let positions = (0..lengths.len()).map(at).collect::<Result<_, String>>()?;
        Ok(Self { axis, lengths, operands, lines: Lines::Blocks { method, positions } })
    }

    /// What the rank at `position` with `block` sends, in values of which each has `value` bytes, and in planes.
    #[allow(clippy::cast_possible_truncation, reason = "bytes of one rank")]
    pub(super) fn sent(&self, position: usize, block: Block, value: usize) -> (Sent, usize) {
        let a = self.axis.index();
        let lines = block.len() / block.points[a].max(1);
        let mut sent = Sent::default();
        let mut planes = 0;
        let mut send = |values: usize| {
            sent.messages += u64::from(values > 0);
            sent.bytes += (values * value) as u64;
        };
        match &self.lines {
            Lines::Whole => {}
            Lines::Blocks { positions, .. } => {
                for step in positions[position].iter().flat_map(|stage| &stage.steps) {
                    let Step::Exchange { send: messages, .. } = step else { continue };
                    for (_, of_message) in messages {
                        send(of_message * lines);
                        planes += of_message;
                    }
                }
            }
            Lines::Transposed { transfers, .. } => {
                for &fields in transfers {
                    let (points, parts) = (block.points, self.lengths.len());
                    let deal = Deal { points, axis: self.axis, parts, fields };
                    for other in (0..parts).filter(|other| *other != position) {
                        send(deal.share(other).len() * points[a] * fields);
                        send(self.lengths[other] * deal.share(position).len() * fields);
                    }
                    planes += 2 * fields * points[a];
                }
            }
        }
        (sent, planes)
    }
}

/// Of one operand: points that are packed, and results that are corrected.
#[derive(Clone, Copy, Debug)]
struct Corrected {
    packed: usize,
    corrected: usize,
}

impl Corrected {
    fn of<T>(ends: Option<&Ends<T>>) -> Self {
        let Some(ends) = ends else { return Self { packed: 0, corrected: 0 } };
        let [to_left, to_right, head, tail] =
            ends.sources.each_ref().map(|planes| planes.iter().map(Vec::len).max().unwrap_or(0));
        let columns = ends.left.iter().chain(&ends.right);
        Self {
            packed: to_left.max(head) + to_right.max(tail),
            corrected: columns.map(Vec::len).sum(),
        }
    }
}

impl Stage {
    fn new(ops: &[Op], known: &[(Op, Corrected, Plan)]) -> Self {
        let of = |op: &Op| {
            let found = known.iter().find(|(other, ..)| other == op);
            found.unwrap_or_else(|| unreachable!("collected from this sweep"))
        };
        let plans: Vec<&Plan> = ops.iter().map(|op| &of(op).2).collect();
        let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
        let layout = Layout::new(&widths);
        let step = |step| match step {
            Joined::Combine(sums) => Step::Combine(sums.iter().map(|list| touched(list)).sum()),
            Joined::Exchange(round) => {
                let planes = |parts: &[Part]| {
                    parts.iter().map(|part| (part.peer, part.values.len())).collect()
                };
                Step::Exchange { send: planes(&round.send), receive: planes(&round.receive) }
            }
        };
        Self {
            operands: ops.len(),
            packed: ops.iter().map(|op| of(op).1.packed).sum(),
            corrected: ops.iter().map(|op| of(op).1.corrected).sum(),
            steps: Joined::steps(&plans, &layout).into_iter().map(step).collect(),
        }
    }
}

/// Planes that sums, taken one after another, read from memory or write there.
fn touched(sums: &[Sum]) -> usize {
    let (mut made, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (to, terms) in sums {
        let planes = terms.iter().map(|(plane, _)| *plane);
        read.extend(planes.filter(|plane| !made.contains(plane)));
        made.insert(*to);
    }
    made.len() + read.len()
}
