//! Input that the program rejects, and its error messages.

use super::*;

#[test]
fn existing_run_is_kept_and_the_two_suggested_commands_work_as_printed() {
    // Without an output directory and with one: a name that a shell would split, and one with a quote and a trailing slash.
    for (out, directory) in [
        (&[][..], "runs/taylor-green"),
        (&["--out", "a run"], "a run"),
        (&["--out", "it's/one/"], "it's/one"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let further = [&["--set", "case.start=constant-temperature"], out].concat();
        run_ok(dir.path(), small_run(&further));
        let run = dir.path().join(directory);
        let before = fs::metadata(run.join("series.csv")).unwrap().modified().unwrap();
        let rejected = kolmo(dir.path(), small_run(&further));
        assert_eq!(rejected.code, Some(2));
        assert!(rejected.stderr.contains("already holds a run"), "{}", rejected.stderr);
        assert_eq!(fs::metadata(run.join("series.csv")).unwrap().modified().unwrap(), before);

        let command = |name: &str| {
            let line = rejected.stderr.lines().find_map(|line| line.trim().strip_prefix(name));
            line.unwrap_or_else(|| panic!("no `{name}` in {}", rejected.stderr)).trim()
        };
        let copied = shell(dir.path(), command("in another directory:"));
        assert_eq!(copied.code, Some(0), "{}", copied.stderr);
        let copy = dir.path().join(format!("{directory}-2"));
        assert!(read(copy.join("series.csv")) == read(run.join("series.csv")));
        let replaced = shell(dir.path(), command("to replace it:"));
        assert_eq!(replaced.code, Some(0), "{}", replaced.stderr);
        assert!(fs::metadata(run.join("series.csv")).unwrap().modified().unwrap() > before);
        // One copy exists now, so the next number is proposed.
        let rejected = kolmo(dir.path(), small_run(&further));
        assert!(
            rejected.stderr.contains(&format!(
                "{}-3",
                directory.rsplit('/').next().unwrap().split('\'').next_back().unwrap()
            )),
            "{}",
            rejected.stderr
        );
    }
}

#[test]
fn overwrite_removes_the_old_run_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    run_ok(dir.path(), small_run(&["--out", "run"]));
    fs::write(dir.path().join("run/notes.txt"), "mine").unwrap();
    let set = ["--set", "output.fields=none", "--set", "case.reynolds=50", "--overwrite"];
    run_ok(dir.path(), small_run(&[&["--out", "run"], &set[..]].concat()));
    let names = file_names(&dir.path().join("run"));
    assert!(names.contains(&"notes.txt".into()) && !names.contains(&"fields".into()), "{names:?}");
    assert!(!names.contains(&"reference.csv".into()), "{names:?}");
}

#[test]
fn invalid_input_exits_with_status_2_and_creates_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("broken.toml"), "[case\n").unwrap();
    fs::write(dir.path().join("empty.toml"), "").unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, message) in [
        (small_run(&["--set", "time.clf=0.5"]), "unknown key `clf` in [time]; did you mean `cfl`?"),
        (small_run(&["--set", "scheme.filter=yes"]), "filter = \"yes\": unknown"),
        (small_run(&["--set", "time"]), "no `=` in it"),
        (small_run(&["--backend", "cpu", "--device", "1"]), "device = 1: the CPU is one device"),
        (
            small_run(&["--backend", "opencl", "--device", "999"]),
            "compute.device = 999: the last OpenCL",
        ),
        (small_run(&["--out", "file"]), "file is a file"),
        (small_run(&["--out", "file/run"]), "file is a file; a run needs a directory"),
        (small_run(&["--set", "grid.points=[4, 16, 16]"]), "4 points along x"),
        (small_run(&["--set", "grid.points=[60000, 60000, 60000]"]), "GiB"),
        (
            small_run(&["--set", "grid.points=[60000, 60000, 60000]"]),
            " points of this shape fit; or use ",
        ),
        (
            small_run(&["--set", "compute.ranks=[2, 2, 2]"]),
            "compute.ranks = [2, 2, 2] are 8 ranks; this run has 1",
        ),
        (
            small_run(&["--set", "time.wall_limit=1e-6"]),
            "time.wall_limit leaves no time for a single step",
        ),
        (
            small_run(&["--set", "time={ end = 1, cfl = 1e-30 }"]),
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
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("panicked") && outcome.stdout.is_empty());
    }
    assert_eq!(file_names(dir.path()), ["broken.toml", "empty.toml", "file"]);
}

