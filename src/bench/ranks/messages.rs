//! Timing of messages between two ranks, and between all ranks.

use std::hint::black_box;
use std::time::Instant;

use super::Probe;
use super::blocks::{EXCHANGE, ONE_WAY, SECOND_EXCHANGE, Seconds};
use super::report::MessageRow;
use super::transfers::Transfers;
use crate::backend::Field;
use crate::backend::ranks::{Blocks, Memory, Route, Staging};
use crate::bench::measure::{Times, collective, interleaved};
use crate::bench::output::Spread;
use crate::comm::{Communicator, Request};
use crate::error::Result;
use crate::model::Rates;

/// Sizes of a message in bytes: from a single value to sizes beyond the caches.
const SIZES: [usize; 8] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20];
/// Number of additional short messages in a round, which give the cost of one.
const EXTRA_MESSAGES: usize = 16;
/// Bytes of a short message.
const SHORT_BYTES: usize = 8;
/// Size of a message if blocks are too short for all methods that send one to each neighbour.
const DEFAULT_BYTES: usize = 256 << 10;
/// Duration of the computation while messages travel, in units of the time of a round.
const COMPUTE_ROUNDS: f64 = 2.0;

/// Rounds of messages with both neighbours, the bytes sent in them, their seconds, and all-to-alls.
pub(super) struct Traffic {
    pub(super) rounds: usize,
    pub(super) bytes_sent: usize,
    pub(super) seconds: Seconds,
    pub(super) transfers: Transfers,
}

/// Source and destination memory of messages: one half each.
pub(super) struct MessageBuffers {
    array: Field,
    staging: Staging,
    /// Bytes.
    half: usize,
}

/// Addresses of both halves, for closures that other threads run.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    from: *mut u8,
    to: *mut u8,
}

// SAFETY: only one closure at a time, which runs on one thread, uses the memory.
unsafe impl Send for Addresses {}

/// The addresses of messages from and to an array, for messages by `route`.
pub(super) fn address(
    place: &dyn Blocks,
    route: Route,
    array: &mut Field,
    staging: &mut Staging,
) -> *mut u8 {
    match place.memory(array) {
        Memory::Host(start) => start,
        Memory::Device(start) if route == Route::Device => start,
        _ => staging.as_mut_ptr(),
    }
}

impl MessageBuffers {
    /// Buffers of `bytes` each.
    pub(super) fn new(place: &dyn Blocks, bytes: usize) -> Result<Self> {
        let size = place.precision().bytes();
        let half = bytes.div_ceil(size).max(1);
        let (array, staging) = (place.planes(2 * half)?, place.staging(2 * half));
        Ok(Self { array, staging, half: half * size })
    }

    pub(super) fn addresses(&mut self, place: &dyn Blocks, route: Route) -> Addresses {
        let from = address(place, route, &mut self.array, &mut self.staging);
        // SAFETY: both halves are parts of one allocation.
        Addresses { from, to: unsafe { from.add(self.half) } }
    }
}

/// One round: `bytes` to the previous and to the next rank, as one message if both are the same rank, and `more` short messages
/// to the next one.
pub(super) fn round(
    comm: &dyn Communicator,
    at: Addresses,
    bytes: usize,
    more: usize,
) -> Vec<Request> {
    let (rank, size) = (comm.rank(), comm.size());
    let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
    let mut requests = Vec::new();
    let messages = if before == after {
        vec![(after, before, 0, 2 * bytes)]
    } else {
        vec![(before, after, 0, bytes), (after, before, bytes, bytes)]
    };
    for &(_, from, start, bytes) in &messages {
        // SAFETY: both memories hold two messages, and exist until these have been waited for.
        requests.push(unsafe { comm.receive(at.to.add(start), bytes, from, 1) });
    }
    for &(to, _, start, bytes) in &messages {
        // SAFETY: as above.
        requests.push(unsafe { comm.send(at.from.add(start), bytes, to, 1) });
    }
    for k in 0..more {
        // SAFETY: as above; the short messages fit after the two messages.
        requests.push(unsafe {
            comm.receive(at.to.add(2 * bytes + k * SHORT_BYTES), SHORT_BYTES, before, 2)
        });
    }
    for _ in 0..more {
        // SAFETY: as above.
        requests.push(unsafe { comm.send(at.from, SHORT_BYTES, after, 2) });
    }
    requests
}

