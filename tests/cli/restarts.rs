//! Runs that go on from a checkpoint, as if they had never been interrupted.

use std::collections::BTreeMap;

use kolmo::io::checkpoint;

use super::*;

/// A vortex that writes all there is, in `steps` steps.
pub(super) fn input(points: usize, steps: u64) -> String {
    format!(
        r#"
[case]
name = "taylor-green"
reynolds = 100.0
[grid]
points = [{points}, {points}, {points}]
[scheme]
filter = {{ order = 8, alpha = 0.495, every = 3 }}
[time]
max_steps = {steps}
[compute]
threads = 1
[output]
series = {{ every_steps = 3 }}
fields = {{ every_time = 0.11, variables = ["velocity", "q_criterion"] }}
planes = {{ every_steps = 7, z = [0.0, 3.1], x = [1.0], variables = ["vorticity"], precision = "f32" }}
statistics = {{ every_steps = 5, from = 0.2 }}
checkpoint = {{ every_steps = 4, keep = 2 }}
"#
    )
}

/// Every file of a run but what tells of machine and time, by its path.
pub(super) fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![run.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(run).unwrap().to_str().unwrap().to_string();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_plot = name.starts_with("plots/");
            if !(["log.jsonl", "summary.json", "report.html", "config.toml", "manifest.txt"]
                .contains(&&*name)
                // Says how long the run took.
                || name.starts_with("checkpoints/") && name.ends_with(".zarr/zarr.json"))
            {
                // Drawings are not compared, but which there are.
                let bytes = || fs::read(&path).unwrap();
                found.insert(name, if is_plot { Vec::new() } else { bytes() });
            }
        }
    }
    found
}

/// Two runs have left the same files with the same bytes; of their checkpoints the newest counts.
pub(super) fn assert_same(found: &Path, expected: &Path) {
    let [found, expected] = [found, expected].map(|run| {
        let newest = checkpoint::steps(&run.join("checkpoints"))
            .first()
            .map(|step| format!("checkpoints/step_{step:08}.zarr/"));
        let mut files = files(run);
        files.retain(|name, _| {
            !name.starts_with("checkpoints/")
                || newest.as_ref().is_some_and(|newest| name.starts_with(newest))
        });
        files
    });
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (name, bytes) in &found {
        assert!(bytes == &expected[name], "{name} differs");
    }
}

fn run(dir: &Path, input: &str, out: &str) -> PathBuf {
    fs::write(dir.join("input.toml"), input).unwrap();
    done(dir, ["run", "input.toml", "--out", out]);
    dir.join(out)
}

#[test]
fn a_run_in_parts_leaves_the_same_bytes_as_one_in_a_piece() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), &input(12, 23), "whole");
    // Ends at a checkpoint, between two, and where fields and planes are due or not.
    for first in [8, 9, 14, 22] {
        let parts = run(dir.path(), &input(12, first), &format!("parts-{first}"));
        let parts = parts.to_str().unwrap();
        let outcome = done(dir.path(), ["restart", parts, "--set", "time.max_steps=23"]);
        let told = format!("continues from step {first}, t = ");
        assert!(outcome.err.contains(&told), "{}", outcome.err);
        assert_same(Path::new(parts), &whole);
        assert_eq!(summary(Path::new(parts))["restarts"], serde_json::json!([first]));
        script("tests/readback.py", &[Path::new(parts)]);
    }
}

/// Catches a report of both parts by the configuration of the last, and changes that nothing tells of later.
#[test]
fn report_and_log_say_what_a_restart_changed() {
    let dir = tempfile::tempdir().unwrap();
    let parts = run(dir.path(), &input(12, 4), "parts");
    let repeats = "<code>kolmo run config.toml</code> repeats this run.";
    assert!(read(parts.join("report.html")).contains(repeats));
    let change = ["--set", "scheme.filter=\"none\"", "--set", "time={ max_steps = 6, cfl = 0.2 }"];
    done(dir.path(), [&["restart", "parts"][..], &change].concat());
    let (report, log) = (read(parts.join("report.html")), read(parts.join("log.jsonl")));
    assert!(report.contains("since the last restart (at step 4)") && !report.contains(repeats));
    for changed in ["scheme.filter = ", "time.cfl = 0.2; the checkpoint has "] {
        assert!(log.contains(changed), "{changed}: {log}");
    }
}

