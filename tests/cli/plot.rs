//! `kolmo plot` of several runs: shared columns are overlaid, and what cannot be plotted is reported.

use super::*;

fn run(directory: &Path, name: &str, further: &[&str]) {
    let set =
        ["--set", "time={ end = 0.2, dt = 0.05 }", "--set", "output.fields=none", "--out", name];
    let further: Vec<&str> = further.iter().flat_map(|set| ["--set", set]).collect();
    run_ok(directory, small_run(&[&set[..], &further].concat()));
}

/// The figures of a page: name and labels of the curves.
pub(super) fn figures(page: &str) -> Vec<(String, Vec<String>)> {
    let figures = page.split("id=\"plot-").skip(1);
    let figure = |text: &str| {
        let name = text.split('"').next().unwrap().to_string();
        let data = text.split_once("<script type=\"application/json\">").unwrap().1;
        let data: serde_json::Value =
            serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        let labels = data["curves"].as_array().unwrap().iter();
        (name, labels.map(|curve| curve["label"].as_str().unwrap().to_string()).collect())
    };
    figures.map(figure).collect()
}

#[test]
fn runs_are_overlaid_with_differing_keys_in_their_labels() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "runs/a", &[]);
    run(dir.path(), "runs/b", &["scheme.derivative=compact4"]);
    run(dir.path(), "more/a", &["compute.threads=2"]);
    let outcome = run_ok(dir.path(), ["plot", "runs/a", "runs/b"]);
    assert!(outcome.stdout.ends_with("\nplot.html\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("constant to round-off: ") && outcome.stdout.contains("mass"));
    let page = read(dir.path().join("plot.html"));
    let drawn = figures(&page);
    let labels = ["a, derivative = compact6", "b, derivative = compact4"];
    for name in ["kinetic_energy", "dissipation", "enstrophy", "max_mach"] {
        let (_, curves) = drawn.iter().find(|figure| figure.0 == name).unwrap();
        assert_eq!(curves[..2], labels, "{name}");
    }
    assert!(drawn.iter().all(|(name, _)| !["mass", "time", "dt"].contains(&&**name)), "{drawn:?}");
    assert!(page.contains("<td>scheme.derivative</td><td>compact6</td><td>compact4</td>"));
    assert!(
        ["<script src", "src=\"", "href=", "url("].iter().all(|external| !page.contains(external))
    );
    // Runs of the same name are labelled by their paths. Machine settings distinguish runs that are otherwise identical.
    run_ok(
        dir.path(),
        ["plot", "runs/a", "more/a", "--columns", "enstrophy", "--out", "out/same.html"],
    );
    let drawn = figures(&read(dir.path().join("out/same.html")));
    let names = ["runs/a", "more/a"];
    assert_eq!(drawn.len(), 1);
    for ((label, name), threads) in drawn[0].1.iter().zip(names).zip(["auto", "2"]) {
        assert_eq!(*label, format!("{name}, threads = {threads}"));
    }
}

/// Catches column names, possibly from a foreign file, that close an attribute of the HTML page.
#[test]
fn column_names_are_escaped_in_the_page() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        run(dir.path(), name, &[]);
        let series = dir.path().join(name).join("series.csv");
        let text = read(&series).replacen("enstrophy", "\"><img src=x>", 1);
        fs::write(&series, text).unwrap();
    }
    run_ok(dir.path(), ["plot", "a", "b"]);
    let page = read(dir.path().join("plot.html"));
    assert!(page.contains("&lt;img src=x") && !page.contains("<img"), "{page}");
}

#[test]
fn a_reference_shared_by_runs_is_drawn_once_and_others_are_labelled() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a", &[]);
    run(dir.path(), "b", &["scheme.derivative=compact4"]);
    let reference = "# somebody\ntime,kinetic_energy,dissipation\n0,0.125,0.001\n0.2,0.124,0.002\n0.4,0.1,0.1\n";
    fs::write(dir.path().join("a/reference.csv"), reference).unwrap();
    fs::write(dir.path().join("b/reference.csv"), reference).unwrap();
    let reference_curves = || {
        run_ok(dir.path(), ["plot", "a", "b", "--columns", "kinetic_energy"]);
        let page = read(dir.path().join("plot.html"));
        (figures(&page).remove(0).1.split_off(2), page)
    };
    let (curves, page) = reference_curves();
    assert_eq!(curves, ["reference"]);
    assert_eq!(page.matches("Reference: somebody.").count(), 1);
    fs::write(dir.path().join("b/reference.csv"), reference.replace("0.124", "0.123")).unwrap();
    let (curves, _) = reference_curves();
    assert_eq!(
        curves,
        ["a, derivative = compact6", "b, derivative = compact4"]
            .map(|run| format!("reference of {run}"))
    );
}

