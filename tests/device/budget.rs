//! Resources of the sweeps of a stage as one kernel each, computed without a GPU: registers, on-chip memory and words moved. The table
//! is in docs/performance.md.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kolmo::backend::device::KernelRequest;
use kolmo::grid::{Axis, Block};
use kolmo::time::Parts;

use super::nvrtc::{Architecture, Compilers, REGISTERS, architectures, run};
use super::on_two_threads;
use crate::common::config;

/// The last sweep of a stage, which also stores the gradients for the next stage.
const LINK: &str = "c";
/// The sweeps of a stage along each axis, in the order in which a run requests them.
const SWEEPS: [&[&str]; 3] =
    [&["a"], &["gradients b", "b"], &["gradients c", LINK, "c, last stage"]];

/// Compute capabilities of the table.
const CAPABILITIES: [u32; 2] = [80, 90];
/// Bytes of on-chip memory that the system reserves for every thread block, and that no block may use of a multiprocessor (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
const SYSTEM: usize = 1 << 10;

/// (forms, settings that select them, points of a line)
type Line = (&'static str, &'static [&'static str], usize);

/// The lines of the table.
fn lines() -> Vec<Line> {
    let feiereisen = &["scheme.convection=feiereisen", "scheme.energy=split-enthalpy"];
    let penta = &["scheme.derivative=compact10-penta"];
    let mut lines: Vec<Line> = Vec::new();
    for n in [128, 256, 512, 1024, 132, 500] {
        lines.push(("default", &[], n));
    }
    // Fewer values are live: if the default forms fit, these do.
    lines.push(("Feiereisen", feiereisen, 1024));
    lines.push(("default, f32", &["compute.precision=f32"], 256));
    lines.push(("compact10-penta", penta, 128));
    lines
}

/// The kernels of the sweeps along one axis with `n` points; the other axes are short. Empty if not all sweeps are one kernel.
fn kernels(
    compilers: &Arc<Compilers>,
    on: Architecture,
    axis: Axis,
    (forms, set, n): Line,
) -> Vec<(&'static str, KernelRequest)> {
    let mut points = [16; 3];
    points[axis.index()] = n;
    let inner: usize = points[..axis.index()].iter().product();
    let is_along =
        move |kernel: &KernelRequest| is_of_a_stage(kernel) && number(kernel, "INNER") == inner;
    let (device, recording) = compilers.recording(on, is_along);
    run("taylor-green", points, set)(&device);
    let block = Block { start: [0; 3], points };
    let parts = Parts::of(&config("taylor-green", points, set), &block, Some(device.info()));
    let composed = recording.kernels().iter().any(|k| k.source.name.starts_with("products"));
    let description = parts.described();
    assert_eq!(
        description.contains("operators"),
        composed,
        "{forms}, {n} points along {axis:?}: {description}"
    );
    let mut sweeps = SWEEPS[axis.index()].to_vec();
    let found: Vec<_> = recording.kernels().into_iter().filter(is_along).collect();
    if axis == Axis::Z && found.len() + 1 == sweeps.len() {
        sweeps.retain(|sweep| *sweep != LINK);
    }
    // The link is one kernel if registers and on-chip memory can store all its values at 8 points per thread. Sm_80 has too little
    // on-chip memory for lines of 1024 points along z.
    let is_complete = found.len() == sweeps.len();
    assert!(
        is_complete || (axis == Axis::Z && n > 512 && on.number < 90),
        "{forms}, {n} points along {axis:?}: {}",
        found.len()
    );
    if is_complete { sweeps.into_iter().zip(found).collect() } else { Vec::new() }
}

/// Whether a kernel is a sweep that advances the state: such a sweep reads only fields that it also writes.
fn is_of_a_stage(kernel: &KernelRequest) -> bool {
    let fields = kernel.source.text.lines().find(|line| line.starts_with("#define FIELDS "));
    fields.is_some_and(|fields| !fields.contains("restrict r"))
}

/// The number that a kernel's text defines as `name`, or 0.
fn number(kernel: &KernelRequest, name: &str) -> usize {
    let head = format!("#define {name} ");
    let line = kernel.source.text.lines().find_map(|line| line.strip_prefix(&head));
    line.and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Words of device memory that a kernel moves per point: fields that it loads plus fields that it stores.
fn words(kernel: &KernelRequest) -> usize {
    let moved = |line: &str| {
        let (what, rest) = line.trim_start_matches("if (beta != 0) ").split_once('(')?;
        let field = rest.split(", ").nth(1)?.to_string();
        let is_stored = match what {
            "load" | "prefetch" | "PREFETCH_NEXT_TILE" => false,
            "store" => true,
            _ => return None,
        };
        field.starts_with(['r', 'w']).then_some((is_stored, field))
    };
    kernel.source.text.lines().filter_map(moved).collect::<BTreeSet<_>>().len()
}

#[test]
fn each_sweep_of_a_stage_is_one_kernel_without_register_spills() {
    let compilers = Compilers::new();
    let mut work = Vec::new();
    for on in architectures(&[90], &CAPABILITIES) {
        for line in lines() {
            work.extend(Axis::ALL.map(|axis| (on, line, axis)));
        }
    }
    // The assembler for sm_100 optimises where the others cannot (FORGET_INT of kernels/prelude.cu).
    let single: Line = ("default", &[], 256);
    work.extend(architectures(&[100], &[100]).into_iter().map(|on| (on, single, Axis::Y)));
    let found = on_two_threads(work, |&(on, line, axis)| {
        let kernels = kernels(&compilers, on, axis, line);
        kernels.into_iter().map(|(sweep, kernel)| (on, line, sweep, kernel)).collect::<Vec<_>>()
    });
    let rows = found.iter().flatten().map(|(on, (forms, _, n), sweep, kernel)| {
        let usage = &compilers.usages(*on, &kernel.source).unwrap()["fused"];
        let threads = kernel.threads.iter().product::<u32>();
        let registers = REGISTERS / (usage.registers.next_multiple_of(8) * threads);
        let blocks =
            ((on.on_chip + SYSTEM) / (kernel.on_chip + SYSTEM)).min(registers as usize);
        let [length, lanes] = ["LENGTH", "TX"].map(|name| number(kernel, name));
        let row = format!(
            "| {forms} | {n} | {sweep} | {} | {threads} | {length} | {lanes} | {} | {} | {} | {blocks} | {} |",
            on.number,
            kernel.on_chip,
            usage.registers,
            usage.spilled,
            words(kernel)
        );
        // The compiler counts the system's share as part of the kernel, and so does the driver if a block requests more.
        let starts = kernel.on_chip + SYSTEM <= on.on_chip;
        (row, usage.spilled > 0 || blocks == 0 || !starts)
    });
    let (table, wrong): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweeps.txt"), table.join("\n"))
        .unwrap();
    let wrong: Vec<_> = table.iter().zip(wrong).filter(|(_, wrong)| *wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
