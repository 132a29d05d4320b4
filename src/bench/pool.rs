//! Fields of noise and fields for results, used in turn by the repeats.

use super::place::Setup;
use crate::backend::{Backend, Field};
use crate::error::{Result, out_of_memory, refused};
use crate::real::{Precision, Values};

/// Minimum number of bytes of all sources and results together, unless [`MAX_FIELDS`] of each suffice: several times the largest cache
/// of a GPU or of a core.
const BEYOND_CACHES: usize = 256 << 20;
/// Minimum number of sources and of results if they fit in memory, and maximum number.
pub(super) const MIN_FIELDS: usize = 2;
const MAX_FIELDS: usize = 16;
/// Upper estimate of further fields that a part needs: scratch memory of the line solvers, and the check.
const EXTRA_FIELDS: usize = 5;

/// Fields of equal length, with as many `results` as `sources`.
pub(super) struct Pool {
    pub(super) sources: Vec<Field>,
    pub(super) results: Vec<Field>,
    len: usize,
}

impl Pool {
    /// Fields of `len` values each, with at least `min_fields` sources and results.
    pub(super) fn new(place: &dyn Backend, len: usize, min_fields: usize) -> Result<Self> {
        let precision = place.precision();
        let count = count(len * precision.bytes(), min_fields);
        let source = |seed| place.field(&noise(precision, len, seed));
        let sources = (0..count).map(source).collect::<Result<_>>()?;
        let results = (0..count).map(|_| place.zeros(len)).collect::<Result<_>>()?;
        Ok(Self { sources, results, len })
    }

    /// The first source and the result of `work` on it, copied to the host; the result is filled with NaN before.
    pub(super) fn run_once(
        &mut self,
        place: &dyn Backend,
        work: impl FnOnce(&Field, &mut Field) + Send,
    ) -> Result<[Values<'static>; 2]> {
        let (sources, len) = (&self.sources, self.len);
        self.results[0] = place.field(&vec![f64::NAN; len].into())?;
        let result = &mut self.results[0];
        place.within(|| work(&sources[0], result));
        let result_values = place.values(&self.results[0])?.into_owned();
        Ok([noise(place.precision(), len, 0), result_values])
    }
}

/// Number of sources of this many bytes each.
fn count(bytes: usize, min_fields: usize) -> usize {
    BEYOND_CACHES.div_ceil(2 * bytes).clamp(min_fields, MAX_FIELDS)
}

/// A message if fields of these points do not fit in memory.
pub(super) fn too_large(setup: &Setup, points: [usize; 3]) -> Option<String> {
    let [x, y, z] = points;
    let bytes = x * y * z * setup.compute.precision.bytes();
    let (field, fields) = (bytes as f64, count(bytes, MIN_FIELDS));
    let on_place = (2 * fields + EXTRA_FIELDS) as f64 * field;
    // A field is created and checked on the host, in the precision of the place and in f64.
    let (memory, insufficient_memory) = setup.insufficient_memory(4.0 * field, on_place, field)?;
    Some(out_of_memory(format!("{x} x {y} x {z} points"), insufficient_memory, memory, "are free"))
}

/// The sizes that fit in memory. If only one is requested and it does not fit, this is a mistake of the user.
pub(super) fn sizes_that_fit(
    setup: &Setup,
    sizes: Vec<[usize; 3]>,
    notes: &mut Vec<String>,
) -> Result<Vec<[usize; 3]>> {
    let is_single = sizes.len() == 1;
    let mut kept = Vec::new();
    for points in sizes {
        match too_large(setup, points) {
            Some(sentence) if is_single => {
                return Err(refused(&sentence, "use fewer points, or `--precision f32`"));
            }
            Some(sentence) => notes.push(format!("left out: {sentence}")),
            None => kept.push(points),
        }
    }
    Ok(kept)
}

/// Noise in [-1/2, 1/2) that no branch predictor or cache can learn, different for every `seed` (the linear congruential
/// generator of MMIX: Knuth 1997, The Art of Computer Programming 2, section 3.3.4).
pub(super) fn noise(precision: Precision, len: usize, seed: usize) -> Values<'static> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed as u64 + 1);
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    Values::from((0..len).map(|_| next()).collect::<Vec<_>>()).with_precision(precision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_has_many_small_fields_or_two_large_ones() {
        assert_eq!(
            [1 << 10, 16 << 20, 128 << 20, 1 << 33].map(|bytes| count(bytes, 2)),
            [16, 8, 2, 2]
        );
    }

    #[test]
    fn noise_has_zero_mean_and_differs_between_fields() {
        let [a, b] = [0, 1].map(|seed| noise(Precision::F64, 10_000, seed));
        // The mean of 10⁴ numbers of variance 1/12 has the standard deviation 0.003.
        assert!(a.iter().sum::<f64>().abs() < 1e4 * 0.015 && a.iter().all(|x| x.abs() <= 0.5));
        assert!(a.iter().zip(b.iter()).filter(|(a, b)| a == b).count() < 3);
    }
}
