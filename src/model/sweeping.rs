//! One sweep along one axis, counted from the plans that ranks run.

use std::collections::BTreeSet;

use crate::backend::ranks::{Joined, Part, Sum, TransposeLayout};
use crate::comm::Sent;
use crate::engine::distributed::{self, BlockCoupling, Layout, Method, Parts, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::grid::{Axis, Block, Decomposition};

/// A sweep along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Sweeping {
    pub(crate) axis: Axis,
    /// Points of every block along the axis.
    pub(crate) lengths: Vec<usize>,
    /// Number of operators that are applied.
    pub(crate) operands: usize,
    pub(crate) lines: Lines,
}

/// How the lines of a sweep are solved.
#[derive(Clone, Debug)]
pub(crate) enum Lines {
    /// Each rank has whole lines.
    Whole,
    /// Lines are split across ranks.
    Blocks {
        method: Method,
        /// The tasks of ranks, in order. Ranks with the same tasks share one list.
        plans: Vec<Vec<Task>>,
        /// The list of the rank at each position along the axis.
        plan_of: Vec<usize>,
    },
    /// Lines are transposed to whole lines.
    Transposed {
        /// For every transfer there and back, the operands that are sent together.
        transfers: Vec<usize>,
        /// Fields read and written pointwise, to form products and to store results.
        words: usize,
    },
}

/// The next task of a rank on a split line, counted per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Form `operands` operands, for which the operators `before` are applied, and pack `points` points of their ends.
    Pack { before: Applied, operands: usize, points: usize },
    /// Sums of planes, which read and write this many planes in memory.
    Combine(usize),
    /// One round of messages: (rank, planes).
    Exchange {
        /// True for the first round after a [`Task::Pack`].
        is_first: bool,
        send: Vec<(Peer, usize)>,
        receive: Vec<(Peer, usize)>,
    },
    /// The sweep, with interface values known.
    Sweep(Applied),
}

/// Operators applied to a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) operands: usize,
    /// Points of results to which interface values are added, counted once per plane of these values.
    pub(crate) corrected: usize,
}

/// Another rank on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This many positions further along the line, which is periodic.
    Behind(usize),
    /// The rank at this position.
    At(usize),
}

impl Peer {
    /// Its position on a line of `ranks`, for the rank at position `own`.
    pub(crate) fn position(self, own: usize, ranks: usize) -> usize {
        match self {
            Peer::Behind(away) => (own + away) % ranks,
            Peer::At(position) => position,
        }
    }
}

impl Sweeping {
    /// The error is a sentence: why the requested method is not possible.
    pub(crate) fn new(
        (axis, sweep): (Axis, &Sweep),
        decomposition: Decomposition,
        points: [usize; 3],
        operators: &LineOperators,
        requested: Option<Method>,
    ) -> Result<Self, String> {
        let a = axis.index();
        let lengths = decomposition.lengths(a, points[a]);
        let ops = sweep.operators();
        let operands = sweep.stages().iter().map(Vec::len).sum();
        if let Some(op) = ops.iter().find(|op| operators.find(axis, **op).is_none()) {
            let (n, op, along) = (points[a], op.name(), axis.name());
            return Err(format!("{n} points along {along} are too few for {op}"));
        }
        let lines = if lengths.len() == 1 || operands == 0 {
            Lines::Whole
        } else {
            match distributed::choose_method(requested, axis, &ops, operators, &lengths).0 {
                Method::Transpose => Lines::transposed(sweep),
                method => {
                    let cyclic = ops.iter().all(|op| operators.get(axis, *op).periodic);
                    let kinds = distributed::kinds(cyclic, &lengths, method);
                    let plans = plans(sweep, axis, operators, &lengths, &kinds.first, method)?;
                    Lines::Blocks { method, plans, plan_of: kinds.of }
                }
            }
        };
        Ok(Self { axis, lengths, operands, lines })
    }

