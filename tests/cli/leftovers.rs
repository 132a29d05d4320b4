//! What kills, users and earlier runs leave in the directory of a run that goes on.

use super::directories::{put, run};
use super::restarts::{assert_same, files, input};
use super::*;

#[test]
fn what_is_left_of_a_run_that_was_killed_while_it_was_replaced_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    // All that the manifest names is gone, as where the kill comes last.
    for name in names(&run).into_iter().filter(|name| name != "manifest.txt") {
        let path = run.join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    let again = ["run", "input.toml", "--out", "run"];
    let refused = kolmo(dir.path(), again);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("already holds a run"), "{}", refused.err);
    let refused = kolmo(dir.path(), ["restart", "run"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("neither a config.toml nor a checkpoint"), "{}", refused.err);
    done(dir.path(), [&again[..], &["--overwrite"]].concat());
    // Or before the manifest was there.
    let early = dir.path().join("early");
    fs::create_dir(&early).unwrap();
    fs::write(early.join(".lock"), "").unwrap();
    done(dir.path(), ["run", "input.toml", "--out", "early"]);
    assert_same(&early, &run);
}

#[test]
fn a_run_without_a_manifest_of_before_goes_on_and_gets_one() {
    let dir = tempfile::tempdir().unwrap();
    // With a checkpoint at its end in both, behind which nothing is written twice.
    let whole = run(dir.path(), 9, "whole");
    let old = run(dir.path(), 8, "run");
    fs::remove_file(old.join("manifest.txt")).unwrap();
    let refused = kolmo(dir.path(), ["run", "input.toml", "--out", "run", "--overwrite"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("that no manifest.txt names"), "{}", refused.err);
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
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
fn tables_that_lost_or_gained_rows_are_not_gone_on_with() {
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
    for (name, told, change) in changes {
        let path = run.join(name);
        let text = read(&path);
        match change(lines(&text)) {
            Some(rows) => fs::write(&path, rows.join("\n") + "\n").unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert!(!path.exists() || read(&path) != text, "{name}");
        let before = files(&run);
        let refused = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
        assert_eq!(refused.code, Some(1), "{name}: {}", refused.err);
        assert!(refused.err.contains(&format!("run/{name}: {told}")), "{}", refused.err);
        assert!(before == files(&run), "{name}");
        fs::write(&path, text).unwrap();
    }
    // Nor is a pipe waited for.
    #[cfg(unix)]
    {
        let (path, aside) = (run.join("series.csv"), dir.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let refused = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
        assert_eq!(refused.code, Some(1), "{}", refused.err);
        assert!(refused.err.contains("a named pipe, not a regular file"), "{}", refused.err);
        fs::rename(&aside, &path).unwrap();
    }
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
}

#[test]
fn a_list_of_fields_that_is_gone_or_damaged_is_made_again() {
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
        done(dir.path(), ["restart", &out, "--set", "time.max_steps=12"]);
        assert_same(&run, &whole);
    }
}

#[test]
fn a_finished_run_leaves_its_last_state_and_can_be_extended() {
    let dir = tempfile::tempdir().unwrap();
    let asked = "checkpoint = { every_steps = 4, keep = 2 }";
    let write = |name: &str, steps, with: &str| {
        fs::write(dir.path().join(name), input(10, steps).replace(asked, with)).unwrap();
    };
    write("long.toml", 9, "");
    write("short.toml", 5, "");
    write("none.toml", 5, "checkpoint = \"none\"");
    done(dir.path(), ["run", "long.toml", "--out", "whole"]);
    done(dir.path(), ["run", "short.toml", "--out", "run"]);
    let run = dir.path().join("run");
    assert_eq!(names(&run.join("checkpoints")), ["step_00000005.zarr"]);
    assert!(read(run.join("config.toml")).contains("checkpoint = \"last\""));
    // Not to where it has been already.
    for (set, told) in [
        ("time.max_steps=4", "time.max_steps = 4, but the run is already at step 5"),
        ("time={ end = 0.01 }", "time.end = 0.01, but the run is already at t = "),
    ] {
        let before = files(&run);
        let refused = kolmo(dir.path(), ["restart", "run", "--set", set]);
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains(told), "{}", refused.err);
        assert!(before == files(&run));
    }
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_same(&run, &dir.path().join("whole"));
    // Unless it was told not to.
    done(dir.path(), ["run", "none.toml", "--out", "none"]);
    assert!(!dir.path().join("none/checkpoints").exists());
    let refused = kolmo(dir.path(), ["restart", "none", "--set", "time.max_steps=9"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("has no checkpoint to continue from"), "{}", refused.err);
}

/// Its files are sound and its name is right, so that only the number of the run tells.
#[test]
fn a_checkpoint_of_another_run_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), 11, "whole");
    let other = run(dir.path(), 9, "other");
    let found = run(dir.path(), 9, "run");
    let newest = "checkpoints/step_00000009.zarr";
    fs::remove_dir_all(found.join(newest)).unwrap();
    fs::rename(other.join(newest), found.join(newest)).unwrap();
    let refused = kolmo(dir.path(), ["restart", "run", "--from", "9"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("a checkpoint of another run"), "{}", refused.err);
    let outcome = done(dir.path(), ["restart", "run", "--set", "time.max_steps=11"]);
    assert!(outcome.err.contains("warning: not used: "), "{}", outcome.err);
    assert!(outcome.err.contains("continues from step 8"), "{}", outcome.err);
    fs::remove_dir_all(found.join(format!("{newest}.left"))).unwrap();
    assert_same(&found, &whole);
}

/// A folder that could not be read counted as one without checkpoints, and the run began again.
#[test]
fn checkpoints_that_cannot_be_listed_end_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    fs::remove_file(run.join("summary.json")).unwrap();
    fs::rename(run.join("checkpoints"), dir.path().join("aside")).unwrap();
    fs::write(run.join("checkpoints"), "").unwrap();
    let before = files(&run);
    let refused = kolmo(dir.path(), ["restart", "run"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("run/checkpoints: "), "{}", refused.err);
    assert!(before == files(&run));
}

#[test]
fn what_a_kill_left_of_a_checkpoint_is_still_the_runs_after_a_plot() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let at = |name: &str| run.join("checkpoints").join(name);
    fs::rename(at("step_00000005.zarr"), at("step_00000005.zarr.part")).unwrap();
    done(dir.path(), ["plot", "run"]);
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=6"]);
    assert_eq!(names(&run.join("checkpoints")), ["step_00000004.zarr", "step_00000006.zarr"]);
}

