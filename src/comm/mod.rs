//! Ranks and the messages between them: one trait, [`Solo`] for a process that was started alone, and `Mpi`.
//!
//! Messages are bytes at an address, which may lie in host memory or, where the library takes such addresses, in the
//! memory of a device. What they mean is known to the callers only.

#[cfg(unix)]
mod drain;
#[cfg(not(target_family = "wasm"))]
mod foreign;
mod launcher;
#[cfg_attr(target_family = "wasm", path = "no_mpi.rs")]
mod mpi;
pub mod placement;
mod same;
mod solo;
mod world;

use crate::error::{Error, Result};

#[cfg(not(target_family = "wasm"))]
pub(crate) use foreign::foreign_functions;
pub use mpi::library;
pub use same::{Fact, same_on_all};
pub use solo::Solo;
pub use world::{is_first, speaker, world};

/// A message on its way. Its memory must stay where it is, unread and unwritten, until [`Communicator::wait`] returns.
#[derive(Debug)]
#[must_use = "a message is complete when it was waited for"]
pub struct Request(pub u64);

/// What a rank sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages to other ranks; in an all-to-all one for each that is sent something.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A group of ranks that one program runs on. Calls marked *collective* must be made by all ranks of the group, in the
/// same order. Where MPI itself fails it ends the program on all ranks.
pub trait Communicator: Send + Sync {
    /// This rank, 0 to `size() − 1`.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// (this rank among, number of) the ranks of the group on the same host.
    fn local(&self) -> (usize, usize);

    /// Begin to send `bytes` bytes at `data` to rank `to`. Messages between the same two ranks with the same `tag`
    /// (0 to 32766) arrive in the order in which they were sent. Nothing is sent where `bytes` is 0, and nothing may be received.
    ///
    /// # Safety
    /// The memory must be readable, and not be written or freed before [`Communicator::wait`] was called with the result.
    unsafe fn send(&self, data: *const u8, bytes: usize, to: usize, tag: i32) -> Request;

    /// Begin to receive `bytes` bytes at `data` from rank `from`.
    ///
    /// # Safety
    /// The memory must be writable, and not be used or freed before [`Communicator::wait`] was called with the result.
    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request;

    /// Wait until all `requests` are complete.
    fn wait(&self, requests: Vec<Request>);

    /// [`Communicator::wait`] on a rank that is to leave its core to others meanwhile: it looks every few milliseconds.
    fn wait_asleep(&self, requests: Vec<Request>) {
        self.wait(requests);
    }

    /// Exchange blocks with every rank of the group: rank r gets `send[r].1` bytes from offset `send[r].0` of `from`, and
    /// what it has for us comes to offset `receive[r].0` of `to`, `receive[r].1` bytes. Collective.
    ///
    /// # Safety
    /// Both memories must be valid over all the ranges and not overlap; the ranges of `receive` must not overlap.
    unsafe fn all_to_all(
        &self,
        from: *const u8,
        send: &[(usize, usize)],
        to: *mut u8,
        receive: &[(usize, usize)],
    );

    /// Replace every value by its sum over all ranks, the same bits on each. Collective.
    fn sum(&self, values: &mut [f64]);

    /// Replace every value by its largest over all ranks. Collective.
    fn max(&self, values: &mut [f64]);

    /// What every rank gave, in the order of ranks, on rank 0; nothing on the others. Collective.
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;

    /// What rank `root` gave, on all ranks. Collective.
    fn broadcast(&self, root: usize, bytes: Vec<u8>) -> Vec<u8>;

    /// Return when all ranks have come here. Collective.
    fn barrier(&self);

    /// The group of all ranks that give the same `color`, in the order of their `key`s. Collective.
    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator>;

    /// What this rank sent by [`Communicator::send`] and [`Communicator::all_to_all`] so far.
    fn sent(&self) -> Sent;

    /// Whether the library says that it takes addresses in the memory of a CUDA device; `None` where it does not say.
    fn says_device_aware(&self) -> Option<bool>;

    /// Groups of `most` ranks or fewer for a trial of what may go wrong: a call that fails there, or has not ended after some
    /// seconds, does not end the program. Collective.
    fn trial(&self, most: usize) -> Box<dyn Communicator> {
        self.split(self.rank() / most, self.rank())
    }

    /// What went wrong first in a group for a trial. Its messages may then be on their way for ever.
    fn failure(&self) -> Option<String> {
        None
    }

    /// End the program on all ranks now, with this exit code, once the launcher has read what this one said.
    fn abort(&self, code: u8) -> !;
}

/// The first error that any rank has, on all of them; else what this rank has. Collective.
///
/// # Errors
/// That error: [`Error::Elsewhere`] on all ranks, where there is more than one.
pub fn all_or_error<T>(comm: &dyn Communicator, result: Result<T>) -> Result<T> {
    if comm.size() == 1 {
        return result;
    }
    let Some(first) = first_rank(comm, result.is_err()) else { return result };
    let told = result.err().map_or(Vec::new(), |error| {
        let (report, code) = (error.report(), error.exit_code());
        let whose = if comm.rank() == 0 { String::new() } else { speaker(comm) + ": " };
        [&[code], whose.as_bytes(), report.as_bytes()].concat()
    });
    let told = comm.broadcast(first, told);
    let (code, message) = told.split_first().unwrap_or((&1, &[]));
    Err(Error::Elsewhere {
        exit_code: *code,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// The first rank on which something `is` so, if any. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a rank")]
fn first_rank(comm: &dyn Communicator, is: bool) -> Option<usize> {
    let mut first = [if is { -(comm.rank() as f64) } else { f64::NEG_INFINITY }];
    comm.max(&mut first);
    (first[0] != f64::NEG_INFINITY).then_some(-first[0] as usize)
}

/// What the messages of [`deal`] are sent under.
const DEAL: i32 = 5;

/// Of what rank 0 has for as many ranks, from itself on, that for this one; nothing for others. Rank 0 alone holds all.
/// Collective.
pub fn deal(comm: &dyn Communicator, parts: Vec<Vec<u8>>) -> Vec<u8> {
    let lengths = parts.iter().flat_map(|part| (part.len() as u64).to_le_bytes()).collect();
    let lengths = comm.broadcast(0, lengths);
    if comm.rank() == 0 {
        let send = |(to, part): (usize, &Vec<u8>)| {
            // SAFETY: the memory is there until it was waited for.
            unsafe { comm.send(part.as_ptr(), part.len(), to, DEAL) }
        };
        let full = parts.iter().enumerate().skip(1).filter(|(_, part)| !part.is_empty());
        comm.wait(full.map(send).collect());
        return parts.into_iter().next().unwrap_or_default();
    }
    let length = lengths.as_chunks().0.get(comm.rank()).map_or(0, |word| u64::from_le_bytes(*word));
    let mut part = vec![0; usize::try_from(length).unwrap_or(0)];
    if !part.is_empty() {
        // SAFETY: as above.
        let request = unsafe { comm.receive(part.as_mut_ptr(), part.len(), 0, DEAL) };
        comm.wait(vec![request]);
    }
    part
}

/// The name of this host.
pub fn host() -> String {
    #[cfg(unix)]
    {
        let mut name = [0_u8; 256];
        // SAFETY: that many bytes are there; the last one stays zero.
        unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
        String::from_utf8_lossy(&name[..length]).into_owned()
    }
    #[cfg(not(unix))]
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
