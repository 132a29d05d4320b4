//! Signals, from the first line of `main` on.
//!
//! A run that has begun ends on request after its step, with a checkpoint. What has not begun has nothing to lose: it ends at once,
//! as programs do that know nothing of signals.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use kolmo::time::Requests;
use kolmo::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, exit, register};

pub(crate) use system::{restore, say};

/// Milliseconds behind the first request to stop in which others are the same one: `timeout` sends two, and so does a batch system
/// that asks a launcher and its ranks.
const SAME_REQUEST: u64 = 2000;

/// What the program does.
static STAGE: AtomicU8 = AtomicU8::new(OTHER);
/// No run.
const OTHER: u8 = 0;
/// A run is prepared: nothing is written yet.
const PREPARING: u8 = 1;
/// A run has begun.
const RUNNING: u8 = 2;

static WATCH: OnceLock<Watch> = OnceLock::new();

/// What the handlers know.
struct Watch {
    requests: Requests,
    start: Instant,
    /// Milliseconds from `start` to the first request to stop, plus one; 0 where there was none.
    asked: AtomicU64,
}

/// Handle signals from now on. To be called once, before anything else.
pub(crate) fn watch() -> Result<()> {
    let _held = system::HeldBack::begin();
    let requests = Requests { watch: Some(begin), ..Requests::default() };
    WATCH.get_or_init(|| Watch { requests, start: Instant::now(), asked: AtomicU64::new(0) });
    for signal in [SIGINT, SIGTERM].into_iter().chain(system::hang_up()) {
        // SAFETY: what is called is fit for signal handlers.
        unsafe { register(signal, move || stop(signal)) }.map_err(Error::io("signal handler"))?;
    }
    system::watch_others()
}

/// What is asked of a run by signals. A request for a checkpoint is remembered until the run begins.
pub(crate) fn requests() -> Requests {
    WATCH.get().map_or_else(Requests::default, |watch| watch.requests.clone())
}

/// A run is prepared from now on, and this rank says so where a signal ends it.
pub(crate) fn prepare() {
    STAGE.store(PREPARING, Ordering::Relaxed);
}

/// The run begins: it writes from now on.
fn begin(_: &Requests) -> Result<()> {
    restore();
    STAGE.store(RUNNING, Ordering::Relaxed);
    Ok(())
}

/// Runs in a signal handler: neither memory nor locks.
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
    match watch.asked.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => watch.requests.stop.store(true, Ordering::Relaxed),
        Err(first) if now.saturating_sub(first) >= SAME_REQUEST => exit(128 + signal),
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

    /// All signals that this program has an answer to.
    const ALL: [c_int; 5] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ];

    /// What is called for each of them.
    static ACTIONS: OnceLock<[sigaction; ALL.len()]> = OnceLock::new();

    /// While this lives signals wait.
    pub(super) struct HeldBack(sigset_t);

    impl HeldBack {
        pub(super) fn begin() -> Self {
            // SAFETY: all zero is a mask, which the calls fill.
            unsafe {
                let (mut these, mut before) = (std::mem::zeroed(), std::mem::zeroed());
                libc::sigemptyset(&raw mut these);
                ALL.iter().for_each(|&signal| {
                    libc::sigaddset(&raw mut these, signal);
                });
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const these, &raw mut before);
                Self(before)
            }
        }
    }

    impl Drop for HeldBack {
        fn drop(&mut self) {
            // SAFETY: the mask that was there before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, null_mut()) };
        }
    }

    /// SIGHUP, unless whoever started this program (`nohup`) had it ignored.
    pub(super) fn hang_up() -> Option<c_int> {
        (action(SIGHUP).sa_sigaction != SIG_IGN).then_some(SIGHUP)
    }

    /// SIGUSR1 asks for a checkpoint. A file that may not grow is an error of the call that writes it, not the end of the program.
    pub(super) fn watch_others() -> Result<()> {
        let ask = || {
            if let Some(watch) = WATCH.get() {
                watch.requests.checkpoint.store(true, Ordering::Relaxed);
            }
        };
        // SAFETY: what is called is fit for signal handlers.
        unsafe { register(SIGUSR1, ask) }.map_err(Error::io("signal handler"))?;
        // SAFETY: no handler is called.
        unsafe { libc::signal(SIGXFSZ, SIG_IGN) };
        ACTIONS.get_or_init(|| ALL.map(action));
        Ok(())
    }

    /// Put the handlers back in place, where libraries of MPI and of devices have put theirs when they were loaded.
    pub(crate) fn restore() {
        for (signal, action) in ALL.into_iter().zip(ACTIONS.get().into_iter().flatten()) {
            // One call in the place of another handler, with no time between the two.
            // SAFETY: an action that was in place before.
            unsafe { libc::sigaction(signal, action, null_mut()) };
        }
    }

    fn action(signal: c_int) -> sigaction {
        // SAFETY: all zero is an action, which the call fills.
        unsafe {
            let mut action = std::mem::zeroed();
            libc::sigaction(signal, null(), &raw mut action);
            action
        }
    }

    /// Write to standard error where there may be neither memory nor locks.
    pub(crate) fn say(text: &[u8]) {
        // SAFETY: so many bytes are there. That nobody reads them is no reason for anything.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }
}

#[cfg(not(unix))]
mod system {
    use kolmo::Result;

    pub(super) struct HeldBack;

    impl HeldBack {
        pub(super) fn begin() -> Self {
            Self
        }
    }

    pub(super) fn hang_up() -> Option<i32> {
        None
    }

    pub(super) fn watch_others() -> Result<()> {
        Ok(())
    }

    pub(crate) fn restore() {}

    pub(crate) fn say(_: &[u8]) {}
}