#[test]
fn a_run_goes_on_where_else_it_is_computed() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), &input(12, 12), "whole");
    let series = |run: &Path| Series::read(&run.join("series.csv")).unwrap();
    let expected = series(&whole);
    for (number, [first, second]) in [["cpu", "opencl"], ["opencl", "cpu"]].iter().enumerate() {
        let out = format!("parts-{number}");
        let set = ["--set", "time.max_steps=6", "--backend", first, "--out", &out];
        done(dir.path(), [&["run", "input.toml"][..], &set].concat());
        let set = ["--set", "time.max_steps=12", "--backend", second];
        done(dir.path(), [&["restart", &out][..], &set].concat());
        let found = series(&dir.path().join(&out));
        assert_eq!(found.names(), expected.names());
        for name in expected.names() {
            let (a, b) = (found.column(name).unwrap(), expected.column(name).unwrap());
            assert_eq!(a.len(), b.len());
            let size = b.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-12 * size, "{first} to {second}, {name}: {off:e} of {size:e}");
        }
    }
}

#[test]
fn asynchronous_and_compressed_checkpoints_are_the_same_run() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), &input(12, 17), "whole");
    let input = |steps| {
        input(12, steps).replace("keep = 2", "keep = 2, asynchronous = true, compress = true")
    };
    let parts = run(dir.path(), &input(10), "parts");
    done(dir.path(), ["restart", "parts", "--set", "time.max_steps=17"]);
    let (mut found, mut expected) = (files(&parts), files(&whole));
    let checkpoints = names(&parts.join("checkpoints"));
    assert_eq!(checkpoints, ["step_00000016.zarr", "step_00000017.zarr"]);
    let size = |files: &BTreeMap<String, Vec<u8>>| {
        let chunks = files.iter().filter(|(name, _)| name.starts_with("checkpoints/"));
        chunks.map(|(_, bytes)| bytes.len()).sum::<usize>()
    };
    assert!(size(&found) < size(&expected));
    for files in [&mut found, &mut expected] {
        files.retain(|name, _| !name.starts_with("checkpoints/"));
    }
    assert!(found == expected);
}

#[test]
fn a_finished_run_says_so_and_an_input_without_a_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 5), "run");
    let before = files(&found);
    let outcome = done(dir.path(), ["restart", "run"]);
    assert!(outcome.out.contains("run is finished: step 5"), "{}", outcome.out);
    assert!(outcome.out.contains("kolmo restart run --set time.max_steps=10"), "{}", outcome.out);
    assert!(before == files(&found));
    // What is set is not taken without a word.
    let outcome = done(dir.path(), ["restart", "run", "--set", "case.reynolds=50"]);
    assert!(
        outcome.out.contains("ignored, since nothing is left to do: case.reynolds=50"),
        "{}",
        outcome.out
    );
    for nothing in [".", "nowhere", "input.toml"] {
        let outcome = kolmo(dir.path(), ["restart", nothing]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.err.contains("holds no run"), "{}", outcome.err);
    }
    let outcome = kolmo(dir.path(), ["restart", "run", "--from", "3"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("no checkpoint of step 3"), "{}", outcome.err);
    assert!(outcome.err.contains("checkpoints of steps: 4, 5"), "{}", outcome.err);
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("kolmo restart run\n"), "{}", outcome.err);
}

#[test]
fn a_run_without_checkpoints_begins_again_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let asked = "checkpoint = { every_steps = 4, keep = 2 }";
    let none = input(10, 5).replace(asked, "checkpoint = \"none\"");
    let found = run(dir.path(), &none, "run");
    assert!(!found.join("checkpoints").exists());
    let whole = run(dir.path(), &none.replace("max_steps = 5", "max_steps = 9"), "whole");
    // One that is finished is not thrown away for a longer one.
    let before = files(&found);
    let longer = ["restart", "run", "--set", "time.max_steps=9"];
    let outcome = kolmo(dir.path(), longer);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("run is finished, and has no checkpoint"), "{}", outcome.err);
    assert!(before == files(&found));
    // As after a failure.
    fs::remove_file(found.join("summary.json")).unwrap();
    let outcome = done(dir.path(), longer);
    assert!(outcome.err.contains("there is no checkpoint: the run starts over"), "{}", outcome.err);
    assert_same(&found, &whole);
}

