//! The ranks on one line, each going through its steps and waiting for messages of others.
//!
//! A message costs as LogGP says (Alexandrov, Ionescu, Schauser and Scheiman 1995): o on the rank for every message sent or
//! received, L on its way, and its bytes over the bandwidth, which all messages that leave a rank share, and all that come
//! to it; a rank that sends only, or receives only, has a bandwidth of its own.

use std::collections::{HashMap, VecDeque};

use super::Rates;
use super::network::Paths;
use super::sweeping::{Peer, Stage, Step};
use crate::engine::distributed::Method;

/// Seconds of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) local: f64,
    pub(super) pack: f64,
    pub(super) reduced: f64,
}

impl Spent {
    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    pub(super) fn times(self, factor: f64) -> Self {
        self.with(self, |a, _| factor * a)
    }

    fn most(self, other: Self) -> Self {
        self.with(other, f64::max)
    }

    fn with(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            local: of(self.local, other.local),
            pack: of(self.pack, other.pack),
            reduced: of(self.reduced, other.reduced),
        }
    }

    pub(super) fn all(self) -> f64 {
        self.local + self.pack + self.reduced
    }
}

/// How the ranks of a line end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    /// When the last one does.
    pub(super) at: f64,
    /// What that one spent.
    pub(super) last: Spent,
    /// The most that any rank spent on each.
    pub(super) most: Spent,
    /// The longest time, from the start of the line, that a rank did nothing of that.
    pub(super) waited: f64,
}

/// The ranks on a line, while they work.
pub(super) struct Line<'a> {
    rates: &'a Rates,
    paths: Paths,
    /// Points of a rank's block across the axis: values of a plane.
    across: f64,
    value: f64,
    lengths: &'a [usize],
    plans: &'a [Vec<Stage>],
    plan_of: &'a [usize],
    /// Whether all ranks send at the same time in every round, not just the first.
    all_at_once: bool,
    start: f64,
    ranks: Vec<Rank>,
    /// On their way: (at the receiver's link, seconds on it), by sender and receiver.
    underway: HashMap<(usize, usize), VecDeque<(f64, f64)>>,
}

#[derive(Clone, Debug)]
struct Rank {
    clock: f64,
    /// When its link is free again, outwards and inwards.
    out: f64,
    inwards: f64,
    stage: usize,
    step: usize,
    /// True where the messages of this step were posted and not waited for.
    posted: bool,
    /// When what it posted had left.
    left: f64,
    done: bool,
    spent: Spent,
}

#[allow(clippy::cast_precision_loss, reason = "points and bytes of one rank")]
impl<'a> Line<'a> {
    /// All ranks at `start`, their links free from `link` on.
    pub(super) fn new(
        rates: &'a Rates,
        paths: Paths,
        [across, value]: [usize; 2],
        lengths: &'a [usize],
        (method, plans, plan_of): (Method, &'a [Vec<Stage>], &'a [usize]),
        [start, link]: [f64; 2],
    ) -> Self {
        let rank = Rank {
            clock: start,
            out: link,
            inwards: link,
            stage: 0,
            step: 0,
            posted: false,
            left: 0.0,
            done: false,
            spent: Spent::default(),
        };
        Self {
            rates,
            paths,
            across: across as f64,
            value: value as f64,
            lengths,
            plans,
            plan_of,
            all_at_once: matches!(method, Method::Neighbour | Method::Pcr),
            start,
            ranks: vec![rank; lengths.len()],
            underway: HashMap::new(),
        }
    }

    /// Up to the first messages, which are posted. Returns when the last rank has done so, and when the last link is free.
    pub(super) fn begin(&mut self) -> [f64; 2] {
        for at in 0..self.ranks.len() {
            self.pack(at);
            self.compute(at, &mut VecDeque::new());
        }
        let links = self.ranks.iter().map(|rank| rank.out);
        [self.last(), links.fold(0.0, f64::max)]
    }

