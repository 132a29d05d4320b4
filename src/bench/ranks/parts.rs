//! What a right-hand side takes on one rank without any message, part by part.

use std::time::Instant;

use super::blocks::Part;
use super::joined::{Block, Cut, Done};
use super::transfers::Transfers;
use crate::backend::ranks::Route;
use crate::bench::measure::{interleaved, together};
use crate::bench::place::{Place, Setup};
use crate::bench::pool::noise;
use crate::cases::Domain;
use crate::comm::Communicator;
use crate::config::Config;
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::physics::StepParts;
use crate::scheme::SchemeFamily;

/// Seconds and bytes a second, as [`Rates`](crate::model::Rates) has them, of median times: what ranks typically take that wait for each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) copy: f64,
    pub(super) sweep: f64,
    pub(super) correct: f64,
    pub(super) pack: f64,
    pub(super) combine: f64,
    pub(super) deal: f64,
    pub(super) launch: f64,
    /// Bytes that leave in rounds with both neighbours, the number of rounds, and seconds: of them, of the same once more, and
    /// of the last of their messages where every other rank sends and the next receives.
    pub(super) leaving: usize,
    pub(super) rounds: usize,
    pub(super) exchange: f64,
    pub(super) again: f64,
    pub(super) one_way: f64,
    /// Bytes that leave in all-to-alls, number of these, and their seconds.
    pub(super) travelling: usize,
    pub(super) transfers: usize,
    pub(super) all_to_all: f64,
    /// False where blocks are too short for any method but `transpose`: what these take is then not measured.
    pub(super) joined: bool,
}

/// The sweeps that are measured.
pub(super) struct Problem<'a> {
    pub(super) family: &'a SchemeFamily,
    pub(super) domain: &'a Domain,
    pub(super) sweeps: Vec<(Axis, Sweep)>,
    /// What a result is multiplied with before anything is added to it: where it is not 0, the result is read, too.
    pub(super) beta: f64,
}

impl<'a> Problem<'a> {
    /// All sweeps of a right-hand side of `config`, on `points` points a rank.
    pub(super) fn right_hand_side(config: &'a Config, points: [usize; 3]) -> Self {
        let (family, domain) = (&config.scheme.derivative, &config.grid.domain);
        let parts = StepParts::new(config, &Grid::periodic(points, domain), |_| false);
        let sweeps = parts.right_hand_side.into_iter().flatten().collect();
        // As in 2N storage.
        Self { family, domain, sweeps, beta: 0.5 }
    }

    pub(super) fn operators(
        &self,
        points: [usize; 3],
        precision: crate::Precision,
    ) -> LineOperators {
        LineOperators::new(self.family, None, &Grid::periodic(points, self.domain), precision)
    }

    /// Whether whole lines of as many points have all operators.
    pub(super) fn fits(&self, points: [usize; 3], precision: crate::Precision) -> bool {
        let operators = self.operators(points, precision);
        let mut applied = self.sweeps.iter().flat_map(|(axis, sweep)| {
            sweep.stages().into_iter().flatten().map(move |(op, ..)| (*axis, op))
        });
        applied.all(|(axis, op)| operators.find(axis, op).is_some())
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
pub(super) struct Work<P: Place> {
    read: Vec<P::Field>,
    write: Vec<P::Field>,
}

impl<P: Place> Work<P> {
    pub(super) fn new(place: &P, len: usize, sweeps: &[&Sweep]) -> Result<Self> {
        let most =
            |of: fn(&Sweep) -> usize| sweeps.iter().map(|sweep| of(sweep)).max().unwrap_or(0);
        let read = (0..most(Sweep::fields_read)).map(|seed| place.field(noise(len, seed)));
        let write = (0..most(Sweep::fields_written)).map(|_| place.zeros(len));
        Ok(Self { read: read.collect::<Result<_>>()?, write: write.collect::<Result<_>>()? })
    }

    pub(super) fn fields(&mut self) -> (Vec<&P::Field>, Vec<&mut P::Field>) {
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
        let launch = self.launch(problem, axes)?;
        let of = |bytes: usize, seconds: f64, launches: usize| {
            // Where there is little work the launches are most of it, and noise the rest.
            let own = (seconds - launches as f64 * launch).max(0.25 * seconds);
            bytes as f64 / own
        };
        let Transfers { deal, copy, travelling, all_to_all } = self.transfers(axes, route)?;
        let (blocks, times) = self.blocks(problem, axes, route)?;
        let of_block = |part: Part| times[part as usize];
        let operands: usize = problem.sweeps.iter().map(|(_, sweep)| sweep.solves()).sum();
        let len: usize = self.points.iter().product();
        let whole = of_block(Part::Whole);
        let mut parts = Parts {
            copy,
            sweep: (whole + of_block(Part::Uncut)) / (operands * len) as f64,
            correct: 2.0 * size as f64 / copy,
            pack: copy,
            combine: copy,
            deal,
            launch,
            leaving: 0,
            rounds: 0,
            exchange: of_block(Part::Exchange),
            again: of_block(Part::Again),
            one_way: of_block(Part::OneWay),
            travelling,
            transfers: axes.len(),
            all_to_all,
            joined: !blocks.is_empty(),
        };
        if blocks.is_empty() {
            return Ok(parts);
        }
        let sum = |of: fn(&Block<P>) -> usize| blocks.iter().map(of).sum::<usize>();
        let added = (of_block(Part::Complete) - whole).max(0.0);
        parts.correct = added / sum(|block| block.corrected) as f64;
        let packed = size * sum(|block| block.packed);
        parts.pack = of(packed, of_block(Part::Pack), sum(|block| block.operands));
        let is_sums = |done: &Done<P>| matches!(done, Done::Sums(_));
        let combinations = blocks.iter().flat_map(|block| &block.steps);
        let combinations = combinations.filter(|(_, done)| is_sums(done)).count();
        let combined = size * sum(|block| block.combined);
        parts.combine = of(combined, of_block(Part::Combine), combinations);
        parts.leaving = size * sum(|block| block.leaving);
        parts.rounds = sum(|block| block.steps.len()) - combinations;
        Ok(parts)
    }

    /// Of `work` on this rank, to its end.
    pub(super) fn seconds(&self, work: impl FnOnce()) -> Result<f64> {
        let start = Instant::now();
        work();
        self.place.finish()?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Seconds an operand of packing next to nothing.
    #[allow(clippy::cast_precision_loss, reason = "a number of operands")]
    fn launch(&self, problem: &Problem<'_>, axes: &[Axis]) -> Result<f64> {
        let axis = axes.first().copied().unwrap_or(Axis::Z);
        let mut points = [1; 3];
        points[axis.index()] = self.points[axis.index()];
        let place = &P::at(self.setup, points[axis.index()], None)?;
        let cut = Cut::of(self.comm);
        let operators =
            problem.operators(cut.whole(points, axis), <P::Real as crate::Real>::PRECISION);
        let (mut blocks, mut all) = (Vec::new(), Vec::new());
        for sweep in problem.along(axis) {
            let Some(block) = Block::new(place, cut, sweep, points, &operators)? else {
                return Ok(0.0);
            };
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
        Ok(times[0].median() / operands as f64)
    }
}
