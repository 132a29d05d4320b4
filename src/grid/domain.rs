//! The box of a flow.

use std::f64::consts::TAU;

/// The box of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Length of a period along x, y, z.
    pub length: [f64; 3],
}

impl Domain {
    /// The box [0, `length`]³.
    pub const fn cube(length: f64) -> Domain {
        Domain { origin: [0.0; 3], length: [length; 3] }
    }

    /// 2π / L along `axis`: the wavenumber of one period in the box.
    pub fn wavenumber(&self, axis: usize) -> f64 {
        TAU / self.length[axis]
    }

    /// The distance along `axis` from `from` to the nearest periodic image of `to`, in [−L/2, L/2].
    pub fn shortest(&self, axis: usize, from: f64, to: f64) -> f64 {
        let length = self.length[axis];
        let way = to - from;
        way - length * (way / length).round()
    }

    /// Coordinates of the middle of the box.
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.origin[axis] + 0.5 * self.length[axis])
    }
}
