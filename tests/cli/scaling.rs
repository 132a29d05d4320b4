//! `kolmo plot-scaling`: its numbers are those of the files, and files that cannot be compared are rejected.

use serde_json::{Value, json};

use super::*;

/// Runs `kolmo bench step --weak --json` on one rank; writes what it prints to `name`, and returns it.
fn measure(directory: &Path, name: &str, further: &[&str]) -> Value {
    let words =
        "bench step --weak --ranks all --points 16 --repeats 1 --backend cpu --threads 1 --json";
    let words: Vec<&str> = words.split(' ').chain(further.iter().copied()).collect();
    let text = run_ok(directory, words).stdout;
    fs::write(directory.join(name), &text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn write(directory: &Path, name: &str, value: &Value) {
    fs::write(directory.join(name), value.to_string()).unwrap();
}

/// What that job would print on `ranks` ranks, with a step of `seconds`.
fn on_ranks(job: &Value, ranks: usize, seconds: f64) -> Value {
    let mut job = job.clone();
    let row = &mut job["results"][0];
    row["ranks"] = json!(ranks);
    row["decomposition"] = json!([1, 1, ranks]);
    row["seconds"] = json!({ "min": 0.9 * seconds, "median": seconds });
    row["phase_seconds"] = json!({
        "local": { "min": 0.1, "median": 0.5 * seconds },
        "pack": { "min": 0.1, "median": 0.125 * seconds },
        "communicate": { "min": 0.1, "median": 0.25 * seconds },
        "reduced": { "min": 0.0, "median": 0.0 },
    });
    row["predicted_seconds"] =
        json!({ "local": 0.6, "pack": 0.1, "communicate": 0.3, "reduced": 0.0, "all": 1.0 });
    for (axis, part) in [("x", 0.0), ("y", 0.0625), ("z", 0.1875)] {
        row["phase_seconds"][format!("communicate_{axis}")] =
            json!({ "min": 0.0, "median": part * seconds });
        row["predicted_seconds"][format!("communicate_{axis}")] = json!(part);
    }
    job
}

/// Rows of the CSV file, as cells. A comma within quotes is followed by a space, and becomes a semicolon.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let cell = |cell: &str| cell.trim_matches('"').to_string();
    let row = |line: &str| line.replace(", ", "; ").split(',').map(cell).collect();
    read(path).lines().map(row).collect()
}

/// Catches a time, or the messages along an axis, in the wrong column.
#[test]
fn efficiencies_follow_from_the_times_in_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let job = measure(dir.path(), "real.json", &[]);
    run_ok(dir.path(), ["plot-scaling", "real.json", "--out", "real"]);
    for (ranks, seconds) in [(2, 2.0), (8, 2.5), (64, 4.0)] {
        write(dir.path(), &format!("weak-{ranks}.json"), &on_ranks(&job, ranks, seconds));
    }
    let model = "model --points-per-rank 16 --ranks 2,8,64,512 --method pcr --network torus --json";
    fs::write(at("model.json"), run_ok(dir.path(), model.split(' ')).stdout).unwrap();
    let files = ["weak-64.json", "model.json", "weak-2.json", "weak-8.json"];
    let stdout = run_ok(dir.path(), [&["plot-scaling"], &files[..]].concat()).stdout;
    assert!(stdout.contains("Weak scaling, 16x16x16 points per rank, compact6, f64"), "{stdout}");
    assert!(stdout.contains("efficiency relative to 2 ranks"), "{stdout}");
    assert!(
        stdout.ends_with("scaling-weak.svg\nscaling-weak-phases.svg\nscaling.csv\n"),
        "{stdout}"
    );

    let rows = rows(&at("scaling.csv"));
    let efficiencies = |series: &str| -> Vec<(String, f64)> {
        let own = rows.iter().filter(|row| row[1] == series);
        own.map(|row| (row[3].clone(), row[9].parse().unwrap())).collect()
    };
    let numbers = |pairs: [(u32, f64); 3]| pairs.map(|(ranks, e)| (ranks.to_string(), e)).to_vec();
    assert_eq!(efficiencies("measured"), numbers([(2, 1.0), (8, 0.8), (64, 0.5)]));
    assert_eq!(
        efficiencies("modelled; rates of the jobs"),
        numbers([(2, 1.0), (8, 1.0), (64, 1.0)])
    );
    let row = rows.iter().find(|row| row[1] == "measured" && row[3] == "8").unwrap();
    assert_eq!(row[2], "weak-8.json");
    assert_eq!(row[4..9], ["1", "1", "8", "2.5", "2.25"].map(String::from));
    let own = ["1.25", "0.3125", "0.625", "0.0", "0.0", "0.15625", "0.46875"];
    assert_eq!(row[10..], own.map(String::from));
    // In a model, every message is along one of the axes.
    let modelled = rows.iter().find(|row| row[1].contains("torus") && row[3] == "8").unwrap();
    let seconds: Vec<f64> = modelled[10..].iter().map(|cell| cell.parse().unwrap()).collect();
    let axis_sum: f64 = seconds[4..].iter().sum();
    assert!(seconds[4] > 0.0 && (axis_sum - seconds[2]).abs() < 0.01 * seconds[2], "{seconds:?}");
    let quoted = "\"modelled, torus, pcr\"";
    assert_eq!(read(at("scaling.csv")).matches(quoted).count(), 4);

    // The step of 2.5 s consists of 2.1875 s of phases and a remainder.
    let line = stdout.lines().find(|line| line.starts_with("measured") && line.contains(" 1x1x8 "));
    let words: Vec<&str> = line.unwrap().split_whitespace().skip(3).collect();
    let own = ["2500.000", "80.0", "1250.000", "312.500", "625.000", "0.000", "312.500"];
    assert_eq!(words, [&own[..], &["0.000", "156.250", "468.750"]].concat());
    for picture in ["scaling-weak.svg", "scaling-weak-phases.svg"] {
        let svg = read(at(picture));
        assert!(svg.contains("measured") && svg.contains("modelled, torus, pcr"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    // Modelled bars are pale with a border, measured bars are not.
    let svg = read(at("scaling-weak-phases.svg"));
    assert_eq!(svg.matches("stroke-dasharray=\"4 3\"").count(), 3 + 4);

    // Efficiency relative to 8 ranks, with a repeated job. Files of `kolmo plot-scaling` itself are replaced without `--overwrite`.
    write(dir.path(), "again.json", &on_ranks(&job, 8, 2.0));
    let outcome = run_ok(
        dir.path(),
        "plot-scaling weak-2.json weak-8.json again.json weak-64.json --base 8".split(' '),
    );
    assert!(outcome.stdout.contains(
        "8 ranks, more than once: the figure shows the step of 2000.0000 ms in again.json, not that of 2500"
    ));
    let efficiencies: Vec<f64> =
        self::rows(&at("scaling.csv"))[1..4].iter().map(|row| row[9].parse().unwrap()).collect();
    assert_eq!(efficiencies, [1.0, 1.0, 0.5]);
}

#[test]
fn strong_scaling_efficiency_counts_all_ranks_and_has_separate_figures() {
    let dir = tempfile::tempdir().unwrap();
    let job = measure(dir.path(), "job.json", &[]);
    for (ranks, seconds) in [(1, 8.0), (4, 4.0)] {
        let mut job = on_ranks(&job, ranks, seconds);
        job["results"][0]["scaling"] = json!("strong");
        job["results"][0]["points"] = json!([16, 16, 16 / ranks]);
        write(dir.path(), &format!("strong-{ranks}.json"), &job);
    }
    let words = "plot-scaling job.json strong-1.json strong-4.json --out new/both";
    let stdout = run_ok(dir.path(), words.split(' ')).stdout;
    assert!(stdout.contains("Strong scaling, 16x16x16 points, "), "{stdout}");
    let rows = rows(&dir.path().join("new/both.csv"));
    let row = rows.iter().find(|row| row[0] == "strong" && row[3] == "4").unwrap();
    assert_eq!(row[9], "0.5");
    assert_eq!(
        file_names(&dir.path().join("new")),
        [
            "both-strong-phases.svg",
            "both-strong.svg",
            "both-weak-phases.svg",
            "both-weak.svg",
            "both.csv"
        ]
    );
}

/// Catches a figure of jobs that differ, a file that is read in part, and an invalid number.
#[test]
fn plot_scaling_rejects_unusable_files_and_names_file_and_field() {
    let dir = tempfile::tempdir().unwrap();
    let job = measure(dir.path(), "a.json", &[]);
    measure(dir.path(), "f32.json", &["--precision", "f32"]);
    measure(dir.path(), "set.json", &["--set", "scheme.convection=feiereisen"]);
    measure(dir.path(), "scheme.json", &["--set", "scheme.derivative=compact4"]);
    measure(dir.path(), "points.json", &["--points", "16x16x18"]);
    let write_changed = |name: &str, pointer: &str, value: Value| {
        let mut job = on_ranks(&job, 2, 1.0);
        *job.pointer_mut(pointer).unwrap() = value;
        write(dir.path(), name, &job);
    };
    write_changed("cpu.json", "/machine/cpu", json!("another"));
    write_changed("threads.json", "/results/0/threads", json!(7));
    write_changed("zero.json", "/results/0/seconds/median", json!(0.0));
    write_changed("negative.json", "/results/0/phase_seconds/pack/median", json!(-1.0));
    write_changed("nobody.json", "/results/0/ranks", json!(0));
    write_changed("failed.json", "/failures", json!(["step on 16x16x16: wrong"]));
    write_changed("text.json", "/results/0/seconds", json!("fast"));
    for (name, text) in [
        ("empty.json", ""),
        ("half.json", "{\"machine\": {"),
        ("list.json", "[1, 2]"),
        ("other.json", "{\"rows\": []}"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let copy = "bench copy --points 8 --repeats 1 --json";
    fs::write(dir.path().join("copy.json"), run_ok(dir.path(), copy.split(' ')).stdout).unwrap();
    for (name, words) in [
        (
            "model.json",
            "model --points-per-rank 16 --ranks 8,64 --method pcr --network torus --json",
        ),
        ("many.json", "model --points-per-rank 16 --ranks 1,8 --json"),
        (
            "wave.json",
            "model shear-wave --points-per-rank 16 --ranks 1 --method pcr --network torus --json",
        ),
        (
            "lines.json",
            "model --derivative x --points-per-rank 16 --ranks 1 --method pcr --network torus --json",
        ),
    ] {
        fs::write(dir.path().join(name), run_ok(dir.path(), words.split(' ')).stdout).unwrap();
    }
    for (files, message) in [
        ("", "required arguments were not provided"),
        ("none.json", "cannot read none.json: "),
        (".", "cannot read .: a directory, not a regular file"),
        ("a.json empty.json", "error: empty.json: EOF"),
        ("half.json", "error: half.json: EOF"),
        ("list.json", "list.json: neither a measurement nor a model"),
        ("other.json", "other.json: neither a measurement nor a model"),
        ("copy.json", "copy.json: no steps of `--weak` or `--strong`"),
        ("text.json", "text.json: invalid type: string \"fast\""),
        ("zero.json", "zero.json: seconds.median is 0; it must be more than 0"),
        ("negative.json", "negative.json: phase_seconds.pack is -1; it must be 0 or more"),
        ("nobody.json", "nobody.json: ranks is 0; it must be 1 or more"),
        ("failed.json", "failed.json: the measurement failed: step on 16x16x16: wrong"),
        ("a.json f32.json", "f32.json: precision is f32, but f64 in a.json"),
        ("a.json set.json", "set.json: set is scheme.convection=feiereisen, but none in a.json"),
        ("a.json scheme.json", "scheme.json: scheme is compact4, but compact6 in a.json"),
        ("a.json points.json", "points.json: points is 16x16x18, but 16x16x16 in a.json"),
        ("a.json cpu.json", "cpu.json: cpu is another, but "),
        ("a.json threads.json", "threads.json: threads is 7, but 1 in a.json"),
        ("f32.json model.json", "model.json: precision is f64, but f32 in f32.json"),
        (
            "a.json lines.json",
            "lines.json: of is first derivatives of one field by compact6 along x, but",
        ),
        (
            "a.json wave.json",
            "wave.json: of is a step of shear-wave, but a step of taylor-green in a.json",
        ),
        ("model.json", "no measurement of weak scaling"),
        (
            "a.json model.json",
            "relative to 1 rank, but modelled, torus, pcr has no time on that many",
        ),
        ("a.json many.json", "16 modelled curves are too many for one figure"),
        ("a.json --base 8", "relative to 8 ranks, but measured has no time on that many"),
        ("a.json --base 0", "1.."),
        ("a.json --out a.json/x", "a.json"),
    ] {
        let before = file_names(dir.path());
        let outcome =
            kolmo(dir.path(), ["plot-scaling"].into_iter().chain(files.split_whitespace()));
        assert!(matches!(outcome.code, Some(1 | 2)), "{files}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{files}: {}", outcome.stderr);
        assert!(
            outcome.stdout.is_empty() && !outcome.stderr.contains("panicked"),
            "{}",
            outcome.stderr
        );
        assert_eq!(file_names(dir.path()), before, "{files}: a file was written");
    }
    // A file that `kolmo plot-scaling` did not write.
    fs::write(dir.path().join("scaling.csv"), "my,own,table\n").unwrap();
    let outcome = kolmo(dir.path(), ["plot-scaling", "a.json"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("scaling.csv would be replaced"), "{}", outcome.stderr);
    assert!(!dir.path().join("scaling-weak.svg").exists());
    run_ok(dir.path(), ["plot-scaling", "a.json", "--overwrite"]);
    assert!(read(dir.path().join("scaling.csv")).starts_with("scaling,series,"));
}
