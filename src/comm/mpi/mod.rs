//! Ranks by MPI, whose library is loaded when a program starts. Its errors are left fatal: the library ends the program on all
//! ranks.

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
use start::place;
use waiting::{Failure, Waiting, all_done, checked};

pub use start::library;
pub(super) use start::start;

/// Tags of messages are below it; it is the largest that every library has.
const GATHER: c_int = 32767;
/// Bytes of a `u64`.
const WORD: c_int = 8;
/// Seconds after which a program that cannot even be ended is killed.
const PATIENCE: u32 = 10;
/// How long a message of a trial is waited for.
const TRIAL: Duration = Duration::from_secs(30);
/// How long a launcher is waited for that does not read what this rank said.
#[cfg(unix)]
const HEARING: Duration = Duration::from_secs(1);
/// How long a rank sleeps that waits asleep.
const NAP: Duration = Duration::from_millis(5);

/// MPI is asked for calls from any thread, but one at a time: this is held by the thread that calls. A thread that
/// waits for messages thus keeps the others from calling; what it waits for must have been sent.
static CALLS: Mutex<()> = Mutex::new(());

fn calling() -> MutexGuard<'static, ()> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group of ranks of MPI.
struct Mpi<H: Handle> {
    library: &'static Library<H>,
    loaded: &'static Loaded,
    group: H,
    rank: usize,
    size: usize,
    /// The same for all ranks of a host, and for no others.
    host: u64,
    local: (usize, usize),
    waiting: Waiting,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// The first in a group for a trial.
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
        let (rank, size) = place(library, group);
        let (messages, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let failure = OnceLock::new();
        Self { library, loaded, group, rank, size, host, local, waiting, messages, bytes, failure }
    }

    /// The handle of the group of all ranks of this one that give the same `color`. Collective.
    fn divided(&self, color: usize, key: usize) -> H {
        let _calling = calling();
        let mut group = self.group;
        // SAFETY: a pointer to a value that outlives the call.
        unsafe {
            (self.library.call.comm_split)(self.group, int(color), int(key), &raw mut group);
        }
        group
    }

    /// The new group of some ranks of this one. Collective in the new one.
    fn part(&self, group: H) -> Self {
        let _calling = calling();
        let (rank, size) = place(self.library, group);
        let mut hosts = vec![0_u64; size];
        // SAFETY: one value is there, and room for that of every rank.
        self.until_done(|request| unsafe {
            let (own, all) = ((&raw const self.host).cast(), hosts.as_mut_ptr().cast());
            let byte = self.library.constant.byte;
            (self.library.call.iallgather)(own, WORD, byte, all, WORD, byte, group, request)
        });
        let here = |ranks: &[u64]| ranks.iter().filter(|&&host| host == self.host).count();
        let local = (here(&hosts[..rank]), here(&hosts));
        // Of a part of the ranks a host may seem to have few.
        Self::new((self.library, self.loaded), group, self.host, local, self.waiting)
    }

    /// Return when what `begin` has begun is done.
    fn until_done(&self, begin: impl FnOnce(*mut H) -> c_int) {
        self.note(self.waiting.until_done(self.library, begin));
    }

