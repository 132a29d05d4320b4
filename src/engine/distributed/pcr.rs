//! Parallel cyclic reduction of one separator per rank (Song et al. 2022, §3 and §4, Algorithms 1 to 4).
//!
//! The separators are the first p results of every block, x. The reduced equations of a block (`Coupling`) are those of
//! its x and x_tail; eliminating the left neighbour's contribution between the two leaves
//! ```text
//! x_tail = w + T x − F x(right)     w = v − T u,  T = tail_left head_left⁻¹,  F = d − T b
//! ```
//! with head_left and tail_left for the first p rows only (T = 0 in the first block of a non-periodic line). With the
//! equation of the left neighbour (primes) the first p rows of every block are
//! ```text
//! a T' x(left) + (1 − a F') x + b x(right) = u − a w'
//! ```
//! a cyclic block tridiagonal system of one row per rank. A reduction step eliminates the neighbours of every row from
//! it; where a subsystem has an odd number of rows its last row is detached first and reattached at the end. For a
//! non-periodic line the cyclic entries are zero and their messages are not sent.

use std::rc::Rc;

use super::block::Line;
use super::halo::{HEAD, TAIL, begin, inflow_from_left, inflow_from_right};
use super::matrix::Matrix;
use super::plan::Plan;
use super::separators::{Row, coupling, detach, near, reduce, separators, tails};
use crate::engine::LineOperator;

/// Purpose of a round of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// w to the right neighbour.
    Tail,
    /// Right-hand sides of detached rows.
    Detach,
    /// Right-hand sides of all attached rows.
    Reduce,
    /// Solutions to the detached rows.
    Reattach,
    /// Separators to the left neighbour.
    Head,
}

/// One round of messages after that of the halo, as one rank sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Purpose of the round.
    pub phase: Phase,
    /// Distance between neighbouring rows of a subsystem, which is the number of subsystems.
    pub stride: usize,
    /// Number of rows that are not detached, after this round.
    pub attached: usize,
    /// The ranks that this rank sends to, without duplicates.
    pub sends: Vec<usize>,
    /// The ranks that this rank receives from.
    pub receives: Vec<usize>,
}

/// The rounds of `rank` of `ranks`, after the halo exchange. All ranks have the same number of rounds; a rank may be
/// idle in some.
pub fn schedule(ranks: usize, rank: usize, cyclic: bool) -> Vec<Round> {
    let mut rounds = Vec::new();
    let mut round = |phase, stride, attached, sends: Vec<usize>, receives: Vec<usize>| {
        rounds.push(Round { phase, stride, attached, sends, receives });
    };
    let right = (cyclic || rank + 1 < ranks).then(|| (rank + 1) % ranks);
    let left = (cyclic || rank > 0).then(|| (rank + ranks - 1) % ranks);
    let list = |one: Option<usize>| one.into_iter().collect::<Vec<_>>();

    round(Phase::Tail, 1, ranks, list(right), list(left));
    let (mut stride, mut rows, mut attached) = (1, ranks, ranks);
    let mut detached = Vec::new();
    while rows > 1 {
        if rows % 2 == 1 {
            rows -= 1;
            attached -= stride;
            detached.push((stride, attached));
            let (up, down) = detaching(rank, stride, attached, cyclic);
            round(Phase::Detach, stride, attached, up, down);
        }
        let mut partners = partners(rank, stride, attached, cyclic);
        partners.dedup();
        round(Phase::Reduce, stride, attached, partners.clone(), partners);
        stride *= 2;
        rows /= 2;
    }
    for (stride, attached) in detached.into_iter().rev() {
        let (up, down) = detaching(rank, stride, attached, cyclic);
        round(Phase::Reattach, stride, attached, down, up);
    }
    round(Phase::Head, 1, ranks, list(left), list(right));
    rounds
}

/// The ranks whose rows this row is eliminated from if it is detached (empty for other rows), and the detached rows that
/// are eliminated from this row.
fn detaching(
    rank: usize,
    stride: usize,
    attached: usize,
    cyclic: bool,
) -> (Vec<usize>, Vec<usize>) {
    let is_detached = |row: usize| (attached..attached + stride).contains(&row);
    let next = cyclic.then(|| rank.wrapping_sub(attached));
    let mut of_detached = Vec::new();
    if is_detached(rank) {
        of_detached.push(rank - stride);
        of_detached.extend(next);
    }
    let mut received = Vec::new();
    if is_detached(rank + stride) {
        received.push(rank + stride);
    }
    if cyclic && is_detached(rank + attached) {
        received.push(rank + attached);
    }
    (of_detached, received)
}

/// The rows to the left and right of an attached row in its subsystem: the same row twice where the subsystem has two.
fn partners(rank: usize, stride: usize, attached: usize, cyclic: bool) -> Vec<usize> {
    if rank >= attached {
        return Vec::new();
    }
    let left = (cyclic || rank >= stride).then(|| (rank + attached - stride) % attached);
    let right = (cyclic || rank + stride < attached).then(|| (rank + stride) % attached);
    left.into_iter().chain(right).collect()
}

