//! Operators whose lines are split across ranks: A f' = B f, where each rank holds a block of neighbouring points.
//!
//! A block alone is a banded system: A and B without the entries that reach out of it. The neighbours' points enter its
//! first and last few right-hand sides as *interface values* z from the left and from the right, with one plane per row
//! that reaches out. By linearity
//! ```text
//! f' = A_k⁻¹ B_k f + C_left z_left + C_right z_right
//! ```
//! with columns C of A_k⁻¹ that decay away from the ends. The methods differ in how they find the interface values from
//! the messages between blocks. All of these operations are linear and the same on every line, so a method is a
//! [`Plan`]: a list of small constant matrices applied to planes (one value per line), and of messages. Where a block
//! is too short for a method, or A has no pivot there, functions return the error message for the user.

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

/// Returns the block at `position` of a line that is split into blocks of `lengths` points, and the plan by which its
/// rank finds the interface values of the block.
///
/// # Errors
/// If blocks are too short for the method; the message names methods that work.
///
/// # Panics
/// If `lengths` do not make up a line of the operator in two or more blocks, and for [`Method::Transpose`], which
/// splits no lines.
pub fn distribute(
    operator: &LineOperator,
    lengths: &[usize],
    position: usize,
    method: Method,
) -> Result<(LineOperator, Plan), String> {
    let mut blocks = distribute_at(operator, lengths, &[position], method)?;
    Ok(blocks.swap_remove(0))
}

/// Calls [`distribute`] for each of `positions`; quantities common to all blocks of a line are computed once.
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

/// Minimum number of points of an inner block for `method`.
pub fn shortest(operator: &LineOperator, method: Method) -> usize {
    match method {
        Method::Neighbour => neighbour::reach(operator),
        Method::Transpose => 1,
        _ => block::fewest(operator, Shape { points: 0, first: false, last: false }),
    }
}

/// Chooses the method for lines of `operators` split into blocks of `lengths` points: [`Method::Neighbour`] where it is
/// exact to round-off for all of them, else [`Method::Pcr`].
///
/// # Errors
/// If blocks are too short for both methods.
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

/// Chooses the solver for all of `ops` on lines of `lengths` points per rank, and gives the reason: the requested
/// method, else that of [`choose`], else whole lines where blocks are too short for any other method.
pub(crate) fn choose_method(
    requested: Option<Method>,
    axis: Axis,
    ops: &[Op],
    operators: &LineOperators,
    lengths: &[usize],
) -> (Method, &'static str) {
    let own = ops.iter().map(|op| operators.get(axis, *op));
    let auto = choose(own, lengths).unwrap_or(Method::Transpose);
    // A filter reaches farther than the derivatives beside it: a request for `neighbour` refers to the derivatives.
    let too_far = ops == [Op::Filter] && auto != Method::Neighbour;
    match (requested, auto) {
        (Some(Method::Neighbour), _) if too_far => (auto, "they reach farther than a block"),
        (Some(method), _) => (method, "as asked"),
        (None, Method::Neighbour) => (auto, "they reach less far than a block"),
        (None, _) => (auto, "they reach farther than a block"),
    }
}

/// Solution method for lines that are split across ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One message to each neighbour; exact to round-off where blocks are longer than the reach of the inverse of A.
    Neighbour,
    /// Parallel cyclic reduction of one separator per rank (Song et al. 2022, §3 and §4).
    Pcr,
    /// The reduced system of Mattor et al. (1995) gathered on one rank.
    Gather,
    /// Whole lines by an all-to-all transpose, and back.
    Transpose,
    /// Elimination from the first rank to the last, and back substitution.
    Chain,
}

impl Method {
    /// All methods, in the order of the documentation.
    pub const ALL: [Method; 5] =
        [Method::Neighbour, Method::Pcr, Method::Gather, Method::Transpose, Method::Chain];

    /// Name in an input file.
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
