//! From counted work and rates to seconds.

use std::sync::Arc;

use super::line::{Ended, Line, Spent};
use super::network::{Network, Paths};
use super::sweeping::Lines;
use super::{Rates, Sweeping, Work};
use crate::backend::ranks::PhaseTimes;

/// A step on the rank that ends last, in seconds unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// The whole step.
    pub step_seconds: f64,
    /// Sweeps: [`Phase::Local`](crate::backend::ranks::Phase).
    pub local: f64,
    /// Packing: `Phase::Pack`.
    pub pack: f64,
    /// Posting messages and waiting for them, with nothing else to do meanwhile.
    pub communicate: f64,
    /// What is left of that behind the sweeps of other axes: `Phase::Communicate`.
    pub exposed: f64,
    /// Matrices between messages: `Phase::Reduced`.
    pub reduced: f64,
    /// All phases, each on the rank that takes longest in it, with nothing else to do while messages are under way.
    #[serde(skip)]
    pub slowest: PhaseTimes,
    /// Work point by point outside of sweeps.
    pub pointwise: f64,
    /// Reductions over all ranks.
    pub reductions: f64,
    /// Bytes that the busiest rank sends.
    pub bytes: f64,
    /// Its messages.
    pub messages: f64,
    /// Planes, each a value a line, that it sends in one right-hand side.
    pub planes: usize,
}

/// A step of `work` on ranks that are as fast as `rates`, and connected by `network`.
#[allow(clippy::cast_precision_loss, reason = "counts of one rank and step")]
pub fn predict(work: &Work, rates: &Rates, network: Network) -> Prediction {
    let ranks = work.decomposition.size();
    let step = |hidden| {
        let together = Together { work, rates, network, hidden };
        in_a_step(work, |list| together.time(list))
    };
    let (seconds, alone) = (step(true), step(false));
    // The first block is among the largest; another rank may send more where the first or last has neighbours on one side.
    let corners = [0, ranks - 1, busiest(work)];
    let sent = corners.map(|rank| {
        let ((sent, planes), (by_filter, _)) = (work.sent(rank), work.sent_by_filter(rank));
        let step = |stage: u64, filter: u64| {
            work.stages as f64 * stage as f64 + work.filterings * filter as f64
        };
        let bytes = step(sent.bytes, by_filter.bytes);
        (bytes, step(sent.messages, by_filter.messages), planes)
    });
    let [bytes, messages] = [0, 1].map(|which| {
        sent.iter().map(|sent| if which == 0 { sent.0 } else { sent.1 }).fold(0.0, f64::max)
    });
    let [pointwise, reductions] = beside_sweeps(work, rates);
    let Spent { local, pack, reduced } = seconds.last;
    let waited = |seconds: &Seconds| (seconds.all - seconds.last.all()).max(0.0);
    let most = alone.most;
    Prediction {
        step_seconds: seconds.all + pointwise + reductions,
        local,
        pack,
        communicate: waited(&alone),
        exposed: waited(&seconds),
        reduced,
        slowest: PhaseTimes([most.local, most.pack, alone.waited, most.reduced]),
        pointwise,
        reductions,
        bytes,
        messages,
        planes: sent.iter().map(|sent| sent.2).max().unwrap_or(0),
    }
}

/// The [`Prediction::step_seconds`] alone.
pub(super) fn step_seconds(work: &Work, rates: &Rates, network: Network) -> f64 {
    let together = Together { work, rates, network, hidden: true };
    let sweeps = in_a_step(work, |list| together.time(list)).all;
    let [pointwise, reductions] = beside_sweeps(work, rates);
    sweeps + pointwise + reductions
}

/// Seconds that are predicted for no step of `work`: what the first rank does itself takes longer, whatever messages do.
pub(super) fn at_least(work: &Work, rates: &Rates, network: Network) -> f64 {
    /// The same sums in another order may differ by their rounding.
    const ROUNDED: f64 = 1.0 - 1e-9;
    let together = Together { work, rates, network, hidden: true };
    let sweeps =
        in_a_step(work, |list| Seconds { all: together.at_least(list), ..Seconds::default() });
    ROUNDED * (sweeps.all + beside_sweeps(work, rates).iter().sum::<f64>())
}

/// Of the lists of sweeps of a step, each of which takes `time`.
#[allow(clippy::cast_precision_loss, reason = "stages of a step")]
fn in_a_step(work: &Work, time: impl Fn(&[Arc<Sweeping>]) -> Seconds) -> Seconds {
    let all = |lists: &[Vec<Arc<Sweeping>>]| {
        lists.iter().map(|list| time(list)).fold(Seconds::default(), Seconds::plus)
    };
    let stages = all(&work.right_hand_side).times(work.stages as f64);
    stages.plus(all(&work.filter).times(work.filterings))
}

/// Seconds of a step outside of sweeps: point by point, and in reductions.
#[allow(clippy::cast_precision_loss, reason = "counts of one rank and step")]
fn beside_sweeps(work: &Work, rates: &Rates) -> [f64; 2] {
    let block = work.decomposition.block(0, work.points);
    let pointwise = (work.words * work.value * block.len()) as f64 / rates.copy;
    // A tree of messages up and down: log₂ P of them.
    let steps = (work.decomposition.size() as f64).log2();
    [pointwise, work.reductions as f64 * rates.reduction * steps]
}

/// A rank in the middle of the grid.
fn busiest(work: &Work) -> usize {
    work.decomposition.rank(work.decomposition.ranks.map(|ranks| ranks / 2))
}

