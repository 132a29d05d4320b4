//! What boundaries hold of the state at a point, in the place of its equations.

use super::blocks::{Flow, Matrix};
use crate::boundary::{Beyond, Face, Heat, Known};
use crate::gas::Gas;
use crate::physics::slots::conserved::{COUNT, ENERGY, MASS, MOMENTUM};

/// The conserved variables that are not free at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Held {
    variables: [bool; COUNT],
    /// Of the energy, where it is held.
    heat: Temperature,
    /// Across which axis a wall lies.
    wall: Option<usize>,
}

/// What is known of the temperature of a wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Temperature {
    /// It does not change.
    #[default]
    Given,
    /// It changes as at this point inside.
    Follows(usize),
}

impl Held {
    /// With what `face` across `axis` holds; `inner` is the point inside.
    pub(super) fn hold(&mut self, face: Face, (axis, inner): (usize, Option<usize>), gas: &Gas) {
        match face {
            Face::Symmetry => self.variables[MOMENTUM + axis] = true,
            Face::Wall(wall) => {
                if self.wall.is_some_and(|other| other != axis) {
                    // An edge: the density is held too.
                    self.variables[MASS] = true;
                }
                self.wall = Some(axis);
                self.variables[MOMENTUM..].fill(true);
                self.heat = match (wall.heat, inner) {
                    (Heat::HeatFlux(_), Some(inner)) => Temperature::Follows(inner),
                    _ => Temperature::Given,
                };
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

    /// The block on the diagonal with what is held: momentum stays, energy follows density at the temperature of the wall.
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

    /// The block beside it of the point `to`.
    pub(super) fn beside(
        &self,
        matrix: &mut Matrix,
        per_dt: f64,
        (to, other): (usize, &Flow),
        own: &Flow,
    ) {
        for row in 0..COUNT {
            if self.variables[row] {
                matrix.0[row] = [0.0; COUNT];
            }
        }
        if self.variables[ENERGY] && !self.variables[MASS] && self.heat == Temperature::Follows(to)
        {
            matrix.0[ENERGY] = other.inner_energy().map(|inner| -per_dt * own.rho * inner);
        }
    }
}
