//! `kolmo bench`: its output is complete, consistent and correct. The tests do not check speed.

use std::process::Command;

use serde_json::Value;

use crate::common::{program, root};

/// Keys of every result.
const KEYS: [&str; 15] = [
    "name",
    "axis",
    "points",
    "scheme",
    "method",
    "backend",
    "threads",
    "precision",
    "bytes_per_point",
    "ns_per_point",
    "gb_per_s",
    "time_over_copy",
    "error",
    "repeats",
    "copy_gb_per_s",
];

/// Exit code, standard output, standard error of `kolmo bench`.
fn bench(arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(program());
    let output = command.arg("bench").args(arguments.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The JSON of a bench that must succeed, after the checks that all benches share.
fn report(arguments: &str) -> Value {
    let (code, out, err) = bench(&format!("{arguments} --repeats 3 --json"));
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments}");
    let report: Value = serde_json::from_str(&out).unwrap();
    for key in ["version", "cpu", "cores", "threads", "simd", "device"] {
        assert!(report["machine"].get(key).is_some(), "{arguments}: no {key}");
    }
    assert!(report["failures"].as_array().unwrap().is_empty());
    let size = if arguments.contains("f32") { 4.0 } else { 8.0 };
    let copy = &report["copy"];
    assert_eq!(copy["bytes_per_point"], 2.0 * size);
    assert_close(number(&copy["gb_per_s"]), 2.0 * size / number(&copy["ns_per_point"]["min"]));
    for row in rows(&report) {
        for key in KEYS {
            assert!(row.get(key).is_some(), "{arguments}: no {key}");
        }
        let (ns, copy) = (&row["ns_per_point"], number(&row["copy_gb_per_s"]));
        assert!(0.0 < number(&ns["min"]) && number(&ns["min"]) <= number(&ns["median"]));
        let bytes = number(&row["bytes_per_point"]);
        assert_close(number(&row["gb_per_s"]), bytes / number(&ns["min"]));
        let timed = row.get("ns_per_point_stage").unwrap_or(ns);
        assert_close(number(&row["time_over_copy"]), number(&timed["min"]) * copy / (2.0 * size));
        assert_eq!(row["repeats"], 3);
        let tolerance = match size {
            8.0 => 1e-12,
            _ => 1e-5,
        };
        if !row["error"].is_null() {
            assert!(number(&row["error"]) < tolerance, "{arguments}: {row}");
        }
    }
    report
}

fn rows(report: &Value) -> &Vec<Value> {
    report["results"].as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} and {b} differ");
}

/// One value of every result, as text.
fn column<'a>(report: &'a Value, key: &str) -> Vec<&'a str> {
    rows(report).iter().map(|row| row[key].as_str().unwrap_or("none")).collect()
}

#[test]
fn copies_are_exact_on_the_host_and_on_a_device() {
    let host = report("copy --points 16 --backend cpu --threads 2");
    assert_eq!(column(&host, "method"), ["ordinary-stores", "copy_from_slice"]);
    assert_eq!((&rows(&host)[0]["threads"], &rows(&host)[0]["error"]), (&2.into(), &0.0.into()));
    let device = report("copy --points 17x5x3 --backend opencl --precision f32");
    assert_eq!(column(&device, "method"), ["kernel", "driver"]);
    assert_eq!(column(&device, "backend"), ["opencl"; 2]);
    assert!(device["machine"]["device"]["name"].is_string());
    // If the device is not a GPU, the report must say so.
    let cpu = device["machine"]["device"]["is_gpu"] == false;
    let noted = device["notes"].to_string().contains("say nothing of a GPU");
    assert_eq!(cpu, noted);
}

#[test]
fn derivatives_are_correct_along_every_axis_on_every_backend() {
    for backend in ["cpu", "opencl"] {
        let cube = report(&format!("derivative --points 16 --backend {backend}"));
        assert_eq!(column(&cube, "axis"), ["x", "y", "z"]);
        assert_eq!(column(&cube, "scheme"), ["compact6"; 3]);
        let closed = "--ends closed --scheme compact10-penta";
        let flat = report(&format!("derivative --points 17x19x1 {closed} --backend {backend}"));
        assert_eq!(column(&flat, "axis"), ["x", "y"]);
        assert_eq!(column(&flat, "ends"), ["closed"; 2]);
        let single = format!("derivative --points 16 --axis z --precision f32 --backend {backend}");
        let single = report(&single);
        assert_eq!(
            (column(&single, "axis"), column(&single, "precision")),
            (vec!["z"], vec!["f32"])
        );
    }
    let permuted = report("derivative --points 16 --axis y --pencils permuted --backend opencl");
    assert_eq!(column(&permuted, "pencils"), ["permuted"]);
}

