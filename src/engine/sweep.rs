//! The equations along one axis, written once as a list of operations on lines.
//!
//! All operators of a sweep act along the same axis, so lines do not see each other: a backend may run a sweep operation
//! by operation over the whole grid, or all operations on one tile of lines after another while it stays in cache.
//! A sweep is built by writing the formula:
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

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Mul, Neg, Sub};

/// What an operator of a sweep computes.
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
}

impl Op {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Op::D1 => "the first derivative",
            Op::D2 => "the second derivative",
            Op::DerivativeToMidpoints => "the derivative at midpoints",
            Op::DerivativeToPoints => "the derivative back at the points",
            Op::InterpolateToMidpoints => "the interpolation to midpoints",
            Op::Filter => "the filter",
        }
    }
}

/// A quantity on the lines of a sweep: a field, or what an operation made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) usize);

/// coefficient × product of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Monomial {
    pub(crate) coefficient: f64,
    pub(crate) factors: Vec<Value>,
}

/// A polynomial in values.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(crate) Vec<Monomial>);

impl Expr {
    /// The expression without terms: 0.
    pub fn zero() -> Self {
        Self(Vec::new())
    }

    /// The value this expression is, where it is nothing more.
    pub(crate) fn as_value(&self) -> Option<Value> {
        match self.0.as_slice() {
            [Monomial { coefficient: 1.0, factors }] if factors.len() == 1 => Some(factors[0]),
            _ => None,
        }
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Self(vec![Monomial { coefficient: 1.0, factors: vec![value] }])
    }
}

impl From<f64> for Expr {
    fn from(coefficient: f64) -> Self {
        Self(vec![Monomial { coefficient, factors: Vec::new() }])
    }
}

fn sum(mut a: Expr, b: Expr) -> Expr {
    a.0.extend(b.0);
    a
}

fn product(a: &Expr, b: &Expr) -> Expr {
    let pair = |x: &Monomial, y: &Monomial| Monomial {
        coefficient: x.coefficient * y.coefficient,
        factors: x.factors.iter().chain(&y.factors).copied().collect(),
    };
    Expr(a.0.iter().flat_map(|x| b.0.iter().map(move |y| pair(x, y))).collect())
}

macro_rules! arithmetic {
    ($($left:ty, $right:ty);* $(;)?) => {$(
        impl Add<$right> for $left {
            type Output = Expr;
            fn add(self, other: $right) -> Expr {
                sum(self.into(), other.into())
            }
        }
        impl Sub<$right> for $left {
            type Output = Expr;
            fn sub(self, other: $right) -> Expr {
                sum(self.into(), -Expr::from(other))
            }
        }
        impl Mul<$right> for $left {
            type Output = Expr;
            fn mul(self, other: $right) -> Expr {
                product(&self.into(), &other.into())
            }
        }
    )*};
}
arithmetic! {
    Value, Value; Value, Expr; Expr, Value; Expr, Expr;
    f64, Value; f64, Expr;
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(mut self) -> Expr {
        self.0.iter_mut().for_each(|monomial| monomial.coefficient = -monomial.coefficient);
        self
    }
}

impl Neg for Value {
    type Output = Expr;
    fn neg(self) -> Expr {
        -Expr::from(self)
    }
}

/// One operation on the lines of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    /// `result` is field `slot` of the fields that are read.
    Read { slot: usize, result: Value },
    /// `result` is field `slot` of the fields that are written, as it was before.
    Previous { slot: usize, result: Value },
    /// `result` is the operand under `op`.
    Apply { op: Op, operand: Expr, result: Value },
    /// `result` is an expression.
    Let { expr: Expr, result: Value },
    /// Field `slot` of those that are written, times β, plus the expression times the scale of the run.
    Add { slot: usize, expr: Expr },
    /// Field `slot` of those that are written becomes the expression.
    Store { slot: usize, expr: Expr },
}

impl Operation {
    /// The value that it makes.
    pub(crate) fn result(&self) -> Option<Value> {
        match self {
            Operation::Read { result, .. }
            | Operation::Previous { result, .. }
            | Operation::Apply { result, .. }
            | Operation::Let { result, .. } => Some(*result),
            Operation::Add { .. } | Operation::Store { .. } => None,
        }
    }

