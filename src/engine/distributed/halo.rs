//! First and last steps of `pcr`, `gather` and `chain`, which are exact for blocks of any length.
//!
//! First the neighbours exchange the points that B reads beyond a block. With them each rank computes the ends of the
//! result of its block alone, u (head) and v (tail): weighted sums of its own points, plus small matrices times the
//! halo. At the end the interface values follow from the results that A couples to (`TwoPort`).

use super::block::{Line, halo};
use super::functional::{corrections, leading, result_rows, trailing};
use super::matrix::Matrix;
use super::neighbour::{FROM_LEFT, FROM_RIGHT};
use super::plan::{BlockCoupling, Plan, slot};
use crate::engine::LineOperator;

/// Slots of u and v.
pub(super) const HEAD: usize = slot::FREE + 2;
pub(super) const TAIL: usize = slot::FREE + 3;

/// The block, and a plan whose last results are u and v.
pub(super) fn begin(line: &Line, k: usize) -> Result<(LineOperator, Plan), String> {
    let shape = line.shapes[k];
    let mut operator = shape.operator(line.operator)?;
    let (n, p) = (shape.points, line.half_band());
    let [low, high] = halo(line.operator);
    let [left, right] = corrections(line.operator, shape)?;
    let of_result = result_rows(line.operator, shape, (0..p).chain(n - p..n))?;
    let units = |wanted: bool, count: usize| match wanted {
        true => Matrix::identity(count).nested(),
        false => Vec::new(),
    };
    let ends = BlockCoupling {
        sources: [
            units(line.left_of(k).is_some(), high),
            units(line.right_of(k).is_some(), low),
            leading(&of_result[..p], line.operator.precision),
            trailing(&of_result[p..], line.operator.precision),
        ],
        left,
        right,
    };

    let mut plan = Plan::new(&ends);
    plan.slot(if line.right_of(k).is_some() { high } else { 0 });
    plan.slot(if line.left_of(k).is_some() { low } else { 0 });
    plan.slot(p);
    plan.slot(p);
    plan.meet(line.left_of(k), line.right_of(k));
    let port = line.port(k);
    let one = Matrix::identity(p);
    let mut end = |to: usize, own: usize, of_left: &Matrix, of_right: &Matrix| {
        let mut terms = vec![(own, one.clone())];
        if line.left_of(k).is_some() {
            terms.push((FROM_LEFT, of_left.times(&port.halo_left)));
        }
        if line.right_of(k).is_some() {
            terms.push((FROM_RIGHT, of_right.times(&port.halo_right)));
        }
        plan.combine(to, &terms);
    };
    end(HEAD, slot::HEAD, &port.head_left, &port.head_right);
    end(TAIL, slot::TAIL, &port.tail_left, &port.tail_right);
    operator.ends = Some(ends);
    Ok((operator, plan))
}

/// Set the left interface values: the contribution of the halo, and in the first p rows Σ matrix × slot.
pub(super) fn inflow_from_left(line: &Line, k: usize, plan: &mut Plan, terms: &[(usize, Matrix)]) {
    let halo = &line.port(k).halo_left;
    let padded = |(slot, matrix): &(usize, Matrix)| {
        let entry = |i, j| if i < matrix.rows { matrix.at(i, j) } else { 0.0 };
        (*slot, Matrix::from_fn(halo.rows, matrix.columns, entry))
    };
    let terms: Vec<_> = terms.iter().map(padded).chain([(FROM_LEFT, halo.clone())]).collect();
    plan.combine(slot::LEFT, &terms);
}

/// Set the right interface values, where slot `head` is the neighbour's x_head.
pub(super) fn inflow_from_right(line: &Line, k: usize, plan: &mut Plan, head: usize) {
    let port = line.port(k);
    let terms = [(head, port.beyond_right.negated()), (FROM_RIGHT, port.halo_right.clone())];
    plan.combine(slot::RIGHT, &terms);
}
