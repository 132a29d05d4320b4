//! Parallel cyclic reduction of one separator a rank (Song et al. 2022, §3 and §4, Algorithms 1 to 4).
//!
//! The separators are the first p results of every block, x. The reduced equations of a block (`Coupling`) are those of its
//! x and x_tail; eliminating what comes from the left between the two of them leaves
//! ```text
//! x_tail = w + T x − F x(right)     w = v − T u,  T = tail_left head_left⁻¹,  F = d − T b
//! ```
//! with head_left and tail_left for the first p rows only (T = 0 in the first block of a line that is not periodic). With
//! that of the left neighbour (primes) the first p rows of every block are
//! ```text
//! a T' x(left) + (1 − a F') x + b x(right) = u − a w'
//! ```
//! a cyclic block tridiagonal system of one row a rank. A reduction step eliminates the neighbours of every row from it;
//! where a subsystem has an odd number of rows its last row is detached first and reattached in the end. A line that is
//! not periodic is the same with the cyclic entries zero: what they would send is not sent.

use super::block::Line;
use super::halo::{HEAD, TAIL, begin, inflow_from_left, inflow_from_right};
use super::matrix::Matrix;
use super::plan::Plan;
use super::two_port::Coupling;
use crate::engine::LineOperator;
use crate::real::Real;

/// What a round of messages is for.
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
    /// What it is for.
    pub phase: Phase,
    /// Distance of neighbouring rows of a subsystem, which is the number of subsystems.
    pub stride: usize,
    /// Rows that are not detached, after this round.
    pub attached: usize,
    /// The ranks that this one sends to: none twice.
    pub sends: Vec<usize>,
    /// The ranks that it hears from.
    pub receives: Vec<usize>,
}

/// The rounds of `rank` of `ranks`, after that of the halo. All ranks have the same number of them; a rank may have
/// nothing to do in some.
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

/// The ranks that hold the rows which a detached row is eliminated from (none for another), and the detached rows that
/// are eliminated from this one.
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

/// The rows to the left and right of an attached row in its subsystem: the same row twice where there are two.
fn partners(rank: usize, stride: usize, attached: usize, cyclic: bool) -> Vec<usize> {
    if rank >= attached {
        return Vec::new();
    }
    let left = (cyclic || rank >= stride).then(|| (rank + attached - stride) % attached);
    let right = (cyclic || rank + stride < attached).then(|| (rank + stride) % attached);
    left.into_iter().chain(right).collect()
}

/// L x(left) + D x + U x(right) = right-hand side.
#[derive(Clone, Debug)]
struct Row {
    lower: Matrix,
    diagonal: Matrix,
    upper: Matrix,
}

/// T and F of a block.
struct Tails {
    of_head: Matrix,
    of_right: Matrix,
}

/// # Errors
/// A sentence where the system cannot be reduced.
pub(super) fn distribute<T: Real>(
    line: &Line<T>,
    k: usize,
) -> Result<(LineOperator<T>, Plan), String> {
    let (operator, mut plan) = begin(line, k)?;
    let (p, cyclic) = (line.half_band(), line.cyclic);
    let one = Matrix::identity(p);
    let mut rows = separators(line)?;
    let (mut known, mut beyond) = (HEAD, None);
    let mut solved = false;
    for round in schedule(line.blocks(), k, cyclic) {
        let Round { phase, stride, attached, sends, receives } = round;
        // What is sent, and what comes.
        let sent = match phase {
            Phase::Tail => {
                let tail = tails(line, k)?;
                let sent = plan.slot(p);
                plan.combine(sent, &[(TAIL, one.clone()), (HEAD, tail.of_head.negated())]);
                sent
            }
            Phase::Detach | Phase::Reduce => known,
            Phase::Reattach | Phase::Head => {
                if !solved && k < attached {
                    solved = true;
                    known = next(&mut plan, p, &[(known, rows[k].diagonal.inverse()?)]);
                }
                known
            }
        };
        let come: Vec<(usize, usize)> = receives.iter().map(|peer| (*peer, plan.slot(p))).collect();
        if !sends.is_empty() || !receives.is_empty() {
            plan.exchange(
                sends.iter().map(|peer| (*peer, sent..sent + 1)).collect(),
                come.iter().map(|(peer, slot)| (*peer, *slot..*slot + 1)).collect(),
            );
        }
        match phase {
            Phase::Tail => {
                if let Some((_, slot)) = come.first() {
                    let a = line.port(k).coupling().a;
                    known = next(&mut plan, p, &[(HEAD, one.clone()), (*slot, a.negated())]);
                }
            }
            Phase::Detach | Phase::Reduce => {
                if !come.is_empty() {
                    let mut terms = vec![(known, one.clone())];
                    for (peer, slot) in &come {
                        let coupling = coupling(&rows, k, *peer, stride, attached, phase);
                        let inverse = rows[*peer].diagonal.inverse()?;
                        terms.push((*slot, coupling.times(&inverse).negated()));
                    }
                    known = next(&mut plan, p, &terms);
                }
                if phase == Phase::Detach {
                    detach(&mut rows, stride, attached)?;
                } else {
                    reduce(&mut rows, stride, attached)?;
                }
            }
            Phase::Reattach => {
                if !come.is_empty() {
                    let inverse = rows[k].diagonal.inverse()?;
                    let mut terms = vec![(known, inverse.clone())];
                    for (peer, slot) in &come {
                        let row = &rows[k];
                        let coupling = if *peer + stride == k { &row.lower } else { &row.upper };
                        terms.push((*slot, inverse.times(coupling).negated()));
                    }
                    solved = true;
                    known = next(&mut plan, p, &terms);
                }
            }
            Phase::Head => beyond = come.first().map(|(_, slot)| *slot),
        }
    }
    finish(line, k, &mut plan, known, beyond)?;
    Ok((operator, plan))
}

