//! Whose files a run replaces and removes, and who may write in its directory.

#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::restarts::{files, input};
use super::*;

/// A run of `steps` steps on 10³ points that writes all there is.
pub(super) fn run(dir: &Path, steps: u64, out: &str) -> PathBuf {
    fs::write(dir.join("input.toml"), input(10, steps)).unwrap();
    done(dir, ["run", "input.toml", "--out", out]);
    dir.join(out)
}

pub(super) fn put(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "mine").unwrap();
    path
}

#[test]
fn files_of_others_in_the_folders_of_a_run_stay() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let before = ["plots/fig1.svg", "statistics/exp.csv", "fields/x.vti", "slices/mine.png"];
    let mut foreign: Vec<PathBuf> = before.iter().map(|name| put(run.join(name))).collect();
    self::run(dir.path(), 5, "run");
    // Also where the run is replaced, and names are near to those of a run.
    let later = [
        "plots/paper.svg",
        "checkpoints/step_00000004.zarr.my_backup/zarr.json",
        "checkpoints/step_00000004.zarr.left/zarr.json",
        "planes/z_0.00000/mine.vti",
        "fields/step_1.vti",
    ];
    foreign.extend(later.iter().map(|name| put(run.join(name))));
    done(dir.path(), small(&["--out", "run", "--overwrite"]));
    for path in &foreign {
        assert_eq!(read(path), "mine", "{}", path.display());
    }
    // And nothing is left of the first run.
    let left: Vec<String> = files(&run).into_keys().collect();
    assert!(!left.iter().any(|name| name.ends_with("moments.csv")), "{left:?}");
    let planes = names(&run.join("planes"));
    assert_eq!(planes, ["z_0.00000"]);
    assert_eq!(names(&run.join("planes/z_0.00000")), ["mine.vti"]);
}

/// Catches a drawing of what a run no longer has, which stayed beside a report without it.
#[test]
fn a_restart_removes_drawings_that_it_does_not_make_again() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run"]));
    let run = dir.path().join("run");
    put(run.join("plots/spectra.svg"));
    put(run.join("plots/mine.svg"));
    let manifest = read(run.join("manifest.txt"));
    fs::write(run.join("manifest.txt"), manifest + "plots/spectra.svg\n").unwrap();
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    let plots = names(&run.join("plots"));
    assert!(
        plots.contains(&"mine.svg".into()) && !plots.contains(&"spectra.svg".into()),
        "{plots:?}"
    );
}

#[test]
fn a_run_that_would_replace_files_of_others_is_refused_before_it_begins() {
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
            let refused = kolmo(dir.path(), small(further));
            assert_eq!(refused.code, Some(2), "{name}: {}", refused.err);
            assert!(refused.err.contains("that no manifest.txt names"), "{}", refused.err);
            assert_eq!(names(&dir.path().join("run")), [name.split('/').next().unwrap()]);
            assert_eq!(read(&path), "mine");
        }
    }
}

/// What comes while a run goes on is not replaced either.
#[test]
fn a_file_that_somebody_puts_in_the_way_of_a_run_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let path = put(run.join("fields/step_00000006.vti"));
    let set = ["--set", "time.max_steps=9", "--set", "output.fields.every_steps=1"];
    let refused = kolmo(dir.path(), [&["restart", "run"][..], &set].concat());
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(
        refused.err.contains("run/fields/step_00000006.vti: not a file of this run"),
        "{}",
        refused.err
    );
    assert_eq!(read(path), "mine");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_directory_is_refused_and_what_it_leads_to_stays() {
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
            assert_eq!(refused.code, Some(2), "{name} {command:?}: {}", refused.err);
            let told = format!("run/{name} is a link to {}", outside.display());
            assert!(refused.err.contains(&told), "{}", refused.err);
            assert!(!outside.is_dir() || before == files(&outside), "{name} {command:?}");
        }
    }
    // A link that stays inside is nobody's harm, nor is one to the directory itself.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("real/elsewhere")).unwrap();
    symlink("elsewhere", dir.path().join("real/fields")).unwrap();
    symlink("real", dir.path().join("run")).unwrap();
    run(dir.path(), 5, "run");
    assert!(dir.path().join("real/elsewhere/fields.vti.series").exists());
}

