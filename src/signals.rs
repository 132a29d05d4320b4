//! Signal handling, from the first line of `main`.
//!
//! On request, a run ends after its current step with a checkpoint. Before the run has begun there is nothing to lose: the
//! program ends at once, like a program without signal handlers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use kolmo::time::Requests;
use kolmo::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, exit, register};

pub(crate) use system::{restore, say};

/// Time after the first request to stop during which further requests count as the same one, in milliseconds: `timeout` sends
/// two, and so does a batch system that signals a launcher and its ranks.
const SAME_REQUEST_MS: u64 = 2000;

/// The current activity of the program.
static STAGE: AtomicU8 = AtomicU8::new(NO_RUN);
/// No run.
const NO_RUN: u8 = 0;
/// A run is prepared: nothing is written yet.
const PREPARING: u8 = 1;
/// A run has begun.
const RUNNING: u8 = 2;

static WATCH: OnceLock<Watch> = OnceLock::new();

/// The state that the handlers use.
struct Watch {
    requests: Requests,
    start: Instant,
    /// Milliseconds from `start` to the first request to stop, plus one; 0 where there was none.
    first_request: AtomicU64,
}

/// Handle signals from now on. Must be called once, before anything else.
pub(crate) fn watch() -> Result<()> {
    let _held = system::BlockedSignals::begin();
    let requests = Requests { watch: Some(begin), ..Requests::default() };
    WATCH.get_or_init(|| Watch {
        requests,
        start: Instant::now(),
        first_request: AtomicU64::new(0),
    });
    for signal in [SIGINT, SIGTERM].into_iter().chain(system::hang_up_signal()) {
        // SAFETY: the handler calls only async-signal-safe functions.
        unsafe { register(signal, move || stop(signal)) }.map_err(Error::io("signal handler"))?;
    }
    system::watch_others()
}

/// The requests made by signals. A request for a checkpoint is remembered until the run begins.
pub(crate) fn requests() -> Requests {
    WATCH.get().map_or_else(Requests::default, |watch| watch.requests.clone())
}

/// A run is being prepared from now on; a signal that ends it makes this rank print a message.
pub(crate) fn prepare() {
    STAGE.store(PREPARING, Ordering::Relaxed);
}

/// The run begins: it writes from now on.
fn begin(_: &Requests) -> Result<()> {
    restore();
    STAGE.store(RUNNING, Ordering::Relaxed);
    Ok(())
}

/// Runs in a signal handler: it must not allocate memory or take locks.
fn stop(signal: i32) {
    let stage = STAGE.load(Ordering::Relaxed);
    let Some(watch) = WATCH.get().filter(|_| stage == RUNNING) else {
        if stage == PREPARING {
            say(b"stopped before the run began; nothing was written\n");
        }
        let _ = emulate_default_handler(signal);
        exit(128 + signal)
    };
    let now = u64::try_from(watch.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
    match watch.first_request.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => watch.requests.stop.store(true, Ordering::Relaxed),
        Err(first) if now.saturating_sub(first) >= SAME_REQUEST_MS => exit(128 + signal),
        Err(_) => {}
    }
}

#[cfg(unix)]
mod system {
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    use kolmo::{Error, Result};
    use libc::{SIG_IGN, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ, c_int, sigaction, sigset_t};
    use signal_hook::low_level::register;

    use super::WATCH;

    /// All signals that this program handles.
    const ALL: [c_int; 5] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ];

    /// The action for each of them.
    static ACTIONS: OnceLock<[sigaction; ALL.len()]> = OnceLock::new();

    /// Blocks signals while it exists.
    pub(super) struct BlockedSignals(sigset_t);

    impl BlockedSignals {
        pub(super) fn begin() -> Self {
            // SAFETY: an all-zero mask is valid, and the calls fill it.
            unsafe {
                let (mut blocked, mut previous) = (std::mem::zeroed(), std::mem::zeroed());
                libc::sigemptyset(&raw mut blocked);
                ALL.iter().for_each(|&signal| {
                    libc::sigaddset(&raw mut blocked, signal);
                });
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut previous);
                Self(previous)
            }
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            // SAFETY: the mask that was in place before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, null_mut()) };
        }
    }

    /// SIGHUP, unless it was ignored when this program was started (`nohup`).
    pub(super) fn hang_up_signal() -> Option<c_int> {
        (action(SIGHUP).sa_sigaction != SIG_IGN).then_some(SIGHUP)
    }

    /// Make SIGUSR1 request a checkpoint, and ignore SIGXFSZ: a file over the size limit is then an error of the write call and
    /// does not end the program.
    pub(super) fn watch_others() -> Result<()> {
        let ask = || {
            if let Some(watch) = WATCH.get() {
                watch.requests.checkpoint.store(true, Ordering::Relaxed);
            }
        };
        // SAFETY: the handler calls only async-signal-safe functions.
        unsafe { register(SIGUSR1, ask) }.map_err(Error::io("signal handler"))?;
        // SAFETY: no handler is called.
        unsafe { libc::signal(SIGXFSZ, SIG_IGN) };
        ACTIONS.get_or_init(|| ALL.map(action));
        Ok(())
    }

    /// Reinstall the handlers, since MPI and device libraries install their own when they are loaded.
    pub(crate) fn restore() {
        for (signal, action) in ALL.into_iter().zip(ACTIONS.get().into_iter().flatten()) {
            // Each call replaces a handler atomically.
            // SAFETY: an action that was in place before.
            unsafe { libc::sigaction(signal, action, null_mut()) };
        }
    }

    fn action(signal: c_int) -> sigaction {
        // SAFETY: an all-zero action is valid, and the call fills it.
        unsafe {
            let mut action = std::mem::zeroed();
            libc::sigaction(signal, null(), &raw mut action);
            action
        }
    }

    /// Write to standard error without allocating memory or taking locks.
    pub(crate) fn say(text: &[u8]) {
        // SAFETY: the pointer and the length are those of `text`. A failed write is ignored on purpose.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }
}

#[cfg(not(unix))]
mod system {
    use kolmo::Result;

    pub(super) struct BlockedSignals;

    impl BlockedSignals {
        pub(super) fn begin() -> Self {
            Self
        }
    }

    pub(super) fn hang_up_signal() -> Option<i32> {
        None
    }

    pub(super) fn watch_others() -> Result<()> {
        Ok(())
    }

    pub(crate) fn restore() {}

    pub(crate) fn say(_: &[u8]) {}
}
