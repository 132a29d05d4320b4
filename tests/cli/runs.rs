//! The files that a run writes, and the commands around it.

use super::*;

#[test]
fn a_run_writes_every_documented_file() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = run_ok(dir.path(), small_run(&["--set", "output.series={ every_steps = 1 }"]));
    assert!(outcome.stderr.ends_with("runs/taylor-green/report.html\n"), "{}", outcome.stderr);
    let run = dir.path().join("runs/taylor-green");
    #[rustfmt::skip]
    assert_eq!(file_names(&run), [
        "checkpoints", "config.toml", "fields", "log.jsonl", "manifest.txt", "plots", "reference.csv", "report.html",
        "series.csv", "slices", "summary.json",
    ]);
    assert_eq!(
        file_names(&run.join("fields")),
        ["fields.vti.series", "step_00000000.vti", "step_00000004.vti"]
    );
    assert_eq!(file_names(&run.join("slices")).len(), 2 * 3 + 1);
    let header = read(run.join("series.csv")).lines().next().unwrap().to_string();
    assert_eq!(header, kolmo::physics::FLOW_COLUMNS.join(","));
    assert_outputs_valid(&run, 5);
    let summary = summary(&run);
    assert_eq!(summary["finished"], true);
    assert_eq!((&summary["steps"], &summary["backend"]), (&4.into(), &"cpu".into()));
}

#[test]
fn the_written_configuration_repeats_a_run_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "first", "--set", "case.reynolds=123.4"]));
    run_ok(dir.path(), ["run", "first/config.toml", "--out", "second"]);
    for name in ["series.csv", "fields/step_00000004.vti", "slices/step_00000004_xy.png"] {
        let [first, second] =
            ["first", "second"].map(|run| fs::read(dir.path().join(run).join(name)).unwrap());
        assert!(first == second, "{name} differs");
    }
}

#[test]
fn series_and_fields_do_not_depend_on_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    // Odd sizes, so that the threads get unequal shares.
    let further = ["--set", "grid.points=[17, 24, 13]", "--set", "output.series.every_steps=1"];
    for threads in ["1", "2", "3"] {
        let set = format!("compute.threads={threads}");
        run_ok(dir.path(), small_run(&[&further[..], &["--set", &set, "--out", threads]].concat()));
    }
    for name in ["series.csv", "fields/step_00000004.vti"] {
        let [one, two, three] =
            ["1", "2", "3"].map(|run| fs::read(dir.path().join(run).join(name)).unwrap());
        assert!(one == two && two == three, "{name} differs");
    }
}

#[test]
fn opencl_run_writes_the_same_files_as_the_cpu_and_matching_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let series = ["--set", "output.series={ every_steps = 1 }"];
    for backend in ["cpu", "opencl"] {
        let further = ["--backend", backend, "--out", backend];
        run_ok(dir.path(), small_run(&[&series[..], &further].concat()));
    }
    let [host, device] = ["cpu", "opencl"].map(|run| dir.path().join(run));
    assert_eq!(file_names(&host), file_names(&device));
    assert_eq!(file_names(&host.join("fields")), file_names(&device.join("fields")));
    assert_outputs_valid(&device, 5);
    let [a, b] = [&host, &device].map(|run| Series::read(&run.join("series.csv")).unwrap());
    for name in kolmo::physics::FLOW_COLUMNS {
        let [a, b] = [&a, &b].map(|series| series.column(name).unwrap());
        let scale = a.iter().copied().map(f64::abs).fold(1.0, f64::max);
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-11 * scale, "{name}: {a:e} and {b:e}");
        }
    }
    let summary = summary(&device);
    assert_eq!(summary["backend"], "opencl");
    assert!(summary["machine"]["device"].is_string());
    assert!(
        summary["ns_per_point_stage"].as_f64().unwrap() > 1.0,
        "the time includes the wait for the device"
    );
    assert!(read(device.join("report.html")).contains(">device</th>"));
}

