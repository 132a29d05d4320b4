//! Ranks that are threads of one process: for tests of what ranks do, not of how they talk.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use kolmo::comm::{Communicator, Request, Sent};

/// A rank that waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the collective calls send under; no other caller has it.
const COLLECTIVE: i32 = i32::MIN;

/// (from, to, tag).
type Way = (usize, usize, i32);

#[derive(Default)]
struct Mail {
    messages: Mutex<HashMap<Way, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

/// One rank.
pub(super) struct Threads {
    rank: usize,
    size: usize,
    mail: Arc<Mail>,
    /// What is to be received: address, length, from whom, with which tag.
    pending: Mutex<Vec<(usize, usize, usize, i32)>>,
}

/// What `work` gives on each of `size` ranks, in their order.
pub(super) fn on_ranks<A: Send>(
    size: usize,
    work: impl Fn(Arc<dyn Communicator>) -> A + Sync,
) -> Vec<A> {
    let mail = Arc::new(Mail::default());
    std::thread::scope(|scope| {
        let start = |rank| {
            let comm = Threads { rank, size, mail: mail.clone(), pending: Mutex::new(Vec::new()) };
            let work = &work;
            scope.spawn(move || work(Arc::new(comm)))
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Threads {
    fn post(&self, bytes: Vec<u8>, to: usize, tag: i32) {
        let mut messages = self.mail.messages.lock().unwrap();
        messages.entry((self.rank, to, tag)).or_default().push_back(bytes);
        self.mail.arrived.notify_all();
    }

    fn take(&self, from: usize, tag: i32) -> Vec<u8> {
        let way = (from, self.rank, tag);
        let messages = self.mail.messages.lock().unwrap();
        let absent = |messages: &mut HashMap<Way, VecDeque<Vec<u8>>>| {
            messages.get(&way).is_none_or(VecDeque::is_empty)
        };
        let (mut messages, late) =
            self.mail.arrived.wait_timeout_while(messages, PATIENCE, absent).unwrap();
        assert!(!late.timed_out(), "rank {} waits for rank {from}, tag {tag}", self.rank);
        messages.get_mut(&way).and_then(VecDeque::pop_front).unwrap()
    }

    fn everybody(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        (0..self.size).for_each(|to| self.post(bytes.to_vec(), to, COLLECTIVE));
        (0..self.size).map(|from| self.take(from, COLLECTIVE)).collect()
    }

    fn fold(&self, values: &mut [f64], add: impl Fn(f64, f64) -> f64) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        for (rank, bytes) in self.everybody(&bytes).iter().enumerate() {
            for (value, &bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
                let given = f64::from_ne_bytes(bytes);
                *value = if rank == 0 { given } else { add(*value, given) };
            }
        }
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
        // SAFETY: the caller promises that so many bytes can be read.
        self.post(unsafe { std::slice::from_raw_parts(data, bytes) }.to_vec(), to, tag);
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
        assert_eq!(receives, pending.len(), "all that was begun is waited for together");
        for (address, bytes, from, tag) in pending {
            let message = self.take(from, tag);
            assert_eq!(message.len(), bytes, "from {from} to {}, tag {tag}", self.rank);
            let data: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: who began to receive promised that so many bytes can be written until now.
            unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), data, bytes) };
        }
    }

    unsafe fn all_to_all(
        &self,
        _: *const u8,
        _: &[(usize, usize)],
        _: *mut u8,
        _: &[(usize, usize)],
    ) {
        unreachable!("nothing here transposes")
    }

    fn sum(&self, values: &mut [f64]) {
        self.fold(values, |a, b| a + b);
    }

    fn max(&self, values: &mut [f64]) {
        self.fold(values, f64::max);
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let all = self.everybody(bytes);
        (self.rank == 0).then_some(all)
    }

    fn broadcast(&self, root: usize, bytes: Vec<u8>) -> Vec<u8> {
        self.everybody(&bytes).swap_remove(root)
    }

    fn barrier(&self) {
        self.everybody(&[]);
    }

    fn split(&self, _: usize, _: usize) -> Box<dyn Communicator> {
        unreachable!("nothing here splits")
    }

    fn sent(&self) -> Sent {
        Sent::default()
    }

    fn says_device_aware(&self) -> Option<bool> {
        None
    }

    fn abort(&self, code: u8) -> ! {
        panic!("rank {} ends all with {code}", self.rank)
    }
}
