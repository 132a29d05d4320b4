//! A device and the list of what it is to do next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recording::{RecordedKernel, Recorder, Recording};
use super::runtime::{Argument, Handle, Launch, MOST_SENT, Runtime, Tridiagonal};
use super::{Api, Buffer, DeviceInfo, Source};
use crate::error::{Error, Result};
use crate::real::Real;

/// Numbers that a list of launches may use, 8 bytes each.
const SCALARS: usize = MOST_SENT / 8;
/// Launches after which a list is handed over even if nobody asks for a result.
const LONGEST: usize = 2048;
/// Blocks along y and z that every device has (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const MOST_BLOCKS_ACROSS: u32 = 65535;
/// Different lists that are kept as graphs.
const GRAPHS: usize = 64;

/// A compiled kernel and how it is launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) handle: Handle,
    /// Threads of a block along x, y, z.
    pub threads: [u32; 3],
    /// Bytes of on-chip memory of a block.
    pub on_chip: usize,
}

/// A kernel to be compiled.
#[derive(PartialEq, Eq, Hash)]
struct Wanted {
    source: Source,
    entry: String,
    threads: [u32; 3],
    on_chip: usize,
}

/// An argument of a launch.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// A pointer to a buffer: [`Buffer::arg`].
    Buffer(BufferArg<'a>),
    /// An `int`.
    Int(i32),
    /// Numbers that may differ from run to run, as two parameters: a pointer to REALs and the `int` index of the first.
    Scalars(&'a [f64]),
}

/// A buffer as an argument.
#[derive(Clone, Copy)]
pub struct BufferArg<'a> {
    handle: Handle,
    /// The buffer must outlive the borrow, and the list is handed over before it is released.
    kind: std::marker::PhantomData<&'a ()>,
}

impl<T: Real> Buffer<T> {
    /// This buffer as an argument of a launch.
    pub fn arg(&self) -> Arg<'_> {
        Arg::Buffer(BufferArg { handle: self.handle, kind: std::marker::PhantomData })
    }
}

/// What went between host and device so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes copied to the device.
    pub to_device: u64,
    /// Bytes copied to the host.
    pub to_host: u64,
    /// Buffers that were allocated.
    pub allocations: u64,
    /// Kernels launched, those within graphs included.
    pub launches: u64,
}

/// A list that was handed over before.
#[derive(Clone, Copy, Default)]
struct Known {
    /// From the second time on, where the driver has such a thing.
    graph: Option<Handle>,
    /// When it was last handed over.
    last: u64,
}

#[derive(Default)]
struct Queue {
    /// The first `length` are to be done; the others are kept for their memory.
    launches: Vec<Launch>,
    length: usize,
    scalars: Vec<u8>,
    /// The buffer that scalars are read from.
    scalar_buffer: Option<Handle>,
    /// Lists handed over before.
    known: HashMap<Vec<Launch>, Known>,
    /// Lists handed over so far.
    count: u64,
    kernels: HashMap<Wanted, Handle>,
    traffic: Traffic,
    /// The first refusal since the last time that somebody could be told.
    error: Option<Error>,
}

/// A device, the kernels compiled for it, and what it is to do next.
pub struct Device {
    runtime: Arc<dyn Runtime>,
    queue: Mutex<Queue>,
}

impl Device {
    /// Open device `index` of those that `api` has.
    ///
    /// # Errors
    /// Where there is no such device, or its driver refuses.
    pub fn open(api: Api, index: usize) -> Result<Arc<Self>> {
        let runtime = super::open(api, index)?;
        let scalar_buffer = Some(runtime.allocate(8 * SCALARS)?);
        let queue = Queue { scalar_buffer, ..Queue::default() };
        Ok(Arc::new(Self { runtime, queue: Mutex::new(queue) }))
    }

    /// A device that has what `info` says and computes nothing: memory is the host's, kernels are kept in the
    /// [`Recording`] and neither compiled nor run. With it the kernels of any computation can be collected on a machine
    /// without a GPU. `spilled` says of a kernel how many bytes a thread of it keeps in device memory.
    pub fn recording(
        info: DeviceInfo,
        spilled: impl Fn(&RecordedKernel) -> usize + Send + Sync + 'static,
    ) -> (Arc<Self>, Recording) {
        let (recorder, recording) = Recorder::new(info, Box::new(spilled));
        let queue =
            Queue { scalar_buffer: Some(recorder.reserve(8 * SCALARS)), ..Queue::default() };
        (Arc::new(Self { runtime: Arc::new(recorder), queue: Mutex::new(queue) }), recording)
    }

