//! All ranks of a run: from the start of the program to its end.

use std::io::Write;
use std::sync::Arc;

use super::launcher::Launched;
use super::{Communicator, Solo};
use crate::error::{Result, refused};

/// All processes that were started with this one; [`Solo`], without any library, where it was started alone. To be
/// called once. A panic on one of many ranks ends all of them from then on. Dropping the last reference ends MPI, which
/// waits for all ranks.
///
/// # Errors
/// Where there is no MPI library, or the library does not fit the launcher or the program.
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

/// "rank 3 on node7", for what one of many ranks says by itself.
pub fn speaker(comm: &dyn Communicator) -> String {
    format!("rank {} on {}", comm.rank(), super::host())
}

fn start(launched: Launched) -> Result<Arc<dyn Communicator>> {
    let many = launched.size.map_or("several".into(), |size| size.to_string());
    let started = format!("{many} processes were started");
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
