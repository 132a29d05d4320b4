//! Initialization and finalization of MPI.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

use super::abi::Handle;
use super::library::{ByWidth, Library, Loaded};
use super::waiting::Waiting;
use super::{Mpi, U64_BYTES, lock_calls};
use crate::comm::Communicator;
use crate::error::{Result, refused};

/// Starts MPI on all ranks. `started` describes the launch, for error messages.
pub(in crate::comm) fn start(started: &str) -> Result<Arc<dyn Communicator>> {
    let loaded = Loaded::get()
        .map_err(|missing| refused(format!("{started}, and {}", missing.cause), &missing.advice))?;
    Ok(match &loaded.by_width {
        ByWidth::Int(library) => Arc::new(Mpi::start(library, loaded)?),
        ByWidth::Pointer(library) => Arc::new(Mpi::start(library, loaded)?),
    })
}

/// Returns name and version of the MPI library and the name under which it was found; loads it without starting it. The
/// error explains why there is no library.
pub fn library() -> Result<String, String> {
    Loaded::get().map(Loaded::describe).map_err(|missing| missing.cause.clone())
}

impl<H: Handle> Mpi<H> {
    fn start(library: &'static Library<H>, loaded: &'static Loaded) -> Result<Self> {
        let Library { call, constant } = library;
        let (mut started, mut granted): (c_int, c_int) = (0, 0);
        // SAFETY: the pointers are to values that outlive the calls; MPI does not need the program's arguments.
        unsafe {
            (call.initialized)(&raw mut started);
            if started != 0 {
                return Err(refused("MPI was started twice", ""));
            }
            let required = constant.thread_serialized;
            (call.init_thread)(null_mut(), null_mut(), required, &raw mut granted);
        }
        if granted < constant.thread_serialized {
            let what = format!("{} accepts calls from one thread only", loaded.describe());
            return Err(refused(&what, "Kolmo needs a library that was built with thread support"));
        }
        let _guard = lock_calls();
        let group = constant.comm_world;
        let (host, local) = neighbours(library, rank_and_size(library, group).0);
        Ok(Self::new((library, loaded), group, host, local, Waiting::for_ranks_on_host(local.1)))
    }
}

impl<H: Handle> Drop for Mpi<H> {
    fn drop(&mut self) {
        let _guard = lock_calls();
        let Library { call, constant } = self.library;
        let mut finalized: c_int = 0;
        // SAFETY: MPI is finalized once, with the world group; other groups were made by `split` and are freed once if
        // MPI still runs.
        unsafe {
            if self.group.bits() == constant.comm_world.bits() {
                (call.finalize)();
                return;
            }
            (call.finalized)(&raw mut finalized);
            if finalized == 0 {
                (call.comm_free)(&raw mut self.group);
            }
        }
    }
}

/// Returns (rank in, size of) a group.
pub(super) fn rank_and_size<H: Handle>(library: &Library<H>, group: H) -> (usize, usize) {
    let (mut rank, mut size): (c_int, c_int) = (0, 1);
    // SAFETY: pointers to values that outlive the calls.
    unsafe {
        (library.call.comm_rank)(group, &raw mut rank);
        (library.call.comm_size)(group, &raw mut size);
    }
    (usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(1))
}

/// Returns a number that identifies the host of rank `rank` of the world, and (index of this rank among, number of) the
/// ranks there.
fn neighbours<H: Handle>(library: &Library<H>, rank: usize) -> (u64, (usize, usize)) {
    let Library { call, constant } = library;
    let (mut host, mut group) = (rank as u64, constant.comm_world);
    // SAFETY: pointers to values that outlive the calls; the group of this host is freed once.
    let local = unsafe {
        let (kind, info) = (constant.comm_type_shared, constant.info_null);
        (call.comm_split_type)(constant.comm_world, kind, 0, info, &raw mut group);
        (call.bcast)((&raw mut host).cast(), U64_BYTES, constant.byte, 0, group);
        let local = rank_and_size(library, group);
        (call.comm_free)(&raw mut group);
        local
    };
    (host, local)
}
