//! What is known beyond an open face, at the points of a part of the block.

use crate::backend::{Backend, Field, Prepared};
use crate::engine::PointFormula;
use crate::error::Result;
use crate::grid::Block;
use crate::real::Values;

/// A part of the block: a face, or the zone of a sponge.
pub(in crate::physics) struct Part<'a> {
    pub(super) backend: &'a dyn Backend,
    /// Of the block.
    pub(super) points: [usize; 3],
    pub(super) part: Block,
}

impl Part<'_> {
    /// See [`Backend::prepare_part`].
    pub(in crate::physics) fn prepare(
        &self,
        formula: PointFormula,
        reads: &[(usize, isize)],
        own: usize,
    ) -> Result<Prepared> {
        self.backend.prepare_part(formula, self.points, self.part, reads, own)
    }

    /// A field of its points alone.
    pub(in crate::physics) fn field(&self, value: impl Fn(usize) -> f64) -> Result<Field> {
        let mut values = Values::zeros(self.backend.precision(), self.part.len());
        (0..self.part.len()).for_each(|at| values.set(at, value(at)));
        self.backend.field(&values)
    }
}

/// Fields of what is known.
pub(in crate::physics) struct Target {
    pub(in crate::physics) fields: Vec<Field>,
    /// What takes them from the state at the start, where they are of that.
    of_start: Option<Prepared>,
}

impl Target {
    /// One field of each of these values on `part`, which a formula takes from the start where there is one; it reads so much.
    pub(in crate::physics) fn new(
        part: &Part<'_>,
        values: impl IntoIterator<Item = f64>,
        of_start: Option<(PointFormula, Vec<(usize, isize)>)>,
    ) -> Result<Self> {
        Self::behind(part, values, of_start, 0)
    }

    /// The same with a formula that takes so many more fields of the part.
    pub(in crate::physics) fn behind(
        part: &Part<'_>,
        values: impl IntoIterator<Item = f64>,
        of_start: Option<(PointFormula, Vec<(usize, isize)>)>,
        more: usize,
    ) -> Result<Self> {
        let fields = values.into_iter().map(|value| part.field(|_| value));
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let prepare =
            |(formula, reads): (_, Vec<_>)| part.prepare(formula, &reads, fields.len() + more);
        let of_start = of_start.map(prepare).transpose()?;
        Ok(Self { fields, of_start })
    }

    /// Whether they are of that.
    pub(in crate::physics) fn is_of_start(&self) -> bool {
        self.of_start.is_some()
    }

    /// Take them from these fields of the start, if they are of that, with what else the formula takes.
    pub(in crate::physics) fn know_start<'a>(
        &'a mut self,
        backend: &dyn Backend,
        start: impl IntoIterator<Item = &'a mut Field>,
        more: &'a mut [Field],
    ) {
        if let Some(formula) = &self.of_start {
            let all = start.into_iter().chain(&mut self.fields).chain(more);
            backend.map_part(formula, &mut all.collect::<Vec<_>>(), &[]);
        }
    }
}
