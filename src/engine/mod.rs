//! The compact-derivative engine: operators `A f' = B f` along the axes of a grid.
//!
//! [`SweepBuilder`] builds the equations along one axis, [`LineOperators`] holds the factored operators of a grid, and
//! a backend runs a sweep with these operators.

mod accesses;
mod builder;
mod cost;
pub mod distributed;
mod expr;
mod formula;
mod merge;
mod metric;
mod operator;
mod operators;
mod reflection;
mod sweep;

pub use crate::real::Number;
pub(crate) use accesses::{Accesses, commute};
pub use builder::SweepBuilder;
pub(crate) use expr::Monomial;
pub use expr::{Expr, Value};
pub use formula::{Formula, PointFormula};
pub(crate) use formula::{Node, Planes, Symbol, Use};
pub use metric::{curved, stretched};
pub(crate) use operator::{EndRow, Stencil};
pub use operator::{LineOperator, Shift, closed_min_points};
pub use operators::LineOperators;
pub use reflection::closure_at;
pub(crate) use sweep::Operation;
pub use sweep::{Op, Sweep};