#[test]
fn every_shipped_input_runs() {
    let dir = tempfile::tempdir().unwrap();
    let configs = root().join("configs");
    let inputs: Vec<String> =
        file_names(&configs).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert!(inputs.len() >= 13, "{inputs:?}");
    for name in inputs {
        let input = configs.join(&name).display().to_string();
        let points: Vec<String> = toml_points(&input)
            .iter()
            .map(|&n| if n > 1 { few(&name) } else { 1 })
            .map(|n| n.to_string())
            .collect();
        let points = format!("grid.points=[{}]", points.join(", "));
        let arguments =
            ["run", &input, "--set", &points, "--set", "time.max_steps=2", "--out", &name];
        run_ok(dir.path(), arguments);
        assert_eq!(summary(&dir.path().join(&name))["steps"], 2, "{name}");
    }
}

/// Points along an axis of a small run: a grid around an aerofoil folds with fewer than about 40 points around it.
fn few(name: &str) -> i64 {
    if name.starts_with("aerofoil") { 48 } else { 18 }
}

fn toml_points(input: &str) -> Vec<i64> {
    let table: toml::Table = read(input).parse().unwrap();
    table["grid"]["points"].as_array().unwrap().iter().map(|n| n.as_integer().unwrap()).collect()
}

#[test]
fn init_input_of_every_case_runs_and_vtk_and_pandas_read_the_output() {
    let dir = tempfile::tempdir().unwrap();
    let cases = run_ok(dir.path(), ["cases"]).stdout;
    let cases: Vec<&str> =
        cases.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(cases, kolmo::cases::NAMES);
    for &case in &cases {
        let input = dir.path().join("my.toml");
        fs::write(&input, run_ok(dir.path(), ["init", case]).stdout).unwrap();
        let points = toml_points(&input.display().to_string());
        let points: Vec<String> = points.iter().map(|&n| n.min(few(case)).to_string()).collect();
        let points = format!("grid.points=[{}]", points.join(", "));
        let time = "time={ max_steps = 3 }";
        let series = "output.series={ every_steps = 1 }";
        let arguments =
            ["run", "my.toml", "--set", &points, "--set", time, "--set", series, "--out", case];
        run_ok(dir.path(), arguments);
        let rows = read(dir.path().join(case).join("series.csv"));
        let header = rows.lines().next().unwrap();
        let without_exact = [
            "taylor-green",
            "kida-vortex",
            "abc-flow",
            "double-shear-layer",
            "isotropic-turbulence",
            "channel",
            "boundary-layer",
            "lid-driven-cavity",
            "cylinder",
            "aerofoil",
            "custom",
        ];
        let has_exact = !without_exact.contains(&case);
        assert_eq!(header.ends_with("error_l2,error_max"), has_exact, "{header}");
        assert_eq!(dir.path().join(case).join("profile.csv").exists(), has_exact, "{case}");
    }
    let runs: Vec<PathBuf> = cases.iter().map(|case| dir.path().join(case)).collect();
    assert_all_outputs_valid(&runs.iter().map(PathBuf::as_path).collect::<Vec<_>>(), 4);
}

#[test]
fn outputs_are_written_at_the_requested_times_in_single_precision_too() {
    let dir = tempfile::tempdir().unwrap();
    let further = [
        "--set",
        "time={ end = 0.35 }",
        "--set",
        "output.series={ every_time = 0.1 }",
        "--set",
        "output.fields={ every_time = 0.25, variables = ['density', 'temperature', 'dilatation'] }",
        "--set",
        "compute.precision=f32",
        "--out",
        "run",
    ];
    run_ok(dir.path(), small_run(&further));
    let run = dir.path().join("run");
    let series = Series::read(&run.join("series.csv")).unwrap();
    assert_eq!(series.column("time").unwrap(), [0.0, 0.1, 0.2, 0.30000000000000004, 0.35]);
    let index: serde_json::Value =
        serde_json::from_str(&read(run.join("fields/fields.vti.series"))).unwrap();
    let times: Vec<f64> =
        index["files"].as_array().unwrap().iter().map(|f| f["time"].as_f64().unwrap()).collect();
    assert_eq!(times, [0.0, 0.25, 0.35]);
    assert_outputs_valid(&run, 5);
}

