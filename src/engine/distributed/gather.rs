//! The reduced system gathered on the first rank and solved there (Mattor et al. 1995; Srinath 2015, §3.3).
//!
//! Every rank sends the ends of the result of its block alone, u and v, and receives the actual end values of its
//! neighbours. The first rank computes them with rows of the inverse of the reduced system. These decay like A⁻¹, so
//! only few blocks contribute to each. At the interface before block i, with x_tail on its left and x_head on its
//! right,
//! ```text
//! x_tail = g + G x_head     g of the blocks to the left (`Taken`)
//! x_head = q + Q x_tail     q of the blocks to the right, the mirror image
//! x_tail = (1 − G Q)⁻¹ (g + G q),   x_head = (1 − Q G)⁻¹ (q + Q g)
//! ```
//! A periodic line is opened: x_tail before its first block and x_head behind its last are unknowns, g₀ and q_P, and
//! the values found at the two ends of the line determine them.

use std::collections::BTreeMap;

use super::block::Line;
use super::halo::{HEAD, TAIL, begin, inflow_from_left, inflow_from_right};
use super::matrix::Matrix;
use super::plan::Plan;
use super::two_port::Taken;
use crate::engine::LineOperator;
use crate::real::Precision;

/// Terms of the sums on the first rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    /// u of a block.
    Head(usize),
    /// v of a block.
    Tail(usize),
    /// x_tail before the first block of a periodic line.
    Before,
    /// x_head behind its last block.
    Behind,
}

/// p planes as a sum of matrices times terms.
#[derive(Clone, Debug, Default)]
struct Sum(BTreeMap<Term, Matrix>);

impl Sum {
    fn of(term: Term, p: usize) -> Self {
        Self(BTreeMap::from([(term, Matrix::identity(p))]))
    }

    /// self + factor other.
    fn plus(mut self, factor: &Matrix, other: &Self) -> Self {
        for (term, matrix) in &other.0 {
            let nothing = || Matrix::zeros(factor.rows, matrix.columns);
            self.0.entry(*term).or_insert_with(nothing).add_product(factor, matrix);
        }
        self
    }

    /// factor self.
    fn times(&self, factor: &Matrix) -> Self {
        Self::default().plus(factor, self)
    }

    /// Omits terms below round-off: a 16th of it relative to the largest, since many may be omitted.
    fn pruned(mut self, precision: Precision) -> Self {
        let largest = self.0.values().map(Matrix::norm).fold(0.0, f64::max);
        self.0.retain(|_, matrix| matrix.norm() > precision.epsilon() / 16.0 * largest);
        self
    }

    fn part(&self, term: Term, p: usize) -> Matrix {
        self.0.get(&term).cloned().unwrap_or_else(|| Matrix::zeros(p, p))
    }
}

pub(super) fn distribute(line: &Line, k: usize) -> Result<(LineOperator, Plan), String> {
    let (operator, mut plan) = begin(line, k)?;
    let (p, blocks) = (line.half_band(), line.blocks());
    // x_tail of the left neighbour and x_head of the right one.
    let pairs = |plan: &mut Plan| {
        let first = plan.slot(p);
        plan.slot(p);
        first
    };
    let mine = pairs(&mut plan);
    if k > 0 {
        plan.exchange(vec![(0, HEAD..TAIL + 1)], vec![]);
        plan.exchange(vec![], vec![(0, mine..mine + 2)]);
    } else {
        let ends: Vec<usize> = (1..blocks).map(|_| pairs(&mut plan)).collect();
        let answers: Vec<usize> = (1..blocks).map(|_| pairs(&mut plan)).collect();
        let pair = |(block, first): (usize, &usize)| (block, *first..first + 2);
        plan.exchange(vec![], (1..).zip(&ends).map(pair).collect());
        let place = |term: Term| match term {
            Term::Head(0) => HEAD,
            Term::Tail(0) => TAIL,
            Term::Head(block) => ends[block - 1],
            Term::Tail(block) => ends[block - 1] + 1,
            Term::Before | Term::Behind => unreachable!("these were solved for"),
        };
        for (block, sums) in neighbours(line)?.into_iter().enumerate() {
            let first = if block == 0 { mine } else { answers[block - 1] };
            for (to, sum) in (first..).zip(sums) {
                let terms: Vec<_> =
                    sum.0.into_iter().map(|(term, matrix)| (place(term), matrix)).collect();
                plan.combine(to, &terms);
            }
        }
        plan.exchange((1..).zip(&answers).map(pair).collect(), vec![]);
    }
    if line.left_of(k).is_some() {
        let beyond = line.port(k).beyond_left.part([0, 0], p, p).negated();
        inflow_from_left(line, k, &mut plan, &[(mine, beyond)]);
    }
    if line.right_of(k).is_some() {
        inflow_from_right(line, k, &mut plan, mine + 1);
    }
    Ok((operator, plan))
}

