//! Loading of the MPI library when a launcher starts the program as one of several ranks.

use super::*;

/// Runs `kolmo` as rank `rank` of `size`, with the environment of Open MPI's launcher and `name` as the MPI library to load.
fn run_as_rank(dir: &Path, (rank, size): (&str, &str), name: &Path) -> Outcome {
    let mut command = Command::new(program());
    command.args(small_run(&[])).current_dir(dir).env("CUDA_VISIBLE_DEVICES", "");
    command.env("OMPI_COMM_WORLD_RANK", rank).env("OMPI_COMM_WORLD_SIZE", size);
    command.env("KOLMO_MPI_LIBRARY", name).env("KOLMO_TEST_LOADED", dir.join("loaded"));
    command.output().unwrap().into()
}

#[test]
fn without_an_mpi_library_no_rank_runs_and_only_rank_0_reports_it() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("libmpi.so");
    let first = run_as_rank(dir.path(), ("0", "3"), &missing);
    assert_eq!(first.code, Some(2));
    let message = "error: 3 processes were started, and KOLMO_MPI_LIBRARY = ";
    assert!(first.stderr.starts_with(message), "{}", first.stderr);
    assert!(first.stderr.contains("libmpi.so: cannot open"), "{}", first.stderr);
    let second = run_as_rank(dir.path(), ("1", "3"), &missing);
    assert_eq!((second.code, second.stderr.as_str()), (Some(2), ""));
    let relative = run_as_rank(dir.path(), ("0", "3"), Path::new("./libmpi.so"));
    assert_eq!(relative.code, Some(2));
    assert!(
        relative.stderr.contains("./libmpi.so: is neither an absolute path"),
        "{}",
        relative.stderr
    );
    assert!(file_names(dir.path()).is_empty());
}

#[test]
fn a_library_other_than_mpi_is_rejected_and_a_single_rank_loads_none() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = run_as_rank(dir.path(), ("0", "3"), stub_library());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = "it has the interface of neither Open MPI, MPICH nor MPI 5";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert_eq!(file_names(dir.path()), ["loaded"]);
    fs::remove_file(dir.path().join("loaded")).unwrap();
    let single = run_as_rank(dir.path(), ("0", "1"), stub_library());
    assert_eq!(single.code, Some(0), "{}", single.stderr);
    assert!(!dir.path().join("loaded").exists());
}

#[test]
fn info_reports_the_mpi_library_and_a_preloaded_tool_intercepts_calls() {
    let tool = crate::common::compile_c_library("tool");
    for (name, version) in [("libmpi.so.40", "Open MPI v"), ("libmpich.so.12", "MPICH Version:")] {
        let info = |preloaded: &Path| -> Outcome {
            let mut command = Command::new(program());
            command.arg("info").env("KOLMO_MPI_LIBRARY", name).env("LD_PRELOAD", preloaded);
            command.output().unwrap().into()
        };
        let plain = info(Path::new(""));
        let line = format!("\nmpi      {version}");
        assert!(plain.stdout.contains(&line), "{}", plain.stdout);
        assert!(
            plain.stdout.contains(&format!(" ({name})\n         1 rank on 1 host\n")),
            "{}",
            plain.stdout
        );
        let intercepted = info(&tool);
        assert!(
            intercepted.stdout.contains(&format!("\nmpi      Watched {version}")),
            "{}",
            intercepted.stdout
        );
    }
}
