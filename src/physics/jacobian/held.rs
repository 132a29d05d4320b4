//! The conserved variables that boundary conditions impose at a point instead of its equations.

use super::blocks::{Flow, Matrix};
use crate::boundary::{Beyond, Face, Heat, Known};
use crate::gas::Gas;
use crate::physics::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};

/// The imposed conserved variables at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ImposedVariables {
    variables: [bool; COUNT],
    /// The axis normal to a wall.
    wall: Option<usize>,
}

impl ImposedVariables {
    /// Add the variables that `face` across `axis` imposes.
    pub(super) fn add_face(&mut self, face: Face, axis: usize, gas: &Gas) {
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

    /// Whether each variable is imposed.
    pub(super) fn variables(&self) -> [bool; COUNT] {
        self.variables
    }

    /// Replace the rows of imposed variables in the diagonal block: momentum is fixed, energy follows density at the wall temperature.
    pub(super) fn set_diagonal(&self, matrix: &mut Matrix, per_dt: f64, own: &Flow) {
        self.clear_rows(matrix);
        for row in (0..COUNT).filter(|row| self.variables[*row]) {
            matrix.0[row][row] = per_dt;
        }
        if self.variables[ENERGY] && !self.variables[MASS] {
            matrix.0[ENERGY][MASS] = -per_dt * own.energy;
        }
    }

    /// Clear the rows of imposed variables: in an off-diagonal block, because they depend on no neighbour.
    pub(super) fn clear_rows(&self, matrix: &mut Matrix) {
        for row in 0..COUNT {
            if self.variables[row] {
                matrix.0[row] = [0.0; COUNT];
            }
        }
    }
}