    /// Remember the first failure. Outside a trial there is none: the library ends the program.
    fn note(&self, result: Result<(), Failure>) {
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

    /// Begin a message of `bytes` bytes by `call`, which is given their number in a datatype; there is none of 0 bytes.
    fn begin(&self, bytes: usize, call: impl FnOnce(c_int, H, *mut H) -> c_int) -> Request {
        let mut request = self.library.constant.request_null;
        if bytes > 0 {
            let _calling = calling();
            let bytes = Bytes::at(self.library, 0, bytes);
            self.note(checked(call(bytes.count, bytes.datatype, &raw mut request)));
        }
        Request(request.bits())
    }

    /// `send`, without counting.
    ///
    /// # Safety
    /// As there.
    unsafe fn begin_send(&self, data: *const u8, bytes: usize, to: usize, tag: c_int) -> Request {
        // SAFETY: the caller keeps the memory until the request was waited for.
        self.begin(bytes, |count, datatype, request| unsafe {
            let (data, to) = (data.cast(), int(to));
            (self.library.call.isend)(data, count, datatype, to, tag, self.group, request)
        })
    }

    /// `receive`.
    ///
    /// # Safety
    /// As there.
    unsafe fn begin_receive(
        &self,
        data: *mut u8,
        bytes: usize,
        from: usize,
        tag: c_int,
    ) -> Request {
        // SAFETY: the caller keeps the memory until the request was waited for.
        self.begin(bytes, |count, datatype, request| unsafe {
            let (data, from) = (data.cast(), int(from));
            (self.library.call.irecv)(data, count, datatype, from, tag, self.group, request)
        })
    }

    fn reduce(&self, values: &mut [f64], operation: H) {
        let _calling = calling();
        for part in values.chunks_mut(1 << 30) {
            let mut result = part.to_vec();
            // SAFETY: both are of that many values. MPI requires that all ranks receive identical results (MPI 3.1,
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

    /// Make `data` on all ranks what it is on `root`; it is of one length on all.
    fn spread(&self, root: usize, data: &mut [u8]) {
        // Where an empty list points to has a meaning for some libraries.
        if data.is_empty() {
            return;
        }
        let _calling = calling();
        let bytes = Bytes::at(self.library, 0, data.len());
        // SAFETY: that many bytes are there.
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
        debug_assert!((0..GATHER).contains(&tag));
        self.count(bytes, to);
        // SAFETY: as the caller promises.
        unsafe { self.begin_send(data, bytes, to, tag) }
    }

    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request {
        debug_assert!((0..GATHER).contains(&tag));
        // SAFETY: as the caller promises.
        unsafe { self.begin_receive(data, bytes, from, tag) }
    }

    fn wait(&self, requests: Vec<Request>) {
        // What has failed on this rank may have failed on the others, and nothing comes.
        if self.failure.get().is_none() {
            let _calling = calling();
            self.note(self.waiting.until_all_done(self.library, &mut handles(requests)));
        }
    }

    fn wait_asleep(&self, requests: Vec<Request>) {
        let mut requests = handles(requests);
        let is_over = |requests: &mut [H]| {
            let _calling = calling();
            all_done(self.library, requests).unwrap_or_else(|failure| {
                self.note(Err(failure));
                true
            })
        };
        while !is_over(&mut requests) {
            sleep(NAP);
        }
    }

    // Not MPI_Alltoallv, whose distances have 32 bits and which every rank would have to leave at once where one of
    // them is longer: here each rank describes its long blocks by datatypes of its own.
    unsafe fn all_to_all(
        &self,
        from: *const u8,
        send: &[(usize, usize)],
        to: *mut u8,
        receive: &[(usize, usize)],
    ) {
        send.iter().enumerate().for_each(|(rank, &(_, bytes))| self.count(bytes, rank));
        let _calling = calling();
        // Where an empty list points to has a meaning for some libraries.
        let mut nothing = [0_u8; 2];
        let [first, second] = &mut nothing;
        let is_empty = |blocks: &[(usize, usize)]| blocks.iter().all(|&(_, bytes)| bytes == 0);
        let takes_part = !(is_empty(send) && is_empty(receive));
        let from = if is_empty(send) { &raw const *first } else { from };
        let to = if is_empty(receive) { &raw mut *second } else { to };
        // Open MPI 4.1 does not count a call in which a rank does nothing, and waits for ever in the next one: such a rank sends
        // one byte to itself.
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
        // SAFETY: the memory is there, as the caller promises; the lists are as long as there are ranks, and stay until
        // all is done.
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
            let _calling = calling();
            let (one, all) = ((&raw const length).cast(), lengths.as_mut_ptr().cast());
            // SAFETY: one value is there, and on rank 0 room for that of every rank.
            self.until_done(|request| unsafe {
                let (call, byte) = (self.library.call.igather, self.library.constant.byte);
                call(one, WORD, byte, all, WORD, byte, 0, self.group, request)
            });
        }
        if self.rank > 0 {
            // SAFETY: the memory is there until it was waited for.
            let sent = unsafe { self.begin_send(bytes.as_ptr(), bytes.len(), 0, GATHER) };
            self.wait(vec![sent]);
            return None;
        }
        let length = |&length| usize::try_from(length).expect("what is sent fits into memory");
        let mut gathered: Vec<Vec<u8>> =
            lengths.iter().map(|bytes| vec![0; length(bytes)]).collect();
        let (own, others) = gathered.split_first_mut().expect("there is a rank 0");
        own.copy_from_slice(bytes);
        let receive = |(at, part): (usize, &mut Vec<u8>)| {
            // SAFETY: the memory is there until it was waited for.
            unsafe { self.begin_receive(part.as_mut_ptr(), part.len(), at + 1, GATHER) }
        };
        self.wait(others.iter_mut().enumerate().map(receive).collect());
        Some(gathered)
    }

    fn broadcast(&self, root: usize, mut bytes: Vec<u8>) -> Vec<u8> {
        let mut length = (bytes.len() as u64).to_ne_bytes();
        self.spread(root, &mut length);
        let length = u64::from_ne_bytes(length);
        bytes.resize(usize::try_from(length).expect("what is sent fits into memory"), 0);
        self.spread(root, &mut bytes);
        bytes
    }

    fn barrier(&self) {
        let _calling = calling();
        // SAFETY: the group is a group.
        self.until_done(|request| unsafe { (self.library.call.ibarrier)(self.group, request) });
    }

    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator> {
        Box::new(self.part(self.divided(color, key)))
    }

    fn sent(&self) -> Sent {
        let [messages, bytes] = [&self.messages, &self.bytes].map(|n| n.load(Ordering::Relaxed));
        Sent { messages, bytes }
    }

    fn says_device_aware(&self) -> Option<bool> {
        self.loaded.says_device_aware()
    }

    fn trial(&self, most: usize) -> Box<dyn Communicator> {
        let group = self.divided(self.rank / most, self.rank);
        let mut part = self.part(group);
        part.waiting = part.waiting.at_most(TRIAL);
        let Library { call, constant } = self.library;
        let _calling = calling();
        // SAFETY: both are of the library.
        unsafe { (call.comm_set_errhandler)(group, constant.errors_return) };
        Box::new(part)
    }

    fn failure(&self) -> Option<String> {
        Some(match *self.failure.get()? {
            Failure::Code(code) => error_text(self.library, code),
            Failure::Late(longest) => format!("nothing came within {} s", longest.as_secs()),
        })
    }

    fn abort(&self, code: u8) -> ! {
        #[cfg(unix)]
        {
            // SAFETY: takes no memory.
            unsafe { libc::alarm(PATIENCE) };
            // Where a stream is closed nobody listens.
            let _ = drain(&std::io::stderr(), HEARING);
            let _ = drain(&std::io::stdout(), HEARING);
        }
        // Not `calling()`: another thread may wait in it for ever.
        // SAFETY: takes no memory.
        unsafe { (self.library.call.abort)(self.library.constant.comm_world, code.into()) };
        std::process::exit(code.into())
    }
}

/// Requests as the library knows them.
fn handles<H: Handle>(requests: Vec<Request>) -> Vec<H> {
    requests.into_iter().map(|request| H::from_bits(request.0)).collect()
}

/// Ranks, counts and colours are given to MPI in 32 bits.
fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("MPI counts in 32 bits")
}
