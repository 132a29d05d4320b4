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

use super::formula::{Formula, Map};
use super::{Expr, Value};

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
    /// `results` are what a formula makes of `operands`.
    Map { map: Map, operands: Vec<Value>, results: Vec<Value> },
    /// `result` is `value` + the advance of the run × what is added up in field `slot` of the fields that are written.
    Advance { value: Value, slot: usize, result: Value },
    /// Field `slot` of those that are written, times β, plus the expression.
    Add { slot: usize, expr: Expr },
    /// Field `slot` of those that are written becomes the expression.
    Store { slot: usize, expr: Expr },
}

impl Operation {
    /// The values that it makes.
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

    /// The values that it reads, what is added up in a field apart.
    pub(crate) fn used(&self) -> impl Iterator<Item = Value> + '_ {
        let (expr, values): (Option<&Expr>, &[Value]) = match self {
            Operation::Read { .. } | Operation::Previous { .. } => (None, &[]),
            Operation::Apply { operand: expr, .. }
            | Operation::Let { expr, .. }
            | Operation::Add { expr, .. }
            | Operation::Store { expr, .. } => (Some(expr), &[]),
            Operation::Map { operands, .. } => (None, operands),
            Operation::Advance { value, .. } => (None, std::slice::from_ref(value)),
        };
        let factors = expr.into_iter().flat_map(|expr| &expr.0).flat_map(|term| &term.factors);
        factors.chain(values).copied()
    }

    /// The field whose sum it adds to.
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
                Operation::Apply { .. }
                | Operation::Let { .. }
                | Operation::Map { .. }
                | Operation::Advance { .. } => {}
            }
        }
        touched.len()
    }

    /// Additions, multiplications and other operations a point, where an operator takes `operator` of them.
    pub(crate) fn flops(&self, operator: impl Fn(Op) -> usize) -> usize {
        // A term is a product of its factors and coefficient that is added.
        let added = |expr: &Expr| expr.0.iter().map(|term| term.factors.len() + 1).sum::<usize>();
        let made = |expr: &Expr| match expr.as_value() {
            Some(_) => 0,
            None => added(expr).saturating_sub(1),
        };
        let flops = |operation: &Operation| match operation {
            Operation::Read { .. } | Operation::Previous { .. } => 0,
            Operation::Apply { op, operand, .. } => made(operand) + operator(*op),
            Operation::Let { expr, .. } | Operation::Store { expr, .. } => made(expr),
            Operation::Map { map, .. } => map.flops(),
            Operation::Advance { .. } => 2,
            Operation::Add { expr, .. } => added(expr),
        };
        self.operations.iter().map(flops).sum()
    }

    /// Operators that it applies.
    pub(crate) fn applied(&self) -> usize {
        self.operations.iter().filter(|o| matches!(o, Operation::Apply { .. })).count()
    }

    /// Which of the fields that it writes it needs and changes.
    pub(crate) fn accesses(&self) -> Accesses {
        let mut accesses = Accesses::default();
        let depths = self.depths();
        // What operands of the first stage are made of.
        let mut early = BTreeSet::new();
        for operation in self.operations.iter().rev() {
            let first = |result: &Value| depths[result] == 1;
            match operation {
                Operation::Apply { result, .. } if first(result) => early.extend(operation.used()),
                Operation::Apply { .. } => {}
                other if other.results().iter().any(|result| early.contains(result)) => {
                    early.extend(other.used());
                }
                _ => {}
            }
            match operation {
                Operation::Previous { slot, result } => {
                    accesses.reads.insert(*slot);
                    if early.contains(result) {
                        accesses.reads_early.insert(*slot);
                    }
                }
                Operation::Advance { slot, .. } => drop(accesses.reads.insert(*slot)),
                Operation::Add { slot, .. } => drop(accesses.adds.insert(*slot)),
                Operation::Store { slot, .. } => drop(accesses.stores.insert(*slot)),
                _ => {}
            }
        }
        accesses
    }

    /// Fields that it takes to keep what every operator makes, and as long as they are needed the products that the operators of
    /// a stage are applied to: what a backend needs at most that runs the sweep operation by operation.
    pub fn room(&self) -> usize {
        let is_field = |value: Value| {
            let origin = self.operations.iter().find(|o| o.results().contains(&value));
            !matches!(
                origin,
                Some(Operation::Let { .. } | Operation::Map { .. } | Operation::Advance { .. })
            )
        };
        let mut made = 0;
        let most = self.stages().into_iter().map(|applied| {
            let is_product = |operand: &Expr| !operand.as_value().is_some_and(is_field);
            made += applied.len();
            made + applied.iter().filter(|(_, operand, _)| is_product(operand)).count()
        });
        most.max().unwrap_or(0)
    }

    /// How many operators stand one behind the other before a value is known.
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
            let applied = matches!(operation, Operation::Apply { .. });
            for result in operation.results() {
                depths.insert(*result, deepest + usize::from(applied));
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

    /// The operators that it applies, each once.
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

/// Slots of fields that a sweep writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    /// Those of which it needs what was there, or the sum.
    pub(crate) reads: BTreeSet<usize>,
    /// Those which the operands are made of that depend on no other operator.
    pub(crate) reads_early: BTreeSet<usize>,
    pub(crate) adds: BTreeSet<usize>,
    pub(crate) stores: BTreeSet<usize>,
}

