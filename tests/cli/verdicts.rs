//! The verdict of a run: one status and one reason, the same wherever it is reported, and no pass without a reason.

use super::*;

/// Runs the Taylor-Green vortex into `run` with `set`; returns (status, reason), and asserts that the end of the run's output, its
/// report and `kolmo compare` state the same as its summary.
fn verdict(directory: &Path, set: &[&str]) -> (String, String) {
    let arguments =
        ["run", "taylor-green", "--out", "run", "--overwrite", "--set", "output.fields=none"];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let outcome = run_ok(directory, arguments.into_iter().chain(set));
    let run = directory.join("run");
    let summary = summary(&run);
    let [status, reason] = ["verdict", "verdict_reason"].map(|key| summary[key].as_str().unwrap());
    let expected = format!("{status}: {reason}");
    assert_eq!(outcome.stderr.lines().rev().nth(1), Some(&*expected), "{}", outcome.stderr);
    let page = read(run.join("report.html"));
    let block = page.lines().find(|line| line.starts_with("<div class=\"verdict")).unwrap();
    assert_eq!(page.matches("<div class=\"verdict").count(), 1);
    let words = |text: &str| text.to_lowercase().replace(['.', ' '], "");
    assert!(
        words(block).contains(&words(status)) && words(block).contains(&words(reason)),
        "{block}"
    );
    assert!(run_ok(directory, ["compare", "run"]).stdout.contains(&format!("run: {expected}")));
    let compared = read(directory.join("compare.html"));
    assert!(compared.contains(&expected), "{expected}");
    (status.into(), reason.into())
}

#[test]
fn a_run_on_5x5x5_points_compared_only_at_its_start_has_not_passed() {
    let dir = tempfile::tempdir().unwrap();
    let set = [
        "case.reynolds=1600",
        "grid.points=[5, 5, 5]",
        "time.end=20",
        "output.series={ every_steps = 10000 }",
    ];
    let (status, reason) = verdict(dir.path(), &set);
    assert_eq!(status, "under-resolved");
    assert!(reason.starts_with("kmax η falls to 0.0"), "{reason}");
    assert!(!reason.contains("on the reference"), "{reason}");
}

#[test]
fn an_under_resolved_run_with_few_series_rows_does_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    for every in ["every_steps = 1000", "every_wall = 600.0"] {
        let every = format!("output.series={{ {every} }}");
        let set = ["case.reynolds=200", "grid.points=[8, 8, 8]", "time.end=20", &every];
        assert_eq!(verdict(dir.path(), &set).0, "under-resolved");
    }
}

#[test]
fn a_resolved_run_that_ends_before_the_peak_has_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        ["case.reynolds=100", "grid.points=[32, 32, 32]", "time={ max_steps = 2, cfl = 0.8 }"];
    let (status, reason) = verdict(dir.path(), &set);
    assert_eq!(status, "no verdict");
    assert!(reason.contains("before the peak of the reference at t = 4.9"), "{reason}");
}

#[test]
fn cases_with_exact_solutions_report_the_error_of_a_relevant_quantity() {
    let dir = tempfile::tempdir().unwrap();
    for (case, points, quantity) in [
        ("entropy-wave", "[16, 1, 1]", "the density"),
        // Its density is constant, so the error of the density is not meaningful.
        ("shear-wave", "[16, 1, 1]", "ρv"),
        ("scalar-advection", "[16, 16, 1]", "the scalar"),
    ] {
        let points = format!("grid.points={points}");
        let set = ["--set", &points, "--set", "time.max_steps=9"];
        let outcome = run_ok(dir.path(), [&["run", case, "--out", case][..], &set].concat());
        let run = dir.path().join(case);
        let series = Series::read(&run.join("series.csv")).unwrap();
        let error = series.column("error_max").unwrap().last().copied().unwrap();
        let message = format!(
            "the largest error against the exact solution is {error:.1e} at the end, of {quantity}"
        );
        let line = outcome.stderr.lines().find(|line| line.starts_with("measured: "));
        assert_eq!(line.unwrap_or(&outcome.stderr), format!("measured: {message}"));
        let profile = Series::read(&run.join("profile.csv")).unwrap();
        let [of_run, exact] = [1, 2].map(|at| profile.column(&profile.names()[at]).unwrap());
        let deviation = of_run.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // In the two-dimensional scalar case, the line through the middle may miss the largest error.
        let is_consistent =
            if case == "scalar-advection" { deviation <= error } else { deviation == error };
        assert!(is_consistent && error > 0.0, "{case}: {deviation:e} {error:e}");
    }
}

