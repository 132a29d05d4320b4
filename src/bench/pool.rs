//! Fields of noise, and fields for results, that the repeats go through in turn.

use super::place::{Place, Setup};
use super::refusal;
use crate::engine::Number;
use crate::error::Result;
use crate::real::Real;

/// Bytes that sources and results take together at least, where [`MOST`] of each are enough: several times the largest
/// cache of a GPU or of a core.
const BEYOND_CACHES: usize = 256 << 20;
/// Sources and results, where there is room.
pub(super) const FEWEST: usize = 2;
const MOST: usize = 16;
/// Fields that a part may need beside, as far as that is known: scratch memory of the line solvers, and a check.
const BESIDE: usize = 5;
const GIB: f64 = (1_u64 << 30) as f64;

/// A source and the result of it, on the host.
pub(super) type GivenAndFound<T> = (Vec<T>, Vec<T>);

/// Fields of one length, `results` as many as `sources`.
pub(super) struct Pool<P: Place> {
    pub(super) sources: Vec<P::Field>,
    pub(super) results: Vec<P::Field>,
    len: usize,
}

impl<P: Place> Pool<P> {
    /// Fields of `len` values each, `fewest` sources and results at least.
    pub(super) fn new(place: &P, len: usize, fewest: usize) -> Result<Self> {
        let count = count(len * size_of::<P::Real>(), fewest);
        let sources =
            (0..count).map(|seed| place.field(noise(len, seed))).collect::<Result<_>>()?;
        let results = (0..count).map(|_| place.zeros(len)).collect::<Result<_>>()?;
        Ok(Self { sources, results, len })
    }

    /// The first source and what `work` makes of it; the result is not-a-number before.
    pub(super) fn checked(
        &mut self,
        place: &P,
        work: impl FnOnce(&P::Field, &mut P::Field) + Send,
    ) -> Result<GivenAndFound<P::Real>> {
        let (sources, len) = (&self.sources, self.len);
        self.results[0] = place.field(vec![P::Real::of(f64::NAN); len])?;
        let result = &mut self.results[0];
        place.within(|| work(&sources[0], result));
        Ok((noise(len, 0), place.values(&self.results[0])?.into_owned()))
    }
}

/// Sources of so many bytes each.
fn count(bytes: usize, fewest: usize) -> usize {
    BEYOND_CACHES.div_ceil(2 * bytes).clamp(fewest, MOST)
}

/// A sentence where fields of these points do not fit.
#[allow(clippy::cast_precision_loss, reason = "for a message")]
pub(super) fn too_large<P: Place>(setup: &Setup, points: [usize; 3]) -> Option<String> {
    let [x, y, z] = points;
    let bytes = x * y * z * size_of::<P::Real>();
    let (field, fields) = (bytes as f64, count(bytes, FEWEST));
    let sentence = |what: &str, needed: f64, free: f64| {
        format!(
            "{x} x {y} x {z} points need {:.1} GiB {what}; {:.1} GiB are free",
            needed / GIB,
            free / GIB
        )
    };
    let on_place = (2 * fields + BESIDE) as f64 * field;
    // A field is made, and checked against another, on the host: in the precision of the place and in f64.
    let on_host = 4.0 * field + if setup.shares_memory() { on_place } else { 0.0 };
    let host = crate::time::available_memory(1).filter(|&free| on_host > free);
    let device = setup.device_memory().filter(|&free| on_place > free);
    let largest = setup.largest_buffer().filter(|&largest| field > largest);
    match (host, device, largest) {
        (Some(free), _, _) => Some(sentence("of memory", on_host, free)),
        (_, Some(free), _) => Some(sentence("of device memory", on_place, free)),
        (_, _, Some(largest)) => Some(sentence("in one buffer", field, largest)),
        _ => None,
    }
}

/// The sizes that fit. Where only one is asked for and does not, that is a mistake of the user.
pub(super) fn fitting<P: Place>(
    setup: &Setup,
    sizes: Vec<[usize; 3]>,
    notes: &mut Vec<String>,
) -> Result<Vec<[usize; 3]>> {
    let alone = sizes.len() == 1;
    let mut kept = Vec::new();
    for points in sizes {
        match too_large::<P>(setup, points) {
            Some(sentence) if alone => {
                return Err(refusal(&sentence, "use fewer points, or `--precision f32`"));
            }
            Some(sentence) => notes.push(format!("left out: {sentence}")),
            None => kept.push(points),
        }
    }
    Ok(kept)
}

/// Noise in [-1/2, 1/2) that no branch or cache can learn, another for every `seed` (the linear
/// congruential generator of MMIX: Knuth 1997, The Art of Computer Programming 2, section 3.3.4).
#[allow(clippy::cast_precision_loss, reason = "noise")]
pub(super) fn noise<T: Real>(len: usize, seed: usize) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed as u64 + 1);
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::of((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
    };
    (0..len).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fields_are_many_and_large_ones_two() {
        assert_eq!(
            [1 << 10, 16 << 20, 128 << 20, 1 << 33].map(|bytes| count(bytes, 2)),
            [16, 8, 2, 2]
        );
    }

    #[test]
    fn noise_has_no_mean_and_differs_from_field_to_field() {
        let (a, b) = (noise::<f64>(10_000, 0), noise::<f64>(10_000, 1));
        // The mean of 10⁴ numbers of variance 1/12 has the deviation 0.003.
        assert!(a.iter().sum::<f64>().abs() < 1e4 * 0.015 && a.iter().all(|x| x.abs() <= 0.5));
        assert!(a.iter().zip(&b).filter(|(a, b)| a == b).count() < 3);
    }
}
