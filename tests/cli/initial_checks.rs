//! Checks before the first step, steps at which several outputs are due, and starts from a checkpoint.

use super::*;

#[test]
fn an_invalid_initial_state_writes_nothing_and_keeps_the_old_run() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let before = read(dir.path().join("run/series.csv"));
    // p₀ = 1/(γ Ma²) is smaller than the pressure drop in the vortex.
    let further = ["--out", "run", "--overwrite", "--set", "case.mach=2"];
    let rejected = kolmo(dir.path(), small_run(&further));
    assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
    assert!(rejected.stderr.contains("the initial state has pressure = -"), "{}", rejected.stderr);
    assert_eq!(read(dir.path().join("run/series.csv")), before);
    let rejected = kolmo(dir.path(), small_run(&["--out", "new", "--set", "case.mach=2"]));
    assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
    assert!(!dir.path().join("new").exists());
}

#[test]
fn files_that_no_run_wrote_are_neither_replaced_nor_removed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), "# mine").unwrap();
    for further in [&["--out", "."][..], &["--out", ".", "--overwrite"]] {
        let rejected = kolmo(dir.path(), small_run(further));
        assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
        assert!(rejected.stderr.contains("holds a config.toml"), "{}", rejected.stderr);
    }
    assert_eq!(read(dir.path().join("config.toml")), "# mine");

    run_ok(dir.path(), small_run(&["--out", "run"]));
    fs::write(dir.path().join("run/plots/thesis.pdf"), "mine").unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--overwrite"]));
    assert_eq!(read(dir.path().join("run/plots/thesis.pdf")), "mine");
}

#[test]
fn outputs_due_at_the_same_time_up_to_round_off_share_a_step() {
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
    run_ok(dir.path(), ["run", "taylor-green"].into_iter().chain(set));
    let series = kolmo::io::Series::read(&dir.path().join("run/series.csv")).unwrap();
    let dt = &series.column("dt").unwrap()[1..];
    assert!(dt.iter().all(|dt| *dt > 1e-3), "{dt:?}");
    let rate = series.column("ke_rate_filter").unwrap();
    assert!(rate.iter().all(|rate| rate.abs() < 0.1), "{rate:?}");
}

/// Catches the effect of a previous filter on the energy reported for a run without one, and that of a new filter spread over earlier time.
#[test]
fn filter_energy_rate_follows_a_filter_switched_off_or_on_at_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let filter = "scheme.filter={ order = 4, alpha = 0.3, every = 1 }";
    let run = |out: &str, filter: &str| {
        let set = [filter, "case.reynolds=100", "grid.points=[12, 12, 12]", "time.max_steps=6"];
        let set = set.iter().chain(&["output.series.every_steps=1"]);
        let set = set.flat_map(|set| ["--set", set]);
        run_ok(dir.path(), ["run", "taylor-green", "--out", out].into_iter().chain(set));
    };
    let rates = |out: &str, filter: &str| {
        run_ok(dir.path(), ["restart", out, "--set", filter, "--set", "time.max_steps=9"]);
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
fn a_run_that_ends_before_the_peak_of_its_reference_has_not_passed() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "case.reynolds=200"]));
    let run = dir.path().join("run");
    assert!(run.join("reference.csv").exists());
    assert_ne!(summary(&run)["verdict"], "passed");
}

#[test]
fn a_wide_gaussian_and_an_unwritable_stderr_do_not_fail_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let wide = ["run", "scalar-advection", "--set", "case.width=60", "--set", "time.max_steps=2"];
    run_ok(dir.path(), wide.into_iter().chain(["--set", "grid.points=[16, 1, 1]"]));
    let rejected = kolmo(dir.path(), ["run", "scalar-advection", "--set", "case.width=1e9"]);
    assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
    let quiet =
        format!("{} run shear-wave --set time.max_steps=2 --out quiet 2>/dev/full", program());
    assert_eq!(shell(dir.path(), &quiet).code, Some(0));
    assert!(dir.path().join("quiet/report.html").exists());
}

/// Catches sections of config.toml that a run writes for the flow that it took over but then rejects; and coordinates of one line of
/// each axis written as those of all points.
#[test]
fn a_curvilinear_run_from_a_checkpoint_repeats_and_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[32, 33, 1]", "--set", "time={ max_steps = 2 }"];
    run_ok(dir.path(), [&["run", "cylinder", "--out", "first"][..], &set].concat());
    let checkpoint = dir.path().join("first/checkpoints/step_00000002.zarr");
    assert_eq!(["x", "y", "z"].map(|axis| checkpoint.join(axis).exists()), [false, false, true]);
    let input = "case={ name = 'from-checkpoint', path = 'first' }\ntime.max_steps = 4\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    run_ok(dir.path(), ["run", "next.toml", "--out", "next"]);
    run_ok(dir.path(), ["run", "next/config.toml", "--out", "again"]);
    let rows = |run: &str| read(dir.path().join(run).join("series.csv"));
    let last = |run: &str| rows(run).lines().last().unwrap().to_string();
    assert_eq!(last("again"), last("next"));
    run_ok(dir.path(), ["restart", "next", "--set", "time.max_steps=5"]);
    assert!(last("next").starts_with("5,"), "{}", rows("next"));
}