#[test]
fn going_on_from_an_older_step_sets_the_newer_aside() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), &input(10, 13), "whole");
    let found = run(dir.path(), &input(10, 13), "run");
    let outcome = done(dir.path(), ["restart", "run", "--from", "12"]);
    assert!(outcome.err.contains("continues from step 12"), "{}", outcome.err);
    let aside = found.join("checkpoints/step_00000013.zarr.left");
    assert!(aside.exists(), "{:?}", names(&found.join("checkpoints")));
    fs::remove_dir_all(aside).unwrap();
    assert_same(&found, &whole);
}

#[test]
fn a_damaged_checkpoint_is_named_and_the_one_before_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(dir.path(), &input(10, 13), "whole");
    let newest = "checkpoints/step_00000011.zarr";
    let damages: [(&str, Damage); 5] = [
        ("zarr.json", |file| flip(file, 40)),
        ("density/zarr.json", |file| flip(file, 5)),
        ("momentum_y/c.0.0.0", |file| flip(file, 100)),
        ("total_energy/c.0.0.0", |file| {
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("momentum_z/c.0.0.0", |file| fs::remove_file(file).unwrap()),
    ];
    for (number, (file, damage)) in damages.into_iter().enumerate() {
        let out = format!("run-{number}");
        let found = run(dir.path(), &input(10, 11), &out);
        damage(&found.join(newest).join(file));
        let outcome = done(dir.path(), ["restart", &out, "--set", "time.max_steps=13"]);
        let warning = format!("warning: not used: {out}/{newest}/{file}: ");
        assert!(outcome.err.contains(&warning), "{}", outcome.err);
        assert!(outcome.err.contains("continues from step 8"), "{}", outcome.err);
        let aside = found.join(format!("{newest}.damaged"));
        assert!(aside.exists());
        fs::remove_dir_all(aside).unwrap();
        assert_same(&found, &whole);
    }
}

type Damage = fn(&Path);

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[test]
fn where_no_checkpoint_is_sound_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 6), "run");
    for step in [4, 6] {
        flip(&found.join(format!("checkpoints/step_0000000{step}.zarr/density/c.0.0.0")), 60);
    }
    let before = files(&found);
    let outcome = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("error: run has no checkpoint that is sound"), "{}", outcome.err);
    assert!(
        outcome.err.contains("kolmo run run/config.toml --out run --overwrite"),
        "{}",
        outcome.err
    );
    assert!(before == files(&found));
}

/// Catches a checkpoint that is taken for damaged, and what was computed after the one before it removed, since it cannot be read here.
#[test]
fn a_checkpoint_of_a_newer_version_is_not_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 11), "run");
    let newest = found.join("checkpoints/step_00000011.zarr/zarr.json");
    fs::write(&newest, read(&newest).replace("\"format\": 2", "\"format\": 7")).unwrap();
    let before = files(&found);
    let refused = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=13"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("reads formats up to 2\n"), "{}", refused.err);
    assert!(refused.err.contains("`--from STEP` continues from an older one"), "{}", refused.err);
    assert!(before == files(&found));
    done(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=13"]);
    assert!(found.join("checkpoints/step_00000011.zarr.left").exists());
}

/// Catches boundaries that are left out where runs are compared.
#[test]
fn another_wall_is_another_flow() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[17, 17, 1]", "--set", "time.max_steps=4"];
    done(dir.path(), [&["run", "lid-driven-cavity", "--out", "run"][..], &set].concat());
    let before = files(&dir.path().join("run"));
    let other = "boundary.y={ low = 'wall', high = { kind = 'wall', velocity = [-3, 0, 0] } }";
    let further = ["restart", "run", "--set", "time.max_steps=6"];
    let outcome = kolmo(dir.path(), [&further[..], &["--set", other]].concat());
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("error: boundary.y = "), "{}", outcome.err);
    assert!(outcome.err.contains("velocity = [1.0, 0.0, 0.0]"), "{}", outcome.err);
    assert!(!outcome.err.contains("boundary.x"), "{}", outcome.err);
    assert!(outcome.err.contains("--allow-physics-change"), "{}", outcome.err);
    assert!(before == files(&dir.path().join("run")));
    done(dir.path(), further);
}

