//! Collective operations over the points of all ranks. All ranks must call them.

use super::system::TimeLevel;
use crate::backend::{Backend, Field};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::Values;

/// A point with an unphysical state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Broken {
    /// Name of the field with the unphysical value.
    pub(super) field: String,
    /// The value.
    pub(super) value: f64,
    /// (i, j, k) in the whole grid.
    pub(super) index: [usize; 3],
}

/// The broken point on the lowest rank that found one, on all ranks.
fn lowest(comm: &dyn Communicator, found: Option<Broken>) -> Option<Broken> {
    // As bits, because JSON has no non-finite numbers.
    let words = |it: &Broken| serde_json::to_vec(&(&it.field, it.value.to_bits(), it.index));
    let mine = found.as_ref().and_then(|it| words(it).ok()).unwrap_or_default();
    let told = comm.gather(&mine).unwrap_or_default();
    let first = told.into_iter().find(|bytes| !bytes.is_empty()).unwrap_or_default();
    let (field, value, index) = serde_json::from_slice(&comm.broadcast(0, first)).ok()?;
    Some(Broken { field, value: f64::from_bits(value), index })
}

/// Error of a diverged run: at the broken point on the lowest rank that found one, otherwise for the quantity `unknown` without a known
/// point.
pub(super) fn diverged(
    comm: &dyn Communicator,
    found: Option<Broken>,
    unknown: &str,
    TimeLevel { step, time }: TimeLevel,
) -> Error {
    let unknown = Broken { field: unknown.into(), value: f64::INFINITY, index: [0; 3] };
    let Broken { field, value, index } = lowest(comm, found).unwrap_or(unknown);
    Error::Diverged { step, time, field, value, index }
}

/// The values of fields on the host.
///
/// # Errors
/// Device errors, on all ranks if they occur on one.
pub(super) fn host_values<'a>(
    backend: &dyn Backend,
    fields: impl IntoIterator<Item = &'a Field>,
) -> Result<Vec<Values<'a>>> {
    let fields = fields.into_iter().map(|field| backend.values(field));
    all_or_error(backend.comm(), fields.collect::<Result<Vec<_>>>())
}

/// (root mean square, maximum) of the errors at the points of all ranks, each with its weight; `scale` is the inverse sum of all weights.
pub(super) fn norms(
    comm: &dyn Communicator,
    scale: f64,
    errors: impl Iterator<Item = (f64, f64)>,
) -> [f64; 2] {
    let (mut square, mut largest) = ([0.0], [0.0_f64]);
    for (error, weight) in errors {
        square[0] += weight * (error * error);
        largest[0] = largest[0].max(error.abs());
    }
    comm.sum(&mut square);
    comm.max(&mut largest);
    [(square[0] * scale).sqrt(), largest[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Solo;

    #[test]
    fn a_broken_point_arrives_as_it_was_sent_and_none_as_none() {
        let sent = Broken { field: "pressure".into(), value: -3.5e-7, index: [17, 0, 1 << 33] };
        assert_eq!(lowest(&Solo, Some(sent.clone())), Some(sent.clone()));
        let unknown = Broken { value: f64::NAN, field: "dye".into(), ..sent };
        assert!(lowest(&Solo, Some(unknown)).is_some_and(|b| b.value.is_nan()));
        assert_eq!(lowest(&Solo, None), None);
    }
}
