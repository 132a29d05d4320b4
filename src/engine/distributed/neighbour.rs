//! One message to each neighbour.
//!
//! At an interface the left block receives z_right and the right block z_left. Each is the sum of s, the value that the
//! other block sends if its interface values are zero, and of the reflection of the interface value that the other block
//! receives there (matrices of `TwoPort`; primes: the other block):
//! ```text
//! z_left = s' + ρ z_right'        ρ = − beyond_left tail_right'
//! z_right' = s + σ z_left         σ = − beyond_right' head_left
//! z_left = (1 − ρ σ)⁻¹ (s' + ρ s),   z_right' = (1 − σ ρ)⁻¹ (s + σ s')
//! ```
//! with s' and s weighted sums of the points next to the interface. Transmission through a block from one interface to
//! the other is neglected, which is exact to round-off where A⁻¹ decays within the block: the parallel diagonal
//! dominant algorithm (Sun 1995), with interfaces solved exactly.

use super::block::{Line, Shape, halo};
use super::functional::{corrections, leading, result_rows, trailing};
use super::matrix::Matrix;
use super::plan::{BlockCoupling, Plan, slot};
use super::two_port::inverse_columns;
use crate::engine::LineOperator;
use crate::lines::BandedMatrix;

/// Slots for the messages from the right neighbour and from the left: adjacent, in the order in which a single
/// neighbour on both sides sends them.
pub(super) const FROM_RIGHT: usize = slot::FREE;
pub(super) const FROM_LEFT: usize = slot::FREE + 1;

pub(super) fn distribute(
    line: &Line,
    positions: &[usize],
) -> Result<Vec<(LineOperator, Plan)>, String> {
    if !reaches_no_further(line) {
        let points = (0..line.blocks()).map(|k| line.shapes[k].points).min().unwrap_or(0);
        return Err(format!(
            "`neighbour` needs blocks of {} points for an operator along this axis, the shortest \
             has {points}: use fewer ranks along it, or `pcr`, `chain`, `gather` or `transpose`",
            reach(line.operator)
        ));
    }
    positions.iter().map(|&k| block(line, k)).collect()
}

fn block(line: &Line, k: usize) -> Result<(LineOperator, Plan), String> {
    let mut operator = line.shapes[k].operator(line.operator)?;
    let [left, right] = corrections(line.operator, line.shapes[k])?;
    let sources = outflow(line, k)?;
    let ends = BlockCoupling { sources, left, right };

    let mut plan = Plan::new(&ends);
    plan.slot(ends.right.len());
    plan.slot(ends.left.len());
    plan.meet(line.left_of(k), line.right_of(k));
    let one = |matrix: &Matrix| Matrix::identity(matrix.rows);
    if let Some(other) = line.left_of(k) {
        let (own, other) = (line.port(k), line.port(other));
        let rho = own.beyond_left.times(&other.tail_right).negated();
        let sigma = other.beyond_right.times(&own.head_left).negated();
        let inverse = one(&rho).minus(&rho.times(&sigma)).inverse()?;
        let terms = [(slot::TO_LEFT, inverse.times(&rho)), (FROM_LEFT, inverse)];
        plan.combine(slot::LEFT, &terms);
    }
    if let Some(other) = line.right_of(k) {
        let (own, other) = (line.port(k), line.port(other));
        let rho = other.beyond_left.times(&own.tail_right).negated();
        let sigma = own.beyond_right.times(&other.head_left).negated();
        let inverse = one(&sigma).minus(&sigma.times(&rho)).inverse()?;
        let terms = [(slot::TO_RIGHT, inverse.times(&sigma)), (FROM_RIGHT, inverse)];
        plan.combine(slot::RIGHT, &terms);
    }
    operator.ends = Some(ends);
    Ok((operator, plan))
}

/// True where the transmission through every block is below round-off.
pub(super) fn reaches_no_further(line: &Line) -> bool {
    let through = |k: usize| {
        let (Some(left), Some(right)) = (line.left_of(k), line.right_of(k)) else { return 0.0 };
        let block = line.port(k);
        let to_right = line.port(right).beyond_left.times(&block.tail_left).norm();
        to_right.max(line.port(left).beyond_right.times(&block.head_right).norm())
    };
    // Relative to the values that enter a block: at most their rounding error.
    line.neighbourhoods().all(|k| through(k) <= line.operator.precision.epsilon())
}

/// Minimum number of points of an inner block whose transmission is below round-off.
pub(super) fn reach(operator: &LineOperator) -> usize {
    let inner = Shape { points: 0, first: false, last: false };
    let [alpha, beta] = [1, 2].map(|d| inner.a(operator, 0, d));
    let p = operator.matrix.half_band();
    let [low, high] = halo(operator);
    let fewest = (2 * p + 1).max(low).max(high);
    if p == 0 {
        return low.max(high);
    }
    let through = |n: usize| {
        let matrix = BandedMatrix::toeplitz(n, alpha, beta, false);
        let columns = inverse_columns(&matrix, 0..p.max(low).max(high)).unwrap_or_default();
        let tail = Matrix::from_fn(p, columns.len(), |i, j| columns[j][n - p + i]);
        let beyond = Matrix::from_fn(p, p, |j, c| [1.0, alpha, beta, 0.0][p + j - c]);
        beyond.times(&tail).norm() <= operator.precision.epsilon()
    };
    let mut enough = fewest;
    while !through(enough) {
        enough *= 2;
    }
    let mut short = fewest;
    while short < enough {
        let middle = usize::midpoint(short, enough);
        if through(middle) { enough = middle } else { short = middle + 1 }
    }
    enough
}

/// Values that a block with zero interface values sends: rows of H − N A_k⁻¹ B_k.
fn outflow(line: &Line, k: usize) -> Result<[Vec<Vec<f64>>; 4], String> {
    let shape = line.shapes[k];
    let (n, p) = (shape.points, line.half_band());
    let of_result = result_rows(line.operator, shape, (0..p).chain(n - p..n))?;
    let rows = |own: &Matrix, first: usize, beyond: &Matrix, of_result: &[Vec<f64>]| {
        let row = |j: usize| {
            let mut row = vec![0.0; n];
            for c in 0..own.columns {
                row[first + c] = own.at(j, c);
            }
            for (c, of_point) in of_result.iter().enumerate() {
                for (sum, weight) in row.iter_mut().zip(of_point) {
                    *sum -= beyond.at(j, c) * weight;
                }
            }
            row
        };
        (0..own.rows).map(row).collect::<Vec<_>>()
    };
    let mut sources = [const { Vec::new() }; 4];
    if let Some(other) = line.left_of(k) {
        let other = line.port(other);
        let planes = rows(&other.halo_right, 0, &other.beyond_right, &of_result[..p]);
        sources[slot::TO_LEFT] = leading(&planes, line.operator.precision);
    }
    if let Some(other) = line.right_of(k) {
        let other = line.port(other);
        let first = n - other.halo_left.columns;
        let planes = rows(&other.halo_left, first, &other.beyond_left, &of_result[p..]);
        sources[slot::TO_RIGHT] = trailing(&planes, line.operator.precision);
    }
    Ok(sources)
}
