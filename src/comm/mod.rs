//! Ranks and the messages between them: one trait, implemented by [`Solo`] for a process started alone and by `Mpi`.
//!
//! Messages are bytes at an address, in host memory or, where the library accepts it, in device memory. Only the callers
//! know their meaning.

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
pub use world::{is_first, rank_label, world};

/// A message under way. Its memory must stay in place, unread and unwritten, until [`Communicator::wait`] returns.
#[derive(Debug)]
#[must_use = "a message is complete when it was waited for"]
pub struct Request(pub u64);

/// Messages that a rank has sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages to other ranks; an all-to-all counts one per rank that receives data.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A group of ranks that run one program. Calls marked *collective* must be made by all ranks of the group, in the same
/// order. An error inside MPI ends the program on all ranks.
pub trait Communicator: Send + Sync {
    /// This rank, 0 to `size() − 1`.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// (index of this rank among, number of) the ranks of the group on the same host.
    fn local(&self) -> (usize, usize);

    /// Starts to send `bytes` bytes at `data` to rank `to`. Messages between the same two ranks with the same `tag` (0 to
    /// 32766) arrive in the order in which they were sent. If `bytes` is 0 no message is sent, and the receiver must
    /// expect 0 bytes too.
    ///
    /// # Safety
    /// The memory must be readable, and must not be written or freed before [`Communicator::wait`] was called with the
    /// result.
    unsafe fn send(&self, data: *const u8, bytes: usize, to: usize, tag: i32) -> Request;

    /// Starts to receive `bytes` bytes at `data` from rank `from`; if `bytes` is 0 there is no message to wait for.
    ///
    /// # Safety
    /// The memory must be writable, and must not be used or freed before [`Communicator::wait`] was called with the
    /// result.
    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request;

    /// Waits until all `requests` are complete.
    fn wait(&self, requests: Vec<Request>);

    /// Like [`Communicator::wait`], but leaves the core free for other threads and ranks: polls every few milliseconds.
    fn wait_asleep(&self, requests: Vec<Request>) {
        self.wait(requests);
    }

    /// Exchanges blocks with every rank of the group: sends `send[r].1` bytes from offset `send[r].0` of `from` to rank
    /// r, and receives `receive[r].1` bytes from rank r at offset `receive[r].0` of `to`. Collective.
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

    /// Replaces every value by its sum over all ranks, bitwise identical on each. Collective.
    fn sum(&self, values: &mut [f64]);

    /// Replaces every value by its maximum over all ranks. Collective.
    fn max(&self, values: &mut [f64]);

    /// Returns the bytes of every rank, in rank order, on rank 0; `None` on the others. Collective.
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;

    /// Returns the bytes of rank `root` on all ranks. Collective.
    fn broadcast(&self, root: usize, bytes: Vec<u8>) -> Vec<u8>;

    /// Returns when all ranks have reached this call. Collective.
    fn barrier(&self);

    /// Returns the group of all ranks with the same `color`, ordered by `key`. Collective.
    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator>;

    /// Returns the messages that this rank has sent so far by [`Communicator::send`] and [`Communicator::all_to_all`].
    fn sent(&self) -> Sent;

    /// Whether the library reports that it accepts addresses in CUDA device memory; `None` if it reports nothing.
    fn reports_device_aware(&self) -> Option<bool>;

    /// Returns groups of at most `max_size` ranks to test calls that may fail: an error there, or a call that has not ended
    /// after some seconds, does not end the program. Collective.
    fn trial(&self, max_size: usize) -> Box<dyn Communicator> {
        self.split(self.rank() / max_size, self.rank())
    }

    /// Returns the first failure in a trial group. Its messages may then stay under way for ever.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Ends the program on all ranks with this exit code, once the launcher has read the output of this rank.
    fn abort(&self, code: u8) -> !;
}

/// Returns the error of the first rank that has one, on all ranks; otherwise the result of this rank. Collective.
///
/// # Errors
/// That error: [`Error::Elsewhere`] on all ranks if there is more than one rank.
pub fn all_or_error<T>(comm: &dyn Communicator, result: Result<T>) -> Result<T> {
    if comm.size() == 1 {
        return result;
    }
    let Some(first) = first_rank(comm, result.is_err()) else { return result };
    let message = result.err().map_or(Vec::new(), |error| {
        let (report, code) = (error.report(), error.exit_code());
        let whose = if comm.rank() == 0 { String::new() } else { rank_label(comm) + ": " };
        [&[code], whose.as_bytes(), report.as_bytes()].concat()
    });
    let message = comm.broadcast(first, message);
    let (code, message) = message.split_first().unwrap_or((&1, &[]));
    Err(Error::Elsewhere {
        exit_code: *code,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// Returns the first rank on which `condition` is true, if any. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a rank")]
fn first_rank(comm: &dyn Communicator, condition: bool) -> Option<usize> {
    let mut first = [if condition { -(comm.rank() as f64) } else { f64::NEG_INFINITY }];
    comm.max(&mut first);
    (first[0] != f64::NEG_INFINITY).then_some(-first[0] as usize)
}

/// Tag of the messages of [`deal`].
const DEAL_TAG: i32 = 5;

/// Returns this rank's part of the `parts` that rank 0 holds: part r goes to rank r, ranks beyond the last part get
/// nothing. Only rank 0 passes parts. Collective.
pub fn deal(comm: &dyn Communicator, parts: Vec<Vec<u8>>) -> Vec<u8> {
    let lengths = parts.iter().flat_map(|part| (part.len() as u64).to_le_bytes()).collect();
    let lengths = comm.broadcast(0, lengths);
    if comm.rank() == 0 {
        let send = |(to, part): (usize, &Vec<u8>)| {
            // SAFETY: the memory lives until the wait.
            unsafe { comm.send(part.as_ptr(), part.len(), to, DEAL_TAG) }
        };
        let full = parts.iter().enumerate().skip(1).filter(|(_, part)| !part.is_empty());
        comm.wait(full.map(send).collect());
        return parts.into_iter().next().unwrap_or_default();
    }
    let length = lengths.as_chunks().0.get(comm.rank()).map_or(0, |word| u64::from_le_bytes(*word));
    let mut part = vec![0; usize::try_from(length).unwrap_or(0)];
    if !part.is_empty() {
        // SAFETY: as above.
        let request = unsafe { comm.receive(part.as_mut_ptr(), part.len(), 0, DEAL_TAG) };
        comm.wait(vec![request]);
    }
    part
}

/// Returns the name of this host.
pub fn host() -> String {
    #[cfg(unix)]
    {
        let mut name = [0_u8; 256];
        // SAFETY: the array has that many bytes; the last one stays zero.
        unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
        String::from_utf8_lossy(&name[..length]).into_owned()
    }
    #[cfg(not(unix))]
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