    /// The device and its limits.
    pub fn info(&self) -> &DeviceInfo {
        self.runtime.info()
    }

    /// Bytes of device memory that are free now, where the driver tells.
    pub fn free_memory(&self) -> Option<u64> {
        self.runtime.free_memory()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<Handle> {
        let handle = self.runtime.allocate(bytes)?;
        self.queue().traffic.allocations += 1;
        Ok(handle)
    }

    pub(super) fn release(&self, buffer: Handle) {
        // What is in the list may still use it. A refusal has been kept for the next who asks.
        let mut queue = self.queue();
        let result = self.hand_over(&mut queue).and_then(|()| self.runtime.finish());
        queue.note(result);
        let used = Argument::Buffer(buffer);
        let uses = |list: &[Launch]| list.iter().any(|launch| launch.arguments.contains(&used));
        self.forget(&mut queue.known, |list, _| uses(list));
        self.runtime.release(buffer);
    }

    /// Write to a buffer, `offset` bytes from its start, after all work queued before.
    pub(super) fn upload(&self, data: &[u8], to: Handle, offset: usize) -> Result<()> {
        let mut queue = self.queue();
        self.hand_over(&mut queue)?;
        queue.traffic.to_device += data.len() as u64;
        self.runtime.upload(data, to, offset)
    }

    /// Read from a buffer, `offset` bytes from its start, after all work queued before.
    pub(super) fn download(&self, from: Handle, offset: usize, to: &mut [u8]) -> Result<()> {
        let mut queue = self.queue();
        self.hand_over(&mut queue)?;
        queue.traffic.to_host += to.len() as u64;
        self.runtime.download(from, offset, to)
    }

    /// Begin to read the first `bytes` bytes of a buffer, after all work queued before; the result goes to
    /// [`Device::fetched`].
    pub(super) fn fetch(&self, from: Handle, bytes: usize) -> Result<Handle> {
        let mut queue = self.queue();
        self.hand_over(&mut queue)?;
        queue.traffic.to_host += bytes as u64;
        self.runtime.fetch(from, bytes)
    }

    /// What was read; what was queued since is handed over, and not waited for.
    pub(super) fn fetched(&self, copy: Handle, to: &mut [u8]) -> Result<()> {
        let handed_over = self.hand_over(&mut self.queue());
        self.runtime.fetched(copy, to).and(handed_over)
    }

    /// Where a buffer lies in the memory of the device, where the driver tells.
    pub(super) fn address(&self, buffer: Handle) -> Option<*mut u8> {
        self.runtime.address(buffer)
    }

    /// Lock host memory to its place where the driver can: see [`Runtime::pin`].
    pub(super) fn pin(&self, memory: *mut u8, bytes: usize) -> bool {
        self.runtime.pin(memory, bytes)
    }

    /// Wait for all copies and give memory that was pinned back.
    pub(super) fn unpin(&self, memory: *mut u8) {
        let result = self.finish();
        self.note(result);
        self.runtime.unpin(memory);
    }

    /// Keep a refusal for the next call that returns a result.
    pub(super) fn note(&self, result: Result<()>) {
        self.queue().note(result);
    }

    /// The kernel `entry` of `source`, for blocks of `threads` threads and `on_chip` bytes. The same text is compiled
    /// once.
    ///
    /// # Errors
    /// Where the device has no such blocks, and what the compiler says.
    pub fn kernel(
        &self,
        source: &Source,
        entry: &str,
        threads: [u32; 3],
        on_chip: usize,
    ) -> Result<Kernel> {
        let wanted = Wanted { source: source.clone(), entry: entry.into(), threads, on_chip };
        let mut queue = self.queue();
        let (handle, _) = self.compiled(&queue, &wanted)?;
        queue.kernels.insert(wanted, handle);
        Ok(Kernel { handle, threads, on_chip })
    }

    /// The same, unless its threads keep values in device memory that they have no registers for, as the driver tells. The text
    /// has no other kernel.
    ///
    /// # Errors
    /// As there, and what the driver says.
    pub fn unspilled_kernel(
        &self,
        source: &Source,
        entry: &str,
        threads: [u32; 3],
        on_chip: usize,
    ) -> Result<Option<Kernel>> {
        let wanted = Wanted { source: source.clone(), entry: entry.into(), threads, on_chip };
        let mut queue = self.queue();
        let (handle, held) = self.compiled(&queue, &wanted)?;
        if self.runtime.spilled(handle)? == 0 {
            queue.kernels.insert(wanted, handle);
            return Ok(Some(Kernel { handle, threads, on_chip }));
        }
        if !held {
            self.runtime.discard(handle);
        }
        Ok(None)
    }

    /// A kernel, and whether somebody may hold it already.
    fn compiled(&self, queue: &Queue, wanted: &Wanted) -> Result<(Handle, bool)> {
        self.check_block(wanted)?;
        if let Some(&handle) = queue.kernels.get(wanted) {
            return Ok((handle, true));
        }
        let Wanted { source, entry, threads, on_chip } = wanted;
        Ok((self.runtime.kernel(source, entry, *threads, *on_chip)?, false))
    }

    /// Refuse blocks that the device cannot hold.
    fn check_block(&self, wanted: &Wanted) -> Result<()> {
        let Wanted { source, entry, threads, on_chip } = wanted;
        let info = self.info();
        let count: u64 = threads.iter().map(|&n| u64::from(n)).product();
        let refuse = |what: String, has: usize| {
            let (kernel, name) = (&source.name, &info.name);
            let sentence = format!(
                "the kernel `{entry}` of `{kernel}` takes {what} a block; {name} has {has}"
            );
            Err(Error::Device(sentence))
        };
        if count > info.block_threads as u64 {
            return refuse(format!("{count} threads"), info.block_threads);
        }
        if *on_chip > info.on_chip {
            return refuse(format!("{on_chip} bytes of on-chip memory"), info.on_chip);
        }
        Ok(())
    }

    /// Put a kernel with this many blocks on the list. What goes wrong is told by the next call that returns a result.
    pub fn launch<'a, T: Real>(
        &self,
        kernel: &Kernel,
        blocks: [u32; 3],
        arguments: impl IntoIterator<Item = Arg<'a>, IntoIter: Clone>,
    ) {
        let arguments = arguments.into_iter();
        let mut queue = self.queue();
        if blocks[1].max(blocks[2]) > MOST_BLOCKS_ACROSS {
            let [_, y, z] = blocks;
            let sentence = format!("{y} x {z} rows of blocks; {MOST_BLOCKS_ACROSS} can be");
            return queue.note(Err(Error::Device(sentence)));
        }
        let numbers: usize = arguments.clone().map(|arg| arg.scalars().len()).sum();
        if queue.length >= LONGEST || queue.scalars.len() + 8 * (numbers + 1) > 8 * SCALARS {
            let result = self.hand_over(&mut queue);
            queue.note(result);
        }
        queue.push::<T>(kernel, blocks, arguments);
    }

