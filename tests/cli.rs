//! The program as users meet it: the real binary, in directories of its own.

mod compare;
mod converge;
mod custom;
mod directories;
mod disks;
mod endings;
mod environment;
mod foreign;
mod grid;
mod kills;
mod leftovers;
mod live;
mod manual;
mod mpi;
mod plans;
mod plot;
mod postprocess;
mod readme;
mod refusals;
mod reproduce;
mod restarts;
mod runs;
mod scaling;
mod signals;
mod starts;
mod statistics;
mod steady;
mod tuning;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kolmo::io::Series;

use crate::common::{program, root};

/// A Taylor-Green vortex that takes no time: four steps on 16³ points.
const SMALL: [&str; 6] = [
    "run",
    "taylor-green",
    "--set",
    "grid.points=[16, 16, 16]",
    "--set",
    "time={ max_steps = 4, cfl = 0.8 }",
];

/// How a command ended and what it said.
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Run `kolmo` with `arguments` in `directory`, as on a machine without an NVIDIA GPU: what `auto` takes is the host.
fn kolmo<S: AsRef<std::ffi::OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Outcome {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(directory).env("CUDA_VISIBLE_DEVICES", "");
    command.output().unwrap().into()
}

/// Run `kolmo`, which must be content.
fn done<S: AsRef<std::ffi::OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Outcome {
    let outcome = kolmo(directory, arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    outcome
}

/// Type `line` into a shell in `directory`.
fn shell(directory: &Path, line: &str) -> Outcome {
    Command::new("sh").args(["-c", line]).current_dir(directory).output().unwrap().into()
}

/// [`SMALL`] and further arguments.
fn small<'a>(further: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(further).copied().collect()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn summary(run: &Path) -> serde_json::Value {
    serde_json::from_str(&read(run.join("summary.json"))).unwrap()
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The library of `tests/data/library.c`, made once a process.
fn library() -> &'static Path {
    static LIBRARY: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    LIBRARY.get_or_init(|| crate::common::compiled("library"))
}

/// Python with vtk and pandas: `KOLMO_PYTHON`, else the environment that `./test` makes.
fn python() -> PathBuf {
    match std::env::var_os("KOLMO_PYTHON") {
        Some(python) => python.into(),
        None => root().join(".venv/bin/python"),
    }
}

/// Run a script of the project; what it says where it is not content is shown.
fn script(name: &str, arguments: &[&Path]) -> String {
    let output = Command::new(python()).arg(root().join(name)).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("{}: {error}; run ./test", python().display()));
    let outcome = Outcome::from(output);
    assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.err);
    outcome.out
}

/// Every file that a run leaves is whole: rows with a value for every column, listed pictures, fields that VTK reads.
fn assert_whole(run: &Path, rows: usize) {
    assert_all_whole(&[run], rows);
}

/// The same of many runs, for which Python starts once.
fn assert_all_whole(runs: &[&Path], rows: usize) {
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
            .flat_map(|part| names(&part))
            .collect();
        assert!(parts.iter().all(|name| !name.ends_with(".part")), "{parts:?}");
    }
    script("tests/readback.py", runs);
}
