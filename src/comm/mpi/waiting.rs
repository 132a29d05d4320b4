//! How a rank waits for operations in progress.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use super::abi::Handle;
use super::int;
use super::library::Library;

/// Time during which a waiting rank yields its core between polls; afterwards it sleeps. A message between ranks of one
/// host takes microseconds while the sender runs; a sleep takes 50 µs more than requested.
const YIELD_TIME: Duration = Duration::from_millis(5);
/// Sleep between two polls of a rank that waits long, for example for a rank that writes a file.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How to wait. MPI libraries poll without end. With more ranks than cores this takes time from the rank that is to send,
/// and a message takes as long as the system's time slices: milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    yields: bool,
    timeout: Option<Duration>,
}

/// Why a call failed. Only in trial groups: elsewhere the library ends the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    Code(c_int),
    /// The call has not ended within this time.
    Timeout(Duration),
}

pub(super) fn checked(code: c_int) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure::Code(code)) }
}

impl Waiting {
    /// Returns how a rank waits if `ranks` ranks run on its host.
    pub(super) fn for_ranks_on_host(ranks: usize) -> Self {
        Self { yields: ranks > cores(), timeout: None }
    }

    /// Adds a time limit, for trials.
    pub(super) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    pub(super) fn is_trial(self) -> bool {
        self.timeout.is_some()
    }

    /// Returns when all requests are done.
    pub(super) fn until_all_done<H: Handle>(
        self,
        library: &Library<H>,
        requests: &mut [H],
    ) -> Result<(), Failure> {
        if !self.yields && !self.is_trial() {
            let (count, all) = (int(requests.len()), requests.as_mut_ptr());
            // SAFETY: there are that many requests, each from a call of this library.
            return checked(unsafe {
                (library.call.waitall)(count, all, ignored_statuses(library))
            });
        }
        let start = Instant::now();
        while !all_done(library, requests)? {
            match self.timeout {
                Some(timeout) if start.elapsed() > timeout => {
                    return Err(Failure::Timeout(timeout));
                }
                _ if start.elapsed() < YIELD_TIME => thread::yield_now(),
                _ => thread::sleep(POLL_INTERVAL),
            }
        }
        Ok(())
    }

    /// Returns when the operation that `begin` starts is done.
    pub(super) fn until_done<H: Handle>(
        self,
        library: &Library<H>,
        begin: impl FnOnce(*mut H) -> c_int,
    ) -> Result<(), Failure> {
        let mut request = [library.constant.request_null];
        checked(begin(request.as_mut_ptr()))?;
        self.until_all_done(library, &mut request)
    }
}

/// Whether all requests are done. Completed requests become null.
pub(super) fn all_done<H: Handle>(
    library: &Library<H>,
    requests: &mut [H],
) -> Result<bool, Failure> {
    let mut done: c_int = 0;
    let (count, all) = (int(requests.len()), requests.as_mut_ptr());
    // SAFETY: there are that many requests, each from a call of this library.
    let code =
        unsafe { (library.call.testall)(count, all, &raw mut done, ignored_statuses(library)) };
    checked(code).map(|()| done != 0)
}

/// Returns the address that means "ignore the statuses".
fn ignored_statuses<H>(library: &Library<H>) -> *mut c_void {
    ptr::without_provenance_mut(library.constant.statuses_ignore)
}

/// Returns the number of cores of this host.
fn cores() -> usize {
    #[cfg(unix)]
    // SAFETY: accesses no memory.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    #[cfg(not(unix))]
    let cores = thread::available_parallelism().map_or(1, usize::from);
    usize::try_from(cores).unwrap_or(1)
}
