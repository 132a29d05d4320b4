//! The block of a sweep on a rank between its neighbours, without the others.

use crate::backend::ranks::{Joined, Part, Round};
use crate::bench::place::Place;
use crate::comm::Communicator;
use crate::engine::distributed::{self, Layout, Method, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Decomposition};
use crate::model::{Lines, Sweeping, Task};

/// A line cut into blocks, one of which is looked at. Two ranks have one each; of more, and for one alone, it is the middle one
/// of three, whose neighbours are the ranks before and after in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) blocks: usize,
    position: usize,
    /// The rank behind each block.
    ranks: [usize; 3],
}

impl Cut {
    pub(super) fn of(comm: &dyn Communicator) -> Self {
        match (comm.rank(), comm.size()) {
            (rank, 2) => Self { blocks: 2, position: rank, ranks: [0, 1, 0] },
            (rank, size) => {
                let ranks = [(rank + size - 1) % size, rank, (rank + 1) % size];
                Self { blocks: 3, position: 1, ranks }
            }
        }
    }

    /// Points of all blocks along `axis`, where one has `points`.
    pub(super) fn whole(self, mut points: [usize; 3], axis: Axis) -> [usize; 3] {
        points[axis.index()] *= self.blocks;
        points
    }
}

/// A sweep over one block of lines, and what it works with.
pub(super) struct Block<P: Place> {
    pub(super) program: P::Program,
    /// Of every stage.
    pub(super) planes: Vec<P::Field>,
    /// What is done after a stage is packed.
    pub(super) steps: Vec<(usize, Done<P>)>,
    /// Operators.
    pub(super) operands: usize,
    /// Values at the ends of operands that planes are made of.
    pub(super) packed: usize,
    /// Values of results that inflow is added to, once for every plane.
    pub(super) corrected: usize,
    /// Values of planes that sums read and write.
    pub(super) combined: usize,
    /// Values that leave in a round, to both neighbours.
    pub(super) leaving: usize,
}

/// A step between packing and inflow.
pub(super) enum Done<P: Place> {
    Sums(P::Combination),
    /// Messages for all neighbours; rounds with fewer are left out.
    Messages(Round),
}

impl<P: Place> Block<P> {
    /// That of `points` points; `operators` are those of a grid of all blocks. `None` where blocks are too short for any method
    /// but `transpose`.
    pub(super) fn new(
        place: &P,
        cut: Cut,
        sweep: &(Axis, Sweep),
        points: [usize; 3],
        operators: &LineOperators<P::Real>,
    ) -> Result<Option<Self>> {
        let (axis, applied) = (sweep.0, sweep.1.stages());
        let a = axis.index();
        let mut ops: Vec<Op> = applied.iter().flatten().map(|(op, ..)| *op).collect();
        ops.sort_unstable_by_key(|op| *op as usize);
        ops.dedup();
        let Cut { blocks, position, ranks } = cut;
        let lengths = vec![points[a]; blocks];
        let (method, _) = distributed::settle(None, axis, &ops, operators, &lengths);
        if method == Method::Transpose || ops.is_empty() {
            return Ok(None);
        }
        let mut of_ops = Vec::new();
        for &op in &ops {
            let Ok((local, plan)) =
                distributed::distribute(operators.get(axis, op), &lengths, position, method)
            else {
                return Ok(None);
            };
            of_ops.push((op, local, plan));
        }
        let lines: usize = points.iter().product::<usize>() / points[a];
        let (mut planes, mut steps, mut leaving) = (Vec::new(), Vec::new(), 0);
        for (number, stage) in applied.iter().enumerate() {
            let plan = |op: Op| of_ops.iter().filter(move |of| of.0 == op).map(|of| &of.2);
            let plans: Vec<&Plan> = stage.iter().flat_map(|(op, ..)| plan(*op)).collect();
            let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
            let layout = Layout::new(&widths);
            planes.push(place.planes((layout.planes() * lines).max(1))?);
            for step in Joined::steps(&plans, &layout) {
                match step {
                    Joined::Combine(sums) => {
                        steps.push((number, Done::Sums(place.combination(lines, sums)?)));
                    }
                    Joined::Exchange(mut round) => {
                        for Part { peer, values } in round.send.iter_mut().chain(&mut round.receive)
                        {
                            *peer = ranks[*peer];
                            *values = values.start * lines..values.end * lines;
                        }
                        // What one rank sends to the one before, the other one gets from the one after.
                        round.receive.reverse();
                        let count = |parts: &[Part]| -> Vec<usize> {
                            parts.iter().map(|part| part.values.len()).collect()
                        };
                        let [sent, received] = [&round.send, &round.receive].map(|p| count(p));
                        if sent.len() == blocks - 1 && sent == received {
                            leaving += sent.iter().sum::<usize>();
                            steps.push((number, Done::Messages(round)));
                        }
                    }
                }
            }
        }
        let blocks = of_ops.into_iter().map(|(op, local, _)| (op, local)).collect();
        let program = place.program(&sweep.1, axis, points, &LineOperators::along(axis, blocks))?;
        let mut block = Self {
            program,
            planes,
            steps,
            leaving,
            operands: applied.iter().map(Vec::len).sum(),
            packed: 0,
            corrected: 0,
            combined: 0,
        };
        let mut ranks = [1; 3];
        ranks[a] = cut.blocks;
        let whole = cut.whole(points, axis);
        let counted = Sweeping::new(sweep, Decomposition { ranks }, whole, operators, Some(method));
        if let Ok(Sweeping { lines: Lines::Blocks { plans, plan_of, .. }, .. }) = counted {
            for task in &plans[plan_of[position]] {
                match task {
                    Task::Pack { points, .. } => block.packed += points * lines,
                    Task::Combine(planes) => block.combined += planes * lines,
                    Task::Exchange { .. } => {}
                    Task::Sweep(applied) => block.corrected += applied.corrected * lines,
                }
            }
        }
        Ok(Some(block))
    }
}
