//! Restarts from a checkpoint, which give the same results as an uninterrupted run.

use std::collections::BTreeMap;

use kolmo::io::checkpoint;

use super::*;

/// Input of a Taylor-Green vortex that writes every kind of output, for `steps` steps.
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

/// The content of every file of a run by its path, except files that record the machine or times.
pub(super) fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
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
                // Contains how long the run took.
                || name.starts_with("checkpoints/") && name.ends_with(".zarr/zarr.json"))
            {
                // Of plots, only the names are compared.
                let bytes = || fs::read(&path).unwrap();
                contents.insert(name, if is_plot { Vec::new() } else { bytes() });
            }
        }
    }
    contents
}

/// Asserts that two runs wrote the same files with the same bytes. Of their checkpoints, only the newest are compared.
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
    run_ok(dir, ["run", "input.toml", "--out", out]);
    dir.join(out)
}

#[test]
fn a_restarted_run_writes_the_same_bytes_as_an_uninterrupted_run() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = run(dir.path(), &input(12, 23), "whole");
    // The first part ends at a checkpoint, between two, and where fields and planes are due or not.
    for first in [8, 9, 14, 22] {
        let parts = run(dir.path(), &input(12, first), &format!("parts-{first}"));
        let parts = parts.to_str().unwrap();
        let outcome = run_ok(dir.path(), ["restart", parts, "--set", "time.max_steps=23"]);
        let message = format!("continues from step {first}, t = ");
        assert!(outcome.stderr.contains(&message), "{}", outcome.stderr);
        assert_same(Path::new(parts), &uninterrupted);
        assert_eq!(summary(Path::new(parts))["restarts"], serde_json::json!([first]));
        run_script("tests/readback.py", &[Path::new(parts)]);
    }
}

/// Catches a report of both parts with the configuration of the last one, and changes that are not recorded.
#[test]
fn report_and_log_record_the_changes_at_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let parts = run(dir.path(), &input(12, 4), "parts");
    let repeats = "<code>kolmo run config.toml</code> repeats this run.";
    assert!(read(parts.join("report.html")).contains(repeats));
    let change = ["--set", "scheme.filter=\"none\"", "--set", "time={ max_steps = 6, cfl = 0.2 }"];
    run_ok(dir.path(), [&["restart", "parts"][..], &change].concat());
    let (report, log) = (read(parts.join("report.html")), read(parts.join("log.jsonl")));
    assert!(report.contains("since the last restart (at step 4)") && !report.contains(repeats));
    for changed in ["scheme.filter = ", "time.cfl = 0.2; the checkpoint has "] {
        assert!(log.contains(changed), "{changed}: {log}");
    }
}

#[test]
fn a_run_restarts_on_another_backend() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = run(dir.path(), &input(12, 12), "whole");
    let series = |run: &Path| Series::read(&run.join("series.csv")).unwrap();
    let expected = series(&uninterrupted);
    for (number, [first, second]) in [["cpu", "opencl"], ["opencl", "cpu"]].iter().enumerate() {
        let out = format!("parts-{number}");
        let set = ["--set", "time.max_steps=6", "--backend", first, "--out", &out];
        run_ok(dir.path(), [&["run", "input.toml"][..], &set].concat());
        let set = ["--set", "time.max_steps=12", "--backend", second];
        run_ok(dir.path(), [&["restart", &out][..], &set].concat());
        let found = series(&dir.path().join(&out));
        assert_eq!(found.names(), expected.names());
        for name in expected.names() {
            let (a, b) = (found.column(name).unwrap(), expected.column(name).unwrap());
            assert_eq!(a.len(), b.len());
            let scale = b.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            let deviation = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(
                deviation <= 1e-12 * scale,
                "{first} to {second}, {name}: {deviation:e} of {scale:e}"
            );
        }
    }
}

