//! The checkpoints of a run, one beside the other.

use std::fs;
use std::path::{Path, PathBuf};

use super::Checkpoint;
use super::files::remove;
use crate::comm::{Communicator, agree};
use crate::error::{Error, Result};

/// The checkpoint of a step in `directory`.
pub fn path(directory: &Path, step: u64) -> PathBuf {
    directory.join(format!("step_{step:08}.zarr"))
}

/// Steps of which `directory` holds checkpoints, the newest first; whether they are sound is not looked at.
pub fn steps(directory: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let step = |name: &str| -> Option<u64> {
        let step = name.strip_prefix("step_")?.strip_suffix(".zarr")?.parse().ok()?;
        // Not what somebody called differently.
        path(directory, step).ends_with(name).then_some(step)
    };
    let mut steps: Vec<u64> =
        entries.flatten().filter_map(|entry| step(entry.file_name().to_str()?)).collect();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    steps
}

/// Put right what a run that was killed while it gave a checkpoint its name left in `directory`, and remove what was never
/// finished.
///
/// # Errors
/// What the system says.
pub fn tidy(directory: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.ends_with(".zarr.part") {
            remove(&path)?;
        } else if name.ends_with(".zarr.old") {
            let whole = path.with_extension("");
            match whole.exists() {
                true => remove(&path)?,
                false => fs::rename(&path, &whole).map_err(Error::io(&path))?,
            }
        }
    }
    Ok(())
}

/// Remove all checkpoints in `directory` but the newest `keep`, once the newest is found readable. Collective.
///
/// # Errors
/// On all ranks, where the newest cannot be read; none is removed then.
pub fn prune(comm: &dyn Communicator, directory: &Path, keep: usize) -> Result<()> {
    let all = comm.broadcast(0, serde_json::to_vec(&steps(directory)).unwrap_or_default());
    let all: Vec<u64> = serde_json::from_slice(&all).unwrap_or_default();
    let Some(newest) = all.first() else { return Ok(()) };
    Checkpoint::open(comm, &path(directory, *newest))?;
    let clear =
        || all[keep.min(all.len())..].iter().try_for_each(|step| remove(&path(directory, *step)));
    agree(comm, if comm.rank() == 0 { clear() } else { Ok(()) })
}

/// Give the checkpoint of `step` a name by which no run goes on from it, with `why` added; returns that name.
///
/// # Errors
/// What the system says.
pub fn set_aside(directory: &Path, step: u64, why: &str) -> Result<PathBuf> {
    let path = path(directory, step);
    let named = |number: usize| {
        let mut name = path.clone().into_os_string();
        name.push(format!(".{why}"));
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    let free = (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1));
    fs::rename(&path, &free).map_err(Error::io(&path))?;
    Ok(free)
}
