//! The uniform Cartesian grid.

mod decomposition;
mod domain;
mod redistribute;

use serde::Serialize;

pub use decomposition::{Block, Decomposition};
pub use domain::Domain;
pub use redistribute::redistribute;
pub(crate) use redistribute::redistribute_into;

/// Most points along an axis.
pub(crate) const MOST_POINTS: usize = 65536;

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

/// A box of points, periodic along every axis unless said otherwise. An axis with one point is inactive: nothing varies
/// along it and no operator acts there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Points along x, y, z.
    pub points: [usize; 3],
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Spacing h along x, y, z.
    pub spacing: [f64; 3],
    /// False where a line has two ends.
    pub periodic: [bool; 3],
    /// Which of the two ends along x, y, z are planes of symmetry; closures hold at the others.
    pub mirrors: [[bool; 2]; 3],
}

impl Grid {
    /// A grid that is periodic along every axis: h = L / n.
    pub fn periodic(points: [usize; 3], domain: &Domain) -> Self {
        Self::new(points, domain, [true; 3])
    }

    /// A grid over `domain`; along an axis that is not periodic the last point lies on the end of the box, h = L / (n − 1).
    #[allow(clippy::cast_precision_loss, reason = "grids are far smaller than 2^52 points an axis")]
    pub fn new(points: [usize; 3], domain: &Domain, periodic: [bool; 3]) -> Self {
        let spacing = std::array::from_fn(|a| {
            let intervals = if periodic[a] { points[a] } else { points[a].max(2) - 1 };
            domain.length[a] / intervals as f64
        });
        Self { points, origin: domain.origin, spacing, periodic, mirrors: [[false; 2]; 3] }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// The weight of a point in a volume average: one over their number.
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 points")]
    pub fn per_point(&self) -> f64 {
        1.0 / self.len() as f64
    }

    /// One over the number of intervals: a volume average is this times the sum over all points, each with its
    /// [`Grid::weight`].
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 points")]
    pub fn per_interval(&self) -> f64 {
        let intervals =
            |a: usize| if self.periodic[a] { self.points[a] } else { self.points[a] - 1 };
        1.0 / (0..3).map(|a| intervals(a) as f64).product::<f64>()
    }

    /// The weight of the point (i, j, k) in a volume average by the trapezoidal rule: ½ for each axis of which it is an end.
    pub fn weight(&self, index: [usize; 3]) -> f64 {
        let is_end =
            |a: &usize| !self.periodic[*a] && (index[*a] == 0 || index[*a] + 1 == self.points[*a]);
        0.5_f64.powi((0..3).filter(is_end).count().try_into().unwrap_or(0))
    }

    /// True where lines along every axis close.
    pub fn is_periodic(&self) -> bool {
        self.periodic == [true; 3]
    }

    /// True for a grid without points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True where there is more than one point along `axis`.
    pub fn is_active(&self, axis: Axis) -> bool {
        self.points[axis.index()] > 1
    }

    /// The axes with more than one point.
    pub fn active_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        Axis::ALL.into_iter().filter(|&axis| self.is_active(axis))
    }

    /// Which of x, y, z have more than one point.
    pub fn active(&self) -> [bool; 3] {
        Axis::ALL.map(|axis| self.is_active(axis))
    }

    /// (i, j, k) of the point at position `at` of a field.
    pub fn index(&self, at: usize) -> [usize; 3] {
        let [nx, ny, _] = self.points;
        [at % nx, at / nx % ny, at / (nx * ny)]
    }

    /// Coordinates of the point (i, j, k).
    #[allow(clippy::cast_precision_loss, reason = "grids are far smaller than 2^52 points an axis")]
    pub fn coordinates(&self, index: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.origin[a] + self.spacing[a] * index[a] as f64)
    }
}
