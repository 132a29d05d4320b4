//! What a right-hand side takes on one rank without any message, part by part.

use std::time::Instant;

use super::WARM_UPS;
use super::joined::{Block, line_of_blocks};
use super::messages::{Ends, round as round_of};
use crate::backend::ranks::{Deal, Route};
use crate::bench::measure::{Times, interleaved, together};
use crate::bench::place::{Place, Setup};
use crate::bench::pool::{FEWEST, Pool, noise};
use crate::cases::Domain;
use crate::comm::Communicator;
use crate::engine::{LineOperators, Number, Sweep};
use crate::error::{Error, Result};
use crate::grid::{Axis, Grid};
use crate::real::Real;
use crate::scheme::SchemeFamily;

/// What a result is multiplied with before anything is added to it, as in 2N storage: it is read, too.
const BETA: f64 = 0.5;

/// Seconds and bytes a second, as [`Rates`](crate::model::Rates) has them, of smallest times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) copy: f64,
    pub(super) sweep: f64,
    pub(super) correct: f64,
    pub(super) pack: f64,
    pub(super) combine: f64,
    pub(super) deal: f64,
    pub(super) launch: f64,
    /// Bytes of messages to one neighbour, seconds of their exchanges, and number of these.
    pub(super) message: usize,
    pub(super) exchange: f64,
    pub(super) exchanges: usize,
    /// False where blocks are too short for any method but `transpose`: what these take is then not measured.
    pub(super) joined: bool,
}

/// The sweeps that are measured.
pub(super) struct Problem<'a> {
    pub(super) family: &'a SchemeFamily,
    pub(super) domain: &'a Domain,
    pub(super) sweeps: Vec<(Axis, Sweep)>,
}

impl Problem<'_> {
    fn operators<T: Real>(&self, points: [usize; 3]) -> LineOperators<T> {
        LineOperators::new(self.family, None, &Grid::periodic(points, self.domain))
    }

    fn along(&self, axis: Axis) -> impl Iterator<Item = &(Axis, Sweep)> {
        self.sweeps.iter().filter(move |(along, _)| *along == axis)
    }
}

/// Where and how often it is measured.
pub(super) struct Bench<'a, P: Place> {
    pub(super) setup: &'a Setup,
    pub(super) place: &'a P,
    pub(super) comm: &'a dyn Communicator,
    /// Points of a rank.
    pub(super) points: [usize; 3],
    pub(super) repeats: u32,
}

/// Sweeps with the arrays that they work on.
struct Work<P: Place> {
    read: Vec<P::Field>,
    write: Vec<P::Field>,
}

impl<P: Place> Work<P> {
    fn new(place: &P, len: usize, sweeps: &[&Sweep]) -> Result<Self> {
        let most =
            |of: fn(&Sweep) -> usize| sweeps.iter().map(|sweep| of(sweep)).max().unwrap_or(0);
        let read = (0..most(Sweep::fields_read)).map(|seed| place.field(noise(len, seed)));
        let write = (0..most(Sweep::fields_written)).map(|_| place.zeros(len));
        Ok(Self { read: read.collect::<Result<_>>()?, write: write.collect::<Result<_>>()? })
    }

    fn fields(&mut self) -> (Vec<&P::Field>, Vec<&mut P::Field>) {
        (self.read.iter().collect(), self.write.iter_mut().collect())
    }
}

