//! One round of messages between arrays of a backend.

use std::ops::Range;

use super::{Memory, Phase, Ranks, Route, Staging};
use crate::backend::{Backend, Field};
use crate::comm::{Communicator, Request};

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

impl Round {
    /// Begin it among the ranks of `line`, between values of `size` bytes each that begin at `start`.
    ///
    /// # Safety
    /// All values of the round must lie there, and stay untouched until the messages were waited for.
    pub(crate) unsafe fn begin(
        &self,
        line: &dyn Communicator,
        start: *mut u8,
        size: usize,
    ) -> Vec<Request> {
        let mut requests = Vec::with_capacity(self.send.len() + self.receive.len());
        for Part { peer, values } in &self.receive {
            // SAFETY: as the caller promises.
            requests.push(unsafe {
                line.receive(start.add(values.start * size), values.len() * size, *peer, 0)
            });
        }
        for Part { peer, values } in &self.send {
            // SAFETY: as the caller promises.
            requests.push(unsafe {
                line.send(start.add(values.start * size), values.len() * size, *peer, 0)
            });
        }
        requests
    }
}

/// Messages under way. The arrays must stay where they are until they were waited for.
#[must_use = "messages under way have to be waited for"]
pub(super) struct Underway(Vec<Request>);

impl Ranks {
    /// Host memory for messages from and to an array of `len` values, where they go through it; else none.
    pub(super) fn staging(&self, len: usize) -> Staging {
        self.inner.staging(if self.route == Route::Staged { len } else { 0 })
    }

    /// Begin one round of messages among the ranks of `line`.
    pub(super) fn post(
        &self,
        line: &dyn Communicator,
        round: &Round,
        planes: &mut Field,
        staging: &mut Staging,
    ) -> Underway {
        self.timed(Phase::Communicate, || {
            let start = self.ready(&round.send, planes, staging);
            let size = self.precision().bytes();
            // SAFETY: values of this array, which stays where it is until the messages were waited for.
            Underway(unsafe { round.begin(line, start, size) })
        })
    }

    /// Wait for a round of messages.
    pub(super) fn await_round(
        &self,
        line: &dyn Communicator,
        Underway(requests): Underway,
        round: &Round,
        planes: &mut Field,
        staging: &Staging,
    ) {
        self.timed(Phase::Communicate, || {
            line.wait(requests);
            if self.route == Route::Staged {
                for Part { values, .. } in &round.receive {
                    let from = &staging[self.bytes_of(values)];
                    self.note(self.inner.put(planes, values.start, from));
                }
            }
        });
    }

    /// Where `values` of an array lie in its memory.
    fn bytes_of(&self, values: &Range<usize>) -> Range<usize> {
        let size = self.precision().bytes();
        values.start * size..values.end * size
    }

    /// Where messages are to be sent from, with everything that is to be sent in place.
    fn ready(&self, send: &[Part], planes: &mut Field, staging: &mut Staging) -> *mut u8 {
        match self.inner.memory(planes) {
            Memory::Host(start) => start,
            Memory::Device(start) if self.route == Route::Device => {
                self.note(self.inner.finish());
                start
            }
            _ => {
                for Part { values, .. } in send {
                    let to = &mut staging[self.bytes_of(values)];
                    self.note(self.inner.fetch(planes, values.start, to));
                }
                staging.as_mut_ptr()
            }
        }
    }

    /// Exchange shares of two arrays with every rank along `axis`: (first value, values) for each.
    pub(super) fn all_to_all(
        &self,
        axis: usize,
        from: &mut Field,
        send: &[(usize, usize)],
        to: &mut Field,
        receive: &[(usize, usize)],
        [outgoing, incoming]: &mut [Staging; 2],
    ) {
        let size = self.precision().bytes();
        let in_bytes = |ranges: &[(usize, usize)]| -> Vec<(usize, usize)> {
            ranges.iter().map(|(first, count)| (first * size, count * size)).collect()
        };
        let len = |ranges: &[(usize, usize)]| ranges.iter().map(|(_, count)| count).sum();
        let (bytes_out, bytes_in) = (in_bytes(send), in_bytes(receive));
        self.assemble(axis);
        self.timed(Phase::Communicate, || {
            let everything = [Part { peer: 0, values: 0..len(send) }];
            let start = self.ready(&everything, from, outgoing);
            let target = match self.inner.memory(to) {
                Memory::Host(start) => start,
                Memory::Device(start) if self.route == Route::Device => start,
                _ => incoming.as_mut_ptr(),
            };
            // SAFETY: the ranges lie within the arrays, which are two.
            unsafe { self.lines[axis].all_to_all(start, &bytes_out, target, &bytes_in) };
            if self.route == Route::Staged {
                self.note(self.inner.put(to, 0, &incoming[..len(receive) * size]));
            }
        });
    }
}