#[test]
fn report_omits_round_off_quantities_and_plots_profile_against_exact() {
    let dir = tempfile::tempdir().unwrap();
    // The wave has uniform velocity and pressure, the vortex does not.
    for (case, drawn, slices) in [
        ("entropy-wave", &["error", "kinetic_energy", "profile"][..], false),
        ("isentropic-vortex", &["budget", "enstrophy", "error", "kinetic_energy", "profile"], true),
        ("scalar-advection", &["error", "profile", "scalar_range", "scalar_variance"], true),
    ] {
        for precision in ["f64", "f32"] {
            let set = format!("compute.precision={precision}");
            let points = "grid.points=[24, 23, 1]";
            let steps = "time={ max_steps = 5 }";
            let arguments = ["run", case, "--out", "run", "--overwrite", "--set", points];
            let more =
                ["--set", steps, "--set", "output.series={ every_steps = 1 }", "--set", &set];
            run_ok(dir.path(), [&arguments[..], &more].concat());
            let plots: Vec<String> = drawn.iter().map(|name| format!("{name}.svg")).collect();
            assert_eq!(file_names(&dir.path().join("run/plots")), plots, "{case} {precision}");
            let page = read(dir.path().join("run/report.html"));
            assert_eq!(page.contains("<h2>Slices"), slices, "{case} {precision}");
            assert_eq!(page.contains("energy budget closes to"), case == "isentropic-vortex");
        }
    }
}

/// Catches a typical channel grid that is reported as under-resolved because of its largest spacing and the dissipation at the wall.
#[test]
fn channel_reports_wall_unit_spacings_and_is_not_judged_by_kmax_eta() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[12, 33, 8]", "--set", "grid.length=[3, 2, 1]"];
    let stretched = ["--set", "grid.stretching={ y = { map = 'tanh', factor = 1.5 } }"];
    let steps = ["--set", "time.max_steps=3"];
    let more = [&["run", "channel", "--out", "run"][..], &set, &stretched, &steps].concat();
    run_ok(dir.path(), more);
    let run = dir.path().join("run");
    let summary = summary(&run);
    let series = Series::read(&run.join("series.csv")).unwrap();
    let re = *series.column("friction_reynolds").unwrap().last().unwrap();
    // y = tanh(1.5 η) / tanh 1.5 between the walls at ±1.
    let y = |i: f64| (1.5 * (i / 16.0 - 1.0)).tanh() / 1.5_f64.tanh();
    let units = &summary["wall_units"];
    let close = |at: &serde_json::Value, value: f64| {
        assert!((at.as_f64().unwrap() / value - 1.0).abs() < 1e-12, "{units}: {value}");
    };
    close(&units["friction_reynolds"], re);
    for (axis, [least, most]) in
        [[0.25; 2], [y(1.0) - y(0.0), y(16.0) - y(15.0)], [0.125; 2]].into_iter().enumerate()
    {
        close(&units["spacing"][axis][0], least * re);
        close(&units["spacing"][axis][1], most * re);
    }
    assert!(summary["resolution"].is_null() && summary["verdict"] == "no reference");
    let reason = summary["verdict_reason"].as_str().unwrap();
    let expected = format!("Δx⁺ = {:.1}, Δy⁺ = ", 0.25 * re);
    assert!(reason.contains(&expected) && reason.contains(&format!("Re_τ = {re:.1}")), "{reason}");
    assert!(!run.join("plots/resolution.svg").exists());
}

