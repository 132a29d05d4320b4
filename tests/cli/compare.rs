//! `kolmo compare`: its numbers are those of the series, and what cannot be compared is told.

use super::*;

/// A run of [`SMALL`] to t = 0.3 with steps of 0.03, every one of them in the series.
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
    done(directory, small(&[&set[..], &further].concat()));
}

fn compared(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments = [&["compare", "--json"], arguments].concat();
    serde_json::from_str(&done(directory, arguments).out).unwrap()
}

fn series(directory: &Path, name: &str) -> Series {
    Series::read(&directory.join(name).join("series.csv")).unwrap()
}

#[test]
fn the_table_and_the_json_hold_the_numbers_of_the_series() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["case.reynolds=50", "time={ end = 0.27, dt = 0.03 }"]);
    let found = compared(dir.path(), &["a", "b"]);
    let [a, b] = ["a", "b"].map(|name| series(dir.path(), name));
    assert_eq!((a.rows(), b.rows()), (11, 10));
    assert_eq!(found["common_time"], 0.27);
    for (row, own) in found["rows"].as_array().unwrap().iter().zip([&a, &b]) {
        let largest = |column: &str| {
            // Both have taken the same steps.
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
    let [first, second] = [&found["rows"][0], &found["rows"][1]];
    assert_eq!(first["kinetic_energy_difference"], 0.0);
    assert!(second["kinetic_energy_difference"].as_f64().unwrap() > 1e-3);
    assert_eq!(second["points"], serde_json::json!([16, 16, 16]));
    assert_eq!(second["scheme"], "compact6");
    assert_eq!(
        found["notes"][0],
        "b is a different flow (taylor-green, Re = 50, Ma = 0.1) from a (taylor-green, Re = 200, Ma = 0.1)"
    );
    let outcome = done(dir.path(), ["compare", "a", "b"]);
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert!(lines[0].contains("energy at t = 0.27") && lines[0].ends_with("verdict"));
    let energy = format!("{:.6}", second["kinetic_energy"].as_f64().unwrap());
    assert!(lines[2].starts_with("b ") && lines[2].contains(energy.trim_end_matches('0')));
    // The sentence of each run is that of its summary, and of its last line.
    for (line, name) in [(lines[3], "a"), (lines[4], "b")] {
        let said = super::summary(&dir.path().join(name));
        let word = |key: &str| said[key].as_str().unwrap().to_string();
        assert_eq!(line, format!("{name}: {}: {}", word("verdict"), word("verdict_reason")));
    }
    assert!(lines[5].starts_with("note: b is a different flow"));
    assert_eq!(lines[6], "compare.html");
}

/// Catches runs of another gas, and of another flow up to a restart, that are compared without a word; and kmax eta that is rounded as in
/// the table.
#[test]
fn what_else_flows_differently_is_told() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["gas.prandtl=0.7"]);
    run(dir.path(), "c", &["case.reynolds=100"]);
    done(
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
    let found = compared(dir.path(), &["a", "b", "c"]);
    let expected = [
        "b is a different flow from a: gas.prandtl = 0.7 (0.71)",
        "c was a different flow up to step 10",
    ];
    assert_eq!(found["notes"], serde_json::json!(expected));
    let smallest = super::summary(&dir.path().join("a"))["resolution"]["kmax_eta_min"].clone();
    assert_eq!(found["rows"][0]["smallest_kmax_eta"], smallest);
    // A run from the checkpoint of another writes the ends and the force that the other has of its case.
    let input = "case={ name = 'from-checkpoint', path = 'a' }\ntime.end = 0.33\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    done(dir.path(), ["run", "next.toml", "--out", "d"]);
    let notes = compared(dir.path(), &["a", "d"])["notes"].to_string();
    assert!(!notes.contains("different flow"), "{notes}");
}

/// Catches a difference of nothing where the coarser series has but its start in the time of the other.
#[test]
fn runs_that_share_time_and_no_row_differ_by_what_lies_between() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    let seldom = ["time={ end = 0.6, dt = 0.03 }", "output.series={ every_time = 0.6 }"];
    run(dir.path(), "b", &[&seldom[..], &["case.reynolds=50"]].concat());
    let found = compared(dir.path(), &["a", "b"]);
    let [a, b] = [0, 1].map(|row| found["rows"][row]["kinetic_energy"].as_f64().unwrap());
    let difference = found["rows"][1]["kinetic_energy_difference"].as_f64().unwrap();
    assert!((a - b).abs() > 1e-4 && (difference - (a - b).abs()).abs() < 1e-15, "{difference:e}");
}

