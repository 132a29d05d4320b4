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

/// Cache lines that so many values begin.
pub(super) const fn cache_lines<T>(values: usize) -> usize {
    values.div_ceil(CACHE_LINE / size_of::<T>())
}

/// Do `work` with 0, 1, ... up to `count`, without a loop where that is one or two.
#[inline(always)]
pub(super) fn for_few(count: usize, work: impl Fn(usize)) {
    match count {
        1 => work(0),
        2 => [0, 1].into_iter().for_each(work),
        _ => (0..count).for_each(work),
    }
}

/// Fetch `count` cache lines.
#[inline(always)]
pub(super) fn fetch_row<T>(at: *const T, count: usize) {
    for_few(count, |line| fetch(at.wrapping_byte_add(line * CACHE_LINE)));
}

/// Fetch `count` cache lines of each of `rows` rows, which are `apart` values apart.
#[inline(always)]
pub(super) fn fetch_rows<T>(at: *const T, apart: usize, rows: usize, count: usize) {
    let mut row = at;
    for _ in 0..rows {
        fetch_row(row, count);
        row = row.wrapping_add(apart);
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
