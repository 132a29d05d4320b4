//! Ranks by MPI; the library is loaded at program start. MPI errors are fatal: the library ends the program on all ranks.

mod abi;
mod bytes;
mod functions;
mod library;
mod scope;
mod start;
mod waiting;

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::Duration;

#[cfg(unix)]
use super::drain::drain;
use super::{Communicator, Request, Sent};
use abi::Handle;
use bytes::Bytes;
use library::{Library, Loaded, error_text};
use start::rank_and_size;
use waiting::{Failure, Waiting, all_done, checked};

pub use start::library;
pub(super) use start::start;

/// Tag of `gather`; tags of other messages are smaller. It is the largest tag that every library supports.
const GATHER_TAG: c_int = 32767;
/// Bytes of a `u64`.
const U64_BYTES: c_int = 8;
/// Seconds after which a program that MPI cannot end is killed.
#[cfg(unix)]
const ABORT_TIMEOUT_SECONDS: u32 = 10;
/// Longest wait for a message of a trial.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for a launcher that does not read the output of this rank.
#[cfg(unix)]
const DRAIN_LIMIT: Duration = Duration::from_secs(1);
/// Sleep between two polls of [`Communicator::wait_asleep`].
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Lock held by the thread that calls MPI, which allows calls from any thread, but one at a time. A thread that waits for
/// messages blocks the calls of the others, so the awaited messages must already have been sent.
static CALL_LOCK: Mutex<()> = Mutex::new(());

fn lock_calls() -> MutexGuard<'static, ()> {
    CALL_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group of ranks of MPI.
struct Mpi<H: Handle> {
    library: &'static Library<H>,
    loaded: &'static Loaded,
    group: H,
    rank: usize,
    size: usize,
    /// Number shared by exactly the ranks of one host.
    host: u64,
    local: (usize, usize),
    waiting: Waiting,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// First failure in a trial group.
    failure: OnceLock<Failure>,
}

impl<H: Handle> Mpi<H> {
    fn new(
        (library, loaded): (&'static Library<H>, &'static Loaded),
        group: H,
        host: u64,
        local: (usize, usize),
        waiting: Waiting,
    ) -> Self {
        let (rank, size) = rank_and_size(library, group);
        let (messages, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let failure = OnceLock::new();
        Self { library, loaded, group, rank, size, host, local, waiting, messages, bytes, failure }
    }

    /// Returns the handle of the group of all ranks with the same `color`. Collective.
    fn split_handle(&self, color: usize, key: usize) -> H {
        let _guard = lock_calls();
        let mut group = self.group;
        // SAFETY: a pointer to a value that outlives the call.
        unsafe {
            (self.library.call.comm_split)(self.group, int(color), int(key), &raw mut group);
        }
        group
    }

    /// Wraps a subgroup of this group. Collective in the subgroup.
    fn part(&self, group: H) -> Self {
        let _guard = lock_calls();
        let (rank, size) = rank_and_size(self.library, group);
        let mut hosts = vec![0_u64; size];
        // SAFETY: one value is sent, and there is space for one per rank.
        self.until_done(|request| unsafe {
            let (own, all) = ((&raw const self.host).cast(), hosts.as_mut_ptr().cast());
            let byte = self.library.constant.byte;
            (self.library.call.iallgather)(
                own, U64_BYTES, byte, all, U64_BYTES, byte, group, request,
            )
        });
        let here = |ranks: &[u64]| ranks.iter().filter(|&&host| host == self.host).count();
        let local = (here(&hosts[..rank]), here(&hosts));
        // `waiting` stays that of all ranks on the host: a subgroup may contain only a few of them.
        Self::new((self.library, self.loaded), group, self.host, local, self.waiting)
    }

    /// Returns when the operation that `begin` starts is done.
    fn until_done(&self, begin: impl FnOnce(*mut H) -> c_int) {
        self.record_failure(self.waiting.until_done(self.library, begin));
    }

    /// Stores the first failure. There are failures only in trials: elsewhere the library ends the program.
    fn record_failure(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            let _ = self.failure.set(failure);
        }
    }