impl Probe<'_> {
    /// Store the costs of messages by `route` in `rates`; `traffic` contains the exchanges of long messages. Does nothing for one
    /// rank. Collective.
    pub(super) fn messages(
        &self,
        traffic: &Traffic,
        route: Route,
        rates: &mut Rates,
    ) -> Result<()> {
        let Self { place, comm, .. } = *self;
        let Traffic { rounds, bytes_sent, seconds, transfers } = traffic;
        let (rounds, bytes_sent) = (*rounds, *bytes_sent);
        let size = comm.size();
        if size == 1 {
            return Ok(());
        }
        let message = if rounds == 0 { DEFAULT_BYTES } else { bytes_sent / (2 * rounds) };
        // A round has one message to each neighbour.
        let neighbours = if size == 2 { 1 } else { 2 };
        let mut buffers = MessageBuffers::new(
            place,
            2 * message.max(SHORT_BYTES) + EXTRA_MESSAGES * SHORT_BYTES,
        )?;
        let at = buffers.addresses(place, route);
        let exchange = |bytes: usize, more: usize| {
            collective(place, comm, move || comm.wait(round(comm, at, bytes, more)))
        };
        let reduce = collective(place, comm, || comm.max(&mut [1.0, 2.0, 3.0, 4.0]));
        let subjects = vec![
            exchange(SHORT_BYTES, 0),
            exchange(SHORT_BYTES, EXTRA_MESSAGES),
            exchange(message, 0),
            reduce,
        ];
        let times = interleaved(self.repeats, Box::new(|| Ok(0.0)), subjects)?.1;
        let [short, many, alone, reduction] = [0, 1, 2, 3].map(|at: usize| times[at].median());
        // One more message is sent and received once each.
        let overhead = (many - short).max(0.0) / (2 * EXTRA_MESSAGES) as f64;
        let latency = (self.ping_pong(SHORT_BYTES, at)?.median() - 2.0 * overhead).max(0.0);
        let rate = |bytes: usize, seconds: f64, calls: usize, rounds: usize| {
            let travelling = seconds - rounds as f64 * latency - calls as f64 * overhead;
            bytes as f64 / travelling.max(0.25 * seconds)
        };
        let calls = 2 * neighbours * rounds;
        if rounds == 0 {
            rates.bandwidth = rate(2 * message, alone, 2 * neighbours, 1);
            (rates.again, rates.one_way) = (rates.bandwidth, rates.bandwidth);
        } else {
            rates.bandwidth = rate(bytes_sent, seconds[EXCHANGE], calls, rounds);
            rates.again = rate(bytes_sent, seconds[SECOND_EXCHANGE], calls, rounds);
            rates.one_way = rate(bytes_sent / neighbours, seconds[ONE_WAY], rounds, rounds);
        }
        let Transfers { count, bytes_sent, seconds, .. } = *transfers;
        rates.all_to_all = rate(bytes_sent, seconds, 2 * (size - 1) * count, count);
        (rates.latency, rates.overhead) = (latency, overhead);
        rates.reduction = reduction / (size as f64).log2();
        rates.progress = self.progress(message, at, alone)?;
        if route == Route::Staged {
            rates.staging = Some(self.staging(&mut buffers)?);
        }
        Ok(())
    }

    /// Messages of increasing size: ping-pong between the first two ranks, and rounds of all ranks. Collective.
    pub(super) fn time_sizes(&self, route: Route) -> Result<Vec<MessageRow>> {
        let Self { place, comm, .. } = *self;
        let mut rows = Vec::new();
        if comm.size() == 1 {
            return Ok(rows);
        }
        let max_bytes = SIZES.iter().copied().max().unwrap_or(SHORT_BYTES);
        let mut buffers = MessageBuffers::new(place, 2 * max_bytes)?;
        let at = buffers.addresses(place, route);
        let mut row = |name, bytes: usize, bytes_sent: usize, times: &Times| {
            let seconds = Spread::seconds(times);
            let gb_per_s = 1e-9 * bytes_sent as f64 / seconds.min;
            rows.push(MessageRow { name, bytes, seconds, gb_per_s });
        };
        for bytes in SIZES {
            row("ping-pong", bytes, bytes, &self.ping_pong(bytes, at)?);
        }
        for bytes in SIZES {
            let subject = collective(place, comm, move || comm.wait(round(comm, at, bytes, 0)));
            let times = interleaved(self.repeats, Box::new(|| Ok(0.0)), vec![subject])?.1;
            row("exchange", bytes, 2 * bytes, &times[0]);
        }
        Ok(rows)
    }

    /// One way between ranks 0 and 1, while the other ranks sleep. Collective.
    fn ping_pong(&self, bytes: usize, at: Addresses) -> Result<Times> {
        let comm = self.comm;
        let (rank, size) = (comm.rank(), comm.size());
        let calls = (4_000_000 / (bytes + 20_000)).clamp(2, 100);
        let mut times = vec![0.0; self.repeats as usize];
        if rank < 2 {
            for repeat in 0..=self.repeats as usize {
                let start = Instant::now();
                for _ in 0..calls {
                    for sender in [0, 1] {
                        // SAFETY: the memory exists until the message has been waited for.
                        comm.wait(vec![unsafe {
                            match rank == sender {
                                true => comm.send(at.from, bytes, 1 - rank, 3),
                                false => comm.receive(at.to, bytes, 1 - rank, 3),
                            }
                        }]);
                    }
                }
                let each = start.elapsed().as_secs_f64()
                    / f64::from(u32::try_from(2 * calls).unwrap_or(1));
                // The first repeat is a warm-up.
                if let Some(repeat) = repeat.checked_sub(1) {
                    times[repeat] = each;
                }
            }
        }
        sleep_until_released(comm, 2.min(size));
        comm.max(&mut times);
        Ok(Times::new(times))
    }

    /// The fraction of a long round that is hidden behind computation.
    fn progress(&self, bytes: usize, at: Addresses, alone: f64) -> Result<f64> {
        let waited = self.slowest(|| {
            let requests = round(self.comm, at, bytes, 0);
            let start = Instant::now();
            let mut count = 0_u64;
            while start.elapsed().as_secs_f64() < COMPUTE_ROUNDS * alone {
                count = black_box(count + 1);
            }
            let start = Instant::now();
            self.comm.wait(requests);
            Ok(start.elapsed().as_secs_f64())
        })?;
        Ok((1.0 - waited / alone).clamp(0.0, 1.0))
    }

    /// Bytes per second between the memories of device and host.
    fn staging(&self, MessageBuffers { array, staging, half }: &mut MessageBuffers) -> Result<f64> {
        let place = self.place;
        let seconds = self.slowest(|| {
            let start = Instant::now();
            place.fetch(array, 0, staging)?;
            place.put(array, 0, staging)?;
            place.finish()?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        Ok((4 * *half) as f64 / seconds)
    }
}

/// Let the ranks from `first` on sleep until rank 0 reaches this point. Collective.
pub(super) fn sleep_until_released(comm: &dyn Communicator, first: usize) {
    const TAG: i32 = 4;
    let mut word = [0_u8];
    if comm.rank() == 0 {
        // SAFETY: the byte exists until the messages have been waited for.
        let sent = (first..comm.size()).map(|to| unsafe { comm.send(word.as_ptr(), 1, to, TAG) });
        comm.wait(sent.collect());
    } else if comm.rank() >= first {
        // SAFETY: as above.
        let word = unsafe { comm.receive(word.as_mut_ptr(), 1, 0, TAG) };
        comm.wait_asleep(vec![word]);
    }
}
