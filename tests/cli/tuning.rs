//! How work is cut: measured once, kept, and without effect on the results.

use super::*;

/// A run of a few more points than are measured with, which keeps what it measures in `cache`.
fn run(directory: &Path, cache: &str, out: &str, further: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--set", "grid.points=[65, 65, 65]", "--backend", "cpu"]);
    command.args(["--set", "time={ max_steps = 1, cfl = 0.8 }", "--out", out]).args(further);
    command.current_dir(directory).env("XDG_CACHE_HOME", directory.join(cache));
    let outcome = Outcome::from(command.output().unwrap());
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    outcome
}

#[test]
fn a_measurement_is_made_once_and_changes_no_bit() {
    let dir = tempfile::tempdir().unwrap();
    let measured = |outcome: &Outcome| outcome.err.contains("measuring once");
    let shape = |out| {
        let shape = &summary(&dir.path().join(out))["machine"]["shape"];
        shape.as_str().unwrap_or_default().to_string()
    };
    assert!(measured(&run(dir.path(), "cache", "first", &[])));
    assert!(!measured(&run(dir.path(), "cache", "second", &[])), "it is kept");
    assert_eq!(shape("first"), shape("second"));
    let usual = run(dir.path(), "another", "usual", &["--no-tune"]);
    assert!(!measured(&usual));
    assert!(!dir.path().join("another").exists(), "nothing is kept");
    assert_eq!(shape("usual"), "loads interleaved with operators");
    for name in ["series.csv", "fields/step_00000001.vti"] {
        let [first, usual] =
            ["first", "usual"].map(|run| fs::read(dir.path().join(run).join(name)).unwrap());
        assert!(first == usual, "{name} differs");
    }
    // What does not fit what was asked is measured again.
    let kept = fs::read_dir(dir.path().join("cache/kolmo")).unwrap().next().unwrap().unwrap();
    fs::write(kept.path(), "something else").unwrap();
    assert!(measured(&run(dir.path(), "cache", "third", &[])));
}

/// What fails on few points was kept as the measurement of all later runs.
#[test]
fn a_run_that_is_refused_leaves_no_measurement() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--backend", "cpu", "--set", "case.mach=20"]);
    command.args(["--set", "grid.points=[72, 65, 60]"]).current_dir(dir.path());
    let refused: Outcome =
        command.env("XDG_CACHE_HOME", dir.path().join("cache")).output().unwrap().into();
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let kept = fs::read_dir(dir.path().join("cache/kolmo")).into_iter().flatten().flatten();
    assert_eq!(kept.count(), 0);
}