#[test]
fn every_line_solver_is_measured_or_listed_as_left_out() {
    use kolmo::backend::device::LineSolver;
    for ends in ["periodic", "closed"] {
        let report = report(&format!("lines --points 32x8x1 --backend opencl --ends {ends}"));
        let measured = column(&report, "method");
        assert!(measured.contains(&"thomas") && measured.contains(&"chunked"), "{measured:?}");
        let notes = report["notes"].to_string();
        for solver in LineSolver::ALL.map(LineSolver::name) {
            let left_out = notes.contains("left out:") && notes.contains(solver);
            assert!(measured.contains(&solver) || left_out, "{solver} is missing: {notes}");
        }
    }
    let host = report("lines --points 32,31x3x1 --backend cpu");
    let on_host = [
        "thomas",
        "cr",
        "cr-sorted-direct",
        "cr-sorted-stepwise",
        "pcr",
        "neato-shared",
        "pcr-banded",
    ];
    assert_eq!(column(&host, "method"), [on_host, on_host].concat());
    assert!(host["notes"].to_string().contains("`chunked` is not available on the CPU"));
    assert_eq!(rows(&host)[7]["points"], serde_json::json!([31, 3, 1]));
    let one = report("lines --points 16 --backend opencl --method chunked");
    assert_eq!(column(&one, "method"), ["chunked"]);
}

#[test]
fn permutations_to_every_axis_order_are_exact() {
    for backend in ["cpu", "opencl"] {
        let all = report(&format!("permute --points 17x16x5 --backend {backend}"));
        assert_eq!(column(&all, "order"), ["xzy", "yxz", "yzx", "zxy", "zyx"]);
        assert!(rows(&all).iter().all(|row| row["error"] == 0.0));
    }
    let one = report("permute --points 16 --order zyx --backend cpu");
    assert_eq!(column(&one, "order"), ["zyx"]);
}

/// 65 steps on 2^18 points are more than the host repeats for comparison.
#[test]
fn step_bench_checks_one_more_step_if_the_host_cannot_repeat_them_all() {
    let step = "step --points 512x512x1 --backend cpu --precision f32 --repeats 61 --json";
    let (code, out, _) = bench(step);
    let report: Value = serde_json::from_str(&out).unwrap();
    let error = number(&rows(&report)[0]["error"]);
    assert!(code == Some(0) && error > 0.0 && error < 1e-6, "{out}");
    // Whether a single step filters depends on the number of steps before it.
    let filter = bench(&format!("{step} --set scheme.filter={{order=6,every=2}}")).1;
    assert!(filter.contains("too many to repeat on the host"), "{filter}");
}

#[test]
fn step_bench_compares_devices_with_the_host_and_reports_phase_times() {
    let device = report("step --points 16 --backend opencl");
    let row = &rows(&device)[0];
    // 74 words per point and stage, six stages.
    assert_eq!(number(&row["bytes_per_point"]), 74.0 * 8.0 * 6.0);
    let stage = number(&row["ns_per_point_stage"]["min"]);
    assert_close(6.0 * stage, number(&row["ns_per_point"]["min"]));
    assert!(row["error"].is_number(), "{row}");
    let host = report("step --points 16 --backend cpu --set scheme.convection=feiereisen");
    let row = &rows(&host)[0];
    assert!(row["error"].is_null());
    assert!(host["notes"].to_string().contains("itself the reference"));
    assert!(number(&row["phases"]["right-hand sides and updates"]) > 0.0);
}

