//! Whether sweeps are kernels, in the blocks that `compute.sweeps` requests: determined before anything is computed.

use crate::backend::device::{DeviceInfo, IsKernel, is_kernel};
use crate::config::{Config, RightHandSide};
use crate::error::{Error, Result};
use crate::grid::{Axis, Block};
use crate::physics::{StagePart, sweeps_of_stages};

/// The passes and sweeps of stages along lines that are whole in `block`, and whether they are kernels; empty without a flow, or
/// where its equations are composed.
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
/// [`Error::Config`] where `compute.sweeps` requests blocks that no sweep of a stage can have on a device.
pub(crate) fn check_sweeps(config: &Config, block: &Block, on: &DeviceInfo) -> Result<()> {
    let requested = config.compute.sweeps;
    let named = |(name, value): (&str, Option<usize>)| Some(format!("{name} = {}", value?));
    let requested = [
        ("points", requested.points),
        ("lines", requested.lines),
        ("resident", requested.resident),
    ];
    let requested: Vec<_> = requested.into_iter().filter_map(named).collect();
    if requested.is_empty() {
        return Ok(());
    }
    let kernels = kernels(config, block, on);
    if kernels.is_empty() || kernels.iter().any(|(.., is)| *is != IsKernel::No) {
        return Ok(());
    }
    let what =
        format!("compute.sweeps: no sweep has blocks with {} on {}", requested.join(", "), on.name);
    let advice = format!(
        "a line of n points takes n/points threads; a block has {} threads and {} KiB on chip at most, and those that are resident \
         share as much; ask for less, or leave it to `auto`",
        on.block_threads,
        on.on_chip >> 10,
    );
    Err(Error::refused(what, &advice))
}

/// Which passes and sweeps are kernels, for the plan output; `None` where there are none.
pub(super) fn describe_sweeps(config: &Config, block: &Block, on: &DeviceInfo) -> Option<String> {
    let kernels = kernels(config, block, on);
    let is_unlinked = |(part, _, is): &&(StagePart, Axis, IsKernel)| {
        *part == StagePart::LinkedTerms && *is == IsKernel::No
    };
    let is_linked = !kernels.iter().any(|it| is_unlinked(&it));
    let list = |which: IsKernel, how: &str| {
        // Such a sweep is not run operator by operator.
        let of = kernels.iter().filter(|it| it.2 == which && !is_unlinked(it));
        let names: Vec<_> =
            of.map(|(part, axis, _)| format!("{} along {}", part.name(), axis.name())).collect();
        (!names.is_empty()).then(|| format!("{how}: {}", names.join(", ")))
    };
    let parts = [
        list(IsKernel::Yes, "a kernel each"),
        list(IsKernel::Perhaps, "a kernel each where registers suffice"),
        list(IsKernel::No, "operator by operator"),
        (!is_linked).then(|| "no sweep leaves gradients for the next stage".into()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::backend::device::Api;
    use crate::config::of_case;

    /// A device such as an H100.
    pub(in crate::time) fn gpu() -> DeviceInfo {
        DeviceInfo {
            api: Api::Cuda,
            index: 0,
            name: "a GPU".into(),
            driver: String::new(),
            is_gpu: true,
            memory: 80 << 30,
            largest_buffer: 80 << 30,
            on_chip: 232_448,
            block_threads: 1024,
            multiprocessors: 132,
            has_f64: true,
            has_async_copies: true,
        }
    }

    fn vortex(points: [usize; 3], set: &str) -> (Config, Block) {
        let set = format!("compute.sweeps={{ {set} }}");
        (of_case("taylor-green", points, &[set]).unwrap(), Block::whole(points))
    }

    #[test]
    fn plan_lists_the_sweeps_that_are_not_or_may_not_be_kernels() {
        let listed = |points, set: &str| {
            let (config, block) = vortex(points, set);
            describe_sweeps(&config, &block, &gpu()).unwrap()
        };
        let of_stage = "a kernel each: gradients along z, gradients along y, terms along x, terms along y, \
                        terms and gradients along z, terms along z";
        assert_eq!(listed([64; 3], ""), of_stage);
        let unlinked = listed([64; 3], "link = false");
        assert!(unlinked.ends_with("; no sweep leaves gradients for the next stage"), "{unlinked}");
        let odd = listed([64, 61, 64], "");
        assert!(odd.contains("a kernel each where registers suffice: gradients along y"), "{odd}");
        // With 26 chunks of 16 lines a thread has too few registers; with 13 it has enough.
        let some = listed([208, 104, 104], "lines = 16, points = 8");
        let (kernels, others) = some.split_once("; operator by operator: ").unwrap();
        assert!(kernels.contains("terms along y") && others.contains("terms along x"), "{some}");
    }

    #[test]
    fn impossible_sweep_blocks_are_rejected_with_the_device_limits() {
        let check = |set: &str| {
            let (config, block) = vortex([256; 3], set);
            check_sweeps(&config, &block, &gpu())
        };
        let error = check("lines = 64, resident = 2").unwrap_err().to_string();
        assert!(
            error.contains("no sweep has blocks with lines = 64, resident = 2 on a GPU"),
            "{error}"
        );
        assert!(error.contains("1024 threads and 227 KiB"), "{error}");
        for set in ["", "link = true", "lines = 4", "resident = 2", "points = 8"] {
            assert!(check(set).is_ok(), "{set}");
        }
    }
}