/// Catches a force that the case brings and the input does not name, which was said to be none.
#[test]
fn another_force_than_that_of_the_case_is_told_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let small = ["--set", "grid.points=[8, 17, 8]", "--set", "time.max_steps=1", "--out", "run"];
    done(dir.path(), [&["run", "poiseuille-flow"][..], &small].concat());
    let further = ["restart", "run", "--set", "time.max_steps=2", "--set", "forcing.kind=none"];
    let outcome = kolmo(dir.path(), further);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let told = "forcing.kind = \"none\"; the checkpoint has \"pressure-gradient\"";
    assert!(outcome.err.contains(told), "{}", outcome.err);
}

#[test]
fn another_flow_is_refused_unless_it_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 6), "run");
    let before = files(&found);
    let further = ["restart", "run", "--set", "time.max_steps=9"];
    for (set, told) in [
        ("case.reynolds=200", "case.reynolds = 200.0; the checkpoint has 100.0"),
        ("gas.gamma=1.3", "gas.gamma = 1.3; the checkpoint has 1.4"),
        ("grid.length=[7.0, 7.0, 7.0]", "grid.length = [7.0, 7.0, 7.0]; the checkpoint has that"),
    ] {
        let arguments = [&further[..], &["--set", set]].concat();
        let outcome = kolmo(dir.path(), &arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(told), "{}", outcome.err);
        assert!(outcome.err.contains("--allow-physics-change"), "{}", outcome.err);
        assert!(before == files(&found));
    }
    let allowed = ["--set", "case.reynolds=200", "--allow-physics-change"];
    let outcome = done(dir.path(), [&further[..], &allowed].concat());
    assert!(outcome.err.contains("warning: case.reynolds = 200.0"), "{}", outcome.err);
    assert!(read(found.join("config.toml")).contains("reynolds = 200.0"));
    // Scheme, precision and outputs may change.
    let set = ["scheme.derivative=compact8", "compute.precision=f32", "time.max_steps=12"];
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let outcome = done(dir.path(), [&["restart", "run"][..], &set].concat());
    assert!(outcome.err.contains("scheme.derivative = \"compact8\""), "{}", outcome.err);
    assert!(outcome.err.contains("the fields are converted"), "{}", outcome.err);
    assert_whole(&found, Series::read(&found.join("series.csv")).unwrap().rows());
}

/// Catches averages over the flow of before and another one.
#[test]
fn averages_begin_anew_with_another_flow() {
    let dir = tempfile::tempdir().unwrap();
    let often = "statistics = { every_steps = 1, quantities = [\"moments\"] }";
    let input = input(10, 6).replace("statistics = { every_steps = 5, from = 0.2 }", often);
    let weight = |name: &str, more: &[&str]| {
        let found = run(dir.path(), &input, name);
        let further = ["restart", name, "--set", "time.max_steps=8"];
        done(dir.path(), [&further[..], more].concat());
        let moments = read(found.join("statistics/moments.csv"));
        let mut lines = moments.lines().filter(|line| !line.starts_with('#'));
        let at = lines.next().unwrap().split(',').position(|name| name == "weight").unwrap();
        lines.next_back().unwrap().split(',').nth(at).unwrap().parse::<f64>().unwrap()
    };
    let same = weight("same", &[]);
    let other = weight("other", &["--set", "gas.prandtl=0.9", "--allow-physics-change"]);
    assert!(other < 0.5 * same, "{other} {same}");
}

