//! Which files a run replaces and removes, and which process may write in its directory.

#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::restarts::{files, input};
use super::*;

/// A run of `steps` steps on 10³ points that writes every kind of output.
pub(super) fn run(dir: &Path, steps: u64, out: &str) -> PathBuf {
    fs::write(dir.join("input.toml"), input(10, steps)).unwrap();
    run_ok(dir, ["run", "input.toml", "--out", out]);
    dir.join(out)
}

pub(super) fn put(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "mine").unwrap();
    path
}

#[test]
fn foreign_files_in_a_run_directory_survive_a_run_and_its_overwrite() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let before = ["plots/fig1.svg", "statistics/exp.csv", "fields/x.vti", "slices/mine.png"];
    let mut foreign: Vec<PathBuf> = before.iter().map(|name| put(run.join(name))).collect();
    self::run(dir.path(), 5, "run");
    // The same holds when the run is overwritten, and for names that resemble those of a run.
    let later = [
        "plots/paper.svg",
        "checkpoints/step_00000004.zarr.my_backup/zarr.json",
        "checkpoints/step_00000004.zarr.left/zarr.json",
        "planes/z_0.00000/mine.vti",
        "fields/step_1.vti",
    ];
    foreign.extend(later.iter().map(|name| put(run.join(name))));
    run_ok(dir.path(), small_run(&["--out", "run", "--overwrite"]));
    for path in &foreign {
        assert_eq!(read(path), "mine", "{}", path.display());
    }
    // No file of the first run remains.
    let remaining: Vec<String> = files(&run).into_keys().collect();
    assert!(!remaining.iter().any(|name| name.ends_with("moments.csv")), "{remaining:?}");
    let planes = file_names(&run.join("planes"));
    assert_eq!(planes, ["z_0.00000"]);
    assert_eq!(file_names(&run.join("planes/z_0.00000")), ["mine.vti"]);
}

/// Catches an old plot that stays although the new report does not contain it.
#[test]
fn restart_removes_plots_that_it_does_not_redraw() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let run = dir.path().join("run");
    put(run.join("plots/spectra.svg"));
    put(run.join("plots/mine.svg"));
    let manifest = read(run.join("manifest.txt"));
    fs::write(run.join("manifest.txt"), manifest + "plots/spectra.svg\n").unwrap();
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    let plots = file_names(&run.join("plots"));
    assert!(
        plots.contains(&"mine.svg".into()) && !plots.contains(&"spectra.svg".into()),
        "{plots:?}"
    );
}

#[test]
fn run_that_would_replace_foreign_files_is_rejected_before_it_starts() {
    for name in [
        "checkpoints/step_00000004.zarr/zarr.json",
        "fields/step_00000000.vti",
        "fields/step_00000000/rank_00000.vti",
        "statistics/moments.csv",
        "plots/dissipation.svg",
        "series.csv",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = put(dir.path().join("run").join(name));
        for further in [&["--out", "run"][..], &["--out", "run", "--overwrite"]] {
            let refused = kolmo(dir.path(), small_run(further));
            assert_eq!(refused.code, Some(2), "{name}: {}", refused.stderr);
            assert!(refused.stderr.contains("that no manifest.txt names"), "{}", refused.stderr);
            assert_eq!(file_names(&dir.path().join("run")), [name.split('/').next().unwrap()]);
            assert_eq!(read(&path), "mine");
        }
    }
}

/// A foreign file that appears during a run is not replaced either.
#[test]
fn foreign_file_at_an_output_path_stops_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let path = put(run.join("fields/step_00000006.vti"));
    let set = ["--set", "time.max_steps=9", "--set", "output.fields.every_steps=1"];
    let refused = kolmo(dir.path(), [&["restart", "run"][..], &set].concat());
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("run/fields/step_00000006.vti: not a file of this run"),
        "{}",
        refused.stderr
    );
    assert_eq!(read(path), "mine");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_run_directory_are_rejected_and_their_targets_kept() {
    for name in ["fields", "checkpoints", "series.csv", ".lock", "planes/z_0.00000"] {
        let dir = tempfile::tempdir().unwrap();
        let run = run(dir.path(), 5, "run");
        let outside = dir.path().join("outside");
        match fs::rename(run.join(name), &outside) {
            Ok(()) => {}
            Err(_) => drop(put(outside.clone())),
        }
        symlink(&outside, run.join(name)).unwrap();
        let before = if outside.is_dir() { files(&outside) } else { [].into() };
        for command in [
            &["restart", "run", "--set", "time.max_steps=9"][..],
            &["run", "input.toml", "--out", "run", "--overwrite"],
            &["plot", "run"],
        ] {
            let refused = kolmo(dir.path(), command);
            assert_eq!(refused.code, Some(2), "{name} {command:?}: {}", refused.stderr);
            let message = format!("run/{name} is a link to {}", outside.display());
            assert!(refused.stderr.contains(&message), "{}", refused.stderr);
            assert!(!outside.is_dir() || before == files(&outside), "{name} {command:?}");
        }
    }
    // A link to a target inside the directory is accepted, and so is a link to the run directory itself.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("real/elsewhere")).unwrap();
    symlink("elsewhere", dir.path().join("real/fields")).unwrap();
    symlink("real", dir.path().join("run")).unwrap();
    run(dir.path(), 5, "run");
    assert!(dir.path().join("real/elsewhere/fields.vti.series").exists());
}