/// Detects a sweep that is left out or counted wrongly, a stage that is not the sum of its sweeps, and sweeps that change the state.
#[test]
fn every_sweep_of_a_stage_is_timed_separately() {
    let host = report("sweeps --points 16 --backend cpu");
    assert_eq!(column(&host, "axis"), ["z", "y", "x", "y", "z", "z"]);
    let [gradients, terms] = ["gradients", "terms"];
    let last = "terms and gradients";
    assert_eq!(column(&host, "sweep"), [gradients, gradients, terms, terms, last, terms]);
    assert_eq!(column(&host, "stages"), ["first", "all", "all", "all", "all but last", "last"]);
    let of = |report: &Value, key: &str| -> Vec<Value> {
        rows(report).iter().map(|row| row[key].clone()).collect()
    };
    assert_eq!(of(&host, "words"), [7, 6, 23, 19, 26, 23].map(Value::from));
    assert_eq!(of(&host, "bytes_per_point"), [56, 48, 184, 152, 208, 184].map(Value::from));
    assert_eq!(of(&host, "links"), [false, false, false, false, true, false].map(Value::from));
    assert!(rows(&host).iter().all(|row| row["kernel"].is_null()));
    assert!(host["notes"].to_string().contains("a stage: 74 words, "), "{}", host["notes"]);
    let device = report("sweeps --points 16 --backend opencl");
    assert_eq!(of(&device, "words"), [7, 6, 23, 19, 23].map(Value::from));
    assert!(rows(&device).iter().all(|row| row["error"].is_number() && row["kernel"].is_null()));
    let inviscid = report("sweeps --points 16x12x1 --backend cpu --set case.reynolds=inf");
    assert_eq!(column(&inviscid, "sweep"), [terms, terms]);
}

#[test]
fn sweeps_with_requested_block_sizes_are_fused_and_correct() {
    let sizes = "--set compute.sweeps.points=4 --set compute.sweeps.lines=8";
    let explicit = "--set scheme.derivative=explicit4";
    let report = report(&format!("sweeps --points 20x24x1 --backend opencl {explicit} {sizes}"));
    assert_eq!(column(&report, "axis"), ["y", "x", "y", "y"]);
    for row in rows(&report) {
        let kernel = &row["kernel"];
        let (n, lines) = if row["axis"] == "x" { (20, 24) } else { (24, 20) };
        assert_eq!((&kernel["points"], &kernel["lines"]), (&4.into(), &8.into()));
        assert_eq!(kernel["threads"], n / 4 * 8);
        assert_eq!(kernel["blocks"], (lines + 7) / 8);
        assert!(kernel["registers"].is_null() && number(&kernel["on_chip"]) > 0.0, "{row}");
        assert!(row["error"].is_number(), "{row}");
    }
}

/// Detects right-hand sides of an implicit step counted as those of an explicit step.
#[test]
fn implicit_step_bench_counts_every_computed_right_hand_side() {
    let arguments = "step --points 8 --backend cpu --repeats 3 --set time.implicit={method='bdf2'}";
    let (code, out, err) = bench(&format!("{arguments} --json"));
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&out).unwrap();
    let row = &rows(&report)[0];
    let right_hand_sides =
        number(&row["ns_per_point"]["min"]) / number(&row["ns_per_point_stage"]["min"]);
    assert!(right_hand_sides > 6.5, "{right_hand_sides}");
    assert!(row["bytes_per_point"].is_null() && row["gb_per_s"].is_null(), "{row}");
}

#[test]
fn comm_and_scaling_benches_run_on_one_rank() {
    let comm = report("comm --points 16x12x20 --operands 2 --backend cpu");
    assert_eq!(column(&comm, "axis"), ["x", "y", "z"]);
    assert_eq!(column(&comm, "method"), ["whole"; 3]);
    assert!(comm.get("rates").is_none() && comm.get("messages").is_none());
    assert!(comm["notes"].to_string().contains("one rank sends no messages"));
    for row in rows(&comm) {
        assert_eq!(
            (&row["ranks"], &row["operands"], &row["bytes"]),
            (&1.into(), &2.into(), &0.into())
        );
        assert!(row["error"].is_number());
    }
    for kind in ["--weak", "--strong"] {
        let step = report(&format!("step {kind} --points 16 --backend opencl"));
        assert_eq!(rows(&step).len(), 1);
        let row = &rows(&step)[0];
        assert_eq!((&row["messages"], number(&row["efficiency"])), (&0.into(), 1.0));
        assert!(row.get("efficiency_exchanging").is_none());
        assert!(number(&row["phase_seconds"]["local"]["min"]) > 0.0);
        assert!(number(&row["predicted_seconds"]["all"]) > 0.0);
    }
}

