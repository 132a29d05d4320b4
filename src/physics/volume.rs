//! Fields of given values, and volume averages.

use smallvec::SmallVec;

use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::grid::Grid;
use crate::real::Values;

/// Number of fields that can be averaged without allocation: a step allocates nothing.
const INLINE_FIELDS: usize = 24;

/// A field of `len` values.
pub(super) fn field_of(
    backend: &dyn Backend,
    len: usize,
    value: impl Fn(usize) -> f64,
) -> Result<Field> {
    let mut values = Values::zeros(backend.precision(), len);
    (0..len).for_each(|at| values.set(at, value(at)));
    backend.field(&values)
}

/// ⟨·⟩ over the box with the weights of the grid: equal weights where it is periodic and uniform.
pub(crate) struct VolumeAverage {
    /// Weights of the points; `None` if all are 1.
    weights: Option<Field>,
    per_interval: f64,
}

impl VolumeAverage {
    /// On `grid`.
    pub(crate) fn new(backend: &dyn Backend, grid: &Grid) -> Result<Self> {
        let weights = || {
            let block = backend.block(grid.points);
            field_of(backend, block.len(), |at| grid.weight(block.index(at)))
        };
        let has_equal_weights = grid.is_periodic() && grid.is_uniform();
        let weights = (!has_equal_weights).then(weights).transpose()?;
        Ok(Self { weights, per_interval: grid.per_interval() })
    }

    /// Prepare a sum over all points for averaging.
    pub(crate) fn prepare(&self, backend: &dyn Backend, sum: PointFormula) -> Result<Prepared> {
        backend.prepare(if self.weights.is_some() { sum.weighted() } else { sum })
    }

    /// The averages of the results of a prepared sum. Collective.
    pub(crate) fn of<const W: usize>(
        &self,
        backend: &dyn Backend,
        formula: &Prepared,
        fields: &[&Field],
        parameters: &[f64],
    ) -> Result<[f64; W]> {
        let fields: SmallVec<[&Field; INLINE_FIELDS]> =
            fields.iter().copied().chain(&self.weights).collect();
        let sums = backend.reduce(formula, &fields, parameters)?.wait::<W>()?;
        Ok(sums.map(|sum| sum * self.per_interval))
    }
}
