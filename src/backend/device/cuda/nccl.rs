//! NCCL, NVIDIA's library for messages between GPUs, loaded when a program starts on several ranks. Its calls are
//! non-blocking (`ncclConfig_t.blocking` = 0), so that a call that never ends can be aborted.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::hint::spin_loop;
use std::ptr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cudarc::driver::result as cu;
use cudarc::driver::sys::{self, CUcontext, CUevent, CUevent_wait_flags, CUstream};
use libloading::Library;

use super::libraries;
use super::machine::failed;
use super::{handle, object};
use crate::backend::device::lock;
use crate::backend::device::runtime::Handle;
use crate::backend::ranks::{DeviceGroup, DeviceMessage, Underway};
use crate::comm::foreign_functions;
use crate::error::{Error, Result};

/// `NCCL_UNIQUE_ID_BYTES`.
const ID_BYTES: usize = 128;
/// The oldest version that has all functions used (`NCCL_VERSION(2, 14, 0)`); its configuration is the one below.
const MIN_VERSION: c_int = 21_400;
/// `ncclSuccess`, `ncclInProgress`, `ncclInt8`.
const SUCCESS: c_int = 0;
const IN_PROGRESS: c_int = 7;
const BYTE: c_int = 0;
/// Longest wait of ranks for each other in a new group: many ranks connect, and some load libraries from a slow disk.
const JOIN_TIMEOUT: Duration = Duration::from_secs(120);
/// Longest wait for a message in a group that is not trusted.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for messages under way when a group ends.
const FINALIZE_TIMEOUT: Duration = Duration::from_secs(10);
const NO_FLAGS: CUevent_wait_flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;

/// `ncclUniqueId`
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueId([u8; ID_BYTES]);

/// The first part of `ncclConfig_t`, complete in version 2.14; newer versions have defaults for the rest.
#[repr(C)]
struct Config {
    size: usize,
    magic: c_uint,
    version: c_int,
    blocking: c_int,
}

/// `ncclComm_t`, an opaque pointer.
type Comm = *mut c_void;

foreign_functions! {
    /// nccl.h of version 2.14; newer versions have the same declarations. An `int` is an `ncclResult_t`.
    Functions {
        get_version = ncclGetVersion(*mut c_int);
        get_unique_id = ncclGetUniqueId(*mut UniqueId);
        init = ncclCommInitRankConfig(*mut Comm, c_int, UniqueId, c_int, *mut Config);
        get_async_error = ncclCommGetAsyncError(Comm, *mut c_int);
        error_string = ncclGetErrorString(c_int) -> *const c_char;
        last_error = ncclGetLastError(Comm) -> *const c_char;
        group_start = ncclGroupStart();
        group_end = ncclGroupEnd();
        send = ncclSend(*const u8, usize, c_int, c_int, Comm, CUstream);
        receive = ncclRecv(*mut u8, usize, c_int, c_int, Comm, CUstream);
        finalize = ncclCommFinalize(Comm);
        destroy = ncclCommDestroy(Comm);
        abort = ncclCommAbort(Comm);
    }
}

/// The library. It stays loaded, because its own threads may still run after a group has ended.
pub(super) struct Nccl {
    call: Functions,
    version: c_int,
}

impl Nccl {
    /// Loads the library of this machine.
    pub(super) fn find() -> Result<Self> {
        let refuse = |why: String| Error::Device(format!("NCCL (libnccl.so.2) {why}"));
        // SAFETY: loading runs the library's initialisers, those of NVIDIA.
        let library =
            libraries::candidates("nccl").find_map(|path| unsafe { Library::new(path) }.ok());
        let library = library.ok_or_else(|| refuse("was not found".into()))?;
        let lacks = |error: String| refuse(format!("is older than 2.14: {error}"));
        // SAFETY: the signatures are those of nccl.h.
        let call = unsafe { Functions::of(&library) }.map_err(lacks)?;
        std::mem::forget(library);
        let mut version = 0;
        // SAFETY: one integer is written.
        unsafe { (call.get_version)(&raw mut version) };
        if version < MIN_VERSION {
            return Err(refuse(format!("is {}, older than 2.14", dotted(version))));
        }
        Ok(Self { call, version })
    }

    /// Returns the identifier by which the ranks of a new group find each other.
    pub(super) fn new_id(&self) -> Result<Vec<u8>> {
        let mut id = UniqueId([0; ID_BYTES]);
        // SAFETY: one `UniqueId` is written.
        let code = unsafe { (self.call.get_unique_id)(&raw mut id) };
        self.check("create the identifier of a group", ptr::null_mut(), code)?;
        Ok(id.0.to_vec())
    }

