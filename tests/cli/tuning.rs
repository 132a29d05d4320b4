//! Tuning of how work is divided: measured once, cached, and without effect on the results.

use super::*;

/// Runs a case with a few more points than the measurement uses; the measurement is cached in `cache`.
fn run(directory: &Path, cache: &str, out: &str, further: &[&str]) -> Outcome {
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--set", "grid.points=[65, 65, 65]", "--backend", "cpu"]);
    command.args(["--set", "time={ max_steps = 1, cfl = 0.8 }", "--out", out]).args(further);
    command.current_dir(directory).env("XDG_CACHE_HOME", directory.join(cache));
    let outcome = Outcome::from(command.output().unwrap());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome
}

#[test]
fn tuning_is_measured_once_and_results_are_bitwise_identical() {
    let dir = tempfile::tempdir().unwrap();
    let measured = |outcome: &Outcome| outcome.stderr.contains("measuring once");
    let shape = |out| {
        let shape = &summary(&dir.path().join(out))["machine"]["shape"];
        shape.as_str().unwrap_or_default().to_string()
    };
    assert!(measured(&run(dir.path(), "cache", "first", &[])));
    assert!(!measured(&run(dir.path(), "cache", "second", &[])), "the measurement is cached");
    assert_eq!(shape("first"), shape("second"));
    let untuned = run(dir.path(), "another", "untuned", &["--no-tune"]);
    assert!(!measured(&untuned));
    assert!(!dir.path().join("another").exists(), "nothing is cached");
    assert_eq!(shape("untuned"), "generated code");
    for name in ["series.csv", "fields/step_00000001.vti"] {
        let [first, untuned] =
            ["first", "untuned"].map(|run| fs::read(dir.path().join(run).join(name)).unwrap());
        assert!(first == untuned, "{name} differs");
    }
    // A cached file that does not match the request is replaced by a new measurement.
    let cached = fs::read_dir(dir.path().join("cache/kolmo")).unwrap().next().unwrap().unwrap();
    fs::write(cached.path(), "something else").unwrap();
    assert!(measured(&run(dir.path(), "cache", "third", &[])));
}

/// Regression: a failure on few points was cached as the measurement for all later runs.
#[test]
fn a_rejected_run_caches_no_measurement() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(program());
    command.args(["run", "taylor-green", "--backend", "cpu", "--set", "case.mach=20"]);
    command.args(["--set", "grid.points=[72, 65, 60]"]).current_dir(dir.path());
    let rejected: Outcome =
        command.env("XDG_CACHE_HOME", dir.path().join("cache")).output().unwrap().into();
    assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
    let cached = fs::read_dir(dir.path().join("cache/kolmo")).into_iter().flatten().flatten();
    assert_eq!(cached.count(), 0);
}
