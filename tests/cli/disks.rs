//! Disks that are full, and directories that cannot be written.

use super::restarts::{files, input};
use super::*;

/// Type `line` into a shell where the folder `full` of `dir` is a disk of so many bytes. Where the system lets nobody mount one,
/// files may not grow beyond `limit` instead, which programs are told by the same failing calls.
fn with_disk(dir: &Path, bytes: usize, limit: usize, line: &str) -> Outcome {
    fs::create_dir_all(dir.join("full")).unwrap();
    let disk = format!("mount -t tmpfs -o size={bytes} tmpfs full && {line}");
    let mut mount = Command::new("unshare");
    mount.args(["-rm", "mount", "-t", "tmpfs", "x", "full"]).current_dir(dir);
    let can_mount = mount.output().is_ok_and(|output| output.status.success());
    match can_mount {
        true => {
            let mut command = Command::new("unshare");
            command.args(["-rm", "sh", "-c", &disk]).current_dir(dir);
            command.output().unwrap().into()
        }
        false => {
            println!("nothing can be mounted here: files are limited instead");
            shell(dir, &format!("trap '' XFSZ; ulimit -f {}; {line}", limit.div_ceil(512)))
        }
    }
}

/// 40³ points, five fields of doubles and what lies around them.
const CHECKPOINT: usize = 40 * 40 * 40 * 5 * 8 + 30_000;

#[test]
fn a_full_disk_in_the_middle_of_a_checkpoint_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let only = input(40, 30)
        .replace("fields = {", "# fields = {")
        .replace("planes = {", "# planes = {")
        .replace("statistics = {", "# statistics = {")
        .replace("every_steps = 3 }", "every_steps = 1 }");
    fs::write(dir.path().join("input.toml"), &only).unwrap();
    done(dir.path(), ["run", "input.toml", "--out", "whole"]);
    // Room for the first and the second checkpoint, not for a third beside them; behind it the disk is carried away.
    for (policy, code, told) in
        [("stop", 1, "error: "), ("continue", 0, "the run continues without it")]
    {
        let input = only.replace("keep = 2", "keep = 3") + &format!("on_failure = \"{policy}\"\n");
        fs::write(dir.path().join("small.toml"), input).unwrap();
        let size = 2 * CHECKPOINT + 2_200_000;
        let kolmo = program();
        let line = format!(
            "{kolmo} run small.toml --out full/run; code=$?; rm -rf kept; mkdir kept; cp -r full/run kept; exit $code"
        );
        let outcome = with_disk(dir.path(), size, CHECKPOINT / 10, &line);
        assert_eq!(outcome.code, Some(code), "{policy}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{policy}: {}", outcome.err);
        let kept = dir.path().join("kept/run");
        let checkpoints = names(&kept.join("checkpoints"));
        assert!(checkpoints.iter().all(|name| name.ends_with(".zarr")), "{checkpoints:?}");
        assert!(!checkpoints.is_empty() && checkpoints.len() < 3, "{checkpoints:?}");
        // With room again the run goes on from what it has.
        let set = ["--set", "output.checkpoint.keep=2", "--set", "time.max_steps=30"];
        let newest = checkpoints.last().unwrap();
        let step: u64 = newest[5..13].parse().unwrap();
        let from = ["--from", &step.to_string()];
        let outcome = done(dir.path(), [&["restart", "kept/run"][..], &set, &from].concat());
        assert!(outcome.err.contains(&format!("continues from step {step}")), "{}", outcome.err);
        let (mut found, mut expected) = (files(&kept), files(&dir.path().join("whole")));
        for files in [&mut found, &mut expected] {
            files.retain(|name, _| name == "series.csv" || name.contains("step_00000030.zarr"));
        }
        // Five fields and three coordinates, two files each, and the series.
        assert_eq!(found.len(), 17);
        assert!(found == expected, "{policy}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_told_before_the_first_step() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input.toml"), input(10, 3)).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "/proc/run"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("/proc/run"), "{}", outcome.err);
    // A run that is told to stop, and cannot write its checkpoint, does not say that it can go on.
    fs::write(dir.path().join("stop.toml"), input(10, 3) + "on_failure = \"continue\"\n").unwrap();
    fs::create_dir(dir.path().join("stopped")).unwrap();
    fs::write(dir.path().join("stopped/checkpoints"), "").unwrap();
    let limit = ["--set", "time={ max_steps = 1000000, wall_limit = 2 }"];
    let stopped = ["run", "stop.toml", "--out", "stopped"];
    let outcome = kolmo(dir.path(), [&stopped[..], &limit].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("no checkpoint could be written"), "{}", outcome.err);
    // Something else is where the checkpoints are to be.
    let run = dir.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("checkpoints"), "").unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("run/checkpoints"), "{}", outcome.err);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_to_go_on_ends_without_a_report_that_has_no_room() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        "--set output.on_failure=continue --set output.fields=none --set output.checkpoint=none";
    let small = small(&["--out", "run"]).into_iter().map(|word| format!("'{word}'"));
    let small = small.collect::<Vec<_>>().join(" ");
    let kolmo = program();
    let line = format!("trap '' XFSZ; ulimit -f 8; exec {kolmo} {small} {set}");
    let outcome = shell(dir.path(), &line);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("the report is incomplete"), "{}", outcome.err);
    assert!(dir.path().join("run/summary.json").exists() && !outcome.err.contains("the summary"));
    // Nor is a summary that cannot be written the end of it.
    done(dir.path(), self::small(&["--out", "other"]));
    fs::create_dir(dir.path().join("other/summary.json.part")).unwrap();
    let more = ["--set", "time.max_steps=40", "--set", "output.on_failure=continue"];
    let outcome = done(dir.path(), [&["restart", "other"][..], &more].concat());
    assert!(outcome.err.contains("the summary is incomplete"), "{}", outcome.err);
    assert!(!outcome.err.contains("report.html"), "{}", outcome.err);
}

