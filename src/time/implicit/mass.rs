//! The mass in a closed box. The equations do not determine it in a steady flow: neither preconditioned pseudo-time nor a filter
//! conserves it.

use super::vectors::Vector;
use crate::backend::{Backend, Prepared};
use crate::engine::{Formula, Number, PointFormula};
use crate::error::Result;
use crate::grid::Grid;
use crate::physics::{Problem, VolumeAverage};

/// Averages ρ over the box.
pub(super) struct Mass {
    density: Prepared,
    volume: VolumeAverage,
}

impl Mass {
    /// The average to be kept in the flow of `problem`; `None` if the box has open faces.
    pub(super) fn for_closed_box(
        backend: &dyn Backend,
        problem: &Problem,
        grid: &Grid,
    ) -> Result<Option<Self>> {
        let faces = grid.active_axes().filter_map(|axis| problem.boundaries.0[axis.index()]);
        if faces.flatten().any(|face| face.open().is_some()) {
            return Ok(None);
        }
        let volume = VolumeAverage::new(backend, grid)?;
        let density = volume.prepare(backend, PointFormula::sum(Density))?;
        Ok(Some(Self { density, volume }))
    }

    /// The average of the first unknown of `v`, a multiple of ρ. Collective.
    pub(super) fn average(&self, backend: &dyn Backend, v: &Vector) -> Result<f64> {
        let [mass] = self.volume.of(backend, &self.density, &[&v[0]], &[])?;
        Ok(mass)
    }
}

/// The value read.
struct Density;

impl Formula<1, 1> for Density {
    fn at<N: Number>(&self, value: [N; 1], _: [N; 1], _: [N; 0]) -> [N; 1] {
        value
    }
}
