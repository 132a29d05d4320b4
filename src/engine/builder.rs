//! Building a sweep, formula by formula.

use std::cell::RefCell;

use super::formula::{Formula, PointFormula};
use super::{Expr, Op, Operation, Sweep, Value};

/// Builds a [`Sweep`]. Two requests for the same field, or for the same operator on the same operand, return the same
/// value: common subexpressions are computed once.
#[derive(Default)]
pub struct SweepBuilder {
    sweep: RefCell<Sweep>,
}

impl SweepBuilder {
    /// Creates an empty sweep.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the field at `slot` of the fields that the sweep reads.
    pub fn read(&self, slot: usize) -> Value {
        self.value_of(|result| Operation::Read { slot, plane: false, result })
    }

    /// Returns the field at `slot` where it is a plane: the values of one x-y plane, which hold at every z.
    pub fn read_plane(&self, slot: usize) -> Value {
        self.value_of(|result| Operation::Read { slot, plane: true, result })
    }

    /// Returns the field at `slot`, which may be a plane.
    pub(crate) fn read_as(&self, slot: usize, plane: bool) -> Value {
        if plane { self.read_plane(slot) } else { self.read(slot) }
    }

    /// Returns the field at `slot` of the fields that the sweep writes, with its value before the sweep.
    ///
    /// # Panics
    /// If it is first requested after something was written to that field.
    pub fn previous(&self, slot: usize) -> Value {
        let read = |o: &Operation| matches!(o, Operation::Previous { slot: s, .. } if *s == slot);
        let written = self.stores(slot) || self.adds(slot);
        assert!(
            !written || self.any(read),
            "field {slot} is written before its previous value is read"
        );
        self.value_of(|result| Operation::Previous { slot, result })
    }

    /// Declares that `field`, which was read, changes sign by reflection at a plane across the lines; other fields do
    /// not.
    pub fn odd(&self, field: Value) -> Value {
        self.sweep.borrow_mut().odd.push(field);
        field
    }

    /// Applies `op` to `operand`.
    pub fn apply(&self, op: Op, operand: impl Into<Expr>) -> Value {
        let operand = operand.into();
        self.value_of(|result| Operation::Apply { op, operand, result })
    }

    /// Returns the first derivative of `operand`.
    pub fn d1(&self, operand: impl Into<Expr>) -> Value {
        self.apply(Op::D1, operand)
    }

    /// Returns the second derivative of `operand`.
    pub fn d2(&self, operand: impl Into<Expr>) -> Value {
        self.apply(Op::D2, operand)
    }

    /// Assigns a value to an expression that is used several times.
    pub fn define(&self, expr: impl Into<Expr>) -> Value {
        let expr = expr.into();
        match expr.as_value() {
            Some(value) => value,
            None => self.value_of(|result| Operation::Let { expr, result }),
        }
    }

    /// Applies `formula` to `values`.
    pub fn map<F: Formula<R, W>, const R: usize, const W: usize>(
        &self,
        formula: F,
        values: [Value; R],
    ) -> [Value; W] {
        let results = self.map_again(&PointFormula::map(formula), values.to_vec());
        std::array::from_fn(|at| results[at])
    }

    /// Applies `map` to `operands`.
    pub(crate) fn map_again(&self, map: &PointFormula, operands: Vec<Value>) -> Vec<Value> {
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

    /// Returns `value` + the advance of the run × the sum in the field at `slot` of the fields that the sweep writes.
    /// Call it after all terms were added.
    ///
    /// # Panics
    /// If nothing was added to that field.
    pub fn advanced(&self, value: Value, slot: usize) -> Value {
        assert!(self.adds(slot), "nothing is added to field {slot}");
        self.value_of(|result| Operation::Advance { value, slot, result })
    }

    /// Adds `expr` to the field at `slot` of the fields that the sweep writes. An expression without terms leaves the
    /// field unchanged: β does not act on it either.
    ///
    /// # Panics
    /// If something was stored to that field, or its sum was requested.
    pub fn add(&self, slot: usize, expr: impl Into<Expr>) {
        let expr = expr.into();
        assert!(!self.stores(slot), "field {slot} is both stored and added to");
        let asked = self.any(|o| o.sum_used() == Some(slot));
        assert!(!asked, "the sum of field {slot} was requested before it was complete");
        if !expr.is_zero() {
            self.sweep.borrow_mut().operations.push(Operation::Add { slot, expr });
        }
    }

    /// Subtracts `expr` from the field at `slot` of the fields that the sweep writes.
    pub fn subtract(&self, slot: usize, expr: impl Into<Expr>) {
        self.add(slot, -expr.into());
    }

    /// Sets the field at `slot` of the fields that the sweep writes to `expr`.
    ///
    /// # Panics
    /// If something was stored or added to that field.
    pub fn store(&self, slot: usize, expr: impl Into<Expr>) {
        assert!(!self.stores(slot), "field {slot} is stored twice");
        assert!(!self.adds(slot), "field {slot} is both stored and added to");
        self.sweep.borrow_mut().operations.push(Operation::Store { slot, expr: expr.into() });
    }

    /// Returns the finished sweep.
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

    /// Returns the result of an existing equal operation, or appends this one.
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

/// Returns the result of `old` if it computes the same as `new`.
fn same_result(old: &Operation, new: &Operation) -> Option<Value> {
    use Operation::{Apply, Let, Previous, Read};
    match (old, new) {
        (Read { slot: a, result, .. }, Read { slot: b, .. }) if a == b => Some(*result),
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