/// Symmetry planes do no work and transfer no heat, but exert a force.
#[test]
fn conserved_quantities_in_the_report_follow_the_boundary_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let all = ["mass, relative", "momentum, absolute", "total energy, relative"];
    for (case, set, conserved, loses) in [
        ("taylor-green", "case.octant=false", &all[..], true),
        ("taylor-green", "case.octant=true", &[all[0], all[2]], true),
        ("couette-flow", "case.mach=0.5", &all[..1], false),
    ] {
        let points =
            ["--set", "grid.points=[17, 17, 17]", "--set", "time.max_steps=2", "--set", set];
        run_ok(dir.path(), [&["run", case, "--out", "run", "--overwrite"][..], &points].concat());
        let page = read(dir.path().join("run/report.html"));
        for name in all {
            let is_listed = page.contains(&format!("drift of {name}"));
            assert_eq!(is_listed, conserved.contains(&name), "{case} {set}: {name}");
        }
        assert_eq!(page.contains("From the energy: "), loses, "{case} {set}");
    }
}

#[test]
fn a_resolved_run_that_matches_its_reference_past_the_peak_passes() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["case.reynolds=100", "grid.points=[32, 32, 32]", "time.end=5.5"];
    let (status, reason) = verdict(dir.path(), &set);
    assert_eq!(status, "passed", "{reason}");
    assert!(reason.starts_with("on the reference up to t = 5.5: "), "{reason}");
}

/// Regression: the rows of the coarse grid were judged by the spacing of the fine one.
#[test]
fn an_under_resolved_run_stays_under_resolved_after_a_grid_refinement() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["case.reynolds=100", "grid.points=[8, 8, 8]", "time={ max_steps = 2, cfl = 0.8 }"];
    let (status, reason) = verdict(dir.path(), &set);
    assert_eq!(status, "under-resolved");
    for (further, points) in [(3, 40), (4, 48)] {
        let set = [
            &format!("grid.points=[{points}, {points}, {points}]"),
            &format!("time.max_steps={further}"),
        ];
        run_ok(dir.path(), ["restart", "run", "--set", set[0], "--set", set[1]]);
        let summary = summary(&dir.path().join("run"));
        assert_eq!(summary["verdict"], "under-resolved");
        assert_eq!(summary["verdict_reason"], reason);
    }
}

#[test]
fn a_run_with_changed_physics_is_not_compared_with_a_reference() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        ["case.reynolds=100", "grid.points=[32, 32, 32]", "time={ max_steps = 2, cfl = 0.8 }"];
    verdict(dir.path(), &set);
    let set = ["--set", "case.reynolds=50", "--set", "time.max_steps=3"];
    run_ok(dir.path(), [&["restart", "run", "--allow-physics-change"][..], &set].concat());
    let summary = summary(&dir.path().join("run"));
    assert_eq!(summary["verdict"], "no verdict");
    let reason = summary["verdict_reason"].as_str().unwrap();
    assert!(reason.starts_with("it was a different flow up to step 2; kmax η is "), "{reason}");
    assert!(summary["reference"].is_null());
}

/// The initial state of the new run is no more valid than the settings with which it was computed.
#[test]
fn a_run_started_from_another_flow_is_not_compared_with_its_reference() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["case.reynolds=50", "grid.points=[32, 32, 32]", "time={ max_steps = 2, cfl = 0.8 }"];
    verdict(dir.path(), &set);
    let from = ["case.name=from-checkpoint", "case.path=run", "case.reynolds=100"];
    let set = from.iter().chain(&["grid.points=[32, 32, 32]", "time.max_steps=3"]);
    let set = set.flat_map(|set| ["--set", set]);
    let command = ["run", "taylor-green", "--out", "next", "--allow-physics-change"];
    run_ok(dir.path(), command.into_iter().chain(set));
    let summary = summary(&dir.path().join("next"));
    let reason = summary["verdict_reason"].as_str().unwrap();
    assert!(reason.starts_with("it was a different flow up to step 2"), "{reason}");
    assert!(summary["reference"].is_null());
}