    fn count(&self, bytes: usize, to: usize) {
        if to != self.rank && bytes > 0 {
            self.messages.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Starts a message of `bytes` bytes by `call`, which receives a count and a datatype. Messages of 0 bytes are not
    /// sent.
    fn begin(&self, bytes: usize, call: impl FnOnce(c_int, H, *mut H) -> c_int) -> Request {
        let mut request = self.library.constant.request_null;
        if bytes > 0 {
            let _guard = lock_calls();
            let bytes = Bytes::at(self.library, 0, bytes);
            self.record_failure(checked(call(bytes.count, bytes.datatype, &raw mut request)));
        }
        Request(request.bits())
    }

    /// Like `send`, without counting.
    ///
    /// # Safety
    /// As for `send`.
    unsafe fn begin_send(&self, data: *const u8, bytes: usize, to: usize, tag: c_int) -> Request {
        // SAFETY: the caller keeps the memory until the wait.
        self.begin(bytes, |count, datatype, request| unsafe {
            let (data, to) = (data.cast(), int(to));
            (self.library.call.isend)(data, count, datatype, to, tag, self.group, request)
        })
    }

    /// Implements `receive`.
    ///
    /// # Safety
    /// As for `receive`.
    unsafe fn begin_receive(
        &self,
        data: *mut u8,
        bytes: usize,
        from: usize,
        tag: c_int,
    ) -> Request {
        // SAFETY: the caller keeps the memory until the wait.
        self.begin(bytes, |count, datatype, request| unsafe {
            let (data, from) = (data.cast(), int(from));
            (self.library.call.irecv)(data, count, datatype, from, tag, self.group, request)
        })
    }

    fn reduce(&self, values: &mut [f64], operation: H) {
        let _guard = lock_calls();
        for part in values.chunks_mut(1 << 30) {
            let mut result = part.to_vec();
            // SAFETY: both have that many values. MPI requires that all ranks receive identical results (MPI 3.1,
            // §5.9.6).
            self.until_done(|request| unsafe {
                let (from, to) = (part.as_ptr().cast(), result.as_mut_ptr().cast());
                let (count, double) = (int(part.len()), self.library.constant.double);
                let call = self.library.call.iallreduce;
                call(from, to, count, double, operation, self.group, request)
            });
            part.copy_from_slice(&result);
        }
    }

    /// Copies `data` of `root` to all ranks; its length is the same on all.
    fn broadcast_slice(&self, root: usize, data: &mut [u8]) {
        // For some libraries the address of an empty buffer has a special meaning.
        if data.is_empty() {
            return;
        }
        let _guard = lock_calls();
        let bytes = Bytes::at(self.library, 0, data.len());
        // SAFETY: the buffer has that many bytes.
        self.until_done(|request| unsafe {
            let (data, count, root) = (data.as_mut_ptr().cast(), bytes.count, int(root));
            (self.library.call.ibcast)(data, count, bytes.datatype, root, self.group, request)
        });
    }
}

impl<H: Handle> Communicator for Mpi<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn local(&self) -> (usize, usize) {
        self.local
    }

    unsafe fn send(&self, data: *const u8, bytes: usize, to: usize, tag: i32) -> Request {
        debug_assert!((0..GATHER_TAG).contains(&tag));
        self.count(bytes, to);
        // SAFETY: as the caller promises.
        unsafe { self.begin_send(data, bytes, to, tag) }
    }

    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request {
        debug_assert!((0..GATHER_TAG).contains(&tag));
        // SAFETY: as the caller promises.
        unsafe { self.begin_receive(data, bytes, from, tag) }
    }

    fn wait(&self, requests: Vec<Request>) {
        // A failure on this rank may also have occurred on the others, so that no message comes.
        if self.failure.get().is_none() {
            let _guard = lock_calls();
            self.record_failure(self.waiting.until_all_done(self.library, &mut handles(requests)));
        }
    }

    fn wait_asleep(&self, requests: Vec<Request>) {
        let mut requests = handles(requests);
        let is_over = |requests: &mut [H]| {
            let _guard = lock_calls();
            all_done(self.library, requests).unwrap_or_else(|failure| {
                self.record_failure(Err(failure));
                true
            })
        };
        while !is_over(&mut requests) {
            sleep(POLL_INTERVAL);
        }
    }

    // Not MPI_Alltoallv: its offsets have 32 bits, and all ranks would have to avoid it together as soon as one offset is
    // larger. Here each rank describes its long blocks by its own datatypes.
    unsafe fn all_to_all(
        &self,
        from: *const u8,
        send: &[(usize, usize)],
        to: *mut u8,
        receive: &[(usize, usize)],
    ) {
        send.iter().enumerate().for_each(|(rank, &(_, bytes))| self.count(bytes, rank));
        let _guard = lock_calls();
        // For some libraries the address of an empty buffer has a special meaning.
        let mut dummy = [0_u8; 2];
        let [first, second] = &mut dummy;
        let is_empty = |blocks: &[(usize, usize)]| blocks.iter().all(|&(_, bytes)| bytes == 0);
        let takes_part = !(is_empty(send) && is_empty(receive));
        let from = if is_empty(send) { &raw const *first } else { from };
        let to = if is_empty(receive) { &raw mut *second } else { to };
        // Open MPI 4.1 does not count a call in which a rank does nothing, and then waits for ever in the next one: such
        // a rank sends one byte to itself.
        let described = |blocks: &[(usize, usize)]| -> Vec<Bytes<H>> {
            let of = |(rank, &(start, bytes)): (usize, &(usize, usize))| match takes_part {
                false if rank == self.rank => Bytes::at(self.library, 0, 1),
                _ => Bytes::at(self.library, start, bytes),
            };
            blocks.iter().enumerate().map(of).collect()
        };
        let (send, receive) = (described(send), described(receive));
        let lists = |blocks: &[Bytes<H>]| -> (Vec<_>, Vec<_>, Vec<_>) {
            blocks.iter().map(|block| (block.count, block.start, block.datatype)).collect()
        };
        let (counts, starts, types) = lists(&send);
        let (counts_in, starts_in, types_in) = lists(&receive);
        // SAFETY: the caller guarantees the memory; the lists have one entry per rank and live until the call is done.
        self.until_done(|request| unsafe {
            (self.library.call.ialltoallw)(
                from.cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                types.as_ptr(),
                to.cast(),
                counts_in.as_ptr(),
                starts_in.as_ptr(),
                types_in.as_ptr(),
                self.group,
                request,
            )
        });
    }

    fn sum(&self, values: &mut [f64]) {
        self.reduce(values, self.library.constant.sum);
    }

    fn max(&self, values: &mut [f64]) {
        self.reduce(values, self.library.constant.max);
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let length = bytes.len() as u64;
        let mut lengths = vec![0_u64; if self.rank == 0 { self.size } else { 0 }];
        {
            let _guard = lock_calls();
            let (one, all) = ((&raw const length).cast(), lengths.as_mut_ptr().cast());
            // SAFETY: one value is sent, and rank 0 has space for one per rank.
            self.until_done(|request| unsafe {
                let (call, byte) = (self.library.call.igather, self.library.constant.byte);
                call(one, U64_BYTES, byte, all, U64_BYTES, byte, 0, self.group, request)
            });
        }
        if self.rank > 0 {
            // SAFETY: the memory lives until the wait.
            let sent = unsafe { self.begin_send(bytes.as_ptr(), bytes.len(), 0, GATHER_TAG) };
            self.wait(vec![sent]);
            return None;
        }
        let length = |&length| usize::try_from(length).expect("messages fit in memory");
        let mut gathered: Vec<Vec<u8>> =
            lengths.iter().map(|bytes| vec![0; length(bytes)]).collect();
        let (own, others) = gathered.split_first_mut().expect("there is a rank 0");
        own.copy_from_slice(bytes);
        let receive = |(at, part): (usize, &mut Vec<u8>)| {
            // SAFETY: the memory lives until the wait.
            unsafe { self.begin_receive(part.as_mut_ptr(), part.len(), at + 1, GATHER_TAG) }
        };
        self.wait(others.iter_mut().enumerate().map(receive).collect());
        Some(gathered)
    }

    fn broadcast(&self, root: usize, mut bytes: Vec<u8>) -> Vec<u8> {
        let mut length = (bytes.len() as u64).to_ne_bytes();
        self.broadcast_slice(root, &mut length);
        let length = u64::from_ne_bytes(length);
        bytes.resize(usize::try_from(length).expect("messages fit in memory"), 0);
        self.broadcast_slice(root, &mut bytes);
        bytes
    }

    fn barrier(&self) {
        let _guard = lock_calls();
        // SAFETY: the group is valid.
        self.until_done(|request| unsafe { (self.library.call.ibarrier)(self.group, request) });
    }

    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator> {
        Box::new(self.part(self.split_handle(color, key)))
    }

    fn sent(&self) -> Sent {
        let [messages, bytes] = [&self.messages, &self.bytes].map(|n| n.load(Ordering::Relaxed));
        Sent { messages, bytes }
    }

    fn reports_device_aware(&self) -> Option<bool> {
        self.loaded.reports_device_aware()
    }

    fn trial(&self, max_size: usize) -> Box<dyn Communicator> {
        let group = self.split_handle(self.rank / max_size, self.rank);
        let mut part = self.part(group);
        part.waiting = part.waiting.with_timeout(TRIAL_TIMEOUT);
        let Library { call, constant } = self.library;
        let _guard = lock_calls();
        // SAFETY: both handles are of this library.
        unsafe { (call.comm_set_errhandler)(group, constant.errors_return) };
        Box::new(part)
    }

    fn failure(&self) -> Option<String> {
        Some(match *self.failure.get()? {
            Failure::Code(code) => error_text(self.library, code),
            Failure::Timeout(timeout) => {
                format!("no message arrived within {} s", timeout.as_secs())
            }
        })
    }

    fn abort(&self, code: u8) -> ! {
        #[cfg(unix)]
        {
            // SAFETY: accesses no memory.
            unsafe { libc::alarm(ABORT_TIMEOUT_SECONDS) };
            // An error means that the stream is closed: there is no reader.
            let _ = drain(&std::io::stderr(), DRAIN_LIMIT);
            let _ = drain(&std::io::stdout(), DRAIN_LIMIT);
        }
        // Not `lock_calls()`: another thread may hold the lock for ever.
        // SAFETY: accesses no memory.
        unsafe { (self.library.call.abort)(self.library.constant.comm_world, code.into()) };
        std::process::exit(code.into())
    }
}

/// Converts requests to handles of the library.
fn handles<H: Handle>(requests: Vec<Request>) -> Vec<H> {
    requests.into_iter().map(|request| H::from_bits(request.0)).collect()
}

/// Converts to the 32-bit int in which MPI takes ranks, counts and colours.
fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("MPI counts in 32 bits")
}
