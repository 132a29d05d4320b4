//! LU across the ranks: forward elimination from the first rank to the last, then back substitution.
//!
//! Block k receives from its left neighbour the combined relation of all blocks to the left (`Taken`:
//! x_tail = g + G x_head), adds its own equations and passes the result on. A periodic line is opened at its first
//! block: its x_tail(left) = t is carried along as an unknown, and so is the relation for x₀, the first block's x_head:
//! ```text
//! x_tail = g + G x_head + Γ t       g₀ = 0, G₀ = 0, Γ₀ = 1
//! x₀ = q + Q x_head + R t           of block 0:  q₀ = 0, Q₀ = 1, R₀ = 0
//! ```
//! Here g and q are planes and the other quantities are the same for all lines. After the last block x_tail is t and
//! x_head is x₀: two equations for them. In the backward pass every block finds its x_head from its right neighbour's.

use super::block::Line;
use super::halo::{HEAD, TAIL, begin, inflow_from_left, inflow_from_right};
use super::matrix::Matrix;
use super::plan::Plan;
use super::two_port::Taken;
use crate::engine::LineOperator;

/// Part of the relation of the blocks to the left of an interface that is the same for all lines.
struct Known {
    reflected: Matrix,
    of_t: Matrix,
    first_of_head: Matrix,
    first_of_t: Matrix,
}

pub(super) fn distribute(
    line: &Line,
    positions: &[usize],
) -> Result<Vec<(LineOperator, Plan)>, String> {
    let p = line.half_band();
    let [one, zero] = [Matrix::identity(p), Matrix::zeros(p, p)];
    let mut before = vec![Known {
        reflected: zero.clone(),
        of_t: one.clone(),
        first_of_head: one,
        first_of_t: zero,
    }];
    for k in 0..positions.iter().max().copied().unwrap_or(0) {
        before.push(taken(line, k, &before[k])?.1);
    }
    positions.iter().map(|&k| block(line, k, &before[k])).collect()
}

/// Equations of block k after elimination of the blocks to its left, whose relation is `known`.
fn block(line: &Line, k: usize, known: &Known) -> Result<(LineOperator, Plan), String> {
    let (operator, mut plan) = begin(line, k)?;
    let (p, cyclic, last) = (line.half_band(), line.cyclic, line.blocks() - 1);
    let one = Matrix::identity(p);
    let carried = if cyclic { p } else { 0 };

    // g and q at the left interface, and at the right one.
    let [g, q] = [p, carried].map(|planes| plan.slot(planes));
    let [g_next, q_next] = [p, carried].map(|planes| plan.slot(planes));
    // x_head and t of the right neighbour; then those of this block.
    let [beyond, t_beyond] = [p, carried].map(|planes| plan.slot(planes));
    let [x, t] = [p, carried].map(|planes| plan.slot(planes));
    let pair = |first: usize| first..first + 2;

    let (block, next) = taken(line, k, known)?;
    let coupling = line.port(k).coupling();
    let a = &coupling.a;

    if k == 0 {
        plan.combine(g, &[]);
        plan.combine(q, &[]);
    } else {
        plan.exchange(vec![], vec![(k - 1, pair(g))]);
    }
    plan.combine(
        g_next,
        &[(TAIL, one.clone()), (HEAD, block.of_head.negated()), (g, block.through.clone())],
    );
    if cyclic {
        let first = known.first_of_head.times(&block.head);
        plan.combine(
            q_next,
            &[(q, one.clone()), (HEAD, first.clone()), (g, first.times(a).negated())],
        );
    }
    if k < last {
        plan.exchange(vec![(k + 1, pair(g_next))], vec![]);
        plan.exchange(vec![], vec![(k + 1, pair(beyond))]);
    } else if cyclic {
        // t = g + G x₀ + Γ t,  x₀ = q + Q x₀ + R t.
        let system = Matrix::from_fn(2 * p, 2 * p, |i, j| {
            let part = match (i < p, j < p) {
                (true, true) => &next.of_t,
                (true, false) => &next.reflected,
                (false, true) => &next.first_of_t,
                (false, false) => &next.first_of_head,
            };
            f64::from(u8::from(i == j)) - part.at(i % p, j % p)
        });
        let inverse = system.inverse()?;
        let rows = |first: usize| {
            [(g_next, inverse.part([first, 0], p, p)), (q_next, inverse.part([first, p], p, p))]
        };
        plan.combine(t_beyond, &rows(0));
        plan.combine(beyond, &rows(p));
    } else {
        plan.combine(beyond, &[]);
    }

    // x_head = J (u − a g − a Γ t − b x_head(right)).
    let j = &block.head;
    let mut terms = vec![
        (HEAD, j.clone()),
        (g, j.times(a).negated()),
        (beyond, j.times(&coupling.b).negated()),
    ];
    if cyclic {
        terms.push((t_beyond, j.times(a).times(&known.of_t).negated()));
        plan.combine(t, &[(t_beyond, one.clone())]);
    }
    plan.combine(x, &terms);
    if k > 0 {
        plan.exchange(vec![(k - 1, pair(x))], vec![]);
    }
    if line.left_of(k).is_some() {
        let n = line.port(k).beyond_left.part([0, 0], p, p).negated();
        let mut terms = vec![(g, n.clone()), (x, n.times(&known.reflected))];
        if cyclic {
            terms.push((t, n.times(&known.of_t)));
        }
        inflow_from_left(line, k, &mut plan, &terms);
    }
    if line.right_of(k).is_some() {
        inflow_from_right(line, k, &mut plan, beyond);
    }
    Ok((operator, plan))
}

/// Relation of the blocks to the left with block k added.
fn taken(line: &Line, k: usize, known: &Known) -> Result<(Taken, Known), String> {
    let coupling = line.port(k).coupling();
    let block = Taken::new(&coupling, &known.reflected)?;
    // x_head = J (u − a g − a Γ t) − J b x_head(right) in x₀ = q + Q x_head + R t.
    let first = known.first_of_head.times(&block.head);
    let of_t = first.times(&coupling.a).times(&known.of_t);
    let next = Known {
        reflected: block.reflected.clone(),
        of_t: block.through.times(&known.of_t),
        first_of_head: first.times(&coupling.b).negated(),
        first_of_t: known.first_of_t.minus(&of_t),
    };
    Ok((block, next))
}
