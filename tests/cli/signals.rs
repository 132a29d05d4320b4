//! The effect of each signal, before and during a run.

use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libc::{SIGCONT, SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGUSR1, SIGXFSZ, c_int};

use super::endings::long_run;
use super::*;
use crate::common::with_default_sighup;

const POLL_INTERVAL: Duration = Duration::from_millis(2);
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn send(signal: c_int, child: &Child) {
    // SAFETY: no memory is passed; the process is a child that was not waited for yet.
    assert_eq!(unsafe { libc::kill(child.id().try_into().unwrap(), signal) }, 0);
}

/// Waits until `condition` is true, while `child` is alive.
fn wait_until(child: &mut Child, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIMEOUT && child.try_wait().unwrap().is_none());
        sleep(POLL_INTERVAL);
    }
}

fn outcome(child: Child) -> Outcome {
    child.wait_with_output().unwrap().into()
}

fn checkpoints(dir: &Path) -> Vec<u64> {
    kolmo::io::checkpoint::steps(&dir.join("runs/taylor-green/checkpoints"))
}

/// Starts `kolmo` with `arguments`, up to its search for devices: it waits there until the file `go` exists in `dir`.
fn start_paused(dir: &Path, arguments: &[&str]) -> Child {
    let _ = std::os::unix::fs::symlink(stub_library(), dir.join("libcuda.so"));
    let [loaded, go] = ["loaded", "go"].map(|name| dir.join(name));
    let _ = fs::remove_file(&loaded);
    let mut command = Command::new(program());
    command.args(arguments).current_dir(dir).env("LD_LIBRARY_PATH", dir);
    command.env("KOLMO_TEST_LOADED", &loaded).env("KOLMO_TEST_PROCEED", go);
    command.env("OCL_ICD_VENDORS", "none").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = with_default_sighup(&mut command).spawn().unwrap();
    wait_until(&mut child, || loaded.exists());
    child
}

#[test]
fn signals_before_a_run_begins_end_it_at_once_with_nothing_written() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        for arguments in [&small_run(&[])[..], &["info"]] {
            let child = start_paused(dir.path(), arguments);
            send(signal, &child);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.signal(), Some(signal));
            let message = "stopped before the run began; nothing was written\n";
            let message = if arguments.len() > 1 { message } else { "" };
            assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
            // A lock file that no process holds does not block later runs.
            let run = dir.path().join("runs/taylor-green");
            assert!(!run.exists() || file_names(&run) == [".lock"]);
        }
    }
}

#[test]
fn sigusr1_before_a_run_begins_writes_step_0_and_info_ignores_it() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&small_run(&["--set", "output.checkpoint=none"])[..], &["info"]] {
        let child = start_paused(dir.path(), arguments);
        send(SIGUSR1, &child);
        fs::write(dir.path().join("go"), "").unwrap();
        let outcome = outcome(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        fs::remove_file(dir.path().join("go")).unwrap();
    }
    assert!(checkpoints(dir.path()).contains(&0));
}

/// All handlers run before the program continues: a program that counts the second signal ends without a checkpoint.
#[test]
fn simultaneous_signals_are_one_request() {
    let dir = tempfile::tempdir().unwrap();
    let child = long_run(dir.path());
    for signal in [SIGSTOP, SIGTERM, SIGINT, SIGHUP, SIGCONT] {
        send(signal, &child);
    }
    let outcome = outcome(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert_eq!(checkpoints(dir.path()).len(), 1);
}

#[test]
fn two_signals_5_ms_apart_are_one_request() {
    for _ in 0..8 {
        let dir = tempfile::tempdir().unwrap();
        let child = long_run(dir.path());
        send(SIGTERM, &child);
        sleep(Duration::from_millis(5));
        send(SIGTERM, &child);
        let outcome = outcome(child);
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        assert_eq!(checkpoints(dir.path()).len(), 1);
    }
}

#[test]
fn sighup_ends_a_run_with_a_checkpoint_unless_started_under_nohup() {
    let dir = tempfile::tempdir().unwrap();
    let child = long_run(dir.path());
    send(SIGHUP, &child);
    assert_eq!(outcome(child).code, Some(3));
    assert_eq!(checkpoints(dir.path()).len(), 1);

    let further = ["--set", "time={ end = 1e6 }", "--overwrite"];
    let mut command = Command::new(program());
    command.args(small_run(&further)).current_dir(dir.path()).env("CUDA_VISIBLE_DEVICES", "");
    // SAFETY: one system call, the same that `nohup` makes.
    unsafe {
        command.pre_exec(|| {
            libc::signal(SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    wait_until(&mut child, || checkpoints(dir.path()).is_empty());
    wait_until(&mut child, || dir.path().join("runs/taylor-green/series.csv").exists());
    send(SIGHUP, &child);
    // The run continues, and responds to later requests.
    send(SIGUSR1, &child);
    wait_until(&mut child, || !checkpoints(dir.path()).is_empty());
    send(SIGTERM, &child);
    assert_eq!(outcome(child).code, Some(3));
}

/// The run hangs: here, because nobody reads its output.
#[test]
fn a_second_request_two_seconds_later_ends_a_hanging_run_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, mut full) = std::io::pipe().unwrap();
    let end = full.as_raw_fd();
    // SAFETY: no memory is passed; the file is open.
    let set_blocking = |blocking| unsafe {
        libc::fcntl(end, libc::F_SETFL, if blocking { 0 } else { libc::O_NONBLOCK })
    };
    set_blocking(false);
    for size in [4096, 1] {
        let error =
            std::iter::repeat_with(|| full.write_all(&vec![b'.'; size])).find_map(Result::err);
        assert_eq!(error.unwrap().kind(), ErrorKind::WouldBlock);
    }
    set_blocking(true);
    let mut command = Command::new(program());
    command.args(small_run(&["--set", "time={ end = 1e6 }"])).env("CUDA_VISIBLE_DEVICES", "");
    let mut child = command.current_dir(dir.path()).stderr(full).spawn().unwrap();
    let series = dir.path().join("runs/taylor-green/series.csv");
    wait_until(&mut child, || series.exists());
    let first = Instant::now();
    let status = loop {
        send(SIGTERM, &child);
        assert!(first.elapsed() < TIMEOUT);
        sleep(Duration::from_millis(50));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(128 + SIGTERM));
    assert!(first.elapsed() >= Duration::from_secs(2));
    drop(reader);
}

#[test]
fn exceeding_the_file_size_limit_is_an_error_that_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let set = "--set 'output.fields={ every_steps = 1 }' --set grid.points=[16,16,16] --set time.max_steps=4";
    let kolmo = program();
    let line = format!("ulimit -f 64; exec {kolmo} run taylor-green {set} --backend cpu");
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    assert_ne!(output.status.signal(), Some(SIGXFSZ));
    let outcome = Outcome::from(output);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let names_file = outcome.stderr.contains("error: runs/taylor-green/fields/step_00000000");
    assert!(names_file && outcome.stderr.contains("File too large"), "{}", outcome.stderr);
}
