//! `kolmo converge`: the orders that it finds are those of the schemes, and its files hold what it says.

use std::ops::Range;

use super::*;

fn study(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments =
        [&["converge", "--json", "--overwrite", "--backend", "cpu"], arguments].concat();
    serde_json::from_str(&done(directory, arguments).out).unwrap()
}

fn assert_orders(study: &serde_json::Value, key: &str, range: Range<f64>) {
    let rows = study["rows"].as_array().unwrap();
    let orders: Vec<f64> = rows.iter().filter_map(|row| row[key].as_f64()).collect();
    assert!(!orders.is_empty() && orders.iter().all(|order| range.contains(order)), "{orders:?}");
}

#[test]
fn a_wave_converges_at_the_order_of_the_scheme_where_the_step_is_small() {
    let dir = tempfile::tempdir().unwrap();
    let smooth = ["time={ end = 1.0, dt = 1e-3 }", "grid.points=[16, 1, 1]"];
    // The sound wave is exact to first order: its amplitude squared, and round-off, are the least that can be seen.
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
            let found = study(dir.path(), &arguments);
            assert_eq!(found["formal_order"].as_f64(), Some(*order));
            let points: Vec<u64> = found["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["points"].as_u64().unwrap())
                .collect();
            assert!(
                points.is_sorted()
                    && found["rows"][0]["grid"] == serde_json::json!([points[0], 1, 1])
            );
            for norm in ["order_l2", "order_max"] {
                assert_orders(&found, norm, order - 0.25..order + 0.25);
            }
            assert_eq!(found["notes"], serde_json::json!([]));
        }
    }
}

#[test]
fn what_was_computed_is_told_where_it_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("out/converge.csv")).unwrap();
    let study = |out| {
        kolmo(
            dir.path(),
            ["converge", "entropy-wave", "--points", "8,16", "--overwrite", "--out", out],
        )
    };
    let computed = study("out");
    assert_eq!(computed.code, Some(1), "{}", computed.err);
    assert!(computed.err.contains("converge.csv"), "{}", computed.err);
    assert!(computed.out.contains("16"), "{}", computed.out);
    // What cannot be written at all is not computed first.
    let refused = study("/proc/study");
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(!refused.err.contains("steps in"), "{}", refused.err);
}

