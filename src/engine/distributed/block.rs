//! A line split into blocks, and the operator of one block.
//!
//! Row j of A f' = B f, j counted from the start of a block, with the contributions from outside the block on the
//! right-hand side:
//! ```text
//! Σ A[j,m] f'[m] = Σ B[j,m] f[m] + z[j]      sums over the points m of the block
//! z = H f_halo − N f'_beyond                 zero except in the first rows, and likewise for the last
//! ```
//! f_halo are the neighbour's points that B reads, f'_beyond the p results that A couples to, p half the bandwidth.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::rc::Rc;

use super::two_port::TwoPort;
use crate::engine::{EndRow, LineOperator};
use crate::lines::{BandedMatrix, Factors};

/// A line split into blocks.
pub(super) struct Line<'a> {
    pub(super) operator: &'a LineOperator,
    pub(super) cyclic: bool,
    pub(super) shapes: Vec<Shape>,
    ports: Vec<Rc<TwoPort>>,
}

/// Everything that the equations of a block depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) points: usize,
    /// The block begins at the end of a non-periodic line.
    pub(super) first: bool,
    /// The block ends at the end of a non-periodic line.
    pub(super) last: bool,
}

impl<'a> Line<'a> {
    pub(super) fn new(operator: &'a LineOperator, lengths: &[usize]) -> Result<Self, String> {
        assert_eq!(lengths.iter().sum::<usize>(), operator.len(), "the blocks add up to the line");
        assert!(lengths.len() > 1, "a distributed line has two or more blocks");
        let cyclic = operator.periodic;
        let last = lengths.len() - 1;
        let shape = |(k, &points): (usize, &usize)| Shape {
            points,
            first: !cyclic && k == 0,
            last: !cyclic && k == last,
        };
        let shapes: Vec<Shape> = lengths.iter().enumerate().map(shape).collect();
        let mut known = HashMap::new();
        let ports = shapes.iter().map(|shape| once(&mut known, *shape, || port(operator, *shape)));
        let ports = ports.collect::<Result<_, String>>()?;
        Ok(Self { operator, cyclic, shapes, ports })
    }

    pub(super) fn blocks(&self) -> usize {
        self.shapes.len()
    }

    pub(super) fn half_band(&self) -> usize {
        self.operator.matrix.half_band()
    }

    /// Response of block k, as its neighbours see it.
    pub(super) fn port(&self, k: usize) -> &TwoPort {
        &self.ports[k]
    }

    /// One block per neighbourhood (the shapes of a block and of its neighbours). Equal neighbourhoods may appear twice
    /// where they are not adjacent.
    pub(super) fn neighbourhoods(&self) -> impl Iterator<Item = usize> {
        let around = |k: usize| {
            let beside = [self.left_of(k), self.right_of(k)];
            (self.shapes[k], beside.map(|beside| beside.map(|k| self.shapes[k])))
        };
        (0..self.blocks()).filter(move |&k| k == 0 || around(k) != around(k - 1))
    }

    pub(super) fn left_of(&self, k: usize) -> Option<usize> {
        let blocks = self.blocks();
        (self.cyclic || k > 0).then(|| (k + blocks - 1) % blocks)
    }

    pub(super) fn right_of(&self, k: usize) -> Option<usize> {
        let blocks = self.blocks();
        (self.cyclic || k + 1 < blocks).then(|| (k + 1) % blocks)
    }
}

/// Returns the cached value of `known` for this key, or computes it with `make`.
pub(super) fn once<K: Eq + Hash, V>(
    known: &mut HashMap<K, Rc<V>>,
    of: K,
    make: impl FnOnce() -> Result<V, String>,
) -> Result<Rc<V>, String> {
    Ok(match known.entry(of) {
        Entry::Occupied(known) => known.get().clone(),
        Entry::Vacant(new) => new.insert(Rc::new(make()?)).clone(),
    })
}

/// Two-port of a block of this shape.
fn port(operator: &LineOperator, shape: Shape) -> Result<TwoPort, String> {
    let fewest = fewest(operator, shape);
    if shape.points < fewest {
        return Err(format!(
            "a block of {} points is too short: an operator along this axis needs {fewest} \
             there; use fewer ranks along it, or `transpose`",
            shape.points
        ));
    }
    TwoPort::new(operator, shape)
}