#[test]
fn asynchronous_compressed_checkpoints_do_not_change_the_results() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = run(dir.path(), &input(12, 17), "whole");
    let input = |steps| {
        input(12, steps).replace("keep = 2", "keep = 2, asynchronous = true, compress = true")
    };
    let parts = run(dir.path(), &input(10), "parts");
    run_ok(dir.path(), ["restart", "parts", "--set", "time.max_steps=17"]);
    let (mut found, mut expected) = (files(&parts), files(&uninterrupted));
    let checkpoints = file_names(&parts.join("checkpoints"));
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
fn restart_reports_a_finished_run_and_rejects_paths_without_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 5), "run");
    let before = files(&directory);
    let stdout = run_ok(dir.path(), ["restart", "run"]).stdout;
    assert!(stdout.contains("run is finished: step 5"), "{stdout}");
    assert!(stdout.contains("kolmo restart run --set time.max_steps=10"), "{stdout}");
    assert!(before == files(&directory));
    // Keys that are set but have no effect are reported.
    let stdout = run_ok(dir.path(), ["restart", "run", "--set", "case.reynolds=50"]).stdout;
    assert!(stdout.contains("ignored, since nothing is left to do: case.reynolds=50"), "{stdout}");
    for path in [".", "nowhere", "input.toml"] {
        let outcome = kolmo(dir.path(), ["restart", path]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("holds no run"), "{}", outcome.stderr);
    }
    let outcome = kolmo(dir.path(), ["restart", "run", "--from", "3"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("no checkpoint of step 3"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("checkpoints of steps: 4, 5"), "{}", outcome.stderr);
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "run"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("kolmo restart run\n"), "{}", outcome.stderr);
}

#[test]
fn an_unfinished_run_without_checkpoints_starts_over_with_a_message() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoints = "checkpoint = { every_steps = 4, keep = 2 }";
    let without = input(10, 5).replace(checkpoints, "checkpoint = \"none\"");
    let directory = run(dir.path(), &without, "run");
    assert!(!directory.join("checkpoints").exists());
    let uninterrupted =
        run(dir.path(), &without.replace("max_steps = 5", "max_steps = 9"), "whole");
    // A finished run is not discarded for a longer one.
    let before = files(&directory);
    let longer = ["restart", "run", "--set", "time.max_steps=9"];
    let outcome = kolmo(dir.path(), longer);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("run is finished, and has no checkpoint"),
        "{}",
        outcome.stderr
    );
    assert!(before == files(&directory));
    // The state after a failure.
    fs::remove_file(directory.join("summary.json")).unwrap();
    let stderr = run_ok(dir.path(), longer).stderr;
    assert!(stderr.contains("there is no checkpoint: the run starts over"), "{stderr}");
    assert_same(&directory, &uninterrupted);
}

#[test]
fn restart_from_an_older_step_moves_newer_checkpoints_aside() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = run(dir.path(), &input(10, 13), "whole");
    let directory = run(dir.path(), &input(10, 13), "run");
    let outcome = run_ok(dir.path(), ["restart", "run", "--from", "12"]);
    assert!(outcome.stderr.contains("continues from step 12"), "{}", outcome.stderr);
    let aside = directory.join("checkpoints/step_00000013.zarr.left");
    assert!(aside.exists(), "{:?}", file_names(&directory.join("checkpoints")));
    fs::remove_dir_all(aside).unwrap();
    assert_same(&directory, &uninterrupted);
}

#[test]
fn a_damaged_checkpoint_is_reported_and_the_previous_one_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let uninterrupted = run(dir.path(), &input(10, 13), "whole");
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
        let directory = run(dir.path(), &input(10, 11), &out);
        damage(&directory.join(newest).join(file));
        let outcome = run_ok(dir.path(), ["restart", &out, "--set", "time.max_steps=13"]);
        let warning = format!("warning: not used: {out}/{newest}/{file}: ");
        assert!(outcome.stderr.contains(&warning), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("continues from step 8"), "{}", outcome.stderr);
        let aside = directory.join(format!("{newest}.damaged"));
        assert!(aside.exists());
        fs::remove_dir_all(aside).unwrap();
        assert_same(&directory, &uninterrupted);
    }
}

type Damage = fn(&Path);

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_restart_without_a_valid_checkpoint_changes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 6), "run");
    for step in [4, 6] {
        flip(&directory.join(format!("checkpoints/step_0000000{step}.zarr/density/c.0.0.0")), 60);
    }
    let before = files(&directory);
    let outcome = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=9"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("error: run has no checkpoint that is sound"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("kolmo run run/config.toml --out run --overwrite"),
        "{}",
        outcome.stderr
    );
    assert!(before == files(&directory));
}

