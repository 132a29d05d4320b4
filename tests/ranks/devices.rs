//! Messages from the memory of devices, with a CUDA driver that is none (`tests/data/cuda_driver.c`) and an NCCL that is none
//! (`tests/data/nccl.c`), and a tool that makes the MPI library say that it takes them and spoil some (`tests/data/tool.c`).

use std::path::Path;
use std::process::Command;

use kolmo::io::Series;

use super::{Job, job, waiting_job};
use crate::common::{assert_close, compiled, program};
use crate::device::cuda::Driver;

/// A command of the program on some ranks with that driver, and variables.
fn ranks(count: usize, arguments: &[&str], driver: Driver, set: &[(&str, &str)]) -> Job {
    with_driver(arguments, driver, set, |command| job(count, command))
}

/// What `job` makes of a command of the program with that driver, and variables.
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

/// The same on two ranks with no NCCL and with the tool.
fn watched(arguments: &[&str], tool: &Path, set: &[(&str, &str)]) -> Job {
    let tool = tool.to_string_lossy();
    let set = [set, &[("KOLMO_CUDA_OTHERS", "1"), ("LD_PRELOAD", &tool)]].concat();
    ranks(2, arguments, Driver::Strict, &set)
}

#[test]
fn they_go_from_device_to_device_where_the_library_says_so_and_was_seen_to_do_it() {
    let tool = compiled("tool");
    let asked = watched(&["info"], &tool, &[]);
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    for said in [
        "reports that it does not accept device addresses\n",
        "messages of CUDA devices go through host memory: the MPI library reports that it does not accept device addresses",
        "; NCCL (libnccl.so.2) was not found\n",
    ] {
        assert!(asked.out.contains(said), "{}", asked.out);
    }
    let aware = watched(&["info"], &tool, &[("KOLMO_TOOL_AWARE", "1")]);
    let told = "messages of CUDA devices go from device to device by MPI: tested\n";
    assert!(aware.out.contains(told), "{} {}", aware.out, aware.err);
}

#[test]
fn what_arrives_wrong_or_fails_sends_them_through_host_memory_and_says_why() {
    let tool = compiled("tool");
    for (spoils, why) in [
        ("short", "a message of 8168 bytes from one device to the next arrived wrong"),
        ("long", "a message of 8000024 bytes from one device to the next arrived wrong"),
        ("all-to-all", "an all-to-all of 4000008 bytes between two devices arrived wrong"),
        ("calls", "a message of 8168 bytes from one device to the next failed: "),
    ] {
        let set = [("KOLMO_TOOL_AWARE", "1"), ("KOLMO_TOOL_SPOILS", spoils)];
        let told = watched(&["info"], &tool, &set);
        assert_eq!(told.code, Some(0), "{spoils}: {}", told.err);
        let said = "go through host memory: MPI reports that it accepts device memory, but ";
        assert!(told.out.contains(&format!("{said}{why}")), "{spoils}: {}", told.out);
    }
    let force = ["run", "taylor-green", "--backend", "cuda", "--set", "compute.device_aware=force"];
    let refused = watched(&force, &tool, &[("KOLMO_TOOL_SPOILS", "long")]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let why = "messages between devices fail: a message of 8000024 bytes from one device to the next arrived wrong";
    assert!(refused.err.contains(why), "{}", refused.err);
}

#[test]
fn they_go_by_nccl_where_it_was_seen_to_carry_them() {
    let asked = |count, set: &[_]| ranks(count, &["info"], Driver::Nccl, set);
    for count in [2, 3] {
        let said = "messages of CUDA devices go from device to device by NCCL 2.27.3: tested\n";
        let info = asked(count, &[]);
        assert!(info.out.contains(said), "{count}: {} {}", info.out, info.err);
    }
    for (name, value, why) in [
        ("KOLMO_NCCL_VERSION", "21304", "NCCL (libnccl.so.2) is 2.13.4, older than 2.14"),
        (
            "KOLMO_NCCL_FAILS",
            "init",
            "NCCL could not join the group of all ranks: invalid usage (Duplicate GPU detected : ",
        ),
        (
            "KOLMO_NCCL_FAILS",
            "messages",
            "NCCL was found, but a message of 8168 bytes from one device to the next failed: NCCL could not send messages: invalid usage (the network is down)",
        ),
        (
            "KOLMO_NCCL_FAILS",
            "wrong",
            "NCCL was found, but a message of 8168 bytes from one device to the next arrived wrong",
        ),
    ] {
        assert_through_host(&asked(2, &[(name, value)]), why);
    }
    let force = ["run", "taylor-green", "--backend", "cuda", "--set", "compute.nccl=force"];
    let refused = ranks(2, &force, Driver::Nccl, &[("KOLMO_NCCL_FAILS", "wrong")]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let why = "`compute.nccl = \"force\"`, but messages between devices fail: NCCL was found, but a message of 8168 bytes";
    assert!(refused.err.contains(why), "{}", refused.err);
}

/// Of its own, since it waits for half a minute.
#[test]
fn a_message_by_nccl_that_never_ends_is_given_up() {
    let set = [("KOLMO_NCCL_FAILS", "never")];
    let told = with_driver(&["info"], Driver::Nccl, &set, |command| waiting_job(2, command));
    let why = "NCCL was found, but a message of 8168 bytes from one device to the next failed: NCCL could not send messages: it did not end in 30 s";
    assert_through_host(&told, why);
}

fn assert_through_host(told: &Job, why: &str) {
    assert_eq!(told.code, Some(0), "{why}: {}", told.err);
    let through = "messages of CUDA devices go through host memory: ";
    assert!(told.out.contains(through) && told.out.contains(why), "{why}: {}", told.out);
}

/// What is sent when, and where it goes: of streams that are not ordered, or a message to another rank, fields are wrong.
#[test]
fn a_flow_whose_messages_go_by_nccl_is_that_of_the_host() {
    fn run(folder: &Path, backend: &str, set: &[String]) -> Command {
        let mut command = Command::new(program());
        command.args(["run", "taylor-green", "--out", "run", "--backend", backend]);
        command.args(["--set", "time.max_steps=2", "--set", "output.series={ every_steps = 1 }"]);
        command.args(set.iter().flat_map(|set| ["--set", set])).current_dir(folder);
        command
    }
    // Whole lines travel; reduced systems by rounds of messages, along two axes at once; one message to each neighbour.
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
            // Kernels that PoCL does not take minutes to compile.
            "compute.right_hand_side=composed".into(),
            "compute.line_solver=thomas".into(),
        ];
        let mut command = run(folder.path(), "cuda", &sets);
        let command = Driver::OpenCl.with(folder.path(), &mut command);
        // Compiled without optimisation, which takes most of the time.
        let job = job(ranks, command.env("KOLMO_CUDA_KERNELS", "2"));
        assert_eq!(job.code, Some(0), "{method}: {}", job.err);
        assert!(job.err.contains("messages go from device to device by NCCL"), "{}", job.err);
        let host = tempfile::tempdir().unwrap();
        assert!(run(host.path(), "cpu", &sets[..1]).output().unwrap().status.success());
        let series = |folder: &Path| Series::read(&folder.join("run/series.csv")).unwrap();
        let (spread, whole) = (series(folder.path()), series(host.path()));
        for name in ["kinetic_energy", "enstrophy", "dissipation", "max_mach", "total_energy"] {
            let [spread, whole] = [&spread, &whole].map(|series| series.column(name).unwrap());
            assert_eq!(spread.len(), 3);
            for (found, expected) in spread.iter().zip(whole) {
                assert_close(*found, *expected, 1e-13, name);
            }
        }
    }
}