/// Points that B reads to the left and to the right of an inner point.
pub(super) fn halo(operator: &LineOperator) -> [usize; 2] {
    let stencil = &operator.stencil;
    let low = stencil.half_width.saturating_add_signed(-stencil.down);
    [low, stencil.half_width.saturating_add_signed(stencil.up)]
}

/// Number of rows whose equations may reach out of the block on the left and on the right: 0 at the end of a line.
pub(super) fn inflow(operator: &LineOperator, shape: Shape) -> [usize; 2] {
    let p = operator.matrix.half_band();
    let [low, high] = halo(operator);
    [if shape.first { 0 } else { p.max(low) }, if shape.last { 0 } else { p.max(high) }]
}

/// Minimum number of points of a block: it must hold the points that its neighbours reach, and the closures with all
/// points that they read.
pub(super) fn fewest(operator: &LineOperator, shape: Shape) -> usize {
    let [low, high] = halo(operator);
    let inner = operator.matrix.half_band().max(low).max(high).max(1);
    let closed = |rows: &[EndRow], read: &dyn Fn(&EndRow) -> usize| {
        rows.iter().map(read).max().unwrap_or(0).max(rows.len())
    };
    let mut fewest = inner;
    if shape.first {
        fewest = fewest.max(closed(&operator.left, &|row| row.first + row.weights.len()));
    }
    if shape.last {
        fewest = fewest.max(closed(&operator.right, &|row| operator.len() - row.first));
    }
    fewest
}

impl Shape {
    /// The row of the whole line that holds the equation of point m of the block.
    fn row(self, operator: &LineOperator, m: usize) -> usize {
        match (self.first, self.last) {
            (true, _) => m,
            (_, true) => operator.len() - self.points + m,
            _ => operator.len() / 2,
        }
    }

    /// A at row m of the block, d columns to the right of the diagonal, inside or outside the block.
    pub(super) fn a(self, operator: &LineOperator, m: usize, d: isize) -> f64 {
        if d.abs() > 2 { 0.0 } else { operator.matrix.entry(self.row(operator, m), d) }
    }

    /// B at row m of the block: offsets and weights, inside or outside the block.
    pub(super) fn b(self, operator: &LineOperator, m: usize) -> Vec<(isize, f64)> {
        operator.row(self.row(operator, m))
    }

    /// Weight in B at row m of the operand's point `column`, both counted from the start of the block.
    pub(super) fn weight(self, operator: &LineOperator, m: usize, column: isize) -> f64 {
        let there = |(offset, _): &(isize, f64)| m.cast_signed() + offset == column;
        self.b(operator, m).into_iter().filter(there).map(|(_, weight)| weight).sum()
    }

    /// A inside the block.
    pub(super) fn matrix(self, operator: &LineOperator) -> BandedMatrix {
        BandedMatrix::open(self.points, |m, d| self.a(operator, m, d))
    }

    /// A and B inside the block; rows that reach out keep only their entries inside.
    pub(super) fn operator(self, operator: &LineOperator) -> Result<LineOperator, String> {
        let n = self.points;
        let [low, high] = halo(operator);
        let left = if self.first { operator.left.len() } else { low }.min(n);
        let right = if self.last { operator.right.len() } else { high }.min(n - left);
        let end_row = |m: usize| -> EndRow {
            let column = |offset: isize| m.checked_add_signed(offset).filter(|c| *c < n);
            let row = operator.row(self.row(operator, m)).into_iter();
            let inside: Vec<(usize, f64)> =
                row.filter_map(|(offset, weight)| Some((column(offset)?, weight))).collect();
            let first = inside.first().map_or(0, |(c, _)| *c);
            let mut weights = vec![0.0; inside.last().map_or(1, |(c, _)| c + 1 - first)];
            for (column, weight) in inside {
                weights[column - first] = weight;
            }
            EndRow { first, weights }
        };
        let matrix = self.matrix(operator);
        Ok(LineOperator {
            factors: Factors::checked(&matrix).map_err(|row| no_pivot(self, row))?,
            matrix,
            stencil: operator.stencil,
            periodic: false,
            left: (0..left).map(end_row).collect(),
            right: (n - right..n).map(end_row).collect(),
            ends: None,
            precision: operator.precision,
        })
    }
}

/// Error message for a block that cannot be factored.
pub(super) fn no_pivot(shape: Shape, row: usize) -> String {
    format!(
        "row {row} of a block of {} points has no pivot with this closure: use another number of \
         ranks along this axis, or `transpose`",
        shape.points
    )
}
