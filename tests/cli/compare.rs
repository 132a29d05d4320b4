//! `kolmo compare`: its numbers match the series files, and runs that cannot be compared give an error message.

use super::*;

/// Run [`SMALL_RUN`] to t = 0.3 with dt = 0.03 and one row of the series per step.
fn run(directory: &Path, name: &str, further: &[&str]) {
    let set = [
        "--set",
        "time={ end = 0.3, dt = 0.03 }",
        "--set",
        "output.series={ every_steps = 1 }",
        "--set",
        "output.fields=none",
        "--out",
        name,
    ];
    let further: Vec<&str> = further.iter().flat_map(|set| ["--set", set]).collect();
    run_ok(directory, small_run(&[&set[..], &further].concat()));
}

fn compare_json(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments = [&["compare", "--json"], arguments].concat();
    serde_json::from_str(&run_ok(directory, arguments).stdout).unwrap()
}

fn series(directory: &Path, name: &str) -> Series {
    Series::read(&directory.join(name).join("series.csv")).unwrap()
}

#[test]
fn compare_table_and_json_match_the_series_files() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["case.reynolds=50", "time={ end = 0.27, dt = 0.03 }"]);
    let comparison = compare_json(dir.path(), &["a", "b"]);
    let [a, b] = ["a", "b"].map(|name| series(dir.path(), name));
    assert_eq!((a.rows(), b.rows()), (11, 10));
    assert_eq!(comparison["common_time"], 0.27);
    for (row, own) in comparison["rows"].as_array().unwrap().iter().zip([&a, &b]) {
        let largest = |column: &str| {
            // Both runs take the same steps.
            let pairs = a.column(column).unwrap().iter().zip(own.column(column).unwrap()).take(10);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(
            (number("kinetic_energy") - own.column("kinetic_energy").unwrap()[9]).abs() < 1e-15
        );
        for (key, column) in [
            ("kinetic_energy_difference", "kinetic_energy"),
            ("dissipation_difference", "dissipation"),
        ] {
            assert!(
                (number(key) - largest(column)).abs() < 1e-9 * largest(column).max(1e-9),
                "{key}"
            );
        }
        let dissipation = own.column("dissipation").unwrap();
        assert_eq!(number("peak_dissipation"), dissipation.iter().copied().fold(0.0, f64::max));
    }
    let [first, second] = [&comparison["rows"][0], &comparison["rows"][1]];
    assert_eq!(first["kinetic_energy_difference"], 0.0);
    assert!(second["kinetic_energy_difference"].as_f64().unwrap() > 1e-3);
    assert_eq!(second["points"], serde_json::json!([16, 16, 16]));
    assert_eq!(second["scheme"], "compact6");
    assert_eq!(
        comparison["notes"][0],
        "b is a different flow (taylor-green, Re = 50, Ma = 0.1) from a (taylor-green, Re = 200, Ma = 0.1)"
    );
    let outcome = run_ok(dir.path(), ["compare", "a", "b"]);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].contains("energy at t = 0.27") && lines[0].ends_with("verdict"));
    let energy = format!("{:.6}", second["kinetic_energy"].as_f64().unwrap());
    assert!(lines[2].starts_with("b ") && lines[2].contains(energy.trim_end_matches('0')));
    // The verdict of each run equals that in its summary.
    for (line, name) in [(lines[3], "a"), (lines[4], "b")] {
        let summary = super::summary(&dir.path().join(name));
        let text = |key: &str| summary[key].as_str().unwrap().to_string();
        assert_eq!(line, format!("{name}: {}: {}", text("verdict"), text("verdict_reason")));
    }
    assert!(lines[5].starts_with("note: b is a different flow"));
    assert_eq!(lines[6], "compare.html");
}

/// Catches a missing note on a different gas or on a flow that was different before a restart, and a kmax eta in the JSON that is rounded
/// as in the table.
#[test]
fn compare_notes_a_different_gas_and_a_different_flow_before_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["gas.prandtl=0.7"]);
    run(dir.path(), "c", &["case.reynolds=100"]);
    run_ok(
        dir.path(),
        [
            "restart",
            "c",
            "--allow-physics-change",
            "--set",
            "case.reynolds=200",
            "--set",
            "time.end=0.33",
        ],
    );
    let comparison = compare_json(dir.path(), &["a", "b", "c"]);
    let expected = [
        "b is a different flow from a: gas.prandtl = 0.7 (0.71)",
        "c was a different flow up to step 10",
    ];
    assert_eq!(comparison["notes"], serde_json::json!(expected));
    let smallest = super::summary(&dir.path().join("a"))["resolution"]["kmax_eta_min"].clone();
    assert_eq!(comparison["rows"][0]["smallest_kmax_eta"], smallest);
    // A run that starts from a checkpoint of another run has the boundaries and the forcing of that run's case.
    let input = "case={ name = 'from-checkpoint', path = 'a' }\ntime.end = 0.33\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    run_ok(dir.path(), ["run", "next.toml", "--out", "d"]);
    let notes = compare_json(dir.path(), &["a", "d"])["notes"].to_string();
    assert!(!notes.contains("different flow"), "{notes}");
}

