//! The compact-derivative engine: operators `A f' = B f` along the axes of a grid.
//!
//! [`SweepBuilder`] writes the equations along one axis, [`LineOperators`] holds the factored operators of a grid, and a
//! backend runs the one with the other.

pub mod distributed;
mod expr;
mod formula;
mod operator;
mod operators;
mod sweep;

pub(crate) use expr::Monomial;
pub use expr::{Expr, Value};
pub use formula::{Formula, Number};
pub(crate) use formula::{Map, Node, OnRows, Symbol, abreast, trace};
pub(crate) use operator::{EndRow, Stencil};
pub use operator::{LineOperator, Shift, closed_min_points};
pub use operators::LineOperators;
pub(crate) use sweep::{Accesses, Operation, commute};
pub use sweep::{Op, Sweep, SweepBuilder};
