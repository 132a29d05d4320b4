//! Many ranks: each test starts this binary under `mpirun` again, and every rank of it runs one *worker*, a test that is
//! ignored otherwise and that asserts on what its rank sees.

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

use crate::common::heeding_hang_ups;

/// After which a job that has not ended is killed, and has failed.
const LIMIT: Duration = Duration::from_secs(300);

/// One job at a time: each has more ranks than many a machine has cores.
static TURN: Mutex<()> = Mutex::new(());

/// How a job ended and what its ranks said.
pub(crate) struct Job {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Run the worker of that path in this binary, `ranks::calls::worker::sums`, on `ranks` ranks, all of which must be content.
pub(crate) fn mpirun(ranks: usize, worker: &str) {
    let job = work(ranks, worker);
    let (code, out, err) = (job.code, job.out, job.err);
    assert_eq!(code, Some(0), "{worker} on {ranks} ranks:\n{out}\n{err}");
}

/// Run a worker on `ranks` ranks.
pub(crate) fn work(ranks: usize, worker: &str) -> Job {
    job(ranks, &command(worker))
}

/// The command that each rank runs for a worker.
pub(crate) fn command(worker: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([worker, "--exact", "--ignored"]);
    // No test of that name would be as good as one that passes.
    let list = command.arg("--list").output().unwrap();
    assert!(String::from_utf8(list.stdout).unwrap().contains("1 test,"), "no worker {worker}");
    let mut command = Command::new(command.get_program());
    command.args([worker, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Run a program on `ranks` ranks.
pub(crate) fn job(ranks: usize, program: &Command) -> Job {
    Running::start(ranks, program).end(LIMIT)
}

/// Run a program on `ranks` ranks beside other jobs: one that does nothing but wait.
pub(crate) fn waiting_job(ranks: usize, program: &Command) -> Job {
    Running::beside(ranks, program, None).end(LIMIT)
}

/// A job that goes on.
pub(crate) struct Running {
    /// The process of the launcher.
    pub(crate) id: u32,
    end: Receiver<std::io::Result<Output>>,
    what: String,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Running {
    /// Start a program on `ranks` ranks.
    pub(crate) fn start(ranks: usize, program: &Command) -> Self {
        Self::beside(ranks, program, Some(TURN.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn beside(ranks: usize, program: &Command, turn: Option<MutexGuard<'static, ()>>) -> Self {
        let launcher = launcher();
        let mut command = Command::new(&launcher);
        command.args(["-n", &ranks.to_string()]).arg(program.get_program());
        command.args(program.get_args()).envs(ENVIRONMENT);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        program.get_current_dir().map(|directory| command.current_dir(directory));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = heeding_hang_ups(&mut command).spawn().unwrap_or_else(|error| {
            panic!(
                "{}: {error}; ./test installs it, KOLMO_MPIRUN names another",
                launcher.display()
            )
        });
        let id = child.id();
        let (ended, end) = channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        Self { id, end, what: format!("{program:?} on {ranks} ranks"), _turn: turn }
    }

    /// How it ends; within `limit`, or the test has failed.
    pub(crate) fn end(self, limit: Duration) -> Job {
        let Output { status, stdout, stderr } = self.end.recv_timeout(limit).map_or_else(
            |_| {
                terminate(self.id);
                let said = self.end.recv_timeout(Duration::from_secs(10)).map(Result::unwrap);
                panic!("{} did not end within {limit:?}: {said:?}", self.what)
            },
            Result::unwrap,
        );
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Job { code: status.code(), out: text(stdout), err: text(stderr) }
    }
}

/// The ranks of this job, for a worker.
pub(crate) fn world() -> Arc<dyn Communicator> {
    comm::world().unwrap()
}

/// What Open MPI wants to hear before it starts more ranks than there are cores, as root; others do not mind.
pub(crate) const ENVIRONMENT: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    // Reading each other's memory is forbidden in many containers.
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    // Open MPI 4.1 may see the end of a rank before its MPI_Finalize, and takes that for a failure (open-mpi/ompi #7833, #9389).
    ("OMPI_MCA_orte_allowed_exit_without_sync", "1"),
];

/// The launcher: `KOLMO_MPIRUN`, else Open MPI's, which Debian tells from MPICH's by its name, else the only one. The ranks find
/// the library that goes with it.
pub(crate) fn launcher() -> PathBuf {
    if let Some(launcher) = std::env::var_os("KOLMO_MPIRUN") {
        return launcher.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("mpirun.openmpi"));
    found.find(|launcher| launcher.exists()).unwrap_or(Path::new("mpirun").into())
}

/// Ask a launcher to end its ranks and itself.
fn terminate(id: u32) {
    // SAFETY: takes no memory; the process is a child that was not waited for yet.
    unsafe { libc::kill(id.try_into().unwrap(), libc::SIGTERM) };
}
