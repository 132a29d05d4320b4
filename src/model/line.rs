//! Simulates the ranks on one line: each runs its tasks and waits for messages of others.
//!
//! The cost of a message follows LogGP (Alexandrov, Ionescu, Schauser and Scheiman 1995): o on the rank for every message sent or
//! received, L for its way, and its bytes over the bandwidth, which is shared by all messages that leave a rank, and by all that
//! arrive; a rank that only sends, or only receives, has a separate bandwidth.

use std::array::from_fn;
use std::collections::{HashMap, VecDeque};

use super::Rates;
use super::network::Paths;
use super::sweeping::{Applied, Peer, Task};
use crate::backend::ranks::{Phase, PhaseTimes};
use crate::engine::distributed::Method;
use crate::grid::Axis;

/// Times of the ranks. [`Phase::Communicate`] contains only waiting, and is only known for `most`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seconds {
    /// From beginning to end.
    pub(super) all: f64,
    /// Phases of the rank that ends last.
    pub(super) last: PhaseTimes,
    /// The longest time of any rank, for each phase.
    pub(super) most: PhaseTimes,
    /// [`Phase::Communicate`] of `most` along x, y, z.
    pub(super) along: [f64; 3],
}

impl Seconds {
    /// Times of ranks that all take the same.
    pub(super) fn alike(mut spent: PhaseTimes, waited: f64) -> Self {
        let (all, last) = (total(spent) + waited, spent);
        spent.0[Phase::Communicate as usize] = waited;
        Self { all, last, most: spent, along: [0.0; 3] }
    }

    /// The same with the waiting time attributed to an axis.
    pub(super) fn along(mut self, axis: Axis) -> Self {
        self.along[axis.index()] = self.most.of(Phase::Communicate);
        self
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let sum = |a: PhaseTimes, b: PhaseTimes| PhaseTimes(from_fn(|i| a.0[i] + b.0[i]));
        let (last, most) = (sum(self.last, other.last), sum(self.most, other.most));
        let along = from_fn(|axis| self.along[axis] + other.along[axis]);
        Self { all: self.all + other.all, last, most, along }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        let times = |a: PhaseTimes| PhaseTimes(a.0.map(|seconds| factor * seconds));
        let along = self.along.map(|seconds| factor * seconds);
        Self { all: factor * self.all, last: times(self.last), most: times(self.most), along }
    }

    /// Waiting time of the rank that ends last.
    pub(super) fn waited(&self) -> f64 {
        (self.all - total(self.last)).max(0.0)
    }
}

fn total(times: PhaseTimes) -> f64 {
    times.0.iter().sum()
}

/// Data common to all ranks on a line.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) rates: &'a Rates,
    pub(super) paths: Paths,
    pub(super) method: Method,
    pub(super) lengths: &'a [usize],
    /// The tasks of the rank at each position: `plans[plan_of[position]]`.
    pub(super) plans: &'a [Vec<Task>],
    pub(super) plan_of: &'a [usize],
    /// Points of a rank's block normal to the axis: values of a plane.
    pub(super) across: f64,
    /// Bytes per value.
    pub(super) value: f64,
}

/// The state of the ranks on a line.
pub(super) struct Line<'a> {
    problem: Problem<'a>,
    start: f64,
    ranks: Vec<Rank>,
    /// Messages under way by sender and receiver: (arrival at the receiver's link, seconds on the link).
    underway: HashMap<(usize, usize), VecDeque<(f64, f64)>>,
}

#[derive(Clone, Debug)]
struct Rank {
    clock: f64,
    /// Times when its outgoing and incoming links are free again.
    out: f64,
    inwards: f64,
    /// The next task; if it is an exchange, its messages are already posted.
    task: usize,
    /// Time when all posted messages had left.
    left: f64,
    spent: PhaseTimes,
}

impl<'a> Line<'a> {
    /// All ranks at `start`, with links free from `link` on.
    pub(super) fn new(problem: Problem<'a>, [start, link]: [f64; 2]) -> Self {
        let spent = PhaseTimes::default();
        let rank = Rank { clock: start, out: link, inwards: link, task: 0, left: 0.0, spent };
        let ranks = vec![rank; problem.lengths.len()];
        Self { problem, start, ranks, underway: HashMap::new() }
    }

    /// Run up to the first messages, which are posted. Returns when the last rank has done so, and when the last link is free.
    pub(super) fn begin(&mut self) -> [f64; 2] {
        for at in 0..self.ranks.len() {
            self.advance(at, &mut VecDeque::new());
        }
        let links = self.ranks.iter().map(|rank| rank.out);
        [self.last_clock(), links.fold(0.0, f64::max)]
    }

    /// Run to the end, where no rank continues before `start`.
    pub(super) fn finish(&mut self, start: f64) -> Seconds {
        for rank in &mut self.ranks {
            rank.clock = rank.clock.max(start);
        }
        let mut able: VecDeque<usize> = (0..self.ranks.len()).collect();
        while let Some(at) = able.pop_front() {
            while self.receive(at) {
                self.advance(at, &mut able);
            }
        }
        let mut seconds = Seconds { all: self.last_clock() - start, ..Seconds::default() };
        let mut end = f64::NEG_INFINITY;
        for (at, rank) in self.ranks.iter().enumerate() {
            assert!(rank.task == self.tasks(at).len(), "every message that is awaited is sent");
            let mut spent = rank.spent;
            if rank.clock >= end {
                (end, seconds.last) = (rank.clock, spent);
            }
            spent.0[Phase::Communicate as usize] = rank.clock - self.start - total(spent);
            seconds.most = PhaseTimes(from_fn(|i| seconds.most.0[i].max(spent.0[i])));
        }
        seconds
    }