#[test]
fn a_manifest_that_names_files_of_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 3, "run");
    let victim = put(dir.path().join("victim"));
    let manifest = read(run.join("manifest.txt"));
    for name in ["../victim", "fields/../../victim", "notes.txt", "/etc/hostname"] {
        fs::write(run.join("manifest.txt"), format!("{manifest}{name}\n")).unwrap();
        let before = files(&run);
        let refused = kolmo(dir.path(), ["run", "input.toml", "--out", "run", "--overwrite"]);
        assert_eq!(refused.code, Some(1), "{}", refused.err);
        assert!(refused.err.contains(&format!("a run writes no file `{name}`")), "{}", refused.err);
        assert!(before == files(&run) && victim.exists());
    }
}

/// The lock is taken by the first look, so that nobody is refused after files were removed.
#[test]
fn no_command_writes_where_another_process_holds_the_lock() {
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
        assert_eq!(refused.code, Some(2), "{command:?}: {}", refused.err);
        assert!(refused.err.contains("another process is running in"), "{}", refused.err);
        assert!(before == files(&run), "{command:?}");
        assert_eq!(names(&dir.path().join("new")), [".lock"]);
    }
    drop(held);
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert!(!run.join(".lock").exists(), "nothing is left of the lock");
}

/// The second run looked at the directory before the first had written anything, and both went on.
#[cfg(unix)]
#[test]
fn of_two_runs_into_one_directory_the_second_is_refused_however_early_it_comes() {
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
    // Wherever it is now, it stays there.
    let signal = |name: &str| {
        let id = first.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    signal("-STOP");
    let second = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    signal("-KILL");
    first.wait().unwrap();
    assert_eq!(second.code, Some(2), "{}", second.err);
    assert!(second.err.contains("another process is running in run"), "{}", second.err);
}

/// What is advised repeats the run here, not where its input says that it began.
#[test]
fn the_advice_for_a_run_that_was_moved_leaves_the_run_in_its_old_place_alone() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run", "--set", "output.checkpoint=none"]));
    fs::rename(dir.path().join("run"), dir.path().join("moved")).unwrap();
    done(dir.path(), small(&["--out", "run", "--set", "case.reynolds=50"]));
    let before = files(&dir.path().join("run"));
    let refused = kolmo(dir.path(), ["restart", "moved", "--set", "time.max_steps=6"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let advice = refused.err.lines().find_map(|line| line.split_once("kolmo run ")).unwrap().1;
    let again = shell(dir.path(), &format!("{} run {advice}", program()));
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(before == files(&dir.path().join("run")));
}

/// Its folder is another run's by then.
#[cfg(unix)]
#[test]
fn a_run_whose_directory_was_moved_writes_nothing_into_the_one_that_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let first = kolmo::io::RunDirectory::create(&dir.path().join("run"), kolmo::io::RunId::new());
    let lock = kolmo::io::DirectoryLock::take(&dir.path().join("run")).unwrap();
    let mut first = first.unwrap();
    fs::rename(dir.path().join("run"), dir.path().join("moved")).unwrap();
    let claimed = |first: &mut kolmo::io::RunDirectory| first.claim(["series.csv".to_string()]);
    assert!(claimed(&mut first).unwrap_err().to_string().contains("was moved"));
    done(dir.path(), small(&["--out", "run"]));
    assert!(claimed(&mut first).unwrap_err().to_string().contains("was moved"));
    // Nor does it take the lock of the other away.
    fs::write(dir.path().join("run/.lock"), "").unwrap();
    drop(lock);
    assert!(dir.path().join("run/.lock").exists());
}

#[test]
fn a_file_of_somebody_in_the_place_of_the_lock_stays() {
    let dir = tempfile::tempdir().unwrap();
    let lock = put(dir.path().join("run/.lock"));
    let refused = kolmo(dir.path(), small(&["--out", "run"]));
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("not the lock of a run"), "{}", refused.err);
    assert_eq!(read(lock), "mine");
}