    /// Converts a result code. Without a group there is only the library's general text.
    fn check(&self, what: &str, comm: Comm, code: c_int) -> Result<()> {
        if code == SUCCESS || code == IN_PROGRESS {
            return Ok(());
        }
        let text = |start: *const c_char| match start.is_null() {
            true => String::new(),
            // SAFETY: a text of the library, valid until the next call of this thread.
            false => unsafe { CStr::from_ptr(start) }.to_string_lossy().trim().to_string(),
        };
        // SAFETY: any code is allowed; without a group the library returns a text common to all groups.
        let (error, last) =
            unsafe { ((self.call.error_string)(code), (self.call.last_error)(comm)) };
        let (error, last) = (text(error), text(last));
        let more = if last.is_empty() { last } else { format!(" ({})", last.replace('\n', "; ")) };
        Err(Error::Device(format!("NCCL could not {what}: {error}{more}")))
    }
}

/// Formats 22703 as 2.27.3.
fn dotted(version: c_int) -> String {
    let [major, minor, patch] = match version {
        // `NCCL_VERSION`: up to 2.8 there was one digit less.
        ..10_000 => [version / 1000, version / 100 % 10, version % 100],
        _ => [version / 10_000, version / 100 % 100, version % 100],
    };
    format!("{major}.{minor}.{patch}")
}

/// One rank's view of a group. Context and stream of the device must outlive it.
pub(super) struct Group {
    nccl: Nccl,
    context: CUcontext,
    /// The stream of the device's other work.
    work: CUstream,
    state: Mutex<State>,
}

struct State {
    /// Null after the group was aborted.
    comm: Comm,
    /// The stream of the messages: kernels of other streams run at the same time.
    stream: CUstream,
    /// Event after which the messages may start.
    begin: CUevent,
    /// Unused events for the ends of messages.
    free: Vec<CUevent>,
    is_trusted: bool,
}

// SAFETY: handles of driver and library, which may be used from any thread, one at a time per group: a lock protects
// them.
unsafe impl Send for Group {}
// SAFETY: as above.
unsafe impl Sync for Group {}

impl Group {
    /// Joins a group as rank `rank` of `size`; all ranks pass the same `id`. The context must be current. Collective.
    pub(super) fn join(
        nccl: Nccl,
        (context, work): (CUcontext, CUstream),
        id: &[u8],
        [rank, size]: [usize; 2],
    ) -> Result<Self> {
        let mut unique = UniqueId([0; ID_BYTES]);
        unique.0.iter_mut().zip(id).for_each(|(to, &from)| *to = from);
        let state = State {
            comm: ptr::null_mut(),
            stream: urgent_stream()?,
            begin: ptr::null_mut(),
            free: Vec::new(),
            is_trusted: false,
        };
        let group = Self { nccl, context, work, state: Mutex::new(state) };
        {
            let state = &mut *lock(&group.state);
            state.begin = new_event()?;
            let mut config = Config {
                size: size_of::<Config>(),
                magic: 0xcafe_beef,
                version: MIN_VERSION,
                blocking: 0,
            };
            let count = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);
            // SAFETY: one handle is written; the configuration is of the version that it names.
            let code = unsafe {
                let (comm, config) = (&raw mut state.comm, &raw mut config);
                (group.nccl.call.init)(comm, count(size), unique, count(rank), config)
            };
            group.wait_for_call("join the group of all ranks", JOIN_TIMEOUT, state, code)?;
        }
        Ok(group)
    }

    fn enter(&self) -> Result<()> {
        // SAFETY: the context outlives this.
        unsafe { cu::ctx::set_current(self.context) }.map_err(failed("use the device"))
    }

    /// Returns when the host part of a library call is done. A failure ends the group.
    fn wait_for_call(
        &self,
        what: &str,
        timeout: Duration,
        state: &mut State,
        code: c_int,
    ) -> Result<()> {
        let start = Instant::now();
        let mut code = code;
        while code == IN_PROGRESS {
            if !state.is_trusted && start.elapsed() > timeout {
                return Err(self.fail_on_timeout(what, timeout, state));
            }
            spin_loop();
            // SAFETY: the group exists; one integer is written.
            let status = unsafe { (self.nccl.call.get_async_error)(state.comm, &raw mut code) };
            if status != SUCCESS {
                code = status;
            }
        }
        let result = self.nccl.check(what, state.comm, code);
        if result.is_err() {
            self.abandon(state);
        }
        result
    }

    /// Ends the group after a call that took longer than `timeout`, and returns the error.
    fn fail_on_timeout(&self, what: &str, timeout: Duration, state: &mut State) -> Error {
        self.abandon(state);
        let seconds = timeout.as_secs();
        Error::Device(format!("NCCL could not {what}: it did not end in {seconds} s"))
    }

    /// Ends the group without the other ranks.
    fn abandon(&self, state: &mut State) {
        if !state.comm.is_null() {
            // SAFETY: the group exists and is not used again. A thread that still creates it may read the handle until it
            // has ended.
            unsafe { (self.nccl.call.abort)(state.comm) };
            state.comm = ptr::null_mut();
        }
    }

    /// Queues the messages of one round on the stream.
    unsafe fn post(
        &self,
        state: &mut State,
        send: &[DeviceMessage],
        receive: &[DeviceMessage],
    ) -> Result<()> {
        const WHAT: &str = "send messages";
        let peer = |message: &DeviceMessage| c_int::try_from(message.peer).unwrap_or(c_int::MAX);
        let (call, comm, stream) = (&self.nccl.call, state.comm, state.stream);
        // SAFETY: the group exists, and the caller guarantees the memory. Every started group of calls is ended.
        let code = unsafe {
            let started = (call.group_start)();
            let receives = receive.iter().map(|message| {
                (call.receive)(message.start, message.bytes, BYTE, peer(message), comm, stream)
            });
            let sends = send.iter().map(|message| {
                (call.send)(message.start, message.bytes, BYTE, peer(message), comm, stream)
            });
            let mut codes = std::iter::once(started).chain(receives).chain(sends);
            let failed = codes.find(|&code| code != SUCCESS && code != IN_PROGRESS);
            let ended = (call.group_end)();
            failed.unwrap_or(ended)
        };
        self.wait_for_call(WHAT, MESSAGE_TIMEOUT, state, code)
    }
}

