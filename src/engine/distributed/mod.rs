//! Operators whose lines are spread over ranks: A f' = B f, each rank holding a block of neighbouring points.
//!
//! A block alone is a banded system of its own: A and B without what reaches out of it. What the neighbours' points do
//! to it enters its first and last few right-hand sides: the *inflow* z from the left and from the right, of as many
//! planes as rows reach out. By linearity
//! ```text
//! f' = A_k⁻¹ B_k f + C_left z_left + C_right z_right
//! ```
//! with columns C of A_k⁻¹ that decay away from the ends. The methods differ in how the inflow is found from what the
//! blocks send each other; all of that is linear and the same on every line, so that a method is a [`Plan`]: a list of
//! small constant matrices applied to planes (one value a line), and of messages. Where a block is too short for a method, or A has
//! no pivot there, functions return the sentence that the user is told.

mod block;
mod chain;
mod functional;
mod gather;
mod halo;
mod kinds;
mod layout;
mod matrix;
mod neighbour;
pub mod pcr;
mod plan;
mod pointwise;
mod separators;
mod two_port;

pub(crate) use kinds::kinds;
pub use layout::Layout;
pub(crate) use layout::PlaneOffsets;
pub use plan::{BlockCoupling, Message, Plan, Step, slot};
pub(crate) use pointwise::{Batch, Parts, Source};

use crate::engine::{LineOperator, LineOperators, Op};
use crate::grid::Axis;
use block::{Line, Shape};

/// The block at `position` of a line that is cut into blocks of `lengths` points, and what its rank does to find the
/// inflow of the block.
///
/// # Errors
/// A sentence where blocks are too short for the method, naming methods that will do.
///
/// # Panics
/// Where `lengths` is not a line of the operator in two or more blocks, and for [`Method::Transpose`], which cuts no
/// lines.
pub fn distribute(
    operator: &LineOperator,
    lengths: &[usize],
    position: usize,
    method: Method,
) -> Result<(LineOperator, Plan), String> {
    let mut blocks = distribute_at(operator, lengths, &[position], method)?;
    Ok(blocks.swap_remove(0))
}

/// [`distribute`] for each of `positions`. What all blocks of a line have in common is found once.
pub(crate) fn distribute_at(
    operator: &LineOperator,
    lengths: &[usize],
    positions: &[usize],
    method: Method,
) -> Result<Vec<(LineOperator, Plan)>, String> {
    let line = Line::new(operator, lengths)?;
    match method {
        Method::Neighbour => neighbour::distribute(&line, positions),
        Method::Pcr => pcr::distribute(&line, positions),
        Method::Gather => positions.iter().map(|&k| gather::distribute(&line, k)).collect(),
        Method::Chain => chain::distribute(&line, positions),
        Method::Transpose => panic!("transpose moves whole lines: there are no blocks"),
    }
}

/// The fewest points of an inner block that `method` takes.
pub fn shortest(operator: &LineOperator, method: Method) -> usize {
    match method {
        Method::Neighbour => neighbour::reach(operator),
        Method::Transpose => 1,
        _ => block::fewest(operator, Shape { points: 0, first: false, last: false }),
    }
}

/// The method for lines of `operators` cut into blocks of `lengths` points: [`Method::Neighbour`] where it is exact to
/// round-off for all of them, else [`Method::Pcr`].
///
/// # Errors
/// A sentence where blocks are too short for either.
pub fn choose<'a>(
    operators: impl IntoIterator<Item = &'a LineOperator>,
    lengths: &[usize],
) -> Result<Method, String> {
    let mut method = Method::Neighbour;
    for operator in operators {
        if !neighbour::reaches_no_further(&Line::new(operator, lengths)?) {
            method = Method::Pcr;
        }
    }
    Ok(method)
}

/// How lines of `lengths` points a rank are solved for all of `ops` together, and why: as was asked for, else by [`choose`],
/// and by whole lines where blocks are too short for anything else.
pub(crate) fn settle(
    asked: Option<Method>,
    axis: Axis,
    ops: &[Op],
    operators: &LineOperators,
    lengths: &[usize],
) -> (Method, &'static str) {
    let own = ops.iter().map(|op| operators.get(axis, *op));
    let auto = choose(own, lengths).unwrap_or(Method::Transpose);
    // A filter reaches farther than the derivatives beside it: who asks for `neighbour` means those.
    let too_far = ops == [Op::Filter] && auto != Method::Neighbour;
    match (asked, auto) {
        (Some(Method::Neighbour), _) if too_far => (auto, "they reach farther than a block"),
        (Some(method), _) => (method, "as asked"),
        (None, Method::Neighbour) => (auto, "they reach less far than a block"),
        (None, _) => (auto, "they reach farther than a block"),
    }
}

/// How lines that are spread over ranks are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One message to each neighbour; exact to round-off where blocks are longer than the inverse of A reaches.
    Neighbour,
    /// Parallel cyclic reduction of one separator a rank (Song et al. 2022, §3 and §4).
    Pcr,
    /// The reduced system of Mattor et al. (1995) gathered on one rank.
    Gather,
    /// Whole lines by an all-to-all, and back.
    Transpose,
    /// Elimination from the first rank to the last, and back.
    Chain,
}

impl Method {
    /// All, in the order of the documentation.
    pub const ALL: [Method; 5] =
        [Method::Neighbour, Method::Pcr, Method::Gather, Method::Transpose, Method::Chain];

    /// Its name in an input.
    pub fn name(self) -> &'static str {
        match self {
            Method::Neighbour => "neighbour",
            Method::Pcr => "pcr",
            Method::Gather => "gather",
            Method::Transpose => "transpose",
            Method::Chain => "chain",
        }
    }
}
