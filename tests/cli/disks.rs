//! Full disks and unwritable directories.

use super::restarts::{files, input};
use super::*;

/// Run `line` in a shell in which the subdirectory `full` of `dir` is a file system of size `bytes`. Where the system does not permit the
/// mount, the size of each file is limited to `limit` bytes instead; the same system calls then fail.
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
            println!("no file system can be mounted here; the file size is limited instead");
            shell(dir, &format!("trap '' XFSZ; ulimit -f {}; {line}", limit.div_ceil(512)))
        }
    }
}

/// Size of a checkpoint in bytes: 40³ points, five fields in double precision, and metadata.
const CHECKPOINT: usize = 40 * 40 * 40 * 5 * 8 + 30_000;

#[test]
fn full_disk_during_a_checkpoint_leaves_earlier_checkpoints_usable() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoints_only = input(40, 30)
        .replace("fields = {", "# fields = {")
        .replace("planes = {", "# planes = {")
        .replace("statistics = {", "# statistics = {")
        .replace("every_steps = 3 }", "every_steps = 1 }");
    fs::write(dir.path().join("input.toml"), &checkpoints_only).unwrap();
    run_ok(dir.path(), ["run", "input.toml", "--out", "whole"]);
    // The disk has space for two checkpoints but not for a third. The files are copied from the disk before it is unmounted.
    for (policy, code, message) in
        [("stop", 1, "error: "), ("continue", 0, "the run continues without it")]
    {
        let input = checkpoints_only.replace("keep = 2", "keep = 3")
            + &format!("on_failure = \"{policy}\"\n");
        fs::write(dir.path().join("small.toml"), input).unwrap();
        let size = 2 * CHECKPOINT + 2_200_000;
        let kolmo = program();
        let line = format!(
            "{kolmo} run small.toml --out full/run; code=$?; rm -rf kept; mkdir kept; cp -r full/run kept; exit $code"
        );
        let outcome = with_disk(dir.path(), size, CHECKPOINT / 10, &line);
        assert_eq!(outcome.code, Some(code), "{policy}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{policy}: {}", outcome.stderr);
        let copied = dir.path().join("kept/run");
        let checkpoints = file_names(&copied.join("checkpoints"));
        assert!(checkpoints.iter().all(|name| name.ends_with(".zarr")), "{checkpoints:?}");
        assert!(!checkpoints.is_empty() && checkpoints.len() < 3, "{checkpoints:?}");
        // With space available, the run restarts from the newest checkpoint.
        let set = ["--set", "output.checkpoint.keep=2", "--set", "time.max_steps=30"];
        let newest = checkpoints.last().unwrap();
        let step: u64 = newest[5..13].parse().unwrap();
        let from = ["--from", &step.to_string()];
        let outcome = run_ok(dir.path(), [&["restart", "kept/run"][..], &set, &from].concat());
        assert!(
            outcome.stderr.contains(&format!("continues from step {step}")),
            "{}",
            outcome.stderr
        );
        let (mut actual, mut expected) = (files(&copied), files(&dir.path().join("whole")));
        for files in [&mut actual, &mut expected] {
            files.retain(|name, _| name == "series.csv" || name.contains("step_00000030.zarr"));
        }
        // Five fields and three coordinates with two files each, and the series.
        assert_eq!(actual.len(), 17);
        assert!(actual == expected, "{policy}");
    }
}