impl DeviceGroup for Group {
    fn library(&self) -> String {
        format!("NCCL {}", dotted(self.nccl.version))
    }

    unsafe fn begin(&self, send: &[DeviceMessage], receive: &[DeviceMessage]) -> Result<Underway> {
        self.enter()?;
        let state = &mut *lock(&self.state);
        if state.comm.is_null() {
            return Err(Error::Device("NCCL: the group of ranks has already failed".into()));
        }
        let to_error = failed("order messages among its work");
        // SAFETY: streams and events are of this device and alive; the caller guarantees the memory.
        unsafe {
            cu::event::record(state.begin, self.work).map_err(&to_error)?;
            cu::stream::wait_event(state.stream, state.begin, NO_FLAGS).map_err(&to_error)?;
            self.post(state, send, receive)?;
            let end = state.free.pop().map_or_else(new_event, Ok)?;
            cu::event::record(end, state.stream).map_err(&to_error)?;
            Ok(Underway(handle(end).0))
        }
    }

    fn wait(&self, Underway(end): Underway) -> Result<()> {
        self.enter()?;
        let state = &mut *lock(&self.state);
        let end: CUevent = object(Handle(end));
        let start = Instant::now();
        // SAFETY: the event is of this device and alive.
        while !state.is_trusted && unsafe { cu::event::query(end) }.is_err_and(is_not_ready) {
            if start.elapsed() > MESSAGE_TIMEOUT {
                return Err(self.fail_on_timeout("send messages", MESSAGE_TIMEOUT, state));
            }
            spin_loop();
        }
        // SAFETY: as above; the stream has captured the event's position, so that the event may be recorded again.
        let waits = unsafe { cu::stream::wait_event(self.work, end, NO_FLAGS) };
        state.free.push(end);
        waits.map_err(failed("order messages among its work"))
    }

    fn trust(&self) {
        lock(&self.state).is_trusted = true;
    }
}

fn is_not_ready(error: cu::DriverError) -> bool {
    error.0 == sys::CUresult::CUDA_ERROR_NOT_READY
}

/// Returns a stream whose kernels are scheduled before waiting kernels of other streams.
fn urgent_stream() -> Result<CUstream> {
    let (mut low, mut high) = (0, 0);
    let mut stream = ptr::null_mut();
    let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
    // SAFETY: two integers and one handle are written.
    unsafe {
        sys::cuCtxGetStreamPriorityRange(&raw mut low, &raw mut high)
            .result()
            .and_then(|()| sys::cuStreamCreateWithPriority(&raw mut stream, flags, high).result())
    }
    .map_err(failed("open a stream for messages"))?;
    Ok(stream)
}

fn new_event() -> Result<CUevent> {
    cu::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(failed("make an event"))
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        let state = &mut *lock(&self.state);
        let call = &self.nccl.call;
        // Sent data must leave this rank before the group ends; other ranks may still wait for them.
        if !state.comm.is_null() {
            // SAFETY: the group exists; the waits for the driver or the library are bounded.
            unsafe {
                let start = Instant::now();
                let mut code = (call.finalize)(state.comm);
                while code == IN_PROGRESS && start.elapsed() < FINALIZE_TIMEOUT {
                    spin_loop();
                    (call.get_async_error)(state.comm, &raw mut code);
                }
                let end = if code == SUCCESS { call.destroy } else { call.abort };
                end(state.comm);
            }
        }
        // SAFETY: all objects were made here and have no users left. Errors at shutdown cannot be handled.
        unsafe {
            let events = state.free.drain(..).chain([state.begin]);
            for event in events.filter(|event| !event.is_null()) {
                let _ = cu::event::destroy(event);
            }
            let _ = cu::stream::destroy(state.stream);
        }
    }
}
