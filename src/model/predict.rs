//! From counted work and rates to seconds.

use std::sync::Arc;

use super::line::{Line, Problem, Seconds};
use super::network::{Network, Paths};
use super::sweeping::Lines;
use super::work::Lists;
use super::{Rates, Sweeping, Work};
use crate::backend::ranks::{Phase, PhaseTimes};

/// Predicted step of the rank that ends last, in seconds unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// The whole step.
    pub step_seconds: f64,
    /// Sweeps: [`Phase::Local`].
    pub local: f64,
    /// Packing: `Phase::Pack`.
    pub pack: f64,
    /// Posting messages and waiting for them, without overlap with other work.
    pub communicate: f64,
    /// Its part along x, on the rank that waits longest there; see also `communicate_y` and `communicate_z`.
    pub communicate_x: f64,
    /// See `communicate_x`.
    pub communicate_y: f64,
    /// See `communicate_x`.
    pub communicate_z: f64,
    /// The part of `communicate` that is not hidden behind the sweeps of other axes: `Phase::Communicate`.
    pub exposed: f64,
    /// Matrices between messages: `Phase::Reduced`.
    pub reduced: f64,
    /// All phases, each on the rank that takes longest in it, without work that overlaps with messages.
    #[serde(skip)]
    pub slowest: PhaseTimes,
    /// Pointwise work outside of sweeps.
    pub pointwise: f64,
    /// Reductions over all ranks.
    pub reductions: f64,
    /// Bytes that the busiest rank sends.
    pub bytes: f64,
    /// Number of its messages.
    pub messages: f64,
    /// Planes, each one value per line, that it sends in one right-hand side.
    pub planes: usize,
}

impl Prediction {
    /// The parts of the messages along x, y and z.
    pub(crate) fn communicate_along(&self) -> [f64; 3] {
        [self.communicate_x, self.communicate_y, self.communicate_z]
    }
}

/// Predict a step of `work` on ranks with these `rates`, connected by `network`.
pub fn predict(work: &Work, rates: &Rates, network: Network) -> Prediction {
    let model = |hides| Model { work, rates, network, hides };
    let (hidden, bare) = (model(true).sweeps(), model(false).sweeps());
    let [pointwise, reductions] = model(true).beside_sweeps();
    let [communicate_x, communicate_y, communicate_z] = bare.along;
    let mut prediction = Prediction {
        step_seconds: hidden.all + pointwise + reductions,
        local: hidden.last.of(Phase::Local),
        pack: hidden.last.of(Phase::Pack),
        communicate: bare.waited(),
        communicate_x,
        communicate_y,
        communicate_z,
        exposed: hidden.waited(),
        reduced: hidden.last.of(Phase::Reduced),
        slowest: bare.most,
        pointwise,
        reductions,
        ..Prediction::default()
    };
    // The first block is one of the largest; another rank may send more if the first or last one has neighbours on only one side.
    let middle = work.decomposition.rank(work.decomposition.ranks.map(|ranks| ranks / 2));
    for rank in [0, work.decomposition.size() - 1, middle] {
        let ((sent, planes), (filter, _)) = (work.sent(rank), work.sent_by_filter(rank));
        let step = |stage: u64, filter: u64| {
            work.stages as f64 * stage as f64 + work.filterings * filter as f64
        };
        prediction.bytes = prediction.bytes.max(step(sent.bytes, filter.bytes));
        prediction.messages = prediction.messages.max(step(sent.messages, filter.messages));
        prediction.planes = prediction.planes.max(planes);
    }
    prediction
}

/// Only the [`Prediction::step_seconds`].
pub(super) fn step_seconds(work: &Work, rates: &Rates, network: Network) -> f64 {
    let model = Model { work, rates, network, hides: true };
    let [pointwise, reductions] = model.beside_sweeps();
    model.sweeps().all + pointwise + reductions
}

/// A step of some work on a machine.
struct Model<'a> {
    work: &'a Work,
    rates: &'a Rates,
    network: Network,
    /// Whether there is work between posting the first messages and waiting for them.
    hides: bool,
}

