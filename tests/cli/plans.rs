//! `kolmo info --plan`, and what a finished run advises, as users meet them.

use super::*;

/// What stands behind `name` in a plan.
fn line<'a>(plan: &'a str, name: &str) -> &'a str {
    let found = plan.lines().find_map(|line| line.trim_start().strip_prefix(name));
    found.unwrap_or_else(|| panic!("{name}: {plan}"))
}

fn plan(dir: &Path, arguments: &[&str]) -> String {
    done(dir, [&["info", "--plan"], arguments].concat()).out
}

/// KiB of fields.
fn kib_of_fields(plan: &str) -> f64 {
    let (before, _) = line(plan, "disk").split_once(" KiB of fields").unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

/// dt of the first step, as a plan expects it and as a run takes it.
fn first_steps(dir: &Path, arguments: &[&str]) -> [f64; 2] {
    let expected = plan(dir, arguments);
    let (_, dt) = line(&expected, "run").split_once("dt = ").unwrap();
    let steps = ["--set", "time.max_steps=1", "--out", "run", "--overwrite"];
    done(dir, [&["run"], arguments, &steps].concat());
    let series = Series::read(&dir.join("run/series.csv")).unwrap();
    [dt.split(',').next().unwrap().parse().unwrap(), *series.column("dt").unwrap().last().unwrap()]
}

/// Catches samples with fewer points than closures need, than a file of points has, and than values between walls are given at.
#[test]
fn a_plan_knows_the_first_step_of_long_lines_of_walls_and_of_files() {
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
        let [expected, found] = first_steps(dir.path(), arguments);
        assert!((expected / found - 1.0).abs() < 0.25, "{arguments:?}: {expected} {found}");
    }
}

/// Catches steps of a steady run without a bound, planes that are not counted, and the last fields of a run that end between two times.
#[test]
fn a_plan_counts_the_steps_of_a_steady_run_and_the_last_fields() {
    let dir = tempfile::tempdir().unwrap();
    let steady = ["couette-flow", "--set", "time.implicit={ method = 'steady', steps = 20 }"];
    let told = plan(dir.path(), &steady);
    assert!(line(&told, "run").contains(" 20 steps") && !told.contains("inf"), "{told}");
    // 8 bytes at 128³ points of a variable of a checkpoint, packed, too; of three components that are computed, and of fields are written
    // and on their way to where they are; of 6 fields of the flow, 9 gradients and 3 x 3 components of spectra.
    let vortex = [
        "taylor-green",
        "--set",
        "grid.points=[128,128,128]",
        "--set",
        "time.end=1",
        "--set",
        "output.fields=none",
    ];
    for (output, counted) in [
        ("output.fields=none", "0.03 GiB"),
        ("output.planes={ every_time = 1, z = [0.0], variables = ['vorticity'] }", "0.05 GiB"),
        ("output.fields={ every_time = 1, variables = ['velocity'] }", "0.14 GiB"),
        ("output.statistics={ every_time = 1 }", "0.38 GiB"),
    ] {
        let told = plan(dir.path(), &[&vortex[..], &["--set", output]].concat());
        let counted = format!("{counted} more on the host");
        assert!(line(&told, "outputs").contains(&counted), "{output}: {told}");
    }
    let times = |end: &str| {
        let end = format!("time={{ end = {end}, dt = 0.1 }}");
        let fields = "output.fields={ every_time = 6, variables = ['velocity'] }";
        let set =
            ["taylor-green", "--set", "grid.points=[16, 16, 16]", "--set", &end, "--set", fields];
        kib_of_fields(&plan(dir.path(), &set))
    };
    // At 0, 6 and the end; at 0, 6 and 12.
    assert_eq!(times("10"), times("12"));
}

