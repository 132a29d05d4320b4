//! The equations along one axis, written once as a list of operations on lines.
//!
//! All operators of a sweep act along the same axis, so lines are independent: a backend may run a sweep operation by
//! operation over the whole grid, or all operations on one tile of lines after another while the tile stays in cache. A
//! sweep is built by writing the formula:
//!
//! ```
//! use kolmo::engine::{Op, SweepBuilder};
//! let (u, rate) = (0, 0);                          // slots in the lists of fields given when it is run
//! let s = SweepBuilder::new();
//! let u = s.read(u);
//! s.add(rate, -1.0 * s.d1(u) + 0.1 * s.d2(u)); // ∂u/∂t = − ∂u/∂x + 0.1 ∂²u/∂x²
//! let sweep = s.build();
//! assert_eq!(sweep.count(Op::D1), 1);
//! ```

use std::collections::BTreeMap;

use super::{Expr, PointFormula, Value};

/// Operator of a sweep. On a stretched axis derivatives are along ξ, in which points are equally spaced: with
/// x' = dx/dξ ([`Grid::jacobian`](crate::grid::Grid::jacobian)) ∂f/∂x = (∂f/∂ξ)/x' and ∂²f/∂x² = (∂²f/∂ξ² − x'' ∂f/∂x)/x'².
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// First derivative at the points.
    D1,
    /// Second derivative at the points.
    D2,
    /// Derivative from points to midpoints.
    DerivativeToMidpoints,
    /// Derivative from midpoints to points.
    DerivativeToPoints,
    /// Interpolation from points to midpoints.
    InterpolateToMidpoints,
    /// Filter at the points.
    Filter,
    /// [`Op::D1`] along an axis with a symmetry plane, for an operand that changes sign by reflection. On such an axis
    /// the operators above are for operands that do not.
    D1OfOdd,
    /// [`Op::D2`] likewise.
    D2OfOdd,
    /// [`Op::Filter`] likewise.
    FilterOfOdd,
}

impl Op {
    /// Number of operators.
    pub(crate) const COUNT: usize = Op::FilterOfOdd as usize + 1;

    /// Name in words.
    pub fn name(self) -> &'static str {
        match self {
            Op::D1 => "the first derivative",
            Op::D2 => "the second derivative",
            Op::DerivativeToMidpoints => "the derivative at midpoints",
            Op::DerivativeToPoints => "the derivative back at the points",
            Op::InterpolateToMidpoints => "the interpolation to midpoints",
            Op::Filter => "the filter",
            Op::D1OfOdd => "the first derivative of odd fields",
            Op::D2OfOdd => "the second derivative of odd fields",
            Op::FilterOfOdd => "the filter of odd fields",
        }
    }
}

/// One operation on the lines of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    /// `result` is field `slot` of the fields that are read. It may be a plane: the values at one z, which hold at
    /// every z.
    Read { slot: usize, plane: bool, result: Value },
    /// `result` is field `slot` of the fields that are written, with its value before the sweep.
    Previous { slot: usize, result: Value },
    /// `result` is `op` applied to the operand.
    Apply { op: Op, operand: Expr, result: Value },
    /// `result` is an expression.
    Let { expr: Expr, result: Value },
    /// `results` are the values of a formula at `operands`.
    Map { map: PointFormula, operands: Vec<Value>, results: Vec<Value> },
    /// `result` is `value` + the advance of the run × the sum in field `slot` of the fields that are written.
    Advance { value: Value, slot: usize, result: Value },
    /// Add the expression to field `slot` of the written fields, whose old value is multiplied by β once per run.
    Add { slot: usize, expr: Expr },
    /// Set field `slot` of the written fields to the expression.
    Store { slot: usize, expr: Expr },
}

impl Operation {
    /// The values that it computes.
    pub(crate) fn results(&self) -> &[Value] {
        match self {
            Operation::Read { result, .. }
            | Operation::Previous { result, .. }
            | Operation::Apply { result, .. }
            | Operation::Let { result, .. }
            | Operation::Advance { result, .. } => std::slice::from_ref(result),
            Operation::Map { results, .. } => results,
            Operation::Add { .. } | Operation::Store { .. } => &[],
        }
    }

