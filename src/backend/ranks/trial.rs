//! Whether messages from the memory of a device arrive, before anything depends on them.

use std::mem::forget;
use std::ops::Range;

use super::{Blocks, Memory};
use crate::backend::Field;
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::real::Values;

/// Values of a message that libraries send at once.
const SHORT: usize = 1021;
/// Values of one, of several MB, that they begin to send when the receiver is ready.
const LONG: usize = 1_000_003;
/// Ranks that try together: enough to leave the host, and far fewer than would fill a table of the library.
const TOGETHER: usize = 64;

/// Send short and long messages and an all-to-all among ranks, and look at what arrives: what goes wrong on the first rank where
/// something does. Collective.
///
/// # Errors
/// What a driver says.
pub(super) fn trial(backend: &dyn Blocks, comm: &dyn Communicator) -> Result<Option<String>> {
    let mut array = backend.planes(2 * LONG)?;
    let Memory::Device(start) = backend.memory(&mut array) else { return Ok(None) };
    let ranks = comm.trial(TOGETHER);
    let bytes = LONG * backend.precision().bytes();
    // SAFETY: the second half of the array.
    let ends = Ends { from: start, to: unsafe { start.add(bytes) } };
    let mut failure = None;
    for kind in [Kind::Messages(SHORT), Kind::Messages(LONG), Kind::AllToAll] {
        // All go on together, or none: what one waits for another has to send.
        let here = attempt(backend, &*ranks, &mut array, ends, kind);
        match all_or_error(comm, here) {
            Err(Error::Elsewhere { message, .. }) => {
                failure = Some(message.replacen("error: ", "", 1));
                break;
            }
            other => other?,
        }
    }
    // After a failure messages may still be on their way, to memory that must not become another array.
    if failure.is_some() {
        forget(array);
    }
    Ok(failure)
}

/// What is tried: a message of so many values from each rank to the next, or shares of all for all.
#[derive(Clone, Copy)]
enum Kind {
    Messages(usize),
    AllToAll,
}

/// Where messages leave and arrive.
#[derive(Clone, Copy)]
struct Ends {
    from: *const u8,
    to: *mut u8,
}

/// One of them.
fn attempt(
    backend: &dyn Blocks,
    ranks: &dyn Communicator,
    array: &mut Field,
    Ends { from, to }: Ends,
    kind: Kind,
) -> Result<()> {
    let (rank, size, width) = (ranks.rank(), ranks.size(), backend.precision().bytes());
    let own = numbers(backend, rank, 0..LONG);
    // What is there already must not pass for what has arrived.
    let nothing = Values::zeros(backend.precision(), LONG);
    backend.put(array, 0, own.bytes())?;
    backend.put(array, LONG, nothing.bytes())?;
    backend.finish()?;
    let (expected, what) = match kind {
        Kind::Messages(values) => {
            let before = (rank + size - 1) % size;
            let bytes = values * width;
            // SAFETY: both halves of the array have as many values, and it outlives the messages, or stays for ever.
            let requests = unsafe {
                let coming = ranks.receive(to, bytes, before, 0);
                vec![coming, ranks.send(from, bytes, (rank + 1) % size, 0)]
            };
            ranks.wait(requests);
            let expected = numbers(backend, before, 0..values).bytes().to_vec();
            (expected, format!("a message of {bytes} bytes from one device to the next"))
        }
        Kind::AllToAll => {
            let share = LONG / size;
            let shares: Vec<_> = (0..size).map(|to| (to * share * width, share * width)).collect();
            // SAFETY: as above.
            unsafe { ranks.all_to_all(from, &shares, to, &shares) };
            let mine = rank * share..(rank + 1) * share;
            let part = |from| numbers(backend, from, mine.clone()).bytes().to_vec();
            let expected = (0..size).map(part).collect::<Vec<_>>().concat();
            (expected, format!("an all-to-all of {} bytes between two devices", share * width))
        }
    };
    if let Some(why) = ranks.failure() {
        return Err(Error::Device(format!("{what} failed: {why}")));
    }
    let mut came = vec![0; expected.len()];
    backend.fetch(array, LONG, &mut came)?;
    if came == expected { Ok(()) } else { Err(Error::Device(format!("{what} arrived wrong"))) }
}

/// What a rank sends, values `range` of it: none is zero.
fn numbers(backend: &dyn Blocks, rank: usize, range: Range<usize>) -> Values<'static> {
    let mut numbers = Values::zeros(backend.precision(), range.len());
    for (at, number) in range.enumerate() {
        let value = u32::try_from((7919 * rank + number) % 65_521 + 1);
        numbers.set(at, value.map_or(0.0, f64::from));
    }
    numbers
}
