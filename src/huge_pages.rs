//! Memory in large pages: what is gone over in many places at once meets more pages of 4 KiB than the processor keeps the addresses of.

/// Size of a large page, and the least that asks for them.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// So many of `zero`, in large pages where they are large.
pub(crate) fn filled<T: Copy>(len: usize, zero: T) -> Vec<T> {
    let mut memory = Vec::with_capacity(len);
    if len * size_of::<T>() >= HUGE_PAGE {
        ask(memory.as_mut_ptr(), len * size_of::<T>());
    }
    memory.resize(len, zero);
    memory
}

/// Ask for large pages of memory that was just allocated. A hint, so a refusal does no harm.
#[cfg(target_os = "linux")]
pub(crate) fn ask<T>(start: *mut T, bytes: usize) {
    // The whole pages of 4 KiB within it.
    let first = start.addr().next_multiple_of(4096);
    let end = start.addr() + bytes;
    if first < end {
        // SAFETY: the range is memory of the caller; the advice does not change its content.
        unsafe { libc::madvise(start.with_addr(first).cast(), end - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ask<T>(_: *mut T, _: usize) {}
