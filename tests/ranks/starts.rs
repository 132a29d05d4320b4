//! Ranks that were not all started alike, or do not all see the same files, say so before anything is done.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs::{FOUR_STEPS, by_shell, errors, refused, temporary, vortex};
use super::{job, launcher};
use crate::common::program;

/// A vortex whose rank 1 has further arguments.
fn with_further_on_rank_1(out: &Path, further: &str) -> Command {
    let first = format!("[ $rank = 1 ] && set -- \"$@\" {further}; exec \"$0\" \"$@\"");
    by_shell(&first, out, &[FOUR_STEPS])
}

/// A command, given in full to each rank.
fn by_rank(first: &str, second: &str) -> Command {
    let mut command = Command::new("sh");
    let rank = "rank=$OMPI_COMM_WORLD_RANK$PMI_RANK";
    let lines = format!("{rank}; [ $rank = 1 ] && exec \"$0\" {second}; exec \"$0\" {first}");
    command.args(["-c", &lines, program()]).env("CUDA_VISIBLE_DEVICES", "");
    command
}

#[test]
fn ranks_of_a_launcher_that_the_library_does_not_know_are_refused() {
    let (_dir, run) = temporary();
    let is_mpich = launcher().to_string_lossy().contains("mpich");
    let mut command = vortex(&run, &[FOUR_STEPS]);
    command.env("KOLMO_MPI_LIBRARY", if is_mpich { "libmpi.so.40" } else { "libmpich.so.12" });
    let words = ["error: 2 processes were started, and ", "not see that they belong together"];
    refused(2, &command, 2, &words);
    assert!(!run.exists());
}

#[test]
fn an_input_that_differs_on_one_rank_is_refused_with_the_keys() {
    let (_dir, run) = temporary();
    for (further, words) in [
        // This one ran to its end with wrong fields, the others waited for ever or broke inside MPI.
        ("--set case.reynolds=50", &["case.reynolds = 50.0, not 200.0"][..]),
        ("--set grid.points=[16,16,16]", &["grid.points = [16, 16, 16], not [16, 17, 15]"]),
        ("--set compute.precision=f32", &["compute.precision = \"f32\", not \"f64\""]),
        ("--overwrite", &["--overwrite = true, not false"]),
    ] {
        let words = [&["error: rank 1 on ", "differently from rank 0: "][..], words].concat();
        refused(2, &with_further_on_rank_1(&run, further), 2, &words);
        assert!(!run.exists(), "{further}");
    }
}

#[test]
fn each_rank_may_have_threads_of_its_own() {
    let (_dir, run) = temporary();
    let done = job(2, &with_further_on_rank_1(&run, "--set compute.threads=1"));
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn a_mistake_that_only_one_rank_finds_is_told() {
    let (_dir, run) = temporary();
    for (further, words) in [
        ("--no-such-option", "unexpected argument '--no-such-option'"),
        ("--set case.reynols=3", "unknown key `reynols`"),
    ] {
        refused(2, &with_further_on_rank_1(&run, further), 2, &["rank 1 on ", words]);
        assert!(!run.exists(), "{further}");
    }
    // An input that is on the host of rank 0 only, and nothing that either rank says twice.
    let (_dir, input) = temporary();
    fs::write(&input, "[case]\nname='taylor-green'\n[grid]\npoints=[8,8,8]\n[time]\nmax_steps=1\n")
        .unwrap();
    let out = run.display();
    let command = by_rank(
        &format!("run {} --out {out}", input.display()),
        &format!("run missing.toml --out {out}"),
    );
    refused(2, &command, 2, &["rank 1 on ", "missing.toml: no such file"]);
    // What rank 0 does not understand is told as by one process.
    let told = job(2, &by_rank("run", "run"));
    assert_eq!((told.code, errors(&told).len()), (Some(2), 1), "{}", told.err);
    assert!(told.err.contains("Usage: kolmo run"), "{}", told.err);
    let told = job(2, &by_rank("--version", "--version"));
    assert_eq!((told.code, told.out.matches("kolmo ").count()), (Some(0), 1), "{}", told.out);
}

#[test]
fn two_commands_are_refused() {
    let (_dir, run) = temporary();
    let out = run.display();
    for second in ["cases", "info", "bench copy --points 16", "restart nowhere"] {
        let command = by_rank(&format!("run taylor-green --out {out}"), second);
        refused(2, &command, 2, &["error: rank 1 on ", "command = ", ", not run"]);
        assert!(!run.exists());
    }
    let command = by_rank("bench copy --points 16", "bench step --points 16");
    refused(2, &command, 2, &["rank 1 on ", "options = "]);
}

#[test]
fn a_restart_is_of_one_run_and_one_step() {
    let (_dir, run) = temporary();
    let checkpoint = "output.checkpoint={ every_steps = 2, keep = 9 }";
    assert_eq!(job(2, &vortex(&run, &[FOUR_STEPS, checkpoint])).code, Some(0));
    let before = fs::read(run.join("series.csv")).unwrap();
    let further = "--set time.max_steps=6";
    let line = |from: &str| format!("restart {} {further} {from}", run.display());
    for (first, second, words) in [
        ("", "--from 2", "--from = 2, not the newest"),
        ("--from 2", "--from 4", "--from = 4, not 2"),
        ("", "--set time.max_steps=8", "time.max_steps = 8, not 6"),
    ] {
        refused(2, &by_rank(&line(first), &line(second)), 2, &["error: rank 1 on ", words]);
        assert_eq!(fs::read(run.join("series.csv")).unwrap(), before);
    }
    assert_eq!(job(2, &by_rank(&line(""), &line(""))).code, Some(0));
}
