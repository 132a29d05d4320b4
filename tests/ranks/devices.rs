//! Messages from device memory, with a stub of the CUDA driver (`tests/data/cuda_driver.c`), a stub of NCCL (`tests/data/nccl.c`), and
//! a tool (`tests/data/tool.c`) that makes the MPI library report that it accepts device memory, and that corrupts some messages.

use std::path::Path;
use std::process::Command;

use kolmo::io::Series;

use super::{Job, job, waiting_job};
use crate::common::{assert_close, compile_c_library, program};
use crate::device::cuda::Driver;

/// Runs the program on `count` ranks with this driver and the environment variables `set`.
fn ranks(count: usize, arguments: &[&str], driver: Driver, set: &[(&str, &str)]) -> Job {
    with_driver(arguments, driver, set, |command| job(count, command))
}

/// Returns the result of `job` for a command of the program with this driver and the environment variables `set`.
fn with_driver(
    arguments: &[&str],
    driver: Driver,
    set: &[(&str, &str)],
    job: impl FnOnce(&Command) -> Job,
) -> Job {
    let folder = tempfile::tempdir().unwrap();
    driver.build(folder.path());
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder.path());
    driver.with(folder.path(), &mut command).envs(set.iter().copied());
    job(&command)
}

/// Runs the program on two ranks without NCCL and with the tool.
fn with_tool(arguments: &[&str], tool: &Path, set: &[(&str, &str)]) -> Job {
    let tool = tool.to_string_lossy();
    let set = [set, &[("KOLMO_CUDA_OTHER_KERNELS", "1"), ("LD_PRELOAD", &tool)]].concat();
    ranks(2, arguments, Driver::Strict, &set)
}

#[test]
fn device_aware_mpi_is_used_if_the_library_reports_it_and_its_test_passes() {
    let tool = compile_c_library("tool");
    let unaware = with_tool(&["info"], &tool, &[]);
    assert_eq!(unaware.code, Some(0), "{}", unaware.err);
    for line in [
        "reports that it does not accept device addresses\n",
        "messages of CUDA devices go through host memory: the MPI library reports that it does not accept device addresses",
        "; NCCL (libnccl.so.2) was not found\n",
    ] {
        assert!(unaware.out.contains(line), "{}", unaware.out);
    }
    let aware = with_tool(&["info"], &tool, &[("KOLMO_TOOL_AWARE", "1")]);
    let line = "messages of CUDA devices go from device to device by MPI: tested\n";
    assert!(aware.out.contains(line), "{} {}", aware.out, aware.err);
}

#[test]
fn failed_device_aware_mpi_falls_back_to_host_memory_and_reports_why() {
    let tool = compile_c_library("tool");
    for (corrupted, reason) in [
        ("short", "a message of 8168 bytes from one device to the next arrived wrong"),
        ("long", "a message of 8000024 bytes from one device to the next arrived wrong"),
        ("all-to-all", "an all-to-all of 4000008 bytes between two devices arrived wrong"),
        ("calls", "a message of 8168 bytes from one device to the next failed: "),
    ] {
        let set = [("KOLMO_TOOL_AWARE", "1"), ("KOLMO_TOOL_CORRUPTS", corrupted)];
        let job = with_tool(&["info"], &tool, &set);
        assert_eq!(job.code, Some(0), "{corrupted}: {}", job.err);
        let prefix = "go through host memory: MPI reports that it accepts device memory, but ";
        assert!(job.out.contains(&format!("{prefix}{reason}")), "{corrupted}: {}", job.out);
    }
    let force = ["run", "taylor-green", "--backend", "cuda", "--set", "compute.device_aware=force"];
    let rejected = with_tool(&force, &tool, &[("KOLMO_TOOL_CORRUPTS", "long")]);
    assert_eq!(rejected.code, Some(2), "{}", rejected.err);
    let reason = "messages between devices fail: a message of 8000024 bytes from one device to the next arrived wrong";
    assert!(rejected.err.contains(reason), "{}", rejected.err);
}