/// (x_tail of the left neighbour, x_head of the right one) for every block.
fn neighbours(line: &Line) -> Result<Vec<[Sum; 2]>, String> {
    let (p, blocks, precision) = (line.half_band(), line.blocks(), line.operator.precision);
    let one = Matrix::identity(p);
    // g and G before every block and behind the last; q and Q likewise.
    let ends = |term: Term| if line.cyclic { Sum::of(term, p) } else { Sum::default() };
    let mut left = vec![(ends(Term::Before), Matrix::zeros(p, p))];
    for k in 0..blocks {
        let (g, reflected) = &left[k];
        let block = Taken::new(&line.port(k).coupling(), reflected)?;
        let next = Sum::of(Term::Tail(k), p)
            .plus(&block.of_head.negated(), &Sum::of(Term::Head(k), p))
            .plus(&block.through, g);
        left.push((next.pruned(precision), block.reflected));
    }
    let mut right = vec![(ends(Term::Behind), Matrix::zeros(p, p))];
    for k in (0..blocks).rev() {
        let (q, reflected) = &right[blocks - 1 - k];
        let block = Taken::new(&line.port(k).coupling().mirrored(), reflected)?;
        let next = Sum::of(Term::Head(k), p)
            .plus(&block.of_head.negated(), &Sum::of(Term::Tail(k), p))
            .plus(&block.through, q);
        right.push((next.pruned(precision), block.reflected));
    }
    right.reverse();

    let mut tails = Vec::with_capacity(blocks + 1);
    let mut heads = Vec::with_capacity(blocks + 1);
    for ((g, big_g), (q, big_q)) in left.iter().zip(&right) {
        let inverse = one.minus(&big_g.times(big_q)).inverse()?;
        tails.push(g.clone().plus(big_g, q).times(&inverse).pruned(precision));
        let inverse = one.minus(&big_q.times(big_g)).inverse()?;
        heads.push(q.clone().plus(big_q, g).times(&inverse).pruned(precision));
    }
    if line.cyclic {
        close(p, precision, &mut tails, &mut heads)?;
    }
    let pair = |k: usize| [tails[k].clone(), heads[k + 1].clone()];
    Ok((0..blocks).map(pair).collect())
}

/// Replace the two unknowns of a periodic line: x_tail behind the last block equals that before the first, and x_head
/// before the first block equals that behind the last.
fn close(
    p: usize,
    precision: Precision,
    tails: &mut [Sum],
    heads: &mut [Sum],
) -> Result<(), String> {
    let unknowns = [Term::Before, Term::Behind];
    let equations = [tails[tails.len() - 1].clone(), heads[0].clone()];
    let parts = equations.each_ref().map(|sum| unknowns.map(|term| sum.part(term, p)));
    let system = Matrix::from_fn(2 * p, 2 * p, |i, j| {
        let part = &parts[i / p.max(1)][j / p.max(1)];
        f64::from(u8::from(i == j)) - part.at(i % p, j % p)
    });
    let inverse = system.inverse()?;
    let known = equations.map(|mut sum| {
        sum.0.retain(|term, _| !unknowns.contains(term));
        sum
    });
    let solution = [0, p].map(|first| {
        let sum = known[0].times(&inverse.part([first, 0], p, p));
        sum.plus(&inverse.part([first, p], p, p), &known[1]).pruned(precision)
    });
    for sum in tails.iter_mut().chain(heads) {
        for (term, solved) in unknowns.iter().zip(&solution) {
            if let Some(factor) = sum.0.remove(term) {
                *sum = std::mem::take(sum).plus(&factor, solved);
            }
        }
        *sum = std::mem::take(sum).pruned(precision);
    }
    Ok(())
}
