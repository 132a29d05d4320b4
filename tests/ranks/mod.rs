//! Tests on many ranks. Each test starts this binary again under `mpirun`, and every rank runs one *worker*: a test that is
//! otherwise ignored and that checks the results on its rank.

mod bench;
mod calls;
mod devices;
mod failures;
mod messages;
mod model;
mod operators;
mod programs;
mod runs;
mod starts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kolmo::comm::{self, Communicator};

use crate::common::with_default_sighup;

/// Time limit. A job that has not ended by then is killed, and the test fails.
const LIMIT: Duration = Duration::from_secs(300);

/// Jobs run one at a time, because each has more ranks than many machines have cores.
static TURN: Mutex<()> = Mutex::new(());

/// Exit status and output of a job.
pub(crate) struct Job {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the worker with this path in this binary, for example `ranks::calls::worker::every_call`, on `ranks` ranks. All must succeed.
pub(crate) fn mpirun(ranks: usize, worker: &str) {
    let job = work(ranks, worker);
    let (code, out, err) = (job.code, job.out, job.err);
    assert_eq!(code, Some(0), "{worker} on {ranks} ranks:\n{out}\n{err}");
}

/// Runs a worker on `ranks` ranks.
pub(crate) fn work(ranks: usize, worker: &str) -> Job {
    job(ranks, &command(worker))
}

/// Returns the command that each rank runs for a worker.
pub(crate) fn command(worker: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([worker, "--exact", "--ignored"]);
    // A path that matches no test would count as a pass.
    let list = command.arg("--list").output().unwrap();
    assert!(String::from_utf8(list.stdout).unwrap().contains("1 test,"), "no worker {worker}");
    let mut command = Command::new(command.get_program());
    command.args([worker, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs a program on `ranks` ranks.
pub(crate) fn job(ranks: usize, program: &Command) -> Job {
    Running::start(ranks, program).end(LIMIT)
}

/// Runs a program on `ranks` ranks at the same time as other jobs: for a program that only waits.
pub(crate) fn waiting_job(ranks: usize, program: &Command) -> Job {
    Running::launch(ranks, program, None).end(LIMIT)
}

/// A running job.
pub(crate) struct Running {
    /// Process ID of the launcher.
    pub(crate) id: u32,
    end: Receiver<std::io::Result<Output>>,
    label: String,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Running {
    /// Starts a program on `ranks` ranks.
    pub(crate) fn start(ranks: usize, program: &Command) -> Self {
        Self::launch(ranks, program, Some(TURN.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn launch(ranks: usize, program: &Command, turn: Option<MutexGuard<'static, ()>>) -> Self {
        let launcher = launcher();
        let mut command = Command::new(&launcher);
        command.args(["-n", &ranks.to_string()]).arg(program.get_program());
        command.args(program.get_args()).envs(ENVIRONMENT);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        program.get_current_dir().map(|directory| command.current_dir(directory));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = with_default_sighup(&mut command).spawn().unwrap_or_else(|error| {
            panic!(
                "{}: {error}; ./test installs it, or set KOLMO_MPIRUN to another launcher",
                launcher.display()
            )
        });
        let id = child.id();
        let (ended, end) = channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        Self { id, end, label: format!("{program:?} on {ranks} ranks"), _turn: turn }
    }

    /// Waits for the job to end. The test fails if this takes longer than `limit`.
    pub(crate) fn end(self, limit: Duration) -> Job {
        let Output { status, stdout, stderr } = self.end.recv_timeout(limit).map_or_else(
            |_| {
                terminate(self.id);
                let output = self.end.recv_timeout(Duration::from_secs(10)).map(Result::unwrap);
                panic!("{} did not end within {limit:?}: {output:?}", self.label)
            },
            Result::unwrap,
        );
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Job { code: status.code(), out: text(stdout), err: text(stderr) }
    }
}

/// Returns the communicator of all ranks of this job, for a worker.
pub(crate) fn world() -> Arc<dyn Communicator> {
    comm::world().unwrap()
}

/// Open MPI needs these settings to run as root and to start more ranks than there are cores. Other launchers ignore them.
pub(crate) const ENVIRONMENT: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    // Many containers forbid a process to read the memory of another process.
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    // Open MPI 4.1 may see the exit of a rank before its MPI_Finalize and take it for a failure (open-mpi/ompi #7833, #9389).
    ("OMPI_MCA_orte_allowed_exit_without_sync", "1"),
];

/// Returns the launcher: `KOLMO_MPIRUN` if set, else `mpirun.openmpi` (the name of Open MPI's launcher on Debian, where MPICH may be
/// installed as well), else `mpirun`. The ranks find the matching library.
pub(crate) fn launcher() -> PathBuf {
    if let Some(launcher) = std::env::var_os("KOLMO_MPIRUN") {
        return launcher.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join("mpirun.openmpi"));
    candidates.find(|launcher| launcher.exists()).unwrap_or(Path::new("mpirun").into())
}

/// Asks a launcher to end its ranks and itself.
fn terminate(id: u32) {
    // SAFETY: no memory is passed; the process is a child that has not been waited for yet.
    unsafe { libc::kill(id.try_into().unwrap(), libc::SIGTERM) };
}
