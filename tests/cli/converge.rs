//! `kolmo converge`: the observed orders of accuracy match the formal orders, and the files contain the printed numbers.

use std::ops::Range;

use super::*;

fn study(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments =
        [&["converge", "--json", "--overwrite", "--backend", "cpu"], arguments].concat();
    serde_json::from_str(&run_ok(directory, arguments).stdout).unwrap()
}

fn assert_orders(study: &serde_json::Value, key: &str, range: Range<f64>) {
    let rows = study["rows"].as_array().unwrap();
    let orders: Vec<f64> = rows.iter().filter_map(|row| row[key].as_f64()).collect();
    assert!(!orders.is_empty() && orders.iter().all(|order| range.contains(order)), "{orders:?}");
}

#[test]
fn waves_converge_at_the_formal_order_with_small_time_steps() {
    let dir = tempfile::tempdir().unwrap();
    let smooth = ["time={ end = 1.0, dt = 1e-3 }", "grid.points=[16, 1, 1]"];
    // The solution of the sound wave is exact to first order in the amplitude: the error floor is the amplitude squared plus round-off.
    let sound = ["time={ end = 1.0, dt = 2e-3 }", "case.amplitude=3e-8", "case.wavenumber=2"];
    for (case, points, set, schemes) in [
        (
            "entropy-wave",
            "32,12,16",
            &smooth[..],
            &[("compact4", 4.0), ("compact6", 6.0), ("explicit2", 2.0)][..],
        ),
        ("acoustic-wave", "36,20,28", &sound[..], &[("compact4", 4.0), ("compact6", 6.0)][..]),
    ] {
        for (scheme, order) in schemes {
            let scheme = format!("scheme.derivative={scheme}");
            let set = set.iter().copied().chain([&*scheme]).flat_map(|set| ["--set", set]);
            let arguments: Vec<&str> = [case, "--points", points].into_iter().chain(set).collect();
            let result = study(dir.path(), &arguments);
            assert_eq!(result["formal_order"].as_f64(), Some(*order));
            let points: Vec<u64> = result["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["points"].as_u64().unwrap())
                .collect();
            assert!(
                points.is_sorted()
                    && result["rows"][0]["grid"] == serde_json::json!([points[0], 1, 1])
            );
            for norm in ["order_l2", "order_max"] {
                assert_orders(&result, norm, order - 0.25..order + 0.25);
            }
            assert_eq!(result["notes"], serde_json::json!([]));
        }
    }
}

#[test]
fn converge_prints_its_table_when_the_files_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("out/converge.csv")).unwrap();
    let study = |out| {
        kolmo(
            dir.path(),
            ["converge", "entropy-wave", "--points", "8,16", "--overwrite", "--out", out],
        )
    };
    let computed = study("out");
    assert_eq!(computed.code, Some(1), "{}", computed.stderr);
    assert!(computed.stderr.contains("converge.csv"), "{}", computed.stderr);
    assert!(computed.stdout.contains("16"), "{}", computed.stdout);
    // A directory that cannot be created is rejected before anything is computed.
    let refused = study("/proc/study");
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(!refused.stderr.contains("steps in"), "{}", refused.stderr);
}

