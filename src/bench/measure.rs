//! Repeats of several parts in turn.

use std::cell::RefCell;
use std::time::Instant;

use super::place::Place;
use super::pool::Pool;
use crate::backend::{Backend, Field};
use crate::comm::Communicator;
use crate::error::Result;

/// Rounds before the measurement: the first one compiles kernels, touches memory and starts threads. After [`CALIBRATIONS`]
/// rounds a device sees its final list of launches for the first time, and turns it into a graph at the second time.
pub(super) const WARM_UPS: usize = CALIBRATIONS + 2;
/// Rounds that determine the duration of one call.
const CALIBRATIONS: usize = 2;
/// Minimum duration of one repeat in seconds: a clock or an event adds microseconds.
const MIN_REPEAT_SECONDS: f64 = 2e-3;
/// Maximum number of calls in one repeat.
const MAX_CALLS: f64 = 200.0;

/// Work that can be timed: runs it once and returns the seconds per call.
pub(super) type Repeat<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Seconds of every repeat, in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Times(Vec<f64>);

impl Times {
    pub(super) fn new(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self(seconds)
    }

    pub(super) fn min(&self) -> f64 {
        self.0[0]
    }

    pub(super) fn median(&self) -> f64 {
        let (middle, odd) = (self.0.len() / 2, self.0.len() % 2 == 1);
        if odd { self.0[middle] } else { 0.5 * (self.0[middle - 1] + self.0[middle]) }
    }
}

/// Time the subjects in turn, with the copy before each: copy, first, copy, second, ..., `repeats` times.
pub(super) fn interleaved(
    repeats: u32,
    mut copy: Repeat<'_>,
    mut subjects: Vec<Repeat<'_>>,
) -> Result<(Times, Vec<Times>)> {
    let mut copies = Vec::new();
    let mut times = vec![Vec::new(); subjects.len()];
    for round in 0..WARM_UPS + repeats as usize {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            let (copy_seconds, seconds) = (copy()?, subject()?);
            if round >= WARM_UPS {
                copies.push(copy_seconds);
                times.push(seconds);
            }
        }
    }
    Ok((Times::new(copies), times.into_iter().map(Times::new).collect()))
}

/// `work` from one field to another, over the fields of the pool in turn. Short work is called several times per repeat.
pub(super) fn rotating<'a>(
    place: &'a dyn Place,
    pool: &'a RefCell<Pool>,
    work: impl Fn(&Field, &mut Field) + Sync + 'a,
) -> Repeat<'a> {
    let backend: &dyn Backend = place;
    let (mut calls, mut turn) = (Calls::ONE, 0);
    Box::new(move || {
        let mut pool = pool.borrow_mut();
        let Pool { sources, results, .. } = &mut *pool;
        let count = sources.len();
        let mut all = || {
            for call in 0..calls.count as usize {
                let at = (turn + call) % count;
                work(&sources[at], &mut results[at]);
            }
        };
        let seconds = place.seconds(&mut || backend.within(&mut all))? / f64::from(calls.count);
        turn += calls.count as usize;
        calls.record(seconds, count);
        Ok(seconds)
    })
}

/// `work`, at most `max_calls` times per repeat if it is short; `before` runs untimed before each repeat.
pub(super) fn with_preparation<'a>(
    place: &'a dyn Place,
    max_calls: u32,
    before: impl Fn() + 'a,
    mut work: impl FnMut() + 'a,
) -> Repeat<'a> {
    let mut calls = Calls::ONE;
    Box::new(move || {
        before();
        let count = calls.count.min(max_calls);
        let mut all = || (0..count).for_each(|_| work());
        let seconds = place.seconds(&mut all)? / f64::from(count);
        calls.record(seconds, 1);
        Ok(seconds)
    })
}

/// Collective `work`, timed from a barrier: the time of the slowest rank, which all ranks receive. Short work is run several
/// times per repeat.
pub(super) fn collective<'a>(
    backend: &'a dyn Backend,
    comm: &'a dyn Communicator,
    mut work: impl FnMut() + Send + 'a,
) -> Repeat<'a> {
    let mut calls = Calls::ONE;
    Box::new(move || {
        backend.finish()?;
        comm.barrier();
        let start = Instant::now();
        backend.within(|| (0..calls.count).for_each(|_| work()));
        backend.finish()?;
        let mut seconds = [start.elapsed().as_secs_f64() / f64::from(calls.count)];
        comm.max(&mut seconds);
        calls.record(seconds[0], 1);
        Ok(seconds[0])
    })
}

/// Number of calls in one repeat, determined by the first rounds.
struct Calls {
    count: u32,
    rounds: usize,
}

impl Calls {
    const ONE: Self = Self { count: 1, rounds: 0 };

    /// Record that a call of this round took `seconds`, for work on this many fields in turn.
    fn record(&mut self, seconds: f64, fields: usize) {
        self.rounds += 1;
        if self.rounds <= CALIBRATIONS {
            self.count = calls_for(seconds, fields);
        }
    }
}

/// Calls in one repeat of work that takes `seconds`: one, or a multiple of `count` fields, so that every repeat is the same list
/// of launches.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 200")]
pub(super) fn calls_for(seconds: f64, count: usize) -> u32 {
    let calls = (MIN_REPEAT_SECONDS / seconds).ceil().clamp(1.0, MAX_CALLS) as u32;
    let count = u32::try_from(count).unwrap_or(1);
    if calls == 1 { 1 } else { calls.next_multiple_of(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_runs_before_every_subject_and_warm_ups_do_not_count() {
        let log = RefCell::new(String::new());
        let subject = |name: char| -> Repeat<'_> {
            let log = &log;
            Box::new(move || {
                log.borrow_mut().push(name);
                Ok(log.borrow().len() as f64)
            })
        };
        let (copy, times) = interleaved(3, subject('c'), vec![subject('x'), subject('y')]).unwrap();
        assert_eq!(*log.borrow(), "cxcy".repeat(WARM_UPS + 3));
        let before = (4 * WARM_UPS) as f64;
        assert_eq!((copy.min() - before, copy.0.len()), (1.0, 6));
        assert_eq!([times[0].min(), times[0].median()].map(|t| t - before), [2.0, 6.0]);
        assert_eq!([times[1].min(), times[1].median()].map(|t| t - before), [4.0, 8.0]);
    }

    #[test]
    fn median_of_an_even_number_of_times_is_the_mean_of_the_middle_two() {
        assert_eq!(Times::new(vec![4.0, 1.0, 8.0, 2.0]).median(), 3.0);
    }

    #[test]
    fn short_work_is_repeated_until_the_clock_resolves_it() {
        assert_eq!([1.0, 1e-3, 0.0].map(|seconds| calls_for(seconds, 3)), [1, 3, 201]);
    }
}
