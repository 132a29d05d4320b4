//! Exit on memory exhaustion: an error message and an exit code, where the standard library would abort.
//!
//! The memory for fields is checked before a run begins, but not every buffer is known, and process limits
//! (`ulimit -v`) also count memory that the machine has not provided yet.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use signal_hook::low_level::exit;

use crate::signals::say;

/// The system allocator; the program ends if it fails.
pub(crate) struct ExitOnExhaustion;

// SAFETY: all requests are forwarded to the system allocator.
unsafe impl GlobalAlloc for ExitOnExhaustion {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises, here and below.
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(start, layout) }
    }
}

#[inline]
fn or_exit(start: *mut u8, bytes: usize) -> *mut u8 {
    if start.is_null() {
        exit_out_of_memory(bytes);
    }
    start
}

/// Prints the error message and exits. Nothing here may allocate: no stream of the standard library, no lock.
#[cold]
fn exit_out_of_memory(bytes: usize) -> ! {
    static EXITING: AtomicBool = AtomicBool::new(false);
    while EXITING.swap(true, Ordering::Relaxed) {
        // Another thread prints the message and ends the program.
        sleep(Duration::from_secs(1));
    }
    let mut text = [0; 400];
    let mut rest = &mut text[..];
    let _ = write!(
        rest,
        "error: out of memory: {bytes} bytes were requested\n       \
         use fewer points, fewer threads or `compute.precision = \"f32\"`, or allow more memory (`ulimit -v`, the batch job)\n"
    );
    let left = rest.len();
    let written = text.len() - left;
    say(&text[..written]);
    exit(1)
}
