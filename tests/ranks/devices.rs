//! Messages from the memory of devices, with a CUDA driver that is none (`tests/data/cuda_driver.c`) and a tool that makes the library
//! say that it takes them and spoil some (`tests/data/tool.c`).

use std::path::Path;
use std::process::Command;

use super::{Job, job};
use crate::common::compiled;
use crate::device::cuda::{build, with};

/// A command of the program on two ranks with that driver, and variables for the tool.
fn ranks(arguments: &[&str], tool: &Path, set: &[(&str, &str)]) -> Job {
    let driver = tempfile::tempdir().unwrap();
    build(driver.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kolmo"));
    command.args(arguments).current_dir(driver.path());
    with(driver.path(), &mut command)
        .env("KOLMO_CUDA_OTHERS", "1")
        .env("LD_PRELOAD", tool)
        .envs(set.iter().copied());
    job(2, &command)
}

#[test]
fn they_go_from_device_to_device_where_the_library_says_so_and_was_seen_to_do_it() {
    let tool = compiled("tool");
    let asked = ranks(&["info"], &tool, &[]);
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    for said in [
        "says that it takes no addresses in the memory of devices\n",
        "messages of CUDA devices go through host memory: the MPI library says that it takes no addresses",
    ] {
        assert!(asked.out.contains(said), "{}", asked.out);
    }
    let aware = ranks(&["info"], &tool, &[("KOLMO_TOOL_AWARE", "1")]);
    let told = "messages of CUDA devices go from device to device: tested\n";
    assert!(aware.out.contains(told), "{} {}", aware.out, aware.err);
}

#[test]
fn what_arrives_wrong_or_fails_sends_them_through_host_memory_and_says_why() {
    let tool = compiled("tool");
    for (spoils, why) in [
        ("short", "a message of 8168 bytes from one device to the next arrived wrong\n"),
        ("long", "a message of 8000024 bytes from one device to the next arrived wrong\n"),
        ("all-to-all", "an all-to-all of 4000008 bytes between two devices arrived wrong\n"),
        ("calls", "a message of 8168 bytes from one device to the next failed: "),
    ] {
        let set = [("KOLMO_TOOL_AWARE", "1"), ("KOLMO_TOOL_SPOILS", spoils)];
        let told = ranks(&["info"], &tool, &set);
        assert_eq!(told.code, Some(0), "{spoils}: {}", told.err);
        let said = "go through host memory: MPI says that it takes the memory of devices, but ";
        assert!(told.out.contains(&format!("{said}{why}")), "{spoils}: {}", told.out);
    }
    let force = ["run", "taylor-green", "--backend", "cuda", "--set", "compute.device_aware=force"];
    let refused = ranks(&force, &tool, &[("KOLMO_TOOL_SPOILS", "long")]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let why = "messages of devices fail: a message of 8000024 bytes from one device to the next arrived wrong";
    assert!(refused.err.contains(why), "{}", refused.err);
}