#[test]
fn manifest_that_names_foreign_files_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 3, "run");
    let victim = put(dir.path().join("victim"));
    let manifest = read(run.join("manifest.txt"));
    for name in ["../victim", "fields/../../victim", "notes.txt", "/etc/hostname"] {
        fs::write(run.join("manifest.txt"), format!("{manifest}{name}\n")).unwrap();
        let before = files(&run);
        let refused = kolmo(dir.path(), ["run", "input.toml", "--out", "run", "--overwrite"]);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(
            refused.stderr.contains(&format!("a run writes no file `{name}`")),
            "{}",
            refused.stderr
        );
        assert!(before == files(&run) && victim.exists());
    }
}

/// The lock is taken when the directory is first inspected, so that a command is never rejected after it has removed files.
#[test]
fn commands_write_nothing_in_a_directory_locked_by_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    fs::create_dir(dir.path().join("new")).unwrap();
    let held: Vec<fs::File> = [run.join(".lock"), dir.path().join("new/.lock")]
        .map(|path| {
            let file = fs::File::create(path).unwrap();
            file.try_lock().unwrap();
            file
        })
        .into();
    let before = files(&run);
    for command in [
        &["restart", "run", "--set", "time.max_steps=9"][..],
        &["restart", "run", "--from", "4"],
        &["run", "input.toml", "--out", "run", "--overwrite"],
        &["plot", "run"],
        &["run", "input.toml", "--out", "new"],
    ] {
        let refused = kolmo(dir.path(), command);
        assert_eq!(refused.code, Some(2), "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("another process is running in"), "{}", refused.stderr);
        assert!(before == files(&run), "{command:?}");
        assert_eq!(file_names(&dir.path().join("new")), [".lock"]);
    }
    drop(held);
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert!(!run.join(".lock").exists(), "the lock is removed");
}

/// Catches a race: the second run checks the directory before the first has written anything, and both continue.
#[cfg(unix)]
#[test]
fn second_run_in_a_directory_is_rejected_however_early_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input.toml"), input(16, 1_000_000)).unwrap();
    let mut first = Command::new(program())
        .args(["run", "input.toml", "--out", "run"])
        .current_dir(dir.path())
        .env("CUDA_VISIBLE_DEVICES", "")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !dir.path().join("run/.lock").exists() {
        assert!(first.try_wait().unwrap().is_none());
        std::hint::spin_loop();
    }
    // Pause the first run at an arbitrary point.
    let send_signal = |name: &str| {
        let id = first.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    send_signal("-STOP");
    let second = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    send_signal("-KILL");
    first.wait().unwrap();
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("another process is running in run"), "{}", second.stderr);
}