/// Catches a difference of zero where only the first row of the coarser series lies in the time range of the other series.
#[test]
fn compare_interpolates_between_the_rows_of_a_coarse_series() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    let sparse = ["time={ end = 0.6, dt = 0.03 }", "output.series={ every_time = 0.6 }"];
    run(dir.path(), "b", &[&sparse[..], &["case.reynolds=50"]].concat());
    let comparison = compare_json(dir.path(), &["a", "b"]);
    let [a, b] = [0, 1].map(|row| comparison["rows"][row]["kinetic_energy"].as_f64().unwrap());
    let difference = comparison["rows"][1]["kinetic_energy_difference"].as_f64().unwrap();
    assert!((a - b).abs() > 1e-4 && (difference - (a - b).abs()).abs() < 1e-15, "{difference:e}");
}

/// Catches a missing note on a different body or a different distance to the far field.
#[test]
fn compare_notes_a_different_far_field_distance() {
    let dir = tempfile::tempdir().unwrap();
    for (name, outer) in [("a", "40.0"), ("b", "30.0")] {
        let outer = format!("grid.mapping.outer={outer}");
        let set = ["grid.points=[32, 24, 1]", "time={ dt = 1e-3, max_steps = 1 }", &outer];
        let set = set.iter().flat_map(|set| ["--set", set]);
        run_ok(dir.path(), ["run", "cylinder", "--out", name].into_iter().chain(set));
    }
    let notes = compare_json(dir.path(), &["a", "b"])["notes"].to_string();
    assert!(
        notes.contains("b is a different flow from a: grid.mapping.outer = 30.0 (40.0)"),
        "{notes}"
    );
}

#[test]
fn compare_page_is_self_contained_and_writes_svg_files_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["scheme.derivative=compact4"]);
    run(dir.path(), "c", &["grid.points=[12, 12, 12]"]);
    super::statistics::write_spectra(&dir.path().join("a"), &[0.0, 0.1, 0.2]);
    super::statistics::write_spectra(&dir.path().join("b"), &[0.0, 0.12, 0.3]);
    let comparison = compare_json(dir.path(), &["a", "b", "c", "--out", "out/three.html"]);
    let pictures = ["kinetic_energy", "dissipation", "enstrophy", "spectra"];
    let expected = pictures.map(|name| format!("out/three-{name}.svg"));
    assert_eq!(comparison["pictures"], serde_json::json!(expected));
    assert_eq!(comparison["notes"], serde_json::json!(["c has no spectra"]));
    let page = read(dir.path().join("out/three.html"));
    assert!(page.trim_end().ends_with("</html>") && page.matches("<svg").count() == 4);
    assert!(
        ["<script src", "src=\"", "href=", "url("].iter().all(|outside| !page.contains(outside))
    );
    for picture in &expected {
        assert!(page.contains(read(dir.path().join(picture)).lines().nth(1).unwrap()), "{picture}");
    }
    // One column per run, because a table has many numbers and few runs.
    assert!(page.contains("<tr><th>run</th><td>a</td><td>b</td><td>c</td></tr>"), "{page}");
    // The default is the last time that all runs with spectra reach; `--time` selects another one.
    let spectra = read(dir.path().join("out/three-spectra.svg"));
    assert!(spectra.contains("a, t = 0.20") && spectra.contains("b, t = 0.12"), "nearest to 0.2");
    compare_json(dir.path(), &["a", "b", "--time", "0"]);
    let spectra = read(dir.path().join("compare-spectra.svg"));
    assert!(spectra.contains("a, t = 0.00") && spectra.contains("b, t = 0.00"));
}

#[test]
fn compare_reports_variance_and_errors_of_scalar_runs() {
    let dir = tempfile::tempdir().unwrap();
    for (name, points) in [("coarse", "[16, 16, 1]"), ("fine", "[24, 24, 1]")] {
        let points = format!("grid.points={points}");
        let arguments = ["run", "scalar-advection", "--set", &points, "--out", name];
        run_ok(dir.path(), arguments);
    }
    let comparison = compare_json(dir.path(), &["fine", "coarse"]);
    let coarse = series(dir.path(), "coarse");
    let row = &comparison["rows"][1];
    assert_eq!(row["error_max"].as_f64(), coarse.column("error_max").unwrap().last().copied());
    assert_eq!(
        row["scalar_variance"].as_f64(),
        coarse.column("scalar_variance").unwrap().last().copied()
    );
    assert!(row["kinetic_energy"].is_null());
    let names = ["scalar_variance", "error_l2", "error_max"];
    assert_eq!(
        comparison["pictures"],
        serde_json::json!(names.map(|name| format!("compare-{name}.svg")))
    );
    let table = run_ok(dir.path(), ["compare", "coarse"]).stdout;
    assert!(table.contains("error rms") && !table.contains("energy"), "{table}");
}

