//! What boundaries hold of the state at a point, in the place of its equations.

use super::blocks::{Flow, Matrix};
use crate::boundary::{Beyond, Face, Heat, Known};
use crate::gas::Gas;
use crate::physics::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};

/// The conserved variables that are not free at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Held {
    variables: [bool; COUNT],
    /// The axis normal to a wall.
    wall: Option<usize>,
}

impl Held {
    /// Add the variables that `face` across `axis` holds.
    pub(super) fn hold(&mut self, face: Face, axis: usize, gas: &Gas) {
        match face {
            Face::Symmetry => self.variables[MOMENTUM + axis] = true,
            Face::Wall(wall) => {
                let is_edge = self.wall.is_some_and(|other| other != axis);
                self.wall = Some(axis);
                self.variables[MASS] |= is_edge;
                self.variables[MOMENTUM..ENERGY].fill(true);
                self.variables[ENERGY] |= is_edge || matches!(wall.heat, Heat::Temperature(_));
            }
            Face::Open(open) => {
                if let Beyond::Inflow(Known::Stream(stream)) = open.beyond
                    && stream.is_supersonic(gas, axis)
                {
                    self.variables.fill(true);
                }
            }
        }
    }

    /// Whether each variable is imposed on the state.
    pub(super) fn variables(&self) -> [bool; COUNT] {
        self.variables
    }

    /// The diagonal block with the rows of held variables: momentum is fixed, energy follows density at the wall temperature.
    pub(super) fn diagonal(&self, matrix: &mut Matrix, per_dt: f64, own: &Flow) {
        for row in 0..COUNT {
            if self.variables[row] {
                matrix.0[row] = [0.0; COUNT];
                matrix.0[row][row] = per_dt;
            }
        }
        if self.variables[ENERGY] && !self.variables[MASS] {
            matrix.0[ENERGY][MASS] = -per_dt * own.energy;
        }
    }

    /// An off-diagonal block: held variables depend on no neighbour.
    pub(super) fn beside(&self, matrix: &mut Matrix) {
        for row in 0..COUNT {
            if self.variables[row] {
                matrix.0[row] = [0.0; COUNT];
            }
        }
    }
}