/// The suggested command repeats the run in its present directory, not in the directory that its input names.
#[test]
fn rerun_command_for_a_moved_run_does_not_touch_its_old_directory() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "output.checkpoint=none"]));
    fs::rename(dir.path().join("run"), dir.path().join("moved")).unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "case.reynolds=50"]));
    let before = files(&dir.path().join("run"));
    let refused = kolmo(dir.path(), ["restart", "moved", "--set", "time.max_steps=6"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let advice = refused.stderr.lines().find_map(|line| line.split_once("kolmo run ")).unwrap().1;
    let again = shell(dir.path(), &format!("{} run {advice}", program()));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(before == files(&dir.path().join("run")));
}

/// Another run may use its directory by then.
#[cfg(unix)]
#[test]
fn moved_run_claims_no_files_and_no_lock_in_its_old_directory() {
    let dir = tempfile::tempdir().unwrap();
    let first = kolmo::io::RunDirectory::create(&dir.path().join("run"), kolmo::io::RunId::new());
    let lock = kolmo::io::DirectoryLock::take(&dir.path().join("run")).unwrap();
    let mut first = first.unwrap();
    fs::rename(dir.path().join("run"), dir.path().join("moved")).unwrap();
    let claim_series =
        |first: &mut kolmo::io::RunDirectory| first.claim(["series.csv".to_string()]);
    assert!(claim_series(&mut first).unwrap_err().to_string().contains("was moved"));
    run_ok(dir.path(), small_run(&["--out", "run"]));
    assert!(claim_series(&mut first).unwrap_err().to_string().contains("was moved"));
    // It does not remove the lock of the other run either.
    fs::write(dir.path().join("run/.lock"), "").unwrap();
    drop(lock);
    assert!(dir.path().join("run/.lock").exists());
}

#[test]
fn foreign_file_at_the_path_of_the_lock_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let lock = put(dir.path().join("run/.lock"));
    let refused = kolmo(dir.path(), small_run(&["--out", "run"]));
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("not the lock of a run"), "{}", refused.stderr);
    assert_eq!(read(lock), "mine");
}

#[test]
fn existing_slices_survive_a_restart_that_enables_field_output() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run", "--set", "output.fields=none"]));
    let slices = || file_names(&dir.path().join("run/slices"));
    let before = slices();
    let set = ["--set", "time.max_steps=8", "--set", "output.fields.every_steps=4"];
    run_ok(dir.path(), [&["restart", "run"][..], &set].concat());
    let after = slices();
    let lost = before.iter().filter(|name| !name.contains("00000004") && !after.contains(name));
    assert_eq!(lost.count(), 0, "{before:?} {after:?}");
}

/// An output that is switched off may be switched on again later; its rows are then appended to the existing rows.
#[test]
fn disabled_tables_and_fields_are_verified_and_can_be_enabled_again() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let off = ["--set", "output.statistics=none", "--set", "output.fields=none"];
    let restart = |set: &[&str], steps: &str| {
        let steps = format!("time.max_steps={steps}");
        kolmo(dir.path(), [&["restart", "run", "--set", &steps][..], set].concat())
    };
    assert_eq!(restart(&off, "9").code, Some(0));
    let (table, list) = (run.join("statistics/moments.csv"), run.join("fields/fields.vti.series"));
    let (rows, files) = (read(&table), read(&list));
    fs::write(&table, rows.replacen("0.1", "0.2", 1)).unwrap();
    let on = ["--set", "output.statistics={ every_steps = 5, from = 0.2 }"];
    let refused = restart(&on, "12");
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("rows were changed"), "{}", refused.stderr);
    fs::write(&table, rows).unwrap();
    fs::write(&list, "{").unwrap();
    let outcome = restart(&[], "10");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(read(&list), files);
    // Files of a disabled output may be missing.
    fs::remove_dir_all(run.join("statistics")).unwrap();
    let outcome = restart(&[], "11");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// Hard links to all files are a cheap copy, provided that no file is modified in place.
#[cfg(unix)]
#[test]
fn hard_linked_copy_of_a_run_is_not_changed_by_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 9, "run");
    let copied = shell(dir.path(), "cp -al run copy");
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    let copy = dir.path().join("copy");
    let all = || (files(&copy), read(copy.join("log.jsonl")), read(copy.join("manifest.txt")));
    let before = all();
    run_ok(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=12"]);
    assert!(before == all());
}

#[test]
fn run_inside_a_checkpoint_of_another_run_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    for inside in ["run/checkpoints/step_00000005.zarr", "run/checkpoints/step_00000005.zarr/a/b"] {
        let before = files(&run);
        let refused = kolmo(dir.path(), small_run(&["--out", inside]));
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            refused.stderr.contains("checkpoints/step_00000005.zarr, which"),
            "{}",
            refused.stderr
        );
        assert!(before == files(&run));
    }
    run_ok(dir.path(), small_run(&["--out", "run/checkpoints/mine"]));
}

#[test]
fn empty_manifest_is_rejected_and_restart_works_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    fs::write(run.join("manifest.txt"), "").unwrap();
    for command in [&["restart", "run"][..], &["run", "input.toml", "--out", "run", "--overwrite"]]
    {
        let refused = kolmo(dir.path(), command);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains("manifest.txt: its first line"), "{}", refused.stderr);
    }
    fs::remove_file(run.join("manifest.txt")).unwrap();
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=6"]);
}

