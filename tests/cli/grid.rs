//! `kolmo grid`, and runs on the points of a file, as users meet them.

use super::*;

/// What is drawn, by its panels.
fn panels(picture: &Path) -> usize {
    let svg = read(picture);
    assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg.matches("<clipPath").count()
}

/// Catches grids of one or three axes that cannot be drawn, a body that is not shown near, and a file of somebody else that is lost.
#[test]
fn kolmo_grid_describes_and_draws_grids_of_every_kind() {
    let dir = tempfile::tempdir().unwrap();
    let picture = |name: &str| dir.path().join(name);
    let said = done(dir.path(), ["grid", "cylinder", "-o", "o.svg"]).out;
    for words in [
        "curvilinear",
        "128 x 129 x 1",
        "wall, low y",
        "first cells",
        "Jacobian",
        "all lines are orthogonal",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let wavy =
        ["grid", "taylor-green", "--set", "grid.mapping={ kind = \"wavy\", amplitude = 0.05 }"];
    assert!(done(dir.path(), wavy).out.contains("deviation from orthogonality in degrees at most"));
    assert_eq!(panels(&picture("o.svg")), 2);
    let cube = done(dir.path(), ["grid", "taylor-green", "-o", "cube.svg"]).out;
    assert!(
        cube.contains("Cartesian, equal spacings") && cube.contains("all lines are orthogonal")
    );
    assert_eq!(panels(&picture("cube.svg")), 1);
    assert!(done(dir.path(), ["grid", "channel", "-o", "c.svg"]).out.contains("wall, high y"));
    done(
        dir.path(),
        ["grid", "acoustic-wave", "--set", "grid.points=[32, 1, 1]", "-o", "line.svg"],
    );
    assert_eq!(panels(&picture("line.svg")), 1);
    // Its own may be replaced, a file of somebody else not.
    done(dir.path(), ["grid", "channel", "-o", "line.svg"]);
    fs::write(picture("mine.svg"), "mine").unwrap();
    let outcome = kolmo(dir.path(), ["grid", "channel", "-o", "mine.svg"]);
    assert_eq!(
        (outcome.code, read(picture("mine.svg"))),
        (Some(2), "mine".into()),
        "{}",
        outcome.err
    );
    done(dir.path(), ["grid", "channel", "-o", "mine.svg", "--overwrite"]);
    let png = kolmo(dir.path(), ["grid", "channel", "-o", "mine.png", "--overwrite"]);
    assert!(png.code == Some(2) && png.err.contains("ends with .svg"), "{}", png.err);
    assert!(!picture("mine.png").exists());
}

/// Our own `.vts` is a grid; a restart takes its points from wherever the file lies, and refuses others. Catches a repeated plane that is
/// kept, a comparison of paths in place of points, one that is left out, and an interpolation
/// by Fourier series between points that are not equally far apart.
#[test]
fn fields_of_a_run_give_its_grid_and_a_restart_keeps_its_points() {
    let dir = tempfile::tempdir().unwrap();
    let wavy =
        |amplitude: f64| format!("grid.mapping={{ kind = \"wavy\", amplitude = {amplitude} }}");
    let run = |set: &str, out: &str| {
        let fields = "output.fields={ every_steps = 4, variables = [\"density\"] }";
        done(
            dir.path(),
            small(&[
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
        let own = names(&fields).into_iter().find(|name| name.ends_with(".vts")).unwrap();
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
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains("error: grid.mapping = "), "{}", outcome.err);
        let outcome = restart(&["--set", &other, "--allow-physics-change"]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        assert!(outcome.err.contains("its values belong to those points"), "{}", outcome.err);
    }
    fs::rename(dir.path().join("a.vts"), dir.path().join("moved.vts")).unwrap();
    let outcome = restart(&[]);
    assert!(
        outcome.code == Some(2) && outcome.err.contains("a.vts\": cannot be read"),
        "{}",
        outcome.err
    );
    let outcome = restart(&["--set", &file("moved")]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(!outcome.err.contains("interpolated"), "{}", outcome.err);
    let more = ["restart", "a", "--set", "time.max_steps=6", "--set", "grid.points=[18, 18, 12]"];
    let outcome = kolmo(dir.path(), more);
    assert!(
        outcome.code == Some(2)
            && outcome
                .err
                .contains("on a curvilinear grid they cannot be interpolated to another grid"),
        "{}",
        outcome.err
    );
}