impl<P: Place> Bench<'_, P> {
    /// The parts of `problem`, where lines along `axes` are cut into blocks. Collective.
    #[allow(clippy::cast_precision_loss, reason = "points and bytes of one rank")]
    pub(super) fn parts(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<Parts> {
        let size = size_of::<P::Real>();
        let copy = self.copy()?;
        let (launch, sweep) = (self.launch(problem, axes)?, self.sweeps(problem)?);
        let of = |bytes: usize, seconds: f64, launches: usize| {
            // Where there is little work the launches are most of it, and noise the rest.
            let own = (seconds - launches as f64 * launch).max(0.25 * seconds);
            bytes as f64 / own
        };
        let deal = self.deal(axes)?;
        let mut parts = Parts {
            copy,
            sweep,
            correct: 2.0 * size as f64 / copy,
            pack: copy,
            combine: copy,
            deal,
            launch,
            message: 0,
            exchange: 0.0,
            exchanges: 0,
            joined: false,
        };
        let (blocks, [pack, exchange, combine, complete, whole]) =
            self.blocks(problem, axes, route)?;
        if blocks.is_empty() {
            return Ok(parts);
        }
        let sum = |of: fn(&Block<P>) -> usize| blocks.iter().map(of).sum::<usize>();
        parts.exchange = exchange;
        parts.exchanges = blocks.len();
        parts.joined = true;
        parts.message = size * sum(|block| block.message);
        parts.correct = (complete - whole).max(0.0) / sum(|block| block.corrected) as f64;
        parts.pack = of(size * sum(|block| block.packed), pack, sum(|block| block.operands));
        let combinations = sum(|block| block.combinations.len());
        parts.combine = of(size * sum(|block| block.combined), combine, combinations);
        Ok(parts)
    }

    fn min(&self, work: impl FnMut() + Send) -> Result<f64> {
        Ok(self.times(vec![Box::new(work)])?[0].min())
    }

    /// Times of several parts, taken in turn.
    fn times(&self, work: Vec<Box<dyn FnMut() + Send + '_>>) -> Result<Vec<Times>> {
        let nothing = Box::new(|| Ok(0.0));
        let parts = work.into_iter().map(|work| together(self.place, self.comm, work)).collect();
        Ok(interleaved(self.repeats, nothing, parts)?.1)
    }

    /// Bytes a second of a copy.
    #[allow(clippy::cast_precision_loss, reason = "bytes of one field")]
    fn copy(&self) -> Result<f64> {
        let (place, len) = (self.place, self.points.iter().product());
        let copier = place.copier()?;
        let Pool { sources, mut results, .. } = Pool::new(place, len, FEWEST)?;
        let mut turn = 0;
        let seconds = self.min(|| {
            turn = (turn + 1) % sources.len();
            place.negated(&copier, &sources[turn], &mut results[turn]);
        })?;
        Ok((2 * len * size_of::<P::Real>()) as f64 / seconds)
    }

    /// Seconds a point and operand of all sweeps over whole lines.
    #[allow(clippy::cast_precision_loss, reason = "points of one rank")]
    fn sweeps(&self, problem: &Problem<'_>) -> Result<f64> {
        let Self { place, points, .. } = *self;
        let operators = problem.operators(points);
        let program =
            |(axis, sweep): &(Axis, Sweep)| place.program(sweep, *axis, points, &operators);
        let programs = problem.sweeps.iter().map(program).collect::<Result<Vec<_>>>()?;
        let all: Vec<&Sweep> = problem.sweeps.iter().map(|(_, sweep)| sweep).collect();
        let len: usize = points.iter().product();
        let mut work = Work::new(place, len, &all)?;
        let operands: usize = all.iter().map(|sweep| sweep.solves()).sum();
        let (read, mut write) = work.fields();
        let seconds = self.min(|| {
            for program in &programs {
                place.run(program, &read, &mut write, BETA, 1.0);
            }
        })?;
        Ok(seconds / (operands * len) as f64)
    }

    /// The blocks of all sweeps along `axes`, and the smallest times of all of them together: packed, messages as long as
    /// theirs exchanged, sums of planes, with what inflow adds, and over whole lines as long. One after another, so that each
    /// finds in the caches what it finds there in a step.
    fn blocks(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<(Vec<Block<P>>, [f64; 5])> {
        let Self { place, points, comm, .. } = *self;
        let whole = problem.operators(points);
        let mut blocks = Vec::new();
        let (mut programs, mut all) = (Vec::new(), Vec::new());
        for &axis in axes {
            let joined = problem.operators(line_of_blocks(points, axis));
            for sweep in problem.along(axis) {
                let Some(block) = Block::new(place, sweep, points, &joined)? else {
                    return Ok((Vec::new(), [0.0; 5]));
                };
                blocks.push(block);
                programs.push(place.program(&sweep.1, axis, points, &whole)?);
                all.push(&sweep.1);
            }
        }
        let size = size_of::<P::Real>();
        let most = blocks.iter().map(|block| block.message).max().unwrap_or(0);
        let mut ends = Ends::new(place, 2 * most * size)?;
        let mut work = Work::new(place, points.iter().product(), &all)?;
        let (read, mut write) = work.fields();
        let mut times = [const { Vec::new() }; 5];
        for round in 0..WARM_UPS + self.repeats {
            let spent = place.within(|| {
                let mut spent = [0.0; 5];
                for (block, program) in blocks.iter_mut().zip(&programs) {
                    let Block { program: joined, planes, combinations, incoming, message, .. } =
                        block;
                    comm.barrier();
                    spent[0] += self.seconds(|| {
                        (0..planes.len())
                            .for_each(|stage| place.pack(joined, stage, &read, &mut write, planes));
                    })?;
                    if comm.size() > 1 {
                        ends.fill(2 * *message * size);
                        let at = ends.addresses(place, route);
                        comm.barrier();
                        spent[1] +=
                            self.seconds(|| comm.wait(round_of(comm, at, *message * size, 0)))?;
                    }
                    // As they come in a message, which leaves them in the caches.
                    for (stage, values) in incoming {
                        let came = vec![P::Real::of(1.0); values.len()];
                        place.put(&mut planes[*stage], values.start, &came)?;
                    }
                    place.finish()?;
                    spent[2] += self.seconds(|| {
                        combinations
                            .iter()
                            .for_each(|(stage, sums)| place.combine(sums, &mut planes[*stage]));
                    })?;
                    spent[3] += self.seconds(|| {
                        place.complete(joined, &read, &mut write, planes, BETA, 1.0);
                    })?;
                    comm.barrier();
                    spent[4] +=
                        self.seconds(|| place.run(program, &read, &mut write, BETA, 1.0))?;
                }
                Ok::<_, Error>(spent)
            });
            let mut spent = spent?;
            comm.max(&mut spent);
            if round >= WARM_UPS {
                times.iter_mut().zip(spent).for_each(|(times, seconds)| times.push(seconds));
            }
        }
        Ok((blocks, times.map(|times| Times::new(times).min())))
    }

    /// Of `work` on this rank, to its end.
    fn seconds(&self, work: impl FnOnce()) -> Result<f64> {
        let start = Instant::now();
        work();
        self.place.finish()?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Bytes a second, read plus written, of lines along `axes` that are dealt out and collected.
    #[allow(clippy::cast_precision_loss, reason = "bytes of a few fields")]
    fn deal(&self, axes: &[Axis]) -> Result<f64> {
        const FIELDS: usize = 5;
        let Self { place, points, .. } = *self;
        let len: usize = points.iter().product();
        let parts = self.comm.size().max(2);
        let deal = |axis: &Axis| Deal { points, axis: *axis, parts, fields: FIELDS };
        let deals: Vec<Deal> = axes.iter().map(deal).collect();
        let mut fields =
            (0..FIELDS).map(|seed| place.field(noise(len, seed))).collect::<Result<Vec<_>>>()?;
        let mut shares = place.planes(FIELDS * len)?;
        let seconds = self.min(|| {
            for deal in &deals {
                for (at, field) in fields.iter().enumerate() {
                    place.deal(deal, at, field, &mut shares);
                }
                for (at, field) in fields.iter_mut().enumerate() {
                    place.collect(deal, at, &shares, field);
                }
            }
        })?;
        Ok((4 * FIELDS * len * deals.len() * size_of::<P::Real>()) as f64 / seconds)
    }

    /// Seconds an operand of packing next to nothing.
    #[allow(clippy::cast_precision_loss, reason = "a number of operands")]
    fn launch(&self, problem: &Problem<'_>, axes: &[Axis]) -> Result<f64> {
        let axis = axes.first().copied().unwrap_or(Axis::Z);
        let mut points = [1; 3];
        points[axis.index()] = self.points[axis.index()];
        let place = &P::at(self.setup, points[axis.index()], None)?;
        let operators = problem.operators(line_of_blocks(points, axis));
        let (mut blocks, mut all) = (Vec::new(), Vec::new());
        for sweep in problem.along(axis) {
            let Some(block) = Block::new(place, sweep, points, &operators)? else { return Ok(0.0) };
            blocks.push(block);
            all.push(&sweep.1);
        }
        let operands: usize = blocks.iter().map(|block| block.operands).sum();
        let mut work = Work::new(place, points.iter().product(), &all)?;
        let (read, mut write) = work.fields();
        let tiny = || {
            for Block { program, planes, .. } in &mut blocks {
                for stage in 0..planes.len() {
                    place.pack(program, stage, &read, &mut write, planes);
                }
            }
        };
        let nothing = Box::new(|| Ok(0.0));
        let parts = vec![together(place, self.comm, tiny)];
        let times = interleaved(self.repeats, nothing, parts)?.1;
        Ok(times[0].min() / operands as f64)
    }
}
