//! All ranks of a run, from program start to end.

use std::io::Write;
use std::sync::Arc;

use super::launcher::Launched;
use super::{Communicator, Solo};
use crate::error::{Result, refused};

/// Returns all processes started together with this one; [`Solo`], without any library, if it was started alone. Call it
/// once. From then on a panic on one of many ranks ends all ranks. Dropping the last reference finalizes MPI, which waits
/// for all ranks.
///
/// # Errors
/// If there is no MPI library, or the library does not fit the launcher or the program.
pub fn world() -> Result<Arc<dyn Communicator>> {
    let Some(launched) = Launched::detect() else { return Ok(Arc::new(Solo)) };
    let world = start(launched)?;
    abort_all_on_panic(&world);
    Ok(world)
}

/// Whether this process reports the error if [`world`] has failed: rank 0 by the launcher's count.
pub fn is_first() -> bool {
    Launched::detect().is_none_or(|launched| launched.rank == 0)
}

/// "rank 3 on node7": prefix of messages from one of many ranks.
pub fn rank_label(comm: &dyn Communicator) -> String {
    format!("rank {} on {}", comm.rank(), super::host())
}

fn start(launched: Launched) -> Result<Arc<dyn Communicator>> {
    let count = launched.size.map_or("several".into(), |size| size.to_string());
    let started = format!("{count} processes were started");
    let world = super::mpi::start(&started)?;
    if world.size() == 1 && (launched.size.is_some() || launched.rank > 0) {
        let library = super::mpi::library().unwrap_or_default();
        return Err(refused(
            format!("{started}, and {library} does not see that they belong together"),
            "use its own mpirun or `srun --mpi=pmix` (`srun --mpi=list` lists what Slurm has), or name the launcher's library in \
             KOLMO_MPI_LIBRARY",
        ));
    }
    Ok(world)
}

/// Ends all ranks if one panics: the others would wait for its messages for ever.
fn abort_all_on_panic(world: &Arc<dyn Communicator>) {
    // The hook is never dropped, but the last reference must be.
    let world = Arc::downgrade(world);
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        if let Some(world) = world.upgrade() {
            let _ = writeln!(std::io::stderr(), "error: {} panicked", rank_label(&*world));
            world.abort(101);
        }
    }));
}
