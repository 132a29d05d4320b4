//! The grid: Cartesian, with variable spacing along its axes, or curvilinear in the x-y plane.

mod aerofoil;
mod boxes;
mod conformal;
mod decomposition;
mod domain;
mod mapping;
mod nodes;
mod plane;
mod redistribute;
mod stretching;

use std::sync::Arc;

use serde::Serialize;

pub use boxes::Boxes;
pub use decomposition::{Block, Decomposition};
pub use domain::Domain;
pub use mapping::Mapping;
pub use nodes::{Curvilinear, NodeFile, Nodes};
pub use plane::Plane;
pub use redistribute::redistribute;
pub(crate) use redistribute::redistribute_into;
pub use stretching::{Ends, Maps, Spacing, Stretching, spacings};

/// Largest number of points along an axis.
pub(crate) const MAX_POINTS_PER_AXIS: usize = 65536;

/// A direction of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// i, fastest in memory.
    X,
    /// j.
    Y,
    /// k, slowest in memory.
    Z,
}

impl Axis {
    /// x, y, z.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Its letter.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }

    /// 0, 1, 2.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// (i, j, k) of index `at` in a box of this size along x, y, z, x fastest.
pub(crate) fn position(at: usize, [nx, ny, _]: [usize; 3]) -> [usize; 3] {
    [at % nx, at / nx % ny, at / (nx * ny)]
}

/// How operators are closed at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Rows that sum by parts, with which waves neither grow nor decay, whatever the other end and the spacings.
    ByParts,
    /// Mirror images: a symmetry plane.
    Symmetry,
    /// Rows by Taylor matching. They are more accurate, but beside walls and where points are clustered waves grow.
    Taylor,
}

/// Weights at the ends of a line by the trapezoidal rule.
const TRAPEZOIDAL: [f64; 1] = [0.5];

/// A box of points. An axis with one point is inactive: nothing varies along it and no operator acts there.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Spacing h along x, y, z; of ξ along a stretched axis.
    pub spacing: [f64; 3],
    /// The low and the high end along x, y, z; `None` along periodic lines.
    pub ends: [Option<[End; 2]>; 3],
    /// Weights for an integral along ξ with h = 1: those of the first points from either end of an axis. The weights of all other points,
    /// and on periodic axes, are 1.
    pub end_weights: [[&'static [f64]; 2]; 3],
    /// The points of stretched axes.
    pub lines: [Option<Arc<Line>>; 3],
    /// The points of a curvilinear grid in the plane of its first two axes, whose coordinates are then ξ and η.
    pub plane: Option<Arc<Plane>>,
}

/// The points of a stretched axis. They are equally spaced in ξ, which equals x at the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// x at the points; on a periodic axis also x of the first point, shifted by one period.
    pub coordinates: Vec<f64>,
    /// dx/dξ at the points.
    pub jacobian: Vec<f64>,
    /// d²x/dξ² at the points.
    pub curvature: Vec<f64>,
}

impl Grid {
    /// A grid that is periodic along every axis: h = L / n.
    pub fn periodic(points: [usize; 3], domain: &Domain) -> Self {
        Self::new(points, domain, [None; 3])
    }