/// Catches another body, or another distance to the far field, that is compared without a word.
#[test]
fn another_body_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for (name, outer) in [("a", "40.0"), ("b", "30.0")] {
        let outer = format!("grid.mapping.outer={outer}");
        let set = ["grid.points=[32, 24, 1]", "time={ dt = 1e-3, max_steps = 1 }", &outer];
        let set = set.iter().flat_map(|set| ["--set", set]);
        done(dir.path(), ["run", "cylinder", "--out", name].into_iter().chain(set));
    }
    let notes = compared(dir.path(), &["a", "b"])["notes"].to_string();
    assert!(
        notes.contains("b is a different flow from a: grid.mapping.outer = 30.0 (40.0)"),
        "{notes}"
    );
}

#[test]
fn the_page_needs_nothing_else_and_its_pictures_lie_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["scheme.derivative=compact4"]);
    run(dir.path(), "c", &["grid.points=[12, 12, 12]"]);
    super::statistics::write_spectra(&dir.path().join("a"), &[0.0, 0.1, 0.2]);
    super::statistics::write_spectra(&dir.path().join("b"), &[0.0, 0.12, 0.3]);
    let found = compared(dir.path(), &["a", "b", "c", "--out", "out/three.html"]);
    let pictures = ["kinetic_energy", "dissipation", "enstrophy", "spectra"];
    let expected = pictures.map(|name| format!("out/three-{name}.svg"));
    assert_eq!(found["pictures"], serde_json::json!(expected));
    assert_eq!(found["notes"], serde_json::json!(["c has no spectra"]));
    let page = read(dir.path().join("out/three.html"));
    assert!(page.trim_end().ends_with("</html>") && page.matches("<svg").count() == 4);
    assert!(
        ["<script src", "src=\"", "href=", "url("].iter().all(|outside| !page.contains(outside))
    );
    for picture in &expected {
        assert!(page.contains(read(dir.path().join(picture)).lines().nth(1).unwrap()), "{picture}");
    }
    // A column a run, so that many numbers of few runs fit beside each other.
    assert!(page.contains("<tr><th>run</th><td>a</td><td>b</td><td>c</td></tr>"), "{page}");
    // The last time that all runs with spectra have, and the time asked for.
    let spectra = read(dir.path().join("out/three-spectra.svg"));
    assert!(spectra.contains("a, t = 0.20") && spectra.contains("b, t = 0.12"), "nearest to 0.2");
    compared(dir.path(), &["a", "b", "--time", "0"]);
    let spectra = read(dir.path().join("compare-spectra.svg"));
    assert!(spectra.contains("a, t = 0.00") && spectra.contains("b, t = 0.00"));
}

#[test]
fn runs_of_a_scalar_have_variance_and_errors() {
    let dir = tempfile::tempdir().unwrap();
    for (name, points) in [("coarse", "[16, 16, 1]"), ("fine", "[24, 24, 1]")] {
        let points = format!("grid.points={points}");
        let arguments = ["run", "scalar-advection", "--set", &points, "--out", name];
        done(dir.path(), arguments);
    }
    let found = compared(dir.path(), &["fine", "coarse"]);
    let coarse = series(dir.path(), "coarse");
    let row = &found["rows"][1];
    assert_eq!(row["error_max"].as_f64(), coarse.column("error_max").unwrap().last().copied());
    assert_eq!(
        row["scalar_variance"].as_f64(),
        coarse.column("scalar_variance").unwrap().last().copied()
    );
    assert!(row["kinetic_energy"].is_null());
    let names = ["scalar_variance", "error_l2", "error_max"];
    assert_eq!(
        found["pictures"],
        serde_json::json!(names.map(|name| format!("compare-{name}.svg")))
    );
    let table = done(dir.path(), ["compare", "coarse"]).out;
    assert!(table.contains("error rms") && !table.contains("energy"), "{table}");
}

