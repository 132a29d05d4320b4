//! Steady runs, as users see them.

use super::*;

pub(super) const INPUT: &str = "[case]\nname = 'cylinder'\nreynolds = 40\ngust = 0\n\
                     [grid]\npoints = [32, 33, 1]\nmapping = { kind = 'ring', inner = 0.5, outer = 12.0 }\n\
                     [boundary]\ny = { low = { kind = 'wall', temperature = 1.0 }, high = { kind = 'far-field', velocity = [1.0, 0.0, 0.0], \
                     sponge = { width = 8.0, strength = 0.2 } } }\n\
                     [scheme]\nfilter = { order = 8, alpha = 0.45, every = 2 }\n\
                     [time]\ncfl = 20\nimplicit = { method = 'steady' }\n\
                     [output]\ncheckpoint = { every_steps = 5 }\nseries = { every_steps = 1 }\n\
                     fields = { every_time = 0.5, variables = ['velocity'] }\n";

/// Catches progress in percent of an end time that does not exist, decades of another residual, a plot that is missing from the manifest
/// of the run, an end that is not detected, and columns or a time step that differ after a restart.
#[test]
fn a_steady_run_stops_when_converged_restarts_and_is_reported_finished() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("my.toml"), INPUT).unwrap();
    let stderr = run_ok(dir.path(), ["run", "my.toml", "--out", "whole"]).stderr;
    // Progress is that of the residual: there is no end time to compare with.
    let mut lines = stderr.lines().filter(|line| line.starts_with("step ")).map(|line| {
        let (_, decades) = line.split_once("  residual ").unwrap();
        let (fallen, target) = decades.split_once(" decades").unwrap().0.split_once(" / ").unwrap();
        [fallen, target].map(|decades| decades.parse::<f64>().unwrap())
    });
    let [[first, target], [last, last_target]] =
        [lines.next().unwrap(), lines.next_back().unwrap()];
    assert!(first < 5.0 && last >= 10.0 && [target, last_target] == [10.0; 2], "{stderr}");
    assert!(!stderr.contains('%'), "{stderr}");
    // Each step passes an output time (every 0.5), but times have no meaning in a steady run: only the first and the last fields are
    // written, as in the plan.
    let fields = file_names(&dir.path().join("whole/fields"));
    assert_eq!(fields.iter().filter(|name| name.ends_with(".vts")).count(), 2, "{fields:?}");
    let plan = run_ok(dir.path(), ["info", "--plan", "my.toml"]).stdout;
    assert!(plan.contains(" KiB of fields"), "{plan}");
    let plots = read(dir.path().join("whole/manifest.txt"));
    assert!(plots.contains("plots/residual.svg") && plots.contains("plots/implicit_work.svg"));
    assert!(read(dir.path().join("whole/summary.json")).contains("became steady"));
    let again = run_ok(dir.path(), ["restart", "whole"]);
    assert!(
        again.stdout.contains("is finished") || again.stderr.contains("is finished"),
        "{}",
        again.stderr
    );
    // With another flow, the run is not finished.
    let slower = ["restart", "whole", "--set", "case.reynolds=39"];
    assert!(kolmo(dir.path(), slower).stderr.contains("--allow-physics-change"));
    shell(dir.path(), "cp -r whole copy");
    let copied = ["restart", "copy", "--set", "case.reynolds=39", "--allow-physics-change"];
    run_ok(dir.path(), copied);
    let copy = read(dir.path().join("copy/summary.json"));
    assert!(copy.contains("it was a different flow up to step"), "{copy}");
    run_ok(dir.path(), ["plot", "whole"]);
    // A time-accurate restart has other columns.
    let through = ["restart", "whole", "--set", "time={ cfl = 0.5, max_steps = 1000 }"];
    let stderr = kolmo(dir.path(), through).stderr;
    let columns = "the columns residual, newton_corrections, linear_products\n";
    assert!(stderr.contains(columns) && stderr.contains("\"from-checkpoint\""), "{stderr}");
    // A run that is stopped reports how far it is, and restarts to the same result.
    let stopped = ["run", "my.toml", "--out", "part", "--set", "time.max_steps=7"];
    let outcome = run_ok(dir.path(), stopped);
    assert!(
        outcome.stderr.contains("not steady after 7 steps: dU/dt has fallen to"),
        "{}",
        outcome.stderr
    );
    let verdict = super::summary(&dir.path().join("part"))["verdict_reason"].to_string();
    assert!(verdict.contains("not finished: not steady after 7 steps"), "{verdict}");
    // The reason is given where linear systems are not solved.
    assert!(!verdict.contains("products"), "{verdict}");
    let few = "time.implicit={ method = 'steady', products = 1 }";
    let few = ["run", "my.toml", "--out", "few", "--set", few, "--set", "time.max_steps=3"];
    let stderr = run_ok(dir.path(), few).stderr;
    let why = "; the last linear system was solved to ";
    assert!(stderr.contains(why) && stderr.contains("increase products (now 1)"), "{stderr}");
    run_ok(dir.path(), ["restart", "part", "--set", "time.max_steps=1000"]);
    let series = |run: &str| read(dir.path().join(run).join("series.csv"));
    assert_eq!(series("whole"), series("part"));
    // Another flow has another first residual, and its steps start over.
    let other = "[case]\nname = 'from-checkpoint'\npath = 'whole'\nreynolds = 30\n[time]\nmax_steps = 200\n";
    fs::write(dir.path().join("other.toml"), other).unwrap();
    run_ok(dir.path(), ["run", "other.toml", "--out", "other", "--allow-physics-change"]);
    assert!(read(dir.path().join("other/summary.json")).contains("became steady"));
    // Without fields, the first and last states are written as slices.
    let pictures = file_names(&dir.path().join("other/slices"));
    let steps = pictures.iter().filter(|name| name.ends_with("_xy.png")).count();
    assert_eq!(steps, 2, "{pictures:?}");
}