#[test]
fn nccl_is_used_only_if_its_message_test_passes() {
    let info = |count, set: &[_]| ranks(count, &["info"], Driver::Nccl, set);
    for count in [2, 3] {
        let line = "messages of CUDA devices go from device to device by NCCL 2.27.3: tested\n";
        let job = info(count, &[]);
        assert!(job.out.contains(line), "{count}: {} {}", job.out, job.err);
    }
    for (name, value, reason) in [
        ("KOLMO_NCCL_VERSION", "21304", "NCCL (libnccl.so.2) is 2.13.4, older than 2.14"),
        (
            "KOLMO_NCCL_FAULT",
            "init",
            "NCCL could not join the group of all ranks: invalid usage (Duplicate GPU detected : ",
        ),
        (
            "KOLMO_NCCL_FAULT",
            "messages",
            "NCCL was found, but a message of 8168 bytes from one device to the next failed: NCCL could not send messages: invalid usage (the network is down)",
        ),
        (
            "KOLMO_NCCL_FAULT",
            "wrong",
            "NCCL was found, but a message of 8168 bytes from one device to the next arrived wrong",
        ),
    ] {
        assert_through_host(&info(2, &[(name, value)]), reason);
    }
    let force = ["run", "taylor-green", "--backend", "cuda", "--set", "compute.nccl=force"];
    let rejected = ranks(2, &force, Driver::Nccl, &[("KOLMO_NCCL_FAULT", "wrong")]);
    assert_eq!(rejected.code, Some(2), "{}", rejected.err);
    let reason = "`compute.nccl = \"force\"`, but messages between devices fail: NCCL was found, but a message of 8168 bytes";
    assert!(rejected.err.contains(reason), "{}", rejected.err);
}

/// A separate test because it waits for 30 s.
#[test]
fn nccl_message_that_never_completes_times_out() {
    let set = [("KOLMO_NCCL_FAULT", "never")];
    let job = with_driver(&["info"], Driver::Nccl, &set, |command| waiting_job(2, command));
    let reason = "NCCL was found, but a message of 8168 bytes from one device to the next failed: NCCL could not send messages: it did not end in 30 s";
    assert_through_host(&job, reason);
}

fn assert_through_host(job: &Job, reason: &str) {
    assert_eq!(job.code, Some(0), "{reason}: {}", job.err);
    let through = "messages of CUDA devices go through host memory: ";
    assert!(job.out.contains(through) && job.out.contains(reason), "{reason}: {}", job.out);
}

/// Checks the order and the destination of messages: unordered streams, or a message to the wrong rank, give wrong fields.
#[test]
fn flow_with_nccl_messages_matches_the_host() {
    fn run(folder: &Path, backend: &str, set: &[String]) -> Command {
        let mut command = Command::new(program());
        command.args(["run", "taylor-green", "--out", "run", "--backend", backend]);
        command.args(["--set", "time.max_steps=2", "--set", "output.series={ every_steps = 1 }"]);
        command.args(set.iter().flat_map(|set| ["--set", set])).current_dir(folder);
        command
    }
    // `transpose` sends complete lines, `pcr` sends reduced systems in rounds of messages along two axes at once, and `neighbour`
    // sends one message to each neighbour.
    for (ranks, points, cut, method) in [
        (4, "[12, 24, 48]", "[1, 2, 2]", "transpose"),
        (4, "[12, 24, 48]", "[1, 2, 2]", "pcr"),
        (3, "[12, 12, 120]", "[1, 1, 3]", "neighbour"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        Driver::OpenCl.build(folder.path());
        let sets = [
            format!("grid.points={points}"),
            format!("compute.ranks={cut}"),
            format!("compute.distributed={method}"),
            // PoCL does not need minutes to compile these kernels.
            "compute.right_hand_side=composed".into(),
            "compute.line_solver=thomas".into(),
        ];
        let mut command = run(folder.path(), "cuda", &sets);
        let command = Driver::OpenCl.with(folder.path(), &mut command);
        // Kernels are compiled without optimisation, which would take most of the time.
        let job = job(ranks, command.env("KOLMO_CUDA_KERNELS", "2"));
        assert_eq!(job.code, Some(0), "{method}: {}", job.err);
        assert!(job.err.contains("messages go from device to device by NCCL"), "{}", job.err);
        let host = tempfile::tempdir().unwrap();
        assert!(run(host.path(), "cpu", &sets[..1]).output().unwrap().status.success());
        let series = |folder: &Path| Series::read(&folder.join("run/series.csv")).unwrap();
        let (distributed, single) = (series(folder.path()), series(host.path()));
        for name in ["kinetic_energy", "enstrophy", "dissipation", "max_mach", "total_energy"] {
            let [distributed, single] =
                [&distributed, &single].map(|series| series.column(name).unwrap());
            assert_eq!(distributed.len(), 3);
            for (found, expected) in distributed.iter().zip(single) {
                assert_close(*found, *expected, 1e-13, name);
            }
        }
    }
}
