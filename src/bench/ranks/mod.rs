//! What takes many ranks: messages, lines that are spread over ranks, steps on more and more of them.
//!
//! All ranks begin together, behind a barrier; the time is that of the slowest, and all are told it, so that all do the
//! same. What a model needs to know of the machine ([`Rates`](crate::model::Rates)) is measured beside what it is to
//! predict.

mod block;
mod blocks;
pub(super) mod comm;
mod messages;
mod rates;
pub(super) mod report;
pub(super) mod scaling;
mod transfers;

use std::time::Instant;

use super::measure::{Repeat, Times, together};
use super::output::Report;
use super::place::{Place, Ready, Setup};
use super::pool::Pool;
use crate::comm::{Communicator, Sent};
use crate::error::{Error, Result};

/// Rounds that do not count where repeats are not calibrated.
const WARM_UPS: u32 = 2;

/// Where and how often something is measured.
struct Probe<'a> {
    setup: &'a Setup,
    place: &'a dyn Place,
    comm: &'a dyn Communicator,
    /// Points of a rank.
    points: [usize; 3],
    repeats: u32,
}

impl Probe<'_> {
    /// Of `work` on this rank, to its end.
    fn seconds(&self, work: impl FnOnce()) -> Result<f64> {
        let start = Instant::now();
        work();
        self.place.finish()?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// The median on the slowest rank of what `seconds` measures on each, from a barrier on. Collective.
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

/// Say where the ranks are.
fn note_placement(setup: &Setup, report: &mut Report) {
    let lines = setup.placement.iter().flat_map(|text| text.lines());
    lines.for_each(|line| report.note(line.into()));
}

/// Say why `what` was left out: the first line of `why`.
fn note_left_out(what: &str, why: &Error, report: &mut Report) {
    let why = why.to_string();
    let why = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
    report.note(format!("left out: {what}: {why}"));
}

/// Seconds of each phase on the rank that is slowest in it. `work` does all once and says what each took. Collective.
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
    negation: &'a Ready<'_>,
    pool: &'a mut Pool,
) -> Repeat<'a> {
    let mut turn = 0;
    let Pool { sources, results, .. } = pool;
    together(place, comm, move || {
        turn = (turn + 1) % sources.len();
        negation(&sources[turn], &mut results[turn]);
    })
}

/// The most that any rank sent between two counts. Collective.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a count")]
fn busiest(comm: &dyn Communicator, before: Sent, after: Sent) -> Sent {
    let mut counts =
        [(after.messages - before.messages) as f64, (after.bytes - before.bytes) as f64];
    comm.max(&mut counts);
    Sent { messages: counts[0] as u64, bytes: counts[1] as u64 }
}