/// Detects a mesh of the wrong size, a block size that is left out, and sweeps with wrong results.
#[test]
fn block_bench_checks_sweeps_and_has_the_sizes_of_the_paper() {
    for backend in ["cpu", "opencl", "opencl --kernels split"] {
        check_sweeps(&report(&format!("blocks --points 7,5x6x9 --nb 1-3,9 --backend {backend}")));
    }
    let table = bench("blocks --points 7 --nb 5 --repeats 2 --off-diagonal f64");
    assert!(table.1.contains("7x7x7") && table.1.contains("f64"), "{}", table.1);
    for (wrong, message) in [
        ("--nb 0", "from 1 to 512"),
        ("--nb 4-2", "from 1 to 512"),
        ("--precision f32", "unknowns of blocks are f64"),
        ("--kernels split --backend cpu", "the CPU solves blocks without kernels"),
    ] {
        let (code, _, err) = bench(&format!("blocks --points 7 {wrong}"));
        assert!(code == Some(2) && err.contains(message), "{wrong}: {err}");
    }
}

/// Checks errors, bytes and rates of sweeps with blocks of 1, 2, 3 and 9 rows.
fn check_sweeps(report: &Value) {
    let sizes = |key: &str| -> Vec<u64> {
        report["blocks"].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).collect()
    };
    assert_eq!(sizes("nb"), [1, 2, 3, 9, 1, 2, 3, 9]);
    assert_eq!(sizes("rows"), [[343; 4], [270; 4]].concat());
    for row in report["blocks"].as_array().unwrap() {
        assert!(number(&row["error"]) < 1e-13, "{row}");
        let (rows, blocks, nb) = (number(&row["rows"]), number(&row["blocks"]), number(&row["nb"]));
        // Blocks of 32 bits with their column indices; factors, pivots, b read once, x accessed twice.
        let bytes = blocks * (4.0 * nb * nb + 4.0) + rows * (8.0 * nb * nb + 2.0 * nb + 24.0 * nb);
        assert_eq!(number(&row["bytes"]), bytes);
        assert_close(number(&row["gb_per_s"]), 1e-9 * bytes / number(&row["seconds"]["min"]));
    }
    for mesh in report["meshes"].as_array().unwrap() {
        let colours = mesh["colours"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap());
        assert_eq!(colours.sum::<u64>(), mesh["rows"].as_u64().unwrap());
    }
}

#[test]
fn slurm_scripts_have_all_directives_before_the_first_command() {
    let folder = root().join("configs/cluster");
    let scripts = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<_> =
        scripts.filter(|path| path.extension().is_some_and(|end| end == "slurm")).collect();
    assert_eq!(scripts.len(), 5);
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for script in scripts {
        assert!(page.contains(script.file_name().unwrap().to_str().unwrap()), "{script:?}");
        // Slurm reads directives only up to the first command. A folder named in them must exist.
        let text = std::fs::read_to_string(&script).unwrap();
        let (head, body) = text.split_once("set -euo pipefail").unwrap();
        assert!(head.contains("#SBATCH") && !body.contains("#SBATCH"), "{script:?}");
        assert!(text.contains("srun --mpi=pmix"), "{script:?}");
    }
}

#[test]
fn text_report_has_three_header_lines_and_one_line_per_derivative() {
    let (code, out, err) = bench("derivative --points 16 --repeats 2 --backend cpu");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("cpu: ") && lines[1].contains("compact6, f64, 2 repeats"),
        "{out}"
    );
    assert!(lines[2].contains("GB/s") && lines[3].starts_with("derivative x"), "{out}");
    assert_eq!(lines.len(), 6, "{out}");
}