/// Catches steady runs over times of 10⁹, at which their curves collapse, energies at such times, and a steady run drawn over the times
/// of another.
#[test]
fn steady_runs_have_steps_and_an_end_and_no_times() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("my.toml"), super::steady::INPUT).unwrap();
    for (name, time) in [
        ("a", "time.max_steps=3"),
        ("b", "time.max_steps=5"),
        ("c", "time={ max_steps = 2, cfl = 0.8 }"),
    ] {
        done(dir.path(), ["run", "my.toml", "--out", name, "--set", time]);
    }
    let end = |name: &str, column: &str| {
        let series = series(dir.path(), name);
        *series.column(column).unwrap().last().unwrap()
    };
    let is = |number: &serde_json::Value, expected: f64| {
        assert!((number.as_f64().unwrap() - expected).abs() < 1e-15, "{number}, not {expected}");
    };
    let found = compared(dir.path(), &["a", "b"]);
    assert!(found["common_time"].is_null());
    for (row, name) in found["rows"].as_array().unwrap().iter().zip(["a", "b"]) {
        assert!(row["end_time"].is_null() && row["peak_time"].is_null(), "{row}");
        is(&row["kinetic_energy"], end(name, "kinetic_energy"));
        for (key, column) in [
            ("kinetic_energy_difference", "kinetic_energy"),
            ("dissipation_difference", "dissipation"),
        ] {
            is(&row[key], (end(name, column) - end("a", column)).abs());
        }
    }
    let drawn = read(dir.path().join("compare-kinetic_energy.svg"));
    assert!(drawn.contains(">step</text>") && !drawn.contains("time t"));
    assert!(done(dir.path(), ["compare", "a", "b"]).out.contains("energy at the end"));
    // Beside a run in time.
    let found = compared(dir.path(), &["c", "a"]);
    is(&found["common_time"], end("c", "time"));
    is(&found["rows"][1]["kinetic_energy"], end("a", "kinetic_energy"));
    let note = "a is a steady run: it has no times, and is compared only at its end";
    assert!(found["notes"].as_array().unwrap().iter().any(|own| own == note), "{}", found["notes"]);
    let drawn = read(dir.path().join("compare-kinetic_energy.svg"));
    assert!(
        drawn.contains("time t") && drawn.contains(">c</text>") && !drawn.contains(">a</text>")
    );
    let said = done(dir.path(), ["plot", "c", "a"]).out;
    assert!(said.contains(note), "{said}");
    let figures = super::plot::figures(&read(dir.path().join("plot.html")));
    let curves = |name: &str| &figures.iter().find(|figure| figure.0 == name).unwrap().1;
    assert_eq!(*curves("kinetic_energy"), ["c"]);
    assert_eq!(*curves("surface"), ["c, t = 0.02", "a, steady"]);
}

#[test]
fn what_cannot_be_compared_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    fs::create_dir(dir.path().join("empty")).unwrap();
    let refused = |arguments: &[&str], code: i32, what: &str| {
        let outcome = kolmo(dir.path(), [&["compare"], arguments].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(what), "{arguments:?}: {}", outcome.err);
        assert!(!dir.path().join("compare.html").exists());
    };
    refused(&[], 2, "<RUN_DIR>");
    refused(&["a", "nowhere"], 2, "error: there is no directory nowhere\n");
    refused(
        &["empty", "nowhere"],
        2,
        "error: empty has no series.csv: it holds no run\nerror: there is",
    );
    refused(&["a/config.toml"], 2, "error: a/config.toml is a file, not the directory of a run");
    refused(&["a", "--out", "picture.png"], 2, "error: --out picture.png does not end in .html");
    refused(&["a"; 8], 2, "error: 8 runs are too many for one figure");
    refused(&["a", "--time", "nan"], 2, "a time is a finite number");
    let file = dir.path().join("a/series.csv");
    let text = read(&file);
    let header = text.lines().next().unwrap().to_string() + "\n";
    fs::write(&file, &header).unwrap();
    refused(&["a"], 1, "error: a/series.csv: there are no rows");
    fs::write(&file, text.replace("\n0,", "\n0,x")).unwrap();
    refused(&["a"], 1, "error: a/series.csv: line 2: ");
    fs::write(&file, "").unwrap();
    refused(&["a"], 1, "error: a/series.csv: the file is empty");
    fs::write(&file, text).unwrap();
    let summary = dir.path().join("a/summary.json");
    let text = read(&summary);
    fs::write(&summary, &text[..40]).unwrap();
    refused(&["a"], 1, "error: a/summary.json: ");
    fs::remove_file(&summary).unwrap();
    refused(&["a"], 2, "error: a has no summary.json: the run is still in progress, or was killed");
}
