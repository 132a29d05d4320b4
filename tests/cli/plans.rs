//! `kolmo info --plan`, and the advice that a finished run prints, as users see them.

use super::*;

/// The rest of the line that starts with `name` in a plan.
fn line<'a>(plan: &'a str, name: &str) -> &'a str {
    let rest = plan.lines().find_map(|line| line.trim_start().strip_prefix(name));
    rest.unwrap_or_else(|| panic!("{name}: {plan}"))
}

fn plan(dir: &Path, arguments: &[&str]) -> String {
    run_ok(dir, [&["info", "--plan"], arguments].concat()).stdout
}

/// Expected disk space of the fields in KiB.
fn kib_of_fields(plan: &str) -> f64 {
    let (before, _) = line(plan, "disk").split_once(" KiB of fields").unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

/// dt of the first step: as the plan expects it, and as the run takes it.
fn first_time_steps(dir: &Path, arguments: &[&str]) -> [f64; 2] {
    let expected = plan(dir, arguments);
    let (_, dt) = line(&expected, "run").split_once("dt = ").unwrap();
    let steps = ["--set", "time.max_steps=1", "--out", "run", "--overwrite"];
    run_ok(dir, [&["run"], arguments, &steps].concat());
    let series = Series::read(&dir.join("run/series.csv")).unwrap();
    [dt.split(',').next().unwrap().parse().unwrap(), *series.column("dt").unwrap().last().unwrap()]
}

/// Catches a sample grid with fewer points than the closures need, than a grid file contains, and than a state file between walls contains.
#[test]
fn plan_predicts_first_time_step_with_walls_grid_files_and_state_files() {
    let dir = tempfile::tempdir().unwrap();
    let points = "import numpy as np; s = np.arange(97) / 96; r = .5 * 50 ** (np.arange(81) / 80); t = -2 * np.pi * s; \
                  np.savez('ring.npz', x=r[:, None] * np.cos(t), y=r[:, None] * np.sin(t)); \
                  np.savez('state.npz', u=np.full((1, 97, 80), 0.5))";
    let status = Command::new(python()).args(["-c", points]).current_dir(dir.path()).status();
    assert!(status.unwrap().success());
    let state = "[case]\nname = 'custom'\nfile = 'state.npz'\n[grid]\npoints = [80, 97, 1]\n\
                 [boundary]\ny = { low = 'symmetry', high = 'symmetry' }\n[time]\nend = 0.1\n";
    fs::write(dir.path().join("state.toml"), state).unwrap();
    for arguments in [
        &["lid-driven-cavity", "--set", "grid.points=[129, 65, 1]"][..],
        &["channel", "--set", "grid.points=[128, 33, 17]"],
        &["cylinder", "--set", "grid={ mapping = { file = 'ring.npz' } }"],
        &["state.toml"],
    ] {
        let [expected, taken] = first_time_steps(dir.path(), arguments);
        assert!((expected / taken - 1.0).abs() < 0.25, "{arguments:?}: {expected} {taken}");
    }
}

/// Catches an unbounded number of steps of a steady run, planes that are not counted, and the last fields of a run that ends between two
/// output times.
#[test]
fn plan_counts_steady_steps_output_memory_and_final_fields() {
    let dir = tempfile::tempdir().unwrap();
    let steady = ["couette-flow", "--set", "time.implicit={ method = 'steady', steps = 20 }"];
    let text = plan(dir.path(), &steady);
    assert!(line(&text, "run").contains(" 20 steps") && !text.contains("inf"), "{text}");
    // Every array has 8 bytes at each of 128³ points. A checkpoint needs one variable, and a packed copy of it. Planes need the three
    // components that are computed; fields need these three computed, written and in transit. Statistics need 6 fields of the flow,
    // 9 gradients and 3 x 3 components of spectra.
    let vortex = [
        "taylor-green",
        "--set",
        "grid.points=[128,128,128]",
        "--set",
        "time.end=1",
        "--set",
        "output.fields=none",
    ];
    for (output, expected) in [
        ("output.fields=none", "0.03 GiB"),
        ("output.planes={ every_time = 1, z = [0.0], variables = ['vorticity'] }", "0.05 GiB"),
        ("output.fields={ every_time = 1, variables = ['velocity'] }", "0.14 GiB"),
        ("output.statistics={ every_time = 1 }", "0.38 GiB"),
    ] {
        let text = plan(dir.path(), &[&vortex[..], &["--set", output]].concat());
        let expected = format!("{expected} more on the host");
        assert!(line(&text, "outputs").contains(&expected), "{output}: {text}");
    }
    let times = |end: &str| {
        let end = format!("time={{ end = {end}, dt = 0.1 }}");
        let fields = "output.fields={ every_time = 6, variables = ['velocity'] }";
        let set =
            ["taylor-green", "--set", "grid.points=[16, 16, 16]", "--set", &end, "--set", fields];
        kib_of_fields(&plan(dir.path(), &set))
    };
    // Fields are written at 0, 6 and the end, and at 0, 6 and 12.
    assert_eq!(times("10"), times("12"));
}

/// Catches a plan that fails on a long implicit step that is not solved, although the run's first step, which ends at an output, is.
#[test]
fn plan_of_long_implicit_steps_succeeds_where_the_run_does() {
    let dir = tempfile::tempdir().unwrap();
    let steps = "time={ cfl = 20, end = 50, implicit = { method = 'bdf2' } }";
    let layer = ["boundary-layer", "--set", "grid.points=[51, 41, 1]", "--set", steps];
    let text = plan(dir.path(), &layer);
    assert!(text.contains(" s per step expected") && text.contains("iB of fields"), "{text}");
}

/// Catches a plan of a run from a checkpoint that counts steps and files from the start of the first run.
#[test]
fn plan_from_a_checkpoint_counts_only_remaining_steps_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "time={ max_steps = 20, dt = 0.01 }", "--out", "first"];
    run_ok(dir.path(), small_run(&set));
    let input = |time: &str| {
        let input = format!(
            "[case]\nname = 'from-checkpoint'\npath = 'first'\n[time]\ndt = 0.01\n{time}\n\
             [output]\nfields = {{ every_steps = 8, variables = ['velocity'] }}\n"
        );
        fs::write(dir.path().join("next.toml"), input).unwrap();
        plan(dir.path(), &["next.toml"])
    };
    let text = input("max_steps = 30");
    assert!(line(&text, "run").contains(" 10 steps"), "{text}");
    // Fields are written at steps 20, 24 and 30, and at 20, 24 and 32.
    assert_eq!(kib_of_fields(&text), kib_of_fields(&input("max_steps = 32")));
    let text = input("end = 0.5");
    assert!(line(&text, "run").contains(" 30 steps"), "{text}");
}

