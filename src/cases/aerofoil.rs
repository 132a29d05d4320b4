//! A NACA 0012 aerofoil in a uniform stream.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowPoint, GridCase, Place, body_boundaries, require};
use crate::boundary::{Boundaries, Sponge};
use crate::error::Result;
use crate::gas::Gas;
use crate::grid::{Mapping, Plane};

/// An aerofoil of chord 1 in a stream with V₀ at an angle α to its chord, (u, v) = (cos α, sin α), on an O-grid around it. The initial
/// velocity is the stream times 1 − exp(−(d/δ)²) at the distance d from the wall, so that it vanishes at the wall, with uniform density and
/// pressure. The wall is the first line of the grid for any map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Aerofoil {
    /// α, in degrees.
    pub angle: f64,
}

/// The section, and its trailing-edge radius.
const DIGITS: &str = "0012";
const TRAILING_EDGE: f64 = 0.003;
/// δ.
const LAYER: f64 = 0.05;
/// Distance between the first two lines about mid-chord.
const FIRST_SPACING: f64 = 0.004;
/// Radius of the far field, and width and strength of the sponge in front of it.
const FAR_RADIUS: f64 = 30.0;
const SPONGE: Sponge = Sponge { width: 15.0, strength: 0.2 };

impl Aerofoil {
    pub(super) const ABOUT: About = About {
        name: "aerofoil",
        title: "Aerofoil",
        summary: "a NACA 0012 aerofoil in a uniform stream: drag, lift, separation (2-D or 3-D, O-grid)",
        input: include_str!("../../configs/aerofoil.toml"),
        mach: |_| 0.5,
        reynolds: 5000.0,
        domain: Domain { origin: [0.0; 3], length: [1.0, 1.0, 0.2] },
        needs: [true, true, false],
    };

    /// (u, v) of the stream.
    fn stream(self) -> [f64; 2] {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        [cos, sin]
    }
}

impl Definition for Aerofoil {
    fn mapping(&self) -> Option<Mapping> {
        let digits = DIGITS.to_string();
        Some(Mapping::Naca {
            digits,
            radius: TRAILING_EDGE,
            outer: FAR_RADIUS,
            first: Some(FIRST_SPACING),
        })
    }

    fn boundaries(&self, gas: &Gas) -> Boundaries {
        body_boundaries(gas, self.stream(), SPONGE)
    }

    fn grid_dependence(&self) -> Option<&'static str> {
        Some("the wall is the polygon through the points of the section")
    }

    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        require(self.angle.abs() <= 90.0, "angle", || {
            format!("angle = {}: degrees from the chord\nallowed: −90 to 90", self.angle)
        })
    }
}

impl GridCase for Aerofoil {
    fn start(&self, place: &Place<'_>, _: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>> {
        let Place { comm, decomposition, ref grid, gas, .. } = *place;
        let block = decomposition.block(comm.rank(), grid.points);
        let [u, v] = self.stream();
        let wall_points = grid.points[0];
        // One plane is enough: nothing varies along the span.
        let plane = block.points[0] * block.points[1];
        let point = |at: usize| {
            let [x, y, _] = grid.coordinates(block.index(at));
            let wall_distance =
                grid.plane.as_ref().map_or(f64::INFINITY, |it| distance(it, wall_points, [x, y]));
            let factor = 1.0 - (-(wall_distance / LAYER).powi(2)).exp();
            FlowPoint {
                density: 1.0,
                velocity: [factor * u, factor * v, 0.0],
                pressure: gas.reference_pressure(),
            }
        };
        let flow: Vec<FlowPoint> = (0..plane).into_par_iter().map(point).collect();
        Ok((0..block.len()).map(|at| flow[at % plane]).collect())
    }
}

/// The distance from a point to the polygon through the first `wall_points` points of a plane.
fn distance(plane: &Plane, wall_points: usize, [x, y]: [f64; 2]) -> f64 {
    let corner = |i: usize| plane.coordinates.each_ref().map(|it| it[i % wall_points]);
    let to_side = |i: usize| {
        let ([x0, y0], [x1, y1]) = (corner(i), corner(i + 1));
        let (along, offset) = ([x1 - x0, y1 - y0], [x - x0, y - y0]);
        let fraction =
            (along[0] * offset[0] + along[1] * offset[1]) / (along[0].powi(2) + along[1].powi(2));
        let fraction = fraction.clamp(0.0, 1.0);
        (offset[0] - fraction * along[0]).hypot(offset[1] - fraction * along[1])
    };
    (0..wall_points).map(to_side).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects a distance to corners instead of sides, or to infinite lines instead of sides.
    #[test]
    fn distance_is_measured_to_the_nearest_side() {
        let square = [[0.0, 2.0, 2.0, 0.0, 9.0], [0.0, 0.0, 2.0, 2.0, 9.0]].map(Vec::from);
        let none = || std::array::from_fn(|_| Vec::new());
        let plane = Plane {
            coordinates: square,
            periods: [[0.0; 2]; 2],
            slopes: none(),
            jacobian: Vec::new(),
        };
        let found =
            [[1.0, -0.5], [-0.25, 1.0], [5.0, 6.0], [2.0, 0.7]].map(|at| distance(&plane, 4, at));
        assert_eq!(found, [0.5, 0.25, 5.0, 0.0]);
    }
}