#[test]
fn time_step_shrinks_with_grid_so_temporal_error_stays_below_spatial_error() {
    let dir = tempfile::tempdir().unwrap();
    let wave = ["entropy-wave", "--points", "16,32,64", "--set", "grid.points=[16, 1, 1]"];
    let matched = study(dir.path(), &wave);
    assert_orders(&matched, "order_l2", 5.7..6.3);
    assert!(
        matched["step"].as_str().unwrap().contains("dt smaller by (n0/n)^1.50"),
        "{}",
        matched["step"]
    );
    // At the same CFL number on every grid the fourth-order integrator determines the order, and a note says so.
    let same_cfl = study(dir.path(), &[&wave[..], &["--keep-cfl"]].concat());
    assert_orders(&same_cfl, "order_l2", 3.9..4.3);
    let note = same_cfl["notes"][0].as_str().unwrap();
    assert!(
        note.contains("lies below the formal 6") && note.contains("--set 'time={ end = 1, dt = ")
    );
    let (first, last) = (&matched["rows"][0], &matched["rows"][2]);
    assert_eq!(first["steps"], same_cfl["rows"][0]["steps"]);
    let ratio = last["steps"].as_f64().unwrap() / same_cfl["rows"][2]["steps"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

/// Catches a report of the order of the midpoint schemes alone. Split energy also uses collocated derivatives, which for spectral-like
/// have only fourth order.
#[test]
fn staggered_convection_with_split_energy_has_the_lower_formal_order() {
    let dir = tempfile::tempdir().unwrap();
    for (energy, order) in [("split-pressure", 4), ("divergence", 10)] {
        let scheme = format!(
            "scheme={{ derivative = 'spectral-like', convection = 'staggered', energy = '{energy}' }}"
        );
        let wave = ["converge", "entropy-wave", "--points", "16,32", "--out", energy];
        let outcome = run_ok(dir.path(), [&wave[..], &["--set", &scheme]].concat());
        assert!(outcome.stdout.contains(&format!("(order {order})")), "{}", outcome.stdout);
    }
}

/// The command in the README. Catches an order of 3.49, where the error from the finite amplitude is the floor, and of 0.01, where the
/// density of a shear wave is compared.
#[test]
fn small_amplitude_waves_converge_at_the_order_of_the_scheme() {
    let dir = tempfile::tempdir().unwrap();
    for case in ["acoustic-wave", "shear-wave"] {
        let wave = [case, "--points", "16,32,64"];
        let result = study(dir.path(), &wave);
        for norm in ["order_l2", "order_max"] {
            assert_orders(&result, norm, 5.7..6.3);
            assert_eq!(
                result["rows"].as_array().unwrap().iter().filter(|row| row[norm].is_f64()).count(),
                2
            );
        }
        assert_eq!(result["notes"], serde_json::json!([]));
        // A sufficiently small fixed time step gives the same order.
        let fixed = ["--set", "time={ end = 6.283185307179586, dt = 5e-3 }"];
        let coarse = [case, "--points", "12,16,24"];
        assert_orders(&study(dir.path(), &[&coarse[..], &fixed].concat()), "order_l2", 5.7..6.3);
    }
}

#[test]
fn error_at_its_floor_reports_the_cause_and_no_order() {
    let dir = tempfile::tempdir().unwrap();
    for (set, points, cause) in [
        (["case.amplitude=1e-2", "case.mode=acoustic-right"], "16,32,64", "the amplitude"),
        (
            ["time={ end = 6.283185307179586, dt = 3e-2 }", "case.mode=acoustic-right"],
            "24,32,64",
            "the time step",
        ),
        // Half of this time step is still longer than the run.
        (["time={ end = 0.1, dt = 0.3 }", "case.mode=acoustic-right"], "16,32,64", "the time step"),
        (
            ["case.mode=entropy", "time={ end = 6.283185307179586, cfl = 0.8 }"],
            "16,32,64",
            "round-off",
        ),
    ] {
        let arguments =
            ["converge", "acoustic-wave", "--overwrite", "--out", "study", "--points", points];
        let set = set.iter().flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = arguments.into_iter().chain(set).collect();
        let table = run_ok(dir.path(), &arguments).stdout;
        let directory = dir.path().join("study");
        let json = run_ok(dir.path(), arguments.iter().copied().chain(["--json"])).stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let last = &json["rows"][2];
        assert!(last["floor_reached"] == true && last["order_l2"].is_null(), "{cause}: {table}");
        assert!(table.contains("  floor reached  "), "{table}");
        assert!(json["notes"][0].as_str().unwrap().contains(cause), "{}", json["notes"][0]);
        let csv = Series::read(&directory.join("converge.csv")).unwrap();
        assert_eq!(csv.column("floor_reached").unwrap()[2], 1.0);
        assert!(csv.column("order_l2").unwrap()[2].is_nan());
        let (error, floor) = (csv.column("error_l2").unwrap()[2], csv.column("floor").unwrap()[2]);
        assert!(error < 4.0 * floor && error > 0.1 * floor, "{cause}: {error:e}, floor {floor:e}");
        assert!(read(directory.join("converge.svg")).contains("floor"));
        assert!(read(directory.join("converge.html")).contains("floor reached"));
    }
}

#[test]
fn case_without_exact_solution_is_compared_with_the_finest_grid() {
    let dir = tempfile::tempdir().unwrap();
    let set = [
        "grid.points=[16, 16, 1]",
        "case.reynolds=50",
        "case.mach=0.5",
        "time={ end = 0.5, cfl = 0.4 }",
    ];
    let set = set.map(|set| ["--set", set]).concat();
    let result = study(dir.path(), &[&["taylor-green", "--points", "12,24,48"], &set[..]].concat());
    assert_eq!(
        result["error"],
        "of the velocity, against 48² points at the common points of the grids"
    );
    assert_orders(&result, "order_l2", 5.6..6.8);
    assert!(result["rows"][2]["error_l2"].is_null());
    assert!(dir.path().join("runs/converge-taylor-green-compact6/converge.csv").exists());
    let scalar = [
        "scalar-advection",
        "--points",
        "32,64",
        "--set",
        "case.shape=sine",
        "--backend",
        "opencl",
    ];
    let result = run_ok(dir.path(), [&["converge", "--json"], &scalar[..]].concat()).stdout;
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["error"], "of the scalar, against the exact solution");
    assert_orders(&result, "order_l2", 5.5..6.5);
}

#[test]
fn table_csv_and_page_contain_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let wave = ["converge", "acoustic-wave", "--points", "12,24", "--out", "study"];
    let table = run_ok(dir.path(), wave).stdout;
    let directory = dir.path().join("study");
    assert_eq!(file_names(&directory), ["converge.csv", "converge.html", "converge.svg"]);
    let csv = Series::read(&directory.join("converge.csv")).unwrap();
    assert_eq!(csv.column("points").unwrap(), [12.0, 24.0]);
    assert_eq!(csv.column("points_y").unwrap(), [1.0, 1.0]);
    let (l2, order) = (csv.column("error_l2").unwrap(), csv.column("order_l2").unwrap());
    assert!(order[0].is_nan() && (order[1] - (l2[0] / l2[1]).log2()).abs() < 1e-12);
    let (page, drawing) =
        (read(directory.join("converge.html")), read(directory.join("converge.svg")));
    assert!(page.contains(drawing.lines().nth(1).unwrap()) && drawing.contains("slope −6"));
    for (row, line) in
        table.lines().skip_while(|line| !line.starts_with("points ")).skip(1).take(2).enumerate()
    {
        let cells: Vec<&str> =
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells[3], format!("{:.3e}", l2[row]), "{line}");
        assert_eq!(cells[5], format!("{:.3e}", csv.column("error_max").unwrap()[row]));
        assert_eq!(cells[1].parse::<f64>().unwrap(), csv.column("steps").unwrap()[row]);
        assert!(cells.iter().all(|cell| page.contains(&format!("<td>{cell}</td>"))), "{line}");
    }
    let again = kolmo(dir.path(), wave);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("error: study already holds a table"), "{}", again.stderr);
    run_ok(dir.path(), [&wave[..], &["--overwrite"]].concat());
}

