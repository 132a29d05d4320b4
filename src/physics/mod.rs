//! The equations: what is solved, composed of operators along the axes.

mod advection;
mod collective;
mod convection;
mod diagnostics;
mod discretisation;
mod formulas;
mod gas;
mod navier_stokes;
mod reference;
mod slots;
mod stability;
mod step;
mod system;
mod viscosity;

pub use advection::Advection;
pub use gas::{Gas, Viscosity};
pub use navier_stokes::{NavierStokes, Part, composed_room, line_solves};
pub use reference::Reference;
pub use stability::Limits;
pub(crate) use step::StepParts;
pub use system::{Moment, System};
