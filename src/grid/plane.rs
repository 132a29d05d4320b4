//! The points of a curvilinear grid, which do not depend on z, and the metric of its lines.

use crate::simd::array_of;

/// Values at the points of a plane, first axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// x and y.
    pub coordinates: [Vec<f64>; 2],
    /// Displacement of (x, y) over one period along each of the two axes, if they are periodic: (0, 0) for closed lines.
    pub periods: [[f64; 2]; 2],
    /// ∂x/∂ξ, ∂x/∂η, ∂y/∂ξ, ∂y/∂η.
    pub slopes: [Vec<f64>; 4],
    /// J = ∂x/∂ξ ∂y/∂η − ∂x/∂η ∂y/∂ξ.
    pub jacobian: Vec<f64>,
}

impl Plane {
    /// J ∂ξ/∂x, J ∂ξ/∂y, J ∂η/∂x and J ∂η/∂y at a point: the areas of faces across the lines.
    pub fn areas(&self, at: usize) -> [f64; 4] {
        let [x_xi, x_eta, y_xi, y_eta] = self.slopes.each_ref().map(|slope| slope[at]);
        [y_eta, -x_eta, -y_xi, x_xi]
    }

    /// ∇ξ for axis 0, ∇η for axis 1 at a point.
    pub fn gradient(&self, at: usize, axis: usize) -> [f64; 2] {
        [0, 1].map(|k| self.areas(at)[2 * axis + k] / self.jacobian[at])
    }

    /// The direction of the lines along axis 0 or 1 at a point.
    pub fn direction(&self, at: usize, axis: usize) -> [f64; 2] {
        let [x, y] = [axis, 2 + axis].map(|slope| self.slopes[slope][at]);
        let length = x.hypot(y);
        [x / length, y / length]
    }

    /// (x, y) at point (i, j) of a grid of `points`, including points one period beyond the first.
    pub fn place(&self, [nx, ny, _]: [usize; 3], [i, j]: [usize; 2]) -> [f64; 2] {
        let at = i % nx + nx * (j % ny);
        let behind = [i >= nx, j >= ny];
        array_of(|k| {
            let periods = self.periods.iter().zip(behind).filter(|(_, behind)| *behind);
            self.coordinates[k][at] + periods.map(|(period, _)| period[k]).sum::<f64>()
        })
    }

    /// The largest distance between neighbours on lines along axis `a` with this number of `intervals`.
    pub(super) fn largest_spacing(&self, points: [usize; 3], a: usize, intervals: usize) -> f64 {
        let along = |i: usize, line: usize| match a {
            0 => self.place(points, [i, line]),
            _ => self.place(points, [line, i]),
        };
        let distance = |i: usize, line: usize| {
            let [from, to] = [along(i, line), along(i + 1, line)];
            (to[0] - from[0]).hypot(to[1] - from[1])
        };
        let of_line = |line| (0..intervals).map(move |i| distance(i, line));
        (0..points[1 - a]).flat_map(of_line).fold(0.0, f64::max)
    }
}
