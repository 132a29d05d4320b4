//! The steps from what blocks know of their own points to the inflow, on one rank.

use std::ops::Range;

/// Slots with a fixed meaning: groups of planes (one value a line) of one operand.
pub mod slot {
    /// Made by [`Ends`](super::Ends) from the first points of the operand: sent to the left at once.
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
pub struct Ends<T> {
    /// For the slots [`slot::TO_LEFT`], `TO_RIGHT`, `HEAD`, `TAIL`: the weights of every plane. Those of `TO_LEFT` and
    /// `HEAD` belong to the points 0, 1, ... of the block, those of `TO_RIGHT` and `TAIL` to its last points, the last
    /// weight to the last point.
    pub sources: [Vec<Vec<T>>; 4],
    /// What a unit of every plane of [`slot::LEFT`] adds to the result at the points 0, 1, ... .
    pub left: Vec<Vec<T>>,
    /// What a unit of every plane of [`slot::RIGHT`] adds to the result at the last points, the last value to the last.
    pub right: Vec<Vec<T>>,
}

impl<T> Ends<T> {
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
