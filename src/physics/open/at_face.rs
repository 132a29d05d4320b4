//! The formulas for a flow or a scalar at the points of an open face or in the zone of a sponge.

use smallvec::SmallVec;

use super::waves::FACE_FIELDS;
use crate::backend::{Backend, Field, Prepared};
use crate::error::Result;
use crate::physics::discretisation::Part;

/// The formulas for a flow or a scalar, and the fields that they take after those of the state, in this order.
pub(in crate::physics) struct AtFace {
    /// Corrects the accumulated rates and the state; if the state is prescribed, sets the state only.
    pub(in crate::physics) correct: Prepared,
    /// Sets the state where the initial flow enters at supersonic speed.
    pub(in crate::physics) impose: Option<Prepared>,
    /// Copies the accumulated rates; `None` if they are not needed.
    pub(in crate::physics) save_rates: Option<Prepared>,
    /// Takes the values beyond the face from the initial state, if they are defined by it.
    pub(in crate::physics) from_initial: Option<Prepared>,
    /// The accumulated rates before a stage; for a flow, the values at [`scalar_slots`](super::scalar_slots) afterwards.
    pub(in crate::physics) saved_rates: Vec<Field>,
    /// The values beyond: a state or φ, followed by the outward derivatives if waves pass the face.
    pub(in crate::physics) beyond: Vec<Field>,
    /// Geometry of the points of the face.
    pub(in crate::physics) geometry: Vec<Field>,
}

impl AtFace {
    /// With the formula `correct`, without waves: one field for each of the values `beyond`.
    pub(in crate::physics) fn new(
        part: &Part<'_>,
        correct: Prepared,
        beyond: impl IntoIterator<Item = f64>,
        from_initial: Option<Prepared>,
    ) -> Result<Self> {
        let beyond =
            beyond.into_iter().map(|value| part.field(|_| value)).collect::<Result<_>>()?;
        let (saved_rates, geometry) = (Vec::new(), Vec::new());
        Ok(Self {
            correct,
            impose: None,
            save_rates: None,
            from_initial,
            saved_rates,
            beyond,
            geometry,
        })
    }

    /// Take the values beyond the face from these fields of the initial state, if they are defined by it.
    pub(in crate::physics) fn capture_initial<'a>(
        &'a mut self,
        backend: &dyn Backend,
        start: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(formula) = &self.from_initial {
            let own = self.beyond.iter_mut().chain(&mut self.geometry);
            run(backend, formula, start.into_iter().chain(own), &[]);
        }
    }

    /// Set the state, the first of `fields`, to the initial state where it enters at supersonic speed.
    pub(in crate::physics) fn impose_initial<'a>(
        &'a mut self,
        backend: &dyn Backend,
        fields: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(impose) = &self.impose {
            let own = self.beyond.iter_mut().chain(&mut self.geometry);
            run(backend, impose, fields.into_iter().chain(own), &[]);
        }
    }

    /// Copy the accumulated rates.
    pub(in crate::physics) fn save_rates<'a>(
        &'a mut self,
        backend: &dyn Backend,
        rates: impl IntoIterator<Item = &'a mut Field>,
    ) {
        if let Some(save_rates) = &self.save_rates {
            run(backend, save_rates, rates.into_iter().chain(&mut self.saved_rates), &[]);
        }
    }

    /// Correct the accumulated rates and the state, the first of `fields`.
    pub(in crate::physics) fn correct<'a>(
        &'a mut self,
        backend: &dyn Backend,
        fields: impl IntoIterator<Item = &'a mut Field>,
        parameters: &[f64],
    ) {
        let own = self.saved_rates.iter_mut().chain(&mut self.beyond).chain(&mut self.geometry);
        run(backend, &self.correct, fields.into_iter().chain(own), parameters);
    }
}

/// Largest number of fields of a formula.
const MAX_FIELDS: usize = 36;
const _: () = assert!(FACE_FIELDS <= MAX_FIELDS);

/// Run `formula` without allocation.
fn run<'a>(
    backend: &dyn Backend,
    formula: &Prepared,
    fields: impl Iterator<Item = &'a mut Field>,
    parameters: &[f64],
) {
    backend.map_part(formula, &mut fields.collect::<SmallVec<[_; MAX_FIELDS]>>(), parameters);
}