#[test]
fn output_directory_that_cannot_be_created_is_reported_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    // No user can create directories in /proc.
    let outcome = kolmo(dir.path(), small_run(&["--out", "/proc/run"]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("error: /proc/run: "), "{}", outcome.stderr);
}

/// Catches a run on the CPU that starts with a line solver that does not support its matrices.
#[test]
fn line_solver_unsuited_to_the_scheme_is_rejected_with_alternatives() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "compute.line_solver=cr", "--set", "scheme.derivative=compact8-penta"];
    let run = [&["run", "taylor-green", "--backend", "cpu", "--out", "run"], &set[..]].concat();
    let outcome = kolmo(dir.path(), run);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = "the line solver `cr` is for tridiagonal operators, and this one is pentadiagonal; use `thomas`, `pcr-banded`";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(file_names(dir.path()).is_empty(), "nothing is written");
}

#[test]
fn gpu_only_options_without_a_gpu_are_rejected_with_advice() {
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
        let outcome = without_devices(dir.path(), small_run(further));
        assert_eq!(outcome.code, Some(2), "{further:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with(message), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(advice), "{}", outcome.stderr);
        assert!(file_names(dir.path()).is_empty());
    }
    let info = without_devices(dir.path(), vec!["info"]).stdout;
    assert!(info.contains("cuda     CUDA cannot be used: "), "{info}");
    assert!(info.contains("opencl   no device\n"), "{info}");
    let outcome = without_devices(dir.path(), small_run(&["--set", "compute.line_solver=pcr"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// Runs `kolmo` with all CUDA and OpenCL devices of the machine hidden.
fn without_devices(directory: &Path, arguments: Vec<&str>) -> Outcome {
    let none = directory.join("no drivers");
    let mut command = Command::new(program());
    command.args(arguments).current_dir(directory);
    command.env("CUDA_VISIBLE_DEVICES", "").env("OCL_ICD_VENDORS", none);
    command.output().unwrap().into()
}

#[test]
fn non_utf8_output_directory_is_rejected_before_a_run_or_restart() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"r\xffn");
    let checkpoint = ["--set", "output.checkpoint={ every_steps = 1 }", "--out"];
    let further = small_run(&checkpoint);
    let arguments = further.iter().map(std::ffi::OsStr::new).chain([name]);
    let outcome = kolmo(dir.path(), arguments);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = "error: \"r\\xFFn\" is not UTF-8, and no checkpoint can be written below it";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(!dir.path().join(name).exists());
    // A run whose directory was renamed to such a name is rejected by `kolmo restart`, but restarts from inside its directory.
    run_ok(
        dir.path(),
        small_run(&["--set", "output.checkpoint={ every_steps = 1 }", "--out", "run"]),
    );
    fs::rename(dir.path().join("run"), dir.path().join(name)).unwrap();
    let outcome = kolmo(dir.path(), ["restart".as_ref(), name]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("is not UTF-8"), "{}", outcome.stderr);
    run_ok(&dir.path().join(name), ["restart", ".", "--set", "time.max_steps=5"]);
}

/// Catches a pentadiagonal scheme between walls whose instability is not reported.
#[test]
fn unfiltered_pentadiagonal_scheme_between_walls_prints_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        ["run", "couette-flow", "--set", "grid.points=[1, 33, 1]", "--set", "time.max_steps=1"];
    let penta = ["--set", "scheme.derivative=compact10-penta", "--out", "penta"];
    let filter = ["--set", "scheme.filter={ order = 8, alpha = 0.49 }", "--out", "filtered"];
    let stderr_of = |more: &[&str]| run_ok(dir.path(), [&run[..], more].concat()).stderr;
    let note = "note: compact10-penta is unstable at walls and open faces without `scheme.filter`";
    assert!(stderr_of(&penta).contains(note));
    assert!(!stderr_of(&[&penta[..2], &filter].concat()).contains("unstable"));
    assert!(!stderr_of(&["--out", "compact6"]).contains("unstable"));
}

/// Catches a grid on which waves may grow at edges between open faces, but no warning is printed.
#[test]
fn points_clustered_towards_adjoining_open_faces_print_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let outflow = "boundary.y={ low = 'outflow', high = 'outflow' }";
    let periodic = "boundary.y=periodic";
    for (ends, factor, along_y, warns) in [
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
        let stderr = run_ok(dir.path(), run).stderr;
        assert_eq!(stderr.contains("waves may grow at the edges"), warns, "{stderr}");
    }
}