#[test]
fn plot_of_different_cases_draws_shared_columns_and_rejects_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "vortex", &[]);
    let scalar = ["run", "scalar-advection", "--set", "grid.points=[16, 1, 1]", "--out", "scalar"];
    run_ok(dir.path(), scalar);
    let wave = [
        "run",
        "acoustic-wave",
        "--set",
        "grid.points=[16, 1, 1]",
        "--set",
        "time.max_steps=4",
        "--out",
        "wave",
    ];
    run_ok(dir.path(), wave);
    let outcome = run_ok(dir.path(), ["plot", "vortex", "wave"]);
    assert!(
        outcome.stdout.starts_with("note: wave is a different flow (acoustic-wave"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("not all runs have them: error_l2, error_max"),
        "{}",
        outcome.stdout
    );
    let rejects = |arguments: &[&str], code: i32, message: &str| {
        let outcome = kolmo(dir.path(), [&["plot"], arguments].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    };
    fs::remove_file(dir.path().join("plot.html")).unwrap();
    rejects(&["vortex", "scalar"], 2, "error: the runs share no column that changes\n");
    rejects(&["vortex", "nowhere"], 2, "error: there is no directory nowhere\n");
    rejects(
        &["vortex", "wave", "--columns", "drag"],
        2,
        "error: --columns: not all runs have a curve `drag`\n       they share ",
    );
    rejects(&["vortex", "wave", "--columns", "time"], 2, "not all runs have a curve `time`");
    rejects(
        &["vortex", "wave", "--out", "picture.png"],
        2,
        "error: --out picture.png does not end in .html",
    );
    rejects(&["vortex"; 8], 2, "error: 8 runs are too many for one figure");
    rejects(
        &["vortex", "--out", "a.html"],
        2,
        "error: --out, --columns and --overwrite are options for several runs",
    );
    fs::write(dir.path().join("plot.html"), "mine").unwrap();
    rejects(
        &["vortex", "wave"],
        2,
        "error: plot.html would be replaced: `kolmo plot` did not write it",
    );
    fs::write(dir.path().join("wave/config.toml"), "[case\n").unwrap();
    rejects(&["vortex", "wave", "--overwrite"], 1, "wave/config.toml: ");
    assert_eq!(read(dir.path().join("plot.html")), "mine");
}

#[test]
fn profiles_of_runs_are_overlaid_with_the_exact_solution() {
    let dir = tempfile::tempdir().unwrap();
    for (name, points) in [("coarse", "grid.points=[16, 1, 1]"), ("fine", "grid.points=[32, 1, 1]")]
    {
        run_ok(dir.path(), ["run", "scalar-advection", "--set", points, "--out", name]);
    }
    run_ok(dir.path(), ["plot", "coarse", "fine"]);
    let drawn = figures(&read(dir.path().join("plot.html")));
    let (_, curves) = drawn.iter().find(|figure| figure.0 == "profile").unwrap();
    assert_eq!(curves.len(), 3);
    assert!(curves[0].starts_with("coarse, points = [16, 1, 1], t = "), "{curves:?}");
    assert_eq!(curves[2], "exact");
}

/// Catches a series that `compare` rejects but `plot` draws.
#[test]
fn plot_and_compare_reject_a_series_whose_times_do_not_increase() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["run", "other"] {
        run(dir.path(), name, &[]);
    }
    let file = dir.path().join("run/series.csv");
    let series = read(&file);
    let (before, last) = series.trim_end().rsplit_once('\n').unwrap();
    let cells: Vec<&str> = last.split(',').collect();
    fs::write(&file, format!("{before}\n{},nan,{}\n", cells[0], cells[2..].join(","))).unwrap();
    for command in [&["plot", "run"][..], &["compare", "run", "other"]] {
        let outcome = kolmo(dir.path(), command);
        assert!(
            outcome.stderr.contains("the times do not increase"),
            "{command:?}: {}",
            outcome.stderr
        );
    }
}
