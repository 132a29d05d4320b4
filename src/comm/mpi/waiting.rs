//! How a rank waits for what was begun.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use super::abi::Handle;
use super::int;
use super::library::Library;

/// How long a rank lets others run between two looks, before it sleeps between them. A message between ranks of one host takes
/// microseconds where the rank that sends it runs; a sleep takes 50 more than it is asked for.
const YIELDING: Duration = Duration::from_millis(5);
/// Sleep between two looks of a rank that waits long, for one that writes a file.
const NAP: Duration = Duration::from_millis(1);

/// Libraries look without end whether something has come. Where ranks are more than cores, that takes the time of the rank
/// that is to send it, and a message takes as long as the system lets a process run: milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    yields: bool,
    patience: Option<Duration>,
}

/// Why a call did not do what it was to do: in groups for a trial; elsewhere the library ends the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    Code(c_int),
    /// It has not ended.
    Late(Duration),
}

pub(super) fn checked(code: c_int) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure::Code(code)) }
}

impl Waiting {
    /// For one of so many ranks on this host.
    pub(super) fn among(ranks: usize) -> Self {
        Self { yields: ranks > cores(), patience: None }
    }

    /// The same for a trial: not for ever.
    pub(super) fn at_most(self, longest: Duration) -> Self {
        Self { patience: Some(longest), ..self }
    }

    pub(super) fn is_trial(self) -> bool {
        self.patience.is_some()
    }

    /// Return when all are done.
    pub(super) fn until_all_done<H: Handle>(
        self,
        library: &Library<H>,
        requests: &mut [H],
    ) -> Result<(), Failure> {
        if !self.yields && !self.is_trial() {
            let (count, all) = (int(requests.len()), requests.as_mut_ptr());
            // SAFETY: that many requests are there, each from a call of this library.
            return checked(unsafe { (library.call.waitall)(count, all, no_statuses(library)) });
        }
        let begun = Instant::now();
        while !all_done(library, requests)? {
            match self.patience {
                Some(patience) if begun.elapsed() > patience => {
                    return Err(Failure::Late(patience));
                }
                _ if begun.elapsed() < YIELDING => thread::yield_now(),
                _ => thread::sleep(NAP),
            }
        }
        Ok(())
    }

    /// Return when what `begin` has begun is done.
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

/// Whether all are done. Those that are become null.
pub(super) fn all_done<H: Handle>(
    library: &Library<H>,
    requests: &mut [H],
) -> Result<bool, Failure> {
    let mut done: c_int = 0;
    let (count, all) = (int(requests.len()), requests.as_mut_ptr());
    // SAFETY: that many requests are there, each from a call of this library.
    let code = unsafe { (library.call.testall)(count, all, &raw mut done, no_statuses(library)) };
    checked(code).map(|()| done != 0)
}

/// The address that stands for statuses that nobody asks for.
fn no_statuses<H>(library: &Library<H>) -> *mut c_void {
    ptr::without_provenance_mut(library.constant.statuses_ignore)
}

/// Cores of this host.
fn cores() -> usize {
    #[cfg(unix)]
    // SAFETY: takes no memory.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    #[cfg(not(unix))]
    let cores = thread::available_parallelism().map_or(1, usize::from);
    usize::try_from(cores).unwrap_or(1)
}
