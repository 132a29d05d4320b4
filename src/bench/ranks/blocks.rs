//! The parts of sweeps along cut axes, one after another as in a step.

use std::ops::{Index, IndexMut};

use super::block::{Block, Cut, Step};
use super::messages::address;
use super::rates::{Arrays, Problem};
use super::{Probe, WARM_UPS};
use crate::backend::ranks::{self, Round, Route};
use crate::backend::{Backend, Field, Weights};
use crate::bench::measure::Times;
use crate::engine::Sweep;
use crate::error::{Error, Result};
use crate::grid::Axis;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Pack,
    /// Messages to all neighbours.
    Exchange,
    /// The same once more.
    Again,
    /// The last of them from every other rank to the next.
    OneWay,
    /// Sums of planes.
    Combine,
    /// Sweeps with interface values added.
    Complete,
    /// The same sweeps over lines as long that are whole.
    Whole,
    /// Sweeps along axes that are not cut.
    Uncut,
}

const PARTS: usize = 8;

/// Seconds of every [`Part`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seconds([f64; PARTS]);

impl Index<Part> for Seconds {
    type Output = f64;

    fn index(&self, part: Part) -> &f64 {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Seconds {
    fn index_mut(&mut self, part: Part) -> &mut f64 {
        &mut self.0[part as usize]
    }
}

/// What repeats are for, in turn, by the parts that count in them: whole lines, a step whose messages are exchanged twice, one
/// whose messages are exchanged and then sent one way, and a step, which comes behind what is like one.
const KINDS: [&[Part]; 4] = [
    &[Part::Whole, Part::Uncut],
    &[Part::Again],
    &[Part::OneWay],
    &[Part::Pack, Part::Exchange, Part::Combine, Part::Complete],
];

impl Probe<'_> {
    /// The blocks of all sweeps along `axes`, and the median times of every [`Part`] of all sweeps together: one after another,
    /// so that each finds in the caches what it finds there in a step; what is no part of a step in repeats of its own. No
    /// blocks where they are too short for any method but `transpose`. Collective.
    pub(super) fn blocks(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<(Vec<Block>, Seconds)> {
        let Self { place, points, comm, .. } = *self;
        let (backend, precision): (&dyn Backend, _) = (place, place.precision());
        let (whole, cut) = (problem.operators(points, precision), Cut::of(comm));
        let mut blocks = Vec::new();
        for sweep in problem.sweeps.iter().filter(|(axis, _)| axes.contains(axis)) {
            let joined = problem.operators(cut.whole(points, sweep.0), precision);
            blocks.push(Block::new(place, cut, sweep, points, &joined)?);
        }
        let joined = blocks.iter().all(Option::is_some);
        let mut blocks: Vec<Block> = blocks.into_iter().flatten().filter(|_| joined).collect();
        let program = |(axis, sweep): &(Axis, Sweep)| {
            let part = if joined && axes.contains(axis) { Part::Whole } else { Part::Uncut };
            Ok((part, place.program(sweep, *axis, points, &whole)?))
        };
        let programs = problem.sweeps.iter().map(program).collect::<Result<Vec<_>>>()?;
        let all: Vec<&Sweep> = problem.sweeps.iter().map(|(_, sweep)| sweep).collect();
        let mut arrays = Arrays::new(place, points.iter().product(), &all)?;
        let (read, mut write) = arrays.fields();
        let weights = || Weights::times(problem.beta);
        let mut times = [const { Vec::new() }; PARTS];
        let rounds = (0..WARM_UPS + self.repeats).flat_map(|round| KINDS.map(|kind| (round, kind)));
        for (round, counted) in rounds {
            let spent = backend.within(|| {
                let mut spent = Seconds::default();
                if counted.contains(&Part::Whole) {
                    for (part, program) in &programs {
                        comm.barrier();
                        let run = || place.run(program, &read, &mut write, weights());
                        spent[*part] += self.seconds(run)?;
                    }
                    return Ok(spent);
                }
                for Block { program, planes, steps, .. } in &mut blocks {
                    comm.barrier();
                    spent[Part::Pack] += self.seconds(|| {
                        (0..planes.len()).for_each(|stage| {
                            place.pack(program, stage, &read, &mut write, planes);
                        });
                    })?;
                    for (stage, step) in steps {
                        let planes = &mut planes[*stage];
                        match step {
                            Step::Combine(sums) => {
                                let combine = || place.combine(sums, planes);
                                spent[Part::Combine] += self.seconds(combine)?;
                            }
                            Step::Exchange(_) if comm.size() == 1 => {}
                            Step::Exchange(round) => {
                                let mut exchange =
                                    |one_way| self.exchange(round, one_way, planes, route);
                                spent[Part::Exchange] += exchange(false)?;
                                if counted.contains(&Part::Again) {
                                    spent[Part::Again] += exchange(false)?;
                                }
                                if counted.contains(&Part::OneWay) {
                                    spent[Part::OneWay] += exchange(true)?;
                                }
                            }
                        }
                    }
                    spent[Part::Complete] += self.seconds(|| {
                        place.complete(program, &read, &mut write, planes, weights());
                    })?;
                }
                Ok::<_, Error>(spent)
            });
            let mut spent = spent?;
            comm.max(&mut spent.0);
            if round >= WARM_UPS {
                counted.iter().for_each(|&part| times[part as usize].push(spent[part]));
            }
        }
        Ok((blocks, Seconds(times.map(|times| Times::new(times).median()))))
    }

    /// Seconds of a round of messages between `planes`: of all ranks at once, or `one_way`, its last message from every other
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
        // To the rank after this one, and from the one before.
        let last = |parts: &[ranks::Part], is: bool| parts.last().filter(|_| is).cloned();
        let half = Round {
            send: last(&round.send, rank % 2 == 0 && rank + 1 < comm.size()).into_iter().collect(),
            receive: last(&round.receive, rank % 2 == 1).into_iter().collect(),
        };
        let round = if one_way { &half } else { round };
        let start = address(place, route, planes, &mut staging);
        comm.barrier();
        // SAFETY: the values are those of planes, which stay until the messages were waited for.
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
