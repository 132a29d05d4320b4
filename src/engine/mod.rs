//! The compact-derivative engine: operators `A f' = B f` along the axes of a grid.
//!
//! [`SweepBuilder`] writes the equations along one axis, [`LineOperators`] holds the factored operators of a grid, and a
//! backend runs the one with the other.

pub mod distributed;
mod formula;
mod operator;
mod operators;
mod sweep;

pub use formula::{Formula, Number};
pub(crate) use formula::{Node, Symbol, trace};
pub(crate) use operator::EndRow;
pub use operator::{LineOperator, Shift, closed_min_points};
pub use operators::LineOperators;
pub use sweep::{Expr, Op, Sweep, SweepBuilder, Value};
pub(crate) use sweep::{Monomial, Operation};