/// Catches an advised command that does nothing.
#[test]
fn restart_command_advised_by_a_steady_run_continues_it() {
    let dir = tempfile::tempdir().unwrap();
    let steady = "time={ cfl = 20, implicit = { method = 'steady', steps = 3 } }";
    let filter = "scheme.filter={ order = 8, alpha = 0.45, time = 0.005 }";
    let set = ["--set", "grid.points=[32, 33, 1]", "--set", steady, "--set", filter];
    run_ok(dir.path(), [&["run", "cylinder", "--out", "run"][..], &set].concat());
    let stdout = run_ok(dir.path(), ["restart", "run"]).stdout;
    let (_, advice) = stdout.trim_end().split_once("kolmo restart ").unwrap();
    let stderr = run_ok(dir.path(), ["restart"].into_iter().chain(advice.split(' '))).stderr;
    assert!(stderr.contains("continues from step 3"), "{stderr}");
}

/// Catches the exit status of a failed run, and an error message that does not name the key.
#[test]
fn reference_file_must_exist_and_contain_rows_and_may_start_with_a_bom() {
    let dir = tempfile::tempdir().unwrap();
    let outcome =
        kolmo(dir.path(), small_run(&["--set", "output.reference=none.csv", "--out", "run"]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("error: output.reference: "), "{}", outcome.stderr);
    assert!(!dir.path().join("run/series.csv").exists());
    let table = |text: &str| fs::write(dir.path().join("curve.csv"), text).unwrap();
    let with = small_run(&["--set", "output.reference=curve.csv", "--out", "run"]);
    table("time,kinetic_energy\n");
    let outcome = kolmo(dir.path(), &with);
    assert!(outcome.stderr.contains("a reference needs rows of numbers"), "{}", outcome.stderr);
    // With a byte order mark, as spreadsheets write it.
    table("\u{feff}time,kinetic_energy\n0,0.125\n1,0.12\n");
    run_ok(dir.path(), &with);
}

/// Catches an estimate without the coordinates of the points, which files of curvilinear grids contain beside the fields.
#[test]
fn plan_predicts_the_size_of_field_files_on_a_curvilinear_grid() {
    let dir = tempfile::tempdir().unwrap();
    let fields = "output.fields={ every_steps = 1, variables = ['density'], precision = 'f32' }";
    let set = ["--set", "grid.points=[48, 33, 1]", "--set", "time={ max_steps = 2 }"];
    let arguments = [&["cylinder", "--set", fields][..], &set].concat();
    let planned = kib_of_fields(&plan(dir.path(), &arguments));
    run_ok(dir.path(), [&["run", "--out", "run"][..], &arguments].concat());
    let files = fs::read_dir(dir.path().join("run/fields")).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let written = bytes as f64 / 1024.0;
    assert!((written / planned - 1.0).abs() < 0.1, "{written} KiB, {planned} expected");
}
