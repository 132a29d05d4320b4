//! Schedule of all outputs of a run.

use std::collections::BTreeMap;

use super::plan::{Plan, reached};
use crate::config::{Config, Schedule};

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Series,
    Fields,
    Planes,
    Statistics,
    Checkpoint,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Series, Self::Fields, Self::Planes, Self::Statistics, Self::Checkpoint];

    /// Name in the input.
    pub(super) fn name(self) -> &'static str {
        ["series", "fields", "planes", "statistics", "checkpoint"][self as usize]
    }
}

/// The plans of all kinds of output of a run.
#[derive(Debug)]
pub(super) struct OutputSchedule {
    plans: [Option<Plan>; Kind::ALL.len()],
    /// The step at which each was last due.
    written: [Option<u64>; Kind::ALL.len()],
}

impl OutputSchedule {
    /// For a run at `time`, whose previous outputs are given by `written`.
    pub(super) fn new(config: &Config, time: f64, written: &BTreeMap<String, u64>) -> Self {
        let Config { output, time: steps, .. } = config;
        let plan = |kind| {
            let schedule: Option<Schedule> = match kind {
                Kind::Series => Some(output.series),
                Kind::Fields => output.fields.as_ref().map(|it| steps.of_fields(it.schedule)),
                Kind::Planes => output.planes.as_ref().map(|it| steps.of_fields(it.schedule)),
                Kind::Statistics => output.statistics.as_ref().map(|what| what.schedule),
                Kind::Checkpoint => output.checkpoint.and_then(|what| what.schedule),
            };
            schedule.map(|schedule| Plan::new(schedule, time))
        };
        Self {
            plans: Kind::ALL.map(plan),
            written: Kind::ALL.map(|kind| written.get(kind.name()).copied()),
        }
    }

    /// Whether the run has this output at all.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.plans[kind as usize].is_some()
    }

    /// Whether an output is due by wall time, by kind.
    pub(super) fn late(&self) -> [bool; Kind::ALL.len()] {
        std::array::from_fn(|kind| self.plans[kind].as_ref().is_some_and(Plan::late))
    }

    /// Whether `kind` is due after step `step` at time `time`; it then counts as written.
    pub(super) fn due(&mut self, kind: Kind, step: u64, time: f64, late: bool) -> bool {
        let plan = &mut self.plans[kind as usize];
        let due = plan.as_mut().is_some_and(|plan| plan.due(step, time, late));
        if due {
            self.write(kind, step);
        }
        due
    }

    /// Whether anything is due after step `step`, independent of the time.
    pub(super) fn due_by_step(&self, step: u64) -> bool {
        self.plans.iter().flatten().any(|plan| plan.due_by_step(step))
    }

    /// Record `kind` as written at `step`.
    pub(super) fn write(&mut self, kind: Kind, step: u64) {
        self.written[kind as usize] = Some(step);
    }

    /// The step at which `kind` was last due.
    pub(super) fn written(&self, kind: Kind) -> Option<u64> {
        self.written[kind as usize]
    }

    /// The record for a checkpoint.
    pub(super) fn all_written(&self) -> BTreeMap<String, u64> {
        let step = |kind: Kind| Some((kind.name().to_string(), self.written(kind)?));
        Kind::ALL.into_iter().filter_map(step).collect()
    }

    /// The next time that a step from `time` must not pass. Times reached up to round-off are skipped: an interval may be shorter
    /// than the resolution of time.
    pub(super) fn next_time(&self, time: f64) -> Option<f64> {
        let times = self.plans.iter().flatten().filter_map(Plan::next_time);
        times.filter(|next| !reached(time, *next)).reduce(f64::min)
    }
}