/// Catches a checkpoint that is taken for damaged because this version cannot read it, and results removed after the previous checkpoint.
#[test]
fn a_checkpoint_of_a_newer_format_version_is_not_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 11), "run");
    let newest = directory.join("checkpoints/step_00000011.zarr/zarr.json");
    fs::write(&newest, read(&newest).replace("\"format\": 2", "\"format\": 7")).unwrap();
    let before = files(&directory);
    let rejected = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=13"]);
    assert_eq!(rejected.code, Some(2), "{}", rejected.stderr);
    assert!(rejected.stderr.contains("reads formats up to 2\n"), "{}", rejected.stderr);
    assert!(
        rejected.stderr.contains("`--from STEP` continues from an older one"),
        "{}",
        rejected.stderr
    );
    assert!(before == files(&directory));
    run_ok(dir.path(), ["restart", "run", "--from", "8", "--set", "time.max_steps=13"]);
    assert!(directory.join("checkpoints/step_00000011.zarr.left").exists());
}

/// Catches boundary conditions that are left out of the comparison with the checkpoint.
#[test]
fn restart_rejects_changed_boundary_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "grid.points=[17, 17, 1]", "--set", "time.max_steps=4"];
    run_ok(dir.path(), [&["run", "lid-driven-cavity", "--out", "run"][..], &set].concat());
    let before = files(&dir.path().join("run"));
    let other = "boundary.y={ low = 'wall', high = { kind = 'wall', velocity = [-3, 0, 0] } }";
    let further = ["restart", "run", "--set", "time.max_steps=6"];
    let outcome = kolmo(dir.path(), [&further[..], &["--set", other]].concat());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("error: boundary.y = "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("velocity = [1.0, 0.0, 0.0]"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("boundary.x"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--allow-physics-change"), "{}", outcome.stderr);
    assert!(before == files(&dir.path().join("run")));
    run_ok(dir.path(), further);
}

/// Catches a force that the case sets and the input does not contain, which was reported as none.
#[test]
fn changed_forcing_is_reported_together_with_the_forcing_of_the_case() {
    let dir = tempfile::tempdir().unwrap();
    let small = ["--set", "grid.points=[8, 17, 8]", "--set", "time.max_steps=1", "--out", "run"];
    run_ok(dir.path(), [&["run", "poiseuille-flow"][..], &small].concat());
    let further = ["restart", "run", "--set", "time.max_steps=2", "--set", "forcing.kind=none"];
    let outcome = kolmo(dir.path(), further);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = "forcing.kind = \"none\"; the checkpoint has \"pressure-gradient\"";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

#[test]
fn changed_physics_is_rejected_unless_it_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 6), "run");
    let before = files(&directory);
    let further = ["restart", "run", "--set", "time.max_steps=9"];
    for (set, message) in [
        ("case.reynolds=200", "case.reynolds = 200.0; the checkpoint has 100.0"),
        ("gas.gamma=1.3", "gas.gamma = 1.3; the checkpoint has 1.4"),
        ("grid.length=[7.0, 7.0, 7.0]", "grid.length = [7.0, 7.0, 7.0]; the checkpoint has that"),
    ] {
        let arguments = [&further[..], &["--set", set]].concat();
        let outcome = kolmo(dir.path(), &arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("--allow-physics-change"), "{}", outcome.stderr);
        assert!(before == files(&directory));
    }
    let allowed = ["--set", "case.reynolds=200", "--allow-physics-change"];
    let outcome = run_ok(dir.path(), [&further[..], &allowed].concat());
    assert!(outcome.stderr.contains("warning: case.reynolds = 200.0"), "{}", outcome.stderr);
    assert!(read(directory.join("config.toml")).contains("reynolds = 200.0"));
    // Scheme, precision and outputs may change.
    let set = ["scheme.derivative=compact8", "compute.precision=f32", "time.max_steps=12"];
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let outcome = run_ok(dir.path(), [&["restart", "run"][..], &set].concat());
    assert!(outcome.stderr.contains("scheme.derivative = \"compact8\""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the fields are converted"), "{}", outcome.stderr);
    assert_outputs_valid(&directory, Series::read(&directory.join("series.csv")).unwrap().rows());
}

/// Catches averages over both the previous flow and a different one.
#[test]
fn averages_start_over_when_the_physics_changes() {
    let dir = tempfile::tempdir().unwrap();
    let often = "statistics = { every_steps = 1, quantities = [\"moments\"] }";
    let input = input(10, 6).replace("statistics = { every_steps = 5, from = 0.2 }", often);
    let weight = |name: &str, more: &[&str]| {
        let directory = run(dir.path(), &input, name);
        let further = ["restart", name, "--set", "time.max_steps=8"];
        run_ok(dir.path(), [&further[..], more].concat());
        let moments = read(directory.join("statistics/moments.csv"));
        let mut lines = moments.lines().filter(|line| !line.starts_with('#'));
        let at = lines.next().unwrap().split(',').position(|name| name == "weight").unwrap();
        lines.next_back().unwrap().split(',').nth(at).unwrap().parse::<f64>().unwrap()
    };
    let same = weight("same", &[]);
    let other = weight("other", &["--set", "gas.prandtl=0.9", "--allow-physics-change"]);
    assert!(other < 0.5 * same, "{other} {same}");
}

#[test]
fn a_rejected_restart_changes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 9), "run");
    let spectra = read(directory.join("statistics/spectra.csv"));
    fs::write(directory.join("statistics/spectra.csv"), spectra.replacen("modes", "models", 1))
        .unwrap();
    let before = files(&directory);
    for (set, code) in [
        (["--backend", "cuda"], 2),
        (["--set", "output.directory=elsewhere"], 2),
        (["--set", "output={ directory = 'elsewhere' }"], 2),
        (["--set", "case={ name = 'from-checkpoint', path = 'run' }"], 2),
        (["--set", "grid.points=[10, 10, 1]"], 2),
        (["--set", "time.max_steps=12"], 1),
    ] {
        let outcome = kolmo(dir.path(), [&["restart", "run", "--from", "8"][..], &set].concat());
        assert_eq!(outcome.code, Some(code), "{set:?}: {}", outcome.stderr);
        assert!(before == files(&directory), "{set:?}");
    }
    fs::write(directory.join("statistics/spectra.csv"), spectra).unwrap();
    // A restart also does not remove a file that is listed in slices.json but not part of the run.
    fs::write(dir.path().join("victim"), "").unwrap();
    let list = r#"[{"file":"../../victim","plane":"xy","quantity":"v","time":1,"step":999,"min":0,"max":1}]"#;
    fs::write(directory.join("slices/slices.json"), list).unwrap();
    fs::create_dir(directory.join("fields/step_200")).unwrap();
    run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=12"]);
    assert!(dir.path().join("victim").exists() && directory.join("fields/step_200").exists());
}