#[test]
fn a_restart_that_is_refused_has_changed_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 9), "run");
    let spectra = read(found.join("statistics/spectra.csv"));
    fs::write(found.join("statistics/spectra.csv"), spectra.replacen("modes", "models", 1))
        .unwrap();
    let before = files(&found);
    for (set, code) in [
        (["--backend", "cuda"], 2),
        (["--set", "output.directory=elsewhere"], 2),
        (["--set", "output={ directory = 'elsewhere' }"], 2),
        (["--set", "case={ name = 'from-checkpoint', path = 'run' }"], 2),
        (["--set", "grid.points=[10, 10, 1]"], 2),
        (["--set", "time.max_steps=12"], 1),
    ] {
        let outcome = kolmo(dir.path(), [&["restart", "run", "--from", "8"][..], &set].concat());
        assert_eq!(outcome.code, Some(code), "{set:?}: {}", outcome.err);
        assert!(before == files(&found), "{set:?}");
    }
    fs::write(found.join("statistics/spectra.csv"), spectra).unwrap();
    // Nor is a file removed that a list of pictures names and that is none of the run's.
    fs::write(dir.path().join("victim"), "").unwrap();
    let list = r#"[{"file":"../../victim","plane":"xy","quantity":"v","time":1,"step":999,"min":0,"max":1}]"#;
    fs::write(found.join("slices/slices.json"), list).unwrap();
    fs::create_dir(found.join("fields/step_200")).unwrap();
    done(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
    assert!(dir.path().join("victim").exists() && found.join("fields/step_200").exists());
}

#[test]
fn what_is_not_gone_on_with_keeps_nothing_of_later_steps() {
    let dir = tempfile::tempdir().unwrap();
    let found = run(dir.path(), &input(10, 12), "run");
    let set = [
        "output.statistics={ every_steps = 5, quantities = [\"moments\"] }",
        "output.fields=none",
        "output.planes={ every_steps = 1, z = [1.0] }",
        "time.max_steps=9",
    ];
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    done(dir.path(), [&["restart", "run", "--from", "8"][..], &set].concat());
    let steps = |name: &str| {
        let text = read(found.join(name));
        let steps = text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse());
        steps.map(|step: std::result::Result<u64, _>| step.unwrap()).max().unwrap()
    };
    assert_eq!(steps("statistics/spectra.csv"), 5);
    assert_eq!(steps("statistics/moments.csv"), 9);
    let last = |folder: &str| names(&found.join(folder)).pop().unwrap();
    assert!(last("fields").as_str() < "step_00000009");
    assert!(last("planes/x_1.25664").as_str() < "step_00000009");
}

#[test]
fn only_one_process_runs_in_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let long = input(16, 1_000_000);
    fs::write(dir.path().join("input.toml"), long).unwrap();
    let mut first = Command::new(program())
        .args(["run", "input.toml", "--out", "run"])
        .current_dir(dir.path())
        .env("CUDA_VISIBLE_DEVICES", "")
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = std::time::Instant::now();
    while checkpoint::steps(&dir.path().join("run/checkpoints")).is_empty() {
        assert!(start.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let again = ["run", "input.toml", "--out", "run", "--overwrite"];
    let outcomes = [kolmo(dir.path(), ["restart", "run"]), kolmo(dir.path(), again)];
    first.kill().unwrap();
    first.wait().unwrap();
    for outcome in outcomes {
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains("another process is running in run"), "{}", outcome.err);
    }
    let newest = checkpoint::steps(&dir.path().join("run/checkpoints"))[0];
    let end = format!("time.max_steps={}", newest + 1);
    done(dir.path(), ["restart", "run", "--set", &end]);
}

#[test]
fn the_fields_are_interpolated_where_the_grid_has_other_points() {
    let dir = tempfile::tempdir().unwrap();
    let text = input(16, 2).replace("filter", "# filter");
    let found = run(dir.path(), &text, "run");
    let mass = |run: &Path, last: bool| {
        let series = Series::read(&run.join("series.csv")).unwrap();
        let column = |name: &str| {
            let column = series.column(name).unwrap();
            if last { column[column.len() - 1] } else { column[0] }
        };
        [column("mass"), column("total_energy"), column("kinetic_energy")]
    };
    let before = mass(&found, true);
    // The vortex has few waves by now: all of them fit into each of these grids.
    for (number, points) in ["[24, 20, 16]", "[15, 17, 19]", "[32, 32, 32]"].iter().enumerate() {
        let further = format!(
            "[case]\nname = \"from-checkpoint\"\npath = \"run\"\n[grid]\npoints = {points}\n[time]\nmax_steps = 4\n"
        );
        fs::write(dir.path().join("next.toml"), further).unwrap();
        let out = format!("next-{number}");
        let outcome = done(dir.path(), ["run", "next.toml", "--out", &out]);
        assert!(outcome.err.contains("the fields are interpolated"), "{}", outcome.err);
        let after = mass(&dir.path().join(&out), false);
        for (quantity, (before, after)) in before.iter().zip(after).enumerate() {
            // Products of two waves are cut off where the grid is coarser.
            let allowed = if quantity < 2 { 1e-13 } else { 1e-6 };
            assert!(
                (before - after).abs() < allowed * before,
                "{points} {quantity} {before} {after}"
            );
        }
    }
    // A restart in place does the same.
    let set = ["--set", "grid.points=[20, 20, 20]", "--set", "time.max_steps=4"];
    done(dir.path(), [&["restart", "run"][..], &set].concat());
    assert_eq!(Series::read(&found.join("series.csv")).unwrap().rows(), 3);
}

