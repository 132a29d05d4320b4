//! The program itself on many ranks: what it leaves, and how it ends.

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

/// In which every job must have ended that was told to, or whose ranks did not all live.
const LIMIT: Duration = Duration::from_secs(30);

/// A vortex on few points, further keys `set`, whose files go to `out`.
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

/// The same by a shell, which goes through `first` before it; `$rank` is the number of the rank.
pub(super) fn by_shell(first: &str, out: &Path, set: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let rank = "rank=$OMPI_COMM_WORLD_RANK$PMI_RANK";
    command.args(["-c", &format!("{rank}; {first}"), program()]);
    arguments(&mut command, out, set);
    command
}

pub(super) const FOUR_STEPS: &str = "time={ max_steps = 4, cfl = 0.8 }";
const FOR_EVER: &str = "time={ end = 1e6 }";

/// What was said that begins with "error", each rank's in its own line.
pub(super) fn errors(job: &Job) -> Vec<&str> {
    let is_error = |line: &&str| line.starts_with("error: ") || line.contains(": error: ");
    job.err.lines().filter(is_error).collect()
}

/// What must end with `code` and one message that holds all of `words`.
pub(super) fn refused(ranks: usize, command: &Command, code: i32, words: &[&str]) {
    let job = Running::start(ranks, command).end(LIMIT);
    assert_eq!(job.code, Some(code), "{command:?}: {}", job.err);
    assert_eq!(errors(&job).len(), 1, "{command:?}: {}", job.err);
    for word in words {
        assert!(job.err.contains(word), "{command:?}: no `{word}` in {}", job.err);
    }
}

/// Rows of a series that can be read.
fn rows(run: &Path) -> usize {
    Series::read(&run.join("series.csv")).map_or(0, |series| series.rows())
}

/// Wait until a run has written that many rows.
fn wait_for_rows(run: &Path, count: usize) {
    let start = Instant::now();
    while rows(run) < count {
        assert!(start.elapsed() < Duration::from_secs(60), "no rows in {}", run.display());
        sleep(Duration::from_millis(20));
    }
}

/// The process of a rank of the run into `out`.
fn process(rank: usize, out: &Path) -> libc::pid_t {
    let is = |pid: &str, what: &str, text: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        let mut words = bytes.split(|&byte| byte == 0);
        words.any(|word| word == text.as_bytes())
    };
    let names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
    let entries = fs::read_dir("/proc").unwrap();
    let ids = entries.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut of_run = ids.filter(|pid| {
        is(pid, "cmdline", out.to_str().unwrap())
            && names.iter().any(|name| is(pid, "environ", name))
    });
    of_run.next().expect("the rank runs").parse().unwrap()
}

fn signal(process: libc::pid_t, signal: i32) {
    // SAFETY: takes no memory.
    assert_eq!(unsafe { libc::kill(process, signal) }, 0);
}

pub(super) fn temporary() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    (dir, run)
}

#[test]
fn a_run_goes_on_on_any_number_of_ranks_to_the_series_of_one() {
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
    let found = Series::read(&run.join("series.csv")).unwrap();
    assert_eq!(found.names(), expected.names());
    for name in expected.names() {
        let (a, b) = (found.column(name).unwrap(), expected.column(name).unwrap());
        assert_eq!(a.len(), b.len(), "{name}");
        let size = b.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 1e-12 * size, "{name}: {off:e} of {size:e}");
    }
    let (content, text) = readback(&run);
    assert!(content, "{text}");
    assert_eq!(Summary::read(&run.join("summary.json")).unwrap().restarts, [4, 7, 9]);
}

#[test]
fn the_files_of_a_run_are_those_of_one_rank_in_pieces() {
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
        // One rank speaks, once.
        assert_eq!(job.err.matches("report.html").count(), 1, "{}", job.err);
        let (content, text) = readback(&many);
        assert!(content && text.contains("3 fields of 16 x 17 x 15 points"), "{text}");
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
        let told = summary.ranks.unwrap();
        assert_eq!((told.count, told.decomposition), (ranks, decomposition));
        assert!(told.method.contains("`pcr` along ") && told.method.contains("messages go"));
        let [px, py, pz] = decomposition;
        let report = fs::read_to_string(many.join("report.html")).unwrap();
        assert!(report.contains(&format!("{ranks} ({px} × {py} × {pz})")));
        let said = Command::new(python()).args(["-c", SAME_IMAGES]).args([&one, &many]).output();
        let said = said.unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
}

/// Reads every field of two runs with VTK, the second's from its pieces.
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
fn a_run_that_diverges_ends_with_one_message_and_whole_files() {
    let (_dir, run) = temporary();
    let set = [
        "scheme.convection=divergence",
        "time={ dt = 0.2, max_steps = 200 }",
        "output.fields={ every_steps = 5 }",
    ];
    refused(3, &vortex(&run, &set), 1, &["error: the run diverged at step ", " at point ("]);
    let (content, text) = readback(&run);
    assert!(content, "{text}");
    let summary = Summary::read(&run.join("summary.json")).unwrap();
    // Every step but the last was sound.
    assert!(!summary.finished && summary.stop_reason.contains("diverged"));
    assert_eq!(rows(&run) as u64, summary.steps);
}

