//! Restarts in directories with files left behind by kills, by users and by earlier runs.

use super::directories::{put, run};
use super::restarts::{assert_same, files, input};
use super::*;

#[test]
fn run_killed_while_being_overwritten_can_be_overwritten_again() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    // Every file that the manifest names is missing, as after a kill at the end of the removal.
    for name in file_names(&run).into_iter().filter(|name| name != "manifest.txt") {
        let path = run.join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    let again = ["run", "input.toml", "--out", "run"];
    let refused = kolmo(dir.path(), again);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("already holds a run"), "{}", refused.stderr);
    let refused = kolmo(dir.path(), ["restart", "run"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("neither a config.toml nor a checkpoint"),
        "{}",
        refused.stderr
    );
    run_ok(dir.path(), [&again[..], &["--overwrite"]].concat());
    // A kill before the manifest exists.
    let early = dir.path().join("early");
    fs::create_dir(&early).unwrap();
    fs::write(early.join(".lock"), "").unwrap();
    run_ok(dir.path(), ["run", "input.toml", "--out", "early"]);
    assert_same(&early, &run);
}

#[test]
fn restart_of_a_run_without_a_manifest_writes_one() {
    let dir = tempfile::tempdir().unwrap();
    // Both runs end with a checkpoint, so that the restart writes nothing twice.
    let whole = run(dir.path(), 9, "whole");
    let old = run(dir.path(), 8, "run");
    fs::remove_file(old.join("manifest.txt")).unwrap();
    let refused = kolmo(dir.path(), ["run", "input.toml", "--out", "run", "--overwrite"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("that no manifest.txt names"), "{}", refused.stderr);
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    let sorted = |run: &Path| {
        let text = read(run.join("manifest.txt"));
        let names = text.lines().filter(|line| !line.starts_with('#'));
        let mut names: Vec<String> = names.map(String::from).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(&old), sorted(&whole));
}

#[test]
fn restart_rejects_tables_with_missing_added_or_changed_rows() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 9, "run");
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    type Change = fn(Vec<String>) -> Option<Vec<String>>;
    let changes: [(&str, &str, Change); 6] = [
        ("statistics/moments.csv", "rows are missing", |rows| Some(rows[..2].to_vec())),
        ("statistics/moments.csv", "the file is gone", |_| None),
        ("statistics/spectra.csv", "the file is gone", |_| None),
        ("series.csv", "rows are missing", |mut rows| {
            rows.remove(2);
            Some(rows)
        }),
        ("series.csv", "rows were changed, removed or added", |mut rows| {
            rows.insert(2, rows[2].clone());
            Some(rows)
        }),
        ("series.csv", "rows were changed, removed or added", |mut rows| {
            rows[2] = rows[2].replacen("0.1", "0.2", 1);
            Some(rows)
        }),
    ];
    for (name, message, change) in changes {
        let path = run.join(name);
        let text = read(&path);
        match change(lines(&text)) {
            Some(rows) => fs::write(&path, rows.join("\n") + "\n").unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert!(!path.exists() || read(&path) != text, "{name}");
        let before = files(&run);
        let refused = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
        assert_eq!(refused.code, Some(1), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(&format!("run/{name}: {message}")), "{}", refused.stderr);
        assert!(before == files(&run), "{name}");
        fs::write(&path, text).unwrap();
    }
    // A named pipe is rejected without blocking.
    #[cfg(unix)]
    {
        let (path, aside) = (run.join("series.csv"), dir.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let refused = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains("a named pipe, not a regular file"), "{}", refused.stderr);
        fs::rename(&aside, &path).unwrap();
    }
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
}

