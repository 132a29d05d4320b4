//! Block as a two-port: response of its end values to the interface values.
//!
//! With y = A_k⁻¹ B_k f the result for zero interface values, z_left and z_right the interface values of the first and
//! last rows, and *head* and *tail* the first and last p points,
//! ```text
//! x_head = y_head + head_left z_left + head_right z_right        head_left = A_k⁻¹[head, first rows], ...
//! x_tail = y_tail + tail_left z_left + tail_right z_right
//! z_left = halo_left f(left neighbour's last points) − beyond_left x_tail(left neighbour)
//! z_right = halo_right f(right neighbour's first points) − beyond_right x_head(right neighbour)
//! ```

use super::block::{Shape, halo, inflow, no_pivot};
use super::matrix::Matrix;
use crate::engine::LineOperator;
use crate::lines::{BandedMatrix, Factors, solve};

/// Matrices of the relations in the module documentation. Those of an end without neighbour have no columns (or no
/// rows).
#[derive(Clone, Debug)]
pub(super) struct TwoPort {
    pub(super) head_left: Matrix,
    pub(super) head_right: Matrix,
    pub(super) tail_left: Matrix,
    pub(super) tail_right: Matrix,
    pub(super) halo_left: Matrix,
    pub(super) halo_right: Matrix,
    pub(super) beyond_left: Matrix,
    pub(super) beyond_right: Matrix,
}

/// Reduced equations of a block (Mattor et al. 1995, written for p unknowns per end):
/// ```text
/// x_head = u − a x_tail(left neighbour) − b x_head(right neighbour)
/// x_tail = v − c x_tail(left neighbour) − d x_head(right neighbour)
/// ```
/// with u and v the ends of the result for the block's own operand and halo.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) c: Matrix,
    pub(super) d: Matrix,
}

impl Coupling {
    /// Returns the coupling with left and right, and head and tail, exchanged.
    pub(super) fn mirrored(&self) -> Self {
        let Self { a, b, c, d } = self.clone();
        Self { a: d, b: c, c: b, d: a }
    }
}

/// Relation of all blocks to the left of an interface, x_tail = g + G x_head with x_head of the block to its right,
/// extended by one more block:
/// ```text
/// x_head' = J (u − a g) − J b x_head(right)       J = (1 + a G)⁻¹, primes: of this block
/// g' = v − K u + (K a − c) g                      K = c G J
/// G' = K b − d
/// ```
/// The relation of the blocks to the right of an interface follows from the mirrored coupling.
pub(super) struct Taken {
    /// J.
    pub(super) head: Matrix,
    /// K.
    pub(super) of_head: Matrix,
    /// K a − c.
    pub(super) through: Matrix,
    /// G'.
    pub(super) reflected: Matrix,
}

impl Taken {
    pub(super) fn new(block: &Coupling, reflected: &Matrix) -> Result<Self, String> {
        let Coupling { a, b, c, d } = block;
        let head = Matrix::identity(a.rows).plus(&a.times(reflected)).inverse()?;
        let of_head = c.times(reflected).times(&head);
        let through = of_head.times(a).minus(c);
        let reflected = of_head.times(b).minus(d);
        Ok(Self { head, of_head, through, reflected })
    }
}

impl TwoPort {
    pub(super) fn new(operator: &LineOperator, shape: Shape) -> Result<Self, String> {
        let n = shape.points;
        let p = operator.matrix.half_band();
        let [low, high] = halo(operator);
        let [left, right] = inflow(operator, shape);
        let matrix = shape.matrix(operator);
        let columns = inverse_columns(&matrix, (0..left).chain(n - right..n));
        let columns = columns.map_err(|row| no_pivot(shape, row))?;
        let response = |first: usize, from: usize, count: usize| {
            Matrix::from_fn(p, count, |i, j| columns[from + j][first + i])
        };
        // Offsets from the rows of the interface values to the points beyond the end.
        let before = |j: usize, column: usize, width: usize| {
            column.cast_signed() - width.cast_signed() - j.cast_signed()
        };
        let after = |j: usize, column: usize| (right - j + column).cast_signed();
        let row = |j: usize| n - right + j;
        let outside = |m: usize, d: isize| shape.weight(operator, m, m.cast_signed() + d);
        Ok(Self {
            head_left: response(0, 0, left),
            head_right: response(0, left, right),
            tail_left: response(n - p, 0, left),
            tail_right: response(n - p, left, right),
            halo_left: Matrix::from_fn(left, low, |j, c| outside(j, before(j, c, low))),
            halo_right: Matrix::from_fn(right, high, |j, c| outside(row(j), after(j, c))),
            beyond_left: Matrix::from_fn(left, p, |j, c| shape.a(operator, j, before(j, c, p))),
            beyond_right: Matrix::from_fn(right, p, |j, c| shape.a(operator, row(j), after(j, c))),
        })
    }

    /// The reduced equations.
    pub(super) fn coupling(&self) -> Coupling {
        Coupling {
            a: self.head_left.times(&self.beyond_left),
            b: self.head_right.times(&self.beyond_right),
            c: self.tail_left.times(&self.beyond_left),
            d: self.tail_right.times(&self.beyond_right),
        }
    }
}

/// Returns columns of the inverse of a matrix, or the row that has no pivot.
pub(super) fn inverse_columns(
    matrix: &BandedMatrix,
    columns: impl Iterator<Item = usize>,
) -> Result<Vec<Vec<f64>>, usize> {
    let factors = Factors::checked(matrix)?;
    let column = |j: usize| {
        let mut column = vec![0.0; matrix.len()];
        column[j] = 1.0;
        solve(&factors, &mut column);
        column
    };
    Ok(columns.map(column).collect())
}