#[test]
fn a_part_on_another_grid_without_series_rows_gives_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        ["case.reynolds=100", "grid.points=[32, 32, 32]", "time={ max_steps = 2, cfl = 0.8 }"];
    verdict(dir.path(), &set);
    for (points, rows, steps) in [(8, 1000, 4), (32, 1, 5)] {
        let set = [
            format!("grid.points=[{points}, {points}, {points}]"),
            format!("output.series={{ every_steps = {rows} }}"),
            format!("time.max_steps={steps}"),
        ];
        let set = set.iter().flat_map(|set| ["--set", set]);
        run_ok(dir.path(), ["restart", "run"].into_iter().chain(set));
    }
    let summary = summary(&dir.path().join("run"));
    let reason = summary["verdict_reason"].as_str().unwrap();
    let message = "no row of series.csv shows the part on another grid up to step 4";
    assert!(summary["verdict"] == "no verdict" && reason.starts_with(message), "{reason}");
}

/// Regression: a table that anybody may change served as the reference.
#[cfg(unix)]
#[test]
fn the_reference_is_that_of_the_case_even_if_its_table_is_removed() {
    use super::signals::send;
    let dir = tempfile::tempdir().unwrap();
    let child = super::endings::long_run(dir.path());
    let run = dir.path().join("runs/taylor-green");
    fs::remove_file(run.join("reference.csv")).unwrap();
    send(libc::SIGTERM, &child);
    let ended: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(!summary(&run)["reference"].is_null());
    // The table of another flow is removed.
    let steps = summary(&run)["steps"].as_u64().unwrap() + 1;
    let (steps, flow) = (format!("time={{ max_steps = {steps}, cfl = 0.8 }}"), "case.reynolds=333");
    let set = ["--allow-physics-change", "--set", flow];
    for (set, exists) in [(&[][..], true), (&set, false)] {
        let command = ["restart", "runs/taylor-green", "--set", &steps];
        run_ok(dir.path(), [&command[..], set].concat());
        assert_eq!(run.join("reference.csv").exists(), exists);
        if exists {
            fs::remove_file(run.join("report.html")).unwrap();
        }
    }
}

/// ν and ε are those of the actual gas state, not of the reference state of the scaling.
#[test]
fn kmax_eta_of_a_dense_and_of_a_hot_gas_matches_the_statistics() {
    let dir = tempfile::tempdir().unwrap();
    let flow = "mach = 0.1, reynolds = 50, u = 'sin(x)*cos(y)*cos(z)', v = '-cos(x)*sin(y)*cos(z)'";
    for state in ["rho = '4', T = '1'", "rho = '1', T = '4'"] {
        let set = [
            &format!("case={{ name = 'custom', {flow}, {state} }}"),
            "gas.viscosity={ law = 'power', exponent = 0.76 }",
            "grid.points=[16, 16, 16]",
            "time.max_steps=1",
            "output.fields=none",
            "output.statistics={ every_steps = 1, quantities = ['turbulence'] }",
        ];
        let set = set.iter().flat_map(|set| ["--set", set]);
        run_ok(dir.path(), ["run", "custom", "--out", "run", "--overwrite"].into_iter().chain(set));
        let run = dir.path().join("run");
        let reported = summary(&run)["resolution"]["kmax_eta_min"].as_f64().unwrap();
        let table = Series::read(&run.join("statistics/turbulence.csv")).unwrap();
        let rows = table.column("kmax_eta").unwrap();
        let least = rows.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((reported / least - 1.0).abs() < 1e-6, "{state}: {reported} {least}");
    }
}