/// Catches a directory name without the scheme: the second study would be rejected, or would replace the first.
#[test]
fn studies_of_two_schemes_use_different_output_directories() {
    let dir = tempfile::tempdir().unwrap();
    for scheme in ["compact4", "compact6"] {
        let set = format!("scheme.derivative={scheme}");
        run_ok(dir.path(), ["converge", "entropy-wave", "--points", "12,16", "--set", &set]);
    }
    let runs = file_names(&dir.path().join("runs"));
    assert_eq!(runs, ["converge-entropy-wave-compact4", "converge-entropy-wave-compact6"]);
}

#[test]
fn converge_rejects_invalid_studies_before_running() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, message) in [
        (&["acoustic-wave"][..], "--points"),
        (&["acoustic-wave", "--points", "16"], "error: --points 16 is one grid"),
        (&["acoustic-wave", "--points", "16,16"], "error: --points 16 is one grid"),
        (
            &["acoustic-wave", "--points", "16,ten"],
            "a number of points is a whole number from 2 to 65536",
        ),
        (&["acoustic-wave", "--points", "3,16"], "3 points along x; compact6 needs 5"),
        (
            &["acoustic-wave", "--points", "16,32", "--set", "time.max_steps=3"],
            "time.max_steps = 3 would end",
        ),
        (
            &["acoustic-wave", "--points", "16,32", "--set", "time={ max_steps = 3 }"],
            "there is no time.end",
        ),
        (
            &["acoustic-wave", "--points", "16,32", "--set", "time.implicit={ method = 'steady' }"],
            "steady steps have no physical time",
        ),
        (&["acoustic-wave", "--points", "16,32", "--out", "file"], "error: file is a file"),
        (&["acoustic-wave", "--points", "16,32", "--backend", "abacus"], "abacus"),
        (&["no-such-case", "--points", "16,32"], "no-such-case"),
        (
            &["taylor-green", "--points", "16,24,32"],
            "against 32 points, which is not a whole multiple of 24",
        ),
        (&["taylor-green", "--points", "16,32"], "an order needs two further grids"),
        (&["entropy-wave", "--points", "8,16,4000"], "4000 x 4000 x 4000 points need"),
        (&["acoustic-wave", "--points", "16,32", "--set", "compute.ranks=[2, 1, 1]"], "ranks"),
    ] {
        let outcome = kolmo(dir.path(), [&["converge"], arguments].concat());
        assert!(matches!(outcome.code, Some(1 | 2)), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(file_names(dir.path()), ["file"], "{arguments:?}");
    }
}

