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
pub(super) struct Plan {
    schedule: Schedule,
    /// Multiples of `every_time` that are done.
    done: u64,
    last_wall: Instant,
}

impl Plan {
    /// A schedule all of which is done that is due until `time`.
    pub(super) fn new(schedule: Schedule, time: f64) -> Self {
        let mut plan = Self { schedule, done: 0, last_wall: Instant::now() };
        plan.catch_up(time);
        plan
    }

    /// Count as done what is due at `time`; true where that is more than was.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn catch_up(&mut self, time: f64) -> bool {
        let Some(interval) = self.schedule.every_time else { return false };
        let mut done = (time / interval).floor() as u64;
        if reached(time, (done as f64 + 1.0) * interval) {
            done = done.saturating_add(1);
        }
        let more = done > self.done;
        self.done = self.done.max(done);
        more
    }

    /// The next time that a step has to land on.
    pub(super) fn next_time(&self) -> Option<f64> {
        // A product, not a sum of intervals: no drift.
        self.schedule.every_time.map(|interval| (self.done as f64 + 1.0) * interval)
    }

    /// Whether so much wall time has passed that something is due. Clocks of ranks differ: what one says must hold for all.
    pub(super) fn late(&self) -> bool {
        self.schedule
            .every_wall
            .is_some_and(|every| self.last_wall.elapsed().as_secs_f64() >= every)
    }

    /// Whether something is due after step `step`, whatever the time.
    pub(super) fn due_by_step(&self, step: u64) -> bool {
        self.schedule.every_steps.is_some_and(|every| step.is_multiple_of(every))
    }

    /// True where something is due after step `step` at time `time`, or because it is [`Plan::late`]; it then counts as
    /// done.
    pub(super) fn due(&mut self, step: u64, time: f64, late: bool) -> bool {
        let by_time = self.catch_up(time);
        if late {
            self.last_wall = Instant::now();
        }
        self.due_by_step(step) || by_time || late
    }
}
