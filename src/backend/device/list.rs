//! The list of launches that a device is to do next.

use std::collections::HashMap;
use std::sync::Arc;

use super::queue::{Arg, Kernel, Traffic};
use super::runtime::{Argument, Handle, Launch, MAX_SEND_BYTES, Runtime};
use crate::error::{Error, Result};

/// Bytes of the scalars of a list of launches.
pub(super) const SCALAR_BYTES: usize = MAX_SEND_BYTES;
/// Number of launches after which a list is submitted even if no result is requested.
const MAX_LAUNCHES: usize = 2048;
/// Number of different lists that are kept as graphs.
const MAX_GRAPHS: usize = 64;

/// A list that was submitted before.
#[derive(Clone, Copy, Default)]
struct SubmittedList {
    /// Graph of the list, from the second submission on, if the driver supports graphs.
    graph: Option<Handle>,
    /// Count of submissions at its last submission.
    last: u64,
}

/// Launches that have not been submitted to the driver.
pub(super) struct List {
    runtime: Arc<dyn Runtime>,
    /// The first `length` are to be done; the others are kept for their memory.
    launches: Vec<Launch>,
    length: usize,
    scalars: Vec<u8>,
    /// Device buffer of the scalars.
    scalar_buffer: Handle,
    /// Lists submitted before.
    submitted: HashMap<Vec<Launch>, SubmittedList>,
    /// Number of lists submitted so far.
    submissions: u64,
    /// Whether lists become graphs: no longer after the driver has failed to make one.
    has_graphs: bool,
    /// First error since the last call that could return one.
    error: Option<Error>,
    pub(super) traffic: Traffic,
}

impl List {
    /// Creates an empty list. Scalars are read from a buffer of [`SCALAR_BYTES`].
    pub(super) fn new(runtime: Arc<dyn Runtime>, scalar_buffer: Handle) -> Self {
        Self {
            runtime,
            launches: Vec::new(),
            length: 0,
            scalars: Vec::new(),
            scalar_buffer,
            submitted: HashMap::new(),
            submissions: 0,
            has_graphs: true,
            error: None,
            traffic: Traffic::default(),
        }
    }

    /// Stores an error for the next call that can return it.
    pub(super) fn defer_error(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Adds a launch to the list. Reuses the memory of earlier launches.
    pub(super) fn push<'a>(
        &mut self,
        kernel: &Kernel,
        blocks: [u32; 3],
        arguments: impl Iterator<Item = Arg<'a>> + Clone,
    ) {
        let bytes = arguments.clone().map(|argument| match argument {
            Arg::Scalars(_, values) => 8 * values.len(),
            _ => 0,
        });
        if self.length >= MAX_LAUNCHES
            || self.scalars.len() + bytes.sum::<usize>() + 8 > SCALAR_BYTES
        {
            let result = self.submit();
            self.defer_error(result);
        }
        if self.length == self.launches.len() {
            self.launches.push(Launch::default());
        }
        let launch = &mut self.launches[self.length];
        (launch.kernel, launch.blocks) = (kernel.handle, blocks);
        (launch.threads, launch.on_chip) = (kernel.threads, kernel.on_chip);
        launch.arguments.clear();
        for argument in arguments {
            match argument {
                Arg::Buffer(buffer) => launch.arguments.push(Argument::Buffer(buffer.handle)),
                Arg::Int(value) => launch.arguments.push(Argument::Int(value)),
                Arg::Real(precision, value) => launch.arguments.push(precision.argument(value)),
                Arg::Scalars(precision, values) => {
                    // A list may contain scalars of both precisions.
                    let start = self.scalars.len().next_multiple_of(precision.bytes());
                    self.scalars.resize(start, 0);
                    precision.write(values, &mut self.scalars);
                    let first = i32::try_from(start / precision.bytes());
                    launch.arguments.push(Argument::Buffer(self.scalar_buffer));
                    launch.arguments.push(Argument::Int(first.unwrap_or(0)));
                }
            }
        }
        self.length += 1;
    }

    /// Starts all launches of the list.
    pub(super) fn submit(&mut self) -> Result<()> {
        let result = match self.error.take() {
            Some(error) => Err(error),
            None if self.length == 0 => return Ok(()),
            None => {
                self.traffic.launches += self.length as u64;
                self.start()
            }
        };
        self.length = 0;
        self.scalars.clear();
        result
    }

    fn start(&mut self) -> Result<()> {
        if !self.scalars.is_empty() {
            self.runtime.send(&self.scalars, self.scalar_buffer)?;
            self.traffic.to_device += self.scalars.len() as u64;
        }
        self.submissions += 1;
        let launches = &self.launches[..self.length];
        if let Some(known) = self.submitted.get_mut(launches) {
            known.last = self.submissions;
            if known.graph.is_none() && self.has_graphs {
                known.graph = self.runtime.graph(launches).unwrap_or_else(|why| {
                    tracing::info!("kernels are launched one by one: {why}");
                    self.has_graphs = false;
                    None
                });
            }
            if let Some(graph) = known.graph {
                return self.runtime.replay(graph);
            }
        } else {
            let known = SubmittedList { graph: None, last: self.submissions };
            let launches = launches.to_vec();
            while self.submitted.len() >= MAX_GRAPHS {
                let oldest = self.submitted.values().map(|known| known.last).min();
                self.forget(|_, known| Some(known.last) == oldest);
            }
            self.submitted.insert(launches, known);
        }
        let launches = &self.launches[..self.length];
        launches.iter().try_for_each(|launch| self.runtime.launch(launch))
    }

    /// Waits for all work, and forgets the lists that use a buffer, before it is released. The next fallible call returns
    /// errors.
    pub(super) fn finish_and_forget(&mut self, buffer: Handle) {
        let result = self.submit().and_then(|()| self.runtime.finish());
        self.defer_error(result);
        let used = Argument::Buffer(buffer);
        self.forget(|list, _| list.iter().any(|launch| launch.arguments.contains(&used)));
    }

    /// Forgets the lists for which `which` is true.
    fn forget(&mut self, which: impl Fn(&[Launch], &SubmittedList) -> bool) {
        for (_, SubmittedList { graph, .. }) in
            self.submitted.extract_if(|list, known| which(list, known))
        {
            graph.iter().for_each(|graph| self.runtime.destroy_graph(*graph));
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        self.forget(|_, _| true);
        self.runtime.release(self.scalar_buffer);
    }
}
