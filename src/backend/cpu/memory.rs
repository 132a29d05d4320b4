//! Hints to the caches: what will be needed, and what will not.

use pulp::Simd;

/// Bytes of a cache line.
pub(super) const CACHE_LINE: usize = 64;

/// Fetch the cache line at `at`, which may lie outside of any field, to be read soon.
#[inline(always)]
pub(super) fn fetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which no address makes fail.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Fetch the cache lines of `len` values.
#[inline(always)]
pub(super) fn fetch_row<T>(at: *const T, len: usize) {
    for first in (0..len).step_by(CACHE_LINE / size_of::<T>()) {
        fetch(at.wrapping_add(first));
    }
}

/// Write one cache line to memory without reading it into the caches before, where the machine can. [`streamed`] belongs at the
/// end of them all.
///
/// # Safety
/// `to` and `from` are the starts of cache lines, the one of memory that nobody else uses.
#[inline(always)]
pub(super) unsafe fn stream<S: Simd>(to: *mut u8, from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::TypeId;
        let is = |id| TypeId::of::<S>() == id;
        // SAFETY: S stands for a machine with these instructions.
        unsafe {
            if is(TypeId::of::<pulp::x86::V4>()) {
                return x86::avx512(to, from);
            }
            if is(TypeId::of::<pulp::x86::V3>()) {
                return x86::avx(to, from);
            }
        }
    }
    // SAFETY: as the caller promises.
    unsafe { to.copy_from_nonoverlapping(from, CACHE_LINE) };
}

/// Let all threads see what [`stream`] wrote.
#[inline(always)]
pub(super) fn streamed() {
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
