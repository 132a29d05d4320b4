//! Files that are no grid: a sentence each, with the worst point.

use std::fs;
use std::path::Path;

use kolmo::config::parse;

use super::formats::{npz, records, text, vts};
use super::{POINTS, Points, RING, RING_POINTS, WALLS, WAVY, mapping};
use crate::common::config;

/// What is said of points from a file at `path`; further keys are `set`.
fn refused(path: &Path, points: [usize; 3], set: &[&str]) -> String {
    let text =
        format!("[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nend = 1\n");
    let set: Vec<String> = set.iter().map(ToString::to_string).chain([mapping(path)]).collect();
    let error = parse(&text, "in.toml", &set).expect_err("points that are no grid");
    assert_eq!(error.exit_code(), 2);
    let report = error.report();
    assert!(report.ends_with("1 error; nothing was run"), "{report}");
    report
}

fn wavy() -> Points {
    Points::of(&config("taylor-green", POINTS, &[WAVY]), [true; 2])
}

/// Catches a check that looks at another point, or not at all, and a message without the point.
#[test]
fn points_that_are_no_grid_have_their_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    let with = |change: &dyn Fn(&mut Points)| {
        let mut points = wavy();
        change(&mut points);
        npz(&path, &points);
        refused(&path, POINTS, &[])
    };
    // Points (5, 3) and (6, 3) of 19 along x.
    let at = 5 + 19 * 3;
    let said = with(&|points| points.y[at] = f64::NAN);
    assert!(said.contains("y = NaN at point (5, 3, 0)"), "{said}");
    let said = with(&|points| {
        (points.x[at], points.y[at]) = (points.x[at + 1], points.y[at + 1]);
    });
    assert!(said.contains("its points (5, 3) and (6, 3) coincide"), "{said}");
    let said = with(&|points| points.swap(at, at + 2));
    assert!(
        said.contains("the grid folds: its Jacobian is -") && said.contains("point (6, 3)"),
        "{said}"
    );
    let said = with(&|points| {
        for j in 0..22 {
            points.x[19 * j..19 * (j + 1)].reverse();
            points.y[19 * j..19 * (j + 1)].reverse();
        }
    });
    assert!(
        said.contains("the grid is left-handed") && said.contains("reverse the points along x"),
        "{said}"
    );
    let said = with(&|points| points.x[18 + 19 * 3] += 0.2);
    assert!(
        said.contains(
            "its lines along x, a periodic axis, do not close: the points (0, 3) and (18, 3)"
        ),
        "{said}"
    );
}

/// Catches a ring whose lines are reversed along the axis from the wall outward, which would exchange the ends.
#[test]
fn a_left_handed_o_grid_is_to_be_reversed_along_the_axis_that_closes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    let mut points =
        Points::of(&config("taylor-green", RING_POINTS, &[RING, WALLS]), [true, false]);
    points.y.iter_mut().for_each(|y| *y = -*y);
    npz(&path, &points);
    let said = refused(&path, RING_POINTS, &[WALLS]);
    assert!(said.contains("left-handed") && said.contains("reverse the points along x"), "{said}");
    // With x and y exchanged, lines along y close.
    let [nx, ny] = points.n;
    let turned = |values: &[f64]| (0..nx * ny).map(|at| values[at / ny + nx * (at % ny)]).collect();
    let mut turned = Points { n: [ny, nx], x: turned(&points.x), y: turned(&points.y) };
    let [n, m, _] = RING_POINTS;
    turned.y.iter_mut().for_each(|y| *y = -*y);
    npz(&path, &turned);
    let said = refused(&path, [m, n, 1], &["boundary.x={ low = 'wall', high = 'wall' }"]);
    assert!(said.contains("left-handed") && said.contains("reverse the points along y"), "{said}");
}

/// Catches sizes that are taken from `grid.points` in place of the file, and a period or depth that nobody compares.
#[test]
fn a_file_of_another_size_says_which_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    npz(&path, &wavy());
    let said = refused(&path, [19, 21, 1], &[]);
    assert!(
        said.contains("19 points along x, and grid.mapping.file has 18, with the period (6.283185, 0.000000): a last line"),
        "{said}"
    );
    let said = refused(&path, [18, 24, 1], &[]);
    assert!(said.contains("24 points along y, and grid.mapping.file has 21"), "{said}");
    // As many points, but without the line that tells the period: the last of these lines lies as far from the first everywhere.
    npz(&path, &Points::of(&config("taylor-green", POINTS, &[WAVY]), [false, true]));
    let said = refused(&path, POINTS, &[]);
    assert!(
        said.contains("18 points along x, and grid.mapping.file has 17, with the period (5.93"),
        "{said}"
    );
    let planes = dir.path().join("planes.npz");
    let (_, write, _) = super::FORMATS[1];
    write(&planes, &wavy());
    let said = refused(&planes, [18, 21, 9], &[]);
    assert!(said.contains("9 points along z, and grid.mapping.file has 2 planes"), "{said}");
    let said = refused(&planes, POINTS, &["grid.length=[6.3, 6.3, 3.0]"]);
    assert!(
        said.contains("its planes are 6.283185e0 apart along z, and those of the grid 3.000000e0"),
        "{said}"
    );
}

