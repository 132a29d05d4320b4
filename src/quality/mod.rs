//! Grid quality: spacings, their ratios, Jacobian, angles between lines, first cells at walls; and a figure of the grid lines.
//!
//! Distances are between adjacent points of a grid line; on periodic axes also from the last point to the first, one period
//! further.

mod picture;

use std::fmt;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::config::Config;
use crate::error::Result;
use crate::grid::{Axis, Curvilinear, Grid};
use crate::io::page::{check_drawing, write_drawing};

/// Deviation from orthogonality in degrees that is round-off.
const ROUND_OFF: f64 = 1e-6;

/// Command-line options of `kolmo grid`.
#[derive(Args, Debug)]
pub struct GridOptions {
    /// An input file, or the name of a case for its built-in input.
    pub input: String,
    /// Change a key of the input: `--set grid.points=[96,97,1]`.
    #[arg(long, value_name = "KEY.PATH=VALUE", action = ArgAction::Append)]
    pub set: Vec<String>,
    /// Draw the grid lines, as SVG.
    #[arg(short = 'o', long = "out", value_name = "PICTURE.svg")]
    picture: Option<PathBuf>,
    /// Replace an existing file of that name, whichever program wrote it.
    #[arg(long, requires = "picture")]
    overwrite: bool,
}

/// A value and its location: (i, j, k) and (x, y, z).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    /// The value.
    pub value: f64,
    /// Indices of its point.
    pub index: [usize; 3],
    /// Coordinates of its point.
    pub place: [f64; 3],
}

/// Spacings along an axis with more than one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Spacings {
    /// The axis.
    pub axis: Axis,
    /// Smallest spacing.
    pub smallest: Located,
    /// Largest spacing.
    pub largest: Located,
    /// Largest ratio, at least 1, of two adjacent spacings.
    pub ratio: Located,
}

/// First cells at a wall.
#[derive(Clone, Debug, PartialEq)]
pub struct WallCells {
    /// Axis normal to the wall.
    pub axis: Axis,
    /// Whether the wall is at the high end.
    pub is_high: bool,
    /// The smallest and the largest distance from a point of the wall to the next point on its line.
    pub sizes: [f64; 2],
}

/// The quality of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Kind of grid.
    pub kind: String,
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// The smallest and the largest coordinates of its points.
    pub extent: [[f64; 2]; 3],
    /// Spacings along every axis with more than one point.
    pub spacings: Vec<Spacings>,
    /// First cells of every wall.
    pub walls: Vec<WallCells>,
    /// The smallest determinant of ∂(x, y, z)/∂(ξ, η, ζ), by the first derivative of the flow, where ξ, η, ζ are coordinates of
    /// the box.
    pub jacobian: Located,
    /// The largest deviation of the angle between lines along ξ and η from 90°, in degrees; none if lines are straight.
    pub angle: Option<Located>,
}

/// Compute the quality of the grid of `config`, and draw it if `options` ask for a figure.
///
/// # Errors
/// If the figure would replace a file not written by Kolmo, has a name that does not end with `.svg`, or cannot be written.
pub fn grid(config: &Config, options: &GridOptions) -> Result<Quality> {
    if let Some(path) = &options.picture {
        check_drawing(path, "grid", options.overwrite)?;
        write_drawing(path, &picture::svg(config, &options.input))?;
    }
    Ok(Quality::of(config))
}

/// Coordinates of the point (i, j, k), which may be one period beyond the first point.
fn place(grid: &Grid, [i, j, k]: [usize; 3]) -> [f64; 3] {
    let along = |a: usize, i: usize| grid.coordinate(a, i);
    match &grid.plane {
        None => [along(0, i), along(1, j), along(2, k)],
        Some(plane) => {
            let [x, y] = plane.place(grid.points, [i, j]);
            [x, y, along(2, k)]
        }
    }
}

