//! One round of messages between arrays of a backend.

use std::ops::Range;

use super::{Blocks, Memory, Phase, Ranks};
use crate::comm::{Communicator, Request};
use crate::config::DeviceAware;
use crate::engine::Number;
use crate::error::{Error, Result};
use crate::real::Real;

/// How messages travel between the memories of two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// From host memory to host memory, where fields live there.
    Host,
    /// From the memory of a device to that of another, by a library that was seen to do so.
    Device,
    /// Through host memory beside the device's.
    Staged,
}

impl Route {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Route::Host => "from host memory to host memory",
            Route::Device => "from device to device: tested",
            Route::Staged => {
                "through host memory: no MPI library that takes device memory was seen to work"
            }
        }
    }

    /// The best that the library does. It is asked first: one that is not aware of devices crashes on their addresses.
    /// Where it says yes, an array is sent to the next rank and checked. Collective.
    pub(super) fn find<B: Blocks>(
        backend: &B,
        comm: &dyn Communicator,
        wish: DeviceAware,
    ) -> Result<Self> {
        let mut probe = backend.planes(2 * PROBE)?;
        match backend.memory(&mut probe) {
            Memory::Host(_) => return Ok(Route::Host),
            Memory::Opaque => return Ok(Route::Staged),
            Memory::Device(_) => {}
        }
        let asked = match wish {
            DeviceAware::Off => false,
            DeviceAware::Force => true,
            DeviceAware::Auto => comm.says_device_aware() == Some(true),
        };
        // All or none: a message has two ends.
        let mut refusals = [f64::from(u8::from(!asked))];
        comm.max(&mut refusals);
        if refusals[0] != 0.0 || comm.size() == 1 {
            return Ok(Route::Staged);
        }
        let mut wrong = [f64::from(u8::from(!round_trip(backend, comm, &mut probe)?))];
        comm.max(&mut wrong);
        if wrong[0] == 0.0 {
            return Ok(Route::Device);
        }
        if wish == DeviceAware::Force {
            return Err(Error::Config(vec![
                "error: `compute.device_aware = \"force\"`, but what MPI sent from device memory arrived wrong".into(),
                "       use \"auto\" or \"off\": messages then travel through host memory".into(),
            ]));
        }
        Ok(Route::Staged)
    }
}

/// Values sent to see whether they arrive.
const PROBE: usize = 1021;

/// Send the first half of `probe` to the next rank and look at what comes from the one before.
fn round_trip<B: Blocks>(
    backend: &B,
    comm: &dyn Communicator,
    probe: &mut B::Field,
) -> Result<bool> {
    let (rank, size) = (comm.rank(), comm.size());
    let before = (rank + size - 1) % size;
    let number = |rank: usize, at: usize| {
        B::Real::of(f64::from(u32::try_from((7919 * rank + at) % 65_521).unwrap_or(0)))
    };
    let sent: Vec<_> = (0..PROBE).map(|at| number(rank, at)).collect();
    backend.put(probe, 0, &sent)?;
    backend.finish()?;
    let Memory::Device(start) = backend.memory(probe) else {
        return Ok(false);
    };
    let bytes = PROBE * size_of::<B::Real>();
    // SAFETY: both halves lie within the array, which outlives the messages.
    let requests = unsafe {
        vec![
            comm.receive(start.add(bytes), bytes, before, 0),
            comm.send(start, bytes, (rank + 1) % size, 0),
        ]
    };
    comm.wait(requests);
    let mut came = vec![B::Real::ZERO; PROBE];
    backend.fetch(probe, PROBE, &mut came)?;
    Ok(came.iter().enumerate().all(|(at, value)| *value == number(before, at)))
}

/// One message: the rank along the axis, and the values of the array that go or come.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) peer: usize,
    pub(crate) values: Range<usize>,
}

/// Messages of one round, between planes of one array.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) send: Vec<Part>,
    pub(crate) receive: Vec<Part>,
}