/// Catches what a truncated file would be read as: another kind, or values that are not there.
#[test]
fn files_that_are_cut_off_or_of_no_format_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let points = wavy();
    let written = |name: &str, write: &dyn Fn(&Path)| {
        let path = dir.path().join(name);
        write(&path);
        path
    };
    let files = [
        (written("a.npz", &|path| npz(path, &points)), "not a NumPy .npz file"),
        (
            written("b.xyz", &|path| text(path, &points, 2)),
            "its header has 19 x 22 points, which take 838 numbers, and it holds ",
        ),
        (
            written("c.x", &|path| fs::write(path, records(&points, false)).unwrap()),
            "it is cut off, of several blocks, or of another kind",
        ),
        (written("d.vts", &|path| vts(path, &points, "inline")), "its points are cut off"),
        (
            written("e.vts", &|path| vts(path, &points, "ascii")),
            "numbers in its points, where its extent [19, 22, 1] needs 1254",
        ),
        (written("f.vts", &|path| vts(path, &points, "raw")), "its points are cut off"),
        (written("g.vts", &|path| vts(path, &points, "zlib")), "its points are cut off"),
    ];
    for (path, expected) in files {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() * 2 / 3]).unwrap();
        let said = refused(&path, POINTS, &[]);
        assert!(said.contains(expected), "{}: {said}", path.display());
    }
    let other = |name: &str, bytes: &[u8], expected: &str| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let said = refused(&path, POINTS, &[]);
        assert!(said.contains(expected), "{said}");
    };
    other("words.xyz", b"19 22\n0.0 one", "line 2: `one` is not a number");
    other("empty.x", b"", "an empty file");
    other("noise.x", &[0xff; 100], "it does not begin with a PLOT3D header");
    other("grid.cgns", b"x", "unsupported grid format: `.cgns`");
    other("none.vts", b"<VTKFile type=\"ImageData\">", "no element <StructuredGrid>");
    let said = refused(&dir.path().join("missing.npz"), POINTS, &[]);
    assert!(said.contains("cannot be read: No such file"), "{said}");
    // Points are not asked for, which a file may have.
    let text = "[case]\nname = 'taylor-green'\n[time]\nend = 1\n";
    let set = [mapping(&dir.path().join("missing.npz"))];
    let said = parse(text, "in.toml", &set).expect_err("no file").report();
    assert!(said.ends_with("1 error; nothing was run"), "{said}");
    let (_, write, _) = super::FORMATS[0];
    let path = written("line.npz", &|path| write(path, &Points { n: [418, 1], ..points.clone() }));
    assert!(refused(&path, POINTS, &[]).contains("418 x 1 points along its first two axes"));
}

/// Catches planes of which only the first is looked at.
#[test]
fn planes_that_differ_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("twisted.xyz");
    let (plane, n) = (wavy(), 19 * 22);
    let (mut x, mut y) = ([&plane.x[..], &plane.x].concat(), [&plane.y[..], &plane.y].concat());
    x[n + 7] += 0.01;
    y[n + 7] -= 0.01;
    let write = |[x, y, z]: [&[f64]; 3]| {
        let values = x.iter().chain(y).chain(z).map(|value| format!("{value:e}\n"));
        let text = format!("19 22 {}\n{}", x.len() / n, values.collect::<String>());
        fs::write(&path, text).unwrap();
        refused(&path, POINTS, &[])
    };
    let mut z: Vec<f64> = (0..2 * n).map(|at| if at < n { 0.0 } else { 1.0 }).collect();
    let said = write([&x, &y, &z]);
    assert!(
        said.contains(
            "x and y change along z: point (7, 0, 1) lies 1.414e-2 from that of the first plane"
        ),
        "{said}"
    );
    // A warped plane, also of one alone; a third plane that is further off.
    z[n + 7] = 1.1;
    let [x, y] = [&plane.x, &plane.y].map(|of_plane| of_plane.repeat(3));
    for planes in [1..2, 0..2] {
        let (part, last) = (planes.start * n..planes.end * n, planes.len() - 1);
        let said = write([&x[part.clone()], &y[part.clone()], &z[part]]);
        let at = format!("z = 1.1e0 at point (7, 0, {last}), not 1e0");
        assert!(said.contains("not even along z") && said.contains(&at), "{said}");
    }
    let z: Vec<f64> = (0..3 * n).map(|at| [0.0, 1.0, 2.1][at / n]).collect();
    let said = write([&x, &y, &z]);
    assert!(said.contains("z = 1e0 at point (0, 0, 1), not 1.05e0"), "{said}");
}

/// Catches an input of a run that is repeated with other points without a word.
#[test]
fn a_resolved_input_refuses_a_file_that_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    npz(&path, &wavy());
    let resolved = config("taylor-green", POINTS, &[&mapping(&path)]).to_toml();
    assert!(parse(&resolved, "config.toml", &[]).is_ok());
    npz(
        &path,
        &Points::of(
            &config("taylor-green", POINTS, &["grid.mapping={ kind = 'wavy', amplitude = 0.06 }"]),
            [true; 2],
        ),
    );
    let said = parse(&resolved, "config.toml", &[]).expect_err("another file").report();
    assert!(said.contains("the points of the file have another one"), "{said}");
}