#[test]
fn bench_rejects_unsupported_measurements() {
    for (arguments, message) in [
        ("", "Usage"),
        ("rhs", "unrecognized subcommand"),
        ("copy --points 0", "points are N or NXxNYxNZ"),
        ("copy --points 16x16", "points are N or NXxNYxNZ"),
        ("copy --points many", "points are N or NXxNYxNZ"),
        ("copy --points 1", "more than 1 point"),
        ("copy --points 60000", "GiB"),
        ("copy --repeats 0", "1..="),
        ("copy --axis x", "unexpected argument"),
        ("copy --precision f16", "possible values"),
        ("copy --threads 0", "1..="),
        ("copy --backend tpu", "possible values"),
        ("copy --backend opencl --device 77", "77"),
        ("derivative --axis w", "possible values"),
        ("derivative --scheme compact7", "the schemes are"),
        ("derivative --points 4", "compact6 needs 5"),
        ("derivative --points 16x1x1 --axis y", "16x1x1 points have 1 along y"),
        ("derivative --method crout", "the methods are auto, all, thomas"),
        ("derivative --method chunked --backend cpu --points 16", "not available on the CPU"),
        (
            "derivative --method pcr --scheme compact8-penta --backend cpu --points 16",
            "is for tridiagonal operators, and this one is pentadiagonal; use `thomas`, `pcr-banded`",
        ),
        ("derivative --pencils permuted --backend cpu", "the CPU was asked for"),
        ("lines --table4.1 --points 16", "cannot be used with"),
        ("permute --order xxy", "possible values"),
        ("step --method all", "one method"),
        ("step --set scheme.order=7", "unknown key `order`"),
        ("step --set compute.precision=f32", "has no meaning here"),
        ("step --set case.name=shear-wave", "only the Taylor-Green vortex is measured"),
        ("step --set grid.points=[8,8,8]", "--points"),
        ("step --set time.max_steps=3", "use --repeats for the number of steps"),
        ("step --set output.directory=here", "nothing is written"),
        ("step --beside scheme.order=7", "--beside scheme.order=7"),
        ("step --beside output.directory=here", "`--beside output.directory=here` has no meaning"),
        ("step --rates rates.json", "required arguments were not provided"),
        ("copy --device 5 --backend cpu", "the CPU is one device, number 0"),
        ("step --points 3", "3 points along x"),
        ("step --points 40000 --backend cpu", "GiB"),
        ("sweeps --points 16 --set time.integrator=rk4", "a stage has no separate sweeps"),
        ("sweeps --points 16 --set compute.right_hand_side=composed", "no separate sweeps"),
        ("sweeps --points 16 --set compute.threads=2", "has no meaning here"),
        ("sweeps --points 16 --set compute.sweeps.points=3", "a whole number from 4 to 8"),
        ("sweeps --points 16 --backend cpu --set compute.sweeps.points=4", "no thread blocks"),
        (
            "sweeps --points 64 --backend opencl --set compute.sweeps.lines=1024",
            "no sweep has blocks with lines = 1024",
        ),
        (
            "step --points 16 --backend opencl --method pcr --set compute.sweeps.points=4",
            "operator by operator",
        ),
        ("step --weak --strong", "cannot be used with"),
        ("step --ranks 2", "required arguments were not provided"),
        ("step --weak --ranks 0", "numbers of ranks are 1 or more, such as 8,64; or all"),
        ("step --weak --ranks 1,,2", "numbers of ranks are 1 or more"),
        ("step --weak --ranks most", "numbers of ranks are 1 or more"),
        ("step --strong --ranks 1,8", "--ranks 8: this job has 1 rank"),
        ("step --weak --points 40000 --backend cpu", "GiB"),
        ("step --weak --points 3", "3 points along x"),
        ("comm --method crout", "the methods are all, neighbour"),
        ("comm --operands 17", "1..=16"),
        ("comm --points 4", "compact6 needs 5"),
        ("comm --points 40000 --backend cpu", "GiB"),
    ] {
        let (code, out, err) = bench(arguments);
        assert_eq!(code, Some(2), "{arguments}: {err}");
        assert!(err.contains(message), "{arguments}: {err}");
        assert!(out.is_empty() && !err.contains("panicked"), "{arguments}: {out}{err}");
    }
}

#[test]
fn benchmark_docs_name_the_benches_and_every_key() {
    let page = root().join("docs/benchmarks.md");
    let page = std::fs::read_to_string(page).unwrap();
    for bench in ["copy", "derivative", "lines", "permute", "step", "sweeps", "comm"] {
        assert!(page.contains(&format!("kolmo bench {bench}")), "{bench}");
    }
    let of_sweeps =
        ["sweep", "stages", "links", "words", "kernel", "registers", "on_chip", "resident"];
    for key in KEYS.into_iter().chain(of_sweeps) {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}
