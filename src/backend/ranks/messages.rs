//! One round of messages between arrays of a backend.

use std::ops::Range;

use super::{DeviceMessage, Memory, Ranks, Route, Staging, group, locked};
use crate::backend::{Backend, Field};
use crate::comm::{Communicator, Request};

/// One message: the rank along the axis, and the values of the array to send or to receive.
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
    /// Starts the round among the ranks of `comm`, between values of `size` bytes each in an array at `start`.
    ///
    /// # Safety
    /// All values of the round must lie in that array, and stay untouched until the wait.
    pub(crate) unsafe fn begin(
        &self,
        comm: &dyn Communicator,
        start: *mut u8,
        size: usize,
    ) -> Vec<Request> {
        let mut requests = Vec::with_capacity(self.send.len() + self.receive.len());
        for Part { peer, values } in &self.receive {
            // SAFETY: as the caller promises.
            requests.push(unsafe {
                comm.receive(start.add(values.start * size), values.len() * size, *peer, 0)
            });
        }
        for Part { peer, values } in &self.send {
            // SAFETY: as the caller promises.
            requests.push(unsafe {
                comm.send(start.add(values.start * size), values.len() * size, *peer, 0)
            });
        }
        requests
    }
}

/// The ranks that exchange messages: those along the lines of an axis, or all.
#[derive(Clone, Copy)]
pub(super) enum Peers {
    Axis(usize),
    All,
}

/// Messages under way. The arrays must stay in place until the wait.
#[must_use = "messages under way have to be waited for"]
pub(super) enum Underway {
    /// Between the ranks, by MPI.
    Ranks(Vec<Request>),
    /// Between their devices; `None` if they could not start.
    Devices(Option<group::Underway>),
}

impl Ranks {
    /// Returns host memory for messages of an array of `len` values if messages go through host memory; otherwise an
    /// empty one.
    pub(super) fn staging(&self, len: usize) -> Staging {
        self.inner.staging(if self.route == Route::Staged { len } else { 0 })
    }

    pub(super) fn post(
        &self,
        peers: Peers,
        round: &Round,
        planes: &mut Field,
        staging: &mut Staging,
    ) -> Underway {
        self.timed_messages(peers, || {
            let size = self.precision().bytes();
            if self.route == Route::Staged && round.send.is_empty() && !round.receive.is_empty() {
                // The last received values may still be copied from `staging` to the device. A rank that sends waits for
                // that copy when it fetches its own values.
                self.record_error(self.inner.finish());
            }
            let start = self.send_address(&round.send, planes, staging);
            if self.route == Route::Nccl {
                let messages = |parts: &[Part]| -> Vec<_> {
                    let of = |Part { peer, values }: &Part| {
                        (*peer, values.start * size, values.len() * size)
                    };
                    self.device_messages(peers, start, parts.iter().map(of))
                };
                let (send, receive) = (messages(&round.send), messages(&round.receive));
                // SAFETY: as below.
                return Underway::Devices(unsafe { self.begin_on_devices(&send, &receive) });
            }
            // SAFETY: values of this array, which stays in place until the wait.
            Underway::Ranks(unsafe { round.begin(self.communicator(peers), start, size) })
        })
    }

    /// Returns the communicator of these ranks.
    fn communicator(&self, peers: Peers) -> &dyn Communicator {
        match peers {
            Peers::Axis(axis) => &*self.axis_comms[axis],
            Peers::All => &*self.comm,
        }
    }