impl Accesses {
    /// True where the operands that depend on no other operator are the same before `earlier` has run.
    pub(crate) fn can_begin_before(&self, earlier: &Self) -> bool {
        self.reads_early.is_disjoint(&earlier.adds) && self.reads_early.is_disjoint(&earlier.stores)
    }

    /// True where both may run in either order.
    fn commutes_with(&self, other: &Self) -> bool {
        let one_way = |a: &Self, b: &Self| {
            a.reads.is_disjoint(&b.adds)
                && a.reads.is_disjoint(&b.stores)
                && a.stores.is_disjoint(&b.adds)
                && a.stores.is_disjoint(&b.stores)
        };
        one_way(self, other) && one_way(other, self)
    }
}

/// True where sweeps may run in any order.
pub(crate) fn commute(accesses: impl Iterator<Item = Accesses>) -> bool {
    let all: Vec<Accesses> = accesses.collect();
    let with_earlier =
        |(at, one): (usize, &Accesses)| all[..at].iter().all(|b| one.commutes_with(b));
    all.iter().enumerate().all(with_earlier)
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

    /// What `formula` makes of `values`.
    pub fn map<F: Formula<R, W>, const R: usize, const W: usize>(
        &self,
        formula: F,
        values: [Value; R],
    ) -> [Value; W] {
        let results = self.map_again(&Map::new(formula), values.to_vec());
        std::array::from_fn(|at| results[at])
    }

    /// The values that `map` makes of `operands`.
    pub(crate) fn map_again(&self, map: &Map, operands: Vec<Value>) -> Vec<Value> {
        let mut sweep = self.sweep.borrow_mut();
        let known = sweep.operations.iter().find_map(|old| match old {
            Operation::Map { map: other, operands: of, results }
                if other == map && *of == operands =>
            {
                Some(results.clone())
            }
            _ => None,
        });
        known.unwrap_or_else(|| {
            let results: Vec<_> =
                (0..map.results.len()).map(|at| Value(sweep.values + at)).collect();
            sweep.values += results.len();
            let (map, made) = (map.clone(), results.clone());
            sweep.operations.push(Operation::Map { map, operands, results: made });
            results
        })
    }

    /// `value` + the advance of the run × what has been added up in the field at `slot` of the fields that the sweep
    /// writes. To be asked for after everything was added.
    ///
    /// # Panics
    /// Where nothing was added to that field.
    pub fn advanced(&self, value: Value, slot: usize) -> Value {
        assert!(self.adds(slot), "nothing is added to field {slot}");
        self.value_of(|result| Operation::Advance { value, slot, result })
    }

    /// Add `expr` to the field at `slot` of the fields that the sweep writes. An expression without terms leaves the field
    /// alone: β does not act on it either.
    ///
    /// # Panics
    /// Where something was stored to that field, or its sum was asked for.
    pub fn add(&self, slot: usize, expr: impl Into<Expr>) {
        let expr = expr.into();
        assert!(!self.stores(slot), "field {slot} is both stored and added to");
        let asked = self.any(|o| o.sum_used() == Some(slot));
        assert!(!asked, "the sum of field {slot} was asked for before it was complete");
        if !expr.is_zero() {
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
        self.any(|o| o.adds_to() == Some(slot))
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
