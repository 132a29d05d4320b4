//! Memory in large pages: scattered access touches more 4 KiB pages than the processor's TLB holds.

/// Size of a large page, and the minimum size of memory for which they are requested.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// Allocates `len` copies of `zero`, in large pages if the memory is large.
pub(crate) fn filled<T: Copy>(len: usize, zero: T) -> Vec<T> {
    let mut memory = Vec::with_capacity(len);
    if len * size_of::<T>() >= HUGE_PAGE {
        request(memory.as_mut_ptr(), len * size_of::<T>());
    }
    memory.resize(len, zero);
    memory
}

/// Requests large pages for newly allocated memory. This is a hint, so a refusal does no harm.
#[cfg(target_os = "linux")]
pub(crate) fn request<T>(start: *mut T, bytes: usize) {
    // The complete 4 KiB pages in the range.
    let first = start.addr().next_multiple_of(4096);
    let end = start.addr() + bytes;
    if first < end {
        // SAFETY: the range is memory of the caller; the advice does not change its content.
        unsafe { libc::madvise(start.with_addr(first).cast(), end - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn request<T>(_: *mut T, _: usize) {}
