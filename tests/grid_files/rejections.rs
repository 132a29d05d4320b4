//! Invalid grid files: error messages with the worst point.

use std::fs;
use std::path::Path;

use kolmo::config::parse;

use super::formats::{npz, records, text, vts};
use super::{POINTS, Points, RING, RING_POINTS, WALLS, WAVY, mapping};
use crate::common::config;

/// The error message for the points of the file `path`, with the further keys `set`.
fn rejection(path: &Path, points: [usize; 3], set: &[&str]) -> String {
    let text =
        format!("[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nend = 1\n");
    let set: Vec<String> = set.iter().map(ToString::to_string).chain([mapping(path)]).collect();
    let error = parse(&text, "in.toml", &set).expect_err("invalid points");
    assert_eq!(error.exit_code(), 2);
    let report = error.report();
    assert!(report.ends_with("1 error; nothing was run"), "{report}");
    report
}

fn wavy() -> Points {
    Points::of(&config("taylor-green", POINTS, &[WAVY]), [true; 2])
}

/// Detects a missing check, a check of the wrong point, and a message without the point.
#[test]
fn invalid_grid_points_are_rejected_with_their_location() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    let with = |change: &dyn Fn(&mut Points)| {
        let mut points = wavy();
        change(&mut points);
        npz(&path, &points);
        rejection(&path, POINTS, &[])
    };
    // Points (5, 3) and (6, 3) of 19 along x.
    let at = 5 + 19 * 3;
    let message = with(&|points| points.y[at] = f64::NAN);
    assert!(message.contains("y = NaN at point (5, 3, 0)"), "{message}");
    let message = with(&|points| {
        (points.x[at], points.y[at]) = (points.x[at + 1], points.y[at + 1]);
    });
    assert!(message.contains("its points (5, 3) and (6, 3) coincide"), "{message}");
    let message = with(&|points| points.swap(at, at + 2));
    assert!(
        message.contains("the grid folds: its Jacobian is -") && message.contains("point (6, 3)"),
        "{message}"
    );
    let message = with(&|points| {
        for j in 0..22 {
            points.x[19 * j..19 * (j + 1)].reverse();
            points.y[19 * j..19 * (j + 1)].reverse();
        }
    });
    assert!(
        message.contains("the grid is left-handed")
            && message.contains("reverse the points along x"),
        "{message}"
    );
    let message = with(&|points| points.x[18 + 19 * 3] += 0.2);
    assert!(
        message.contains(
            "its lines along x, a periodic axis, do not close: the points (0, 3) and (18, 3)"
        ),
        "{message}"
    );
}

/// Detects the advice to reverse the axis from the wall outwards, which would exchange its ends.
#[test]
fn left_handed_o_grid_errors_suggest_reversing_the_periodic_axis() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    let mut points =
        Points::of(&config("taylor-green", RING_POINTS, &[RING, WALLS]), [true, false]);
    points.y.iter_mut().for_each(|y| *y = -*y);
    npz(&path, &points);
    let message = rejection(&path, RING_POINTS, &[WALLS]);
    assert!(
        message.contains("left-handed") && message.contains("reverse the points along x"),
        "{message}"
    );
    // With x and y exchanged, lines along y close.
    let [nx, ny] = points.n;
    let transposed =
        |values: &[f64]| (0..nx * ny).map(|at| values[at / ny + nx * (at % ny)]).collect();
    let mut transposed = Points { n: [ny, nx], x: transposed(&points.x), y: transposed(&points.y) };
    let [n, m, _] = RING_POINTS;
    transposed.y.iter_mut().for_each(|y| *y = -*y);
    npz(&path, &transposed);
    let message = rejection(&path, [m, n, 1], &["boundary.x={ low = 'wall', high = 'wall' }"]);
    assert!(
        message.contains("left-handed") && message.contains("reverse the points along y"),
        "{message}"
    );
}

