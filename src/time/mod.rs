//! Time: Runge-Kutta steps, the size of a step, the run loop.

mod arrays;
mod budget;
mod deadline;
mod initial;
mod largest;
mod machine_memory;
mod memory;
mod outlook;
mod output;
mod output_schedule;
mod plan;
mod refusals;
pub mod restart;
mod run;
mod run_checkpoints;
mod run_files;
mod run_loop;
mod sample;
mod simulation;
mod simulation_checkpoint;
mod statistics;
mod stepper;
mod summary;
mod task;
mod tuning;

pub use budget::budget;
pub(crate) use machine_memory::available_memory;
pub use memory::{Parts, for_messages};
pub(crate) use memory::{check_device_memory, check_memory};
pub use plan::Plan;
pub use run::{decomposition, run};
pub use run_loop::run_on;
pub use simulation::{Phases, Simulation};
pub use statistics::Statistics;
pub use stepper::Stepper;
pub use task::{Ending, Origin, Requests, Task};