#[test]
fn the_step_falls_with_the_grid_so_that_its_error_does_not_hide_the_order() {
    let dir = tempfile::tempdir().unwrap();
    let wave = ["entropy-wave", "--points", "16,32,64", "--set", "grid.points=[16, 1, 1]"];
    let matched = study(dir.path(), &wave);
    assert_orders(&matched, "order_l2", 5.7..6.3);
    assert!(
        matched["step"].as_str().unwrap().contains("dt smaller by (n0/n)^1.50"),
        "{}",
        matched["step"]
    );
    // At the same cfl on every grid the integrator, which is of fourth order, has the last word, and that is told.
    let kept = study(dir.path(), &[&wave[..], &["--keep-cfl"]].concat());
    assert_orders(&kept, "order_l2", 3.9..4.3);
    let note = kept["notes"][0].as_str().unwrap();
    assert!(
        note.contains("lies below the formal 6") && note.contains("--set 'time={ end = 1, dt = ")
    );
    let (first, last) = (&matched["rows"][0], &matched["rows"][2]);
    assert_eq!(first["steps"], kept["rows"][0]["steps"]);
    let ratio = last["steps"].as_f64().unwrap() / kept["rows"][2]["steps"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

/// Catches the order of the midpoints alone, beside which split energy uses collocated derivatives: of spectral-like only the fourth.
#[test]
fn staggered_convection_with_split_energy_has_the_lower_of_two_orders() {
    let dir = tempfile::tempdir().unwrap();
    for (energy, order) in [("split-pressure", 4), ("divergence", 10)] {
        let scheme = format!(
            "scheme={{ derivative = 'spectral-like', convection = 'staggered', energy = '{energy}' }}"
        );
        let wave = ["converge", "entropy-wave", "--points", "16,32", "--out", energy];
        let told = done(dir.path(), [&wave[..], &["--set", &scheme]].concat());
        assert!(told.out.contains(&format!("(order {order})")), "{}", told.out);
    }
}

/// The command of the README: 3.49 where the amplitude's own error is the floor, 0.01 where the density of a shear wave is compared.
#[test]
fn waves_of_small_amplitude_show_the_order_of_the_scheme_and_not_their_own_error() {
    let dir = tempfile::tempdir().unwrap();
    for case in ["acoustic-wave", "shear-wave"] {
        let wave = [case, "--points", "16,32,64"];
        let found = study(dir.path(), &wave);
        for norm in ["order_l2", "order_max"] {
            assert_orders(&found, norm, 5.7..6.3);
            assert_eq!(
                found["rows"].as_array().unwrap().iter().filter(|row| row[norm].is_f64()).count(),
                2
            );
        }
        assert_eq!(found["notes"], serde_json::json!([]));
        // A fixed step that is small enough shows the same.
        let fixed = ["--set", "time={ end = 6.283185307179586, dt = 5e-3 }"];
        let coarse = [case, "--points", "12,16,24"];
        assert_orders(&study(dir.path(), &[&coarse[..], &fixed].concat()), "order_l2", 5.7..6.3);
    }
}

#[test]
fn an_error_at_its_floor_tells_no_order_and_what_the_floor_is() {
    let dir = tempfile::tempdir().unwrap();
    for (set, points, cause) in [
        (["case.amplitude=1e-2", "case.mode=acoustic-right"], "16,32,64", "the amplitude"),
        (
            ["time={ end = 6.283185307179586, dt = 3e-2 }", "case.mode=acoustic-right"],
            "24,32,64",
            "the time step",
        ),
        // Half of it, too, is longer than the run.
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
        let table = done(dir.path(), &arguments).out;
        let found = dir.path().join("study");
        let json = done(dir.path(), arguments.iter().copied().chain(["--json"])).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let last = &json["rows"][2];
        assert!(last["floor_reached"] == true && last["order_l2"].is_null(), "{cause}: {table}");
        assert!(table.contains("  floor reached  "), "{table}");
        assert!(json["notes"][0].as_str().unwrap().contains(cause), "{}", json["notes"][0]);
        let csv = Series::read(&found.join("converge.csv")).unwrap();
        assert_eq!(csv.column("floor_reached").unwrap()[2], 1.0);
        assert!(csv.column("order_l2").unwrap()[2].is_nan());
        let (error, floor) = (csv.column("error_l2").unwrap()[2], csv.column("floor").unwrap()[2]);
        assert!(error < 4.0 * floor && error > 0.1 * floor, "{cause}: {error:e}, floor {floor:e}");
        assert!(read(found.join("converge.svg")).contains("floor"));
        assert!(read(found.join("converge.html")).contains("floor reached"));
    }
}

#[test]
fn a_case_without_a_solution_is_held_against_the_finest_grid() {
    let dir = tempfile::tempdir().unwrap();
    let set = [
        "grid.points=[16, 16, 1]",
        "case.reynolds=50",
        "case.mach=0.5",
        "time={ end = 0.5, cfl = 0.4 }",
    ];
    let set = set.map(|set| ["--set", set]).concat();
    let found = study(dir.path(), &[&["taylor-green", "--points", "12,24,48"], &set[..]].concat());
    assert_eq!(
        found["error"],
        "of the velocity, against 48² points at the common points of the grids"
    );
    assert_orders(&found, "order_l2", 5.6..6.8);
    assert!(found["rows"][2]["error_l2"].is_null());
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
    let found = done(dir.path(), [&["converge", "--json"], &scalar[..]].concat()).out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["error"], "of the scalar, against the exact solution");
    assert_orders(&found, "order_l2", 5.5..6.5);
}

#[test]
fn table_csv_json_and_page_hold_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let wave = ["converge", "acoustic-wave", "--points", "12,24", "--out", "study"];
    let table = done(dir.path(), wave).out;
    let found = dir.path().join("study");
    assert_eq!(names(&found), ["converge.csv", "converge.html", "converge.svg"]);
    let csv = Series::read(&found.join("converge.csv")).unwrap();
    assert_eq!(csv.column("points").unwrap(), [12.0, 24.0]);
    assert_eq!(csv.column("points_y").unwrap(), [1.0, 1.0]);
    let (l2, order) = (csv.column("error_l2").unwrap(), csv.column("order_l2").unwrap());
    assert!(order[0].is_nan() && (order[1] - (l2[0] / l2[1]).log2()).abs() < 1e-12);
    let (page, drawing) = (read(found.join("converge.html")), read(found.join("converge.svg")));
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
    assert!(again.err.contains("error: study already holds a table"), "{}", again.err);
    done(dir.path(), [&wave[..], &["--overwrite"]].concat());
}

