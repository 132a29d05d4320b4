//! Foreign files: in place of files that are read, and at paths that are to be written.

use super::*;

/// A finished run of [`SMALL_RUN`] with one checkpoint, at its last step.
fn finished(directory: &Path) -> PathBuf {
    let set = ["--set", "output.fields=none", "--set"];
    let checkpoint = "output.checkpoint={ every_steps = 4, keep = 1 }";
    run_ok(directory, small_run(&[&set[..], &[checkpoint, "--out", "run"]].concat()));
    directory.join("run")
}

/// Run `kolmo` with a time limit of 20 s. The exit status is 124 if the program blocks.
fn kolmo_with_timeout(directory: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("timeout");
    command.args(["20", program()]).args(arguments).current_dir(directory);
    command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap().into()
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn named_pipes_and_devices_are_rejected_without_blocking() {
    let dir = tempfile::tempdir().unwrap();
    let run = finished(dir.path());
    let restart = ["restart", "run", "--set", "time.max_steps=6"];
    let rows: [(&str, &[&str], i32, &str); 9] = [
        (
            "config.toml",
            &["run", "run/config.toml"],
            2,
            "config.toml: cannot be read: a named pipe, not a regular file",
        ),
        ("config.toml", &["plot", "run"], 1, "config.toml: a named pipe"),
        ("series.csv", &["plot", "run"], 1, "series.csv: a named pipe"),
        ("reference.csv", &["plot", "run"], 1, "reference.csv: a named pipe"),
        ("slices/slices.json", &["plot", "run"], 1, "slices.json: a named pipe"),
        ("summary.json", &["compare", "run"], 1, "summary.json: a named pipe"),
        ("checkpoints/step_00000004.zarr/zarr.json", &restart, 2, "zarr.json: a named pipe"),
        (
            "checkpoints/step_00000004.zarr/density/zarr.json",
            &restart,
            2,
            "zarr.json: a named pipe",
        ),
        (
            "rates.json",
            &["model", "--ranks", "1", "--rates", "run/rates.json"],
            2,
            "rates.json: a named pipe",
        ),
    ];
    for (name, arguments, code, message) in rows {
        let (file, aside) = (run.join(name), dir.path().join("aside"));
        let exists = file.exists();
        if exists {
            fs::rename(&file, &aside).unwrap();
        }
        make_pipe(&file);
        let outcome = kolmo_with_timeout(dir.path(), arguments);
        assert_eq!(outcome.code, Some(code), "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{name}: {}", outcome.stderr);
        fs::remove_file(&file).unwrap();
        if exists {
            fs::rename(&aside, &file).unwrap();
        }
    }
    let outcome = kolmo_with_timeout(dir.path(), &["run", "/dev/zero"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("/dev/zero: cannot be read: a device"), "{}", outcome.stderr);
    // The same holds for a pipe at the path of an output file.
    make_pipe(&dir.path().join("run/report.html.part"));
    let outcome = kolmo_with_timeout(dir.path(), &["plot", "run"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
}

#[test]
fn report_embeds_only_files_that_belong_to_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let run = finished(dir.path());
    fs::write(dir.path().join("secret"), "the secret of somebody else").unwrap();
    let list = read(run.join("slices/slices.json"));
    let mut entries: serde_json::Value = serde_json::from_str(&list).unwrap();
    let picture = entries[0]["file"].as_str().unwrap().to_string();
    let absolute = dir.path().join("secret").to_str().unwrap().to_string();
    let assert_rejected = |message: &str| {
        let outcome = kolmo(dir.path(), ["plot", "run"]);
        let code = if message.contains("a link to ") { 2 } else { 1 };
        assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    };
    for name in ["../../secret", &absolute, "step_00000000_xy.png/../../../secret"] {
        entries[0]["file"] = name.into();
        fs::write(run.join("slices/slices.json"), entries.to_string()).unwrap();
        assert_rejected("is not the name of a picture of a run");
    }
    fs::write(run.join("slices/slices.json"), list).unwrap();
    let png = fs::read(run.join("slices").join(&picture)).unwrap();
    // A valid foreign picture is rejected as well.
    fs::write(dir.path().join("other.png"), &png).unwrap();
    for other in ["secret", "other.png"] {
        fs::remove_file(run.join("slices").join(&picture)).unwrap();
        std::os::unix::fs::symlink(dir.path().join(other), run.join("slices").join(&picture))
            .unwrap();
        assert_rejected("a link to ");
    }
    fs::remove_file(run.join("slices").join(&picture)).unwrap();
    fs::write(run.join("slices").join(&picture), "text").unwrap();
    assert_rejected("it is not a PNG picture");
    fs::write(run.join("slices").join(&picture), png).unwrap();
    run_ok(dir.path(), ["plot", "run"]);
    fs::remove_file(run.join("config.toml")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), run.join("config.toml")).unwrap();
    assert_rejected("a link to ");
}

#[test]
fn foreign_output_files_are_replaced_only_with_overwrite() {
    let dir = tempfile::tempdir().unwrap();
    finished(dir.path());
    let model = ["model", "--ranks", "8", "--network", "flat", "--plot"];
    for (files, command) in [
        (
            &["page.html", "page-kinetic_energy.svg"][..],
            &["compare", "run", "--out", "page.html"][..],
        ),
        (&["run/report.html"], &["compare", "run", "--out", "run/report.html"]),
        (&["plot.svg"], &[&model[..], &["plot.svg"]].concat()),
        (
            &["order/converge.html", "order/converge.svg"],
            &[
                "converge",
                "entropy-wave",
                "--points",
                "8,12",
                "--set",
                "time={ end = 0.1, dt = 0.05 }",
                "--out",
                "order",
            ],
        ),
    ] {
        let is_report = files == ["run/report.html"];
        for file in files {
            let path = dir.path().join(file);
            if !is_report {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "mine").unwrap();
            }
            let before = read(&path);
            let outcome = kolmo(dir.path(), command);
            assert_eq!(outcome.code, Some(2), "{file}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("--overwrite"), "{file}: {}", outcome.stderr);
            assert_eq!(read(&path), before);
            if !is_report {
                fs::remove_file(&path).unwrap();
            }
        }
        if !is_report {
            run_ok(dir.path(), command);
        }
        let overwrite = [command, &["--overwrite"]].concat();
        run_ok(dir.path(), &overwrite);
        // A command may replace its own output, except for `converge`, whose table takes long to compute.
        if command[0] != "converge" {
            run_ok(dir.path(), command);
        }
    }
}

#[test]
fn control_characters_from_users_or_files_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let control = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let run = finished(dir.path());
    // Escapes of TOML, so that the parsed key and value contain the control characters.
    let escaped = control.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
    let input = format!("\"a{escaped}\" = 1\n[case]\nname = \"x{escaped}\"\n");
    fs::write(dir.path().join("in.toml"), input).unwrap();
    fs::write(dir.path().join("bad.toml"), format!("[case]\nname = {control}\n")).unwrap();
    let series = read(run.join("series.csv"));
    let missing = format!("no{control}");
    let set = format!("time.cfl={control}");
    let commands: [&[&str]; 8] = [
        &["run", "in.toml"],
        &["run", "bad.toml"],
        &["run", &missing],
        &["init", &missing],
        &["plot", &missing],
        &["run", "taylor-green", "--set", &set],
        &["run", "taylor-green", &missing],
        &["plot", "run"],
    ];
    fs::write(run.join("series.csv"), series.replace("0,0.0,", &format!("0,{control},"))).unwrap();
    for command in commands {
        let outcome = kolmo(dir.path(), command);
        assert!(matches!(outcome.code, Some(1 | 2)), "{command:?}: {}", outcome.stderr);
        // Lines quoted from an input file show spaces in place of control characters.
        let is_sanitized = command[1].ends_with("toml") || outcome.stderr.contains("\\u009b");
        assert!(is_sanitized, "{command:?}: {:?}", outcome.stderr);
        let is_control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!(outcome.stderr + &outcome.stdout).contains(is_control), "{command:?}");
    }
    // The names of runs on standard output are escaped as well.
    fs::write(run.join("series.csv"), series).unwrap();
    fs::rename(&run, dir.path().join(&missing)).unwrap();
    let outcome = run_ok(dir.path(), ["compare", &missing]);
    assert!(
        outcome.stdout.contains("\\u001b[2J") && !outcome.stdout.contains('\u{1b}'),
        "{:?}",
        outcome.stdout
    );
}

#[test]
fn run_whose_time_step_does_not_change_the_time_fails_as_stalled() {
    let dir = tempfile::tempdir().unwrap();
    finished(dir.path());
    // Without `time.end` the step cannot be checked against the end before the run.
    let set = ["time.dt=1e-20", "time.max_steps=1000000000"].map(|set| ["--set", set]).concat();
    let outcome = kolmo_with_timeout(dir.path(), &[&["restart", "run"][..], &set].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the run stalled at step 4, t = "), "{}", outcome.stderr);
}