    fn tasks(&self, at: usize) -> &'a [Task] {
        &self.problem.plans[self.problem.plan_of[at]]
    }

    fn last_clock(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.clock).fold(0.0, f64::max)
    }

    fn bytes(&self, planes: usize) -> f64 {
        planes as f64 * self.problem.across * self.problem.value
    }

    fn sweep(&self, at: usize, Applied { operands, corrected }: Applied) -> f64 {
        let Problem { rates, lengths, across, .. } = self.problem;
        let each = rates.sweep * lengths[at] as f64 * across + rates.launch;
        operands as f64 * each + corrected as f64 * across * rates.correct
    }

    /// Run tasks until the next messages, which are posted, or to the end. The receivers are added to `able`: they may be able to
    /// continue.
    fn advance(&mut self, at: usize, able: &mut VecDeque<usize>) {
        let rates = self.problem.rates;
        while let Some(task) = self.tasks(at).get(self.ranks[at].task) {
            let (phase, seconds) = match task {
                Task::Pack { before, operands, points } => {
                    let packed = self.bytes(*points) / rates.pack;
                    let launches = *operands as f64 * rates.launch;
                    (Phase::Pack, self.sweep(at, *before) + packed + launches)
                }
                Task::Combine(planes) => {
                    let launch = if *planes == 0 { 0.0 } else { rates.launch };
                    (Phase::Reduced, launch + self.bytes(*planes) / rates.combine)
                }
                Task::Sweep(applied) => (Phase::Local, self.sweep(at, *applied)),
                Task::Exchange { is_first, send, receive } => {
                    self.post(at, *is_first, send, receive.len());
                    able.extend(send.iter().map(|(peer, _)| self.position(*peer, at)));
                    return;
                }
            };
            let rank = &mut self.ranks[at];
            rank.clock += seconds;
            rank.spent.0[phase as usize] += seconds;
            rank.task += 1;
        }
    }

    fn position(&self, peer: Peer, at: usize) -> usize {
        peer.position(at, self.problem.lengths.len())
    }

    /// Bandwidth of a rank with this many sends and receives at once, in the first round of a stage or a later one.
    fn bandwidth(&self, is_first: bool, sends: usize, receives: usize) -> f64 {
        let rates = self.problem.rates;
        match (is_first, sends > 0 && receives > 0) {
            (true, _) => rates.bandwidth,
            (false, true) => rates.again,
            (false, false) => rates.one_way,
        }
    }

    fn staged(&self, bytes: f64) -> f64 {
        self.problem.rates.staging.map_or(0.0, |rate| bytes / rate)
    }

    fn post(&mut self, at: usize, is_first: bool, send: &[(Peer, usize)], receives: usize) {
        let Problem { rates, paths, method, .. } = self.problem;
        // In later rounds of `gather` and `chain` few ranks send at the same time.
        let all_at_once = is_first || matches!(method, Method::Neighbour | Method::Pcr);
        let bandwidth = self.bandwidth(is_first, send.len(), receives);
        let all: f64 = send.iter().map(|(_, planes)| self.bytes(*planes)).sum();
        let busy = rates.overhead * (send.len() + receives) as f64 + self.staged(all);
        self.ranks[at].clock += busy;
        for &(peer, planes) in send {
            let peer = self.position(peer, at);
            let seconds = rates.progress * self.bytes(planes) / bandwidth;
            let rank = &mut self.ranks[at];
            let start = rank.out.max(rank.clock);
            rank.out = start + seconds;
            // The extra time on the busiest link of the path does not delay the other messages of this rank.
            let crowd = if all_at_once { paths.shifted(at, peer) } else { 1.0 };
            let way = rates.latency + paths.delay(at, peer) + (crowd - 1.0) * all / bandwidth;
            self.underway.entry((at, peer)).or_default().push_back((start + way, seconds));
        }
        self.ranks[at].left = self.ranks[at].out;
    }

    /// Wait for the posted messages; false if a message is not sent yet, and at the end.
    fn receive(&mut self, at: usize) -> bool {
        let Some(Task::Exchange { is_first, send, receive }) =
            self.tasks(at).get(self.ranks[at].task)
        else {
            return false;
        };
        let from = |(peer, _): &(Peer, usize)| (self.position(*peer, at), at);
        let ways: Vec<_> = receive.iter().map(from).collect();
        if !ways.iter().all(|way| self.underway.get(way).is_some_and(|queue| !queue.is_empty())) {
            return false;
        }
        let next = |way| self.underway.get_mut(way).and_then(VecDeque::pop_front);
        let mut messages: Vec<(f64, f64)> = ways.iter().filter_map(next).collect();
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bytes = |list: &[(Peer, usize)]| list.iter().map(|(_, n)| self.bytes(*n)).sum::<f64>();
        let (out, inwards) = (bytes(send), bytes(receive));
        let bandwidth = self.bandwidth(*is_first, send.len(), receive.len());
        // The rank itself moves the bytes that the hardware does not move during computation.
        let moved = (1.0 - self.problem.rates.progress) * out.max(inwards) / bandwidth;
        let moved = moved + self.staged(inwards);
        let rank = &mut self.ranks[at];
        for (arrival, seconds) in messages {
            rank.inwards = rank.inwards.max(arrival) + seconds;
            rank.clock = rank.clock.max(rank.inwards);
        }
        if !send.is_empty() {
            rank.clock = rank.clock.max(rank.left);
        }
        rank.clock += moved;
        rank.task += 1;
        true
    }
}