#[cfg(unix)]
#[test]
fn dangling_links_and_links_to_foreign_files_are_not_written_through() {
    let dir = tempfile::tempdir().unwrap();
    symlink("nowhere", dir.path().join("run")).unwrap();
    let refused = kolmo(dir.path(), small_run(&["--out", "run"]));
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("run: a link to nowhere, which is not there"),
        "{}",
        refused.stderr
    );
    fs::remove_file(dir.path().join("run")).unwrap();
    // Links at the paths of temporary `.part` files.
    let victim = put(dir.path().join("victim"));
    let run = run(dir.path(), 5, "run");
    for name in ["config.toml.part", "summary.json.part", "fields/fields.vti.series.part"] {
        symlink(&victim, run.join(name)).unwrap();
    }
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_eq!(read(victim), "mine");
}

/// Catches foreign checkpoints counted as the newest of the run, so that the run's own checkpoints are removed.
#[test]
fn foreign_checkpoints_do_not_count_among_the_kept_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoints = run(dir.path(), 9, "run").join("checkpoints");
    put(checkpoints.join("step_00000100.zarr/zarr.json"));
    put(checkpoints.join("step_00000008.zarr.old/notes"));
    let owns = |path: &Path| !path.ends_with("step_00000100.zarr");
    kolmo::io::checkpoint::prune(&kolmo::comm::Solo, &checkpoints, 1, owns).unwrap();
    assert_eq!(
        file_names(&checkpoints),
        ["step_00000008.zarr.old", "step_00000009.zarr", "step_00000100.zarr"]
    );
}

#[test]
fn overwritten_run_keeps_its_config_until_the_new_one_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    // The input is read from the directory that the run overwrites; this run fails before it starts.
    let input = read(run.join("config.toml"));
    fs::remove_file(run.join("log.jsonl")).unwrap();
    let broken = shell(
        dir.path(),
        &format!("ulimit -f 0; exec {} run run/config.toml --out run --overwrite", program()),
    );
    assert_ne!(broken.code, Some(0), "{}", broken.stderr);
    assert_eq!(read(run.join("config.toml")), input);
    run_ok(dir.path(), ["run", "run/config.toml", "--out", "run", "--overwrite"]);
}

/// Catches a summary and a list of slices that are written into the new directory.
#[cfg(unix)]
#[test]
fn terminated_moved_run_writes_nothing_into_the_run_in_its_old_directory() {
    use super::signals::send;
    let dir = tempfile::tempdir().unwrap();
    let child = super::endings::long_run(dir.path());
    let run = dir.path().join("runs/taylor-green");
    fs::rename(&run, dir.path().join("moved")).unwrap();
    run_ok(dir.path(), small_run(&[]));
    let all = || (files(&run), read(run.join("summary.json")), read(run.join("report.html")));
    let before = all();
    send(libc::SIGTERM, &child);
    let ended: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("the run directory was moved"), "{}", ended.stderr);
    assert!(before == all());
}

/// Catches an unreadable directory that is reported as a directory without a run.
#[cfg(unix)]
#[test]
fn unreadable_run_directory_is_reported_as_permission_denied() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 2, "run");
    let allow = |mode| fs::set_permissions(&run, fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    let commands = ["plot run", "restart run", "compare run run"];
    let outcomes = commands.map(|command| {
        let kolmo = program();
        // Without its capabilities, root is subject to file permissions like other users.
        let without = "setpriv --bounding-set=-all --inh-caps=-all";
        let line =
            format!("[ $(id -u) = 0 ] && exec {without} {kolmo} {command}; exec {kolmo} {command}");
        shell(dir.path(), &line)
    });
    allow(0o755);
    for outcome in outcomes {
        assert!(matches!(outcome.code, Some(1 | 2)), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("Permission denied"), "{}", outcome.stderr);
    }
}

/// Catches such files being treated as partial files of the run itself.
#[test]
fn foreign_files_at_temporary_output_paths_are_rejected_and_kept() {
    for name in [
        "summary.json.part",
        "slices/step_00000000_xy.png.part",
        "checkpoints/step_00000004.zarr.part/notes",
        "checkpoints/step_00000004.zarr.replaced/notes",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = put(dir.path().join("run").join(name));
        let refused = kolmo(dir.path(), small_run(&["--out", "run"]));
        assert_eq!(refused.code, Some(2), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains("that no manifest.txt names"), "{}", refused.stderr);
        assert_eq!(read(&path), "mine");
    }
}

#[test]
fn directory_with_the_name_of_a_case_is_not_taken_as_input() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("taylor-green")).unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
}
