//! Time spent in the phases of sweeps along split axes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::messages::Peers;
use super::{Ranks, locked};

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Sweeps over complete lines (not split, or completed by a transpose), products, and the local solves of split lines with
    /// the contribution of the interface values.
    Local,
    /// Computation of the values to send.
    Pack,
    /// Posting of messages and waiting for them, including copies between device and host.
    Communicate,
    /// The operations between the messages: the reduced systems.
    Reduced,
}

impl Phase {
    /// All phases, in the order of the variants.
    pub const ALL: [Phase; 4] = [Phase::Local, Phase::Pack, Phase::Communicate, Phase::Reduced];

    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Local => "local",
            Phase::Pack => "pack",
            Phase::Communicate => "communicate",
            Phase::Reduced => "reduced",
        }
    }
}

/// Names in tables of the parts of [`Phase::Communicate`] along x, y, z.
pub const ALONG: [&str; 3] = ["communicate_x", "communicate_y", "communicate_z"];

/// Seconds of every [`Phase`], in the order of its variants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseTimes(pub [f64; 4]);

impl PhaseTimes {
    /// Seconds of one phase.
    pub fn of(&self, phase: Phase) -> f64 {
        self.0[phase as usize]
    }

    /// Returns the seconds since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }
}

#[derive(Default)]
pub(super) struct Clock {
    times: Mutex<PhaseTimes>,
    /// [`Phase::Communicate`] along x, y, z.
    along: Mutex<[f64; 3]>,
    waits: AtomicBool,
}

impl Ranks {
    /// Returns the seconds spent so far in the phases of sweeps along split axes. On a device they are host times, unless
    /// [`Ranks::wait_for_phases`] is on.
    pub fn phases(&self) -> PhaseTimes {
        *locked(&self.clock.times)
    }

    /// Returns the seconds of [`Phase::Communicate`] along x, y and z.
    pub fn message_seconds(&self) -> [f64; 3] {
        *locked(&self.clock.along)
    }

    /// Makes every phase end when its work is done, and messages start when all ranks have packed theirs, so that each
    /// phase is timed separately. Communication and computation then do not overlap. All ranks must set it.
    pub fn wait_for_phases(&self, wait: bool) {
        self.clock.waits.store(wait, Ordering::Relaxed);
    }

    /// Waits, if [`Ranks::wait_for_phases`] is on, for all ranks along `axis`, so that the delay of one rank is not
    /// counted as message time. The wait itself belongs to no phase. Collective.
    pub(super) fn phase_barrier(&self, axis: usize) {
        if self.clock.waits.load(Ordering::Relaxed) {
            self.axis_comms[axis].barrier();
        }
    }

    /// Adds the time of `work` to `phase`.
    pub(super) fn timed<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        self.measure(phase, work).0
    }

    /// Adds the time of `work` to [`Phase::Communicate`], and to its part along the axis.
    pub(super) fn timed_messages<R>(&self, peers: Peers, work: impl FnOnce() -> R) -> R {
        let (result, seconds) = self.measure(Phase::Communicate, work);
        if let Peers::Axis(axis) = peers {
            locked(&self.clock.along)[axis] += seconds;
        }
        result
    }

    /// Adds the time of `work` to `phase`, and returns it.
    fn measure<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> (R, f64) {
        let start = Instant::now();
        let result = work();
        if self.clock.waits.load(Ordering::Relaxed) {
            self.record_error(self.inner.finish());
        }
        let mut times = locked(&self.clock.times);
        let seconds = start.elapsed().as_secs_f64();
        times.0[phase as usize] += seconds;
        (result, seconds)
    }
}