    /// The messages of the rank at `position` with `block`, for values of `value` bytes each, and the number of planes.
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
            Lines::Blocks { plans, plan_of, .. } => {
                for task in &plans[plan_of[position]] {
                    let Task::Exchange { send: messages, .. } = task else { continue };
                    for (_, of_message) in messages {
                        send(of_message * lines);
                        planes += of_message;
                    }
                }
            }
            Lines::Transposed { transfers, .. } => {
                for &fields in transfers {
                    let (points, parts) = (block.points, self.lengths.len());
                    let deal = TransposeLayout { points, axis: self.axis, parts, fields };
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

impl Lines {
    fn transposed(sweep: &Sweep) -> Self {
        let Parts { batches, last, .. } = Parts::of(sweep);
        let made = batches.iter().map(|batch| batch.products.words(1)).sum::<usize>();
        let transfers = batches.iter().map(|batch| batch.applied.len()).collect();
        Lines::Transposed { transfers, words: made + last.words(1) }
    }
}

/// The tasks of the ranks at `positions` of a line.
///
/// # Errors
/// A sentence if the method is not possible.
fn plans(
    sweep: &Sweep,
    axis: Axis,
    operators: &LineOperators,
    lengths: &[usize],
    positions: &[usize],
    method: Method,
) -> Result<Vec<Vec<Task>>, String> {
    let mut blocks = vec![Vec::new(); positions.len()];
    for op in sweep.operators() {
        let operator = operators.get(axis, op);
        let distributed = distributed::distribute_at(operator, lengths, positions, method)?;
        for (known, (block, plan)) in blocks.iter_mut().zip(distributed) {
            let (packed, corrected) = block.ends().map_or((0, 0), packed_and_corrected);
            known.push(Operand { op, packed, corrected, plan });
        }
    }
    let tasks = |(&position, blocks): (&usize, &Vec<_>)| {
        tasks(sweep, blocks, position, lengths.len(), method)
    };
    Ok(positions.iter().zip(&blocks).map(tasks).collect())
}

/// An operator on one block.
#[derive(Clone, Debug)]
struct Operand {
    op: Op,
    /// Points that are packed.
    packed: usize,
    /// Points of the result to which interface values are added, counted once per plane of these values.
    corrected: usize,
    plan: Plan,
}

/// (points of an operand that are packed, points of its result that are corrected).
fn packed_and_corrected(ends: &BlockCoupling) -> (usize, usize) {
    let [to_left, to_right, head, tail] =
        ends.sources.each_ref().map(|planes| planes.iter().map(Vec::len).max().unwrap_or(0));
    let columns = ends.left.iter().chain(&ends.right);
    (to_left.max(head) + to_right.max(tail), columns.map(Vec::len).sum())
}

/// The tasks of the rank at `position` of `ranks`.
fn tasks(
    sweep: &Sweep,
    blocks: &[Operand],
    position: usize,
    ranks: usize,
    method: Method,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut applied = Applied::default();
    for stage in sweep.stages() {
        let of = |op: Op| blocks.iter().find(move |block| block.op == op);
        let stage: Vec<&Operand> = stage.iter().filter_map(|(op, ..)| of(*op)).collect();
        let (before, operands) = (applied, stage.len());
        tasks.push(Task::Pack { before, operands, points: stage.iter().map(|o| o.packed).sum() });
        let plans: Vec<&Plan> = stage.iter().map(|operand| &operand.plan).collect();
        let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
        let mut is_first = true;
        for step in Joined::steps(&plans, &Layout::new(&widths)) {
            tasks.push(match step {
                Joined::Combine(sums) => Task::Combine(sums.iter().map(|list| touched(list)).sum()),
                Joined::Exchange(round) => {
                    // After the first round with the neighbours, all ranks communicate with one rank.
                    let peer = |peer: usize| match method == Method::Gather && !is_first {
                        true => Peer::At(peer),
                        false => Peer::Behind((peer + ranks - position) % ranks),
                    };
                    let planes = |parts: &[Part]| {
                        parts.iter().map(|part| (peer(part.peer), part.values.len())).collect()
                    };
                    let (send, receive) = (planes(&round.send), planes(&round.receive));
                    Task::Exchange { is_first: std::mem::take(&mut is_first), send, receive }
                }
            });
        }
        applied.operands += operands;
        applied.corrected += stage.iter().map(|operand| operand.corrected).sum::<usize>();
    }
    tasks.push(Task::Sweep(applied));
    tasks
}

/// Planes that consecutive sums read from memory or write to memory.
fn touched(sums: &[Sum]) -> usize {
    let (mut made, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (to, terms) in sums {
        let planes = terms.iter().map(|(plane, _)| *plane);
        read.extend(planes.filter(|plane| !made.contains(plane)));
        made.insert(*to);
    }
    made.len() + read.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Domain;
    use crate::engine::SweepBuilder;
    use crate::grid::{End, Grid};
    use crate::scheme::family;

    /// Both derivatives of a product, and a derivative of a derivative.
    fn sweep() -> Sweep {
        let s = SweepBuilder::new();
        let (a, b) = (s.read(0), s.read(1));
        s.store(0, s.d1(a * b) + s.d2(a * b));
        s.add(1, s.d1(s.d1(a) * b));
        s.build()
    }

    fn check(scheme: &str, method: Method, lengths: [usize; 2], periodic: bool) {
        let [n, ranks] = lengths;
        let grid = Grid::new(
            [8, 8, n],
            &Domain::cube(1.0),
            [None, None, (!periodic).then_some([End::ByParts; 2])],
        );
        let operators =
            LineOperators::new(family(scheme).unwrap(), None, &grid, crate::Precision::F64);
        let cut = Decomposition { ranks: [1, 1, ranks] };
        let all =
            Sweeping::new((Axis::Z, &sweep()), cut, grid.points, &operators, Some(method)).unwrap();
        let Lines::Blocks { plans: shared, plan_of, .. } = all.lines else { panic!("uncut lines") };
        for position in 0..ranks {
            let alone = plans(&sweep(), Axis::Z, &operators, &all.lengths, &[position], method);
            let what = format!("{scheme}, {method:?}, {position} of {:?}", all.lengths);
            assert_eq!(shared[plan_of[position]], alone.unwrap()[0], "{what}");
        }
    }

    #[test]
    fn shared_plans_equal_the_separate_plan_of_each_rank() {
        for (scheme, long) in [("compact6", 50), ("compact10-penta", 80)] {
            for method in [Method::Neighbour, Method::Pcr, Method::Gather, Method::Chain] {
                let each = if method == Method::Neighbour { long } else { 12 };
                for ranks in [2, 3, 4, 5, 7, 8, 11] {
                    for more in [0, 1, ranks / 2] {
                        check(scheme, method, [each * ranks + more, ranks], true);
                        check(scheme, method, [each * ranks + more, ranks], false);
                    }
                }
            }
        }
    }
}