/// Catches half a line in the log, which no reader of JSON takes, and what the library that writes it says of that.
#[cfg(unix)]
#[test]
fn a_log_without_room_has_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let kolmo = program();
    // 4 KiB a file: no field has room, and not all warnings of that.
    let line = format!(
        "trap '' XFSZ; ulimit -f 8; exec {kolmo} run taylor-green --backend cpu --out run --set 'grid.points=[8, 8, 8]' \
         --set time.max_steps=40 --set 'output.fields={{ every_steps = 1, variables = [\"velocity\"] }}' \
         --set 'output.series={{ every_steps = 100 }}' --set output.checkpoint=none --set output.on_failure=continue"
    );
    let outcome = shell(dir.path(), &line);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(!outcome.err.contains("ubscriber"), "{}", outcome.err);
    let log = read(dir.path().join("run/log.jsonl"));
    let mut lines = log.lines().map(serde_json::from_str::<serde_json::Value>);
    assert!(log.ends_with('\n') && log.len() > 3500 && lines.all(|line| line.is_ok()), "{log}");
}

/// One table that has no room kept those behind it from their rows, for good.
#[cfg(unix)]
#[test]
fn tables_of_statistics_that_have_room_are_whole_where_another_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let statistics = "statistics={ every_steps = 1, quantities = [\"moments\", \"spectra\", \"gradients\", \"turbulence\"] }";
    let run = |limit: &str, out: &str| {
        let kolmo = program();
        let line = format!(
            "trap '' XFSZ; {limit} exec {kolmo} run taylor-green --backend cpu --out {out} --set 'grid.points=[8, 8, 8]' \
             --set 'time={{ max_steps = 8, dt = 1e-3 }}' --set 'output.{statistics}' --set output.on_failure=continue \
             --set output.fields=none --set 'output.checkpoint={{ every_steps = 5 }}'"
        );
        let outcome = shell(dir.path(), &line);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        outcome
    };
    run("", "whole");
    // 32 KiB a file: the densities of two instants are more.
    let told = run("ulimit -f 64;", "full").err;
    assert!(
        told.contains("gradients.csv") && told.contains("the run continues without it"),
        "{told}"
    );
    // Nor is there a checkpoint that counts on it, which nobody was told.
    assert!(told.contains("warning: no checkpoint of step 5: "), "{told}");
    assert!(names(&dir.path().join("whole/checkpoints")).contains(&"step_00000005.zarr".into()));
    let table = |run: &str, name: &str| read(dir.path().join(run).join("statistics").join(name));
    for name in ["moments.csv", "turbulence.csv", "gradient_moments.csv"] {
        assert_eq!(table("full", name), table("whole", name), "{name}");
    }
    let (part, whole) = (table("full", "gradients.csv"), table("whole", "gradients.csv"));
    assert!(part.len() < whole.len() && whole.starts_with(&part) && part.ends_with('\n'));
}