    /// The values that it reads.
    pub(crate) fn used(&self) -> impl Iterator<Item = Value> + '_ {
        let expr = match self {
            Operation::Read { .. } | Operation::Previous { .. } => None,
            Operation::Apply { operand: expr, .. }
            | Operation::Let { expr, .. }
            | Operation::Add { expr, .. }
            | Operation::Store { expr, .. } => Some(expr),
        };
        expr.into_iter().flat_map(|expr| &expr.0).flat_map(|monomial| &monomial.factors).copied()
    }
}

/// The operations along one axis, in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sweep {
    pub(crate) operations: Vec<Operation>,
    pub(crate) values: usize,
}

impl Sweep {
    /// How many times `op` is applied.
    pub fn count(&self, op: Op) -> usize {
        let matches =
            |o: &&Operation| matches!(o, Operation::Apply { op: applied, .. } if *applied == op);
        self.operations.iter().filter(matches).count()
    }

    /// How many operators are applied: line solves a sweep.
    pub fn solves(&self) -> usize {
        let applied = |o: &&Operation| matches!(o, Operation::Apply { .. });
        self.operations.iter().filter(applied).count()
    }

    /// Fields that it reads.
    pub fn fields_read(&self) -> usize {
        let read = |operation: &Operation| match operation {
            Operation::Read { slot, .. } => slot + 1,
            _ => 0,
        };
        self.operations.iter().map(read).max().unwrap_or(0)
    }

    /// Fields that it writes.
    pub fn fields_written(&self) -> usize {
        let written = |operation: &Operation| match operation {
            Operation::Previous { slot, .. }
            | Operation::Add { slot, .. }
            | Operation::Store { slot, .. } => slot + 1,
            _ => 0,
        };
        self.operations.iter().map(written).max().unwrap_or(0)
    }

    /// Values a point that it reads and writes, operators apart: each field that it reads once, each that it writes once, and
    /// once more where it adds to what is there.
    pub fn words(&self) -> usize {
        let mut touched = BTreeSet::new();
        for operation in &self.operations {
            match operation {
                Operation::Read { slot, .. } => drop(touched.insert((0, *slot))),
                Operation::Previous { slot, .. } => drop(touched.insert((1, *slot))),
                Operation::Add { slot, .. } => touched.extend([(1, *slot), (2, *slot)]),
                Operation::Store { slot, .. } => drop(touched.insert((2, *slot))),
                Operation::Apply { .. } | Operation::Let { .. } => {}
            }
        }
        touched.len()
    }

    /// Fields that it takes to keep what every operator makes, and the products that operators are applied to: what a
    /// backend needs that runs the sweep operation by operation.
    pub fn room(&self) -> usize {
        let is_field = |value: Value| {
            let origin = self.operations.iter().find(|operation| operation.result() == Some(value));
            !matches!(origin, Some(Operation::Let { .. }))
        };
        let kept = |operation: &Operation| match operation {
            Operation::Apply { operand, .. } => {
                1 + usize::from(!operand.as_value().is_some_and(is_field))
            }
            _ => 0,
        };
        self.operations.iter().map(kept).sum()
    }

    /// How many operators stand one behind the other before a value is known.
    pub(crate) fn depths(&self) -> BTreeMap<Value, usize> {
        let mut depths = BTreeMap::new();
        for operation in &self.operations {
            let deepest = operation.used().map(|value| depths[&value]).max().unwrap_or(0);
            if let Some(result) = operation.result() {
                let applied = matches!(operation, Operation::Apply { .. });
                depths.insert(result, deepest + usize::from(applied));
            }
        }
        depths
    }

    /// The operators, by stage: those of one stage do not depend on each other, but on what earlier stages made.
    /// For each (operator, operand, result), in the order in which they were written.
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

    /// True where the sweep does nothing.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

/// Writes a [`Sweep`]. Asking twice for the same field, or the same operator on the same operand, gives the same value:
/// what appears in several terms is computed once.
#[derive(Default)]
pub struct SweepBuilder {
    sweep: RefCell<Sweep>,
}

impl SweepBuilder {
    /// An empty sweep.
    pub fn new() -> Self {
        Self::default()
    }

    /// The field at `slot` of the fields that the sweep reads.
    pub fn read(&self, slot: usize) -> Value {
        self.value_of(|result| Operation::Read { slot, result })
    }

