//! End-to-end tests of the command line: the compiled binary runs in temporary directories.

mod compare;
mod converge;
mod custom;
mod directories;
mod disks;
mod endings;
mod environment;
mod foreign;
mod grid;
mod initial_checks;
mod kills;
mod leftovers;
mod live;
mod manual;
mod mpi;
mod plans;
mod plot;
mod postprocess;
mod readme;
mod rejections;
mod reproduce;
mod restarts;
mod runs;
mod scaling;
mod signals;
mod statistics;
mod steady;
mod tuning;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kolmo::io::Series;

use crate::common::{program, root};

/// A fast Taylor-Green run: four steps on 16³ points.
const SMALL_RUN: [&str; 6] = [
    "run",
    "taylor-green",
    "--set",
    "grid.points=[16, 16, 16]",
    "--set",
    "time={ max_steps = 4, cfl = 0.8 }",
];

/// Exit status, standard output and standard error of a command.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Run `kolmo` with `arguments` in `directory`. NVIDIA GPUs are hidden, so that `auto` selects the host.
fn kolmo<S: AsRef<std::ffi::OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Outcome {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(directory).env("CUDA_VISIBLE_DEVICES", "");
    command.output().unwrap().into()
}

/// Run `kolmo` and require exit status 0.
fn run_ok<S: AsRef<std::ffi::OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Outcome {
    let outcome = kolmo(directory, arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome
}

/// Run `line` in a shell in `directory`.
fn shell(directory: &Path, line: &str) -> Outcome {
    Command::new("sh").args(["-c", line]).current_dir(directory).output().unwrap().into()
}

/// [`SMALL_RUN`] followed by further arguments.
fn small_run<'a>(further: &[&'a str]) -> Vec<&'a str> {
    SMALL_RUN.iter().chain(further).copied().collect()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn summary(run: &Path) -> serde_json::Value {
    serde_json::from_str(&read(run.join("summary.json"))).unwrap()
}

/// The names in a directory, sorted.
fn file_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The shared library of `tests/data/library.c`, built once per process.
fn stub_library() -> &'static Path {
    static LIBRARY: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    LIBRARY.get_or_init(|| crate::common::compile_c_library("library"))
}

/// Python with vtk and pandas: `KOLMO_PYTHON`, otherwise the virtual environment that `./test` creates.
fn python() -> PathBuf {
    match std::env::var_os("KOLMO_PYTHON") {
        Some(python) => python.into(),
        None => root().join(".venv/bin/python"),
    }
}

/// Run a Python script of the project and return its standard output. A failure shows its standard error.
fn run_script(name: &str, arguments: &[&Path]) -> String {
    let output = Command::new(python()).arg(root().join(name)).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("{}: {error}; run ./test", python().display()));
    let outcome = Outcome::from(output);
    assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
    outcome.stdout
}

/// Check that all output files of a run are complete: rows with a value in every column, listed pictures, fields that VTK reads.
fn assert_outputs_valid(run: &Path, rows: usize) {
    assert_all_outputs_valid(&[run], rows);
}

/// [`assert_outputs_valid`] for several runs; Python starts only once.
fn assert_all_outputs_valid(runs: &[&Path], rows: usize) {
    for run in runs {
        let series = read(run.join("series.csv"));
        assert!(series.ends_with('\n'));
        let columns = series.lines().next().unwrap().split(',').count();
        assert!(series.lines().all(|line| line.split(',').count() == columns));
        assert_eq!(Series::read(&run.join("series.csv")).unwrap().rows(), rows);
        assert!(read(run.join("report.html")).trim_end().ends_with("</html>"));
        for line in read(run.join("log.jsonl")).lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
        let parts: Vec<String> = ["", "fields", "slices", "plots"]
            .into_iter()
            .map(|part| run.join(part))
            .filter(|part| part.exists())
            .flat_map(|part| file_names(&part))
            .collect();
        assert!(parts.iter().all(|name| !name.ends_with(".part")), "{parts:?}");
    }
    run_script("tests/readback.py", runs);
}
