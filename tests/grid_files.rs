//! Curvilinear grids from files: every format reproduces the points, and invalid files are rejected with an error message.

mod formats;
mod rejections;

use std::path::Path;

use kolmo::config::{Config, parse};
use kolmo::grid::Plane;

use crate::common::{config, max_difference, on_host, rate, set_flow};
use formats::{FORMATS, npz};

const POINTS: [usize; 3] = [18, 21, 1];
const WAVY: &str = "grid.mapping={ kind = 'wavy', amplitude = 0.05 }";
const RING_POINTS: [usize; 3] = [24, 19, 1];
const RING: &str = "grid.mapping={ kind = 'ring', inner = 0.5, outer = 4.0, first = 0.05 }";
const WALLS: &str = "boundary.y={ low = 'wall', high = 'wall' }";

/// Points of a grid as in a file: numbers of points along the two axes, and x and y with the first axis fastest.
#[derive(Clone)]
struct Points {
    n: [usize; 2],
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Points {
    /// The points of `config`. Along an axis that `repeats`, the first points follow again at the end, shifted by one period.
    fn of(config: &Config, repeats: [bool; 2]) -> Self {
        let grid = config.grid();
        let plane: &Plane = grid.plane.as_ref().unwrap();
        let n = [0, 1].map(|a| grid.points[a] + usize::from(repeats[a]));
        let all = (0..n[0] * n[1]).map(|at| plane.place(grid.points, [at % n[0], at / n[0]]));
        let (x, y) = all.map(|[x, y]| (x, y)).unzip();
        Self { n, x, y }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.x.swap(a, b);
        self.y.swap(a, b);
    }
}

/// The setting `grid.mapping` for a grid file.
fn mapping(path: &Path) -> String {
    format!("grid.mapping={{ file = '{}' }}", path.display())
}

fn plane(config: &Config) -> Plane {
    (**config.grid().plane.as_ref().unwrap()).clone()
}

/// Detects axes in the wrong order, a wrong byte order or count, a header that is read as values, and errors of a single format.
/// Where the file has f64, or text with all digits, the points are bitwise identical.
#[test]
fn every_grid_format_reproduces_the_points_of_a_wavy_box() {
    let dir = tempfile::tempdir().unwrap();
    let built_in = config("taylor-green", POINTS, &[WAVY]);
    let (points, expected) = (Points::of(&built_in, [true; 2]), plane(&built_in));
    for (name, write, tolerance) in FORMATS {
        let path = dir.path().join(name);
        write(&path, &points);
        let from_file = config("taylor-green", POINTS, &[&mapping(&path)]);
        let found = plane(&from_file);
        for k in 0..2 {
            let difference = max_difference(&found.coordinates[k], &expected.coordinates[k]);
            assert!(difference <= *tolerance, "{name}: coordinate {k} is off by {difference:e}");
            let difference = max_difference(&found.periods[k], &expected.periods[k]);
            assert!(difference <= 2.0 * tolerance, "{name}: period {k} is off by {difference:e}");
        }
        let again = parse(&from_file.to_toml(), "config.toml", &[]).unwrap();
        assert_eq!(again.to_toml(), from_file.to_toml(), "{name}");
    }
}

/// Detects a period that is lost or applied twice, and metrics computed from other points than those of the built-in map.
#[test]
fn a_wavy_box_from_a_file_has_the_right_hand_side_of_the_built_in_map() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grid.npz");
    npz(&path, &Points::of(&config("taylor-green", POINTS, &[WAVY]), [true; 2]));
    let rates = [WAVY, &mapping(&path)].map(|set| {
        let mut run = on_host(&config("taylor-green", [18, 21, 9], &[set, "case.mach=0.5"]));
        set_flow(&mut run, 1.4, |_, [x, y, z]| {
            [1.0 + 0.2 * x.sin(), y.cos() + z.sin(), 0.5 * x.cos(), 0.3, 3.0 + 0.1 * (x + y).sin()]
        });
        rate(&mut run)
    });
    let [built_in, from_file] = &rates;
    for (a, b) in built_in.iter().zip(from_file) {
        let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let difference = max_difference(a, b);
        assert!(difference <= 1e-13 * size, "off by {difference:e} of {size:e}");
    }
}

/// Detects an O-grid that is not closed or has its first line twice. Without `grid.points`, the sizes are those of the file.
#[test]
fn an_o_grid_closes_with_or_without_a_repeated_first_line() {
    let dir = tempfile::tempdir().unwrap();
    let built_in = config("taylor-green", RING_POINTS, &[RING, WALLS]);
    for repeats in [false, true] {
        let path = dir.path().join(format!("ring-{repeats}.npz"));
        npz(&path, &Points::of(&built_in, [repeats, false]));
        let text = "[case]\nname = 'taylor-green'\n[time]\nend = 1\n";
        let set = [mapping(&path), WALLS.to_owned()];
        let found = parse(text, "in.toml", &set).unwrap();
        assert_eq!(found.grid.points, RING_POINTS, "repeats: {repeats}");
        assert_eq!(plane(&found), plane(&built_in), "repeats: {repeats}");
    }
}