    /// The field at `slot` of the fields that the sweep writes, as it is before the sweep.
    ///
    /// # Panics
    /// Where it is first asked for after something was written to that field.
    pub fn previous(&self, slot: usize) -> Value {
        let read = |o: &Operation| matches!(o, Operation::Previous { slot: s, .. } if *s == slot);
        let written = self.stores(slot) || self.adds(slot);
        assert!(
            !written || self.any(read),
            "field {slot} is written before its previous value is read"
        );
        self.value_of(|result| Operation::Previous { slot, result })
    }

    /// `operand` under `op`.
    pub fn apply(&self, op: Op, operand: impl Into<Expr>) -> Value {
        let operand = operand.into();
        self.value_of(|result| Operation::Apply { op, operand, result })
    }

    /// First derivative of `operand`.
    pub fn d1(&self, operand: impl Into<Expr>) -> Value {
        self.apply(Op::D1, operand)
    }

    /// Second derivative of `operand`.
    pub fn d2(&self, operand: impl Into<Expr>) -> Value {
        self.apply(Op::D2, operand)
    }

    /// Give an expression that is used several times a value of its own.
    pub fn define(&self, expr: impl Into<Expr>) -> Value {
        let expr = expr.into();
        match expr.as_value() {
            Some(value) => value,
            None => self.value_of(|result| Operation::Let { expr, result }),
        }
    }

    /// Add `expr` to the field at `slot` of the fields that the sweep writes. An expression without terms leaves the field
    /// alone: β does not act on it either.
    ///
    /// # Panics
    /// Where something was stored to that field.
    pub fn add(&self, slot: usize, expr: impl Into<Expr>) {
        let expr = expr.into();
        assert!(!self.stores(slot), "field {slot} is both stored and added to");
        if !expr.0.is_empty() {
            self.sweep.borrow_mut().operations.push(Operation::Add { slot, expr });
        }
    }

    /// Subtract `expr` from the field at `slot` of the fields that the sweep writes.
    pub fn subtract(&self, slot: usize, expr: impl Into<Expr>) {
        self.add(slot, -expr.into());
    }

    /// Make the field at `slot` of the fields that the sweep writes equal to `expr`.
    ///
    /// # Panics
    /// Where something was stored or added to that field.
    pub fn store(&self, slot: usize, expr: impl Into<Expr>) {
        assert!(!self.stores(slot), "field {slot} is stored twice");
        assert!(!self.adds(slot), "field {slot} is both stored and added to");
        self.sweep.borrow_mut().operations.push(Operation::Store { slot, expr: expr.into() });
    }

    /// The sweep as written.
    pub fn build(self) -> Sweep {
        self.sweep.into_inner()
    }

    fn any(&self, is: impl Fn(&Operation) -> bool) -> bool {
        self.sweep.borrow().operations.iter().any(is)
    }

    fn stores(&self, slot: usize) -> bool {
        self.any(|o| matches!(o, Operation::Store { slot: s, .. } if *s == slot))
    }

    fn adds(&self, slot: usize) -> bool {
        self.any(|o| matches!(o, Operation::Add { slot: s, .. } if *s == slot))
    }

    /// The result of an operation that is there already, or of this one.
    fn value_of(&self, operation: impl FnOnce(Value) -> Operation) -> Value {
        let mut sweep = self.sweep.borrow_mut();
        let new = Value(sweep.values);
        let operation = operation(new);
        let known = sweep.operations.iter().find_map(|old| same_result(old, &operation));
        known.unwrap_or_else(|| {
            sweep.operations.push(operation);
            sweep.values += 1;
            new
        })
    }
}

/// The result of `old` where it computes what `new` would.
fn same_result(old: &Operation, new: &Operation) -> Option<Value> {
    use Operation::{Apply, Let, Previous, Read};
    match (old, new) {
        (Read { slot: a, result }, Read { slot: b, .. }) if a == b => Some(*result),
        (Previous { slot: a, result }, Previous { slot: b, .. }) if a == b => Some(*result),
        (Apply { op: a, operand: x, result }, Apply { op: b, operand: y, .. })
            if a == b && x == y =>
        {
            Some(*result)
        }
        (Let { expr: x, result }, Let { expr: y, .. }) if x == y => Some(*result),
        _ => None,
    }
}