#[test]
fn a_killed_rank_ends_the_run_and_leaves_what_was_written() {
    for rank in [0, 1] {
        let (_dir, run) = temporary();
        let running = Running::start(2, &vortex(&run, &[FOR_EVER]));
        wait_for_rows(&run, 3);
        signal(process(rank, &run), libc::SIGKILL);
        let job = running.end(LIMIT);
        assert_ne!(job.code, Some(0), "{}", job.err);
        assert!(rows(&run) >= 3);
        assert!(fs::read_to_string(run.join("series.csv")).unwrap().ends_with('\n'));
    }
}

#[test]
fn a_rank_without_memory_ends_all_with_a_message() {
    let (_dir, run) = temporary();
    // More than a rank starts with, less than its fields take.
    let first = "[ $rank = 1 ] && ulimit -v 1500000; exec \"$0\" \"$@\"";
    let points = "grid.points=[256, 256, 192]";
    let job = Running::start(2, &by_shell(first, &run, &[points, FOR_EVER])).end(LIMIT);
    assert_ne!(job.code, Some(0), "{}", job.err);
    assert!(job.err.contains("memory"), "{}", job.err);
}

#[test]
fn a_rank_that_cannot_write_its_piece_ends_all_with_its_message() {
    let (_dir, run) = temporary();
    let set = [FOR_EVER, "output.fields={ every_steps = 20 }"];
    let running = Running::start(3, &vortex(&run, &set));
    wait_for_rows(&run, 3);
    // From now on no file of this rank may grow to the length of a piece.
    let limit = libc::rlimit { rlim_cur: 4096, rlim_max: 4096 };
    let (rank, null) = (process(1, &run), std::ptr::null_mut());
    // SAFETY: the limit is read, and none is written.
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
fn what_is_wrong_with_the_input_is_told_once() {
    let (_dir, run) = temporary();
    let bad = |ranks: usize, set: &[&str], words: &[&str]| {
        refused(ranks, &vortex(&run, set), 2, words);
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
fn more_ranks_than_points_are_refused() {
    let (_dir, run) = temporary();
    let mut command = Command::new(program());
    command.args(["run", "entropy-wave", "--set", "grid.points=[16, 1, 1]", "--out"]).arg(&run);
    refused(20, &command, 2, &["16 x 1 x 1 points cannot be cut into 20 blocks", "use 16 ranks"]);
}

#[test]
fn a_run_that_is_there_is_not_replaced_and_that_is_told_once() {
    let (_dir, run) = temporary();
    let command = vortex(&run, &[FOUR_STEPS]);
    assert_eq!(job(2, &command).code, Some(0));
    let before = fs::read(run.join("series.csv")).unwrap();
    refused(2, &command, 2, &["already holds a run", "--overwrite"]);
    assert_eq!(fs::read(run.join("series.csv")).unwrap(), before);
}

#[test]
fn a_signal_to_one_rank_stops_all_after_the_same_step() {
    for (rank, asked) in [(0, libc::SIGINT), (1, libc::SIGINT), (1, libc::SIGHUP)] {
        let (_dir, run) = temporary();
        let running = Running::start(2, &vortex(&run, &[FOR_EVER]));
        wait_for_rows(&run, 3);
        signal(process(rank, &run), asked);
        let job = running.end(LIMIT);
        assert_eq!(job.code, Some(3), "{}", job.err);
        assert_eq!(job.err.matches("stopped early, as asked").count(), 1, "{}", job.err);
        stopped(&run);
    }
}

#[test]
fn a_signal_to_the_launcher_stops_all() {
    let (_dir, run) = temporary();
    let running = Running::start(2, &vortex(&run, &[FOR_EVER]));
    wait_for_rows(&run, 3);
    signal(running.id.try_into().unwrap(), libc::SIGINT);
    let job = running.end(LIMIT);
    // MPICH's passes it on, waits, and tells of no code; Open MPI's gives the ranks little time.
    if job.code == Some(0) {
        stopped(&run);
    }
    assert!(rows(&run) >= 3);
    assert!(fs::read_to_string(run.join("series.csv")).unwrap().ends_with('\n'));
}

/// A run that was asked to stop and did, with every file whole.
fn stopped(run: &Path) {
    let summary = Summary::read(&run.join("summary.json")).unwrap();
    assert!(!summary.finished);
    assert_eq!(rows(run) as u64, summary.steps + 1);
    let (content, text) = readback(run);
    assert!(content, "{text}");
}

#[test]
fn nobody_has_to_listen() {
    let (_dir, run) = temporary();
    let first = "exec \"$0\" \"$@\" >&- 2>&-";
    let job = job(2, &by_shell(first, &run, &[FOUR_STEPS]));
    assert_eq!(job.code, Some(0), "{}", job.err);
    let (content, text) = readback(&run);
    assert!(content, "{text}");
}