    /// Copy one buffer to another of the same length.
    ///
    /// # Panics
    /// Where the lengths differ.
    pub fn copy<T: Real>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        assert_eq!(from.len, to.len, "buffers differ in length");
        let mut queue = self.queue();
        let result = self
            .hand_over(&mut queue)
            .and_then(|()| self.runtime.copy(from.handle, to.handle, from.len * size_of::<T>()));
        queue.note(result);
    }

    /// Solve `batches` tridiagonal systems of `rows` unknowns by the maker's own library (cuSPARSE), after all work
    /// queued before. Number b begins `b * stride` numbers after the start of each buffer; `matrix` is the lower diagonal
    /// (its first number 0), the main and the upper one (its last number 0); `x` holds the right-hand sides before and
    /// the solutions after. What goes wrong is told by the next call that returns a result.
    ///
    /// # Panics
    /// Where a buffer is too short.
    pub fn solve_tridiagonal<T: Real>(
        &self,
        [rows, batches, stride]: [usize; 3],
        matrix: [&Buffer<T>; 3],
        x: &Buffer<T>,
    ) {
        let needed = batches.saturating_sub(1) * stride + rows;
        assert!(matrix.iter().all(|m| m.len >= needed) && x.len >= needed, "a buffer is too short");
        let whole = |n: usize| {
            i32::try_from(n).map_err(|_| {
                Error::Device(format!("cuSPARSE counts to {}; {n} are too many", i32::MAX))
            })
        };
        let mut queue = self.queue();
        let solve = |queue: &mut Queue| {
            let systems = Tridiagonal {
                is_f64: size_of::<T>() == 8,
                rows: whole(rows)?,
                batches: whole(batches)?,
                stride: whole(stride)?,
                matrix: matrix.map(|m| m.handle),
                x: x.handle,
            };
            self.hand_over(queue)?;
            self.runtime.solve_tridiagonal(&systems)
        };
        let result = solve(&mut queue);
        queue.note(result);
    }

    /// Hand over what is on the list and wait until all is done.
    ///
    /// # Errors
    /// What the driver says of the work since the last result.
    pub fn finish(&self) -> Result<()> {
        let mut queue = self.queue();
        self.hand_over(&mut queue)?;
        self.runtime.finish()
    }

    /// Device time in seconds that what `work` queues takes.
    ///
    /// # Errors
    /// What the driver says.
    pub fn time(&self, work: impl FnOnce()) -> Result<f64> {
        let start = {
            let mut queue = self.queue();
            self.hand_over(&mut queue)?;
            self.runtime.record()?
        };
        work();
        let mut queue = self.queue();
        self.hand_over(&mut queue)?;
        let end = self.runtime.record()?;
        self.runtime.seconds(start, end)
    }

    /// What went between host and device so far.
    pub fn traffic(&self) -> Traffic {
        self.queue().traffic
    }

    /// Start everything on the list.
    fn hand_over(&self, queue: &mut Queue) -> Result<()> {
        if let Some(error) = queue.error.take() {
            queue.clear();
            return Err(error);
        }
        if queue.length == 0 {
            return Ok(());
        }
        let result = self.start(queue);
        queue.traffic.launches += queue.length as u64;
        queue.clear();
        result
    }

    /// Forget the lists that `which` is true of.
    fn forget(
        &self,
        known: &mut HashMap<Vec<Launch>, Known>,
        which: impl Fn(&[Launch], &Known) -> bool,
    ) {
        for (_, Known { graph, .. }) in known.extract_if(|list, known| which(list, known)) {
            if let Some(graph) = graph {
                self.runtime.forget(graph);
            }
        }
    }

    fn start(&self, queue: &mut Queue) -> Result<()> {
        if let (Some(buffer), false) = (queue.scalar_buffer, queue.scalars.is_empty()) {
            self.runtime.send(&queue.scalars, buffer)?;
            queue.traffic.to_device += queue.scalars.len() as u64;
        }
        queue.count += 1;
        let launches = &queue.launches[..queue.length];
        if let Some(known) = queue.known.get_mut(launches) {
            known.last = queue.count;
            if known.graph.is_none() {
                known.graph = self.runtime.graph(launches)?;
            }
            if let Some(graph) = known.graph {
                return self.runtime.replay(graph);
            }
        } else {
            while queue.known.len() >= GRAPHS {
                let oldest = queue.known.values().map(|known| known.last).min();
                self.forget(&mut queue.known, |_, known| Some(known.last) == oldest);
            }
            let known = Known { graph: None, last: queue.count };
            queue.known.insert(launches.to_vec(), known);
        }
        launches.iter().try_for_each(|launch| self.runtime.launch(launch))
    }
}