    /// A grid over `domain` with equal spacings; along a bounded axis the last point lies on the end of the box, h = L / (n − 1).
    pub fn new(points: [usize; 3], domain: &Domain, ends: [Option<[End; 2]>; 3]) -> Self {
        let spacing = std::array::from_fn(|a| {
            let intervals = if ends[a].is_none() { points[a] } else { points[a].max(2) - 1 };
            domain.length[a] / intervals as f64
        });
        Self {
            points,
            origin: domain.origin,
            spacing,
            ends,
            end_weights: [[&TRAPEZOIDAL; 2]; 3],
            lines: [const { None }; 3],
            plane: None,
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// The inverse number of points: the weight of a point in an unweighted average.
    pub fn per_point(&self) -> f64 {
        1.0 / self.len() as f64
    }

    /// The inverse sum of all weights: a volume average is this times the sum over all points, each with its [`Grid::weight`].
    pub fn per_interval(&self) -> f64 {
        let sum = |a: usize| match (&self.lines[a], self.is_closed_along(a)) {
            (Some(_), _) => (0..self.points[a]).map(|i| self.weight_along(a, i)).sum(),
            (None, true) => self.points[a] as f64,
            (None, false) => (self.points[a] - 1) as f64,
        };
        let Some(plane) = &self.plane else { return 1.0 / (0..3).map(sum).product::<f64>() };
        let points = 0..plane.jacobian.len();
        let in_plane: f64 =
            points.map(|at| self.weight([at % self.points[0], at / self.points[0], 0])).sum();
        1.0 / (in_plane / self.weight_along(2, 0) * sum(2))
    }

    /// The weight of the point (i, j, k) in a volume average.
    pub fn weight(&self, index: [usize; 3]) -> f64 {
        let jacobian =
            self.plane.as_ref().map_or(1.0, |plane| plane.jacobian[self.in_plane(index)]);
        (0..3).map(|a| self.weight_along(a, index[a])).product::<f64>() * jacobian
    }

    /// The weights of the points along axis `a` in an average along it.
    pub fn averaging_weights(&self, a: usize) -> Vec<f64> {
        let weights = (0..self.points[a]).map(|i| self.weight_along(a, i));
        let sum: f64 = weights.clone().sum();
        weights.map(|weight| weight / sum).collect()
    }

    /// The index of the point (i, j, k) in the plane of the first two axes.
    pub fn in_plane(&self, [i, j, _]: [usize; 3]) -> usize {
        i + self.points[0] * j
    }

    /// dx/dξ times the weight along ξ.
    fn weight_along(&self, a: usize, i: usize) -> f64 {
        let from_ends = [i, self.points[a] - 1 - i];
        let along = |(from, weights): (usize, &'static [f64])| weights.get(from).copied();
        let weight = match self.is_closed_along(a) {
            true => None,
            false => from_ends.into_iter().zip(self.end_weights[a]).find_map(along),
        };
        weight.unwrap_or(1.0) * self.jacobian(a, i)
    }

    /// dx/dξ at point `i` along axis `a`: 1 on an axis without stretching.
    pub fn jacobian(&self, a: usize, i: usize) -> f64 {
        self.lines[a].as_ref().map_or(1.0, |line| line.jacobian[i])
    }

    /// The smallest spacing along axis `a`: that of ξ, times the smallest dx/dξ.
    pub fn smallest_spacing(&self, a: usize) -> f64 {
        let least = |line: &Arc<Line>| line.jacobian.iter().copied().fold(f64::INFINITY, f64::min);
        self.spacing[a] * self.lines[a].as_ref().map_or(1.0, least)
    }

    /// The largest distance between neighbours on a grid line, including the last and the first point of a periodic line.
    pub fn largest_spacing(&self) -> f64 {
        let along = |a: usize| match &self.plane {
            Some(plane) if a < 2 => plane.largest_spacing(self.points, a, self.intervals(a)),
            _ => self.spacings(a).fold(0.0, f64::max),
        };
        (0..3).map(along).fold(0.0, f64::max)
    }

    /// Distances between neighbours along axis `a`, including the last and the first point of periodic lines; empty for a single point. In
    /// a curvilinear plane, distances in ξ and η.
    pub fn spacings(&self, a: usize) -> impl Iterator<Item = f64> {
        let intervals = if self.points[a] == 1 { 0 } else { self.intervals(a) };
        (0..intervals).map(move |i| match &self.lines[a] {
            Some(line) => line.coordinates[i + 1] - line.coordinates[i],
            None => self.spacing[a],
        })
    }

    /// True if no axis has variable spacing.
    pub fn is_uniform(&self) -> bool {
        self.lines.iter().all(Option::is_none) && self.plane.is_none()
    }

    /// True if lines are periodic along every axis.
    pub fn is_periodic(&self) -> bool {
        self.ends == [None; 3]
    }

    /// True if lines along some axis have an end that satisfies `is`.
    pub fn has_end(&self, is: impl Fn(End) -> bool) -> bool {
        self.ends.iter().flatten().flatten().any(|end| is(*end))
    }

    /// True if lines along `axis` end at a symmetry plane.
    pub fn is_mirrored(&self, axis: Axis) -> bool {
        self.ends[axis.index()].is_some_and(|ends| ends.contains(&End::Symmetry))
    }

    /// True if lines along axis `a` are periodic.
    pub fn is_closed_along(&self, a: usize) -> bool {
        self.ends[a].is_none()
    }

    /// Number of intervals of a line along axis `a`: the number of points on a periodic line, otherwise one less.
    pub fn intervals(&self, a: usize) -> usize {
        self.points[a] - usize::from(!self.is_closed_along(a))
    }

    /// True for a grid without points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if there is more than one point along `axis`.
    pub fn is_active(&self, axis: Axis) -> bool {
        self.points[axis.index()] > 1
    }

    /// The axes with more than one point.
    pub fn active_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        Axis::ALL.into_iter().filter(|&axis| self.is_active(axis))
    }

    /// Whether each of x, y, z has more than one point.
    pub fn active(&self) -> [bool; 3] {
        Axis::ALL.map(|axis| self.is_active(axis))
    }

    /// (i, j, k) of the point at index `at` of a field.
    pub fn index(&self, at: usize) -> [usize; 3] {
        position(at, self.points)
    }

    /// The distance between two points.
    pub fn distance(&self, from: [usize; 3], to: [usize; 3]) -> f64 {
        let [from, to] = [from, to].map(|index| self.coordinates(index));
        (0..3).map(|k| (from[k] - to[k]).powi(2)).sum::<f64>().sqrt()
    }

    /// Coordinates of the point (i, j, k).
    pub fn coordinates(&self, index: [usize; 3]) -> [f64; 3] {
        let own = |a: usize| self.coordinate(a, index[a]);
        match &self.plane {
            None => [own(0), own(1), own(2)],
            Some(plane) => {
                let [x, y] = plane.coordinates.each_ref().map(|it| it[self.in_plane(index)]);
                [x, y, own(2)]
            }
        }
    }

    /// The coordinate of point `i` along axis `a`, in the plane of a curvilinear grid ξ or η; on a periodic axis also of the first point,
    /// shifted by one period.
    pub fn coordinate(&self, a: usize, i: usize) -> f64 {
        match &self.lines[a] {
            Some(line) => line.coordinates[i],
            None => self.origin[a] + self.spacing[a] * i as f64,
        }
    }
}