#[test]
fn outputs_that_a_restart_discontinues_contain_no_later_steps() {
    let dir = tempfile::tempdir().unwrap();
    let directory = run(dir.path(), &input(10, 12), "run");
    let set = [
        "output.statistics={ every_steps = 5, quantities = [\"moments\"] }",
        "output.fields=none",
        "output.planes={ every_steps = 1, z = [1.0] }",
        "time.max_steps=9",
    ];
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    run_ok(dir.path(), [&["restart", "run", "--from", "8"][..], &set].concat());
    let steps = |name: &str| {
        let text = read(directory.join(name));
        let steps = text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse());
        steps.map(|step: std::result::Result<u64, _>| step.unwrap()).max().unwrap()
    };
    assert_eq!(steps("statistics/spectra.csv"), 5);
    assert_eq!(steps("statistics/moments.csv"), 9);
    let last = |folder: &str| file_names(&directory.join(folder)).pop().unwrap();
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
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("another process is running in run"), "{}", outcome.stderr);
    }
    let newest = checkpoint::steps(&dir.path().join("run/checkpoints"))[0];
    let end = format!("time.max_steps={}", newest + 1);
    run_ok(dir.path(), ["restart", "run", "--set", &end]);
}

#[test]
fn fields_are_interpolated_when_the_number_of_points_changes() {
    let dir = tempfile::tempdir().unwrap();
    let text = input(16, 2).replace("filter", "# filter");
    let directory = run(dir.path(), &text, "run");
    let integrals = |run: &Path, last: bool| {
        let series = Series::read(&run.join("series.csv")).unwrap();
        let column = |name: &str| {
            let column = series.column(name).unwrap();
            if last { column[column.len() - 1] } else { column[0] }
        };
        [column("mass"), column("total_energy"), column("kinetic_energy")]
    };
    let before = integrals(&directory, true);
    // The vortex has few wavenumbers at this time: each of these grids resolves all of them.
    for (number, points) in ["[24, 20, 16]", "[15, 17, 19]", "[32, 32, 32]"].iter().enumerate() {
        let further = format!(
            "[case]\nname = \"from-checkpoint\"\npath = \"run\"\n[grid]\npoints = {points}\n[time]\nmax_steps = 4\n"
        );
        fs::write(dir.path().join("next.toml"), further).unwrap();
        let out = format!("next-{number}");
        let outcome = run_ok(dir.path(), ["run", "next.toml", "--out", &out]);
        assert!(outcome.stderr.contains("the fields are interpolated"), "{}", outcome.stderr);
        let after = integrals(&dir.path().join(&out), false);
        for (quantity, (before, after)) in before.iter().zip(after).enumerate() {
            // Products of two waves are truncated where the grid is coarser.
            let tolerance = if quantity < 2 { 1e-13 } else { 1e-6 };
            assert!(
                (before - after).abs() < tolerance * before,
                "{points} {quantity} {before} {after}"
            );
        }
    }
    // A restart in the same directory interpolates too.
    let set = ["--set", "grid.points=[20, 20, 20]", "--set", "time.max_steps=4"];
    run_ok(dir.path(), [&["restart", "run"][..], &set].concat());
    assert_eq!(Series::read(&directory.join("series.csv")).unwrap().rows(), 3);
}

