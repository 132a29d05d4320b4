//! What each signal does, and when.

use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libc::{SIGCONT, SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGUSR1, SIGXFSZ, c_int};

use super::endings::long_run;
use super::*;
use crate::common::heeding_hang_ups;

const MOMENT: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn send(signal: c_int, child: &Child) {
    // SAFETY: takes no memory; the process is a child that was not waited for yet.
    assert_eq!(unsafe { libc::kill(child.id().try_into().unwrap(), signal) }, 0);
}

/// Wait until something is so, while `child` lives.
fn until(child: &mut Child, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
        sleep(MOMENT);
    }
}

fn outcome(child: Child) -> Outcome {
    child.wait_with_output().unwrap().into()
}

fn checkpoints(dir: &Path) -> Vec<u64> {
    kolmo::io::checkpoint::steps(&dir.join("runs/taylor-green/checkpoints"))
}

/// `kolmo` with `arguments`, where it looks for devices: it waits there until the file `go` is made in `dir`.
fn waiting(dir: &Path, arguments: &[&str]) -> Child {
    let _ = std::os::unix::fs::symlink(library(), dir.join("libcuda.so"));
    let [loaded, go] = ["loaded", "go"].map(|name| dir.join(name));
    let _ = fs::remove_file(&loaded);
    let mut command = Command::new(program());
    command.args(arguments).current_dir(dir).env("LD_LIBRARY_PATH", dir);
    command.env("KOLMO_TEST_LOADED", &loaded).env("KOLMO_TEST_GO", go);
    command.env("OCL_ICD_VENDORS", "none").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = heeding_hang_ups(&mut command).spawn().unwrap();
    until(&mut child, || loaded.exists());
    child
}

#[test]
fn what_asks_for_the_end_before_a_run_begins_ends_it_at_once_with_nothing_written() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        for arguments in [&small(&[])[..], &["info"]] {
            let child = waiting(dir.path(), arguments);
            send(signal, &child);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.signal(), Some(signal));
            let told = "stopped before the run began; nothing was written\n";
            let told = if arguments.len() > 1 { told } else { "" };
            assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
            // A lock that nobody holds any more is in nobody's way.
            let run = dir.path().join("runs/taylor-green");
            assert!(!run.exists() || names(&run) == [".lock"]);
        }
    }
}

#[test]
fn a_checkpoint_asked_for_before_the_run_begins_is_its_first_and_other_commands_do_not_care() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&small(&["--set", "output.checkpoint=none"])[..], &["info"]] {
        let child = waiting(dir.path(), arguments);
        send(SIGUSR1, &child);
        fs::write(dir.path().join("go"), "").unwrap();
        let outcome = outcome(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        fs::remove_file(dir.path().join("go")).unwrap();
    }
    assert!(checkpoints(dir.path()).contains(&0));
}

/// The handlers of all of them run before the program goes on: whoever counts the second ends without a checkpoint.
#[test]
fn signals_that_come_together_are_one_request() {
    let dir = tempfile::tempdir().unwrap();
    let child = long_run(dir.path());
    for signal in [SIGSTOP, SIGTERM, SIGINT, SIGHUP, SIGCONT] {
        send(signal, &child);
    }
    let outcome = outcome(child);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
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
        assert_eq!(outcome.code, Some(3), "{}", outcome.err);
        assert_eq!(checkpoints(dir.path()).len(), 1);
    }
}

#[test]
fn a_hang_up_ends_a_run_with_a_checkpoint_unless_it_was_started_to_survive_one() {
    let dir = tempfile::tempdir().unwrap();
    let child = long_run(dir.path());
    send(SIGHUP, &child);
    assert_eq!(outcome(child).code, Some(3));
    assert_eq!(checkpoints(dir.path()).len(), 1);

    let further = ["--set", "time={ end = 1e6 }", "--overwrite"];
    let mut command = Command::new(program());
    command.args(small(&further)).current_dir(dir.path()).env("CUDA_VISIBLE_DEVICES", "");
    // SAFETY: what `nohup` does, in one call.
    unsafe {
        command.pre_exec(|| {
            libc::signal(SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    until(&mut child, || checkpoints(dir.path()).is_empty());
    until(&mut child, || dir.path().join("runs/taylor-green/series.csv").exists());
    send(SIGHUP, &child);
    // The run goes on: it does what is asked of it later.
    send(SIGUSR1, &child);
    until(&mut child, || !checkpoints(dir.path()).is_empty());
    send(SIGTERM, &child);
    assert_eq!(outcome(child).code, Some(3));
}

/// A run that hangs, here since nobody reads what it says.
#[test]
fn another_request_two_seconds_later_ends_a_run_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, mut full) = std::io::pipe().unwrap();
    let end = full.as_raw_fd();
    // SAFETY: takes no memory; the file is open.
    let wait =
        |wait| unsafe { libc::fcntl(end, libc::F_SETFL, if wait { 0 } else { libc::O_NONBLOCK }) };
    wait(false);
    for size in [4096, 1] {
        let error =
            std::iter::repeat_with(|| full.write_all(&vec![b'.'; size])).find_map(Result::err);
        assert_eq!(error.unwrap().kind(), ErrorKind::WouldBlock);
    }
    wait(true);
    let mut command = Command::new(program());
    command.args(small(&["--set", "time={ end = 1e6 }"])).env("CUDA_VISIBLE_DEVICES", "");
    let mut child = command.current_dir(dir.path()).stderr(full).spawn().unwrap();
    let series = dir.path().join("runs/taylor-green/series.csv");
    until(&mut child, || series.exists());
    let first = Instant::now();
    let status = loop {
        send(SIGTERM, &child);
        assert!(first.elapsed() < PATIENCE);
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
fn a_file_that_may_not_grow_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let set = "--set 'output.fields={ every_steps = 1 }' --set grid.points=[16,16,16] --set time.max_steps=4";
    let kolmo = program();
    let line = format!("ulimit -f 64; exec {kolmo} run taylor-green {set} --backend cpu");
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    assert_ne!(output.status.signal(), Some(SIGXFSZ));
    let outcome = Outcome::from(output);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    let named = outcome.err.contains("error: runs/taylor-green/fields/step_00000000");
    assert!(named && outcome.err.contains("File too large"), "{}", outcome.err);
}
