//! The parts of sweeps along cut axes, one after another as in a step.

use super::WARM_UPS;
use super::joined::{Block, Cut, Done};
use super::messages::address;
use super::parts::{Bench, Problem, Work};
use crate::backend::Weights;
use crate::backend::ranks::{self, Round, Route};
use crate::bench::measure::Times;
use crate::bench::place::Place;
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
    /// Sweeps with what inflow adds.
    Complete,
    /// The same sweeps over lines as long that are whole.
    Whole,
    /// Sweeps along axes that are not cut.
    Uncut,
}

const PARTS: usize = 8;

/// What a repeat is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Lines that are whole.
    Whole,
    /// What ranks do in a step, but messages exchanged twice.
    Again,
    /// The same, messages exchanged and then sent one way.
    OneWay,
    /// What ranks do in a step.
    Step,
}

impl Kind {
    /// What is timed in it.
    fn parts(self) -> &'static [Part] {
        match self {
            Kind::Whole => &[Part::Whole, Part::Uncut],
            Kind::Again => &[Part::Again],
            Kind::OneWay => &[Part::OneWay],
            Kind::Step => &[Part::Pack, Part::Exchange, Part::Combine, Part::Complete],
        }
    }
}

/// In turn; a step comes behind what is like one.
const KINDS: [Kind; 4] = [Kind::Whole, Kind::Again, Kind::OneWay, Kind::Step];

impl<P: Place> Bench<'_, P> {
    /// The blocks of all sweeps along `axes`, and the median times of every [`Part`] of all sweeps together: one after another,
    /// so that each finds in the caches what it finds there in a step; what is no part of a step in repeats of its own. No
    /// blocks where they are too short for any method but `transpose`. Collective.
    pub(super) fn blocks(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<(Vec<Block<P>>, [f64; PARTS])> {
        let Self { place, points, comm, .. } = *self;
        let (whole, cut) =
            (problem.operators(points, <P::Real as crate::Real>::PRECISION), Cut::of(comm));
        let mut blocks = Vec::new();
        for sweep in problem.sweeps.iter().filter(|(axis, _)| axes.contains(axis)) {
            let joined =
                problem.operators(cut.whole(points, sweep.0), <P::Real as crate::Real>::PRECISION);
            blocks.push(Block::new(place, cut, sweep, points, &joined)?);
        }
        let joined = blocks.iter().all(Option::is_some);
        let mut blocks: Vec<Block<P>> = blocks.into_iter().flatten().filter(|_| joined).collect();
        let program = |(axis, sweep): &(Axis, Sweep)| {
            let part = if joined && axes.contains(axis) { Part::Whole } else { Part::Uncut };
            Ok((part, place.program(sweep, *axis, points, &whole)?))
        };
        let programs = problem.sweeps.iter().map(program).collect::<Result<Vec<_>>>()?;
        let all: Vec<&Sweep> = problem.sweeps.iter().map(|(_, sweep)| sweep).collect();
        let mut work = Work::new(place, points.iter().product(), &all)?;
        let (read, mut write) = work.fields();
        let mut times = [const { Vec::new() }; PARTS];
        for (round, kind) in
            (0..WARM_UPS + self.repeats).flat_map(|round| KINDS.map(|kind| (round, kind)))
        {
            let spent = place.within(|| {
                let mut spent = [0.0; PARTS];
                if kind == Kind::Whole {
                    for (part, program) in &programs {
                        comm.barrier();
                        let run =
                            || place.run(program, &read, &mut write, Weights::times(problem.beta));
                        spent[*part as usize] += self.seconds(run)?;
                    }
                    return Ok(spent);
                }
                for Block { program, planes, steps, .. } in &mut blocks {
                    comm.barrier();
                    spent[Part::Pack as usize] += self.seconds(|| {
                        (0..planes.len()).for_each(|stage| {
                            place.pack(program, stage, &read, &mut write, planes)
                        });
                    })?;
                    for (stage, step) in steps {
                        self.step(step, kind, &mut planes[*stage], route, &mut spent)?;
                    }
                    spent[Part::Complete as usize] += self.seconds(|| {
                        place.complete(
                            program,
                            &read,
                            &mut write,
                            planes,
                            Weights::times(problem.beta),
                        );
                    })?;
                }
                Ok::<_, Error>(spent)
            });
            let mut spent = spent?;
            comm.max(&mut spent);
            if round >= WARM_UPS {
                kind.parts().iter().for_each(|&at| times[at as usize].push(spent[at as usize]));
            }
        }
        Ok((blocks, times.map(|times| Times::new(times).median())))
    }

    /// One step between packing and inflow. Collective.
    fn step(
        &self,
        step: &Done<P>,
        kind: Kind,
        planes: &mut P::Field,
        route: Route,
        spent: &mut [f64; PARTS],
    ) -> Result<()> {
        match step {
            Done::Sums(sums) => {
                spent[Part::Combine as usize] +=
                    self.seconds(|| self.place.combine(sums, planes))?;
            }
            Done::Messages(round) if self.comm.size() > 1 => {
                spent[Part::Exchange as usize] += self.exchange(round, false, planes, route)?;
                let (part, one_way) = match kind {
                    Kind::Again => (Part::Again, false),
                    Kind::OneWay => (Part::OneWay, true),
                    Kind::Step | Kind::Whole => return Ok(()),
                };
                spent[part as usize] += self.exchange(round, one_way, planes, route)?;
            }
            Done::Messages(_) => {}
        }
        Ok(())
    }

    /// Seconds of a round of messages between `planes`: of all ranks at once, or `one_way`, its last message from every other
    /// rank to the next. Collective.
    fn exchange(
        &self,
        round: &Round,
        one_way: bool,
        planes: &mut P::Field,
        route: Route,
    ) -> Result<f64> {
        let Self { place, comm, .. } = *self;
        let (rank, size) = (comm.rank(), size_of::<P::Real>());
        let staged = route == Route::Staged;
        let len = round.send.iter().chain(&round.receive).map(|part| part.values.end).max();
        let mut staging = place.staging(len.filter(|_| staged).unwrap_or(0));
        if staged {
            place.fetch(planes, 0, staging.as_mut())?;
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
            for part in &round.receive {
                let values = &staging.as_ref()[part.values.clone()];
                place.put(planes, part.values.start, values)?;
            }
            place.finish()?;
        }
        Ok(seconds)
    }
}
