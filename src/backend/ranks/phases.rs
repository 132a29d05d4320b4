//! Where the time of sweeps along split axes goes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::messages::Among;
use super::{Ranks, locked};

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Sweeps over whole lines, products, and the local solves of blocks with what the inflow adds.
    Local,
    /// Making of fields what is sent.
    Pack,
    /// Posting messages and waiting for them, copies between device and host included.
    Communicate,
    /// The matrices between the messages: the reduced systems.
    Reduced,
}

impl Phase {
    /// All, in the order of the variants.
    pub const ALL: [Phase; 4] = [Phase::Local, Phase::Pack, Phase::Communicate, Phase::Reduced];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Local => "local",
            Phase::Pack => "pack",
            Phase::Communicate => "communicate",
            Phase::Reduced => "reduced",
        }
    }
}

/// Names of the parts of [`Phase::Communicate`] in tables: along x, y, z.
pub const ALONG: [&str; 3] = ["communicate_x", "communicate_y", "communicate_z"];

/// Seconds of every [`Phase`], in the order of its variants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseTimes(pub [f64; 4]);

impl PhaseTimes {
    /// Seconds of one phase.
    pub fn of(&self, phase: Phase) -> f64 {
        self.0[phase as usize]
    }

    /// What was spent since `before`.
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
    /// Seconds spent in the phases of sweeps along split axes so far. On a device they are those of the host, unless
    /// [`Ranks::wait_for_phases`].
    pub fn phases(&self) -> PhaseTimes {
        *locked(&self.clock.times)
    }

    /// Those of them that are [`Phase::Communicate`], along x, y and z.
    pub fn message_seconds(&self) -> [f64; 3] {
        *locked(&self.clock.along)
    }

    /// Let every phase end when its work is done, and messages begin when all ranks have packed theirs, so that the time of a
    /// phase is its own. It hides nothing behind anything then. To be asked for by all ranks.
    pub fn wait_for_phases(&self, wait: bool) {
        self.clock.waits.store(wait, Ordering::Relaxed);
    }

    /// Where phases are waited for: until all ranks along `axis` are here, so that what one is late for is no time of the
    /// messages. That time belongs to no phase. Collective.
    pub(super) fn assemble(&self, axis: usize) {
        if self.clock.waits.load(Ordering::Relaxed) {
            self.lines[axis].barrier();
        }
    }

    /// Add the time that `work` takes to `phase`.
    pub(super) fn timed<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        self.clocked(phase, work).0
    }

    /// Add the time that `work` takes to [`Phase::Communicate`], and to that along the axis.
    pub(super) fn timed_messages<R>(&self, among: Among, work: impl FnOnce() -> R) -> R {
        let (result, seconds) = self.clocked(Phase::Communicate, work);
        if let Among::Axis(axis) = among {
            locked(&self.clock.along)[axis] += seconds;
        }
        result
    }

    /// Add the time that `work` takes to `phase`, and return it.
    fn clocked<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> (R, f64) {
        let start = Instant::now();
        let result = work();
        if self.clock.waits.load(Ordering::Relaxed) {
            self.note(self.inner.finish());
        }
        let mut times = locked(&self.clock.times);
        let seconds = start.elapsed().as_secs_f64();
        times.0[phase as usize] += seconds;
        (result, seconds)
    }
}