#[test]
fn a_new_run_starts_from_the_checkpoint_of_another() {
    let dir = tempfile::tempdir().unwrap();
    // No times to land on, which the new run has not.
    let input = |steps| input(10, steps).replace("every_time = 0.11", "every_steps = 5");
    let whole = run(dir.path(), &input(11), "whole");
    run(dir.path(), &input(6), "first");
    let from = |path: &str, further: &str| {
        format!(
            "[case]\nname = \"from-checkpoint\"\npath = \"{path}\"\n{further}\n[compute]\nthreads = 1\n\
             [output]\nseries = {{ every_steps = 3 }}\ncheckpoint = {{ every_steps = 4 }}\n"
        )
    };
    let time = "[time]\nmax_steps = 11";
    let paths =
        ["first", "first/checkpoints/step_00000006.zarr", "first/checkpoints/step_00000004.zarr"];
    for (number, path) in paths.iter().enumerate() {
        let out = format!("second-{number}");
        let found = run(dir.path(), &from(path, time), &out);
        let last = |run: &Path| read(run.join("series.csv")).lines().last().unwrap().to_string();
        assert_eq!(last(&found), last(&whole), "{path}");
        let rows = Series::read(&found.join("series.csv")).unwrap();
        assert_eq!(rows.column("step").unwrap()[0], if number < 2 { 6.0 } else { 4.0 });
        // What was resolved repeats the run, also elsewhere.
        let config = found.join("config.toml");
        fs::create_dir_all(dir.path().join("else/where")).unwrap();
        let again = ["run", config.to_str().unwrap(), "--out", &format!("{number}")];
        done(&dir.path().join("else/where"), again);
        assert_eq!(last(&dir.path().join(format!("else/where/{number}"))), last(&found));
        // And goes on, where the first is gone.
        fs::rename(dir.path().join("first"), dir.path().join("away")).unwrap();
        done(dir.path(), ["restart", &out, "--set", "time.max_steps=14"]);
        fs::rename(dir.path().join("away"), dir.path().join("first")).unwrap();
    }
    // Not in the place of what it starts from, and not to where that is already.
    fs::write(dir.path().join("input.toml"), from("first", time)).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "first", "--overwrite"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("first would be replaced"), "{}", outcome.err);
    fs::write(dir.path().join("input.toml"), from("first", "[time]\nmax_steps = 5")).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("where this run is to end"), "{}", outcome.err);
    for (further, told) in [
        ("[time]\nmax_steps = 11\n[gas]\ngamma = 1.3", "gas.gamma = 1.3; the checkpoint has 1.4"),
        ("mach = 0.2", "case.mach = 0.2; the checkpoint has 0.1"),
        ("speed = 1", "unknown key `speed`"),
    ] {
        fs::write(dir.path().join("input.toml"), from("first", further)).unwrap();
        let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(told), "{}", outcome.err);
        assert!(!dir.path().join("refused").exists());
    }
    for (text, told) in [
        (
            from("nowhere", time),
            "2: path = nowhere: neither a checkpoint nor a run with a sound one",
        ),
        (from("first", time).replace("path", "#"), "2: `case.path` is missing"),
        (from("first", time).replace("\"first\"", "7"), "3: path = 7: found a whole number"),
    ] {
        fs::write(dir.path().join("input.toml"), text).unwrap();
        let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains(&format!("input.toml:{told}")), "{}", outcome.err);
    }
}
