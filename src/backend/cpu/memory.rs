//! Hints to the caches: what will be needed, and what will not.

use pulp::Simd;

use crate::real::Real;

/// Bytes of a cache line.
pub(super) const CACHE_LINE: usize = 64;

/// For what, and how near, a cache line is fetched beforehand: the numbers of `_mm_prefetch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetch {
    /// To be read, into the first cache.
    Near = 3,
    /// To be read, into the second cache.
    Far = 2,
    /// To be written.
    Written = 7,
}

/// Fetch the cache line at `at`, which may lie outside of any field.
#[inline(always)]
pub(super) fn fetch<T>(at: *const T, how: Fetch) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::_mm_prefetch;
        let at = at.cast();
        // SAFETY: a hint, which no address makes fail.
        unsafe {
            match how {
                Fetch::Near => _mm_prefetch::<{ Fetch::Near as i32 }>(at),
                Fetch::Far => _mm_prefetch::<{ Fetch::Far as i32 }>(at),
                Fetch::Written => _mm_prefetch::<{ Fetch::Written as i32 }>(at),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, how);
}

/// Fetch the cache lines of `len` values.
#[inline(always)]
pub(super) fn fetch_row<T>(at: *const T, len: usize, how: Fetch) {
    for first in (0..len).step_by(CACHE_LINE / size_of::<T>()) {
        fetch(at.wrapping_add(first), how);
    }
}

/// Write N values, whole cache lines, to memory without reading it into the caches before, where the machine can.
/// [`written`] belongs at the end of them all.
///
/// # Safety
/// `to` is the start of a cache line, and of N values that nobody else uses.
#[inline(always)]
pub(super) unsafe fn write_past_caches<S: Simd, T: Real, const N: usize>(
    to: *mut T,
    values: &[T; N],
) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::TypeId;
        let bytes = N * size_of::<T>();
        let wide = TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>();
        if wide || TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>() {
            let (to, from) = (to.cast::<u8>(), values.as_ptr().cast::<u8>());
            for first in (0..bytes).step_by(CACHE_LINE) {
                // SAFETY: S stands for a machine with these instructions; whole cache lines of both.
                unsafe {
                    match wide {
                        true => x86::avx512(to.add(first), from.add(first)),
                        false => x86::avx(to.add(first), from.add(first)),
                    }
                }
            }
            return;
        }
    }
    // SAFETY: as the caller promises.
    unsafe { *to.cast() = *values };
}

/// Let all threads see what [`write_past_caches`] wrote.
#[inline(always)]
pub(super) fn written() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: orders writes; every x86-64 machine has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// One cache line.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(to: *mut u8, from: *const u8) {
        // SAFETY: as the caller promises.
        unsafe { _mm512_stream_si512(to.cast(), _mm512_loadu_si512(from.cast())) };
    }

    #[inline]
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn avx(to: *mut u8, from: *const u8) {
        for half in [0, 32] {
            // SAFETY: as the caller promises.
            unsafe {
                let values = _mm256_loadu_si256(from.add(half).cast());
                _mm256_stream_si256(to.add(half).cast(), values);
            }
        }
    }
}
