//! What the program refuses, and what it says then.

use super::*;

#[test]
fn a_run_that_is_there_is_kept_and_the_two_commands_that_go_on_work_as_printed() {
    // With a directory typed and without, with a name that a shell would split, and with a slash at its end.
    for (out, directory) in [
        (&[][..], "runs/taylor-green"),
        (&["--out", "a run"], "a run"),
        (&["--out", "it's/one/"], "it's/one"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let further = [&["--set", "case.start=constant-temperature"], out].concat();
        done(dir.path(), small(&further));
        let run = dir.path().join(directory);
        let before = fs::metadata(run.join("series.csv")).unwrap().modified().unwrap();
        let refused = kolmo(dir.path(), small(&further));
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains("already holds a run"), "{}", refused.err);
        assert_eq!(fs::metadata(run.join("series.csv")).unwrap().modified().unwrap(), before);

        let command = |name: &str| {
            let line = refused.err.lines().find_map(|line| line.trim().strip_prefix(name));
            line.unwrap_or_else(|| panic!("no `{name}` in {}", refused.err)).trim()
        };
        let elsewhere = shell(dir.path(), command("in another directory:"));
        assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.err);
        let copy = dir.path().join(format!("{directory}-2"));
        assert!(read(copy.join("series.csv")) == read(run.join("series.csv")));
        let again = shell(dir.path(), command("to replace it:"));
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert!(fs::metadata(run.join("series.csv")).unwrap().modified().unwrap() > before);
        // Now that one copy is there, the next is proposed.
        let refused = kolmo(dir.path(), small(&further));
        assert!(
            refused.err.contains(&format!(
                "{}-3",
                directory.rsplit('/').next().unwrap().split('\'').next_back().unwrap()
            )),
            "{}",
            refused.err
        );
    }
}

#[test]
fn overwrite_removes_the_old_run_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    done(dir.path(), small(&["--out", "run"]));
    fs::write(dir.path().join("run/notes.txt"), "mine").unwrap();
    let set = ["--set", "output.fields=none", "--set", "case.reynolds=50", "--overwrite"];
    done(dir.path(), small(&[&["--out", "run"], &set[..]].concat()));
    let names = names(&dir.path().join("run"));
    assert!(names.contains(&"notes.txt".into()) && !names.contains(&"fields".into()), "{names:?}");
    assert!(!names.contains(&"reference.csv".into()), "{names:?}");
}

#[test]
fn a_wrong_input_is_refused_with_status_2_and_leaves_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("broken.toml"), "[case\n").unwrap();
    fs::write(dir.path().join("empty.toml"), "").unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, message) in [
        (small(&["--set", "time.clf=0.5"]), "unknown key `clf` in [time]; did you mean `cfl`?"),
        (small(&["--set", "scheme.filter=yes"]), "filter = \"yes\": unknown"),
        (small(&["--set", "time"]), "no `=` in it"),
        (small(&["--backend", "cpu", "--device", "1"]), "device = 1: the CPU is one device"),
        (
            small(&["--backend", "opencl", "--device", "999"]),
            "compute.device = 999: the last OpenCL",
        ),
        (small(&["--out", "file"]), "file is a file"),
        (small(&["--out", "file/run"]), "file is a file; a run needs a directory"),
        (small(&["--set", "grid.points=[4, 16, 16]"]), "4 points along x"),
        (small(&["--set", "grid.points=[60000, 60000, 60000]"]), "GiB"),
        (
            small(&["--set", "grid.points=[60000, 60000, 60000]"]),
            " points of this shape fit; or use ",
        ),
        (
            small(&["--set", "compute.ranks=[2, 2, 2]"]),
            "compute.ranks = [2, 2, 2] are 8 ranks; this run has 1",
        ),
        (
            small(&["--set", "time.wall_limit=1e-6"]),
            "time.wall_limit leaves no time for a single step",
        ),
        (
            small(&["--set", "time={ end = 1, cfl = 1e-30 }"]),
            " never reach time.end = 1: t + dt = t there",
        ),
        (vec!["run", "taylor-gren"], "no such file; did you mean `taylor-green`?"),
        (vec!["run", "brokn.toml"], "no such file; did you mean `broken.toml`?"),
        (vec!["run", "broken"], "no such file; did you mean `broken.toml`?"),
        (vec!["run", "./emty.toml"], "no such file; did you mean `./empty.toml`?"),
        (vec!["init", "taylor-gren"], "`taylor-gren` is not a case; did you mean `taylor-green`?"),
        (vec!["run", "broken.toml"], "broken.toml:1: not TOML"),
        (vec!["run", "empty.toml"], "[case] needs `name`"),
        (vec!["run", "."], "a directory"),
        (vec!["init", "taylor"], "`taylor` is not a case"),
        (vec!["run"], "Usage"),
        (vec!["run", "taylor-green", "--sett", "a=1"], "--set"),
        (vec!["fly"], "unrecognized subcommand"),
        (vec![], "Usage"),
    ] {
        let outcome = kolmo(dir.path(), &arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(message), "{arguments:?}: {}", outcome.err);
        assert!(!outcome.err.contains("panicked") && outcome.out.is_empty());
    }
    assert_eq!(names(dir.path()), ["broken.toml", "empty.toml", "file"]);
}

#[test]
fn a_directory_that_cannot_be_made_is_a_failure_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    // Nobody makes directories there.
    let outcome = kolmo(dir.path(), small(&["--out", "/proc/run"]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.starts_with("error: /proc/run: "), "{}", outcome.err);
}