/// Detects sizes taken from `grid.points` instead of the file, and a period or depth that is not compared.
#[test]
fn size_mismatch_errors_name_the_size_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    npz(&path, &wavy());
    let message = rejection(&path, [19, 21, 1], &[]);
    assert!(
        message.contains("19 points along x, and grid.mapping.file has 18, with the period (6.283185, 0.000000): a last line"),
        "{message}"
    );
    let message = rejection(&path, [18, 24, 1], &[]);
    assert!(message.contains("24 points along y, and grid.mapping.file has 21"), "{message}");
    // The same number of points, but without the line that defines the period: the last line has a constant distance from the first.
    npz(&path, &Points::of(&config("taylor-green", POINTS, &[WAVY]), [false, true]));
    let message = rejection(&path, POINTS, &[]);
    assert!(
        message.contains("18 points along x, and grid.mapping.file has 17, with the period (5.93"),
        "{message}"
    );
    let planes = dir.path().join("planes.npz");
    let (_, write, _) = super::FORMATS[1];
    write(&planes, &wavy());
    let message = rejection(&planes, [18, 21, 9], &[]);
    assert!(message.contains("9 points along z, and grid.mapping.file has 2 planes"), "{message}");
    let message = rejection(&planes, POINTS, &["grid.length=[6.3, 6.3, 3.0]"]);
    assert!(
        message
            .contains("its planes are 6.283185e0 apart along z, and those of the grid 3.000000e0"),
        "{message}"
    );
}

/// Detects a truncated file that is read as another kind of file or with missing values.
#[test]
fn truncated_and_unsupported_grid_files_are_rejected() {
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
        let message = rejection(&path, POINTS, &[]);
        assert!(message.contains(expected), "{}: {message}", path.display());
    }
    let other = |name: &str, bytes: &[u8], expected: &str| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let message = rejection(&path, POINTS, &[]);
        assert!(message.contains(expected), "{message}");
    };
    other("words.xyz", b"19 22\n0.0 one", "line 2: `one` is not a number");
    other("empty.x", b"", "an empty file");
    other("noise.x", &[0xff; 100], "it does not begin with a PLOT3D header");
    other("grid.cgns", b"x", "unsupported grid format: `.cgns`");
    other("none.vts", b"<VTKFile type=\"ImageData\">", "no element <StructuredGrid>");
    let message = rejection(&dir.path().join("missing.npz"), POINTS, &[]);
    assert!(message.contains("cannot be read: No such file"), "{message}");
    // Without `grid.points`, the missing file is the only error, since the file may define the size.
    let text = "[case]\nname = 'taylor-green'\n[time]\nend = 1\n";
    let set = [mapping(&dir.path().join("missing.npz"))];
    let message = parse(text, "in.toml", &set).expect_err("no file").report();
    assert!(message.ends_with("1 error; nothing was run"), "{message}");
    let (_, write, _) = super::FORMATS[0];
    let path = written("line.npz", &|path| write(path, &Points { n: [418, 1], ..points.clone() }));
    assert!(rejection(&path, POINTS, &[]).contains("418 x 1 points along its first two axes"));
}

/// Detects a check of the first plane only.
#[test]
fn different_or_unevenly_spaced_planes_are_rejected() {
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
        rejection(&path, POINTS, &[])
    };
    let mut z: Vec<f64> = (0..2 * n).map(|at| if at < n { 0.0 } else { 1.0 }).collect();
    let message = write([&x, &y, &z]);
    assert!(
        message.contains(
            "x and y change along z: point (7, 0, 1) lies 1.414e-2 from that of the first plane"
        ),
        "{message}"
    );
    // A warped plane, in a file of one or two planes; then a third plane at a larger distance.
    z[n + 7] = 1.1;
    let [x, y] = [&plane.x, &plane.y].map(|of_plane| of_plane.repeat(3));
    for planes in [1..2, 0..2] {
        let (part, last) = (planes.start * n..planes.end * n, planes.len() - 1);
        let message = write([&x[part.clone()], &y[part.clone()], &z[part]]);
        let at = format!("z = 1.1e0 at point (7, 0, {last}), not 1e0");
        assert!(message.contains("not even along z") && message.contains(&at), "{message}");
    }
    let z: Vec<f64> = (0..3 * n).map(|at| [0.0, 1.0, 2.1][at / n]).collect();
    let message = write([&x, &y, &z]);
    assert!(message.contains("z = 1e0 at point (0, 0, 1), not 1.05e0"), "{message}");
}

/// Detects a run that is repeated with modified points without an error.
#[test]
fn a_resolved_input_rejects_a_modified_grid_file() {
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
    let message = parse(&resolved, "config.toml", &[]).expect_err("another file").report();
    assert!(message.contains("the points of the file have another one"), "{message}");
}
