//! What happens before the first step, and at steps that several outputs ask for.

use super::*;

#[test]
fn an_impossible_start_writes_nothing_and_leaves_the_old_run() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run"]));
    let before = read(dir.path().join("run/series.csv"));
    // p₀ = 1/(γ Ma²) is smaller than what the vortex takes from it.
    let further = ["--out", "run", "--overwrite", "--set", "case.mach=2"];
    let refused = kolmo(dir.path(), small(&further));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("the initial state has pressure = -"), "{}", refused.err);
    assert_eq!(read(dir.path().join("run/series.csv")), before);
    let refused = kolmo(dir.path(), small(&["--out", "new", "--set", "case.mach=2"]));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(!dir.path().join("new").exists());
}

#[test]
fn files_that_no_run_made_are_neither_replaced_nor_removed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), "# mine").unwrap();
    for further in [&["--out", "."][..], &["--out", ".", "--overwrite"]] {
        let refused = kolmo(dir.path(), small(further));
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("holds a config.toml"), "{}", refused.err);
    }
    assert_eq!(read(dir.path().join("config.toml")), "# mine");

    done(dir.path(), small(&["--out", "run"]));
    fs::write(dir.path().join("run/plots/thesis.pdf"), "mine").unwrap();
    done(dir.path(), small(&["--out", "run", "--overwrite"]));
    assert_eq!(read(dir.path().join("run/plots/thesis.pdf")), "mine");
}

#[test]
fn outputs_that_coincide_but_for_round_off_share_a_step() {
    let dir = tempfile::tempdir().unwrap();
    let set = [
        "grid.points=[12, 12, 12]",
        "time.end=1",
        "output.directory=run",
        "output.series.every_time=0.1",
        "output.fields={ every_time = 0.3 }",
        "scheme.filter={ order = 8, alpha = 0.495 }",
    ];
    let set = set.iter().flat_map(|set| ["--set", set]);
    done(dir.path(), ["run", "taylor-green"].into_iter().chain(set));
    let series = kolmo::io::Series::read(&dir.path().join("run/series.csv")).unwrap();
    let dt = &series.column("dt").unwrap()[1..];
    assert!(dt.iter().all(|dt| *dt > 1e-3), "{dt:?}");
    let rate = series.column("ke_rate_filter").unwrap();
    assert!(rate.iter().all(|rate| rate.abs() < 0.1), "{rate:?}");
}

/// Catches what a filter of before did to the energy told of a run without one, and that of a new filter shared out over the time of before.
#[test]
fn a_filter_that_a_restart_switches_off_or_on_is_told_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let filter = "scheme.filter={ order = 4, alpha = 0.3, every = 1 }";
    let run = |out: &str, filter: &str| {
        let set = [filter, "case.reynolds=100", "grid.points=[12, 12, 12]", "time.max_steps=6"];
        let set = set.iter().chain(&["output.series.every_steps=1"]);
        let set = set.flat_map(|set| ["--set", set]);
        done(dir.path(), ["run", "taylor-green", "--out", out].into_iter().chain(set));
    };
    let rates = |out: &str, filter: &str| {
        done(dir.path(), ["restart", out, "--set", filter, "--set", "time.max_steps=9"]);
        let series = kolmo::io::Series::read(&dir.path().join(out).join("series.csv")).unwrap();
        series.column("ke_rate_filter").unwrap()[7..].to_vec()
    };
    run("off", filter);
    assert_eq!(rates("off", "scheme.filter='none'"), [0.0; 3]);
    run("on", "scheme.filter='none'");
    let on = rates("on", filter);
    assert!(on[0] < 0.0 && (on[0] / on[2] - 1.0).abs() < 0.5, "{on:?}");
}

#[test]
fn a_run_that_did_not_reach_the_peak_of_its_reference_has_not_passed() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run", "--set", "case.reynolds=200"]));
    let run = dir.path().join("run");
    assert!(run.join("reference.csv").exists());
    assert_ne!(summary(&run)["verdict"], "passed");
}

#[test]
fn a_wide_bell_and_a_closed_error_stream_are_no_trouble() {
    let dir = tempfile::tempdir().unwrap();
    let wide = ["run", "scalar-advection", "--set", "case.width=60", "--set", "time.max_steps=2"];
    done(dir.path(), wide.into_iter().chain(["--set", "grid.points=[16, 1, 1]"]));
    let refused = kolmo(dir.path(), ["run", "scalar-advection", "--set", "case.width=1e9"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let quiet =
        format!("{} run shear-wave --set time.max_steps=2 --out quiet 2>/dev/full", program());
    assert_eq!(shell(dir.path(), &quiet).code, Some(0));
    assert!(dir.path().join("quiet/report.html").exists());
}

/// Catches sections that a run writes of the flow that it took over, and then refuses; and coordinates of one line of each axis as
/// those of all points.
#[test]
fn a_new_run_on_a_curvilinear_grid_goes_on_and_repeats_itself() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[32, 33, 1]", "--set", "time={ max_steps = 2 }"];
    done(dir.path(), [&["run", "cylinder", "--out", "first"][..], &set].concat());
    let checkpoint = dir.path().join("first/checkpoints/step_00000002.zarr");
    assert_eq!(["x", "y", "z"].map(|axis| checkpoint.join(axis).exists()), [false, false, true]);
    let input = "case={ name = 'from-checkpoint', path = 'first' }\ntime.max_steps = 4\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    done(dir.path(), ["run", "next.toml", "--out", "next"]);
    done(dir.path(), ["run", "next/config.toml", "--out", "again"]);
    let rows = |run: &str| read(dir.path().join(run).join("series.csv"));
    let last = |run: &str| rows(run).lines().last().unwrap().to_string();
    assert_eq!(last("again"), last("next"));
    done(dir.path(), ["restart", "next", "--set", "time.max_steps=5"]);
    assert!(last("next").starts_with("5,"), "{}", rows("next"));
}
