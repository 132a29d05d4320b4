//! The block of a sweep on one rank between its neighbours, without the other blocks.

use crate::backend::ranks::{Blocks, Joined, Part, Round};
use crate::backend::{Combination, Field, Program};
use crate::comm::Communicator;
use crate::engine::distributed::{self, Layout, Method, Plan};
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Decomposition};
use crate::model::{Lines, Sweeping, Task};

/// A line cut into blocks, of which this rank has one. Two ranks have one block each. With one rank or more than two, the rank
/// has the middle one of three blocks, whose neighbours are the previous and the next rank in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) blocks: usize,
    position: usize,
    /// The rank that represents each block.
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

    /// Converts a round counted in planes into a round of values of `lines` lines, sent to the ranks that represent the blocks,
    /// with the number of values sent; `None` if it does not involve all neighbours.
    fn round(self, mut round: Round, lines: usize) -> Option<(Round, usize)> {
        for Part { peer, values } in round.send.iter_mut().chain(&mut round.receive) {
            *peer = self.ranks[*peer];
            *values = values.start * lines..values.end * lines;
        }
        // The data that one rank sends to the previous one are those that this rank receives from the next one.
        round.receive.reverse();
        let counts =
            |parts: &[Part]| parts.iter().map(|part| part.values.len()).collect::<Vec<_>>();
        let sent = counts(&round.send);
        let involves_all = sent.len() == self.blocks - 1 && sent == counts(&round.receive);
        involves_all.then(|| (round, sent.iter().sum()))
    }

    /// Points of all blocks together along `axis`, if one block has `points`.
    pub(super) fn total_points(self, mut points: [usize; 3], axis: Axis) -> [usize; 3] {
        points[axis.index()] *= self.blocks;
        points
    }
}

/// A sweep over one block of lines, and its data.
pub(super) struct Block {
    pub(super) program: Program,
    /// Planes of every stage.
    pub(super) planes: Vec<Field>,
    /// Work after a stage is packed.
    pub(super) steps: Vec<(usize, Step)>,
    /// Number of operators.
    pub(super) operands: usize,
    /// Values at the ends of operands from which planes are computed.
    pub(super) packed: usize,
    /// Values of results to which interface values are added, counted once per plane.
    pub(super) corrected: usize,
    /// Values of planes that sums read and write.
    pub(super) combined: usize,
    /// Values sent in a round, to both neighbours.
    pub(super) values_sent: usize,
}

/// A step between packing and the sweep.
pub(super) enum Step {
    Combine(Combination),
    /// Messages for all neighbours; rounds with fewer are omitted.
    Exchange(Round),
}

impl Block {
    /// The block of `points` points; `operators` are those of a grid of all blocks. `None` if blocks are too short for all
    /// methods except `transpose`.
    pub(super) fn new(
        place: &dyn Blocks,
        cut: Cut,
        sweep: &(Axis, Sweep),
        points: [usize; 3],
        operators: &LineOperators,
    ) -> Result<Option<Self>> {
        let (axis, stages, ops) = (sweep.0, sweep.1.stages(), sweep.1.operators());
        let Cut { blocks, position, .. } = cut;
        let lengths = vec![points[axis.index()]; blocks];
        let (method, _) = distributed::choose_method(None, axis, &ops, operators, &lengths);
        if method == Method::Transpose || ops.is_empty() {
            return Ok(None);
        }
        let distributed = ops.iter().map(|&op| {
            let operator = operators.get(axis, op);
            let (local, plan) = distributed::distribute(operator, &lengths, position, method)?;
            Ok(((op, local), (op, plan)))
        });
        let Ok((local, plans)) = distributed.collect::<Result<(Vec<_>, Vec<_>), String>>() else {
            return Ok(None);
        };
        let lines: usize = points.iter().product::<usize>() / points[axis.index()];
        let mut block = Self {
            program: place.program(&sweep.1, (axis, points, &LineOperators::along(axis, local)))?,
            planes: Vec::new(),
            steps: Vec::new(),
            operands: stages.iter().map(Vec::len).sum(),
            packed: 0,
            corrected: 0,
            combined: 0,
            values_sent: 0,
        };
        for (number, stage) in stages.iter().enumerate() {
            let plan = |op| plans.iter().find(|(of, _)| *of == op).map(|(_, plan)| plan);
            let plans: Vec<&Plan> = stage.iter().filter_map(|(op, ..)| plan(*op)).collect();
            let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
            let layout = Layout::new(&widths);
            block.planes.push(place.planes((layout.planes() * lines).max(1))?);
            for step in Joined::steps(&plans, &layout) {
                match step {
                    Joined::Combine(sums) => {
                        let sums = place.combination(lines, sums)?;
                        block.steps.push((number, Step::Combine(sums)));
                    }
                    Joined::Exchange(round) => {
                        if let Some((round, values_sent)) = cut.round(round, lines) {
                            block.values_sent += values_sent;
                            block.steps.push((number, Step::Exchange(round)));
                        }
                    }
                }
            }
        }
        let (ranks, total) = (Decomposition::along(axis, blocks), cut.total_points(points, axis));
        let counted = Sweeping::new((axis, &sweep.1), ranks, total, operators, Some(method));
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
