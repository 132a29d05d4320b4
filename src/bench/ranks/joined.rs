//! The block of a sweep on a rank between two others, without the others.

use std::ops::Range;

use crate::backend::ranks::Joined;
use crate::bench::place::Place;
use crate::engine::distributed::{self, Layout, Method, Plan};
use crate::engine::{LineOperators, Op, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Decomposition};
use crate::model::{Lines, Step, Sweeping};

/// Blocks of a line: the middle one has two neighbours.
const BLOCKS: usize = 3;

/// A sweep over the middle block of lines, and what it works with.
pub(super) struct Block<P: Place> {
    pub(super) program: P::Program,
    /// Of every stage.
    pub(super) planes: Vec<P::Field>,
    /// (stage, sums) in order.
    pub(super) combinations: Vec<(usize, P::Combination)>,
    /// (stage, values) that come in messages.
    pub(super) incoming: Vec<(usize, Range<usize>)>,
    /// Operators.
    pub(super) operands: usize,
    /// Values at the ends of operands that planes are made of.
    pub(super) packed: usize,
    /// Values of results that inflow is added to, once for every plane.
    pub(super) corrected: usize,
    /// Values of planes that sums read and write.
    pub(super) combined: usize,
    /// Values of the largest message to one neighbour.
    pub(super) message: usize,
}

/// Points of [`BLOCKS`] blocks along `axis`.
pub(super) fn line_of_blocks(mut points: [usize; 3], axis: Axis) -> [usize; 3] {
    points[axis.index()] *= BLOCKS;
    points
}

impl<P: Place> Block<P> {
    /// That of `points` points; `operators` are those of a grid of [`line_of_blocks`]. `None` where blocks are too short for
    /// any method but `transpose`.
    pub(super) fn new(
        place: &P,
        sweep: &(Axis, Sweep),
        points: [usize; 3],
        operators: &LineOperators<P::Real>,
    ) -> Result<Option<Self>> {
        let (axis, applied) = (sweep.0, sweep.1.stages());
        let a = axis.index();
        let mut ops: Vec<Op> = applied.iter().flatten().map(|(op, ..)| *op).collect();
        ops.sort_unstable_by_key(|op| *op as usize);
        ops.dedup();
        let lengths = [points[a]; BLOCKS];
        let (method, _) = distributed::settle(None, axis, &ops, operators, &lengths);
        if method == Method::Transpose || ops.is_empty() {
            return Ok(None);
        }
        let mut of_ops = Vec::new();
        for &op in &ops {
            let Ok((local, plan)) =
                distributed::distribute(operators.get(axis, op), &lengths, 1, method)
            else {
                return Ok(None);
            };
            of_ops.push((op, local, plan));
        }
        let lines: usize = points.iter().product::<usize>() / points[a];
        let (mut planes, mut combinations, mut incoming) = (Vec::new(), Vec::new(), Vec::new());
        for (number, stage) in applied.iter().enumerate() {
            let plan = |op: Op| of_ops.iter().filter(move |of| of.0 == op).map(|of| &of.2);
            let plans: Vec<&Plan> = stage.iter().flat_map(|(op, ..)| plan(*op)).collect();
            let widths: Vec<_> = plans.iter().map(|plan| plan.widths.clone()).collect();
            let layout = Layout::new(&widths);
            planes.push(place.planes((layout.planes() * lines).max(1))?);
            for at in 0..plans[0].steps.len() {
                match Joined::new(&plans, &layout, at) {
                    Joined::Combine(sums) => {
                        combinations.push((number, place.combination(lines, sums)?));
                    }
                    Joined::Exchange(round) => {
                        incoming.extend(round.receive.iter().map(|part| {
                            (number, part.values.start * lines..part.values.end * lines)
                        }))
                    }
                }
            }
        }
        let blocks = of_ops.into_iter().map(|(op, local, _)| (op, local)).collect();
        let program = place.program(&sweep.1, axis, points, &LineOperators::along(axis, blocks))?;
        let mut block = Self {
            program,
            planes,
            combinations,
            incoming,
            operands: applied.iter().map(Vec::len).sum(),
            packed: 0,
            corrected: 0,
            combined: 0,
            message: 0,
        };
        let mut ranks = [1; 3];
        ranks[a] = BLOCKS;
        let whole = line_of_blocks(points, axis);
        let counted = Sweeping::new(sweep, Decomposition { ranks }, whole, operators, Some(method));
        if let Ok(Sweeping { lines: Lines::Blocks { positions, .. }, .. }) = counted {
            for stage in &positions[1] {
                block.packed += stage.packed * lines;
                block.corrected += stage.corrected * lines;
                for step in &stage.steps {
                    match step {
                        Step::Combine(planes) => block.combined += planes * lines,
                        Step::Exchange { send, .. } => {
                            let most = send.iter().map(|(_, planes)| planes * lines).max();
                            block.message = block.message.max(most.unwrap_or(0));
                        }
                    }
                }
            }
        }
        Ok(Some(block))
    }
}