/// Catches a directory that does not name the scheme: the second study is refused, or replaces the first.
#[test]
fn two_schemes_leave_their_tables_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    for scheme in ["compact4", "compact6"] {
        let set = format!("scheme.derivative={scheme}");
        done(dir.path(), ["converge", "entropy-wave", "--points", "12,16", "--set", &set]);
    }
    let runs = names(&dir.path().join("runs"));
    assert_eq!(runs, ["converge-entropy-wave-compact4", "converge-entropy-wave-compact6"]);
}

#[test]
fn what_cannot_be_refined_is_a_sentence_and_nothing_is_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, what) in [
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
        assert!(matches!(outcome.code, Some(1 | 2)), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(what), "{arguments:?}: {}", outcome.err);
        assert_eq!(names(dir.path()), ["file"], "{arguments:?}");
    }
}

/// Catches a grid that diverges unnamed, and errors of coarser grids that are lost with it.
#[test]
fn a_grid_that_diverges_is_named_behind_the_errors_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[8, 1, 1]", "--set", "time={ end = 20.0, dt = 0.04 }"];
    let outcome = kolmo(
        dir.path(),
        [&["converge", "entropy-wave", "--points", "8,16,32,64"], &set[..]].concat(),
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    let lines: Vec<&str> = outcome.err.lines().collect();
    for (line, n) in lines.iter().zip([8, 16]) {
        assert!(line.starts_with(&format!("{n} × 1 × 1 points: ")), "{}", outcome.err);
        let error = line.split_once(", error ").unwrap().1.parse::<f64>().unwrap();
        assert!((1e-8..1.0).contains(&error), "{}", outcome.err);
    }
    assert!(
        lines[2].starts_with("error: 32 × 1 × 1 points: the run diverged at step"),
        "{}",
        outcome.err
    );
}

/// Catches steps that fall as if those of the explicit integrator were taken.
#[test]
fn implicit_steps_fall_by_their_own_order() {
    let dir = tempfile::tempdir().unwrap();
    let time = "time={ end = 2.0, cfl = 0.8, implicit = { method = 'bdf2' } }";
    let wave = ["acoustic-wave", "--points", "8,12,16", "--set", time];
    let found = study(dir.path(), &wave);
    assert_eq!((&found["integrator"], &found["integrator_order"]), (&"bdf2".into(), &2.into()));
    assert!(found["step"].as_str().unwrap().contains("dt smaller by (n0/n)^3.00"), "{found}");
    assert_orders(&found, "order_l2", 3.0..5.5);
    // What it advises holds the method, and shows the order of the scheme.
    let note = found["notes"][0].as_str().unwrap();
    let advised = note.split_once("--set '").unwrap().1.split_once('\'').unwrap().0;
    assert!(advised.contains("dt = ") && advised.contains("bdf2"), "{note}");
    let finer = study(dir.path(), &[&wave[..3], &["--set", advised]].concat());
    assert_eq!(finer["integrator"], "bdf2");
}

/// It spreads, and nobody knows how: the error was that of other points.
#[test]
fn a_cone_that_spreads_has_no_exact_solution() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["grid.points=[8,1,1]", "case.shape=cone", "case.diffusivity=0.1"];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let command = ["converge", "scalar-advection", "--points", "8,12,20"];
    let refused = kolmo(dir.path(), command.into_iter().chain(set));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("has no exact solution"), "{}", refused.err);
}

/// Compared by index alone, such grids share one point in three directions: orders of 1.6 whatever the scheme.
#[test]
fn grids_with_ends_are_compared_at_the_points_that_they_share() {
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
    let whole = vortex("16,32,64", "case.octant=false");
    for row in 0..2 {
        let [part, whole] =
            [&octant, &whole].map(|study| study["rows"][row]["error_l2"].as_f64().unwrap());
        assert!((part / whole - 1.0).abs() < 0.05, "{part:e}, {whole:e}");
    }
    // Where lines along one axis alone close, those along the other have one point more.
    let short = ["--set", "time={ end = 0.01, dt = 5e-3 }"];
    let around = [&["cylinder", "--points", "16,32,64"][..], &short].concat();
    assert_eq!(study(dir.path(), &around)["rows"][1]["grid"], serde_json::json!([32, 33, 1]));
    for (case, points, told) in [
        ("lid-driven-cavity", "20,40,80", "whose 79 intervals are not a whole multiple of 19"),
        ("taylor-green", "12,16,32", "32 points, which is not a whole multiple of 12"),
        ("aerofoil", "32,64,128", "puts the points of coarser grids between those of finer ones"),
    ] {
        let outcome = kolmo(dir.path(), ["converge", case, "--overwrite", "--points", points]);
        assert!(outcome.code == Some(2) && outcome.err.contains(told), "{}", outcome.err);
    }
}