    /// Returns the messages of an array at `start`, for each (rank among these, first byte, bytes) with bytes > 0.
    fn device_messages(
        &self,
        peers: Peers,
        start: *mut u8,
        parts: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Vec<DeviceMessage> {
        let rank_of = |peer| match peers {
            Peers::Axis(axis) => {
                let mut position = self.decomposition.position(self.comm.rank());
                position[axis] = peer;
                self.decomposition.rank(position)
            }
            Peers::All => peer,
        };
        let message = |(peer, first, bytes): (usize, usize, usize)| DeviceMessage {
            start: start.wrapping_add(first),
            bytes,
            peer: rank_of(peer),
        };
        parts.filter(|&(.., bytes)| bytes > 0).map(message).collect()
    }

    /// Starts messages between devices, and counts them.
    ///
    /// # Safety
    /// As for [`DeviceGroup::begin`](super::DeviceGroup::begin).
    unsafe fn begin_on_devices(
        &self,
        send: &[DeviceMessage],
        receive: &[DeviceMessage],
    ) -> Option<group::Underway> {
        let group = self.group.as_ref()?;
        let to_others = || send.iter().filter(|message| message.peer != self.comm.rank());
        {
            let mut sent = locked(&self.sent_by_group);
            sent.messages += to_others().count() as u64;
            sent.bytes += to_others().map(|message| message.bytes as u64).sum::<u64>();
        }
        // SAFETY: as the caller promises.
        let result = unsafe { group.begin(send, receive) };
        result.map_err(|why| self.record_error(Err(why))).ok()
    }

    /// Makes the device wait for messages that have started.
    fn await_devices(&self, underway: Option<group::Underway>) {
        if let (Some(group), Some(underway)) = (&self.group, underway) {
            self.record_error(group.wait(underway));
        }
    }

    pub(super) fn await_round(
        &self,
        peers: Peers,
        underway: Underway,
        round: &Round,
        planes: &mut Field,
        staging: &Staging,
    ) {
        self.timed_messages(peers, || {
            match underway {
                Underway::Ranks(requests) => self.communicator(peers).wait(requests),
                Underway::Devices(underway) => self.await_devices(underway),
            }
            if self.route == Route::Staged {
                for Part { values, .. } in &round.receive {
                    let from = &staging[self.bytes_of(values)];
                    self.record_error(self.inner.put(planes, values.start, from));
                }
            }
        });
    }

    /// Returns the byte range of `values` in the memory of an array.
    fn bytes_of(&self, values: &Range<usize>) -> Range<usize> {
        let size = self.precision().bytes();
        values.start * size..values.end * size
    }

    /// Returns the address to send from, after all values to send are in place.
    fn send_address(&self, send: &[Part], planes: &mut Field, staging: &mut Staging) -> *mut u8 {
        match self.inner.memory(planes) {
            Memory::Host(start) => start,
            Memory::Device(start) if self.route == Route::Nccl => start,
            Memory::Device(start) if self.route == Route::Device => {
                self.record_error(self.inner.finish());
                start
            }
            _ => {
                for Part { values, .. } in send {
                    let to = &mut staging[self.bytes_of(values)];
                    self.record_error(self.inner.fetch(planes, values.start, to));
                }
                staging.as_mut_ptr()
            }
        }
    }

    /// Exchanges shares of two arrays with every rank along `axis`: (first value, values) for each rank.
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
        self.phase_barrier(axis);
        self.timed_messages(Peers::Axis(axis), || {
            let everything = [Part { peer: 0, values: 0..len(send) }];
            let start = self.send_address(&everything, from, outgoing);
            let target = match self.inner.memory(to) {
                Memory::Host(start) => start,
                Memory::Device(start) if self.route != Route::Staged => start,
                _ => incoming.as_mut_ptr(),
            };
            if self.route == Route::Nccl {
                let messages = |start, shares: &[(usize, usize)]| -> Vec<_> {
                    let shares = shares.iter().enumerate();
                    let shares = shares.map(|(peer, &(first, bytes))| (peer, first, bytes));
                    self.device_messages(Peers::Axis(axis), start, shares)
                };
                // SAFETY: as below; the arrays stay in place, and the device waits before it uses them.
                let underway = unsafe {
                    self.begin_on_devices(
                        &messages(start, &bytes_out),
                        &messages(target, &bytes_in),
                    )
                };
                return self.await_devices(underway);
            }
            // SAFETY: the ranges lie within the arrays, which are distinct.
            unsafe { self.axis_comms[axis].all_to_all(start, &bytes_out, target, &bytes_in) };
            if self.route == Route::Staged {
                self.record_error(self.inner.put(to, 0, &incoming[..len(receive) * size]));
            }
        });
    }
}
