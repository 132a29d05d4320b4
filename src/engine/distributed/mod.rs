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
//! small constant matrices applied to planes (one value a line), and of messages.

use super::LineOperator;
use crate::real::Real;

mod layout;
mod plan;
mod pointwise;

pub use layout::Layout;
pub(crate) use layout::Starts;
pub use plan::{Ends, Message, Plan, Step, slot};
pub(crate) use pointwise::{Parts, Source};

/// How lines that are spread over ranks are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Stub.
pub(crate) fn distribute<T: Real>(
    _: &LineOperator<T>,
    _: &[usize],
    _: usize,
    _: Method,
) -> Result<(LineOperator<T>, Plan), String> {
    Err("not yet".into())
}

/// Stub.
pub(crate) fn choose<T: Real>(_: &[&LineOperator<T>], _: &[usize]) -> Method {
    Method::Transpose
}
