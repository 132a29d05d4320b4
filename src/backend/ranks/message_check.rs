//! Test of messages from device memory, before a run relies on them.

use std::mem::forget;
use std::ops::Range;

use super::{Blocks, DeviceGroup, DeviceMessage, Memory};
use crate::backend::Field;
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::Values;

/// Number of values of a short message, which libraries send at once.
const SHORT: usize = 1021;
/// Number of values of a message of several MB, which libraries send when the receiver is ready.
const LONG: usize = 1_000_003;
/// Number of ranks tested together: enough to leave the host, and far fewer than would fill a table of the library.
const MAX_TEAM: usize = 64;

/// Ranks that are tested together.
enum Team<'a> {
    /// By MPI messages between them.
    Mpi(Box<dyn Communicator>),
    /// By device messages: the group, the first of these ranks in it, their number, and the index of this rank.
    Group { group: &'a dyn DeviceGroup, first: usize, size: usize, rank: usize },
}

impl<'a> Team<'a> {
    /// Returns the team of this rank. Collective.
    fn of(comm: &dyn Communicator, group: Option<&'a dyn DeviceGroup>) -> Self {
        let Some(group) = group else { return Self::Mpi(comm.trial(MAX_TEAM)) };
        let first = comm.rank() / MAX_TEAM * MAX_TEAM;
        let size = MAX_TEAM.min(comm.size() - first);
        Self::Group { group, first, size, rank: comm.rank() - first }
    }

    /// Returns (index of this rank in, size of) the team.
    fn index_and_size(&self) -> (usize, usize) {
        match self {
            Self::Mpi(ranks) => (ranks.rank(), ranks.size()),
            Self::Group { size, rank, .. } => (*rank, *size),
        }
    }

    /// Sends `bytes` bytes to the next rank.
    ///
    /// # Safety
    /// Both memories must have this length, and stay valid until the device has finished, or for ever if this fails.
    unsafe fn send_to_next(&self, Ends { from, to }: Ends, bytes: usize) -> Result<()> {
        let (rank, size) = self.index_and_size();
        let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
        match self {
            Self::Mpi(ranks) => {
                // SAFETY: as the caller promises.
                let (receive, send) = unsafe {
                    (ranks.receive(to, bytes, before, 0), ranks.send(from, bytes, after, 0))
                };
                ranks.wait(vec![receive, send]);
            }
            Self::Group { group, first, .. } => {
                let send = DeviceMessage { start: from, bytes, peer: first + after };
                let receive = DeviceMessage { start: to, bytes, peer: first + before };
                // SAFETY: as above.
                group.wait(unsafe { group.begin(&[send], &[receive]) }?)?;
            }
        }
        self.check_failure()
    }

    /// Sends `bytes` bytes to each rank, from and to contiguous shares.
    ///
    /// # Safety
    /// As above, with `bytes` bytes for each rank.
    unsafe fn all_to_all(&self, Ends { from, to }: Ends, bytes: usize) -> Result<()> {
        let all = 0..self.index_and_size().1;
        match self {
            Self::Mpi(ranks) => {
                let shares: Vec<_> = all.map(|rank| (rank * bytes, bytes)).collect();
                // SAFETY: as the caller promises.
                unsafe { ranks.all_to_all(from, &shares, to, &shares) };
            }
            Self::Group { group, first, .. } => {
                let shares = |memory: *mut u8| -> Vec<_> {
                    // SAFETY: as above.
                    let start = |rank: usize| unsafe { memory.add(rank * bytes) };
                    let share =
                        |rank| DeviceMessage { start: start(rank), bytes, peer: first + rank };
                    all.clone().map(share).collect()
                };
                // SAFETY: as above.
                group.wait(unsafe { group.begin(&shares(from), &shares(to)) }?)?;
            }
        }
        self.check_failure()
    }

    /// Returns the failure of an MPI call, which does not return errors itself.
    fn check_failure(&self) -> Result<()> {
        match self {
            Self::Mpi(ranks) => ranks.failure().map_or(Ok(()), |why| Err(Error::Device(why))),
            Self::Group { .. } => Ok(()),
        }
    }
}

