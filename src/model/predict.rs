//! From counted work and rates to seconds.

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
    let time = |lists: &[Vec<Sweeping>], hidden| {
        let list = |list: &Vec<Sweeping>| Together { work, rates, network, hidden }.time(list);
        lists.iter().map(list).fold(Seconds::default(), Seconds::plus)
    };
    let step = |hidden| {
        let stages = time(&work.right_hand_side, hidden).times(work.stages as f64);
        stages.plus(time(&work.filter, hidden).times(work.filterings))
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
    let block = work.decomposition.block(0, work.points);
    let pointwise = (work.words * work.value * block.len()) as f64 / rates.copy;
    // A tree of messages up and down: log₂ P of them.
    let reductions = work.reductions as f64 * rates.reduction * (ranks as f64).log2();
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
    fn time(&self, list: &[Sweeping]) -> Seconds {
        let mut total = Seconds::default();
        let mut link = 0.0;
        let mut begun = Vec::new();
        for sweeping in list {
            if let Lines::Blocks { method, positions } = &sweeping.lines {
                let a = sweeping.axis.index();
                let sizes = [self.across(a), self.work.value];
                let start = [total.all, link];
                let plans = (*method, &positions[..]);
                let paths = self.paths(sweeping);
                let mut line = Line::new(self.rates, paths, sizes, &sweeping.lengths, plans, start);
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
