//! Cache hints: prefetching and streaming stores.

use pulp::Simd;

/// Bytes of a cache line.
pub(super) const CACHE_LINE: usize = 64;

/// Prefetches the cache line at `at`, which may lie outside of any field.
#[inline(always)]
pub(super) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that is valid for any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Number of cache lines for the given number of values.
pub(super) const fn cache_lines<T>(values: usize) -> usize {
    values.div_ceil(CACHE_LINE / size_of::<T>())
}

/// Calls `work` with 0, 1, ..., `count` − 1, without a loop if `count` is one or two.
#[inline(always)]
pub(super) fn for_few(count: usize, work: impl Fn(usize)) {
    match count {
        1 => work(0),
        2 => [0, 1].into_iter().for_each(work),
        _ => (0..count).for_each(work),
    }
}

/// Prefetches `count` cache lines.
#[inline(always)]
pub(super) fn prefetch_row<T>(at: *const T, count: usize) {
    for_few(count, |line| prefetch(at.wrapping_byte_add(line * CACHE_LINE)));
}

/// Prefetches `count` cache lines of each of `rows` rows with a stride of `stride` values.
#[inline(always)]
pub(super) fn prefetch_rows<T>(at: *const T, stride: usize, rows: usize, count: usize) {
    let mut row = at;
    for _ in 0..rows {
        prefetch_row(row, count);
        row = row.wrapping_add(stride);
    }
}

/// Writes one cache line to memory without reading it into the caches first, where the machine supports this. Call
/// [`stream_fence`] after the last one.
///
/// # Safety
/// `to` and `from` are the starts of cache lines; no other thread accesses the one at `to`.
#[inline(always)]
pub(super) unsafe fn stream<S: Simd>(to: *mut u8, from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::any::TypeId;
        let is = |id| TypeId::of::<S>() == id;
        // SAFETY: S represents a machine with these instructions.
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

/// Makes the data written by [`stream`] visible to all threads.
#[inline(always)]
pub(super) fn stream_fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: orders writes; every x86-64 machine supports it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Streaming stores of one cache line.
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
