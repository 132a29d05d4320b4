//! Time: Runge-Kutta steps, the size of a step, the run loop.

mod close;
mod course;
mod memory;
mod output;
mod plan;
mod run;
mod simulation;
mod stepper;

pub use course::{Ending, run_on};
pub(crate) use memory::{available_memory, check_device_memory, check_memory};
pub use plan::Plan;
pub(crate) use run::decomposition;
pub use run::run;
pub use simulation::{Phases, Simulation};
pub use stepper::Stepper;
