//! The directory of a run's checkpoints.

use std::fs;
use std::path::{Path, PathBuf};

use super::Checkpoint;
use super::files::{REPLACED, discard, remove};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::io::directory::{entries, step};
use crate::io::{refused, with_ending};

/// The checkpoint of a step in `directory`.
pub fn path(directory: &Path, step: u64) -> PathBuf {
    directory.join(format!("step_{step:08}.zarr"))
}

/// Refuse a directory below which no checkpoint can be written: names in Zarr must be UTF-8.
///
/// # Errors
/// Where its name is not UTF-8.
pub fn check_name(directory: &Path) -> Result<()> {
    match directory.to_str() {
        Some(_) => Ok(()),
        None => Err(refused(
            format!("{directory:?} is not UTF-8, and no checkpoint can be written below it"),
            "choose another name",
        )),
    }
}

/// Steps of the checkpoints in `directory`, the newest first; their soundness is not checked.
pub fn steps(directory: &Path) -> Vec<u64> {
    let mut steps: Vec<u64> = entries(directory).iter().filter_map(|path| step_of(path)).collect();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    steps
}

/// [`steps`] as rank 0 sees the directory, on all ranks: a file system may show other ranks an older state. Collective.
pub fn steps_on_all(comm: &dyn Communicator, directory: &Path) -> Vec<u64> {
    from_rank_0(comm, || steps(directory))
}

/// The result of `steps` on rank 0, on all ranks. Collective.
fn from_rank_0(comm: &dyn Communicator, steps: impl FnOnce() -> Vec<u64>) -> Vec<u64> {
    let own = if comm.rank() == 0 { steps() } else { Vec::new() };
    let first = comm.broadcast(0, own.into_iter().flat_map(u64::to_le_bytes).collect());
    first.as_chunks().0.iter().map(|&step| u64::from_le_bytes(step)).collect()
}

/// The step in the name of a checkpoint; `None` for other names.
pub(super) fn step_of(checkpoint: &Path) -> Option<u64> {
    let name = checkpoint.file_name()?.to_str()?;
    step(name.strip_suffix(".zarr")?)
}

/// Complete the interrupted renaming of a checkpoint in `directory` after a kill, and remove unfinished or partly removed
/// checkpoints, where the run `owns` them.
pub fn tidy(directory: &Path, owns: impl Fn(&Path) -> bool) -> Result<()> {
    for path in entries(directory).into_iter().filter(|path| owns(path)) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(".zarr.part") {
            remove(&path)?;
        } else if name.ends_with(REPLACED) {
            let final_path = path.with_extension("");
            match final_path.exists() {
                true => remove(&path)?,
                false => fs::rename(&path, &final_path).map_err(Error::io(&path))?,
            }
        }
    }
    Ok(())
}

/// Remove all checkpoints in `directory` except the newest `keep`, once the newest is found readable, where the run `owns` them
/// on rank 0. Collective.
///
/// # Errors
/// On all ranks, where the newest cannot be read; none is removed in this case.
pub fn prune(
    comm: &dyn Communicator,
    directory: &Path,
    keep: usize,
    owns: impl Fn(&Path) -> bool,
) -> Result<()> {
    let own = |step: &u64| owns(&path(directory, *step));
    let all = from_rank_0(comm, || steps(directory).into_iter().filter(own).collect());
    let Some(newest) = all.first() else { return Ok(()) };
    Checkpoint::open(comm, &path(directory, *newest))?;
    let older = &all[keep.min(all.len())..];
    let discard_older = || older.iter().try_for_each(|step| discard(&path(directory, *step)));
    all_or_error(comm, if comm.rank() == 0 { discard_older() } else { Ok(()) })
}

/// Rename the checkpoint of `step` so that no run continues from it, with `why` added; returns the new name.
pub fn set_aside(directory: &Path, step: u64, why: &str) -> Result<PathBuf> {
    let path = path(directory, step);
    let named = |number: usize| match number {
        1 => with_ending(&path, &format!(".{why}")),
        _ => with_ending(&path, &format!(".{why}-{number}")),
    };
    let free = (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1));
    fs::rename(&path, &free).map_err(Error::io(&path))?;
    Ok(free)
}
