//! Time: Runge-Kutta steps, the size of a step, the run loop.

mod agenda;
mod budget;
mod close;
mod course;
mod deadline;
mod files;
mod memory;
mod output;
mod plan;
pub mod restart;
mod run;
mod sample;
mod saved;
mod saving;
mod simulation;
mod stepper;
mod tuning;

pub use budget::budget;
pub use course::{Ending, Origin, Requests, Task, run_on};
pub use memory::Parts;
pub(crate) use memory::{available_memory, check_device_memory, check_memory};
pub use plan::Plan;
pub(crate) use run::decomposition;
pub use run::run;
pub use simulation::{Phases, Simulation};
pub use stepper::Stepper;
