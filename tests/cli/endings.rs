//! Runs that end early: divergence, signals, wall limit, kill.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::signals::send;
use super::*;
use crate::common::with_default_sighup;

#[test]
fn diverging_run_reports_the_location_and_keeps_its_output_intact() {
    let dir = tempfile::tempdir().unwrap();
    let set = |value| ["--set", value];
    let further = [
        set("scheme.convection=divergence"),
        set("time={ dt = 0.2, max_steps = 200 }"),
        set("output.series={ every_steps = 1 }"),
        set("output.fields={ every_steps = 1 }"),
        ["--out", "run"],
    ];
    let outcome = kolmo(dir.path(), small_run(&further.concat()));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let message = outcome.stderr.lines().find_map(|line| line.strip_prefix("error: ")).unwrap();
    let words: Vec<&str> = message.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let [
        "the",
        "run",
        "diverged",
        "at",
        "step",
        step,
        "t",
        "=",
        time,
        field,
        "=",
        value,
        "at",
        "point",
        ..,
    ] = words[..]
    else {
        panic!("{message}")
    };
    let step: usize = step.parse().unwrap();
    let time: f64 = time.trim_end_matches(':').parse().unwrap();
    assert!((time - 0.2 * step as f64).abs() < 1e-9 && step < 100, "{message}");
    assert!(["density", "pressure", "momentum"].contains(&field), "{message}");
    let value: f64 = value.parse().unwrap();
    assert!(value.is_nan() || value.is_infinite() || value <= 0.0, "{message}");
    let index = message.rsplit_once('(').unwrap().1.trim_end_matches(')');
    let index: Vec<usize> = index.split(", ").map(|n| n.parse().unwrap()).collect();
    assert!(index.len() == 3 && index.iter().all(|&i| i < 16), "{message}");

    // All output up to the last valid step is present.
    let run = dir.path().join("run");
    assert_outputs_valid(&run, step);
    assert_eq!(file_names(&run.join("fields")).len(), step + 1);
    let summary = summary(&run);
    assert_eq!(summary["finished"], false);
    assert_ne!(summary["verdict"], "passed");
    assert_eq!(summary["stop_reason"], message);
    assert!(read(run.join("report.html")).contains("Not finished"));
    assert!(read(run.join("log.jsonl")).lines().last().unwrap().contains("diverged"));
}

/// Start a run that would take hours, and wait until it has written its first rows.
pub(super) fn long_run(directory: &Path) -> Child {
    let further = ["--set", "time={ end = 1e6 }", "--set", "output.series={ every_steps = 1 }"];
    let mut command = Command::new(program());
    command.args(small_run(&further)).current_dir(directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = with_default_sighup(&mut command).spawn().unwrap();
    let series = directory.join("runs/taylor-green/series.csv");
    let start = Instant::now();
    while fs::read_to_string(&series).map_or(0, |text| text.lines().count()) < 4 {
        assert!(start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn signal_ends_a_run_with_status_3_complete_files_and_a_restart_command() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let dir = tempfile::tempdir().unwrap();
        let child = long_run(dir.path());
        send(signal, &child);
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("stopped early, as asked"), "{}", outcome.stderr);
        let run = dir.path().join("runs/taylor-green");
        let summary = summary(&run);
        assert_eq!(summary["finished"], false);
        let steps = usize::try_from(summary["steps"].as_u64().unwrap()).unwrap();
        assert_outputs_valid(&run, steps + 1);
        assert!(run.join(format!("fields/step_{steps:08}.vti")).exists());

        // The suggested command continues from that step.
        let line = outcome.stderr.lines().find_map(|line| line.split_once("; to continue: "));
        let command = format!("{} --set 'time={{ max_steps = {} }}'", line.unwrap().1, steps + 2);
        let again = shell(dir.path(), &command);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert!(again.stderr.contains(&format!("continues from step {steps}")), "{}", again.stderr);
        assert_outputs_valid(&run, steps + 3);
    }
}

#[test]
fn sigusr1_writes_a_checkpoint_and_the_run_continues() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path());
    let checkpoints = dir.path().join("runs/taylor-green/checkpoints");
    for _ in 0..2 {
        let before = kolmo::io::checkpoint::steps(&checkpoints);
        send(libc::SIGUSR1, &child);
        let start = Instant::now();
        while kolmo::io::checkpoint::steps(&checkpoints) == before {
            assert!(start.elapsed() < Duration::from_secs(60));
            assert!(child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    send(libc::SIGTERM, &child);
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn run_stops_with_a_checkpoint_before_its_wall_limit() {
    let dir = tempfile::tempdir().unwrap();
    let set = |value| ["--set", value];
    let further = [
        set("time={ end = 1e6, wall_limit = \"3s\" }"),
        set("output.series={ every_steps = 100 }"),
        set("output.fields=none"),
    ];
    let start = Instant::now();
    let outcome = kolmo(dir.path(), small_run(&further.concat()));
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    // This bound only catches a run that ignores the limit; it is not a test of speed.
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(
        outcome.stderr.contains("its wall time is nearly over; to continue: "),
        "{}",
        outcome.stderr
    );
    let run = dir.path().join("runs/taylor-green");
    let steps = summary(&run)["steps"].as_u64().unwrap();
    assert!(steps > 1);
    assert_eq!(kolmo::io::checkpoint::steps(&run.join("checkpoints")), [steps]);

    // A job that completes no step must fail, because otherwise it could be resubmitted forever.
    let short = ["restart", "runs/taylor-green", "--set", "time.wall_limit=1e-9"];
    let outcome = kolmo(dir.path(), short);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("leaves no time for a single step"), "{}", outcome.stderr);

    // `auto` takes the end from the batch system; without one it is an error.
    let auto = [&["restart", "runs/taylor-green"][..], &set("time.wall_limit=auto")].concat();
    let outcome = kolmo(dir.path(), &auto);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("no batch system says when this job ends"),
        "{}",
        outcome.stderr
    );
    let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    // A job runs in a new session. Where only the length of the job is known, time that the job has already used counts.
    for (name, value, earlier_work, code) in [
        ("SLURM_JOB_END_TIME", since_1970 + 3, "", 3),
        ("PBS_WALLTIME", 3, "", 3),
        ("PBS_WALLTIME", 3, "sleep 3.1; ", 2),
    ] {
        let mut command = Command::new("setsid");
        let job = format!("{earlier_work}exec {} \"$@\"", program());
        command.args(["--wait", "sh", "-c", &job, "job"]).args(&auto).current_dir(dir.path());
        command.env(name, value.to_string()).env("CUDA_VISIBLE_DEVICES", "");
        let outcome = Outcome::from(command.output().unwrap());
        assert_eq!(outcome.code, Some(code), "{name}: {}", outcome.stderr);
    }
}

#[test]
fn killed_run_leaves_complete_rows_and_can_be_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = long_run(dir.path());
    send(libc::SIGKILL, &child);
    child.wait().unwrap();
    let run = dir.path().join("runs/taylor-green");
    let text = read(run.join("series.csv"));
    assert!(text.ends_with('\n') && Series::read(&run.join("series.csv")).unwrap().rows() >= 3);
    // The run can be repeated in the same directory, but only with `--overwrite`.
    assert_eq!(kolmo(dir.path(), small_run(&[])).code, Some(2));
    run_ok(dir.path(), small_run(&["--overwrite"]));
    assert_outputs_valid(&run, 2);
}