/// `index` with `i` along axis `a`.
fn with_index(mut index: [usize; 3], a: usize, i: usize) -> [usize; 3] {
    index[a] = i;
    index
}

/// The first points of the distinct lines along axis `a`.
fn lines(grid: &Grid, a: usize) -> Vec<[usize; 3]> {
    match grid.plane.is_some() && a < 2 {
        true => (0..grid.points[1 - a]).map(|line| with_index([0; 3], 1 - a, line)).collect(),
        false => vec![[0; 3]],
    }
}

/// The distances between adjacent points on the line along axis `a` from `first` on.
fn distances(grid: &Grid, a: usize, first: [usize; 3]) -> Vec<f64> {
    let distance = |i: usize| {
        let [p, q] = [i, i + 1].map(|i| place(grid, with_index(first, a, i)));
        (0..3).map(|k| (q[k] - p[k]).powi(2)).sum::<f64>().sqrt()
    };
    (0..grid.intervals(a)).map(distance).collect()
}

impl Quality {
    /// The quality of the grid of `config`.
    pub fn of(config: &Config) -> Self {
        let grid = &config.grid();
        let located =
            |value: f64, index: [usize; 3]| Located { value, index, place: place(grid, index) };
        let spacings = grid.active_axes().map(|axis| {
            let a = axis.index();
            let (mut indexed_spacings, mut ratios) = (Vec::new(), vec![(1.0, [0; 3])]);
            for first in lines(grid, a) {
                let h = distances(grid, a, first);
                indexed_spacings
                    .extend(h.iter().enumerate().map(|(i, h)| (*h, with_index(first, a, i))));
                let has_previous = |i: &usize| grid.is_closed_along(a) || *i > 0;
                for i in (0..h.len()).filter(has_previous) {
                    let (before, after) = (h[(i + h.len() - 1) % h.len()], h[i]);
                    ratios.push(((before / after).max(after / before), with_index(first, a, i)));
                }
            }
            let [smallest, ratio] =
                [min_of(indexed_spacings.iter().copied()), max_of(ratios.into_iter())];
            let largest = max_of(indexed_spacings.into_iter());
            let [smallest, largest, ratio] =
                [smallest, largest, ratio].map(|(value, index)| located(value, index));
            Spacings { axis, smallest, largest, ratio }
        });
        let faces = config.boundaries.faces();
        let walls = faces.filter(|(axis, _, face)| face.wall().is_some() && grid.is_active(*axis));
        let walls = walls.map(|(axis, end, _)| {
            let a = axis.index();
            let size = |first: [usize; 3]| {
                let h = distances(grid, a, first);
                (if end == 0 { h[0] } else { h[h.len() - 1] }, first)
            };
            let first = || lines(grid, a).into_iter().map(size);
            WallCells { axis, is_high: end == 1, sizes: [min_of(first()).0, max_of(first()).0] }
        });
        let (jacobian, angle) = shape(grid);
        Self {
            kind: kind(config),
            points: grid.points,
            extent: extent(grid),
            spacings: spacings.collect(),
            walls: walls.collect(),
            jacobian: located(jacobian.0, jacobian.1),
            angle: angle.map(|(value, index)| located(value, index)),
        }
    }
}

/// A value with the indices of its point.
type Indexed = (f64, [usize; 3]);

fn min_of(values: impl Iterator<Item = Indexed>) -> Indexed {
    values.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, [0; 3]))
}

fn max_of(values: impl Iterator<Item = Indexed>) -> Indexed {
    // The first of equal values.
    let (value, index) = min_of(values.map(|(value, index)| (-value, index)));
    (-value, index)
}