#[test]
fn missing_or_damaged_vtk_series_files_are_rebuilt_by_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), 12, "whole");
    for (number, text) in [None, Some("{"), Some("{\"file-series-version\":\"1.0\",\"files\":[]}")]
        .into_iter()
        .enumerate()
    {
        let out = format!("run-{number}");
        let run = run(dir.path(), 9, &out);
        for list in ["fields/fields.vti.series", "planes/x_1.25664/plane.vti.series"] {
            let path = run.join(list);
            assert!(path.exists(), "{list}");
            fs::remove_file(&path).unwrap();
            text.into_iter().for_each(|text| fs::write(&path, text).unwrap());
        }
        run_ok(dir.path(), ["restart", &out, "--set", "time.max_steps=12"]);
        assert_same(&run, &whole);
    }
}

#[test]
fn finished_run_writes_its_last_state_and_can_be_extended() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint_line = "checkpoint = { every_steps = 4, keep = 2 }";
    let write = |name: &str, steps, replacement: &str| {
        fs::write(dir.path().join(name), input(10, steps).replace(checkpoint_line, replacement))
            .unwrap();
    };
    write("long.toml", 9, "");
    write("short.toml", 5, "");
    write("none.toml", 5, "checkpoint = \"none\"");
    run_ok(dir.path(), ["run", "long.toml", "--out", "whole"]);
    run_ok(dir.path(), ["run", "short.toml", "--out", "run"]);
    let run = dir.path().join("run");
    assert_eq!(file_names(&run.join("checkpoints")), ["step_00000005.zarr"]);
    assert!(read(run.join("config.toml")).contains("checkpoint = \"last\""));
    // An end that the run has already passed is rejected.
    for (set, message) in [
        ("time.max_steps=4", "time.max_steps = 4, but the run is already at step 5"),
        ("time={ end = 0.01 }", "time.end = 0.01, but the run is already at t = "),
    ] {
        let before = files(&run);
        let refused = kolmo(dir.path(), ["restart", "run", "--set", set]);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
        assert!(before == files(&run));
    }
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_same(&run, &dir.path().join("whole"));
    // No last state is written if checkpoints are disabled.
    run_ok(dir.path(), ["run", "none.toml", "--out", "none"]);
    assert!(!dir.path().join("none/checkpoints").exists());
    let refused = kolmo(dir.path(), ["restart", "none", "--set", "time.max_steps=9"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("has no checkpoint to continue from"), "{}", refused.stderr);
}

/// The files of the checkpoint are valid and its name is right, so that only the run identifier shows the difference.
#[test]
fn restart_does_not_use_a_checkpoint_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), 11, "whole");
    let other = run(dir.path(), 9, "other");
    let run_dir = run(dir.path(), 9, "run");
    let newest = "checkpoints/step_00000009.zarr";
    fs::remove_dir_all(run_dir.join(newest)).unwrap();
    fs::rename(other.join(newest), run_dir.join(newest)).unwrap();
    let refused = kolmo(dir.path(), ["restart", "run", "--from", "9"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("a checkpoint of another run"), "{}", refused.stderr);
    let outcome = run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=11"]);
    assert!(outcome.stderr.contains("warning: not used: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("continues from step 8"), "{}", outcome.stderr);
    fs::remove_dir_all(run_dir.join(format!("{newest}.left"))).unwrap();
    assert_same(&run_dir, &whole);
}

/// Catches an unreadable directory that is treated as one without checkpoints, so that the run starts over.
#[test]
fn restart_fails_if_the_checkpoints_cannot_be_listed() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    fs::remove_file(run.join("summary.json")).unwrap();
    fs::rename(run.join("checkpoints"), dir.path().join("aside")).unwrap();
    fs::write(run.join("checkpoints"), "").unwrap();
    let before = files(&run);
    let refused = kolmo(dir.path(), ["restart", "run"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("run/checkpoints: "), "{}", refused.stderr);
    assert!(before == files(&run));
}

#[test]
fn partial_checkpoint_still_belongs_to_the_run_after_a_plot() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let at = |name: &str| run.join("checkpoints").join(name);
    fs::rename(at("step_00000005.zarr"), at("step_00000005.zarr.part")).unwrap();
    run_ok(dir.path(), ["plot", "run"]);
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=6"]);
    assert_eq!(file_names(&run.join("checkpoints")), ["step_00000004.zarr", "step_00000006.zarr"]);
}

/// Catches a gap in the rows: a restart from an older step fails after it has cut the rows, and the next restart continues from the newer
/// checkpoint.
#[test]
fn newer_checkpoints_are_set_aside_before_rows_are_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 9, "run");
    fs::remove_file(run.join("log.jsonl")).unwrap();
    fs::create_dir(run.join("log.jsonl")).unwrap();
    let broken = kolmo(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=12"]);
    assert_eq!(broken.code, Some(1), "{}", broken.stderr);
    assert_eq!(
        file_names(&run.join("checkpoints")),
        ["step_00000008.zarr", "step_00000009.zarr.left"]
    );
}

