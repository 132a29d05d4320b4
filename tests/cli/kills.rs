//! Runs that are killed at any moment, as nodes fail, go on as if nothing had happened.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::restarts::{assert_same, input};
use super::*;

/// How often a run is killed; half of these while it writes a checkpoint.
const KILLS: usize = 200;

/// Numbers that look random, the same each time (Marsaglia 2003, xorshift).
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
fn a_run_killed_at_any_moment_goes_on_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input.toml"), input(12, 60)).unwrap();
    done(dir.path(), ["run", "input.toml", "--out", "whole"]);
    let run = dir.path().join("run");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut kills, mut inside, mut runs) = (0, 0, 0);
    while kills < KILLS || runs == 0 {
        let has_checkpoint = !run_steps(&run).is_empty();
        let mut child = match run.join("config.toml").exists() {
            true => start(dir.path(), &["restart", "run"]),
            false => start(dir.path(), &["run", "input.toml", "--out", "run", "--overwrite"]),
        };
        let began = Instant::now();
        let in_checkpoint = 2 * inside <= kills;
        if in_checkpoint {
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
        let told = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            // Killed.
            None => {
                kills += 1;
                inside += usize::from(was_writing && is_writing(&run));
            }
            Some(0) => {
                assert_same(&run, &dir.path().join("whole"));
                script("tests/readback.py", &[&run]);
                fs::remove_dir_all(&run).unwrap();
                runs += 1;
            }
            code => panic!("{code:?} after {:?}: {told}", began.elapsed()),
        }
        // Nothing that is half written was ever taken for a checkpoint, and a checkpoint that was there was used.
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        let again = told.contains("there is no checkpoint");
        assert!(!(again && has_checkpoint), "{told}");
    }
    println!("{kills} kills, {inside} while a checkpoint was written, {runs} runs finished");
    assert!(2 * inside >= KILLS, "{inside} of {kills} kills while a checkpoint was written");
}

/// Steps of the complete checkpoints of a run.
fn run_steps(run: &Path) -> Vec<u64> {
    kolmo::io::checkpoint::steps(&run.join("checkpoints"))
}

/// Kill this process where it is about to remove its first folder.
fn killed_at_first_removal_of_a_folder() -> std::io::Result<()> {
    // A filter of system calls: AT_REMOVEDIR among the flags (the third argument) of `unlinkat`.
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
fn a_run_killed_while_it_removes_a_checkpoint_leaves_no_half_of_it() {
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = ["--set", "output.checkpoint={ every_steps = 1, keep = 1 }", "--out", "run"];
    let mut command = Command::new(program());
    command.args(small(&checkpoint)).current_dir(dir.path()).env("CUDA_VISIBLE_DEVICES", "");
    // SAFETY: between fork and exec only two system calls are made.
    unsafe { command.pre_exec(killed_at_first_removal_of_a_folder) };
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
    let checkpoints = dir.path().join("run/checkpoints");
    // That of step 0 was no longer needed, and has lost a file at least.
    assert_eq!(names(&checkpoints), ["step_00000000.zarr.part", "step_00000001.zarr"]);
    done(dir.path(), ["restart", "run"]);
    assert_eq!(names(&checkpoints), ["step_00000004.zarr"]);
}
