//! The program on many ranks: its output files, and how it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kolmo::io::{Series, Summary};
use kolmo::physics::FLOW_COLUMNS;

use super::{Job, Running, job};
use crate::common::program;
use crate::io::{python, readback};

/// Time within which a job must end after a request to stop or the loss of a rank.
const LIMIT: Duration = Duration::from_secs(30);

/// The command of a vortex on few points, with further keys `set` and output directory `out`.
pub(super) fn vortex(out: &Path, set: &[&str]) -> Command {
    let mut command = Command::new(program());
    arguments(&mut command, out, set);
    command
}

fn arguments(command: &mut Command, out: &Path, set: &[&str]) {
    let small = ["grid.points=[16, 17, 15]", "output.series.every_steps=1"];
    command.args(["run", "taylor-green", "--out"]).arg(out);
    command.args(small.iter().chain(set).flat_map(|set| ["--set", set]));
    command.env("CUDA_VISIBLE_DEVICES", "");
}

/// The same command, started by a shell that runs `first` before it; `$rank` is the number of the rank.
pub(super) fn by_shell(first: &str, out: &Path, set: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let rank = "rank=$OMPI_COMM_WORLD_RANK$PMI_RANK";
    command.args(["-c", &format!("{rank}; {first}"), program()]);
    arguments(&mut command, out, set);
    command
}

pub(super) const FOUR_STEPS: &str = "time={ max_steps = 4, cfl = 0.8 }";
const ENDLESS: &str = "time={ end = 1e6 }";

/// Returns the lines of stderr with an error message, which may begin with its rank.
pub(super) fn errors(job: &Job) -> Vec<&str> {
    let is_error = |line: &&str| line.starts_with("error: ") || line.contains(": error: ");
    job.err.lines().filter(is_error).collect()
}

/// Asserts that a job ends with exit status `code` and one error message that contains all of `words`.
pub(super) fn assert_fails(ranks: usize, command: &Command, code: i32, words: &[&str]) {
    let job = Running::start(ranks, command).end(LIMIT);
    assert_eq!(job.code, Some(code), "{command:?}: {}", job.err);
    assert_eq!(errors(&job).len(), 1, "{command:?}: {}", job.err);
    for word in words {
        assert!(job.err.contains(word), "{command:?}: no `{word}` in {}", job.err);
    }
}

/// Number of rows of a series, 0 if it cannot be read.
fn rows(run: &Path) -> usize {
    Series::read(&run.join("series.csv")).map_or(0, |series| series.rows())
}

/// Waits until a run has written this many rows.
fn wait_for_rows(run: &Path, count: usize) {
    let start = Instant::now();
    while rows(run) < count {
        assert!(start.elapsed() < Duration::from_secs(60), "no rows in {}", run.display());
        sleep(Duration::from_millis(20));
    }
}

/// Returns the process ID of a rank of the run into `out`.
fn process(rank: usize, out: &Path) -> libc::pid_t {
    let contains = |pid: &str, file: &str, text: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let mut words = bytes.split(|&byte| byte == 0);
        words.any(|word| word == text.as_bytes())
    };
    let names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
    let entries = fs::read_dir("/proc").unwrap();
    let ids = entries.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut of_run = ids.filter(|pid| {
        contains(pid, "cmdline", out.to_str().unwrap())
            && names.iter().any(|name| contains(pid, "environ", name))
    });
    of_run.next().expect("the rank runs").parse().unwrap()
}

fn signal(process: libc::pid_t, signal: i32) {
    // SAFETY: no memory is passed.
    assert_eq!(unsafe { libc::kill(process, signal) }, 0);
}

pub(super) fn temporary() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    (dir, run)
}

