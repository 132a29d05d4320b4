//! `compute.sweeps`: every key changes the kernels of a run as documented, and nothing else. The kernels are those that a run requests
//! from a recording GPU, which computes nothing.

use kolmo::backend::device::{Device, DeviceInfo, KernelRequest};

use super::nvrtc::run;
use super::runtime::gpu;

/// Bytes of on-chip memory of a thread block; a multiprocessor has 1 KiB more.
const ON_CHIP: usize = 232_448;

/// The fused sweeps of a run.
fn sweeps(points: [usize; 3], set: &'static [&'static str]) -> Vec<KernelRequest> {
    let info = DeviceInfo { memory: 80 << 30, largest_buffer: 80 << 30, on_chip: ON_CHIP, ..gpu() };
    let (device, recording) = Device::recording(info, |_| 0);
    run("taylor-green", points, set)(&device);
    let kernels = recording.kernels().into_iter();
    kernels.filter(|kernel| kernel.source.name == "fused sweep").collect()
}

/// The value that the text of a kernel defines as `name`; the last definition counts.
fn defined(kernel: &KernelRequest, name: &str) -> usize {
    let line = format!("#define {name} ");
    let value = kernel.source.text.lines().rev().find_map(|text| text.strip_prefix(&line));
    value.unwrap().parse().unwrap()
}

/// The values that all kernels define as `name`.
fn all(kernels: &[KernelRequest], name: &str) -> Vec<usize> {
    assert!(kernels.len() >= 5, "sweeps are missing: {}", kernels.len());
    kernels.iter().map(|kernel| defined(kernel, name)).collect()
}

#[test]
fn sweeps_points_sets_the_points_per_thread() {
    for (points, set) in [
        (4, &["compute.sweeps.points=4"]),
        (5, &["compute.sweeps.points=5"]),
        (6, &["compute.sweeps.points=6"]),
        (7, &["compute.sweeps.points=7"]),
        (8, &["compute.sweeps.points=8"]),
    ] {
        let kernels = sweeps([64; 3], set);
        assert!(all(&kernels, "LENGTH").iter().all(|length| *length == points), "{points} points");
        let chunks = 64_usize.div_ceil(points);
        assert!(all(&kernels, "CHUNKS").iter().all(|count| *count == chunks), "{points} points");
    }
    // An explicit value equal to the default gives the same kernel text.
    let explicit = sweeps([64; 3], &["compute.sweeps.points=8"]);
    let mut default = sweeps([64; 3], &[]);
    default.retain(|kernel| defined(kernel, "LENGTH") == 8);
    assert!(
        default.len() >= 5 && default.iter().all(|kernel| explicit.contains(kernel)),
        "the kernel text differs"
    );
}

#[test]
fn sweeps_lines_sets_the_lines_per_thread_block() {
    for (lines, set) in [
        (1, &["compute.sweeps.lines=1"]),
        (3, &["compute.sweeps.lines=3"]),
        (16, &["compute.sweeps.lines=16"]),
    ] {
        let kernels = sweeps([64, 60, 56], set);
        assert!(all(&kernels, "TX").iter().all(|count| *count == lines), "{lines} lines");
        for kernel in &kernels {
            assert_eq!(kernel.threads[0] as usize, lines * defined(kernel, "CHUNKS"));
        }
    }
}

#[test]
fn sweeps_resident_sets_resident_blocks_that_fit_on_chip_together() {
    for (resident, set) in [
        (1, &["compute.sweeps.resident=1"]),
        (2, &["compute.sweeps.resident=2"]),
        (3, &["compute.sweeps.resident=3"]),
    ] {
        for kernel in &sweeps([64; 3], set) {
            assert_eq!(defined(kernel, "RESIDENT"), resident);
            assert!(resident * (kernel.on_chip + 1024) <= ON_CHIP + 1024, "{}", kernel.on_chip);
        }
    }
    // A block alone on a multiprocessor has more registers per thread, so it parks fewer values on chip.
    let on_chip = |kernels: Vec<KernelRequest>| -> usize {
        kernels.iter().map(|kernel| kernel.on_chip).sum()
    };
    let [alone, together] = [
        sweeps([64; 3], &["compute.sweeps.resident=1"]),
        sweeps([64; 3], &["compute.sweeps.resident=3"]),
    ]
    .map(on_chip);
    assert_ne!(alone, together, "the number of registers does not follow `resident`");
}

#[test]
fn sweeps_early_and_turns_set_prefetching_and_tiles_per_block() {
    let early = |set| {
        let is_early = |kernel: &&KernelRequest| {
            let (_, sweep) = kernel.source.text.split_once("#define SWEEP").unwrap();
            sweep
                .lines()
                .take_while(|line| line.ends_with('\\'))
                .any(|line| line.contains("prefetch("))
        };
        sweeps([64; 3], set).iter().filter(is_early).count()
    };
    assert!(early(&[]) >= 4 && early(&["compute.sweeps.early=false"]) == 0);
    let in_turn = |kernels: &[KernelRequest]| {
        let is_in_turn = |kernel: &&KernelRequest| defined(kernel, "BLOCKS") < 1024;
        kernels.iter().filter(is_in_turn).count()
    };
    // With pentadiagonal operators no registers remain for tiles in turn.
    let [three, five]: [&[&str]; 2] = [
        &["compute.sweeps={ lines = 4, resident = 1 }"],
        &["compute.sweeps={ lines = 4, resident = 1 }", "scheme.derivative=compact10-penta"],
    ];
    assert!(in_turn(&sweeps([64; 3], three)) > 0);
    assert_eq!(in_turn(&sweeps([64; 3], five)), 0);
    for (turns, set) in [
        (1, &["compute.sweeps={ turns = 1, lines = 4, resident = 1 }"]),
        (2, &["compute.sweeps={ turns = 2, lines = 4, resident = 1 }"]),
        (3, &["compute.sweeps={ turns = 3, lines = 4, resident = 1 }"]),
    ] {
        let kernels = sweeps([64; 3], set);
        // 4096 lines are 1024 tiles. Each of the 132 multiprocessors runs the same number of blocks.
        let in_turn_by = 1024_usize.div_ceil(turns).next_multiple_of(132).min(1024);
        for kernel in &kernels {
            assert_eq!(defined(kernel, "TILES"), 1024);
            let blocks = defined(kernel, "BLOCKS");
            assert!([1024, in_turn_by].contains(&blocks), "{blocks}");
        }
        assert_eq!(in_turn(&kernels) > 0, turns > 1, "{turns} tiles in turn");
    }
}

#[test]
fn sweeps_link_sets_whether_the_last_sweep_links_stages() {
    let default = sweeps([64; 3], &[]).len();
    assert_eq!(sweeps([64; 3], &["compute.sweeps.link=true"]).len(), default);
    assert_eq!(sweeps([64; 3], &["compute.sweeps.link=false"]).len(), default - 1);
    // Lines in chunks of two lengths are linked only on request.
    let odd = sweeps([64, 64, 61], &[]).len();
    assert_eq!(odd, default - 1);
    assert_eq!(sweeps([64, 64, 61], &["compute.sweeps.link=true"]).len(), default);
}

#[test]
fn sweeps_are_not_fused_if_no_thread_block_meets_the_settings() {
    // 64 lines of 32 chunks are 2048 threads.
    assert!(sweeps([256; 3], &["compute.sweeps.lines=64"]).is_empty());
}