/// The smallest Jacobian, and the largest deviation from right angles if lines are curved.
fn shape(grid: &Grid) -> (Indexed, Option<Indexed>) {
    // On stretched axes the factors are independent.
    let along = |a: usize| {
        min_of((0..grid.points[a]).map(|i| (grid.jacobian(a, i), with_index([0; 3], a, i))))
    };
    let straight = (0..3).fold((1.0, [0; 3]), |(product, index), a| {
        let (factor, own) = along(a);
        (product * factor, with_index(index, a, own[a]))
    });
    let Some(plane) = &grid.plane else { return (straight, None) };
    let points = 0..plane.jacobian.len();
    let index = |at: usize| [at % grid.points[0], at / grid.points[0], 0];
    let jacobian = min_of(points.clone().map(|at| (plane.jacobian[at], index(at))));
    // sin of the deviation = cos of the angle = x_ξ·x_η / |x_ξ| |x_η|.
    let angle = |at: usize| {
        let [x_xi, x_eta, y_xi, y_eta] = plane.slopes.each_ref().map(|slope| slope[at]);
        let sine = (x_xi * x_eta + y_xi * y_eta) / (x_xi.hypot(y_xi) * x_eta.hypot(y_eta));
        (sine.abs().min(1.0).asin().to_degrees(), index(at))
    };
    (jacobian, Some(max_of(points.map(angle))))
}

/// The smallest and the largest coordinates of the points.
fn extent(grid: &Grid) -> [[f64; 2]; 3] {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    };
    [0, 1, 2].map(|a| match &grid.plane {
        Some(plane) if a < 2 => range(&mut plane.coordinates[a].iter().copied()),
        _ => range(&mut (0..grid.points[a]).map(|i| grid.coordinate(a, i))),
    })
}

/// A description of the kind of grid.
fn kind(config: &Config) -> String {
    match &config.grid.mapping {
        Some(Curvilinear::Map(_)) => "curvilinear, by a map".into(),
        Some(Curvilinear::File(file)) => format!("curvilinear, points of {}", file.file.display()),
        None if config.grid().is_uniform() => "Cartesian, equal spacings".into(),
        None => "Cartesian, stretched".into(),
    }
}

/// A number with five digits.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    match rounded == 0.0 || (1e-3..1e5).contains(&rounded.abs()) {
        true => rounded.to_string(),
        false => format!("{rounded:e}"),
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, index: [i, j, k], place } = self;
        let place = place.map(digits).join(", ");
        write!(f, "{} at ({place}), point ({i}, {j}, {k})", digits(*value))
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, what: String| writeln!(f, "{name:<22}{what}");
        line("grid", self.kind.clone())?;
        line("points", self.points.map(|n| n.to_string()).join(" x "))?;
        for (axis, [low, high]) in Axis::ALL.into_iter().zip(self.extent) {
            line(axis.name(), format!("{} to {}", digits(low), digits(high)))?;
        }
        for WallCells { axis, is_high, sizes: [smallest, largest] } in &self.walls {
            let end = if *is_high { "high" } else { "low" };
            let sizes = match digits(*smallest) == digits(*largest) {
                true => digits(*smallest),
                false => format!("{} to {}", digits(*smallest), digits(*largest)),
            };
            line(&format!("wall, {end} {}", axis.name()), format!("first cells {sizes}"))?;
        }
        for Spacings { axis, smallest, largest, ratio } in &self.spacings {
            let name = format!("spacing along {}", axis.name());
            if digits(smallest.value) == digits(largest.value) {
                line(&name, format!("{} everywhere", digits(smallest.value)))?;
                continue;
            }
            line(&name, format!("smallest {smallest}"))?;
            line("", format!("largest  {largest}"))?;
            if digits(ratio.value) == "1" {
                line("", "neighbours are equal".into())?;
            } else {
                line("", format!("ratio of neighbours at most {ratio}"))?;
            }
        }
        line("Jacobian", format!("smallest {}", self.jacobian))?;
        match self.angle.filter(|angle| angle.value > ROUND_OFF) {
            None => line("angles", "all lines are orthogonal".into()),
            Some(angle) => {
                line("angles", format!("deviation from orthogonality in degrees at most {angle}"))
            }
        }
    }
}
