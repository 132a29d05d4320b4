//! The steps on one rank from its own points to the interface values of its block.

use std::ops::Range;

use super::matrix::Matrix;
use super::neighbour::{FROM_LEFT, FROM_RIGHT};
use crate::real::Real;

/// Slots with a fixed meaning: groups of planes (one value per line) of one operand.
pub mod slot {
    /// Computed by [`BlockCoupling`](super::BlockCoupling) from the first points of the operand: sent to the left at
    /// once.
    pub const TO_LEFT: usize = 0;
    /// Computed from the last points: sent to the right at once.
    pub const TO_RIGHT: usize = 1;
    /// Computed from the first points, for this rank's own use.
    pub const HEAD: usize = 2;
    /// Computed from the last points, for this rank's own use.
    pub const TAIL: usize = 3;
    /// The interface values from the left, when all steps are done.
    pub const LEFT: usize = 4;
    /// The interface values from the right.
    pub const RIGHT: usize = 5;
    /// The first slot that a plan may use freely.
    pub const FREE: usize = 6;
}

/// Coupling of the block of an operator to its neighbours: weighted sums of its operand, and corrections of its result
/// by the interface values.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCoupling<T = f64> {
    /// Weights of every plane for the slots [`slot::TO_LEFT`], `TO_RIGHT`, `HEAD`, `TAIL`. Those of `TO_LEFT` and
    /// `HEAD` belong to the points 0, 1, ... of the block, those of `TO_RIGHT` and `TAIL` to its last points, the last
    /// weight to the last point.
    pub sources: [Vec<Vec<T>>; 4],
    /// Contribution of a unit value in every plane of [`slot::LEFT`] to the result at the points 0, 1, ... .
    pub left: Vec<Vec<T>>,
    /// Contribution of a unit value in every plane of [`slot::RIGHT`] to the result at the last points, the last entry
    /// at the last point.
    pub right: Vec<Vec<T>>,
}

impl BlockCoupling {
    /// Converts all numbers to the format `T`.
    pub fn rounded<T: Real>(&self) -> BlockCoupling<T> {
        let planes = |planes: &Vec<Vec<f64>>| -> Vec<Vec<T>> {
            planes.iter().map(|plane| plane.iter().map(|x| T::of(*x)).collect()).collect()
        };
        BlockCoupling {
            sources: self.sources.each_ref().map(planes),
            left: planes(&self.left),
            right: planes(&self.right),
        }
    }
}

impl<T> BlockCoupling<T> {
    /// Number of planes of each slot with a fixed meaning.
    pub fn widths(&self) -> [usize; slot::FREE] {
        let [a, b, c, d] = self.sources.each_ref().map(Vec::len);
        [a, b, c, d, self.left.len(), self.right.len()]
    }
}

/// One message: consecutive slots, contiguous in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other block, counted along the axis.
    pub peer: usize,
    /// Slots that are sent, or that receive the message.
    pub slots: Range<usize>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Slot `to` = Σ matrix × slot. `to` is not among the slots that are read.
    Combine {
        /// The slot that is computed.
        to: usize,
        /// (slot, matrix): the matrix has one row per plane of `to` and one column per plane of that slot.
        terms: Vec<(usize, Vec<Vec<f64>>)>,
    },
    /// One round of messages: all are sent and received before the next step.
    Exchange {
        /// Outgoing messages; at most one to each peer.
        send: Vec<Message>,
        /// Incoming messages.
        receive: Vec<Message>,
    },
}

/// The work of one rank to find the interface values of its block. Plans of one method for one decomposition have the
/// same steps for every operator, with matrices of other shapes: they can be executed together, with all planes for a
/// peer in one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Number of planes of every slot, those with a fixed meaning first. A slot may have none.
    pub widths: Vec<usize>,
    /// Steps in order.
    pub steps: Vec<Step>,
}

impl Plan {
    /// An empty plan with the slots of a fixed meaning.
    pub(super) fn new(ends: &BlockCoupling) -> Self {
        Self { widths: ends.widths().to_vec(), steps: Vec::new() }
    }

    pub(super) fn slot(&mut self, width: usize) -> usize {
        self.widths.push(width);
        self.widths.len() - 1
    }

    /// Append slot `to` = Σ matrix × slot; slots without planes are omitted.
    pub(super) fn combine(&mut self, to: usize, terms: &[(usize, Matrix)]) {
        for (from, matrix) in terms {
            let shape = [matrix.rows, matrix.columns];
            assert_eq!(shape, [self.widths[to], self.widths[*from]], "a term of slot {to}");
        }
        let terms = terms.iter().filter(|(from, _)| self.widths[*from] > 0);
        let terms = terms.map(|(from, matrix)| (*from, matrix.nested())).collect();
        self.steps.push(Step::Combine { to, terms });
    }

    /// Append an exchange: send slots to blocks, and receive slots from blocks.
    pub(super) fn exchange(
        &mut self,
        send: Vec<(usize, Range<usize>)>,
        receive: Vec<(usize, Range<usize>)>,
    ) {
        let messages = |list: Vec<(usize, Range<usize>)>| {
            list.into_iter().map(|(peer, slots)| Message { peer, slots }).collect()
        };
        self.steps.push(Step::Exchange { send: messages(send), receive: messages(receive) });
    }

    /// Exchange the slots `TO_LEFT` and `TO_RIGHT` with the neighbours: one message to each, or a single one where both
    /// are the same block.
    pub(super) fn meet(&mut self, left: Option<usize>, right: Option<usize>) {
        if let (Some(left), Some(right)) = (left, right)
            && left == right
        {
            let send = vec![(left, slot::TO_LEFT..slot::TO_RIGHT + 1)];
            return self.exchange(send, vec![(right, FROM_RIGHT..FROM_LEFT + 1)]);
        }
        let both = |to_left: usize, to_right: usize| {
            let one = |peer: Option<usize>, at: usize| peer.map(|peer| (peer, at..at + 1));
            one(left, to_left).into_iter().chain(one(right, to_right)).collect()
        };
        self.exchange(both(slot::TO_LEFT, slot::TO_RIGHT), both(FROM_LEFT, FROM_RIGHT));
    }
}
