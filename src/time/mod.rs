//! Time integration: Runge-Kutta steps, step size, run loop.

mod arrays;
mod budget;
mod deadline;
mod implicit;
mod initial;
mod largest;
mod machine_memory;
mod memory;
mod outlook;
mod output;
mod output_schedule;
mod pictures;
mod plan;
mod profile;
mod rejections;
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
mod sweep_blocks;
mod task;
mod tuning;

use crate::comm::{Communicator, all_or_error};
use crate::error::Result;

pub use budget::budget;
pub(crate) use machine_memory::available_memory;
pub use memory::{Parts, message_bytes};
pub(crate) use memory::{check_device_memory, check_memory};
pub use run::{decomposition, run};
pub use run_loop::run_on;
pub use simulation::{Phases, Simulation};
pub use statistics::Statistics;
pub use stepper::Stepper;
pub(crate) use sweep_blocks::check_sweeps;
pub use task::{Ending, Origin, Requests, Task};

/// The result of `work` on rank 0, `None` on the others. Collective.
///
/// # Errors
/// The error of `work`, on all ranks.
fn on_first<T>(comm: &dyn Communicator, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    all_or_error(comm, (comm.rank() == 0).then(work).transpose())
}
