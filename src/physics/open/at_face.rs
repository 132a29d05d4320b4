//! What is done to a flow, or to a scalar, at the points of an open face or in the zone of a sponge.

use smallvec::SmallVec;

use super::waves::ALL;
use crate::backend::{Backend, Field, Prepared};
use crate::error::Result;
use crate::physics::discretisation::Part;

/// The formulas of a flow or a scalar there, and the fields that they take behind those of the state, in this order.
pub(in crate::physics) struct AtFace {
    /// Makes the sums of rates and the state, or the state alone where it is given, what they should be.
    pub(in crate::physics) correct: Prepared,
    /// Gives the state where a start comes in faster than sound.
    pub(in crate::physics) give: Option<Prepared>,
    /// Keeps the sums of rates; none where nobody needs them.
    pub(in crate::physics) keep: Option<Prepared>,
    /// Takes what is known from the state at the start, where it is of that.
    pub(in crate::physics) of_start: Option<Prepared>,
    /// The sums of rates before a stage; what is [`left`](super::left) behind a flow.
    pub(in crate::physics) kept: Vec<Field>,
    /// What is known beyond: a state or φ, and behind it the outward derivatives where waves go through.
    pub(in crate::physics) beyond: Vec<Field>,
    /// What is known of the points of the face.
    pub(in crate::physics) geometry: Vec<Field>,
}

impl AtFace {
    /// By `correct`, without waves: one field of each of the values `beyond`.
    pub(in crate::physics) fn new(
        part: &Part<'_>,
        correct: Prepared,
        beyond: impl IntoIterator<Item = f64>,
        of_start: Option<Prepared>,
    ) -> Result<Self> {
        let beyond =
            beyond.into_iter().map(|value| part.field(|_| value)).collect::<Result<_>>()?;
        let (kept, geometry) = (Vec::new(), Vec::new());
        Ok(Self { correct, give: None, keep: None, of_start, kept, beyond, geometry })
    }

    /// Take what is known from these fields of the start, if it is of that.
    pub(in crate::physics) fn know_start<'a>(
        &'a mut self,
        backend: &dyn Backend,
        start: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(formula) = &self.of_start {
            let own = self.beyond.iter_mut().chain(&mut self.geometry);
            run(backend, formula, start.into_iter().chain(own), &[]);
        }
    }

    /// Make the state, the first of `fields`, that of the start where this comes in faster than sound.
    pub(in crate::physics) fn give_start<'a>(
        &'a mut self,
        backend: &dyn Backend,
        fields: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(give) = &self.give {
            let own = self.beyond.iter_mut().chain(&mut self.geometry);
            run(backend, give, fields.into_iter().chain(own), &[]);
        }
    }

    /// Keep the sums of rates.
    pub(in crate::physics) fn keep<'a>(
        &'a mut self,
        backend: &dyn Backend,
        rates: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(keep) = &self.keep {
            run(backend, keep, rates.into_iter().chain(&mut self.kept), &[]);
        }
    }

    /// Make the sums of rates and the state, with which `fields` begin, what they should be.
    pub(in crate::physics) fn correct<'a>(
        &'a mut self,
        backend: &dyn Backend,
        fields: impl IntoIterator<Item = &'a mut Field>,
        parameters: &[f64],
    ) {
        let own = self.kept.iter_mut().chain(&mut self.beyond).chain(&mut self.geometry);
        run(backend, &self.correct, fields.into_iter().chain(own), parameters);
    }
}

/// Run `formula`: a step allocates nothing.
fn run<'a>(
    backend: &dyn Backend,
    formula: &Prepared,
    fields: impl Iterator<Item = &'a mut Field>,
    parameters: &[f64],
) {
    backend.map_part(formula, &mut fields.collect::<SmallVec<[_; ALL]>>(), parameters);
}