/// Catches slices whose times are computed from the length of the shorter run.
#[test]
fn extended_run_has_slices_up_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "output.fields=none", "--set", "time={ max_steps = 8, cfl = 0.8 }"];
    run_ok(dir.path(), small_run(&[&["--out", "run"][..], &set].concat()));
    let finished = run_ok(dir.path(), ["restart", "run"]);
    assert!(finished.stdout.contains("restart run --set time.max_steps=16"), "{}", finished.stdout);
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=16"]);
    let pictures = file_names(&dir.path().join("run/slices"));
    for step in [0, 2, 4, 6, 8, 12, 16] {
        let name = format!("step_{step:08}_xy.png");
        assert!(pictures.contains(&name), "{name}: {pictures:?}");
    }
    assert_eq!(pictures.iter().filter(|name| name.ends_with("_xy.png")).count(), 7);
}

/// Catches a slice at every step until the number of slices equals that of a run from t = 0.
#[test]
fn run_from_a_checkpoint_writes_slices_at_the_quarters_of_its_own_length() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "output.fields=none"]));
    let input = "[case]\nname = \"from-checkpoint\"\npath = \"run\"\n[time]\nmax_steps = 8\n\
                 [output]\nfields = \"none\"\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    run_ok(dir.path(), ["run", "next.toml", "--out", "next"]);
    let pictures = file_names(&dir.path().join("next/slices"));
    let steps: Vec<&str> =
        pictures.iter().filter_map(|name| name.strip_suffix("_xy.png")).collect();
    assert_eq!(steps, ["step_00000004", "step_00000006", "step_00000008"]);
}

/// Catches partial files that are never removed: of steps that are not written again, and of tables that the restart appends to.
#[test]
fn partial_files_of_a_killed_run_are_removed_by_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let picture = file_names(&run.join("slices")).into_iter().find(|name| name.ends_with(".png"));
    let picture = format!("slices/{}.part", picture.unwrap());
    let partial = ["series.csv.part", "report.html.part", &picture].map(|name| run.join(name));
    partial.iter().for_each(|path| fs::write(path, "half").unwrap());
    let other = put(run.join("notes.part"));
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert!(partial.iter().all(|path| !path.exists()) && read(other) == "mine");
}

#[test]
fn missing_slices_are_skipped_and_slices_that_cannot_be_removed_stay_listed() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 9, "run");
    let pictures = || {
        let names = file_names(&run.join("slices")).into_iter();
        names.filter(|name| name.ends_with(".png")).collect::<Vec<_>>()
    };
    fs::remove_file(run.join("slices").join(&pictures()[0])).unwrap();
    run_ok(dir.path(), ["plot", "run"]);
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=10"]);
    // A kill between the two operations gives the same state, because the list is shortened last.
    let last = pictures().pop().unwrap();
    let stuck = run.join("slices").join(&last);
    fs::remove_file(&stuck).unwrap();
    fs::create_dir(&stuck).unwrap();
    let broken = kolmo(dir.path(), ["restart", "run", "--from", "9"]);
    assert_eq!(broken.code, Some(1), "{}", broken.stderr);
    assert!(read(run.join("slices/slices.json")).contains(last.as_str()));
    fs::remove_dir(&stuck).unwrap();
    run_ok(dir.path(), ["restart", "run"]);
}
