//! The equations: what is solved, composed of operators along the axes, and the same terms in fused sweeps.

mod advection;
mod collective;
mod convection;
mod diagnostics;
mod discretisation;
mod formulas;
mod fused;
mod gas;
mod navier_stokes;
mod reference;
mod schedule;
mod slots;
mod stability;
mod step;
mod system;
mod viscosity;

pub use advection::Advection;
pub(crate) use formulas::AddScaled;
pub use gas::{Gas, Viscosity};
pub use navier_stokes::{NavierStokes, Part};
pub use reference::Reference;
pub use stability::Limits;
pub(crate) use step::StepParts;
pub use step::{composed_room, words_of_stage};
pub(crate) use system::add_scaled;
pub use system::{Moment, Stage, System};