/// A new slot = Σ matrix × slot.
fn next(plan: &mut Plan, planes: usize, terms: &[(usize, Matrix)]) -> usize {
    let to = plan.slot(planes);
    plan.combine(to, terms);
    to
}

/// The inflow from the separators on both sides. From the left it is what makes the first p results the separator:
/// head_left z = x − u + b x(right), of the first p rows; the others have no more than their halo.
fn finish<T: Real>(
    line: &Line<T>,
    k: usize,
    plan: &mut Plan,
    head: usize,
    beyond: Option<usize>,
) -> Result<(), String> {
    if line.left_of(k).is_some() {
        let p = line.half_band();
        let one = Matrix::identity(p);
        let mut terms = vec![(head, one.clone()), (HEAD, one.negated())];
        if let Some(beyond) = beyond {
            terms.push((beyond, line.port(k).coupling().b));
        }
        let inverse = near(&line.port(k).head_left, p).inverse()?;
        let inflow = |(slot, matrix): &(usize, Matrix)| (*slot, inverse.times(matrix));
        inflow_from_left(line, k, plan, &terms.iter().map(inflow).collect::<Vec<_>>());
    }
    if let Some(beyond) = beyond {
        inflow_from_right(line, k, plan, beyond);
    }
    Ok(())
}

/// The columns of the first p rows' inflow.
fn near(response: &Matrix, p: usize) -> Matrix {
    response.part([0, 0], p, p)
}

/// T and F of block k.
fn tails<T: Real>(line: &Line<T>, k: usize) -> Result<Tails, String> {
    let p = line.half_band();
    let port = line.port(k);
    let Coupling { b, d, .. } = port.coupling();
    if line.left_of(k).is_none() {
        return Ok(Tails { of_head: Matrix::zeros(p, p), of_right: d });
    }
    let inverse = near(&port.head_left, p).inverse()?;
    let of_head = near(&port.tail_left, p).times(&inverse);
    let of_right = d.minus(&of_head.times(&b));
    Ok(Tails { of_head, of_right })
}

/// The system of the separators.
fn separators<T: Real>(line: &Line<T>) -> Result<Vec<Row>, String> {
    let p = line.half_band();
    let one = Matrix::identity(p);
    let row = |k: usize| {
        let Coupling { a, b, .. } = line.port(k).coupling();
        let Some(left) = line.left_of(k) else {
            return Ok(Row { lower: Matrix::zeros(p, p), diagonal: one.clone(), upper: b });
        };
        let tail = tails(line, left)?;
        let diagonal = one.minus(&a.times(&tail.of_right));
        Ok(Row { lower: a.times(&tail.of_head), diagonal, upper: b })
    };
    (0..line.blocks()).map(row).collect()
}

/// What couples row k to the row of `peer`; both sides where a subsystem has two rows.
fn coupling(
    rows: &[Row],
    k: usize,
    peer: usize,
    stride: usize,
    attached: usize,
    phase: Phase,
) -> Matrix {
    let Row { lower, upper, .. } = &rows[k];
    match phase {
        Phase::Reduce if attached == 2 * stride => lower.plus(upper),
        Phase::Reduce if peer == (k + stride) % attached => upper.clone(),
        Phase::Detach if peer == k + stride => upper.clone(),
        _ => lower.clone(),
    }
}

/// Algorithm 2: eliminate the last row of every subsystem, stride rows from `attached` on, from its neighbours.
fn detach(rows: &mut [Row], stride: usize, attached: usize) -> Result<(), String> {
    for last in attached..attached + stride {
        let Row { lower, diagonal, upper } = rows[last].clone();
        let inverse = diagonal.inverse()?;
        let before = &mut rows[last - stride];
        let factor = before.upper.times(&inverse);
        before.diagonal = before.diagonal.minus(&factor.times(&lower));
        before.upper = factor.times(&upper).negated();
        let first = &mut rows[last - attached];
        let factor = first.lower.times(&inverse);
        first.diagonal = first.diagonal.minus(&factor.times(&upper));
        first.lower = factor.times(&lower).negated();
    }
    Ok(())
}

/// Algorithm 3: eliminate the neighbours of every row. Where a subsystem has two rows, both neighbours of one are the
/// other, and nothing couples them afterwards.
fn reduce(rows: &mut [Row], stride: usize, attached: usize) -> Result<(), String> {
    let inverses = rows[..attached].iter().map(|row| row.diagonal.inverse());
    let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
    let before = rows[..attached].to_vec();
    for (k, row) in rows[..attached].iter_mut().enumerate() {
        let (left, right) = ((k + attached - stride) % attached, (k + stride) % attached);
        if left == right {
            let factor = row.lower.plus(&row.upper).times(&inverses[left]);
            let other = before[left].lower.plus(&before[left].upper);
            row.diagonal = row.diagonal.minus(&factor.times(&other));
            row.lower = Matrix::zeros(row.lower.rows(), row.lower.columns());
            row.upper = row.lower.clone();
            continue;
        }
        let lower = row.lower.times(&inverses[left]);
        let upper = row.upper.times(&inverses[right]);
        let eliminated = lower.times(&before[left].upper).plus(&upper.times(&before[right].lower));
        row.diagonal = row.diagonal.minus(&eliminated);
        row.lower = lower.times(&before[left].lower).negated();
        row.upper = upper.times(&before[right].upper).negated();
    }
    Ok(())
}
