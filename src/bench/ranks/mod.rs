//! Benchmarks with several ranks: messages, lines split across ranks, and steps on increasing numbers of ranks.
//!
//! All ranks begin together, after a barrier; the time is that of the slowest, and all ranks receive it, so that all take the
//! same decisions. The machine rates of the model ([`Rates`](crate::model::Rates)) are measured together with the times that it
//! predicts.

mod block;
mod blocks;
pub(super) mod comm;
mod messages;
mod rates;
pub(super) mod report;
pub(super) mod scaling;
mod transfers;

use std::time::Instant;

use super::measure::{Repeat, Times, collective};
use super::output::Report;
use super::place::{Place, PreparedWork, Setup};
use super::pool::Pool;
use crate::comm::{Communicator, Sent};
use crate::error::{Error, Result};

/// Warm-up rounds if repeats are not calibrated.
const WARM_UPS: u32 = 2;

/// Place and number of repeats of a measurement.
struct Probe<'a> {
    setup: &'a Setup,
    place: &'a dyn Place,
    comm: &'a dyn Communicator,
    /// Points per rank.
    points: [usize; 3],
    repeats: u32,
}

impl Probe<'_> {
    /// Seconds of `work` on this rank, to its end.
    fn seconds(&self, work: impl FnOnce()) -> Result<f64> {
        let start = Instant::now();
        work();
        self.place.finish()?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// The median over the repeats of the time measured by `seconds`, from a barrier, on the slowest rank. Collective.
    fn slowest(&self, mut seconds: impl FnMut() -> Result<f64>) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..self.repeats {
            self.comm.barrier();
            let mut slowest = [seconds()?];
            self.comm.max(&mut slowest);
            times.push(slowest[0]);
        }
        Ok(Times::new(times).median())
    }
}

/// Add a note on the placement of the ranks.
fn note_placement(setup: &Setup, report: &mut Report) {
    let lines = setup.placement.iter().flat_map(|text| text.lines());
    lines.for_each(|line| report.note(line.into()));
}

/// Add a note that `what` was omitted, with the first line of `why`.
fn note_omission(what: &str, why: &Error, report: &mut Report) {
    let why = why.to_string();
    let why = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
    report.note(format!("left out: {what}: {why}"));
}

/// Seconds of each phase on the rank that is slowest in it. `work` runs all phases once and returns the time of each. Collective.
fn by_phase<const N: usize>(
    comm: &dyn Communicator,
    repeats: u32,
    mut work: impl FnMut() -> Result<[f64; N]>,
) -> Result<[Times; N]> {
    let mut phases = [const { Vec::new() }; N];
    for round in 0..WARM_UPS + repeats {
        comm.barrier();
        let mut seconds = work()?;
        comm.max(&mut seconds);
        if round >= WARM_UPS {
            phases.iter_mut().zip(seconds).for_each(|(times, seconds)| times.push(seconds));
        }
    }
    Ok(phases.map(Times::new))
}

/// A copy on all ranks at once, over fields in turn.
fn copies<'a>(
    place: &'a dyn Place,
    comm: &'a dyn Communicator,
    negation: &'a PreparedWork<'_>,
    pool: &'a mut Pool,
) -> Repeat<'a> {
    let mut turn = 0;
    let Pool { sources, results, .. } = pool;
    collective(place, comm, move || {
        turn = (turn + 1) % sources.len();
        negation(&sources[turn], &mut results[turn]);
    })
}

/// The largest traffic of any rank between two counts. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a count")]
fn max_traffic(comm: &dyn Communicator, before: Sent, after: Sent) -> Sent {
    let mut counts =
        [(after.messages - before.messages) as f64, (after.bytes - before.bytes) as f64];
    comm.max(&mut counts);
    Sent { messages: counts[0] as u64, bytes: counts[1] as u64 }
}
