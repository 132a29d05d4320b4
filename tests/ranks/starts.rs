//! Ranks that were started differently, or that see different files, report it before anything is run.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs::{FOUR_STEPS, assert_fails, by_shell, errors, temporary, vortex};
use super::{job, launcher};
use crate::common::program;

/// A vortex with further arguments on rank 1.
fn with_arguments_on_rank_1(out: &Path, further: &str) -> Command {
    let first = format!("[ $rank = 1 ] && set -- \"$@\" {further}; exec \"$0\" \"$@\"");
    by_shell(&first, out, &[FOUR_STEPS])
}

/// A command with different arguments on rank 0 and rank 1.
fn by_rank(first: &str, second: &str) -> Command {
    let mut command = Command::new("sh");
    let rank = "rank=$OMPI_COMM_WORLD_RANK$PMI_RANK";
    let lines = format!("{rank}; [ $rank = 1 ] && exec \"$0\" {second}; exec \"$0\" {first}");
    command.args(["-c", &lines, program()]).env("CUDA_VISIBLE_DEVICES", "");
    command
}

#[test]
fn launcher_of_another_mpi_library_is_rejected() {
    let (_dir, run) = temporary();
    let is_mpich = launcher().to_string_lossy().contains("mpich");
    let mut command = vortex(&run, &[FOUR_STEPS]);
    command.env("KOLMO_MPI_LIBRARY", if is_mpich { "libmpi.so.40" } else { "libmpich.so.12" });
    let words = ["error: 2 processes were started, and ", "not see that they belong together"];
    assert_fails(2, &command, 2, &words);
    assert!(!run.exists());
}

#[test]
fn input_that_differs_on_one_rank_is_rejected_naming_the_keys() {
    let (_dir, run) = temporary();
    for (further, words) in [
        // Before this check, the first case finished with wrong fields; the others waited forever or failed inside MPI.
        ("--set case.reynolds=50", &["case.reynolds = 50.0, not 200.0"][..]),
        ("--set grid.points=[16,16,16]", &["grid.points = [16, 16, 16], not [16, 17, 15]"]),
        ("--set compute.precision=f32", &["compute.precision = \"f32\", not \"f64\""]),
        ("--overwrite", &["--overwrite = true, not false"]),
    ] {
        let words = [&["error: rank 1 on ", "differently from rank 0: "][..], words].concat();
        assert_fails(2, &with_arguments_on_rank_1(&run, further), 2, &words);
        assert!(!run.exists(), "{further}");
    }
}

#[test]
fn number_of_threads_may_differ_between_ranks() {
    let (_dir, run) = temporary();
    let done = job(2, &with_arguments_on_rank_1(&run, "--set compute.threads=1"));
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn input_error_on_one_rank_only_is_reported() {
    let (_dir, run) = temporary();
    for (further, words) in [
        ("--no-such-option", "unexpected argument '--no-such-option'"),
        ("--set case.reynols=3", "unknown key `reynols`"),
    ] {
        assert_fails(2, &with_arguments_on_rank_1(&run, further), 2, &["rank 1 on ", words]);
        assert!(!run.exists(), "{further}");
    }
    // An input file that only rank 0 finds. The error is reported once.
    let (_dir, input) = temporary();
    fs::write(&input, "[case]\nname='taylor-green'\n[grid]\npoints=[8,8,8]\n[time]\nmax_steps=1\n")
        .unwrap();
    let out = run.display();
    let command = by_rank(
        &format!("run {} --out {out}", input.display()),
        &format!("run missing.toml --out {out}"),
    );
    assert_fails(2, &command, 2, &["rank 1 on ", "missing.toml: no such file"]);
    // A command-line error on rank 0 is reported as by one process.
    let ended = job(2, &by_rank("run", "run"));
    assert_eq!((ended.code, errors(&ended).len()), (Some(2), 1), "{}", ended.err);
    assert!(ended.err.contains("Usage: kolmo run"), "{}", ended.err);
    let ended = job(2, &by_rank("--version", "--version"));
    assert_eq!((ended.code, ended.out.matches("kolmo ").count()), (Some(0), 1), "{}", ended.out);
}

#[test]
fn different_commands_on_two_ranks_are_rejected() {
    let (_dir, run) = temporary();
    let out = run.display();
    for second in ["cases", "info", "bench copy --points 16", "restart nowhere"] {
        let command = by_rank(&format!("run taylor-green --out {out}"), second);
        assert_fails(2, &command, 2, &["error: rank 1 on ", "command = ", ", not run"]);
        assert!(!run.exists());
    }
    let command = by_rank("bench copy --points 16", "bench step --points 16");
    assert_fails(2, &command, 2, &["rank 1 on ", "options = "]);
}

#[test]
fn restart_rejects_steps_or_inputs_that_differ_between_ranks() {
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
        assert_fails(2, &by_rank(&line(first), &line(second)), 2, &["error: rank 1 on ", words]);
        assert_eq!(fs::read(run.join("series.csv")).unwrap(), before);
    }
    assert_eq!(job(2, &by_rank(&line(""), &line(""))).code, Some(0));
}
