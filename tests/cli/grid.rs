//! `kolmo grid`, and runs on grid points from a file, through the command line.

use super::*;

/// The number of panels of a figure.
fn panels(picture: &Path) -> usize {
    let svg = read(picture);
    assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg.matches("<clipPath").count()
}

/// Catches grids of one or three axes that cannot be drawn, a missing close-up of the body, and a foreign file that is overwritten.
#[test]
fn kolmo_grid_describes_and_draws_every_kind_of_grid() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let stdout = run_ok(dir.path(), ["grid", "cylinder", "-o", "o.svg"]).stdout;
    for words in [
        "curvilinear",
        "128 x 129 x 1",
        "wall, low y",
        "first cells",
        "Jacobian",
        "all lines are orthogonal",
    ] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
    let wavy =
        ["grid", "taylor-green", "--set", "grid.mapping={ kind = \"wavy\", amplitude = 0.05 }"];
    assert!(
        run_ok(dir.path(), wavy).stdout.contains("deviation from orthogonality in degrees at most")
    );
    assert_eq!(panels(&path("o.svg")), 2);
    let cube = run_ok(dir.path(), ["grid", "taylor-green", "-o", "cube.svg"]).stdout;
    assert!(
        cube.contains("Cartesian, equal spacings") && cube.contains("all lines are orthogonal")
    );
    assert_eq!(panels(&path("cube.svg")), 1);
    assert!(run_ok(dir.path(), ["grid", "channel", "-o", "c.svg"]).stdout.contains("wall, high y"));
    run_ok(
        dir.path(),
        ["grid", "acoustic-wave", "--set", "grid.points=[32, 1, 1]", "-o", "line.svg"],
    );
    assert_eq!(panels(&path("line.svg")), 1);
    // The command may replace its own figure, but not a foreign file.
    run_ok(dir.path(), ["grid", "channel", "-o", "line.svg"]);
    fs::write(path("mine.svg"), "mine").unwrap();
    let outcome = kolmo(dir.path(), ["grid", "channel", "-o", "mine.svg"]);
    assert_eq!(
        (outcome.code, read(path("mine.svg"))),
        (Some(2), "mine".into()),
        "{}",
        outcome.stderr
    );
    run_ok(dir.path(), ["grid", "channel", "-o", "mine.svg", "--overwrite"]);
    let png = kolmo(dir.path(), ["grid", "channel", "-o", "mine.png", "--overwrite"]);
    assert!(png.code == Some(2) && png.stderr.contains("ends with .svg"), "{}", png.stderr);
    assert!(!path("mine.png").exists());
}

/// A `.vts` file written by a run can be used as a grid. A restart accepts the same points from any path and rejects other points. Catches
/// a repeated periodic plane that is kept, a comparison of paths instead of points, a missing comparison, and a Fourier interpolation
/// between points that are not equally spaced.
#[test]
fn vts_output_defines_the_grid_and_a_restart_requires_the_same_points() {
    let dir = tempfile::tempdir().unwrap();
    let wavy =
        |amplitude: f64| format!("grid.mapping={{ kind = \"wavy\", amplitude = {amplitude} }}");
    let run = |set: &str, out: &str| {
        let fields = "output.fields={ every_steps = 4, variables = [\"density\"] }";
        run_ok(
            dir.path(),
            small_run(&[
                "--set",
                set,
                "--set",
                fields,
                "--set",
                "grid.points=[16, 18, 12]",
                "--out",
                out,
            ]),
        )
    };
    for (amplitude, out) in [(0.05, "a"), (0.06, "b")] {
        run(&wavy(amplitude), out);
        let fields = dir.path().join(out).join("fields");
        let own = file_names(&fields).into_iter().find(|name| name.ends_with(".vts")).unwrap();
        fs::copy(fields.join(own), dir.path().join(format!("{out}.vts"))).unwrap();
    }
    let file = |name: &str| format!("grid.mapping={{ file = \"{name}.vts\" }}");
    run(&file("a"), "from-file");
    let series = |out: &str| read(dir.path().join(out).join("series.csv"));
    assert_eq!(series("a"), series("from-file"));
    let restart = |set: &[&str]| {
        let more = ["restart", "from-file", "--set", "time.max_steps=6"];
        kolmo(dir.path(), [&more[..], set].concat())
    };
    for other in [file("b"), wavy(0.06)] {
        let outcome = restart(&["--set", &other]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("error: grid.mapping = "), "{}", outcome.stderr);
        let outcome = restart(&["--set", &other, "--allow-physics-change"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("its values belong to those points"), "{}", outcome.stderr);
    }
    fs::rename(dir.path().join("a.vts"), dir.path().join("moved.vts")).unwrap();
    let outcome = restart(&[]);
    assert!(
        outcome.code == Some(2) && outcome.stderr.contains("a.vts\": cannot be read"),
        "{}",
        outcome.stderr
    );
    let outcome = restart(&["--set", &file("moved")]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("interpolated"), "{}", outcome.stderr);
    let more = ["restart", "a", "--set", "time.max_steps=6", "--set", "grid.points=[18, 18, 12]"];
    let outcome = kolmo(dir.path(), more);
    assert!(
        outcome.code == Some(2)
            && outcome
                .stderr
                .contains("on a curvilinear grid they cannot be interpolated to another grid"),
        "{}",
        outcome.stderr
    );
}
