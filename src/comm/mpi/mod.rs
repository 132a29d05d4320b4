//! Ranks by MPI. Its errors are left fatal: the library ends the program on all ranks.

mod bytes;
mod waiting;

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use mpi::Threading;
use mpi::environment::{Universe, initialize_with_threading};
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Request};

#[cfg(unix)]
use super::drain::drain;
use super::world::refusal;
use super::{Communicator, Request, Sent};
use crate::error::Result;
use bytes::Bytes;
use waiting::{Waiting, packed, unpacked};

/// Tags of messages are below it; it is the largest that every library has.
const GATHER: c_int = 32767;
/// Seconds after which a program that cannot even be ended is killed.
const PATIENCE: u32 = 10;
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
pub(super) struct Mpi {
    group: MPI_Comm,
    rank: usize,
    size: usize,
    /// The same for all ranks of a host, and for no others.
    host: u64,
    local: (usize, usize),
    waiting: Waiting,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// Of the world only: ends MPI when it is dropped.
    universe: Option<Universe>,
}

// SAFETY: the handle is a name of something in the library, and all calls with it are made one at a time.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Mpi {
    /// Start MPI: all ranks.
    pub(super) fn start() -> Result<Self> {
        let Some((universe, granted)) = initialize_with_threading(Threading::Serialized) else {
            return Err(refusal("MPI was started twice", ""));
        };
        if granted < Threading::Serialized {
            let what = format!("{} takes calls from one thread only", library());
            return Err(refusal(&what, "Kolmo needs a library that was built with threads"));
        }
        let _calling = calling();
        // SAFETY: a constant of the library.
        let group = unsafe { ffi::RSMPI_COMM_WORLD };
        let (host, local) = neighbours(group, place(group).0);
        Ok(Self::new(group, host, local, Waiting::among(local.1), Some(universe)))
    }

    fn new(
        group: MPI_Comm,
        host: u64,
        local: (usize, usize),
        waiting: Waiting,
        universe: Option<Universe>,
    ) -> Self {
        let (rank, size) = place(group);
        let (messages, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { group, rank, size, host, local, waiting, messages, bytes, universe }
    }

    /// The new group of some ranks of this one. Collective in the new one.
    fn part(&self, group: MPI_Comm) -> Self {
        let (rank, size) = place(group);
        let mut hosts = vec![0_u64; size];
        // SAFETY: one value is there, and room for that of every rank.
        self.waiting.until_done(|request| unsafe {
            let (own, all) = ((&raw const self.host).cast(), hosts.as_mut_ptr().cast());
            let kind = ffi::RSMPI_UINT64_T;
            ffi::MPI_Iallgather(own, 1, kind, all, 1, kind, group, request);
        });
        let here = |ranks: &[u64]| ranks.iter().filter(|&&host| host == self.host).count();
        let local = (here(&hosts[..rank]), here(&hosts));
        // Of a part of the ranks a host may seem to have few.
        Self::new(group, self.host, local, self.waiting, None)
    }

    fn count(&self, bytes: usize, to: usize) {
        if to != self.rank && bytes > 0 {
            self.messages.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Begin a message of `bytes` bytes by `call`, which is given their number in a datatype.
    fn begin(
        &self,
        bytes: usize,
        call: impl FnOnce(c_int, MPI_Datatype, *mut MPI_Request),
    ) -> Request {
        let _calling = calling();
        let bytes = Bytes::new(bytes);
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        call(bytes.count, bytes.datatype, &raw mut request);
        packed(request)
    }

    /// `send`, without counting.
    ///
    /// # Safety
    /// As there.
    unsafe fn begin_send(&self, data: *const u8, bytes: usize, to: usize, tag: c_int) -> Request {
        // SAFETY: the caller keeps the memory until the request was waited for.
        self.begin(bytes, |count, datatype, request| unsafe {
            ffi::MPI_Isend(data.cast(), count, datatype, int(to), tag, self.group, request);
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
            ffi::MPI_Irecv(data.cast(), count, datatype, int(from), tag, self.group, request);
        })
    }

    fn reduce(&self, values: &mut [f64], operation: ffi::MPI_Op) {
        let _calling = calling();
        for part in values.chunks_mut(1 << 30) {
            let mut result = part.to_vec();
            // SAFETY: both are of that many values. MPI requires that all ranks receive identical results (MPI 3.1,
            // §5.9.6).
            self.waiting.until_done(|request| unsafe {
                ffi::MPI_Iallreduce(
                    part.as_ptr().cast(),
                    result.as_mut_ptr().cast(),
                    int(part.len()),
                    ffi::RSMPI_DOUBLE,
                    operation,
                    self.group,
                    request,
                );
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
        let bytes = Bytes::new(data.len());
        // SAFETY: that many bytes are there.
        self.waiting.until_done(|request| unsafe {
            let (data, count) = (data.as_mut_ptr().cast(), bytes.count);
            ffi::MPI_Ibcast(data, count, bytes.datatype, int(root), self.group, request);
        });
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        let _calling = calling();
        if self.universe.is_none() && !mpi::environment::is_finalized() {
            // SAFETY: the group was made by `split` and is freed once.
            unsafe { ffi::MPI_Comm_free(&raw mut self.group) };
        }
    }
}

impl Communicator for Mpi {
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
        if bytes == 0 {
            return nothing();
        }
        self.count(bytes, to);
        // SAFETY: as the caller promises.
        unsafe { self.begin_send(data, bytes, to, tag) }
    }

    unsafe fn receive(&self, data: *mut u8, bytes: usize, from: usize, tag: i32) -> Request {
        debug_assert!((0..GATHER).contains(&tag));
        if bytes == 0 {
            return nothing();
        }
        // SAFETY: as the caller promises.
        unsafe { self.begin_receive(data, bytes, from, tag) }
    }

    fn wait(&self, requests: Vec<Request>) {
        let _calling = calling();
        let mut requests: Vec<MPI_Request> = requests.into_iter().map(unpacked).collect();
        self.waiting.until_all_done(&mut requests);
    }

    fn wait_asleep(&self, requests: Vec<Request>) {
        let mut requests: Vec<MPI_Request> = requests.into_iter().map(unpacked).collect();
        let all_done = |requests: &mut [MPI_Request]| {
            let _calling = calling();
            waiting::all_done(requests)
        };
        while !all_done(&mut requests) {
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
        let described = |blocks: &[(usize, usize)]| -> Vec<Bytes> {
            let of = |(rank, &(start, bytes)): (usize, &(usize, usize))| match takes_part {
                false if rank == self.rank => Bytes::at(0, 1),
                _ => Bytes::at(start, bytes),
            };
            blocks.iter().enumerate().map(of).collect()
        };
        let (send, receive) = (described(send), described(receive));
        let lists = |blocks: &[Bytes]| -> (Vec<_>, Vec<_>, Vec<_>) {
            blocks.iter().map(|block| (block.count, block.start, block.datatype)).collect()
        };
        let (counts, starts, types) = lists(&send);
        let (counts_in, starts_in, types_in) = lists(&receive);
        // SAFETY: the memory is there, as the caller promises; the lists are as long as there are ranks, and stay until
        // all is done.
        self.waiting.until_done(|request| unsafe {
            ffi::MPI_Ialltoallw(
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
            );
        });
    }

    fn sum(&self, values: &mut [f64]) {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_SUM });
    }

    fn max(&self, values: &mut [f64]) {
        // SAFETY: a constant of the library.
        self.reduce(values, unsafe { ffi::RSMPI_MAX });
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let length = bytes.len() as u64;
        let mut lengths = vec![0_u64; if self.rank == 0 { self.size } else { 0 }];
        {
            let _calling = calling();
            let (one, all) = ((&raw const length).cast(), lengths.as_mut_ptr().cast());
            // SAFETY: one value is there, and on rank 0 room for that of every rank.
            self.waiting.until_done(|request| unsafe {
                let kind = ffi::RSMPI_UINT64_T;
                ffi::MPI_Igather(one, 1, kind, all, 1, kind, 0, self.group, request);
            });
        }
        if self.rank > 0 {
            if !bytes.is_empty() {
                // SAFETY: the memory is there until it was waited for.
                let sent = unsafe { self.begin_send(bytes.as_ptr(), bytes.len(), 0, GATHER) };
                self.wait(vec![sent]);
            }
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
        let full = others.iter_mut().enumerate().filter(|(_, part)| !part.is_empty());
        self.wait(full.map(receive).collect());
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
        self.waiting.until_done(|request| unsafe {
            ffi::MPI_Ibarrier(self.group, request);
        });
    }

    fn split(&self, color: usize, key: usize) -> Box<dyn Communicator> {
        let _calling = calling();
        // SAFETY: a pointer to a value that outlives the call.
        let group = unsafe {
            let mut group = ffi::RSMPI_COMM_NULL;
            ffi::MPI_Comm_split(self.group, int(color), int(key), &raw mut group);
            group
        };
        Box::new(self.part(group))
    }

    fn sent(&self) -> Sent {
        let [messages, bytes] = [&self.messages, &self.bytes].map(|n| n.load(Ordering::Relaxed));
        Sent { messages, bytes }
    }

    fn says_device_aware(&self) -> Option<bool> {
        // Not in every library, and nothing else is to be linked for it.
        #[cfg(unix)]
        {
            let program = libloading::os::unix::Library::this();
            // SAFETY: the function takes nothing and returns an int, in every library that has it.
            let aware = unsafe {
                let query = program.get::<extern "C" fn() -> c_int>(c"MPIX_Query_cuda_support");
                query.ok()?()
            };
            Some(aware == 1)
        }
        #[cfg(not(unix))]
        None
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
        // SAFETY: a constant of the library.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code.into()) };
        std::process::exit(code.into())
    }
}

/// Name and version of the library, which need not have been started.
pub(super) fn library() -> String {
    // SAFETY: the text has the length that the library asks for, and the library ends it with a zero.
    let text = unsafe {
        let most = usize::try_from(ffi::RSMPI_MAX_LIBRARY_VERSION_STRING).unwrap_or(0);
        let mut text = vec![0_u8; most + 1];
        let mut length: c_int = 0;
        ffi::MPI_Get_library_version(text.as_mut_ptr().cast::<c_char>(), &raw mut length);
        text.truncate(usize::try_from(length).unwrap_or(0));
        text
    };
    let text = String::from_utf8_lossy(&text);
    let line = text.trim_matches(['\0', '\n', ' ']).lines().next().unwrap_or("");
    line.split(", package").next().unwrap_or(line).replace('\t', " ")
}

/// (rank in, size of) a group.
fn place(group: MPI_Comm) -> (usize, usize) {
    let (mut rank, mut size): (c_int, c_int) = (0, 1);
    // SAFETY: pointers to values that outlive the calls.
    unsafe {
        ffi::MPI_Comm_rank(group, &raw mut rank);
        ffi::MPI_Comm_size(group, &raw mut size);
    }
    (usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(1))
}

/// What tells the host of rank `rank` of the world from others, and (this rank among, number of) the ranks there.
fn neighbours(world: MPI_Comm, rank: usize) -> (u64, (usize, usize)) {
    let mut host = rank as u64;
    // SAFETY: pointers to values that outlive the calls; the group of this host is freed once.
    let local = unsafe {
        let mut group = ffi::RSMPI_COMM_NULL;
        let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
        ffi::MPI_Comm_split_type(world, kind, 0, info, &raw mut group);
        ffi::MPI_Bcast((&raw mut host).cast(), 1, ffi::RSMPI_UINT64_T, 0, group);
        let local = place(group);
        ffi::MPI_Comm_free(&raw mut group);
        local
    };
    (host, local)
}

/// Ranks, counts and colours are given to MPI in 32 bits.
fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("MPI counts in 32 bits")
}

/// A message that is not sent.
fn nothing() -> Request {
    // SAFETY: a constant of the library.
    packed(unsafe { ffi::RSMPI_REQUEST_NULL })
}
