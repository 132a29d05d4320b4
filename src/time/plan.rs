//! Output intervals.

use std::time::Instant;

use crate::config::Schedule;

/// Whether `time` has reached `due` up to round-off: times that should coincide, such as three times 0.1 and 0.3, must not leave
/// a step of 1e-17 between them.
pub(super) fn reached(time: f64, due: f64) -> bool {
    time >= due * (1.0 - 1e-12)
}

/// A schedule in progress: tracks what is done and what is next.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    schedule: Schedule,
    /// Number of multiples of `every_time` that are done.
    done: u64,
    last_wall: Instant,
}

impl Plan {
    /// A schedule where everything due until `time` is done.
    pub(super) fn new(schedule: Schedule, time: f64) -> Self {
        let mut plan = Self { schedule, done: 0, last_wall: Instant::now() };
        plan.catch_up(time);
        plan
    }

    /// Mark everything due at `time` as done; true where there was anything new.
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

    /// Whether an output is due by wall time. Clocks of ranks differ: the result on one rank must be applied on all.
    pub(super) fn late(&self) -> bool {
        self.schedule
            .every_wall
            .is_some_and(|every| self.last_wall.elapsed().as_secs_f64() >= every)
    }

    /// Whether something is due after step `step`, independent of the time.
    pub(super) fn due_by_step(&self, step: u64) -> bool {
        self.schedule.every_steps.is_some_and(|every| step.is_multiple_of(every))
    }

    /// Whether an output is due after step `step` at time `time`, or because it is [`Plan::late`]; it then counts as done.
    pub(super) fn due(&mut self, step: u64, time: f64, late: bool) -> bool {
        let by_time = self.catch_up(time);
        if late {
            self.last_wall = Instant::now();
        }
        self.due_by_step(step) || by_time || late
    }
}