/// Catches a divergence message without the grid, and the loss of the errors of the other grids.
#[test]
fn diverging_grid_is_reported_after_the_errors_of_the_other_grids() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[8, 1, 1]", "--set", "time={ end = 20.0, dt = 0.04 }"];
    let outcome = kolmo(
        dir.path(),
        [&["converge", "entropy-wave", "--points", "8,16,32,64"], &set[..]].concat(),
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    for (line, n) in lines.iter().zip([8, 16]) {
        assert!(line.starts_with(&format!("{n} × 1 × 1 points: ")), "{}", outcome.stderr);
        let error = line.split_once(", error ").unwrap().1.parse::<f64>().unwrap();
        assert!((1e-8..1.0).contains(&error), "{}", outcome.stderr);
    }
    assert!(
        lines[2].starts_with("error: 32 × 1 × 1 points: the run diverged at step"),
        "{}",
        outcome.stderr
    );
}

/// Catches time steps that shrink by the order of the explicit integrator.
#[test]
fn implicit_time_steps_shrink_by_the_order_of_their_method() {
    let dir = tempfile::tempdir().unwrap();
    let time = "time={ end = 2.0, cfl = 0.8, implicit = { method = 'bdf2' } }";
    let wave = ["acoustic-wave", "--points", "8,12,16", "--set", time];
    let result = study(dir.path(), &wave);
    assert_eq!((&result["integrator"], &result["integrator_order"]), (&"bdf2".into(), &2.into()));
    assert!(result["step"].as_str().unwrap().contains("dt smaller by (n0/n)^3.00"), "{result}");
    assert_orders(&result, "order_l2", 3.0..5.5);
    // The suggested setting keeps the implicit method.
    let note = result["notes"][0].as_str().unwrap();
    let suggested = note.split_once("--set '").unwrap().1.split_once('\'').unwrap().0;
    assert!(suggested.contains("dt = ") && suggested.contains("bdf2"), "{note}");
    let finer = study(dir.path(), &[&wave[..3], &["--set", suggested]].concat());
    assert_eq!(finer["integrator"], "bdf2");
}

/// A cone that diffuses has no known solution. Catches an error that is computed at other points.
#[test]
fn diffusing_cone_has_no_exact_solution() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["grid.points=[8,1,1]", "case.shape=cone", "case.diffusivity=0.1"];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let command = ["converge", "scalar-advection", "--points", "8,12,20"];
    let outcome = kolmo(dir.path(), command.into_iter().chain(set));
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("has no exact solution"), "{}", outcome.stderr);
}

/// Catches a comparison by index alone: such grids then share one point in each of three directions, which gives an order of 1.6 for every
/// scheme.
#[test]
fn grids_with_boundaries_are_compared_at_their_common_points() {
    let dir = tempfile::tempdir().unwrap();
    let time = ["--set", "time={ end = 0.05, dt = 5e-3 }"];
    let vortex = |points, octant| {
        let set = ["--set", octant, "--points", points];
        study(dir.path(), &[&["taylor-green"], &time[..], &set].concat())
    };
    let octant = vortex("9,17,33", "case.octant=true");
    assert_eq!(octant["formal_order"].as_f64(), Some(6.0));
    assert_orders(&octant, "order_l2", 5.7..6.3);
    // The same flow at the same spacing.
    let periodic = vortex("16,32,64", "case.octant=false");
    for row in 0..2 {
        let [octant, periodic] =
            [&octant, &periodic].map(|study| study["rows"][row]["error_l2"].as_f64().unwrap());
        assert!((octant / periodic - 1.0).abs() < 0.05, "{octant:e}, {periodic:e}");
    }
    // If only one axis is periodic, lines along the other axis have one point more.
    let short = ["--set", "time={ end = 0.01, dt = 5e-3 }"];
    let around = [&["cylinder", "--points", "16,32,64"][..], &short].concat();
    assert_eq!(study(dir.path(), &around)["rows"][1]["grid"], serde_json::json!([32, 33, 1]));
    for (case, points, message) in [
        ("lid-driven-cavity", "20,40,80", "whose 79 intervals are not a whole multiple of 19"),
        ("taylor-green", "12,16,32", "32 points, which is not a whole multiple of 12"),
        ("aerofoil", "32,64,128", "puts the points of coarser grids between those of finer ones"),
    ] {
        let outcome = kolmo(dir.path(), ["converge", case, "--overwrite", "--points", points]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{}", outcome.stderr);
    }
}
