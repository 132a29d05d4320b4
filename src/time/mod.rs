//! Time: Runge-Kutta steps, the size of a step, the run loop.

mod memory;
mod plan;
mod run;
mod simulation;
mod stepper;

pub(crate) use memory::{available_memory, check_device_memory, check_memory};
pub use plan::Plan;
pub use run::{Ending, run};
pub use simulation::{Phases, Simulation};
pub use stepper::Stepper;
