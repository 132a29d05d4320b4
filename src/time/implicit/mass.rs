//! The mass of a closed box. The equations leave it open in a steady flow: neither preconditioned pseudo-time nor a filter keeps it.

use super::vectors::Vector;
use crate::backend::{Backend, Field, Prepared};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::grid::Grid;
use crate::physics::Problem;

/// Sums ρ over the box.
pub(super) struct Mass {
    sum: Prepared,
    /// Of the points in an average over the volume.
    weights: Field,
}

impl Mass {
    /// That of the flow of `problem`, unless gas passes through faces.
    pub(super) fn kept(
        backend: &dyn Backend,
        problem: &Problem,
        grid: &Grid,
    ) -> Result<Option<Self>> {
        let mut faces = problem.boundaries.0.iter().flatten().flatten();
        if faces.any(|face| face.open().is_some()) {
            return Ok(None);
        }
        let block = backend.block(grid.points);
        let weights = (0..block.len()).map(|at| grid.weight(block.index(at)));
        let weights = backend.field(&weights.collect::<Vec<f64>>().into())?;
        Ok(Some(Self { sum: backend.prepare(PointFormula::sum(Weighted))?, weights }))
    }

    /// Of unknowns of which the first is ρ, or a multiple. Collective.
    pub(super) fn of(&self, backend: &dyn Backend, v: &Vector) -> Result<f64> {
        let [mass] = backend.reduce(&self.sum, &[&v[0], &self.weights], &[])?.wait()?;
        Ok(mass)
    }
}

/// A value times its weight.
struct Weighted;

impl Formula<2, 1> for Weighted {
    #[inline(always)]
    fn at<N: Number>(&self, [value, weight]: [N; 2], _: [N; 1], _: [N; 0]) -> [N; 1] {
        [value * weight]
    }
}
