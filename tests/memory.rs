//! The documented memory of a run matches the estimate of the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kolmo::backend::device::{Api, DeviceInfo};
use kolmo::grid::{Block, Decomposition};
use kolmo::scheme::{Form, TABLEAUX};
use kolmo::time::{Parts, message_bytes};

use crate::common::{config, root};

const POINTS: [usize; 3] = [256; 3];

fn device(is_gpu: bool) -> DeviceInfo {
    DeviceInfo {
        api: Api::Cuda,
        index: 0,
        name: "G".into(),
        driver: String::new(),
        is_gpu,
        memory: 139 << 30,
        largest_buffer: 139 << 30,
        on_chip: 232_448,
        block_threads: 1024,
        multiprocessors: 132,
        has_f64: true,
        has_async_copies: true,
    }
}

fn bytes_per_point(set: &[&str], split: bool, device: Option<&DeviceInfo>) -> f64 {
    let points = if split { [256, 256, 128] } else { POINTS };
    let block = Block { start: [0; 3], points };
    Parts::of(&config("taylor-green", POINTS, set), &block, device).bytes_per_point()
}

/// The names of the integrators by the number of rates that they store: 1 with 2N storage, otherwise the number of stages.
fn integrators() -> BTreeMap<usize, Vec<&'static str>> {
    let mut all: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for tableau in TABLEAUX {
        let rates = match tableau.form {
            Form::LowStorage { .. } => 1,
            Form::Butcher { b, .. } => b.len(),
        };
        all.entry(rates).or_default().push(tableau.name);
    }
    all
}

/// The table of the user guide.
fn table() -> String {
    let integrators = integrators();
    let mut text = String::from("| right-hand side, viscosity, lines, where |");
    for (rates, names) in &integrators {
        let kind = if *rates == 1 { "2N".into() } else { format!("{rates} stages") };
        let _ = write!(text, " {kind} (`{}`) |", names.join("` `"));
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(integrators.len()));
    let places = [("host", None), ("GPU", Some(true)), ("other device", Some(false))];
    for how in ["fused", "composed"] {
        for (viscosity, law) in [("constant", "constant"), ("variable", "sutherland")] {
            for (lines, split) in [("whole", false), ("split", true)] {
                for (place, is_gpu) in places {
                    let _ = write!(text, "| {how}, {viscosity}, {lines}, {place} |");
                    for names in integrators.values() {
                        let bytes = ["f64", "f32"].map(|precision| {
                            let set = [
                                format!("compute.right_hand_side={how}"),
                                format!("gas.viscosity={law}"),
                                format!("time.integrator={}", names[0]),
                                format!("compute.precision={precision}"),
                            ];
                            let set = set.each_ref().map(String::as_str);
                            bytes_per_point(&set, split, is_gpu.map(device).as_ref())
                        });
                        let _ = write!(text, " {}, {} |", bytes[0], bytes[1]);
                    }
                    text.push('\n');
                }
            }
        }
    }
    text
}

#[test]
fn user_guide_table_matches_the_memory_estimate() {
    let path = root().join("docs/user-guide.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let table = table();
    assert!(guide.contains(&table), "the program estimates\n{table}");
}

#[test]
fn vortex_takes_15_fields_also_on_a_gpu_if_every_sweep_is_fused() {
    let gpu = device(true);
    for place in [None, Some(&gpu)] {
        assert_eq!(bytes_per_point(&[], false, place), 15.0 * 8.0);
    }
    let long = |n: usize, on_chip: usize| {
        let config = config("taylor-green", [n; 3], &[]);
        let block = Block { start: [0; 3], points: config.grid.points };
        Parts::of(&config, &block, Some(&DeviceInfo { on_chip, ..gpu.clone() })).bytes_per_point()
    };
    // 120 GiB at 1024^3.
    assert_eq!(long(1024, gpu.on_chip), 15.0 * 8.0);
    assert!(
        long(1024, 163 << 10) > 15.0 * 8.0,
        "too little on-chip memory for a line and its values"
    );
    assert!(long(4096, gpu.on_chip) > 15.0 * 8.0, "lines too long for a thread block");
}

#[test]
fn operator_results_are_counted_if_a_sweep_is_not_fused() {
    let alone = bytes_per_point(&[], false, Some(&device(true)));
    for set in ["compute.line_solver=pcr", "compute.pencils=permuted"] {
        assert!(bytes_per_point(&[set], false, Some(&device(true))) > alone + 100.0, "{set}");
    }
    for set in ["compute.right_hand_side=composed", "scheme.derivative=compact10-penta"] {
        let host = bytes_per_point(&[set], false, None);
        assert_eq!(bytes_per_point(&[set], false, Some(&device(true))), host, "{set}");
    }
    assert!(
        bytes_per_point(&[], true, Some(&device(true))) > alone + 100.0,
        "lines split across ranks"
    );
    assert!(bytes_per_point(&[], false, Some(&device(false))) > alone + 100.0, "no GPU");
    let odd = config("taylor-green", [256, 255, 256], &[]);
    let block = Block { start: [0; 3], points: odd.grid.points };
    let odd = Parts::of(&odd, &block, Some(&device(true))).bytes_per_point();
    assert_eq!(odd, alone, "lines of an odd length");
    let prime = config("taylor-green", [256, 257, 256], &[]);
    let block = Block { start: [0; 3], points: prime.grid.points };
    let prime = Parts::of(&prime, &block, Some(&device(true))).bytes_per_point();
    assert!(prime > alone + 100.0, "lines that no chunks divide");
}

#[test]
fn memory_estimate_includes_the_exchange_buffers_of_ranks() {
    let set = ["compute.ranks=[2, 1, 1]", "compute.distributed=transpose", "compute.backend=cpu"];
    let text = kolmo::time::budget(&config("taylor-green", [16; 3], &set)).unwrap();
    assert!(text.contains("2 x 1 x 1, each with 8 x 16 x 16 points: 0.00 GiB"), "{text}");
    let large = config("taylor-green", [128; 3], &["compute.distributed=transpose"]);
    let cut = Decomposition { ranks: [2; 3] };
    let block = cut.block(0, large.grid.points);
    let fields = message_bytes(&large, cut, &block) / (8 * block.len()) as f64;
    // These buffers once took more than 900 fields, and the estimate ignored them.
    assert!((20.0..40.0).contains(&fields), "{fields} fields");
}