/// Catches steady runs plotted against pseudo-times of 10⁹, where their curves collapse, energies at such times, and a steady run plotted
/// over the times of another run.
#[test]
fn steady_runs_are_compared_by_steps_and_final_values() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("my.toml"), super::steady::INPUT).unwrap();
    for (name, time) in [
        ("a", "time.max_steps=3"),
        ("b", "time.max_steps=5"),
        ("c", "time={ max_steps = 2, cfl = 0.8 }"),
    ] {
        run_ok(dir.path(), ["run", "my.toml", "--out", name, "--set", time]);
    }
    let end = |name: &str, column: &str| {
        let series = series(dir.path(), name);
        *series.column(column).unwrap().last().unwrap()
    };
    let assert_near = |number: &serde_json::Value, expected: f64| {
        assert!((number.as_f64().unwrap() - expected).abs() < 1e-15, "{number}, not {expected}");
    };
    let comparison = compare_json(dir.path(), &["a", "b"]);
    assert!(comparison["common_time"].is_null());
    for (row, name) in comparison["rows"].as_array().unwrap().iter().zip(["a", "b"]) {
        assert!(row["end_time"].is_null() && row["peak_time"].is_null(), "{row}");
        assert_near(&row["kinetic_energy"], end(name, "kinetic_energy"));
        for (key, column) in [
            ("kinetic_energy_difference", "kinetic_energy"),
            ("dissipation_difference", "dissipation"),
        ] {
            assert_near(&row[key], (end(name, column) - end("a", column)).abs());
        }
    }
    let svg = read(dir.path().join("compare-kinetic_energy.svg"));
    assert!(svg.contains(">step</text>") && !svg.contains("time t"));
    assert!(run_ok(dir.path(), ["compare", "a", "b"]).stdout.contains("energy at the end"));
    // A steady run compared with a time-accurate run.
    let comparison = compare_json(dir.path(), &["c", "a"]);
    assert_near(&comparison["common_time"], end("c", "time"));
    assert_near(&comparison["rows"][1]["kinetic_energy"], end("a", "kinetic_energy"));
    let note = "a is a steady run: it has no times, and is compared only at its end";
    assert!(
        comparison["notes"].as_array().unwrap().iter().any(|entry| entry == note),
        "{}",
        comparison["notes"]
    );
    let svg = read(dir.path().join("compare-kinetic_energy.svg"));
    assert!(svg.contains("time t") && svg.contains(">c</text>") && !svg.contains(">a</text>"));
    let stdout = run_ok(dir.path(), ["plot", "c", "a"]).stdout;
    assert!(stdout.contains(note), "{stdout}");
    let figures = super::plot::figures(&read(dir.path().join("plot.html")));
    let curves = |name: &str| &figures.iter().find(|figure| figure.0 == name).unwrap().1;
    assert_eq!(*curves("kinetic_energy"), ["c"]);
    assert_eq!(*curves("surface"), ["c, t = 0.02", "a, steady"]);
}

#[test]
fn compare_rejects_missing_or_malformed_runs() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    fs::create_dir(dir.path().join("empty")).unwrap();
    let rejected = |arguments: &[&str], code: i32, message: &str| {
        let outcome = kolmo(dir.path(), [&["compare"], arguments].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
        assert!(!dir.path().join("compare.html").exists());
    };
    rejected(&[], 2, "<RUN_DIR>");
    rejected(&["a", "nowhere"], 2, "error: there is no directory nowhere\n");
    rejected(
        &["empty", "nowhere"],
        2,
        "error: empty has no series.csv: it holds no run\nerror: there is",
    );
    rejected(&["a/config.toml"], 2, "error: a/config.toml is a file, not the directory of a run");
    rejected(&["a", "--out", "picture.png"], 2, "error: --out picture.png does not end in .html");
    rejected(&["a"; 8], 2, "error: 8 runs are too many for one figure");
    rejected(&["a", "--time", "nan"], 2, "a time is a finite number");
    let file = dir.path().join("a/series.csv");
    let text = read(&file);
    let header = text.lines().next().unwrap().to_string() + "\n";
    fs::write(&file, &header).unwrap();
    rejected(&["a"], 1, "error: a/series.csv: there are no rows");
    fs::write(&file, text.replace("\n0,", "\n0,x")).unwrap();
    rejected(&["a"], 1, "error: a/series.csv: line 2: ");
    fs::write(&file, "").unwrap();
    rejected(&["a"], 1, "error: a/series.csv: the file is empty");
    fs::write(&file, text).unwrap();
    let summary = dir.path().join("a/summary.json");
    let text = read(&summary);
    fs::write(&summary, &text[..40]).unwrap();
    rejected(&["a"], 1, "error: a/summary.json: ");
    fs::remove_file(&summary).unwrap();
    rejected(
        &["a"],
        2,
        "error: a has no summary.json: the run is still in progress, or was killed",
    );
}
