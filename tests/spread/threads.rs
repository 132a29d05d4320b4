//! Ranks that are threads of one process: for tests of what ranks compute, not of how they communicate.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use kolmo::comm::{Communicator, Request, Sent};

/// A rank that waits longer is deadlocked.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Tag of the collective calls; no other call uses it.
const COLLECTIVE: i32 = i32::MIN;

/// Tag of all-to-all calls.
const ALL_TO_ALL: i32 = i32::MIN + 1;

/// (from, tag).
type Route = (usize, i32);

/// One rank computes at a time, and the others wait for messages or for their turn: some tools cannot handle more.
#[derive(Default)]
struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Turn {
    fn take(&self) {
        let taken = self.taken.lock().unwrap();
        *self.free.wait_while(taken, |taken| *taken).unwrap() = true;
    }

    fn pass(&self) {
        *self.taken.lock().unwrap() = false;
        self.free.notify_one();
    }
}

struct Mail {
    /// One for each rank, so that a message wakes only its receiver.
    inboxes: Vec<Inbox>,
    /// The mail of the groups created by `split`, by the number of the split and the colour.
    groups: Mutex<HashMap<(usize, usize), Arc<Mail>>>,
}

#[derive(Default)]
struct Inbox {
    messages: Mutex<HashMap<Route, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

impl Mail {
    fn among(ranks: usize) -> Self {
        Self { inboxes: (0..ranks).map(|_| Inbox::default()).collect(), groups: Mutex::default() }
    }
}

/// One rank.
pub(crate) struct Threads {
    rank: usize,
    size: usize,
    mail: Arc<Mail>,
    turn: Arc<Turn>,
    /// Pending receives: address, length, source rank, tag.
    pending: Mutex<Vec<(usize, usize, usize, i32)>>,
    splits: AtomicUsize,
    sent: Mutex<Sent>,
}

/// Returns the results of `work` on each of `size` ranks, in rank order.
pub(crate) fn on_ranks<A: Send>(
    size: usize,
    work: impl Fn(Arc<dyn Communicator>) -> A + Sync,
) -> Vec<A> {
    let (mail, turn) = (Arc::new(Mail::among(size)), Arc::new(Turn::default()));
    std::thread::scope(|scope| {
        let start = |rank| {
            let comm = Threads::new(rank, size, mail.clone(), turn.clone());
            let (work, turn) = (&work, PassOnDrop(turn.clone()));
            scope.spawn(move || {
                turn.0.take();
                work(Arc::new(comm))
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Passes the turn on when its rank ends, also by a panic.
struct PassOnDrop(Arc<Turn>);

impl Drop for PassOnDrop {
    fn drop(&mut self) {
        self.0.pass();
    }
}

impl Threads {
    fn new(rank: usize, size: usize, mail: Arc<Mail>, turn: Arc<Turn>) -> Self {
        let (pending, splits, sent) = Default::default();
        Self { rank, size, mail, turn, pending, splits, sent }
    }

    fn post(&self, bytes: Vec<u8>, to: usize, tag: i32) {
        let Inbox { messages, arrived } = &self.mail.inboxes[to];
        messages.lock().unwrap().entry((self.rank, tag)).or_default().push_back(bytes);
        arrived.notify_one();
    }

    fn take(&self, from: usize, tag: i32) -> Vec<u8> {
        let route = (from, tag);
        let Inbox { messages, arrived } = &self.mail.inboxes[self.rank];
        let next_message = |messages: &mut HashMap<Route, VecDeque<Vec<u8>>>| {
            messages.get_mut(&route).and_then(VecDeque::pop_front)
        };
        if let Some(message) = next_message(&mut messages.lock().unwrap()) {
            return message;
        }
        self.turn.pass();
        let is_missing = |messages: &mut HashMap<Route, VecDeque<Vec<u8>>>| {
            messages.get(&route).is_none_or(VecDeque::is_empty)
        };
        let (mut messages, timeout) =
            arrived.wait_timeout_while(messages.lock().unwrap(), TIMEOUT, is_missing).unwrap();
        assert!(!timeout.timed_out(), "rank {} waits for rank {from}, tag {tag}", self.rank);
        let message = next_message(&mut messages).unwrap();
        drop(messages);
        self.turn.take();
        message
    }

    /// Returns `fold` of the bytes of all ranks, on all ranks: one message from each rank to rank 0, and one back.
    fn through_rank_0(&self, bytes: &[u8], fold: impl Fn(Vec<Vec<u8>>) -> Vec<u8>) -> Vec<u8> {
        let folded = self.gather(bytes).map(fold);
        self.broadcast(0, folded.unwrap_or_default())
    }

    fn fold(&self, values: &mut [f64], add: impl Fn(f64, f64) -> f64) {
        let numbers = |bytes: &[u8]| -> Vec<f64> {
            bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect()
        };
        let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let own: Vec<u8> = bytes(values);
        let folded = self.through_rank_0(&own, |all| {
            let sum = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| add(*a, b)).collect();
            bytes(&all.iter().map(|given| numbers(given)).reduce(sum).unwrap())
        });
        values.copy_from_slice(&numbers(&folded));
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn local(&self) -> (usize, usize) {
        (self.rank, self.size)
    }

    unsafe fn send(&self, data: *const u8, bytes: usize, to: usize, tag: i32) -> Request {
        assert!(to != self.rank && to < self.size);
        // SAFETY: the caller guarantees that this many bytes can be read.
        self.post(unsafe { std::slice::from_raw_parts(data, bytes) }.to_vec(), to, tag);
        let mut sent = self.sent.lock().unwrap();
        sent.messages += 1;
        sent.bytes += bytes as u64;
        Request(0)
    }

    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request {
        assert!(from != self.rank && from < self.size);
        let mut pending = self.pending.lock().unwrap();
        pending.push((data.expose_provenance(), bytes, from, tag));
        Request(1)
    }

    fn wait(&self, requests: Vec<Request>) {
        let receives = requests.iter().filter(|request| request.0 == 1).count();
        let pending: Vec<_> = self.pending.lock().unwrap().drain(..).collect();
        assert_eq!(receives, pending.len(), "all pending requests are waited for together");
        for (address, bytes, from, tag) in pending {
            let message = self.take(from, tag);
            assert_eq!(message.len(), bytes, "from {from} to {}, tag {tag}", self.rank);
            let data: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the caller of `receive` guaranteed that this many bytes can be written until now.
            unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), data, bytes) };
        }
    }

    unsafe fn all_to_all(
        &self,
        from: *const u8,
        send: &[(usize, usize)],
        to: *mut u8,
        receive: &[(usize, usize)],
    ) {
        for (rank, &(first, bytes)) in send.iter().enumerate() {
            // SAFETY: the caller guarantees that these ranges can be read.
            let part = unsafe { std::slice::from_raw_parts(from.add(first), bytes) };
            self.post(part.to_vec(), rank, ALL_TO_ALL);
        }
        for (rank, &(first, bytes)) in receive.iter().enumerate() {
            let part = self.take(rank, ALL_TO_ALL);
            assert_eq!(part.len(), bytes, "from {rank} to {}", self.rank);
            // SAFETY: the caller guarantees that these ranges can be written.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), to.add(first), bytes) };
        }
        let mut sent = self.sent.lock().unwrap();
        for (rank, (_, bytes)) in send.iter().enumerate() {
            sent.messages += u64::from(rank != self.rank && *bytes > 0);
            sent.bytes += if rank == self.rank { 0 } else { *bytes as u64 };
        }
    }

    fn sum(&self, values: &mut [f64]) {
        self.fold(values, |a, b| a + b);
    }

    fn max(&self, values: &mut [f64]) {
        self.fold(values, f64::max);
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        if self.rank > 0 {
            self.post(bytes.to_vec(), 0, COLLECTIVE);
            return None;
        }
        let others = (1..self.size).map(|from| self.take(from, COLLECTIVE));
        Some(std::iter::once(bytes.to_vec()).chain(others).collect())
    }

    fn broadcast(&self, root: usize, bytes: Vec<u8>) -> Vec<u8> {
        if self.rank != root {
            return self.take(root, COLLECTIVE);
        }
        let others = (0..self.size).filter(|to| *to != root);
        others.for_each(|to| self.post(bytes.clone(), to, COLLECTIVE));
        bytes
    }

    fn barrier(&self) {
        self.through_rank_0(&[], |_| Vec::new());
    }

    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator> {
        let own: Vec<u8> = [color, key].iter().flat_map(|number| number.to_ne_bytes()).collect();
        let all = self.through_rank_0(&own, |all| all.concat());
        let numbers = all.as_chunks().0.iter().map(|&bytes| usize::from_ne_bytes(bytes));
        let numbers: Vec<usize> = numbers.collect();
        let all = numbers.as_chunks().0.iter().enumerate();
        let group = all.filter(|(_, [other, _])| *other == color);
        let mut group: Vec<_> = group.map(|(rank, [_, key])| (*key, rank)).collect();
        group.sort_unstable();
        let split = self.splits.fetch_add(1, Ordering::Relaxed);
        let mut groups = self.mail.groups.lock().unwrap();
        let new = || Arc::new(Mail::among(group.len()));
        let mail = groups.entry((split, color)).or_insert_with(new).clone();
        drop(groups);
        let rank = group.iter().position(|(_, rank)| *rank == self.rank).unwrap();
        Box::new(Threads::new(rank, group.len(), mail, self.turn.clone()))
    }

    fn sent(&self) -> Sent {
        *self.sent.lock().unwrap()
    }

    fn reports_device_aware(&self) -> Option<bool> {
        None
    }

    fn abort(&self, code: u8) -> ! {
        panic!("rank {} aborts all ranks with exit status {code}", self.rank)
    }
}