#[test]
fn run_restarted_on_other_rank_counts_matches_the_series_of_one_rank() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = [
        "output.fields={ every_steps = 3, variables = ['velocity'] }",
        "output.statistics={ every_steps = 3 }",
        "output.checkpoint={ every_steps = 3, asynchronous = true }",
    ];
    let steps = |steps: u32| format!("time={{ max_steps = {steps}, cfl = 0.8 }}");
    let set = |n| [&[&*steps(n)], &outputs[..]].concat().iter().map(|s| s.to_string()).collect();
    let vortex = |out: &Path, n: u32| {
        let set: Vec<String> = set(n);
        vortex(out, &set.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let one = dir.path().join("one");
    assert!(vortex(&one, 12).output().unwrap().status.success());
    let expected = Series::read(&one.join("series.csv")).unwrap();
    let run = dir.path().join("many");
    let first = Running::start(3, &vortex(&run, 4)).end(2 * LIMIT);
    assert_eq!(first.code, Some(0), "{}", first.err);
    for (ranks, steps) in [(4, 7), (1, 9), (2, 12)] {
        let mut command = Command::new(program());
        command.arg("restart").arg(&run).env("CUDA_VISIBLE_DEVICES", "");
        command.args(["--set", &format!("time.max_steps={steps}")]);
        let job = Running::start(ranks, &command).end(2 * LIMIT);
        assert_eq!(job.code, Some(0), "{}", job.err);
        assert_eq!(job.err.matches("continues from step").count(), 1, "{}", job.err);
        assert!(errors(&job).is_empty(), "{}", job.err);
    }
    let series = Series::read(&run.join("series.csv")).unwrap();
    assert_eq!(series.names(), expected.names());
    for name in expected.names() {
        let (a, b) = (series.column(name).unwrap(), expected.column(name).unwrap());
        assert_eq!(a.len(), b.len(), "{name}");
        let size = b.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let deviation = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(deviation <= 1e-12 * size, "{name}: {deviation:e} of {size:e}");
    }
    let (valid, text) = readback(&run);
    assert!(valid, "{text}");
    assert_eq!(Summary::read(&run.join("summary.json")).unwrap().restarts, [4, 7, 9]);
}

#[test]
fn run_on_ranks_writes_the_files_of_one_rank_with_fields_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let fields = "output.fields={ every_steps = 2, variables = ['velocity', 'q_criterion'] }";
    let one = dir.path().join("one");
    let done = vortex(&one, &[FOUR_STEPS, fields]).output().unwrap();
    assert!(done.status.success());
    for (ranks, decomposition, set) in
        [(3, [1, 3, 1], "compute.distributed=pcr"), (4, [2, 1, 2], "compute.ranks=[2, 1, 2]")]
    {
        let many = dir.path().join(format!("{ranks}"));
        let job = job(ranks, &vortex(&many, &[FOUR_STEPS, fields, set]));
        assert_eq!(job.code, Some(0), "{}", job.err);
        // Only one rank prints this, once.
        assert_eq!(job.err.matches("report.html").count(), 1, "{}", job.err);
        let (valid, text) = readback(&many);
        assert!(valid && text.contains("3 fields of 16 x 17 x 15 points"), "{text}");
        let [a, b] = [&one, &many].map(|run| Series::read(&run.join("series.csv")).unwrap());
        for column in FLOW_COLUMNS {
            let [a, b] = [&a, &b].map(|series| series.column(column).unwrap());
            assert_eq!(a.len(), b.len());
            let size = a.iter().copied().map(f64::abs).fold(1.0, f64::max);
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() <= 1e-12 * size, "{column}: {a:e} {b:e}");
            }
        }
        let summary = Summary::read(&many.join("summary.json")).unwrap();
        let reported = summary.ranks.unwrap();
        assert_eq!((reported.count, reported.decomposition), (ranks, decomposition));
        assert!(
            reported.method.contains("`pcr` along ") && reported.method.contains("messages go")
        );
        let [px, py, pz] = decomposition;
        let report = fs::read_to_string(many.join("report.html")).unwrap();
        assert!(report.contains(&format!("{ranks} ({px} × {py} × {pz})")));
        let output = Command::new(python()).args(["-c", SAME_IMAGES]).args([&one, &many]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Compares every field of two runs as read by VTK, that of the second run from its pieces.
const SAME_IMAGES: &str = r#"
import sys, vtk
from pathlib import Path
from vtk.util.numpy_support import vtk_to_numpy as array

def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()

one, many = (Path(run) / "fields" for run in sys.argv[1:])
found = sorted(one.glob("*.vti"))
assert len(found) == 3, found
for path in found:
    a = read(vtk.vtkXMLImageDataReader(), path)
    b = read(vtk.vtkXMLPImageDataReader(), many / (path.stem + ".pvti"))
    for get in ("GetExtent", "GetOrigin", "GetSpacing"):
        assert getattr(a, get)() == getattr(b, get)(), (path, get)
    for name in ("velocity", "q_criterion"):
        p, q = (array(image.GetPointData().GetArray(name)) for image in (a, b))
        assert p.dtype == q.dtype and p.shape == q.shape, (path, name)
        assert abs(p - q).max() <= 1e-12 * max(abs(p).max(), 1), (path, name, abs(p - q).max())
"#;

#[test]
fn diverging_run_ends_with_one_error_message_and_valid_files() {
    let (_dir, run) = temporary();
    let set = [
        "scheme.convection=divergence",
        "time={ dt = 0.2, max_steps = 200 }",
        "output.fields={ every_steps = 5 }",
    ];
    assert_fails(3, &vortex(&run, &set), 1, &["error: the run diverged at step ", " at point ("]);
    let (valid, text) = readback(&run);
    assert!(valid, "{text}");
    let summary = Summary::read(&run.join("summary.json")).unwrap();
    // All steps but the last are valid.
    assert!(!summary.finished && summary.stop_reason.contains("diverged"));
    assert_eq!(rows(&run) as u64, summary.steps);
}

#[test]
fn killed_rank_ends_the_run_and_keeps_the_written_series() {
    for rank in [0, 1] {
        let (_dir, run) = temporary();
        let running = Running::start(2, &vortex(&run, &[ENDLESS]));
        wait_for_rows(&run, 3);
        signal(process(rank, &run), libc::SIGKILL);
        let job = running.end(LIMIT);
        assert_ne!(job.code, Some(0), "{}", job.err);
        assert!(rows(&run) >= 3);
        assert!(fs::read_to_string(run.join("series.csv")).unwrap().ends_with('\n'));
    }
}

#[test]
fn rank_out_of_memory_ends_all_ranks_with_an_error_message() {
    let (_dir, run) = temporary();
    // This limit is above the memory of a rank at its start and below the memory of its fields.
    let first = "[ $rank = 1 ] && ulimit -v 1500000; exec \"$0\" \"$@\"";
    let points = "grid.points=[256, 256, 192]";
    let job = Running::start(2, &by_shell(first, &run, &[points, ENDLESS])).end(LIMIT);
    assert_ne!(job.code, Some(0), "{}", job.err);
    assert!(job.err.contains("memory"), "{}", job.err);
}

#[test]
fn rank_that_cannot_write_its_piece_ends_all_with_its_error_message() {
    let (_dir, run) = temporary();
    let set = [ENDLESS, "output.fields={ every_steps = 20 }"];
    let running = Running::start(3, &vortex(&run, &set));
    wait_for_rows(&run, 3);
    // From now on this rank cannot write a file as long as a piece.
    let limit = libc::rlimit { rlim_cur: 4096, rlim_max: 4096 };
    let (rank, null) = (process(1, &run), std::ptr::null_mut());
    // SAFETY: the new limit is only read, and the old limit is not returned.
    let limited = unsafe { libc::prlimit(rank, libc::RLIMIT_FSIZE, &raw const limit, null) };
    assert_eq!(limited, 0);
    let job = running.end(LIMIT);
    assert_eq!(job.code, Some(1), "{}", job.err);
    let errors = errors(&job);
    assert_eq!(errors.len(), 1, "{}", job.err);
    assert!(errors[0].starts_with("rank 1 on "), "{}", job.err);
    let (path, _) = errors[0].split_once("/rank_00001.vti: ").unwrap();
    let list = format!("fields/{}.pvti", path.rsplit('/').next().unwrap());
    assert!(rows(&run) >= 3);
    assert!(run.join("fields/step_00000000.pvti").exists());
    assert!(!run.join(&list).exists(), "{list}");
}

#[test]
fn input_errors_are_reported_once() {
    let (_dir, run) = temporary();
    let bad = |ranks: usize, set: &[&str], words: &[&str]| {
        assert_fails(ranks, &vortex(&run, set), 2, words);
        assert!(!run.exists());
    };
    bad(3, &["case.reynols=3"], &["unknown key `reynols`", "nothing was run"]);
    bad(3, &["compute.ranks=[2, 2, 1]"], &["[2, 2, 1] are 4 ranks; this run has 3", "mpirun -n 4"]);
    bad(
        3,
        &["compute.distributed=neighbour"],
        &["`neighbour` needs blocks of ", "`pcr`", "`transpose`", "along "],
    );
    bad(
        3,
        &["compute.distributed=pcr", "compute.ranks=[1, 1, 3]", "grid.points=[16, 16, 5]"],
        &["a block of 1 points is too short", "`transpose`", "along z"],
    );
    bad(6, &["compute.ranks=[1, 1, 6]", "grid.points=[16, 16, 5]"], &["along z", "use at most 5"]);
    bad(2, &["case.mach=2"], &["the initial state has pressure = -"]);
}

#[test]
fn more_ranks_than_points_are_rejected() {
    let (_dir, run) = temporary();
    let mut command = Command::new(program());
    command.args(["run", "entropy-wave", "--set", "grid.points=[16, 1, 1]", "--out"]).arg(&run);
    assert_fails(
        20,
        &command,
        2,
        &["16 x 1 x 1 points cannot be cut into 20 blocks", "use 16 ranks"],
    );
}

#[test]
fn existing_run_is_not_overwritten_and_the_error_is_reported_once() {
    let (_dir, run) = temporary();
    let command = vortex(&run, &[FOUR_STEPS]);
    assert_eq!(job(2, &command).code, Some(0));
    let before = fs::read(run.join("series.csv")).unwrap();
    assert_fails(2, &command, 2, &["already holds a run", "--overwrite"]);
    assert_eq!(fs::read(run.join("series.csv")).unwrap(), before);
}

#[test]
fn signal_to_one_rank_stops_all_ranks_after_the_same_step() {
    for (rank, number) in [(0, libc::SIGINT), (1, libc::SIGINT), (1, libc::SIGHUP)] {
        let (_dir, run) = temporary();
        let running = Running::start(2, &vortex(&run, &[ENDLESS]));
        wait_for_rows(&run, 3);
        signal(process(rank, &run), number);
        let job = running.end(LIMIT);
        assert_eq!(job.code, Some(3), "{}", job.err);
        assert_eq!(job.err.matches("stopped early, as asked").count(), 1, "{}", job.err);
        assert_stopped(&run);
    }
}

#[test]
fn interrupt_of_the_launcher_stops_all_ranks_and_keeps_the_series() {
    let (_dir, run) = temporary();
    let running = Running::start(2, &vortex(&run, &[ENDLESS]));
    wait_for_rows(&run, 3);
    signal(running.id.try_into().unwrap(), libc::SIGINT);
    let job = running.end(LIMIT);
    // MPICH's launcher forwards the signal, waits, and does not return the exit status of the ranks; Open MPI's gives the ranks little
    // time.
    if job.code == Some(0) {
        assert_stopped(&run);
    }
    assert!(rows(&run) >= 3);
    assert!(fs::read_to_string(run.join("series.csv")).unwrap().ends_with('\n'));
}

/// Asserts that a run stopped early, on request, and that all its files are valid.
fn assert_stopped(run: &Path) {
    let summary = Summary::read(&run.join("summary.json")).unwrap();
    assert!(!summary.finished);
    assert_eq!(rows(run) as u64, summary.steps + 1);
    let (valid, text) = readback(run);
    assert!(valid, "{text}");
}

#[test]
fn run_finishes_with_stdout_and_stderr_closed() {
    let (_dir, run) = temporary();
    let first = "exec \"$0\" \"$@\" >&- 2>&-";
    let job = job(2, &by_shell(first, &run, &[FOUR_STEPS]));
    assert_eq!(job.code, Some(0), "{}", job.err);
    let (valid, text) = readback(&run);
    assert!(valid, "{text}");
}
