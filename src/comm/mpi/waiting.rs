//! How a rank waits for what was begun.

use std::ffi::c_int;
use std::mem::size_of;
use std::thread;
use std::time::{Duration, Instant};

use mpi::ffi::{self, MPI_Request};

use super::int;
use crate::comm::Request;

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
}

impl Waiting {
    /// For one of so many ranks on this host.
    pub(super) fn among(ranks: usize) -> Self {
        Self { yields: ranks > cores() }
    }

    /// Return when all are done.
    pub(super) fn until_all_done(self, requests: &mut [MPI_Request]) {
        if !self.yields {
            let (count, all) = (int(requests.len()), requests.as_mut_ptr());
            // SAFETY: that many requests are there, each from a call of this library.
            unsafe { ffi::MPI_Waitall(count, all, ffi::RSMPI_STATUSES_IGNORE) };
            return;
        }
        let begun = Instant::now();
        while !all_done(requests) {
            if begun.elapsed() < YIELDING { thread::yield_now() } else { thread::sleep(NAP) }
        }
    }

    /// Return when what `begin` has begun is done.
    pub(super) fn until_done(self, begin: impl FnOnce(*mut MPI_Request)) {
        // SAFETY: a constant of the library.
        let mut request = [unsafe { ffi::RSMPI_REQUEST_NULL }];
        begin(request.as_mut_ptr());
        self.until_all_done(&mut request);
    }
}

/// Whether all are done. Those that are become null.
pub(super) fn all_done(requests: &mut [MPI_Request]) -> bool {
    let mut done: c_int = 0;
    let (count, all) = (int(requests.len()), requests.as_mut_ptr());
    // SAFETY: that many requests are there, each from a call of this library.
    unsafe { ffi::MPI_Testall(count, all, &raw mut done, ffi::RSMPI_STATUSES_IGNORE) };
    done != 0
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

/// A handle is a pointer or an int, as the library likes it.
const _: () = assert!(size_of::<MPI_Request>() <= size_of::<u64>());

pub(super) fn packed(request: MPI_Request) -> Request {
    let mut bits = 0_u64;
    // SAFETY: a handle is plain bytes and fits.
    unsafe { (&raw mut bits).cast::<MPI_Request>().write_unaligned(request) };
    Request(bits)
}

pub(super) fn unpacked(request: Request) -> MPI_Request {
    // SAFETY: the bits are those of a handle.
    unsafe { (&raw const request.0).cast::<MPI_Request>().read_unaligned() }
}
