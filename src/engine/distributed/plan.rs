//! The steps from what blocks know of their own points to the inflow, on one rank.

use std::ops::Range;

use super::matrix::Matrix;
use super::neighbour::{FROM_LEFT, FROM_RIGHT};
use crate::real::Real;

/// Slots with a fixed meaning: groups of planes (one value a line) of one operand.
pub mod slot {
    /// Made by [`BlockCoupling`](super::BlockCoupling) from the first points of the operand: sent to the left at once.
    pub const TO_LEFT: usize = 0;
    /// From the last points: sent to the right at once.
    pub const TO_RIGHT: usize = 1;
    /// From the first points, for this rank's own use.
    pub const HEAD: usize = 2;
    /// From the last points, for this rank's own use.
    pub const TAIL: usize = 3;
    /// The inflow from the left, when all steps are done.
    pub const LEFT: usize = 4;
    /// The inflow from the right.
    pub const RIGHT: usize = 5;
    /// The first slot that a plan may use as it likes.
    pub const FREE: usize = 6;
}

/// How the block of an operator is joined to its neighbours: what is taken from its operand, and what the inflow does to
/// its result.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCoupling<T = f64> {
    /// For the slots [`slot::TO_LEFT`], `TO_RIGHT`, `HEAD`, `TAIL`: the weights of every plane. Those of `TO_LEFT` and
    /// `HEAD` belong to the points 0, 1, ... of the block, those of `TO_RIGHT` and `TAIL` to its last points, the last
    /// weight to the last point.
    pub sources: [Vec<Vec<T>>; 4],
    /// What a unit of every plane of [`slot::LEFT`] adds to the result at the points 0, 1, ... .
    pub left: Vec<Vec<T>>,
    /// What a unit of every plane of [`slot::RIGHT`] adds to the result at the last points, the last value to the last.
    pub right: Vec<Vec<T>>,
}

impl BlockCoupling {
    /// With numbers of the format `T`.
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
    /// Planes of each slot with a fixed meaning.
    pub fn widths(&self) -> [usize; slot::FREE] {
        let [a, b, c, d] = self.sources.each_ref().map(Vec::len);
        [a, b, c, d, self.left.len(), self.right.len()]
    }
}

/// One message: consecutive slots, which lie side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other block, counted along the axis.
    pub peer: usize,
    /// What is sent, or where to put what comes.
    pub slots: Range<usize>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Slot `to` = Σ matrix × slot. `to` is none of those that are read.
    Combine {
        /// The slot that is made.
        to: usize,
        /// (slot, matrix): the matrix has a row for every plane of `to` and a column for every plane of that slot.
        terms: Vec<(usize, Vec<Vec<f64>>)>,
    },
    /// One round of messages: all are sent and received before the next step.
    Exchange {
        /// What goes out; at most one message to each peer.
        send: Vec<Message>,
        /// What comes in.
        receive: Vec<Message>,
    },
}

/// What one rank does to find the inflow of its block. Plans of one method for one decomposition have the same steps for
/// every operator, with matrices of other shapes: they can be carried out together, all planes for a peer in one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Planes of every slot, those with a fixed meaning first. A slot may have none.
    pub widths: Vec<usize>,
    /// In order.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Nothing yet, with the slots of a fixed meaning.
    pub(super) fn new(ends: &BlockCoupling) -> Self {
        Self { widths: ends.widths().to_vec(), steps: Vec::new() }
    }

    pub(super) fn slot(&mut self, width: usize) -> usize {
        self.widths.push(width);
        self.widths.len() - 1
    }

    /// Slot `to` = Σ matrix × slot; slots without planes are left out.
    pub(super) fn combine(&mut self, to: usize, terms: &[(usize, Matrix)]) {
        for (from, matrix) in terms {
            let shape = [matrix.rows, matrix.columns];
            assert_eq!(shape, [self.widths[to], self.widths[*from]], "a term of slot {to}");
        }
        let terms = terms.iter().filter(|(from, _)| self.widths[*from] > 0);
        let terms = terms.map(|(from, matrix)| (*from, matrix.nested())).collect();
        self.steps.push(Step::Combine { to, terms });
    }

    /// Send slots to a block, and receive slots from one.
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

    /// Exchange with the neighbours what was made for them: one message to each, and one in all where both are the same
    /// block.
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
