//! The vectors of a row of a tile: one or two cache lines of neighbouring lines.

use pulp::Simd;

use crate::real::Real;

/// Evaluates `body` for the vectors of a row in pairs, or for the only one: N at once, starting at h. Two independent
/// recurrences halve the waiting time, and share the coefficients of a row.
macro_rules! for_pairs {
    ($vectors:expr, $n:ident, $h:ident => $body:expr) => {
        match $vectors {
            1 => {
                const $n: usize = 1;
                let $h = 0;
                $body
            }
            2 => {
                const $n: usize = 2;
                let $h = 0;
                $body
            }
            vectors => {
                const $n: usize = 2;
                for $h in (0..vectors).step_by(2) {
                    $body
                }
            }
        }
    };
}
pub(super) use for_pairs;

/// Number of vectors per row.
pub(super) const fn vectors<S: Simd, T: Real>() -> usize {
    super::memory::CACHE_LINE / size_of::<T::Vector<S>>()
}

/// Returns vector `h` of row `r`, counted from `rows`.
///
/// # Safety
/// The row belongs to the thread's own memory, is complete and aligned.
#[inline(always)]
pub(super) unsafe fn vector<S: Simd, T: Real>(rows: *const T, r: usize, h: usize) -> T::Vector<S> {
    // SAFETY: as the caller promises.
    unsafe { *rows.cast::<T::Vector<S>>().add(r * const { vectors::<S, T>() } + h) }
}

/// Sets that vector to `to`.
///
/// # Safety
/// As for [`vector`].
#[inline(always)]
pub(super) unsafe fn set<S: Simd, T: Real>(rows: *mut T, r: usize, h: usize, to: T::Vector<S>) {
    // SAFETY: as the caller promises.
    unsafe { *rows.cast::<T::Vector<S>>().add(r * const { vectors::<S, T>() } + h) = to };
}

/// Broadcasts each of these numbers to a vector.
#[inline(always)]
pub(super) fn splats<S: Simd, T: Real, const N: usize>(
    simd: S,
    numbers: [T; N],
) -> [T::Vector<S>; N] {
    let mut vectors = [T::splat(simd, T::ZERO); N];
    for n in 0..N {
        vectors[n] = T::splat(simd, numbers[n]);
    }
    vectors
}