/// Catches a run on the CPU that begins with a line solver that cannot take its matrices.
#[test]
fn a_line_solver_that_cannot_take_the_scheme_is_refused_with_those_that_can() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "compute.line_solver=cr", "--set", "scheme.derivative=compact8-penta"];
    let run = [&["run", "taylor-green", "--backend", "cpu", "--out", "run"], &set[..]].concat();
    let outcome = kolmo(dir.path(), run);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let sentence = "the line solver `cr` is for tridiagonal operators, and this one is pentadiagonal; use `thomas`, `pcr-banded`";
    assert!(outcome.err.contains(sentence), "{}", outcome.err);
    assert!(names(dir.path()).is_empty(), "nothing is written");
}

#[test]
fn without_a_gpu_what_only_a_gpu_does_is_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    for (further, message, advice) in [
        (&["--backend", "cuda"][..], "error: CUDA cannot be used: ", "use `--backend opencl`"),
        (&["--backend", "opencl"], "error: no OpenCL device was found", "install"),
        (&["--device", "1"], "error: compute.device = 1: there is no such GPU", "`kolmo info`"),
        (
            &["--set", "compute.line_solver=chunked"],
            "error: compute.line_solver = \"chunked\" needs a GPU, and none was found",
            "remove it",
        ),
        (
            &["--set", "compute.pencils=permuted"],
            "error: compute.pencils = \"permuted\" needs a GPU, and none was found",
            "remove it",
        ),
    ] {
        let outcome = without_devices(dir.path(), small(further));
        assert_eq!(outcome.code, Some(2), "{further:?}: {}", outcome.err);
        assert!(outcome.err.starts_with(message), "{}", outcome.err);
        assert!(outcome.err.contains(advice), "{}", outcome.err);
        assert!(names(dir.path()).is_empty());
    }
    let info = without_devices(dir.path(), vec!["info"]).out;
    assert!(info.contains("cuda     CUDA cannot be used: "), "{info}");
    assert!(info.contains("opencl   no device\n"), "{info}");
    let outcome = without_devices(dir.path(), small(&["--set", "compute.line_solver=pcr"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
}

/// Run `kolmo` where neither CUDA nor OpenCL shows a device, whatever the machine has.
fn without_devices(directory: &Path, arguments: Vec<&str>) -> Outcome {
    let none = directory.join("no drivers");
    let mut command = Command::new(program());
    command.args(arguments).current_dir(directory);
    command.env("CUDA_VISIBLE_DEVICES", "").env("OCL_ICD_VENDORS", none);
    command.output().unwrap().into()
}

#[test]
fn a_directory_in_which_no_checkpoint_could_be_written_is_refused_before_the_run_starts() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"r\xffn");
    let checkpoint = ["--set", "output.checkpoint={ every_steps = 1 }", "--out"];
    let further = small(&checkpoint);
    let arguments = further.iter().map(std::ffi::OsStr::new).chain([name]);
    let outcome = kolmo(dir.path(), arguments);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let told = "error: \"r\\xFFn\" is not UTF-8, and no checkpoint can be written below it";
    assert!(outcome.err.contains(told), "{}", outcome.err);
    assert!(!dir.path().join(name).exists());
    // A run that was given such a name later is told how to go on, and does.
    done(dir.path(), small(&["--set", "output.checkpoint={ every_steps = 1 }", "--out", "run"]));
    fs::rename(dir.path().join("run"), dir.path().join(name)).unwrap();
    let outcome = kolmo(dir.path(), ["restart".as_ref(), name]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("is not UTF-8"), "{}", outcome.err);
    done(&dir.path().join(name), ["restart", ".", "--set", "time.max_steps=5"]);
}

/// Catches a pentadiagonal scheme between walls whose growth nobody is told of.
#[test]
fn a_scheme_that_needs_a_filter_between_walls_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        ["run", "couette-flow", "--set", "grid.points=[1, 33, 1]", "--set", "time.max_steps=1"];
    let penta = ["--set", "scheme.derivative=compact10-penta", "--out", "penta"];
    let filter = ["--set", "scheme.filter={ order = 8, alpha = 0.49 }", "--out", "filtered"];
    let said = |more: &[&str]| done(dir.path(), [&run[..], more].concat()).err;
    let note = "note: compact10-penta is unstable at walls and open faces without `scheme.filter`";
    assert!(said(&penta).contains(note));
    assert!(!said(&[&penta[..2], &filter].concat()).contains("unstable"));
    assert!(!said(&["--out", "compact6"]).contains("unstable"));
}

/// Catches a grid on which waves grow at edges of open faces without a word.
#[test]
fn points_clustered_towards_open_faces_that_meet_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let outflow = "boundary.y={ low = 'outflow', high = 'outflow' }";
    let periodic = "boundary.y=periodic";
    for (ends, factor, along_y, grows) in [
        ("high", 2.0, outflow, true),
        ("low", 2.0, outflow, true),
        ("high", 0.5, outflow, false),
        ("high", 2.0, periodic, false),
    ] {
        let map = format!(
            "grid.stretching={{ x = {{ map = 'tanh', factor = {factor}, ends = '{ends}' }} }}"
        );
        let along_x =
            "boundary.x={ low = { kind = 'inflow', velocity = [1, 0, 0] }, high = 'outflow' }";
        let set = ["case.u='1'", along_x, along_y, "grid.points=[33, 16, 1]", "time.max_steps=1"];
        let mut run = vec!["run", "custom", "--overwrite"];
        run.extend(set.into_iter().chain([&*map]).flat_map(|change| ["--set", change]));
        let said = done(dir.path(), run).err;
        assert_eq!(said.contains("waves may grow at the edges"), grows, "{said}");
    }
}