/// A run that was gone on with from an older step, and broke off, was gone on with from the newer one behind the gap.
#[test]
fn newer_checkpoints_are_set_aside_before_a_row_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 9, "run");
    fs::remove_file(run.join("log.jsonl")).unwrap();
    fs::create_dir(run.join("log.jsonl")).unwrap();
    let broken = kolmo(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=12"]);
    assert_eq!(broken.code, Some(1), "{}", broken.err);
    assert_eq!(names(&run.join("checkpoints")), ["step_00000008.zarr", "step_00000009.zarr.left"]);
}

/// They were counted over the shorter run.
#[test]
fn an_extended_run_has_pictures_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "output.fields=none", "--set", "time={ max_steps = 8, cfl = 0.8 }"];
    done(dir.path(), small(&[&["--out", "run"][..], &set].concat()));
    let finished = done(dir.path(), ["restart", "run"]);
    assert!(finished.out.contains("restart run --set time.max_steps=16"), "{}", finished.out);
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=16"]);
    let pictures = names(&dir.path().join("run/slices"));
    for step in [0, 2, 4, 6, 8, 12, 16] {
        let name = format!("step_{step:08}_xy.png");
        assert!(pictures.contains(&name), "{name}: {pictures:?}");
    }
    assert_eq!(pictures.iter().filter(|name| name.ends_with("_xy.png")).count(), 7);
}

/// It took one at every step until it had as many as one from the start.
#[test]
fn a_run_from_a_checkpoint_takes_its_pictures_at_its_quarters() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run", "--set", "output.fields=none"]));
    let input = "[case]\nname = \"from-checkpoint\"\npath = \"run\"\n[time]\nmax_steps = 8\n\
                 [output]\nfields = \"none\"\n";
    fs::write(dir.path().join("next.toml"), input).unwrap();
    done(dir.path(), ["run", "next.toml", "--out", "next"]);
    let pictures = names(&dir.path().join("next/slices"));
    let steps: Vec<&str> =
        pictures.iter().filter_map(|name| name.strip_suffix("_xy.png")).collect();
    assert_eq!(steps, ["step_00000004", "step_00000006", "step_00000008"]);
}

/// They stayed for good: of steps that were not written again, and of tables that are gone on with.
#[test]
fn what_a_kill_left_of_files_is_removed_before_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let picture = names(&run.join("slices")).into_iter().find(|name| name.ends_with(".png"));
    let picture = format!("slices/{}.part", picture.unwrap());
    let left = ["series.csv.part", "report.html.part", &picture].map(|name| run.join(name));
    left.iter().for_each(|path| fs::write(path, "half").unwrap());
    let other = put(run.join("notes.part"));
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert!(left.iter().all(|path| !path.exists()) && read(other) == "mine");
}

#[test]
fn a_picture_that_was_removed_is_left_out_and_one_that_cannot_be_stays_listed() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 9, "run");
    let pictures = || {
        let names = names(&run.join("slices")).into_iter();
        names.filter(|name| name.ends_with(".png")).collect::<Vec<_>>()
    };
    fs::remove_file(run.join("slices").join(&pictures()[0])).unwrap();
    done(dir.path(), ["plot", "run"]);
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=10"]);
    // A kill between the two leaves the same: the list is shortened last.
    let last = pictures().pop().unwrap();
    let stuck = run.join("slices").join(&last);
    fs::remove_file(&stuck).unwrap();
    fs::create_dir(&stuck).unwrap();
    let broken = kolmo(dir.path(), ["restart", "run", "--from", "9"]);
    assert_eq!(broken.code, Some(1), "{}", broken.err);
    assert!(read(run.join("slices/slices.json")).contains(last.as_str()));
    fs::remove_dir(&stuck).unwrap();
    done(dir.path(), ["restart", "run"]);
}
