//! Whether sweeps are kernels, in the blocks that `compute.sweeps` asks for: found before anything is computed.

use crate::backend::device::{DeviceInfo, IsKernel, is_kernel};
use crate::config::{Config, RightHandSide};
use crate::error::{Error, Result};
use crate::grid::{Axis, Block};
use crate::physics::{StagePart, sweeps_of_stages};

/// The passes and sweeps of stages along lines that are whole in `block`, and whether they are kernels; none without a flow, or where its
/// equations are composed.
fn kernels(config: &Config, block: &Block, on: &DeviceInfo) -> Vec<(StagePart, Axis, IsKernel)> {
    if !config.case.is_flow() || config.compute.right_hand_side == RightHandSide::Composed {
        return Vec::new();
    }
    let (compute, points) = (&config.compute, block.points);
    let whole = |axis: Axis| points[axis.index()] == config.grid.points[axis.index()];
    let (sweeps, operators) = sweeps_of_stages(&config.problem(), block);
    let whole = sweeps.iter().filter(|(_, axis, _)| whole(*axis));
    let each = whole.map(|(part, axis, sweep)| {
        (*part, *axis, is_kernel(on, compute, sweep, *axis, points, &operators))
    });
    each.collect()
}

/// # Errors
/// [`Error::Config`] where `compute.sweeps` asks for blocks that no sweep of a stage can have on a device.
pub(crate) fn check_sweeps(config: &Config, block: &Block, on: &DeviceInfo) -> Result<()> {
    let asked = config.compute.sweeps;
    let named = |(name, value): (&str, Option<usize>)| Some(format!("{name} = {}", value?));
    let asked = [("points", asked.points), ("lines", asked.lines), ("resident", asked.resident)];
    let asked: Vec<_> = asked.into_iter().filter_map(named).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let kernels = kernels(config, block, on);
    if kernels.is_empty() || kernels.iter().any(|(.., is)| *is != IsKernel::No) {
        return Ok(());
    }
    let what =
        format!("compute.sweeps: no sweep has blocks with {} on {}", asked.join(", "), on.name);
    let advice = format!(
        "a line of n points takes n/points threads; a block has {} threads and {} KiB on chip at most, and those that are resident \
         share as much; ask for less, or leave it to `auto`",
        on.block_threads,
        on.on_chip >> 10,
    );
    Err(Error::refused(what, &advice))
}

/// Which passes and sweeps are kernels, for a plan; `None` where there are none.
pub(super) fn told(config: &Config, block: &Block, on: &DeviceInfo) -> Option<String> {
    let kernels = kernels(config, block, on);
    let list = |which: IsKernel, how: &str| {
        let of = kernels.iter().filter(|(.., is)| *is == which);
        let names: Vec<_> =
            of.map(|(part, axis, _)| format!("{} along {}", part.name(), axis.name())).collect();
        (!names.is_empty()).then(|| format!("{how}: {}", names.join(", ")))
    };
    let said = [
        list(IsKernel::Yes, "a kernel each"),
        list(IsKernel::Perhaps, "a kernel each where registers suffice"),
        list(IsKernel::No, "no kernel"),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}