#[test]
fn pictures_of_before_fields_were_written_stay() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run", "--set", "output.fields=none"]));
    let pictures = || names(&dir.path().join("run/slices"));
    let before = pictures();
    let set = ["--set", "time.max_steps=8", "--set", "output.fields.every_steps=4"];
    done(dir.path(), [&["restart", "run"][..], &set].concat());
    let after = pictures();
    let lost = before.iter().filter(|name| !name.contains("00000004") && !after.contains(name));
    assert_eq!(lost.count(), 0, "{before:?} {after:?}");
}

/// What is not written now may be written again later, behind the rows that are there.
#[test]
fn tables_and_fields_that_are_switched_off_are_looked_after_until_they_are_on_again() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    let off = ["--set", "output.statistics=none", "--set", "output.fields=none"];
    let further = |set: &[&str], steps: &str| {
        let steps = format!("time.max_steps={steps}");
        kolmo(dir.path(), [&["restart", "run", "--set", &steps][..], set].concat())
    };
    assert_eq!(further(&off, "9").code, Some(0));
    let (table, list) = (run.join("statistics/moments.csv"), run.join("fields/fields.vti.series"));
    let (rows, files) = (read(&table), read(&list));
    fs::write(&table, rows.replacen("0.1", "0.2", 1)).unwrap();
    let on = ["--set", "output.statistics={ every_steps = 5, from = 0.2 }"];
    let refused = further(&on, "12");
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("rows were changed"), "{}", refused.err);
    fs::write(&table, rows).unwrap();
    fs::write(&list, "{").unwrap();
    let outcome = further(&[], "10");
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert_eq!(read(&list), files);
    // What nobody needs may be gone.
    fs::remove_dir_all(run.join("statistics")).unwrap();
    let outcome = further(&[], "11");
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
}

/// Hard links to all files are a cheap copy, as long as nobody writes into them.
#[cfg(unix)]
#[test]
fn a_copy_by_hard_links_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 9, "run");
    let copied = shell(dir.path(), "cp -al run copy");
    assert_eq!(copied.code, Some(0), "{}", copied.err);
    let copy = dir.path().join("copy");
    let all = || (files(&copy), read(copy.join("log.jsonl")), read(copy.join("manifest.txt")));
    let before = all();
    done(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=12"]);
    assert!(before == all());
}

#[test]
fn a_run_inside_a_checkpoint_of_another_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    for inside in ["run/checkpoints/step_00000005.zarr", "run/checkpoints/step_00000005.zarr/a/b"] {
        let before = files(&run);
        let refused = kolmo(dir.path(), small(&["--out", inside]));
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("checkpoints/step_00000005.zarr, which"), "{}", refused.err);
        assert!(before == files(&run));
    }
    done(dir.path(), small(&["--out", "run/checkpoints/mine"]));
}

#[test]
fn an_emptied_manifest_can_be_removed() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    fs::write(run.join("manifest.txt"), "").unwrap();
    for command in [&["restart", "run"][..], &["run", "input.toml", "--out", "run", "--overwrite"]]
    {
        let refused = kolmo(dir.path(), command);
        assert_eq!(refused.code, Some(1), "{}", refused.err);
        assert!(refused.err.contains("manifest.txt: its first line"), "{}", refused.err);
    }
    fs::remove_file(run.join("manifest.txt")).unwrap();
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=6"]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_to_files_of_others_are_not_written_through() {
    let dir = tempfile::tempdir().unwrap();
    symlink("nowhere", dir.path().join("run")).unwrap();
    let refused = kolmo(dir.path(), small(&["--out", "run"]));
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("run: a link to nowhere, which is not there"), "{}", refused.err);
    fs::remove_file(dir.path().join("run")).unwrap();
    // In the place of a file that is half written.
    let victim = put(dir.path().join("victim"));
    let run = run(dir.path(), 5, "run");
    for name in ["config.toml.part", "summary.json.part", "fields/fields.vti.series.part"] {
        symlink(&victim, run.join(name)).unwrap();
    }
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_eq!(read(victim), "mine");
}

