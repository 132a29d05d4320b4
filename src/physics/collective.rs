//! Collective operations over the points of all ranks. All ranks must call them.

use super::system::TimeLevel;
use crate::backend::{Backend, Field};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::Values;

/// A point with an unphysical state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InvalidPoint {
    /// Name of the field with the unphysical value.
    pub(super) field: String,
    /// The value.
    pub(super) value: f64,
    /// (i, j, k) in the global grid.
    pub(super) index: [usize; 3],
}

/// The invalid point on the lowest rank that found one, on all ranks.
fn on_lowest_rank(comm: &dyn Communicator, invalid: Option<InvalidPoint>) -> Option<InvalidPoint> {
    // As bits, because JSON has no non-finite numbers.
    let encode = |it: &InvalidPoint| serde_json::to_vec(&(&it.field, it.value.to_bits(), it.index));
    let own = invalid.as_ref().and_then(|it| encode(it).ok()).unwrap_or_default();
    let gathered = comm.gather(&own).unwrap_or_default();
    let first = gathered.into_iter().find(|bytes| !bytes.is_empty()).unwrap_or_default();
    let (field, value, index) = serde_json::from_slice(&comm.broadcast(0, first)).ok()?;
    Some(InvalidPoint { field, value: f64::from_bits(value), index })
}

/// Error of a diverged run: at the invalid point on the lowest rank that found one, otherwise for the quantity `unknown` without a known
/// point.
pub(super) fn diverged(
    comm: &dyn Communicator,
    invalid: Option<InvalidPoint>,
    unknown: &str,
    TimeLevel { step, time }: TimeLevel,
) -> Error {
    let unknown = InvalidPoint { field: unknown.into(), value: f64::INFINITY, index: [0; 3] };
    let InvalidPoint { field, value, index } = on_lowest_rank(comm, invalid).unwrap_or(unknown);
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
    fn lowest_rank_returns_an_invalid_point_unchanged_and_none_without_one() {
        let sent =
            InvalidPoint { field: "pressure".into(), value: -3.5e-7, index: [17, 0, 1 << 33] };
        assert_eq!(on_lowest_rank(&Solo, Some(sent.clone())), Some(sent.clone()));
        let unknown = InvalidPoint { value: f64::NAN, field: "dye".into(), ..sent };
        assert!(on_lowest_rank(&Solo, Some(unknown)).is_some_and(|b| b.value.is_nan()));
        assert_eq!(on_lowest_rank(&Solo, None), None);
    }
}
