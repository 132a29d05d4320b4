//! A run on what its configuration asks for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::course::{Ending, run_on};
use super::memory::{check_device_memory, check_memory};
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::device::{Api, Device, Gpu, choose, why_not_cuda};
use crate::comm::{Communicator, agree};
use crate::config::{self, Config, Precision};
use crate::error::{Error, Result};
use crate::grid::{Block, Decomposition};
use crate::io::FieldValues;
use crate::io::progress::tell;

/// Run `config` on the ranks of `comm` and write everything into `directory`, which is made, or freed of an older run, once
/// the initial state has been found sound; `log` is then told where the log goes. `stop` set to true on any rank ends the
/// run after the present step. Rank 0 alone writes and speaks, but for the pieces of fields. Collective.
///
/// # Errors
/// Where the initial state makes no sense; nothing is written then. Where the run diverges or a file cannot be written:
/// what was written before stays, and the report says what happened. All ranks return an error of the time before the
/// first step, and [`Error::Diverged`]; any other is of the one rank that returns it, and the others wait for that rank.
pub fn run(
    config: &Config,
    directory: &Path,
    log: impl Fn(&Path) -> Result<()>,
    stop: &Arc<AtomicBool>,
    comm: Arc<dyn Communicator>,
) -> Result<Ending> {
    let decomposition = decomposition(config, comm.size())?;
    let block = decomposition.block(comm.rank(), config.grid.points);
    let device = agree(&*comm, device(config, &block, &*comm))?;
    let (compute, len) = (&config.compute, block.len());
    let job = Job { config, directory, log, stop, comm, decomposition };
    match (device, compute.precision) {
        (None, Precision::F64) => job.on(Cpu::<f64>::new(compute.threads)),
        (None, Precision::F32) => job.on(Cpu::<f32>::new(compute.threads)),
        (Some(device), Precision::F64) => job.on(Gpu::<f64>::configured(device, len, compute)),
        (Some(device), Precision::F32) => job.on(Gpu::<f32>::configured(device, len, compute)),
    }
}

/// How the grid is spread over `ranks` ranks.
fn decomposition(_config: &Config, ranks: usize) -> Result<Decomposition> {
    // STUB: `compute.ranks`, or `Decomposition::choose` where it is `auto`.
    Ok(Decomposition { ranks: [1, 1, ranks] })
}

/// The device of this rank, on which its block has room; `None` is the host.
fn device(config: &Config, block: &Block, comm: &dyn Communicator) -> Result<Option<Arc<Device>>> {
    let compute = &config.compute;
    let say = |text: &str| {
        if comm.rank() == 0 {
            tell(text);
        }
    };
    let chosen = choose(compute)?;
    if compute.backend == config::Backend::Auto
        && !matches!(chosen, Some((Api::Cuda, _)))
        && let Some(reason) = why_not_cuda()
    {
        say(&format!("note: {reason}"));
    }
    let Some((api, index)) = chosen else {
        return check_memory(config, block, comm.local().1).map(|()| None);
    };
    let device = Device::open(api, index)?;
    check_device_memory(config, block, &device)?;
    say(&format!("on {}; its kernels are compiled first", device.info().name));
    Ok(Some(device))
}

/// What is asked for, whatever it runs on.
struct Job<'a, L> {
    config: &'a Config,
    directory: &'a Path,
    log: L,
    stop: &'a AtomicBool,
    comm: Arc<dyn Communicator>,
    decomposition: Decomposition,
}

impl<L: Fn(&Path) -> Result<()>> Job<'_, L> {
    /// Run on a backend for the block of this rank.
    fn on<B: Backend>(self, opened: Result<B>) -> Result<Ending>
    where
        FieldValues: From<Vec<B::Real>>,
    {
        let Self { config, directory, log, stop, comm, decomposition } = self;
        let own = agree(&*comm, opened)?;
        if comm.size() == 1 {
            return run_on(own, decomposition, config, directory, log, stop);
        }
        // STUB: let all = Ranks::new(own, comm, decomposition, &config.compute)?;
        //       run_on(all, decomposition, config, directory, log, stop)
        Err(Error::Device("several ranks are not there yet".to_string()))
    }
}