/// They counted as the newest of the run, whose own were removed.
#[test]
fn checkpoints_of_others_are_not_counted_among_those_that_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoints = run(dir.path(), 9, "run").join("checkpoints");
    put(checkpoints.join("step_00000100.zarr/zarr.json"));
    put(checkpoints.join("step_00000008.zarr.old/notes"));
    let owns = |path: &Path| !path.ends_with("step_00000100.zarr");
    kolmo::io::checkpoint::prune(&kolmo::comm::Solo, &checkpoints, 1, owns).unwrap();
    assert_eq!(
        names(&checkpoints),
        ["step_00000008.zarr.old", "step_00000009.zarr", "step_00000100.zarr"]
    );
}

#[test]
fn a_run_that_is_replaced_keeps_its_input_until_the_new_one_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 5, "run");
    // It is read from the directory that it is to replace, which ends before it has begun.
    let input = read(run.join("config.toml"));
    fs::remove_file(run.join("log.jsonl")).unwrap();
    let broken = shell(
        dir.path(),
        &format!("ulimit -f 0; exec {} run run/config.toml --out run --overwrite", program()),
    );
    assert_ne!(broken.code, Some(0), "{}", broken.err);
    assert_eq!(read(run.join("config.toml")), input);
    done(dir.path(), ["run", "run/config.toml", "--out", "run", "--overwrite"]);
}

/// It wrote its summary and its list of pictures there.
#[cfg(unix)]
#[test]
fn a_moved_run_that_is_stopped_writes_nothing_into_the_one_that_took_its_place() {
    use super::signals::send;
    let dir = tempfile::tempdir().unwrap();
    let child = super::endings::long_run(dir.path());
    let run = dir.path().join("runs/taylor-green");
    fs::rename(&run, dir.path().join("moved")).unwrap();
    done(dir.path(), small(&[]));
    let all = || (files(&run), read(run.join("summary.json")), read(run.join("report.html")));
    let before = all();
    send(libc::SIGTERM, &child);
    let ended: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("the run directory was moved"), "{}", ended.err);
    assert!(before == all());
}

/// Catches a directory in which nobody may look that is said to hold no run.
#[cfg(unix)]
#[test]
fn a_run_without_permission_is_not_said_to_be_none() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), 2, "run");
    let allow = |mode| fs::set_permissions(&run, fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    let commands = ["plot run", "restart run", "compare run run"];
    let told = commands.map(|command| {
        let kolmo = program();
        // Root without its rights is asked for permission as others are.
        let without = "setpriv --bounding-set=-all --inh-caps=-all";
        let line =
            format!("[ $(id -u) = 0 ] && exec {without} {kolmo} {command}; exec {kolmo} {command}");
        shell(dir.path(), &line)
    });
    allow(0o755);
    for told in told {
        assert!(matches!(told.code, Some(1 | 2)), "{}", told.err);
        assert!(told.err.contains("Permission denied"), "{}", told.err);
    }
}

/// They were taken over as halves of the run's own.
#[test]
fn files_of_others_where_a_run_writes_first_are_in_its_way() {
    for name in [
        "summary.json.part",
        "slices/step_00000000_xy.png.part",
        "checkpoints/step_00000004.zarr.part/notes",
        "checkpoints/step_00000004.zarr.replaced/notes",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = put(dir.path().join("run").join(name));
        let refused = kolmo(dir.path(), small(&["--out", "run"]));
        assert_eq!(refused.code, Some(2), "{name}: {}", refused.err);
        assert!(refused.err.contains("that no manifest.txt names"), "{}", refused.err);
        assert_eq!(read(&path), "mine");
    }
}

#[test]
fn a_directory_of_the_name_of_a_case_is_no_input() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("taylor-green")).unwrap();
    done(dir.path(), small(&["--out", "run"]));
}