pub(super) fn distribute(
    line: &Line,
    positions: &[usize],
) -> Result<Vec<(LineOperator, Plan)>, String> {
    let mut blocks: Vec<_> =
        positions.iter().map(|&k| Part::new(line, k)).collect::<Result<_, String>>()?;
    let mut rows = separators(line)?;
    for Round { phase, stride, attached, .. } in schedule(line.blocks(), 0, line.cyclic) {
        blocks.iter_mut().try_for_each(|block| block.advance(&rows))?;
        match phase {
            Phase::Detach => detach(&mut rows, stride, attached)?,
            Phase::Reduce => reduce(&mut rows, stride, attached)?,
            Phase::Tail | Phase::Reattach | Phase::Head => {}
        }
    }
    blocks.into_iter().map(Part::finish).collect()
}

/// One block while its plan is built.
struct Part<'a> {
    line: &'a Line<'a>,
    k: usize,
    operator: LineOperator,
    plan: Plan,
    rounds: std::vec::IntoIter<Round>,
    /// The slot of the right-hand side of this row, and at the end of its solution.
    known: usize,
    solved: bool,
    /// The slot of the separator of the right neighbour.
    beyond: Option<usize>,
}

impl<'a> Part<'a> {
    fn new(line: &'a Line<'a>, k: usize) -> Result<Self, String> {
        let (operator, plan) = begin(line, k)?;
        let rounds = schedule(line.blocks(), k, line.cyclic).into_iter();
        Ok(Self { line, k, operator, plan, rounds, known: HEAD, solved: false, beyond: None })
    }

    /// Add the steps of the next round to the plan; `rows` is the system before that round.
    fn advance(&mut self, rows: &[Rc<Row>]) -> Result<(), String> {
        let Some(Round { phase, stride, attached, sends, receives }) = self.rounds.next() else {
            unreachable!("all blocks have the same number of rounds");
        };
        let Self { line, k, plan, .. } = self;
        let (k, p) = (*k, line.half_band());
        let one = Matrix::identity(p);
        // Slots that are sent and received.
        let sent = match phase {
            Phase::Tail => {
                let tail = tails(line, k)?;
                let sent = plan.slot(p);
                plan.combine(sent, &[(TAIL, one.clone()), (HEAD, tail.of_head.negated())]);
                sent
            }
            Phase::Detach | Phase::Reduce => self.known,
            Phase::Reattach | Phase::Head => {
                if !self.solved && k < attached {
                    self.solved = true;
                    self.known = next(plan, p, &[(self.known, rows[k].diagonal.inverse()?)]);
                }
                self.known
            }
        };
        let come: Vec<(usize, usize)> = receives.iter().map(|peer| (*peer, plan.slot(p))).collect();
        if !sends.is_empty() || !receives.is_empty() {
            plan.exchange(
                sends.iter().map(|peer| (*peer, sent..sent + 1)).collect(),
                come.iter().map(|(peer, slot)| (*peer, *slot..*slot + 1)).collect(),
            );
        }
        let Some((_, first)) = come.first() else { return Ok(()) };
        match phase {
            Phase::Tail => {
                let a = line.port(k).coupling().a;
                self.known = next(plan, p, &[(HEAD, one), (*first, a.negated())]);
            }
            Phase::Detach | Phase::Reduce => {
                let mut terms = vec![(self.known, one)];
                for (peer, slot) in &come {
                    let coupling = coupling(rows, k, *peer, stride, attached, phase);
                    let inverse = rows[*peer].diagonal.inverse()?;
                    terms.push((*slot, coupling.times(&inverse).negated()));
                }
                self.known = next(plan, p, &terms);
            }
            Phase::Reattach => {
                let row = &rows[k];
                let inverse = row.diagonal.inverse()?;
                let mut terms = vec![(self.known, inverse.clone())];
                for (peer, slot) in &come {
                    let coupling = if *peer + stride == k { &row.lower } else { &row.upper };
                    terms.push((*slot, inverse.times(coupling).negated()));
                }
                self.solved = true;
                self.known = next(plan, p, &terms);
            }
            Phase::Head => self.beyond = Some(*first),
        }
        Ok(())
    }

    /// Set the interface values from the separators on both sides. The left ones must make the first p results equal to
    /// the separator: head_left z = x − u + b x(right), for the first p rows; the other rows have only their halo.
    fn finish(self) -> Result<(LineOperator, Plan), String> {
        let Self { line, k, operator, mut plan, known, beyond, .. } = self;
        if line.left_of(k).is_some() {
            let p = line.half_band();
            let one = Matrix::identity(p);
            let mut terms = vec![(known, one.clone()), (HEAD, one.negated())];
            if let Some(beyond) = beyond {
                terms.push((beyond, line.port(k).coupling().b));
            }
            let inverse = near(&line.port(k).head_left, p).inverse()?;
            let inflow = |(slot, matrix): &(usize, Matrix)| (*slot, inverse.times(matrix));
            let terms: Vec<_> = terms.iter().map(inflow).collect();
            inflow_from_left(line, k, &mut plan, &terms);
        }
        if let Some(beyond) = beyond {
            inflow_from_right(line, k, &mut plan, beyond);
        }
        Ok((operator, plan))
    }
}

/// Append a new slot = Σ matrix × slot to the plan and return it.
fn next(plan: &mut Plan, planes: usize, terms: &[(usize, Matrix)]) -> usize {
    let to = plan.slot(planes);
    plan.combine(to, terms);
    to
}
