//! Files of somebody else's: in the place of those that are read, and where something is to be written.

use super::*;

/// A finished run of [`SMALL`] with one checkpoint, that of its last step.
fn finished(directory: &Path) -> PathBuf {
    let set = ["--set", "output.fields=none", "--set"];
    let checkpoint = "output.checkpoint={ every_steps = 4, keep = 1 }";
    done(directory, small(&[&set[..], &[checkpoint, "--out", "run"]].concat()));
    directory.join("run")
}

/// Run `kolmo`, which must end by itself; where it waits for ever, the code is 124.
fn soon(directory: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("timeout");
    command.args(["20", program()]).args(arguments).current_dir(directory);
    command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap().into()
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let run = finished(dir.path());
    let go_on = ["restart", "run", "--set", "time.max_steps=6"];
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
        ("checkpoints/step_00000004.zarr/zarr.json", &go_on, 2, "zarr.json: a named pipe"),
        ("checkpoints/step_00000004.zarr/density/zarr.json", &go_on, 2, "zarr.json: a named pipe"),
        (
            "rates.json",
            &["model", "--ranks", "1", "--rates", "run/rates.json"],
            2,
            "rates.json: a named pipe",
        ),
    ];
    for (name, arguments, code, message) in rows {
        let (file, aside) = (run.join(name), dir.path().join("aside"));
        let is_there = file.exists();
        if is_there {
            fs::rename(&file, &aside).unwrap();
        }
        make_pipe(&file);
        let outcome = soon(dir.path(), arguments);
        assert_eq!(outcome.code, Some(code), "{name}: {}", outcome.err);
        assert!(outcome.err.contains(message), "{name}: {}", outcome.err);
        fs::remove_file(&file).unwrap();
        if is_there {
            fs::rename(&aside, &file).unwrap();
        }
    }
    let outcome = soon(dir.path(), &["run", "/dev/zero"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("/dev/zero: cannot be read: a device"), "{}", outcome.err);
    // Where a file is to be written in the place of a pipe, too.
    make_pipe(&dir.path().join("run/report.html.part"));
    let outcome = soon(dir.path(), &["plot", "run"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
}

#[test]
fn a_report_shows_no_file_that_is_not_a_part_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let run = finished(dir.path());
    fs::write(dir.path().join("secret"), "the secret of somebody else").unwrap();
    let list = read(run.join("slices/slices.json"));
    let mut entries: serde_json::Value = serde_json::from_str(&list).unwrap();
    let picture = entries[0]["file"].as_str().unwrap().to_string();
    let absolute = dir.path().join("secret").to_str().unwrap().to_string();
    let refused = |why: &str| {
        let outcome = kolmo(dir.path(), ["plot", "run"]);
        let code = if why.contains("a link to ") { 2 } else { 1 };
        assert_eq!(outcome.code, Some(code), "{}", outcome.err);
        assert!(outcome.err.contains(why), "{}", outcome.err);
    };
    for name in ["../../secret", &absolute, "step_00000000_xy.png/../../../secret"] {
        entries[0]["file"] = name.into();
        fs::write(run.join("slices/slices.json"), entries.to_string()).unwrap();
        refused("is not the name of a picture of a run");
    }
    fs::write(run.join("slices/slices.json"), list).unwrap();
    let png = fs::read(run.join("slices").join(&picture)).unwrap();
    // A picture of somebody else's is a picture, too.
    fs::write(dir.path().join("other.png"), &png).unwrap();
    for other in ["secret", "other.png"] {
        fs::remove_file(run.join("slices").join(&picture)).unwrap();
        std::os::unix::fs::symlink(dir.path().join(other), run.join("slices").join(&picture))
            .unwrap();
        refused("a link to ");
    }
    fs::remove_file(run.join("slices").join(&picture)).unwrap();
    fs::write(run.join("slices").join(&picture), "text").unwrap();
    refused("it is not a PNG picture");
    fs::write(run.join("slices").join(&picture), png).unwrap();
    done(dir.path(), ["plot", "run"]);
    fs::remove_file(run.join("config.toml")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), run.join("config.toml")).unwrap();
    refused("a link to ");
}

#[test]
fn a_file_that_a_command_did_not_write_is_not_replaced_unless_that_is_asked_for() {
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
            assert_eq!(outcome.code, Some(2), "{file}: {}", outcome.err);
            assert!(outcome.err.contains("--overwrite"), "{file}: {}", outcome.err);
            assert_eq!(read(&path), before);
            if !is_report {
                fs::remove_file(&path).unwrap();
            }
        }
        if !is_report {
            done(dir.path(), command);
        }
        let overwrite = [command, &["--overwrite"]].concat();
        done(dir.path(), &overwrite);
        // What it has written itself it may replace; a table of errors takes long to make.
        if command[0] != "converge" {
            done(dir.path(), command);
        }
    }
}

#[test]
fn nothing_that_a_user_or_a_file_says_steers_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let run = finished(dir.path());
    // As escapes of TOML, which the key and the value really hold.
    let typed = evil.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
    let input = format!("\"a{typed}\" = 1\n[case]\nname = \"x{typed}\"\n");
    fs::write(dir.path().join("in.toml"), input).unwrap();
    fs::write(dir.path().join("bad.toml"), format!("[case]\nname = {evil}\n")).unwrap();
    let series = read(run.join("series.csv"));
    let none = format!("no{evil}");
    let set = format!("time.cfl={evil}");
    let commands: [&[&str]; 8] = [
        &["run", "in.toml"],
        &["run", "bad.toml"],
        &["run", &none],
        &["init", &none],
        &["plot", &none],
        &["run", "taylor-green", "--set", &set],
        &["run", "taylor-green", &none],
        &["plot", "run"],
    ];
    fs::write(run.join("series.csv"), series.replace("0,0.0,", &format!("0,{evil},"))).unwrap();
    for command in commands {
        let outcome = kolmo(dir.path(), command);
        assert!(matches!(outcome.code, Some(1 | 2)), "{command:?}: {}", outcome.err);
        // What stands in an input is shown with spaces in their places.
        let shown = command[1].ends_with("toml") || outcome.err.contains("\\u009b");
        assert!(shown, "{command:?}: {:?}", outcome.err);
        let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!(outcome.err + &outcome.out).contains(steers), "{command:?}");
    }
    // What goes to standard output, too: the names of runs.
    fs::write(run.join("series.csv"), series).unwrap();
    fs::rename(&run, dir.path().join(&none)).unwrap();
    let outcome = done(dir.path(), ["compare", &none]);
    assert!(
        outcome.out.contains("\\u001b[2J") && !outcome.out.contains('\u{1b}'),
        "{:?}",
        outcome.out
    );
}

#[test]
fn a_run_whose_steps_change_no_time_ends_and_does_not_go_on_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    finished(dir.path());
    // Without an end there is none that the step could be held against before the run.
    let set = ["time.dt=1e-20", "time.max_steps=1000000000"].map(|set| ["--set", set]).concat();
    let outcome = soon(dir.path(), &[&["restart", "run"][..], &set].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("the run stalled at step 4, t = "), "{}", outcome.err);
}