#[test]
fn a_new_run_starts_from_the_checkpoint_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    // Fields by steps, not by times: the new run has no such times, and would not shorten its steps to reach them.
    let input = |steps| input(10, steps).replace("every_time = 0.11", "every_steps = 5");
    let uninterrupted = run(dir.path(), &input(11), "whole");
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
        let directory = run(dir.path(), &from(path, time), &out);
        let last = |run: &Path| read(run.join("series.csv")).lines().last().unwrap().to_string();
        assert_eq!(last(&directory), last(&uninterrupted), "{path}");
        let rows = Series::read(&directory.join("series.csv")).unwrap();
        assert_eq!(rows.column("step").unwrap()[0], if number < 2 { 6.0 } else { 4.0 });
        // The resolved configuration repeats the run, also from another directory.
        let config = directory.join("config.toml");
        fs::create_dir_all(dir.path().join("else/where")).unwrap();
        let again = ["run", config.to_str().unwrap(), "--out", &format!("{number}")];
        run_ok(&dir.path().join("else/where"), again);
        assert_eq!(last(&dir.path().join(format!("else/where/{number}"))), last(&directory));
        // The run restarts even when the first run is gone.
        fs::rename(dir.path().join("first"), dir.path().join("away")).unwrap();
        run_ok(dir.path(), ["restart", &out, "--set", "time.max_steps=14"]);
        fs::rename(dir.path().join("away"), dir.path().join("first")).unwrap();
    }
    // It must not replace the run that it starts from, nor end at a step that this run has already reached.
    fs::write(dir.path().join("input.toml"), from("first", time)).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "first", "--overwrite"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("first would be replaced"), "{}", outcome.stderr);
    fs::write(dir.path().join("input.toml"), from("first", "[time]\nmax_steps = 5")).unwrap();
    let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("where this run is to end"), "{}", outcome.stderr);
    for (further, message) in [
        ("[time]\nmax_steps = 11\n[gas]\ngamma = 1.3", "gas.gamma = 1.3; the checkpoint has 1.4"),
        ("mach = 0.2", "case.mach = 0.2; the checkpoint has 0.1"),
        ("speed = 1", "unknown key `speed`"),
    ] {
        fs::write(dir.path().join("input.toml"), from("first", further)).unwrap();
        let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert!(!dir.path().join("refused").exists());
    }
    for (text, message) in [
        (
            from("nowhere", time),
            "2: path = nowhere: neither a checkpoint nor a run with a sound one",
        ),
        (from("first", time).replace("path", "#"), "2: `case.path` is missing"),
        (from("first", time).replace("\"first\"", "7"), "3: path = 7: found a whole number"),
    ] {
        fs::write(dir.path().join("input.toml"), text).unwrap();
        let outcome = kolmo(dir.path(), ["run", "input.toml", "--out", "refused"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("input.toml:{message}")), "{}", outcome.stderr);
    }
}
