//! Runs that are killed at an arbitrary time, as by a node failure, resume with bitwise identical results.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::restarts::{assert_same, input};
use super::*;

/// Number of kills. At least half of them occur while a checkpoint is written.
const KILLS: usize = 200;

/// Reproducible pseudo-random numbers (Marsaglia 2003, xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn start(dir: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(dir).env("CUDA_VISIBLE_DEVICES", "");
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whether a checkpoint is being written.
fn is_writing(run: &Path) -> bool {
    let Ok(entries) = fs::read_dir(run.join("checkpoints")) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "part"))
}

#[test]
fn run_killed_at_any_time_resumes_with_bitwise_identical_output() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input.toml"), input(12, 60)).unwrap();
    run_ok(dir.path(), ["run", "input.toml", "--out", "whole"]);
    let run = dir.path().join("run");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut kills, mut kills_in_checkpoint, mut runs) = (0, 0, 0);
    while kills < KILLS || runs == 0 {
        let has_checkpoint = !checkpoint_steps(&run).is_empty();
        let mut child = match run.join("config.toml").exists() {
            true => start(dir.path(), &["restart", "run"]),
            false => start(dir.path(), &["run", "input.toml", "--out", "run", "--overwrite"]),
        };
        let start_time = Instant::now();
        let wait_for_checkpoint = 2 * kills_in_checkpoint <= kills;
        if wait_for_checkpoint {
            while !is_writing(&run) && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_micros(100));
            }
            sleep(Duration::from_micros(random.below(3_000)));
        } else {
            sleep(Duration::from_millis(random.below(400)));
        }
        let was_writing = is_writing(&run);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            // Killed.
            None => {
                kills += 1;
                kills_in_checkpoint += usize::from(was_writing && is_writing(&run));
            }
            Some(0) => {
                assert_same(&run, &dir.path().join("whole"));
                run_script("tests/readback.py", &[&run]);
                fs::remove_dir_all(&run).unwrap();
                runs += 1;
            }
            code => panic!("{code:?} after {:?}: {stderr}", start_time.elapsed()),
        }
        // A partial checkpoint is never used, and an existing complete checkpoint is always used.
        assert!(!stderr.contains("warning") && !stderr.contains("error"), "{stderr}");
        let starts_over = stderr.contains("there is no checkpoint");
        assert!(!(starts_over && has_checkpoint), "{stderr}");
    }
    println!(
        "{kills} kills, {kills_in_checkpoint} of them during a checkpoint, {runs} runs finished"
    );
    assert!(
        2 * kills_in_checkpoint >= KILLS,
        "only {kills_in_checkpoint} of {kills} kills occurred during a checkpoint"
    );
}

/// Step numbers of the complete checkpoints of a run.
fn checkpoint_steps(run: &Path) -> Vec<u64> {
    kolmo::io::checkpoint::steps(&run.join("checkpoints"))
}

/// Install a filter that kills this process when it is about to remove its first directory.
fn kill_at_first_directory_removal() -> std::io::Result<()> {
    // A seccomp filter on `unlinkat` with AT_REMOVEDIR among its flags (the third argument).
    let [load, equal, end] = [0x20, 0x15, 0x06];
    let line = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let number = u32::try_from(libc::SYS_unlinkat).unwrap();
    let mut program = [
        line(load, 0, 0, 0),
        line(equal, number, 0, 3),
        line(load, 32, 0, 0),
        line(equal, libc::AT_REMOVEDIR.cast_unsigned(), 0, 1),
        line(end, libc::SECCOMP_RET_KILL_PROCESS, 0, 0),
        line(end, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: 6, filter: program.as_mut_ptr() };
    let [off, on]: [libc::c_ulong; 2] = [0, 1];
    let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: the filter outlives the call, which copies it.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, off, off, off);
        libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter)
    };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn run_killed_while_removing_a_checkpoint_leaves_no_partial_checkpoint() {
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = ["--set", "output.checkpoint={ every_steps = 1, keep = 1 }", "--out", "run"];
    let mut command = Command::new(program());
    command.args(small_run(&checkpoint)).current_dir(dir.path()).env("CUDA_VISIBLE_DEVICES", "");
    // SAFETY: only two system calls are made between fork and exec.
    unsafe { command.pre_exec(kill_at_first_directory_removal) };
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
    let checkpoints = dir.path().join("run/checkpoints");
    // The checkpoint of step 0 is obsolete, and at least one of its files is removed.
    assert_eq!(file_names(&checkpoints), ["step_00000000.zarr.part", "step_00000001.zarr"]);
    run_ok(dir.path(), ["restart", "run"]);
    assert_eq!(file_names(&checkpoints), ["step_00000004.zarr"]);
}