#[test]
fn unwritable_output_directory_is_reported_before_the_first_step() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input.toml"), input(10, 3)).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "/proc/run"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("/proc/run"), "{}", outcome.stderr);
    // A run that reaches its wall limit and cannot write its checkpoint does not report that it can be continued.
    fs::write(dir.path().join("stop.toml"), input(10, 3) + "on_failure = \"continue\"\n").unwrap();
    fs::create_dir(dir.path().join("stopped")).unwrap();
    fs::write(dir.path().join("stopped/checkpoints"), "").unwrap();
    let limit = ["--set", "time={ max_steps = 1000000, wall_limit = 2 }"];
    let stopped = ["run", "stop.toml", "--out", "stopped"];
    let outcome = kolmo(dir.path(), [&stopped[..], &limit].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no checkpoint could be written"), "{}", outcome.stderr);
    // A file exists at the path of the checkpoint directory.
    let run = dir.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("checkpoints"), "").unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("run/checkpoints"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn on_failure_continue_tolerates_an_unwritable_report_or_summary() {
    let dir = tempfile::tempdir().unwrap();
    let set =
        "--set output.on_failure=continue --set output.fields=none --set output.checkpoint=none";
    let small = small_run(&["--out", "run"]).into_iter().map(|word| format!("'{word}'"));
    let small = small.collect::<Vec<_>>().join(" ");
    let kolmo = program();
    let line = format!("trap '' XFSZ; ulimit -f 8; exec {kolmo} {small} {set}");
    let outcome = shell(dir.path(), &line);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the report is incomplete"), "{}", outcome.stderr);
    assert!(
        dir.path().join("run/summary.json").exists() && !outcome.stderr.contains("the summary")
    );
    // A summary that cannot be written does not stop the run either.
    run_ok(dir.path(), self::small_run(&["--out", "other"]));
    fs::create_dir(dir.path().join("other/summary.json.part")).unwrap();
    let more = ["--set", "time.max_steps=40", "--set", "output.on_failure=continue"];
    let outcome = run_ok(dir.path(), [&["restart", "other"][..], &more].concat());
    assert!(outcome.stderr.contains("the summary is incomplete"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("report.html"), "{}", outcome.stderr);
}

/// Catches a partial line in the log, which no JSON parser accepts, and error messages of the logging library about the failed write.
#[cfg(unix)]
#[test]
fn log_that_exceeds_the_file_size_limit_has_only_complete_lines() {
    let dir = tempfile::tempdir().unwrap();
    let kolmo = program();
    // Limit of 4 KiB per file: too small for any field, and for the log of all resulting warnings.
    let line = format!(
        "trap '' XFSZ; ulimit -f 8; exec {kolmo} run taylor-green --backend cpu --out run --set 'grid.points=[8, 8, 8]' \
         --set time.max_steps=40 --set 'output.fields={{ every_steps = 1, variables = [\"velocity\"] }}' \
         --set 'output.series={{ every_steps = 100 }}' --set output.checkpoint=none --set output.on_failure=continue"
    );
    let outcome = shell(dir.path(), &line);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("ubscriber"), "{}", outcome.stderr);
    let log = read(dir.path().join("run/log.jsonl"));
    let mut lines = log.lines().map(serde_json::from_str::<serde_json::Value>);
    assert!(log.ends_with('\n') && log.len() > 3500 && lines.all(|line| line.is_ok()), "{log}");
}

/// Catches one unwritable table that permanently stops the output of all tables after it.
#[cfg(unix)]
#[test]
fn statistics_tables_are_complete_although_another_one_is_truncated() {
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
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome
    };
    run("", "whole");
    // Limit of 32 KiB per file: the probability densities of two times are larger.
    let stderr = run("ulimit -f 64;", "full").stderr;
    assert!(
        stderr.contains("gradients.csv") && stderr.contains("the run continues without it"),
        "{stderr}"
    );
    // No checkpoint that depends on this table is written, and a warning reports that.
    assert!(stderr.contains("warning: no checkpoint of step 5: "), "{stderr}");
    assert!(
        file_names(&dir.path().join("whole/checkpoints")).contains(&"step_00000005.zarr".into())
    );
    let table = |run: &str, name: &str| read(dir.path().join(run).join("statistics").join(name));
    for name in ["moments.csv", "turbulence.csv", "gradient_moments.csv"] {
        assert_eq!(table("full", name), table("whole", name), "{name}");
    }
    let (truncated, complete) = (table("full", "gradients.csv"), table("whole", "gradients.csv"));
    assert!(
        truncated.len() < complete.len()
            && complete.starts_with(&truncated)
            && truncated.ends_with('\n')
    );
}