/// Catches a plan that fails where the first step of a run, which ends at an output, is solved, and a longer one is not.
#[test]
fn a_plan_of_long_implicit_steps_is_made_where_a_run_is() {
    let dir = tempfile::tempdir().unwrap();
    let steps = "time={ cfl = 20, end = 50, implicit = { method = 'bdf2' } }";
    let layer = ["boundary-layer", "--set", "grid.points=[51, 41, 1]", "--set", steps];
    let told = plan(dir.path(), &layer);
    assert!(told.contains(" s per step expected") && told.contains("iB of fields"), "{told}");
}

/// Catches steps and files of a run from a checkpoint that are counted from the start of the first run.
#[test]
fn a_plan_from_a_checkpoint_counts_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "time={ max_steps = 20, dt = 0.01 }", "--out", "first"];
    done(dir.path(), small(&set));
    let input = |time: &str| {
        let input = format!(
            "[case]\nname = 'from-checkpoint'\npath = 'first'\n[time]\ndt = 0.01\n{time}\n\
             [output]\nfields = {{ every_steps = 8, variables = ['velocity'] }}\n"
        );
        fs::write(dir.path().join("next.toml"), input).unwrap();
        plan(dir.path(), &["next.toml"])
    };
    let told = input("max_steps = 30");
    assert!(line(&told, "run").contains(" 10 steps"), "{told}");
    // At 20, 24 and 30; at 20, 24 and 32.
    assert_eq!(kib_of_fields(&told), kib_of_fields(&input("max_steps = 32")));
    let told = input("end = 0.5");
    assert!(line(&told, "run").contains(" 30 steps"), "{told}");
}

/// Catches advice that does nothing.
#[test]
fn what_a_steady_run_advises_goes_further() {
    let dir = tempfile::tempdir().unwrap();
    let steady = "time={ cfl = 20, implicit = { method = 'steady', steps = 3 } }";
    let filter = "scheme.filter={ order = 8, alpha = 0.45, time = 0.005 }";
    let set = ["--set", "grid.points=[32, 33, 1]", "--set", steady, "--set", filter];
    done(dir.path(), [&["run", "cylinder", "--out", "run"][..], &set].concat());
    let told = done(dir.path(), ["restart", "run"]).out;
    let (_, advice) = told.trim_end().split_once("kolmo restart ").unwrap();
    let told = done(dir.path(), ["restart"].into_iter().chain(advice.split(' '))).err;
    assert!(told.contains("continues from step 3"), "{told}");
}

/// Catches a status of runs that failed, and a key that is not named.
#[test]
fn a_reference_that_is_missing_is_refused_by_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = kolmo(dir.path(), small(&["--set", "output.reference=none.csv", "--out", "run"]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.starts_with("error: output.reference: "), "{}", outcome.err);
    assert!(!dir.path().join("run/series.csv").exists());
    let table = |text: &str| fs::write(dir.path().join("curve.csv"), text).unwrap();
    let with = small(&["--set", "output.reference=curve.csv", "--out", "run"]);
    table("time,kinetic_energy\n");
    let outcome = kolmo(dir.path(), &with);
    assert!(outcome.err.contains("a reference needs rows of numbers"), "{}", outcome.err);
    // As spreadsheets write it.
    table("\u{feff}time,kinetic_energy\n0,0.125\n1,0.12\n");
    done(dir.path(), &with);
}

/// Catches the coordinates of points, which files of curvilinear grids have beside the fields.
#[test]
fn a_plan_knows_how_large_files_of_a_curvilinear_grid_are() {
    let dir = tempfile::tempdir().unwrap();
    let fields = "output.fields={ every_steps = 1, variables = ['density'], precision = 'f32' }";
    let set = ["--set", "grid.points=[48, 33, 1]", "--set", "time={ max_steps = 2 }"];
    let arguments = [&["cylinder", "--set", fields][..], &set].concat();
    let told = kib_of_fields(&plan(dir.path(), &arguments));
    done(dir.path(), [&["run", "--out", "run"][..], &arguments].concat());
    let files = fs::read_dir(dir.path().join("run/fields")).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let found = bytes as f64 / 1024.0;
    assert!((found / told - 1.0).abs() < 0.1, "{found} KiB, {told} expected");
}