    /// The values that it reads, without the sum in a field.
    pub(crate) fn used(&self) -> impl Iterator<Item = Value> + '_ {
        let values: &[Value] = match self {
            Operation::Map { operands, .. } => operands,
            Operation::Advance { value, .. } => std::slice::from_ref(value),
            _ => &[],
        };
        let terms = self.expr().into_iter().flat_map(|expr| &expr.0);
        terms.flat_map(|term| &term.factors).chain(values).copied()
    }

    /// The expression that it evaluates.
    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            Operation::Apply { operand: expr, .. }
            | Operation::Let { expr, .. }
            | Operation::Add { expr, .. }
            | Operation::Store { expr, .. } => Some(expr),
            _ => None,
        }
    }

    /// Mutable reference to the expression that it evaluates.
    pub(crate) fn expr_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Operation::Apply { operand: expr, .. }
            | Operation::Let { expr, .. }
            | Operation::Add { expr, .. }
            | Operation::Store { expr, .. } => Some(expr),
            _ => None,
        }
    }

    /// True if it applies an operator.
    pub(crate) fn applies(&self) -> bool {
        matches!(self, Operation::Apply { .. })
    }

    /// The field to whose sum it adds.
    pub(crate) fn adds_to(&self) -> Option<usize> {
        match self {
            Operation::Add { slot, .. } => Some(*slot),
            _ => None,
        }
    }

    /// The field whose sum it needs.
    pub(crate) fn sum_used(&self) -> Option<usize> {
        match self {
            Operation::Advance { slot, .. } => Some(*slot),
            _ => None,
        }
    }
}

/// The operations along one axis, in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sweep {
    pub(crate) operations: Vec<Operation>,
    pub(crate) values: usize,
    /// The fields among its values that change sign where lines are reflected.
    pub(crate) odd: Vec<Value>,
}

impl Sweep {
    /// How many times `op` is applied.
    pub fn count(&self, op: Op) -> usize {
        let matches =
            |o: &&Operation| matches!(o, Operation::Apply { op: applied, .. } if *applied == op);
        self.operations.iter().filter(matches).count()
    }

    /// Number of operator applications: line solves per sweep.
    pub fn solves(&self) -> usize {
        self.operations.iter().filter(|operation| operation.applies()).count()
    }

    /// Number of fields that it reads.
    pub fn fields_read(&self) -> usize {
        let read = |operation: &Operation| match operation {
            Operation::Read { slot, .. } => slot + 1,
            _ => 0,
        };
        self.operations.iter().map(read).max().unwrap_or(0)
    }

    /// Number of fields that it writes.
    pub fn fields_written(&self) -> usize {
        let written = |operation: &Operation| match operation {
            Operation::Previous { slot, .. }
            | Operation::Add { slot, .. }
            | Operation::Store { slot, .. } => slot + 1,
            _ => 0,
        };
        self.operations.iter().map(written).max().unwrap_or(0)
    }

    /// Number of operators that have to be applied one after another to compute each value.
    pub(crate) fn depths(&self) -> BTreeMap<Value, usize> {
        let mut depths = BTreeMap::new();
        let mut sums: BTreeMap<usize, usize> = BTreeMap::new();
        for operation in &self.operations {
            let of_sum = operation.sum_used().map(|slot| sums[&slot]);
            let of_values = operation.used().map(|value| depths[&value]);
            let deepest = of_values.chain(of_sum).max().unwrap_or(0);
            if let Some(slot) = operation.adds_to() {
                let sum = sums.entry(slot).or_default();
                *sum = (*sum).max(deepest);
            }
            for result in operation.results() {
                depths.insert(*result, deepest + usize::from(operation.applies()));
            }
        }
        depths
    }

    /// The operators by stage: those of one stage are independent of each other and depend only on earlier stages. For
    /// each (operator, operand, result), in the order in which they were written.
    pub(crate) fn stages(&self) -> Vec<Vec<(Op, &Expr, Value)>> {
        let depths = self.depths();
        let mut stages: Vec<Vec<_>> = Vec::new();
        for operation in &self.operations {
            if let Operation::Apply { op, operand, result } = operation {
                let stage = depths[result] - 1;
                stages.resize_with(stages.len().max(stage + 1), Vec::new);
                stages[stage].push((*op, operand, *result));
            }
        }
        stages
    }

    /// The operators that it applies, without duplicates.
    pub(crate) fn operators(&self) -> Vec<Op> {
        let mut ops: Vec<Op> = self.stages().iter().flatten().map(|(op, ..)| *op).collect();
        ops.sort_unstable_by_key(|op| *op as usize);
        ops.dedup();
        ops
    }

    /// True where the sweep does nothing.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}