#[test]
fn plot_redraws_a_run_and_rejects_directories_without_a_run() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let report = dir.path().join("run/report.html");
    let before = read(&report);
    fs::remove_file(&report).unwrap();
    fs::remove_dir_all(dir.path().join("run/plots")).unwrap();
    let outcome = run_ok(dir.path(), ["plot", "run"]);
    assert_eq!(outcome.stdout, "run/report.html\n");
    assert!(read(&report) == before);
    fs::create_dir(dir.path().join("empty")).unwrap();
    for path in ["nowhere", "empty"] {
        let outcome = kolmo(dir.path(), ["plot", path]);
        assert_eq!(outcome.code, Some(2));
        assert!(
            outcome.stderr.starts_with(&format!("error: {path} holds no run\n")),
            "{}",
            outcome.stderr
        );
    }
    assert!(file_names(&dir.path().join("empty")).is_empty());
}

#[test]
fn the_image_of_the_readme_is_drawn_from_a_run() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let picture = dir.path().join("picture.png");
    run_script("postprocess/overview.py", &[&dir.path().join("run"), &picture]);
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn plan_reports_memory_time_and_disk_space_of_a_run_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let plan = |more: &str| shell(dir.path(), &format!("{} info --plan {more}", program()));
    let outcome = plan("taylor-green --set compute.backend=cpu --set grid.points=[32,32,32]");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for line in [
        "points   32 x 32 x 32, f64",
        "fields   15: 5 state, 5 rates, 5 gradients",
        "memory   120 bytes per point, 0.00 GiB",
        "words    74 read and written per point and stage",
        " ns per point and stage, as on 32 x 32 x 32 points",
        "run      about ",
        " steps of dt = ",
        "disk     about ",
        "MiB of fields",
    ] {
        assert!(outcome.stdout.contains(line), "no `{line}` in\n{}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("on this host: it fits; at most "), "{}", outcome.stdout);
    let large = "grid.points=[16384,16384,16384]";
    let outcome = plan(&format!("taylor-green --set compute.backend=cpu --set {large}"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("it does not fit; at most "), "{}", outcome.stdout);
    // A run of one step; the next step would diverge.
    let one = "--set grid.points=[16,16,16] --set 'time={ dt = 0.3, max_steps = 1 }'";
    let outcome = plan(&format!("taylor-green --set compute.backend=cpu {one}"));
    assert!(
        outcome.code == Some(0) && outcome.stdout.contains("1 steps of dt = 3.00e-1"),
        "{}",
        outcome.stderr
    );
    let rejected = plan("taylor-green --set grid.points=[0,1,1]");
    assert_eq!(rejected.code, Some(2), "{}", rejected.stdout);
    assert!(file_names(dir.path()).is_empty(), "nothing is written");
}

#[test]
fn info_describes_the_machine_and_the_help_of_commands_has_an_example() {
    let dir = tempfile::tempdir().unwrap();
    let info = run_ok(dir.path(), ["info"]).stdout;
    for name in ["kolmo", "cpu", "cores", "threads", "simd", "cuda", "nvrtc", "opencl", "mpi"] {
        assert!(info.lines().any(|line| line.starts_with(name)), "{name} in {info}");
    }
    let commands = [
        "run",
        "init",
        "cases",
        "info",
        "plot",
        "compare",
        "converge",
        "reproduce",
        "completions",
        "man",
    ];
    for command in commands {
        let help = run_ok(dir.path(), [command, "--help"]).stdout;
        assert!(help.contains(&format!("  kolmo {command}")), "{help}");
    }
    let help = run_ok(dir.path(), ["--help"]).stdout;
    assert!(help.contains("kolmo run taylor-green"), "{help}");
}

#[test]
fn a_closed_output_pipe_is_no_error_but_a_full_device_is() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["cases", "init taylor-green", "info"] {
        let outcome = shell(dir.path(), &format!("{} {command} | true", program()));
        assert_eq!(outcome.stderr, "", "{command}");
    }
    let outcome = shell(dir.path(), &format!("{} cases > /dev/full", program()));
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.starts_with("error: standard output: "), "{}", outcome.stderr);
}
