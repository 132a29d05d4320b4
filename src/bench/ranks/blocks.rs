//! The parts of sweeps along split axes, one after another as in a step.

use super::block::{Block, Cut, Step};
use super::messages::address;
use super::rates::{Problem, arrays};
use super::{Probe, WARM_UPS};
use crate::backend::ranks::{self, Round, Route};
use crate::backend::{Backend, Field, Weights};
use crate::bench::measure::Times;
use crate::bench::place::Place;
use crate::engine::Sweep;
use crate::error::{Error, Result};
use crate::grid::Axis;

/// Seconds of every timed part, by its number.
pub(super) type Seconds = [f64; 8];

pub(super) const PACK: usize = 0;
/// Messages to all neighbours.
pub(super) const EXCHANGE: usize = 1;
/// The same messages a second time.
pub(super) const SECOND_EXCHANGE: usize = 2;
/// The last message, sent from every other rank to the next.
pub(super) const ONE_WAY: usize = 3;
/// Sums of planes.
pub(super) const COMBINE: usize = 4;
/// Sweeps including the interface values.
pub(super) const COMPLETE: usize = 5;
/// The same sweeps over whole lines of equal length.
pub(super) const WHOLE_LINES: usize = 6;
/// Sweeps along axes that are not split.
pub(super) const UNSPLIT: usize = 7;

/// Kinds of repeats, in turn, with the parts that each one measures: whole lines; a step with messages exchanged twice; a step
/// with messages exchanged and then sent one way; and a normal step, which follows a similar one.
const KINDS: [&[usize]; 4] =
    [&[WHOLE_LINES, UNSPLIT], &[SECOND_EXCHANGE], &[ONE_WAY], &[PACK, EXCHANGE, COMBINE, COMPLETE]];

impl Probe<'_> {
    /// The blocks of all sweeps along `axes`, of `points` points; empty if they are too short for all methods except `transpose`.
    pub(super) fn split_blocks(
        &self,
        place: &dyn Place,
        problem: &Problem<'_>,
        axes: &[Axis],
        points: [usize; 3],
    ) -> Result<Vec<Block>> {
        let cut = Cut::of(self.comm);
        let along = problem.sweeps.iter().filter(|(axis, _)| axes.contains(axis));
        let blocks = along.map(|sweep| {
            let joined = problem.operators(cut.total_points(points, sweep.0), place.precision());
            Block::new(place, cut, sweep, points, &joined)
        });
        Ok(blocks.collect::<Result<Option<Vec<_>>>>()?.unwrap_or_default())
    }

    /// The blocks of all sweeps along `axes`, and the median time of every part summed over all sweeps. The sweeps run one after
    /// another, so that each finds the same data in the caches as in a step; parts that do not belong to a step have their own
    /// repeats. The list is empty if blocks are too short for all methods except `transpose`. Collective.
    pub(super) fn time_blocks(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<(Vec<Block>, Seconds)> {
        let Self { place, points, comm, .. } = *self;
        let (backend, precision): (&dyn Backend, _) = (place, place.precision());
        let whole = problem.operators(points, precision);
        let mut blocks = self.split_blocks(place, problem, axes, points)?;
        let is_cut = !blocks.is_empty();
        let program = |(axis, sweep): &(Axis, Sweep)| {
            let part = if is_cut && axes.contains(axis) { WHOLE_LINES } else { UNSPLIT };
            Ok((part, place.program(sweep, (*axis, points, &whole))?))
        };
        let programs = problem.sweeps.iter().map(program).collect::<Result<Vec<_>>>()?;
        let all: Vec<&Sweep> = problem.sweeps.iter().map(|(_, sweep)| sweep).collect();
        let [read, write] = &mut arrays(place, points.iter().product(), &all)?;
        let read: Vec<&Field> = read.iter().collect();
        let mut write: Vec<&mut Field> = write.iter_mut().collect();
        let weights = || Weights::times(problem.beta);
        let mut times = [const { Vec::new() }; 8];
        let rounds = (0..WARM_UPS + self.repeats).flat_map(|round| KINDS.map(|kind| (round, kind)));
        for (round, counted) in rounds {
            let spent = backend.within(|| {
                let mut spent: Seconds = [0.0; 8];
                if counted.contains(&WHOLE_LINES) {
                    for (part, program) in &programs {
                        comm.barrier();
                        let run = || place.run(program, &read, &mut write, weights());
                        spent[*part] += self.seconds(run)?;
                    }
                    return Ok(spent);
                }
                for Block { program, planes, steps, .. } in &mut blocks {
                    comm.barrier();
                    spent[PACK] += self.seconds(|| {
                        (0..planes.len()).for_each(|stage| {
                            place.pack(program, stage, &read, &mut write, planes);
                        });
                    })?;
                    for (stage, step) in steps {
                        let planes = &mut planes[*stage];
                        match step {
                            Step::Combine(sums) => {
                                let combine = || place.combine(sums, planes);
                                spent[COMBINE] += self.seconds(combine)?;
                            }
                            Step::Exchange(_) if comm.size() == 1 => {}
                            Step::Exchange(round) => {
                                let mut exchange =
                                    |one_way| self.exchange(round, one_way, planes, route);
                                spent[EXCHANGE] += exchange(false)?;
                                if counted.contains(&SECOND_EXCHANGE) {
                                    spent[SECOND_EXCHANGE] += exchange(false)?;
                                }
                                if counted.contains(&ONE_WAY) {
                                    spent[ONE_WAY] += exchange(true)?;
                                }
                            }
                        }
                    }
                    spent[COMPLETE] += self.seconds(|| {
                        place.complete(program, &read, &mut write, planes, weights());
                    })?;
                }
                Ok::<_, Error>(spent)
            });
            let mut spent = spent?;
            comm.max(&mut spent);
            if round >= WARM_UPS {
                counted.iter().for_each(|&part| times[part].push(spent[part]));
            }
        }
        Ok((blocks, times.map(|times| Times::new(times).median())))
    }

    /// Seconds of a round of messages between `planes`: of all ranks at once, or if `one_way`, its last message from every other
    /// rank to the next. Collective.
    fn exchange(
        &self,
        round: &Round,
        one_way: bool,
        planes: &mut Field,
        route: Route,
    ) -> Result<f64> {
        let Self { place, comm, .. } = *self;
        let (rank, size) = (comm.rank(), place.precision().bytes());
        let staged = route == Route::Staged;
        let len = round.send.iter().chain(&round.receive).map(|part| part.values.end).max();
        let mut staging = place.staging(len.filter(|_| staged).unwrap_or(0));
        if staged {
            place.fetch(planes, 0, &mut staging)?;
        }
        // To the next rank, and from the previous one.
        let last = |parts: &[ranks::Part], is: bool| parts.last().filter(|_| is).cloned();
        let half = Round {
            send: last(&round.send, rank % 2 == 0 && rank + 1 < comm.size()).into_iter().collect(),
            receive: last(&round.receive, rank % 2 == 1).into_iter().collect(),
        };
        let round = if one_way { &half } else { round };
        let start = address(place, route, planes, &mut staging);
        comm.barrier();
        // SAFETY: the values are those of planes, which exist until the messages have been waited for.
        let seconds = self.seconds(|| comm.wait(unsafe { round.begin(comm, start, size) }))?;
        if staged {
            for ranks::Part { values, .. } in &round.receive {
                let bytes = &staging[values.start * size..values.end * size];
                place.put(planes, values.start, bytes)?;
            }
            place.finish()?;
        }
        Ok(seconds)
    }
}