    /// To the end, where no rank goes on before `start`.
    pub(super) fn finish(&mut self, start: f64) -> Ended {
        for rank in &mut self.ranks {
            rank.clock = rank.clock.max(start);
        }
        let mut able: VecDeque<usize> = (0..self.ranks.len()).collect();
        while let Some(at) = able.pop_front() {
            while !self.ranks[at].done && self.receive(at) {
                self.compute(at, &mut able);
            }
        }
        assert!(self.ranks.iter().all(|rank| rank.done), "every message that is awaited is sent");
        let last = self.ranks.iter().max_by(|a, b| a.clock.total_cmp(&b.clock));
        let waited = |rank: &Rank| rank.clock - self.start - rank.spent.all();
        Ended {
            at: self.last(),
            last: last.map(|rank| rank.spent).unwrap_or_default(),
            most: self.ranks.iter().fold(Spent::default(), |most, rank| most.most(rank.spent)),
            waited: self.ranks.iter().map(waited).fold(0.0, f64::max),
        }
    }

    /// Seconds that the first rank needs for what it does itself, wherever messages are meanwhile: no line ends before.
    pub(super) fn alone(mut self) -> f64 {
        self.ranks.truncate(1);
        self.pack(0);
        self.compute(0, &mut VecDeque::new());
        while !self.ranks[0].done {
            self.carry(0);
            self.compute(0, &mut VecDeque::new());
        }
        self.ranks[0].clock - self.start
    }

