//! The threads that zarrs works on.

use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// Whether there are threads beside the one that asks.
///
/// zarrs works on rayon's global pool, which ends the program where no thread can be started (`ulimit -u`). There the thread that
/// asks first is all of the pool.
pub(super) fn are_there() -> bool {
    static ARE: OnceLock<bool> = OnceLock::new();
    *ARE.get_or_init(|| {
        // A pool of its own is tried first, since the global one is made once, or not at all.
        let are = ThreadPoolBuilder::new().build().is_ok();
        let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let global = if are { ThreadPoolBuilder::new() } else { alone() };
        // Where somebody has made it before, it has its threads.
        let _ = global.build_global();
        are
    })
}
