//! Symmetry planes: the rows that close an operator there, and the signs of the values of a sweep under reflection.

use std::collections::BTreeSet;

use super::formula::{Node, PointFormula};
use super::operator::stencil;
use super::{Expr, Op, Operation, Shift, Sweep, Value};
use crate::grid::End;
use crate::scheme::{Closure, ClosureRow, Kind, Scheme, default_closure, open_closure};

/// Returns the rows that close `scheme` at an end of a line, for odd or even operands; `None` where the scheme has no
/// such rows.
pub fn closure_at(end: End, scheme: &Scheme, odd: bool) -> Option<Closure> {
    match end {
        End::ByParts => default_closure(scheme),
        End::Symmetry => open_closure(scheme).map(|_| reflection(scheme, odd)),
        End::Taylor => open_closure(scheme),
    }
}

/// Rows of a symmetry plane through the first point: the scheme itself, where points beyond the plane are the images of
/// those before it. `odd`: the operand changes sign by reflection. Not for staggered schemes.
fn reflection(scheme: &Scheme, odd: bool) -> Closure {
    let stencil = stencil(scheme, Shift::None, 1.0);
    let (reach, band) = (stencil.half_width, scheme.half_band());
    let rows = reach.max(band);
    let result_odd = odd != (scheme.kind == Kind::FirstDerivative);
    let row = |i: usize| {
        // Entries at points 0, 1, ...; entries at images are added to those of the original points.
        let folded = |entries: &[(isize, f64)], reach: usize, odd: bool| {
            let mut row = vec![0.0; i + reach + 1];
            for (offset, weight) in entries {
                let at = i.cast_signed() + offset;
                row[at.unsigned_abs()] += if at < 0 && odd { -weight } else { *weight };
            }
            row
        };
        let [alpha, beta] = [scheme.alpha, scheme.beta];
        let lhs = [(-2, beta), (-1, alpha), (0, 1.0), (1, alpha), (2, beta)];
        let lhs = folded(&lhs[2 - band..=2 + band], band, result_odd);
        let below = if stencil.odd { -1.0 } else { 1.0 };
        let weights = (1_isize..).zip(&stencil.weights[..reach]);
        let mut rhs: Vec<_> = weights.flat_map(|(s, w)| [(s, *w), (-s, below * w)]).collect();
        rhs.push((0, stencil.center));
        let rhs = folded(&rhs, reach, odd);
        // A row has 1 on the diagonal.
        let diagonal = lhs[i];
        let beside =
            (0_isize..).zip(lhs).map(|(at, weight)| (at - i.cast_signed(), weight / diagonal));
        ClosureRow {
            lhs: beside.filter(|(offset, weight)| *offset != 0 && *weight != 0.0).collect(),
            rhs: rhs.iter().map(|weight| weight / diagonal).collect(),
            order: scheme.order,
        }
    };
    Closure {
        name: if odd { "reflection of an odd field" } else { "reflection of an even field" },
        kind: scheme.kind,
        rows: (0..rows).map(row).collect(),
        norm: &[0.5],
        source: "the scheme itself",
    }
}

impl Op {
    /// Returns this operator for operands that change sign by reflection.
    ///
    /// # Panics
    /// For staggered operators, which do not support symmetry planes.
    fn of_odd(self) -> Self {
        match self {
            Op::D1 => Op::D1OfOdd,
            Op::D2 => Op::D2OfOdd,
            Op::Filter => Op::FilterOfOdd,
            _ => panic!("{} does not support symmetry planes", self.name()),
        }
    }
}

impl Sweep {
    /// Returns the sweep for lines between symmetry planes: operators with odd operands are replaced by those for odd
    /// operands. Which fields are odd is declared in the sweep ([`SweepBuilder::odd`](super::SweepBuilder::odd)); the
    /// parity of all other values follows.
    ///
    /// # Panics
    /// If a sum has odd and even terms.
    #[must_use]
    pub(crate) fn mirrored(&self) -> Self {
        let mut odd: BTreeSet<Value> = self.odd.iter().copied().collect();
        let mut mirrored = self.clone();
        for operation in &mut mirrored.operations {
            match operation {
                Operation::Apply { op, operand, result } => {
                    let is_odd = is_odd(operand, &odd);
                    if is_odd != (*op == Op::D1) {
                        odd.insert(*result);
                    }
                    if is_odd {
                        *op = op.of_odd();
                    }
                }
                Operation::Let { expr, result } if is_odd(expr, &odd) => {
                    odd.insert(*result);
                }
                Operation::Map { map, operands, results } => {
                    let made = results.iter().zip(odd_results(map, operands, &odd));
                    odd.extend(made.filter(|(_, odd)| *odd).map(|(result, _)| *result));
                }
                Operation::Advance { value, result, .. } if odd.contains(value) => {
                    odd.insert(*result);
                }
                _ => {}
            }
        }
        mirrored
    }
}

/// Whether an expression changes sign by reflection.
fn is_odd(expr: &Expr, odd: &BTreeSet<Value>) -> bool {
    let of_factors =
        |factors: &[Value]| factors.iter().filter(|value| odd.contains(value)).count() % 2 == 1;
    let mut terms = expr.0.iter().map(|term| of_factors(&term.factors));
    let first = terms.next().unwrap_or(false);
    assert!(terms.all(|term| term == first), "a sum of odd and even terms");
    first
}

/// Which results of `map` change sign under reflection, given the odd operands.
fn odd_results(map: &PointFormula, operands: &[Value], odd: &BTreeSet<Value>) -> Vec<bool> {
    let mut nodes: Vec<bool> = Vec::with_capacity(map.nodes.len());
    for node in &map.nodes {
        let is_odd = match node {
            Node::Read(at) => odd.contains(&operands[*at]),
            Node::Before(_) | Node::Parameter(_) | Node::Constant(_) => false,
            Node::Add(a, b) | Node::Sub(a, b) => {
                assert_eq!(nodes[a.0], nodes[b.0], "{}: a sum of odd and even terms", map.name);
                nodes[a.0]
            }
            Node::Mul(a, b) | Node::Div(a, b) => nodes[a.0] != nodes[b.0],
            Node::Neg(a) => nodes[a.0],
            Node::Abs(_) => false,
            Node::Sqrt(a) | Node::Pow(a, _) => {
                assert!(!nodes[a.0], "{}: a power of an odd number", map.name);
                false
            }
        };
        nodes.push(is_odd);
    }
    map.results.iter().map(|result| nodes[result.0]).collect()
}