    /// The stages of the rank at a position.
    fn stages(&self, at: usize) -> &'a [Stage] {
        &self.plans[self.plan_of[at]]
    }

    fn position(&self, peer: Peer, at: usize) -> usize {
        peer.position(at, self.lengths.len())
    }

    fn last(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.clock).fold(0.0, f64::max)
    }

    fn spend(&mut self, at: usize, seconds: f64, on: impl Fn(&mut Spent) -> &mut f64) {
        let rank = &mut self.ranks[at];
        rank.clock += seconds;
        *on(&mut rank.spent) += seconds;
    }

    /// Of a sweep over this rank's block as far as `stages` of it.
    fn sweep(&self, at: usize, stages: &[Stage]) -> f64 {
        let rates = self.rates;
        let operands: usize = stages.iter().map(|stage| stage.operands).sum();
        let corrected: usize = stages.iter().map(|stage| stage.corrected).sum();
        let each = rates.sweep * self.lengths[at] as f64 * self.across + rates.launch;
        operands as f64 * each + corrected as f64 * self.across * rates.correct
    }

    /// Pack the present stage. Operands behind other operators are found by applying these.
    fn pack(&mut self, at: usize) {
        let number = self.ranks[at].stage;
        let Stage { operands, packed, .. } = self.stages(at)[number];
        let bytes = packed as f64 * self.across * self.value;
        let before = self.sweep(at, &self.stages(at)[..number]);
        let seconds = before + bytes / self.rates.pack + operands as f64 * self.rates.launch;
        self.spend(at, seconds, |spent| &mut spent.pack);
    }

    /// All that comes before the next messages to wait for, and the end.
    fn compute(&mut self, at: usize, able: &mut VecDeque<usize>) {
        let stages = self.stages(at);
        loop {
            let Rank { stage, step, .. } = self.ranks[at];
            match stages[stage].steps.get(step) {
                Some(Step::Combine(planes)) => {
                    let bytes = *planes as f64 * self.across * self.value;
                    let seconds = if *planes == 0 { 0.0 } else { self.rates.launch };
                    let seconds = seconds + bytes / self.rates.combine;
                    self.spend(at, seconds, |spent| &mut spent.reduced);
                    self.ranks[at].step += 1;
                }
                Some(Step::Exchange { send, receive }) => {
                    self.post(at, send, receive.len());
                    able.extend(send.iter().map(|(peer, _)| self.position(*peer, at)));
                    return;
                }
                None if stage + 1 < stages.len() => {
                    (self.ranks[at].stage, self.ranks[at].step) = (stage + 1, 0);
                    self.pack(at);
                }
                None => {
                    let seconds = self.sweep(at, stages);
                    self.spend(at, seconds, |spent| &mut spent.local);
                    self.ranks[at].done = true;
                    return;
                }
            }
        }
    }

    fn bytes(&self, planes: usize) -> f64 {
        planes as f64 * self.across * self.value
    }

    /// Of a rank that sends and receives so many messages at once, in the first round of a stage or later.
    fn bandwidth(&self, first: bool, sends: usize, receives: usize) -> f64 {
        match (first, sends > 0 && receives > 0) {
            (true, _) => self.rates.bandwidth,
            (false, true) => self.rates.again,
            (false, false) => self.rates.one_way,
        }
    }

    /// Whether the present step of a rank is the first round of messages of its stage.
    fn is_first(&self, at: usize) -> bool {
        let Rank { stage, step, .. } = self.ranks[at];
        let before = &self.stages(at)[stage].steps[..step];
        !before.iter().any(|step| matches!(step, Step::Exchange { .. }))
    }

    fn staged(&self, bytes: f64) -> f64 {
        self.rates.staging.map_or(0.0, |rate| bytes / rate)
    }

    /// Post the messages of the present step.
    fn post(&mut self, at: usize, send: &[(Peer, usize)], receives: usize) {
        let first = self.is_first(at);
        // In later rounds of `gather` and `chain` few ranks send at the same time.
        let together = first || self.all_at_once;
        let Rates { latency, overhead, progress, .. } = *self.rates;
        let bandwidth = self.bandwidth(first, send.len(), receives);
        let all: f64 = send.iter().map(|(_, planes)| self.bytes(*planes)).sum();
        let busy = overhead * (send.len() + receives) as f64 + self.staged(all);
        self.ranks[at].clock += busy;
        for &(peer, planes) in send {
            let peer = self.position(peer, at);
            let seconds = progress * self.bytes(planes) / bandwidth;
            let rank = &mut self.ranks[at];
            let start = rank.out.max(rank.clock);
            rank.out = start + seconds;
            // What the busiest link on the way takes longer than this rank's does not hold up its other messages.
            let crowd = if together { self.paths.shifted(at, peer) } else { 1.0 };
            let way = latency + self.paths.delay(at, peer) + (crowd - 1.0) * all / bandwidth;
            self.underway.entry((at, peer)).or_default().push_back((start + way, seconds));
        }
        let rank = &mut self.ranks[at];
        (rank.left, rank.posted) = (rank.out, true);
    }

    /// Wait for what was posted; false where a message is not sent yet.
    fn receive(&mut self, at: usize) -> bool {
        let Rank { stage, step, posted, .. } = self.ranks[at];
        if !posted {
            return true;
        }
        let Some(Step::Exchange { send, receive }) = self.stages(at)[stage].steps.get(step) else {
            unreachable!("only exchanges are posted");
        };
        let ranks = self.lengths.len();
        let from = |(peer, _): &(Peer, usize)| (peer.position(at, ranks), at);
        let there = |way| self.underway.get(&way).is_some_and(|queue| !queue.is_empty());
        if !receive.iter().map(from).all(there) {
            return false;
        }
        let underway = &mut self.underway;
        let next = |way| {
            let message = underway.get_mut(&way).and_then(VecDeque::pop_front);
            message.unwrap_or_else(|| unreachable!("seen above"))
        };
        let mut messages: Vec<(f64, f64)> = receive.iter().map(from).map(next).collect();
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (arrival, seconds) in messages {
            let rank = &mut self.ranks[at];
            rank.inwards = rank.inwards.max(arrival) + seconds;
            rank.clock = rank.clock.max(rank.inwards);
        }
        let rank = &mut self.ranks[at];
        if !send.is_empty() {
            rank.clock = rank.clock.max(rank.left);
        }
        self.carry(at);
        true
    }

    /// What a rank does itself for the messages of the present step, which then is done.
    fn carry(&mut self, at: usize) {
        let Rank { stage, step, .. } = self.ranks[at];
        let Some(Step::Exchange { send, receive }) = self.stages(at)[stage].steps.get(step) else {
            unreachable!("only exchanges are posted");
        };
        let bytes = |list: &[(Peer, usize)]| list.iter().map(|(_, n)| self.bytes(*n)).sum::<f64>();
        let (out, inwards) = (bytes(send), bytes(receive));
        let bandwidth = self.bandwidth(self.is_first(at), send.len(), receive.len());
        let waited = (1.0 - self.rates.progress) * out.max(inwards) / bandwidth;
        let waited = waited + self.staged(inwards);
        let rank = &mut self.ranks[at];
        rank.clock += waited;
        (rank.posted, rank.step) = (false, step + 1);
    }
}