/// Messages under way. The arrays must stay where they are until they were waited for.
#[must_use = "messages under way have to be waited for"]
pub(super) struct Underway(Vec<Request>);

impl<B: Blocks> Ranks<B> {
    /// Host memory for messages from and to an array of `len` values, where they go through it; else none.
    pub(super) fn staging(&self, len: usize) -> B::Staging {
        self.inner.staging(if self.route == Route::Staged { len } else { 0 })
    }

    /// Begin one round of messages along `axis`.
    pub(super) fn post(
        &self,
        axis: usize,
        round: &Round,
        planes: &mut B::Field,
        staging: &mut B::Staging,
    ) -> Underway {
        self.timed(Phase::Communicate, || {
            let start = self.ready(&round.send, planes, staging);
            let line = &self.lines[axis];
            let size = size_of::<B::Real>();
            let mut requests = Vec::with_capacity(round.send.len() + round.receive.len());
            for Part { peer, values } in &round.receive {
                // SAFETY: values of this array, which stays where it is until the messages were waited for.
                requests.push(unsafe {
                    line.receive(start.add(values.start * size), values.len() * size, *peer, 0)
                });
            }
            for Part { peer, values } in &round.send {
                // SAFETY: as above.
                requests.push(unsafe {
                    line.send(start.add(values.start * size), values.len() * size, *peer, 0)
                });
            }
            Underway(requests)
        })
    }

    /// Wait for a round of messages.
    pub(super) fn await_round(
        &self,
        axis: usize,
        Underway(requests): Underway,
        round: &Round,
        planes: &mut B::Field,
        staging: &B::Staging,
    ) {
        self.timed(Phase::Communicate, || {
            self.lines[axis].wait(requests);
            if self.route == Route::Staged {
                for Part { values, .. } in &round.receive {
                    self.note(self.inner.put(
                        planes,
                        values.start,
                        &staging.as_ref()[values.clone()],
                    ));
                }
            }
        });
    }

    /// Where messages are to be sent from, with everything that is to be sent in place.
    fn ready(&self, send: &[Part], planes: &mut B::Field, staging: &mut B::Staging) -> *mut u8 {
        match self.inner.memory(planes) {
            Memory::Host(start) => start,
            Memory::Device(start) if self.route == Route::Device => {
                self.note(self.inner.finish());
                start
            }
            _ => {
                for Part { values, .. } in send {
                    let to = &mut staging.as_mut()[values.clone()];
                    self.note(self.inner.fetch(planes, values.start, to));
                }
                staging.as_mut().as_mut_ptr().cast()
            }
        }
    }

    /// Exchange shares of two arrays with every rank along `axis`: (first value, values) for each.
    pub(super) fn all_to_all(
        &self,
        axis: usize,
        from: &mut B::Field,
        send: &[(usize, usize)],
        to: &mut B::Field,
        receive: &[(usize, usize)],
        [outgoing, incoming]: [&mut B::Staging; 2],
    ) {
        let size = size_of::<B::Real>();
        let in_bytes = |ranges: &[(usize, usize)]| -> Vec<(usize, usize)> {
            ranges.iter().map(|(first, count)| (first * size, count * size)).collect()
        };
        let len = |ranges: &[(usize, usize)]| ranges.iter().map(|(_, count)| count).sum();
        let (bytes_out, bytes_in) = (in_bytes(send), in_bytes(receive));
        self.timed(Phase::Communicate, || {
            let everything = [Part { peer: 0, values: 0..len(send) }];
            let start = self.ready(&everything, from, outgoing);
            let target = match self.inner.memory(to) {
                Memory::Host(start) => start,
                Memory::Device(start) if self.route == Route::Device => start,
                _ => incoming.as_mut().as_mut_ptr().cast(),
            };
            // SAFETY: the ranges lie within the arrays, which are two.
            unsafe { self.lines[axis].all_to_all(start, &bytes_out, target, &bytes_in) };
            if self.route == Route::Staged {
                self.note(self.inner.put(to, 0, &incoming.as_ref()[..len(receive)]));
            }
        });
    }
}