/// Sends short and long messages and an all-to-all among ranks, by `group` or by MPI, and checks the received values.
/// Returns the failure of the first rank that has one. Collective.
pub(super) fn test_messages(
    backend: &dyn Blocks,
    comm: &dyn Communicator,
    group: Option<&dyn DeviceGroup>,
) -> Result<Option<String>> {
    let mut array = backend.planes(2 * LONG)?;
    let Memory::Device(start) = backend.memory(&mut array) else { return Ok(None) };
    let team = Team::of(comm, group);
    let bytes = LONG * backend.precision().bytes();
    // SAFETY: the second half of the array.
    let ends = Ends { from: start, to: unsafe { start.add(bytes) } };
    let mut failure = None;
    for kind in [Kind::Messages(SHORT), Kind::Messages(LONG), Kind::AllToAll] {
        // All ranks continue together or not at all: each waits for messages of the others.
        let here = run_test(backend, &team, &mut array, ends, kind);
        match all_or_error(comm, here) {
            Err(Error::Elsewhere { message, .. }) => {
                failure = Some(message.replacen("error: ", "", 1));
                break;
            }
            other => other?,
        }
    }
    // After a failure messages may still be under way, to memory that must not become another array.
    if failure.is_some() {
        forget(array);
    }
    Ok(failure)
}

/// What is tested: a message of this many values from each rank to the next, or an all-to-all.
#[derive(Clone, Copy)]
enum Kind {
    Messages(usize),
    AllToAll,
}

/// Addresses that messages are sent from and received at.
#[derive(Clone, Copy)]
struct Ends {
    from: *mut u8,
    to: *mut u8,
}

/// Runs one test.
fn run_test(
    backend: &dyn Blocks,
    team: &Team<'_>,
    array: &mut Field,
    ends: Ends,
    kind: Kind,
) -> Result<()> {
    let ((rank, size), width) = (team.index_and_size(), backend.precision().bytes());
    let own = numbers(backend, rank, 0..LONG);
    // Old values must not pass for received ones.
    let zeros = Values::zeros(backend.precision(), LONG);
    backend.put(array, 0, own.bytes())?;
    backend.put(array, LONG, zeros.bytes())?;
    backend.finish()?;
    let (expected, what, sent) = match kind {
        Kind::Messages(values) => {
            let before = (rank + size - 1) % size;
            let bytes = values * width;
            let expected = numbers(backend, before, 0..values).bytes().to_vec();
            let what = format!("a message of {bytes} bytes from one device to the next");
            // SAFETY: both halves of the array have as many values; it outlives the messages, or is never freed.
            (expected, what, unsafe { team.send_to_next(ends, bytes) })
        }
        Kind::AllToAll => {
            let share = LONG / size;
            let bytes = share * width;
            let own_share = rank * share..(rank + 1) * share;
            let part = |from| numbers(backend, from, own_share.clone()).bytes().to_vec();
            let expected = (0..size).map(part).collect::<Vec<_>>().concat();
            let what = format!("an all-to-all of {bytes} bytes between two devices");
            // SAFETY: as above.
            (expected, what, unsafe { team.all_to_all(ends, bytes) })
        }
    };
    if let Err(why) = sent {
        let why = why.to_string();
        return Err(Error::Device(format!("{what} failed: {}", why.trim_start_matches("error: "))));
    }
    let mut received = vec![0; expected.len()];
    backend.fetch(array, LONG, &mut received)?;
    if received == expected { Ok(()) } else { Err(Error::Device(format!("{what} arrived wrong"))) }
}

/// Returns values `range` of the data that a rank sends; none is zero.
fn numbers(backend: &dyn Blocks, rank: usize, range: Range<usize>) -> Values<'static> {
    let mut numbers = Values::zeros(backend.precision(), range.len());
    for (at, number) in range.enumerate() {
        let value = u32::try_from((7919 * rank + number) % 65_521 + 1);
        numbers.set(at, value.map_or(0.0, f64::from));
    }
    numbers
}