impl<'a> Arg<'a> {
    fn scalars(self) -> &'a [f64] {
        match self {
            Arg::Scalars(values) => values,
            _ => &[],
        }
    }
}

impl Queue {
    fn clear(&mut self) {
        self.length = 0;
        self.scalars.clear();
    }

    /// Keep a refusal for the next who can be told.
    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Reuses the memory of earlier launches.
    fn push<'a, T: Real>(
        &mut self,
        kernel: &Kernel,
        blocks: [u32; 3],
        arguments: impl Iterator<Item = Arg<'a>>,
    ) {
        if self.length == self.launches.len() {
            self.launches.push(Launch {
                kernel: kernel.handle,
                blocks,
                threads: kernel.threads,
                on_chip: kernel.on_chip,
                arguments: Vec::new(),
            });
        }
        let scalar_buffer = self.scalar_buffer.unwrap_or_default();
        let launch = &mut self.launches[self.length];
        launch.kernel = kernel.handle;
        (launch.blocks, launch.threads) = (blocks, kernel.threads);
        launch.on_chip = kernel.on_chip;
        launch.arguments.clear();
        for argument in arguments {
            match argument {
                Arg::Buffer(buffer) => launch.arguments.push(Argument::Buffer(buffer.handle)),
                Arg::Int(value) => launch.arguments.push(Argument::Int(value)),
                Arg::Scalars(values) => {
                    // Numbers of both formats may stand on one list.
                    let start = self.scalars.len().next_multiple_of(size_of::<T>());
                    self.scalars.resize(start, 0);
                    let first = i32::try_from(start / size_of::<T>());
                    for &value in values {
                        self.scalars.extend_from_slice(super::bytes_of(&[T::of(value)]));
                    }
                    launch.arguments.push(Argument::Buffer(scalar_buffer));
                    launch.arguments.push(Argument::Int(first.unwrap_or(0)));
                }
            }
        }
        self.length += 1;
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = queue.scalar_buffer.take() {
            self.runtime.release(buffer);
        }
    }
}
