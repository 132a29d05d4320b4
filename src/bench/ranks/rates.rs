//! Measures the rates of the model on the machine whose steps it predicts: typical times of ranks that wait for each other.

use super::Probe;
use super::block::{Block, Step};
use super::blocks::{COMBINE, COMPLETE, PACK, UNSPLIT, WHOLE_LINES};
use super::messages::Traffic;
use super::transfers::Transfers;
use crate::backend::ranks::Route;
use crate::backend::{Backend, Field};
use crate::bench::measure::{collective, interleaved};
use crate::bench::pool::noise;
use crate::cases::Domain;
use crate::comm::host;
use crate::config::Config;
use crate::engine::{LineOperators, Sweep};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::model::Rates;
use crate::physics::StepParts;
use crate::real::Precision;
use crate::scheme::SchemeFamily;

/// The sweeps that are measured.
pub(super) struct Problem<'a> {
    pub(super) family: &'a SchemeFamily,
    pub(super) domain: &'a Domain,
    pub(super) sweeps: Vec<(Axis, Sweep)>,
    /// Factor of the previous result: if it is not 0, the result is also read.
    pub(super) beta: f64,
}

impl<'a> Problem<'a> {
    /// All sweeps of a right-hand side of `config`, on `points` points per rank.
    pub(super) fn right_hand_side(config: &'a Config, points: [usize; 3]) -> Self {
        let (family, domain) = (&config.scheme.derivative, &config.grid.domain);
        let parts = StepParts::new(&config.problem(), &config.unmapped_grid(points), |_| false);
        let sweeps = parts.right_hand_side.into_iter().flatten().collect();
        // As in 2N storage.
        Self { family, domain, sweeps, beta: 0.5 }
    }

    pub(super) fn operators(&self, points: [usize; 3], precision: Precision) -> LineOperators {
        LineOperators::new(self.family, None, &Grid::periodic(points, self.domain), precision)
    }

    /// Whether all operators exist on whole lines of this many points.
    pub(super) fn fits(&self, points: [usize; 3]) -> bool {
        let operators = self.operators(points, Precision::F64);
        self.sweeps.iter().all(|(axis, sweep)| {
            sweep.operators().into_iter().all(|op| operators.find(*axis, op).is_some())
        })
    }
}

/// Arrays that sweeps read, and arrays that they write.
pub(super) fn arrays(
    place: &dyn Backend,
    len: usize,
    sweeps: &[&Sweep],
) -> Result<[Vec<Field>; 2]> {
    let max_of = |of: fn(&Sweep) -> usize| sweeps.iter().map(|sweep| of(sweep)).max().unwrap_or(0);
    let field = |seed| place.field(&noise(place.precision(), len, seed));
    let read = (0..max_of(Sweep::fields_read)).map(field);
    let write = (0..max_of(Sweep::fields_written)).map(|_| place.zeros(len));
    Ok([read.collect::<Result<_>>()?, write.collect::<Result<_>>()?])
}

impl Probe<'_> {
    /// The rates of the ranks when all of them work, for `problem` with lines along `axes` split into blocks. One rank exchanges
    /// no messages: its rates contain a bandwidth that is not used. Collective.
    pub(super) fn rates(
        &self,
        problem: &Problem<'_>,
        axes: &[Axis],
        route: Route,
    ) -> Result<Rates> {
        let (size, len) = (self.place.precision().bytes(), self.points.iter().product::<usize>());
        let launch = self.launch(problem, axes)?;
        let transfers = self.transfers(axes, route)?;
        let Transfers { deal, copy, .. } = transfers;
        let (blocks, seconds) = self.time_blocks(problem, axes, route)?;
        let whole = seconds[WHOLE_LINES];
        let operands: usize = problem.sweeps.iter().map(|(_, sweep)| sweep.solves()).sum();
        let mut rates = Rates {
            source: self.source(),
            latency: 0.0,
            overhead: 0.0,
            bandwidth: copy,
            again: copy,
            one_way: copy,
            all_to_all: copy,
            staging: None,
            copy,
            sweep: (whole + seconds[UNSPLIT]) / (operands * len) as f64,
            correct: 2.0 * size as f64 / copy,
            pack: copy,
            combine: copy,
            deal,
            launch,
            reduction: 0.0,
            progress: 0.0,
        };
        let mut traffic = Traffic { rounds: 0, bytes_sent: 0, seconds, transfers };
        if !blocks.is_empty() {
            let sum = |of: fn(&Block) -> usize| blocks.iter().map(of).sum::<usize>();
            let rate = |values: usize, seconds: f64, launches: usize| {
                // With little work the time is mostly launches, and the rest is noise.
                let own = (seconds - launches as f64 * launch).max(0.25 * seconds);
                (size * values) as f64 / own
            };
            let is_sums = |(_, step): &&(usize, Step)| matches!(step, Step::Combine(_));
            let sums = blocks.iter().flat_map(|block| &block.steps).filter(is_sums).count();
            let added = (seconds[COMPLETE] - whole).max(0.0);
            rates.correct = added / sum(|block| block.corrected) as f64;
            let operands = sum(|block| block.operands);
            rates.pack = rate(sum(|block| block.packed), seconds[PACK], operands);
            rates.combine = rate(sum(|block| block.combined), seconds[COMBINE], sums);
            traffic.bytes_sent = size * sum(|block| block.values_sent);
            traffic.rounds = sum(|block| block.steps.len()) - sums;
        } else if self.comm.size() > 1 {
            rates.source += "; blocks are too short for any method but `transpose`: `correct`, `pack` and `combine` are the rate of a copy";
        }
        self.messages(&traffic, route, &mut rates)?;
        Ok(rates)
    }

    fn source(&self) -> String {
        let ([x, y, z], place) = (self.points, self.place);
        let here = place.device_name().unwrap_or_else(|| format!("{} threads", place.threads()));
        format!(
            "measured with {} ranks, {here} each, {x} x {y} x {z} points per rank, rank 0 on {}",
            self.comm.size(),
            host()
        )
    }

    /// Seconds per operand of packing a minimal amount of data.
    fn launch(&self, problem: &Problem<'_>, axes: &[Axis]) -> Result<f64> {
        let axis = axes.first().copied().unwrap_or(Axis::Z);
        let mut points = [1; 3];
        points[axis.index()] = self.points[axis.index()];
        let place = &*self.setup.place(points[axis.index()], None)?;
        let mut blocks = self.split_blocks(place, problem, &[axis], points)?;
        if blocks.is_empty() {
            return Ok(0.0);
        }
        let all = problem.sweeps.iter().filter(|(along, _)| *along == axis);
        let all: Vec<&Sweep> = all.map(|(_, sweep)| sweep).collect();
        let operands: usize = blocks.iter().map(|block| block.operands).sum();
        let [read, write] = &mut arrays(place, points.iter().product(), &all)?;
        let read: Vec<&Field> = read.iter().collect();
        let mut write: Vec<&mut Field> = write.iter_mut().collect();
        let tiny = || {
            for Block { program, planes, .. } in &mut blocks {
                for stage in 0..planes.len() {
                    place.pack(program, stage, &read, &mut write, planes);
                }
            }
        };
        let nothing = Box::new(|| Ok(0.0));
        let parts = vec![collective(place, self.comm, tiny)];
        let times = interleaved(self.repeats, nothing, parts)?.1;
        Ok(times[0].median() / operands as f64)
    }
}