/// Elapsed, and what it was spent on: by the ranks that end last, and by those that spend most.
#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    all: f64,
    last: Spent,
    most: Spent,
    /// The longest waits, where nothing is hidden.
    waited: f64,
}

impl Seconds {
    /// Of all ranks alike.
    fn alike(spent: Spent, waited: f64) -> Self {
        Self { all: spent.all() + waited, last: spent, most: spent, waited }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            last: self.last.plus(other.last),
            most: self.most.plus(other.most),
            waited: self.waited + other.waited,
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            all: factor * self.all,
            last: self.last.times(factor),
            most: self.most.times(factor),
            waited: factor * self.waited,
        }
    }
}

/// Sweeps that run together, in the order of `Ranks::run_all`: along every axis the first messages are posted, then come the
/// sweeps. All ranks go on to the next axis when the last one has ended.
struct Together<'a> {
    work: &'a Work,
    rates: &'a Rates,
    network: Network,
    /// Whether anything is done between the first messages and the wait for them.
    hidden: bool,
}

#[allow(clippy::cast_precision_loss, reason = "points and bytes of one rank")]
impl Together<'_> {
    fn time(&self, list: &[Arc<Sweeping>]) -> Seconds {
        let mut total = Seconds::default();
        let mut link = 0.0;
        let mut begun = Vec::new();
        for sweeping in list {
            if let Some(mut line) = self.line(sweeping, [total.all, link]) {
                [total.all, link] = line.begin();
                if self.hidden {
                    begun.push(line);
                } else {
                    self.end(line, &mut total);
                }
            }
        }
        for sweeping in list {
            match &sweeping.lines {
                Lines::Whole => {
                    let spent = Spent { local: self.sweep(sweeping), ..Spent::default() };
                    total = total.plus(Seconds::alike(spent, 0.0));
                }
                Lines::Transposed { transfers, words } => {
                    total = total.plus(self.transposed(sweeping, transfers, *words));
                }
                Lines::Blocks { .. } if self.hidden => self.end(begun.remove(0), &mut total),
                Lines::Blocks { .. } => {}
            }
        }
        total
    }

    /// Seconds that no list of sweeps takes less than.
    fn at_least(&self, list: &[Arc<Sweeping>]) -> f64 {
        let one = |sweeping: &Arc<Sweeping>| match &sweeping.lines {
            Lines::Whole => self.sweep(sweeping),
            Lines::Transposed { transfers, words } => {
                self.transposed(sweeping, transfers, *words).all
            }
            Lines::Blocks { .. } => self.line(sweeping, [0.0; 2]).map_or(0.0, Line::alone),
        };
        list.iter().map(one).sum()
    }

    /// The ranks on a line at a start, where it is cut into blocks.
    fn line<'a>(&'a self, sweeping: &'a Sweeping, start: [f64; 2]) -> Option<Line<'a>> {
        let Lines::Blocks { method, plans, plan_of } = &sweeping.lines else { return None };
        let sizes = [self.across(sweeping.axis.index()), self.work.value];
        let (paths, plans) = (self.paths(sweeping), (*method, &plans[..], &plan_of[..]));
        Some(Line::new(self.rates, paths, sizes, &sweeping.lengths, plans, start))
    }

    fn end(&self, mut line: Line, total: &mut Seconds) {
        let Ended { at, last, most, waited } = line.finish(total.all);
        *total = total.plus(Seconds { all: at - total.all, last, most, waited });
    }

    fn paths(&self, sweeping: &Sweeping) -> Paths {
        self.network.paths(sweeping.axis.index(), self.work.decomposition.ranks)
    }

    /// Points across axis `a` of the largest block.
    fn across(&self, a: usize) -> usize {
        let points = self.work.decomposition.block(0, self.work.points).points;
        (0..3).filter(|other| *other != a).map(|other| points[other]).product()
    }

    /// Over whole lines.
    fn sweep(&self, sweeping: &Sweeping) -> f64 {
        let points = self.work.decomposition.block(0, self.work.points).len() as f64;
        sweeping.operands as f64 * (self.rates.sweep * points + self.rates.launch)
    }

    fn transposed(&self, sweeping: &Sweeping, transfers: &[usize], words: usize) -> Seconds {
        let Rates { latency, overhead, all_to_all, deal, launch, staging, .. } = *self.rates;
        let block = self.work.decomposition.block(0, self.work.points);
        let paths = self.paths(sweeping);
        let parts = sweeping.lengths.len() as f64;
        let field = (block.len() * self.work.value) as f64;
        let mut pack = 0.0;
        let mut waited = 0.0;
        for fields in transfers.iter().map(|fields| *fields as f64) {
            // Dealt out and collected: each read and written once.
            pack += 2.0 * fields * (2.0 * field / deal + launch);
            let leaving = fields * field * (parts - 1.0) / parts;
            // The staged copy is of all shares, the rank's own too.
            let staged = staging.map_or(0.0, |rate| 2.0 * fields * field / rate);
            let one = 2.0 * (parts - 1.0) * overhead
                + latency
                + paths.farthest()
                + leaving / all_to_all * paths.all_to_all()
                + staged;
            waited += 2.0 * one;
        }
        let local = self.sweep(sweeping) + words as f64 * field / self.rates.copy;
        Seconds::alike(Spent { local, pack, reduced: 0.0 }, waited)
    }
}
