//! All ranks of a run: from the start of the program to its end.

use std::io::Write;
use std::sync::Arc;

use super::launcher::Launched;
use super::{Communicator, Solo};
use crate::error::{Error, Result};

/// All processes that were started with this one; [`Solo`], without any library, where it was started alone. To be
/// called once. A panic on one of many ranks ends all of them from then on. Dropping the last reference ends MPI, which
/// waits for all ranks.
///
/// # Errors
/// Where this program was built without MPI, or the library does not fit the launcher or the program.
pub fn world() -> Result<Arc<dyn Communicator>> {
    let Some(launched) = Launched::here() else { return Ok(Arc::new(Solo)) };
    let world = start(launched)?;
    end_all_on_panic(&world);
    Ok(world)
}

/// Whether it is for this process to speak where [`world`] has failed: rank 0 as the launcher counts.
pub fn is_first() -> bool {
    Launched::here().is_none_or(|launched| launched.rank == 0)
}

/// Name and version of the MPI library; `None` in a program without MPI.
pub fn library() -> Option<String> {
    #[cfg(feature = "mpi")]
    let library = Some(super::mpi::library());
    #[cfg(not(feature = "mpi"))]
    let library = None;
    library
}

/// "rank 3 on node7", for what one of many ranks says by itself.
pub fn speaker(comm: &dyn Communicator) -> String {
    format!("rank {} on {}", comm.rank(), super::host())
}

#[cfg(feature = "mpi")]
fn start(launched: Launched) -> Result<Arc<dyn Communicator>> {
    let world = super::mpi::Mpi::start()?;
    match launched.size {
        Some(size) if world.size() == 1 => Err(refusal(
            &format!(
                "{size} processes were started, and {} does not see that they belong together",
                super::mpi::library()
            ),
            "use its own mpirun, or `srun --mpi=pmix`; `srun --mpi=list` lists what Slurm has",
        )),
        _ => Ok(Arc::new(world)),
    }
}

#[cfg(not(feature = "mpi"))]
fn start(launched: Launched) -> Result<Arc<dyn Communicator>> {
    match launched {
        Launched { rank: 0, size: None } => Ok(Arc::new(Solo)),
        Launched { size, .. } => {
            let size = size.map_or("many".to_string(), |size| size.to_string());
            Err(refusal(
                &format!("started as {size} ranks, and this program was built without MPI"),
                "start one, or build it with `cargo install --path . --features mpi`",
            ))
        }
    }
}

/// A mistake of how the program was started.
pub(super) fn refusal(what: &str, advice: &str) -> Error {
    Error::Config(vec![format!("error: {what}"), format!("       {advice}")])
}

/// Where one of many ranks panics the others would wait for its messages for ever.
fn end_all_on_panic(world: &Arc<dyn Communicator>) {
    // What the hook holds is never dropped, and the last reference has to be.
    let world = Arc::downgrade(world);
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        print(what);
        if let Some(world) = world.upgrade() {
            let _ = writeln!(std::io::stderr(), "error: {} panicked", speaker(&*world));
            world.abort(101);
        }
    }));
}
