//! When things are due.

use std::time::Instant;

use crate::config::Schedule;

/// Whether `time` is `due` but for round-off: times that should coincide, three times 0.1 and 0.3, must not leave a step
/// of 1e-17 between them.
pub(super) fn reached(time: f64, due: f64) -> bool {
    time >= due * (1.0 - 1e-12)
}

/// A schedule in progress: knows what was done and what comes next.
#[derive(Clone, Debug)]
pub struct Plan {
    schedule: Schedule,
    /// Multiples of `every_time` that are done.
    done: u64,
    last_wall: Instant,
}

impl Plan {
    /// A schedule that starts now, at t = 0.
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, done: 0, last_wall: Instant::now() }
    }

    /// The next time that a step has to land on.
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 outputs")]
    pub fn next_time(&self) -> Option<f64> {
        // A product, not a sum of intervals: no drift.
        self.schedule.every_time.map(|interval| (self.done + 1) as f64 * interval)
    }

    /// Whether so much wall time has passed that something is due. Clocks of ranks differ: what one says must hold for all.
    pub fn late(&self) -> bool {
        self.schedule
            .every_wall
            .is_some_and(|every| self.last_wall.elapsed().as_secs_f64() >= every)
    }

    /// True where something is due after step `step` at time `time`, or because it is [`Plan::late`]; it then counts as
    /// done.
    pub fn due(&mut self, step: u64, time: f64, late: bool) -> bool {
        let mut due = self.schedule.every_steps.is_some_and(|every| step.is_multiple_of(every));
        while self.next_time().is_some_and(|next| reached(time, next)) {
            self.done += 1;
            due = true;
        }
        if late {
            self.last_wall = Instant::now();
            due = true;
        }
        due
    }
}
