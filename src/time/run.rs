//! A run on the backend and the ranks that its configuration requests.

use std::path::Path;
use std::sync::Arc;

use super::memory::{can_tune, check_device_memory, check_memory, check_output_memory};
use super::on_first;
use super::run_loop::run_on;
use super::sweep_blocks::check_sweeps;
use super::task::{Ending, Origin, Requests, Task};
use super::tuning::tuned;
use crate::backend::device::{Api, Device, choose, why_not_cuda};
use crate::backend::ranks::Ranks;
use crate::backend::{ComputeConfig, on_device, on_host};
use crate::comm::placement::Placement;
use crate::comm::{Communicator, all_or_error};
use crate::config::{self, Config};
use crate::error::Result;
use crate::grid::{Block, Decomposition};
use crate::io::progress::tell;
use crate::model::{Rates, fastest};

/// Run `config` from `origin` on the ranks of `comm` and write all output to `directory`. The directory is created, or cleared of
/// an older run, once the initial state is found valid; where the run in it continues, output is appended to the existing files.
/// `log` then receives the path of the log. A request in `requests` on any rank holds for all. Only rank 0 writes and prints,
/// except for the pieces of fields and checkpoints. Collective.
///
/// # Errors
/// Where the initial state is invalid; nothing is written in this case. Where the run diverges or a file cannot be written:
/// previous output stays, and the report describes the failure. All ranks return an error that occurs before the first step, and
/// [`crate::Error::Diverged`]; any other error is returned by one rank only, and the others wait for that rank.
pub fn run(
    config: &Config,
    directory: &Path,
    origin: Origin,
    log: &dyn Fn(&Path) -> Result<()>,
    requests: &Requests,
    comm: Arc<dyn Communicator>,
) -> Result<Ending> {
    let chosen = all_or_error(&*comm, choose(&config.compute, comm.local().0))?;
    let (decomposition, message) = decomposition(config, &*comm, chosen.is_some())?;
    let block = decomposition.block(comm.rank(), config.grid.points);
    let device = all_or_error(&*comm, device(config, decomposition, &block, &*comm, chosen))?;
    let compute = &config.compute;
    let placement = Placement::find(&*comm, compute.threads);
    if comm.size() > 1 {
        let name = device.as_ref().map(|device| device.info().name.as_str());
        if let Some(text) = placement.described(&*comm, name) {
            tell(&format!("{text}\n{message}"));
        }
    }
    let task = Task { config, directory, origin, decomposition, requests };
    let device_can_tune = |device: &Arc<Device>| can_tune(config, &block, device.info());
    let tunes = compute.tune && device.as_ref().is_none_or(device_can_tune);
    let share = ComputeConfig { threads: Some(placement.threads), ..compute.clone() };
    let open = |len| match &device {
        None => on_host(&share, placement.pins()),
        Some(device) => on_device(device.clone(), len, compute),
    };
    let own = match tunes {
        true => tuned(open, config, &block, comm.rank() == 0),
        false => open(block.len()),
    };
    let own = all_or_error(&*comm, own)?;
    if comm.size() == 1 {
        return run_on(own.into(), task, log);
    }
    let ranks = Ranks::new(own, comm.clone(), decomposition, compute);
    run_on(Arc::new(all_or_error(&*comm, ranks)?), task, log)
}

/// Partition of the grid over the ranks of `comm`: as requested, else the fastest according to the model, which only rank 0
/// evaluates, and a message about it. Collective.
///
/// # Errors
/// On all ranks, where the grid cannot be partitioned in this way.
pub fn decomposition(
    config: &Config,
    comm: &dyn Communicator,
    device: bool,
) -> Result<(Decomposition, String)> {
    let found = on_first(comm, || choose_decomposition(config, comm.size(), device))?;
    let (found, message) = found.unwrap_or((Decomposition::ONE, String::new()));
    let numbers = found.ranks.iter().flat_map(|ranks| ranks.to_ne_bytes()).collect();
    let numbers = comm.broadcast(0, numbers);
    let mut numbers = numbers.as_chunks().0.iter().map(|bytes| usize::from_ne_bytes(*bytes));
    let ranks = [(); 3].map(|()| numbers.next().unwrap_or(1));
    Ok((Decomposition { ranks }, message))
}

fn choose_decomposition(
    config: &Config,
    ranks: usize,
    device: bool,
) -> Result<(Decomposition, String)> {
    let points = config.grid.points;
    let describe = |one: Decomposition, why: &str| {
        let [px, py, pz] = one.ranks;
        (one, format!("{ranks} ranks, {px} x {py} x {pz} along x, y, z: {why}"))
    };
    if let Some(requested) = config.compute.ranks {
        return Decomposition::requested(requested, ranks, points)
            .map(|one| describe(one, "as asked"));
    }
    if ranks == 1 {
        return Ok(describe(Decomposition::ONE, "all"));
    }
    let rates = if device { Rates::h200() } else { Rates::core() };
    let (best, seconds) = fastest(config, ranks, &rates)?;
    let source = rates.source;
    Ok(describe(
        best,
        &format!("the fastest by `kolmo model`, {seconds:.1e} s per step ({source})"),
    ))
}

/// The device of this rank, if its block fits in the device's memory; `None` is the host.
fn device(
    config: &Config,
    decomposition: Decomposition,
    block: &Block,
    comm: &dyn Communicator,
    chosen: Option<(Api, usize)>,
) -> Result<Option<Arc<Device>>> {
    let compute = &config.compute;
    let report = |text: &str| {
        if comm.rank() == 0 {
            tell(text);
        }
    };
    if compute.backend == config::Backend::Auto
        && !matches!(chosen, Some((Api::Cuda, _)))
        && let Some(reason) = why_not_cuda()
    {
        report(&format!("note: {reason}"));
    }
    let Some((api, index)) = chosen else {
        return check_memory(config, decomposition, block, comm.local().1).map(|()| None);
    };
    let device = Device::open(api, index)?;
    check_sweeps(config, block, device.info())?;
    check_device_memory(config, decomposition, block, &device)?;
    check_output_memory(config, block, comm.local().1)?;
    report(&format!("on {}; its kernels are compiled first", device.info().name));
    Ok(Some(device))
}
