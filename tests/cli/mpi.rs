//! The MPI library that a program loads when a launcher started it as one of several ranks.

use super::*;

/// A run of rank `rank` of `size`, as Open MPI's launcher tells them, which is to load the library `name`.
fn launched(dir: &Path, (rank, size): (&str, &str), name: &Path) -> Outcome {
    let mut command = Command::new(program());
    command.args(small(&[])).current_dir(dir).env("CUDA_VISIBLE_DEVICES", "");
    command.env("OMPI_COMM_WORLD_RANK", rank).env("OMPI_COMM_WORLD_SIZE", size);
    command.env("KOLMO_MPI_LIBRARY", name).env("KOLMO_TEST_LOADED", dir.join("loaded"));
    command.output().unwrap().into()
}

#[test]
fn ranks_without_a_library_run_nothing_and_one_of_them_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = dir.path().join("libmpi.so");
    let first = launched(dir.path(), ("0", "3"), &nothing);
    assert_eq!(first.code, Some(2));
    let told = "error: 3 processes were started, and KOLMO_MPI_LIBRARY = ";
    assert!(first.err.starts_with(told), "{}", first.err);
    assert!(first.err.contains("libmpi.so: cannot open"), "{}", first.err);
    let second = launched(dir.path(), ("1", "3"), &nothing);
    assert_eq!((second.code, second.err.as_str()), (Some(2), ""));
    let relative = launched(dir.path(), ("0", "3"), Path::new("./libmpi.so"));
    assert_eq!(relative.code, Some(2));
    assert!(relative.err.contains("./libmpi.so: is neither an absolute path"), "{}", relative.err);
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_library_of_something_else_is_refused_and_one_process_loads_none() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = launched(dir.path(), ("0", "3"), library());
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let told = "it has the interface of neither Open MPI, MPICH nor MPI 5";
    assert!(outcome.err.contains(told), "{}", outcome.err);
    assert_eq!(names(dir.path()), ["loaded"]);
    fs::remove_file(dir.path().join("loaded")).unwrap();
    let alone = launched(dir.path(), ("0", "1"), library());
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    assert!(!dir.path().join("loaded").exists());
}

#[test]
fn info_names_the_library_and_a_preloaded_tool_sees_the_calls() {
    let tool = crate::common::compiled("tool");
    for (name, says) in [("libmpi.so.40", "Open MPI v"), ("libmpich.so.12", "MPICH Version:")] {
        let info = |preloaded: &Path| -> Outcome {
            let mut command = Command::new(program());
            command.arg("info").env("KOLMO_MPI_LIBRARY", name).env("LD_PRELOAD", preloaded);
            command.output().unwrap().into()
        };
        let plain = info(Path::new(""));
        let line = format!("\nmpi      {says}");
        assert!(plain.out.contains(&line), "{}", plain.out);
        assert!(
            plain.out.contains(&format!(" ({name})\n         1 rank on 1 host\n")),
            "{}",
            plain.out
        );
        let watched = info(&tool);
        assert!(watched.out.contains(&format!("\nmpi      Watched {says}")), "{}", watched.out);
    }
}
