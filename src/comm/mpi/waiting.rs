//! How a rank waits for what was begun.

use std::ffi::c_int;
use std::mem::size_of;
use std::thread;
use std::time::Duration;

use mpi::ffi::{self, MPI_Request};

use super::int;
use crate::comm::Request;

/// First and longest nap between two looks. Each is twice the one before: a rank waits little longer than it must, and many
/// that wait long leave the cores alone.
const NAPS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// Libraries look without end whether something has come. Where ranks are more than cores, that takes the time of the rank
/// that is to send it, and a message takes as long as the system lets a process run: milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    naps: bool,
}

impl Waiting {
    /// For one of so many ranks on this host.
    pub(super) fn among(ranks: usize) -> Self {
        Self { naps: ranks > cores() }
    }

    /// Return when all are done.
    pub(super) fn until_all_done(self, requests: &mut [MPI_Request]) {
        if !self.naps {
            let (count, all) = (int(requests.len()), requests.as_mut_ptr());
            // SAFETY: that many requests are there, each from a call of this library.
            unsafe { ffi::MPI_Waitall(count, all, ffi::RSMPI_STATUSES_IGNORE) };
            return;
        }
        let [mut nap, longest] = NAPS;
        while !all_done(requests) {
            thread::sleep(nap);
            nap = longest.min(2 * nap);
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
