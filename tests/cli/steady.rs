//! Steady runs, as users meet them.

use super::*;

pub(super) const INPUT: &str = "[case]\nname = 'cylinder'\nreynolds = 40\ngust = 0\n\
                     [grid]\npoints = [32, 33, 1]\nmapping = { kind = 'ring', inner = 0.5, outer = 12.0 }\n\
                     [boundary]\ny = { low = { kind = 'wall', temperature = 1.0 }, high = { kind = 'far-field', velocity = [1.0, 0.0, 0.0], \
                     sponge = { width = 8.0, strength = 0.2 } } }\n\
                     [scheme]\nfilter = { order = 8, alpha = 0.45, every = 2 }\n\
                     [time]\ncfl = 20\nimplicit = { method = 'steady' }\n\
                     [output]\ncheckpoint = { every_steps = 5 }\nseries = { every_steps = 1 }\n\
                     fields = { every_time = 0.5, variables = ['velocity'] }\n";

/// Catches progress in percent of an end that there is not, decades of another residual, a figure that a run does not know
/// for its own, an end that is not seen, columns or a step that a restart takes otherwise.
#[test]
fn a_steady_run_ends_by_itself_goes_on_and_is_known_to_be_finished() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("my.toml"), INPUT).unwrap();
    let told = done(dir.path(), ["run", "my.toml", "--out", "whole"]).err;
    // Its progress is that of the residual: there is no time that it could be held against.
    let mut lines = told.lines().filter(|line| line.starts_with("step ")).map(|line| {
        let (_, decades) = line.split_once("  residual ").unwrap();
        let (fallen, of) = decades.split_once(" decades").unwrap().0.split_once(" / ").unwrap();
        [fallen, of].map(|decades| decades.parse::<f64>().unwrap())
    });
    let [[begun, of], [fallen, still]] = [lines.next().unwrap(), lines.next_back().unwrap()];
    assert!(begun < 5.0 && fallen >= 10.0 && [of, still] == [10.0; 2], "{told}");
    assert!(!told.contains('%'), "{told}");
    // Its steps pass 0.5 each; times of no meaning bring no fields between the first and the last, as the plan says.
    let fields = names(&dir.path().join("whole/fields"));
    assert_eq!(fields.iter().filter(|name| name.ends_with(".vts")).count(), 2, "{fields:?}");
    let plan = done(dir.path(), ["info", "--plan", "my.toml"]).out;
    assert!(plan.contains(" KiB of fields"), "{plan}");
    let plots = read(dir.path().join("whole/manifest.txt"));
    assert!(plots.contains("plots/residual.svg") && plots.contains("plots/implicit_work.svg"));
    assert!(read(dir.path().join("whole/summary.json")).contains("became steady"));
    let again = done(dir.path(), ["restart", "whole"]);
    assert!(
        again.out.contains("is finished") || again.err.contains("is finished"),
        "{}",
        again.err
    );
    // That of another flow is not.
    let slower = ["restart", "whole", "--set", "case.reynolds=39"];
    assert!(kolmo(dir.path(), slower).err.contains("--allow-physics-change"));
    shell(dir.path(), "cp -r whole copy");
    let copied = ["restart", "copy", "--set", "case.reynolds=39", "--allow-physics-change"];
    done(dir.path(), copied);
    let copy = read(dir.path().join("copy/summary.json"));
    assert!(copy.contains("it was a different flow up to step"), "{copy}");
    done(dir.path(), ["plot", "whole"]);
    // Through time it has other columns.
    let through = ["restart", "whole", "--set", "time={ cfl = 0.5, max_steps = 1000 }"];
    let told = kolmo(dir.path(), through).err;
    let columns = "the columns residual, newton_corrections, linear_products\n";
    assert!(told.contains(columns) && told.contains("\"from-checkpoint\""), "{told}");
    // One that is stopped says how far it is, and goes on to the same.
    let stopped = ["run", "my.toml", "--out", "part", "--set", "time.max_steps=7"];
    let told = done(dir.path(), stopped);
    assert!(told.err.contains("not steady after 7 steps: dU/dt has fallen to"), "{}", told.err);
    let verdict = super::summary(&dir.path().join("part"))["verdict_reason"].to_string();
    assert!(verdict.contains("not finished: not steady after 7 steps"), "{verdict}");
    // Why, where linear systems are left.
    assert!(!verdict.contains("products"), "{verdict}");
    let few = "time.implicit={ method = 'steady', products = 1 }";
    let few = ["run", "my.toml", "--out", "few", "--set", few, "--set", "time.max_steps=3"];
    let told = done(dir.path(), few).err;
    let why = "; the last linear system was solved to ";
    assert!(told.contains(why) && told.contains("increase products (now 1)"), "{told}");
    done(dir.path(), ["restart", "part", "--set", "time.max_steps=1000"]);
    let series = |run: &str| read(dir.path().join(run).join("series.csv"));
    assert_eq!(series("whole"), series("part"));
    // Of another flow the first residual is another, and steps begin anew.
    let other = "[case]\nname = 'from-checkpoint'\npath = 'whole'\nreynolds = 30\n[time]\nmax_steps = 200\n";
    fs::write(dir.path().join("other.toml"), other).unwrap();
    done(dir.path(), ["run", "other.toml", "--out", "other", "--allow-physics-change"]);
    assert!(read(dir.path().join("other/summary.json")).contains("became steady"));
    // Without fields its first and its last state are pictures.
    let pictures = names(&dir.path().join("other/slices"));
    let steps = pictures.iter().filter(|name| name.ends_with("_xy.png")).count();
    assert_eq!(steps, 2, "{pictures:?}");
}