impl Model<'_> {
    /// Times of all sweeps of a step.
    fn sweeps(&self) -> Seconds {
        let all = |lists: &Lists| {
            lists.iter().map(|list| self.list(list)).fold(Seconds::default(), Seconds::plus)
        };
        let stages = all(&self.work.right_hand_side).times(self.work.stages as f64);
        stages.plus(all(&self.work.filter).times(self.work.filterings))
    }

    /// Seconds of a step outside of sweeps: pointwise work, and reductions.
    fn beside_sweeps(&self) -> [f64; 2] {
        let Work { decomposition, words, value, reductions, .. } = *self.work;
        let pointwise = (words * value * self.block_len()) as f64 / self.rates.copy;
        // A reduction is a tree of messages: log₂ P levels.
        let steps = (decomposition.size() as f64).log2();
        [pointwise, reductions as f64 * self.rates.reduction * steps]
    }

    /// A list of sweeps, in the order of `Ranks::run_all`: the first messages along every axis are posted before the sweeps. All
    /// ranks continue to the next axis when the last one has finished.
    fn list(&self, list: &[Arc<Sweeping>]) -> Seconds {
        let mut total = Seconds::default();
        let mut link = 0.0;
        let mut begun = Vec::new();
        let finish = |line: &mut Line, axis, total: &mut Seconds| {
            *total = total.plus(line.finish(total.all).along(axis));
        };
        for sweeping in list {
            if let Some(mut line) = self.line(sweeping, [total.all, link]) {
                [total.all, link] = line.begin();
                match self.hides {
                    true => begun.push(line),
                    false => finish(&mut line, sweeping.axis, &mut total),
                }
            }
        }
        let mut begun = begun.iter_mut();
        for sweeping in list {
            match &sweeping.lines {
                Lines::Whole => {
                    let mut spent = PhaseTimes::default();
                    spent.0[Phase::Local as usize] = self.whole_lines(sweeping);
                    total = total.plus(Seconds::alike(spent, 0.0));
                }
                Lines::Transposed { transfers, words } => {
                    total = total
                        .plus(self.transposed(sweeping, transfers, *words).along(sweeping.axis));
                }
                Lines::Blocks { .. } => {
                    let mut end = |line| finish(line, sweeping.axis, &mut total);
                    begun.next().into_iter().for_each(&mut end);
                }
            }
        }
        total
    }

    /// The ranks on a line that is cut into blocks, from a starting time and the time when links are free.
    fn line<'a>(&'a self, sweeping: &'a Sweeping, start_and_link: [f64; 2]) -> Option<Line<'a>> {
        let Lines::Blocks { method, plans, plan_of } = &sweeping.lines else { return None };
        let points = self.work.decomposition.block(0, self.work.points).points;
        let across = (0..3).filter(|a| *a != sweeping.axis.index()).map(|a| points[a]);
        let problem = Problem {
            rates: self.rates,
            paths: self.paths(sweeping),
            method: *method,
            lengths: &sweeping.lengths,
            plans,
            plan_of,
            across: across.product::<usize>() as f64,
            value: self.work.value as f64,
        };
        Some(Line::new(problem, start_and_link))
    }

    fn paths(&self, sweeping: &Sweeping) -> Paths {
        self.network.paths(sweeping.axis.index(), self.work.decomposition.ranks)
    }

    /// Points of the largest block.
    fn block_len(&self) -> usize {
        self.work.decomposition.block(0, self.work.points).len()
    }

    fn whole_lines(&self, sweeping: &Sweeping) -> f64 {
        let points = self.block_len() as f64;
        sweeping.operands as f64 * (self.rates.sweep * points + self.rates.launch)
    }

    fn transposed(&self, sweeping: &Sweeping, transfers: &[usize], words: usize) -> Seconds {
        let Rates { latency, overhead, all_to_all, deal, launch, staging, .. } = *self.rates;
        let paths = self.paths(sweeping);
        let parts = sweeping.lengths.len() as f64;
        let field = (self.block_len() * self.work.value) as f64;
        let (mut pack, mut waited) = (0.0, 0.0);
        for fields in transfers.iter().map(|fields| *fields as f64) {
            // Dealing out and collecting: each field is read and written once.
            pack += 2.0 * fields * (2.0 * field / deal + launch);
            let leaving = fields * field * (parts - 1.0) / parts;
            // The staged copy contains all shares, including the rank's own.
            let staged = staging.map_or(0.0, |rate| 2.0 * fields * field / rate);
            let one = 2.0 * (parts - 1.0) * overhead
                + latency
                + paths.farthest()
                + leaving / all_to_all * paths.all_to_all()
                + staged;
            waited += 2.0 * one;
        }
        let mut spent = PhaseTimes::default();
        let stored = words as f64 * field / self.rates.copy;
        spent.0[Phase::Local as usize] = self.whole_lines(sweeping) + stored;
        spent.0[Phase::Pack as usize] = pack;
        Seconds::alike(spent, waited)
    }
}
