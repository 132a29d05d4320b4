//! The case `custom` and reference curves of the user, through the command line.

use super::*;

/// Covers a file of arrays, a restart without it, a resolved input that repeats the run, and a memory estimate. Catches a restart that
/// needs the initial state, and a relative path that changes its meaning in another directory.
#[test]
fn custom_run_restarts_without_its_file_and_repeats_from_its_config() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("state")).unwrap();
    let w = crate::custom::sampled([9, 8, 1], |[x, y, _]| (x + y).sin());
    let array = dir.path().join("state/w.npy");
    fs::write(&array, crate::custom::doubles([9, 8, 1], &w)).unwrap();
    let input = "[case]\nname = 'custom'\nfile = 'state'\nu = 'A*sin(y)'\nparameters = { A = 0.5 }\n\
                 noise = { amplitude = 1e-3 }\n[grid]\npoints = [16, 16, 8]\n[time]\nmax_steps = 4\n\
                 [output]\nseries = { every_steps = 1 }\ncheckpoint = { every_steps = 2 }\n";
    fs::write(dir.path().join("my.toml"), input).unwrap();
    run_ok(dir.path(), ["run", "my.toml", "--out", "whole"]);
    assert!(run_ok(dir.path(), ["info", "--plan", "my.toml"]).stdout.contains("GiB"));
    let elsewhere = tempfile::tempdir().unwrap();
    let config = dir.path().join("whole/config.toml");
    run_ok(elsewhere.path(), ["run", config.to_str().unwrap(), "--out", "again"]);
    let series = |run: &Path| read(run.join("series.csv"));
    let whole = series(&dir.path().join("whole"));
    assert_eq!(whole, series(&elsewhere.path().join("again")));
    run_ok(dir.path(), ["run", "my.toml", "--out", "part", "--set", "time.max_steps=2"]);
    fs::remove_file(array).unwrap();
    run_ok(dir.path(), ["restart", "part", "--set", "time.max_steps=4"]);
    assert_eq!(whole, series(&dir.path().join("part")));
    let outcome = kolmo(dir.path(), ["run", "my.toml", "--out", "none"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(!dir.path().join("none").exists());
}

/// Catches an initial state that only the host backend receives.
#[test]
fn custom_run_on_opencl_matches_the_cpu_backend() {
    let dir = tempfile::tempdir().unwrap();
    for backend in ["cpu", "opencl"] {
        let set = ["--set", "grid.points=[16, 16, 1]", "--set", "time={ max_steps = 2 }"];
        let run = ["run", "custom", "--backend", backend, "--out", backend];
        run_ok(dir.path(), [&run[..], &set].concat());
    }
    let [a, b] = ["cpu", "opencl"]
        .map(|run| Series::read(&dir.path().join(run).join("series.csv")).unwrap());
    for name in ["kinetic_energy", "enstrophy", "total_energy"] {
        let [a, b] = [&a, &b].map(|series| series.column(name).unwrap());
        assert!(a.iter().zip(b).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{name}");
    }
}

/// Catches a reference curve that is not plotted, is plotted in the wrong figure, or is lost at a restart.
#[test]
fn user_reference_curve_is_plotted_over_the_run_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("dns.csv");
    // The file has no final newline, and its last time is after the end of the run.
    fs::write(&table, "# Someone <2020>\ntime,enstrophy,other\n0,0.4,1\n0.05,0.41,1\n1e9,7e7,1")
        .unwrap();
    let set = ["--set", "output.reference=dns.csv"];
    run_ok(dir.path(), small_run(&[&set[..], &["--out", "run"]].concat()));
    let run = dir.path().join("run");
    let plot = |name: &str| read(run.join("plots").join(format!("{name}.svg")));
    let check = || {
        assert!(plot("enstrophy").contains("your reference"));
        assert!(!plot("kinetic_energy").contains("your reference"));
        let page = read(run.join("report.html"));
        assert!(page.contains("Your reference: Someone &lt;2020&gt;."), "{page}");
        assert!(!plot("enstrophy").contains("70000000"));
    };
    check();
    fs::remove_file(&table).unwrap();
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=6"]);
    check();
    assert_outputs_valid(&run, 2);
}

/// Catches a table whose errors are found only after the run.
#[test]
fn invalid_reference_table_is_rejected_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    for (text, expected) in [
        ("time,kinetic_enrgy\n0,1\n", "no column that is drawn; a reference has time and some of"),
        ("t,enstrophy\n0,1\n", "column `time` is missing"),
        ("time,enstrophy\n1,1\n0,1\n", "the times of a reference must increase"),
        ("time,enstrophy\n0,one\n", "line 2: `one` in column `enstrophy` is not a number"),
        ("# DNS\ntime,enstrophy,enstrophy\n0,1,2\n", "line 2: column `enstrophy` appears twice"),
    ] {
        fs::write(dir.path().join("dns.csv"), text).unwrap();
        let outcome =
            kolmo(dir.path(), small_run(&["--out", "run", "--set", "output.reference=dns.csv"]));
        assert!(outcome.code == Some(2) && outcome.stderr.contains(expected), "{}", outcome.stderr);
        assert!(!dir.path().join("run").exists());
    }
}
