//! Time: Runge-Kutta steps, the size of a step, the run loop.

mod agenda;
mod budget;
mod close;
mod course;
mod deadline;
mod files;
mod largest;
mod machine_memory;
mod memory;
mod outlook;
mod output;
mod plan;
mod refusals;
pub mod restart;
mod run;
mod sample;
mod saved;
mod saving;
mod simulation;
mod statistics;
mod stepper;
mod task;
mod tuning;

pub use budget::budget;
pub use course::run_on;
pub(crate) use machine_memory::available_memory;
pub use memory::{Parts, for_messages};
pub(crate) use memory::{check_device_memory, check_memory};
pub use plan::Plan;
pub use run::{decomposition, run};
pub use simulation::{Phases, Simulation};
pub use statistics::Statistics;
pub use stepper::Stepper;
pub use task::{Ending, Origin, Requests, Task};
