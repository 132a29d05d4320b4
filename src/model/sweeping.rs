//! One sweep along one axis, in numbers: of the very plans that ranks carry out.

use std::collections::BTreeSet;

use crate::backend::ranks::{Deal, Joined, Part, Sum};
use crate::comm::Sent;
use crate::engine::distributed::{self, Ends, Layout, Method, Parts, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::grid::{Axis, Block, Decomposition};

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
        /// What ranks do: their stages, one after another. Ranks that do alike share one.
        plans: Vec<Vec<Stage>>,
        /// Which of them the rank at each position along the axis carries out.
        plan_of: Vec<usize>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sums of planes, which read and write so many in memory.
    Combine(usize),
    /// One round of messages.
    Exchange {
        /// (rank, planes) of those that go out.
        send: Vec<(Peer, usize)>,
        /// Of those that come in.
        receive: Vec<(Peer, usize)>,
    },
}

/// Another rank on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// So many positions behind this one, and from the last to the first.
    Behind(usize),
    /// The one at this position, for whoever speaks to it.
    At(usize),
}

impl Peer {
    /// Its position on a line of `ranks`, for the rank at position `own`.
    pub fn position(self, own: usize, ranks: usize) -> usize {
        match self {
            Peer::Behind(away) => (own + away) % ranks,
            Peer::At(position) => position,
        }
    }
}

impl Sweeping {
    /// # Errors
    /// A sentence where the method that was asked for cannot.
    pub(crate) fn new(
        (axis, sweep): &(Axis, Sweep),
        decomposition: Decomposition,
        points: [usize; 3],
        operators: &LineOperators,
        asked: Option<Method>,
    ) -> Result<Self, String> {
        let (axis, a) = (*axis, axis.index());
        let lengths = decomposition.lengths(a, points[a]);
        let (applied, ops) = (sweep.stages(), sweep.operators());
        let operands = applied.iter().map(Vec::len).sum();
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
            let made = parts.batches.iter().map(|batch| batch.products.words()).sum::<usize>();
            let words = made + parts.last.words();
            let transfers = parts.batches.iter().map(|batch| batch.applied.len()).collect();
            return Ok(Self {
                axis,
                lengths,
                operands,
                lines: Lines::Transposed { transfers, words },
            });
        }
        let stages: Vec<Vec<Op>> =
            applied.iter().map(|stage| stage.iter().map(|(op, ..)| *op).collect()).collect();
        let cyclic = ops.iter().all(|op| operators.get(axis, *op).periodic);
        let kinds = distributed::kinds(cyclic, &lengths, method);
        let mut known = vec![Vec::new(); kinds.first.len()];
        for &op in &ops {
            let operator = operators.get(axis, op);
            let blocks = distributed::distribute_at(operator, &lengths, &kinds.first, method)?;
            for (known, (block, plan)) in known.iter_mut().zip(blocks) {
                known.push((op, Corrected::of(block.ends()), plan));
            }
        }
        let plan = |(&position, known): (&usize, &Vec<_>)| {
            let place = Place { position, ranks: lengths.len(), method };
            stages.iter().map(|stage| Stage::new(stage, known, place)).collect()
        };
        let plans = kinds.first.iter().zip(&known).map(plan).collect();
        let lines = Lines::Blocks { method, plans, plan_of: kinds.of };
        Ok(Self { axis, lengths, operands, lines })
    }

    /// Plans that were made, each for all ranks that do alike.
    pub fn planned(&self) -> usize {
        match &self.lines {
            Lines::Whole | Lines::Transposed { .. } => 0,
            Lines::Blocks { plans, .. } => plans.len(),
        }
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
            Lines::Blocks { plans, plan_of, .. } => {
                for step in plans[plan_of[position]].iter().flat_map(|stage| &stage.steps) {
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
    fn of(ends: Option<&Ends>) -> Self {
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

/// Whose plans are counted.
#[derive(Clone, Copy, Debug)]
struct Place {
    position: usize,
    ranks: usize,
    method: Method,
}

impl Stage {
    fn new(
        ops: &[Op],
        known: &[(Op, Corrected, Plan)],
        Place { position, ranks, method }: Place,
    ) -> Self {
        let of = |op: &Op| {
            let found = known.iter().find(|(other, ..)| other == op);
            found.unwrap_or_else(|| unreachable!("collected from this sweep"))
        };
        let plans: Vec<&Plan> = ops.iter().map(|op| &of(op).2).collect();
        let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
        let layout = Layout::new(&widths);
        let mut rounds = 0;
        let step = |step| match step {
            Joined::Combine(sums) => Step::Combine(sums.iter().map(|list| touched(list)).sum()),
            Joined::Exchange(round) => {
                rounds += 1;
                // Behind the first round with the neighbours all speak to one rank.
                let one_for_all = method == Method::Gather && rounds > 1;
                let peer = |peer: usize| match one_for_all {
                    true => Peer::At(peer),
                    false => Peer::Behind((peer + ranks - position) % ranks),
                };
                let planes = |parts: &[Part]| {
                    parts.iter().map(|part| (peer(part.peer), part.values.len())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Domain;
    use crate::engine::SweepBuilder;
    use crate::grid::Grid;
    use crate::scheme::family;

    /// Both derivatives of a product, and a derivative of a derivative.
    fn sweep() -> Sweep {
        let s = SweepBuilder::new();
        let (a, b) = (s.read(0), s.read(1));
        s.store(0, s.d1(a * b) + s.d2(a * b));
        s.add(1, s.d1(s.d1(a) * b));
        s.build()
    }

    /// What the rank at `place` does, planned for it alone.
    fn alone(operators: &LineOperators, lengths: &[usize], place: Place) -> Vec<Stage> {
        let (sweep, Place { position, method, .. }) = (sweep(), place);
        let plan = |&op: &Op| {
            let operator = operators.get(Axis::Z, op);
            let block = distributed::distribute(operator, lengths, position, method);
            let (block, plan) = block.unwrap();
            (op, Corrected::of(block.ends()), plan)
        };
        let known: Vec<_> = sweep.operators().iter().map(plan).collect();
        let stage = |stage: &Vec<(Op, _, _)>| {
            let ops: Vec<Op> = stage.iter().map(|(op, ..)| *op).collect();
            Stage::new(&ops, &known, place)
        };
        sweep.stages().iter().map(stage).collect()
    }

    fn check(scheme: &str, method: Method, lengths: [usize; 2], periodic: bool) {
        let [n, ranks] = lengths;
        let grid = Grid::new([8, 8, n], &Domain::cube(1.0), [true, true, periodic]);
        let operators =
            LineOperators::new(family(scheme).unwrap(), None, &grid, crate::Precision::F64);
        let cut = Decomposition { ranks: [1, 1, ranks] };
        let all =
            Sweeping::new(&(Axis::Z, sweep()), cut, grid.points, &operators, Some(method)).unwrap();
        let Lines::Blocks { plans, plan_of, .. } = all.lines else { panic!("lines are cut") };
        for position in 0..ranks {
            let alone = alone(&operators, &all.lengths, Place { position, ranks, method });
            let what = format!("{scheme}, {method:?}, {position} of {:?}", all.lengths);
            assert_eq!(plans[plan_of[position]], alone, "{what}");
        }
    }

    #[test]
    fn ranks_that_share_a_plan_have_the_same_where_each_is_planned_alone() {
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
