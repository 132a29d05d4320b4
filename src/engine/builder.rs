//! Writing a sweep, formula by formula.

use std::cell::RefCell;

use super::formula::{Formula, PointFormula};
use super::{Expr, Op, Operation, Sweep, Value};

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
        self.value_of(|result| Operation::Read { slot, plane: false, result })
    }

    /// The same where that field has the values of one plane of x and y, which are those at every z.
    pub fn read_plane(&self, slot: usize) -> Value {
        self.value_of(|result| Operation::Read { slot, plane: true, result })
    }

    /// The field at `slot`, which may be a plane.
    pub(crate) fn read_as(&self, slot: usize, plane: bool) -> Value {
        if plane { self.read_plane(slot) } else { self.read(slot) }
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

    /// `field`, which was read, changes sign by reflection at a plane across the lines; all others do not.
    pub fn odd(&self, field: Value) -> Value {
        self.sweep.borrow_mut().odd.push(field);
        field
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
        let results = self.map_again(&PointFormula::map(formula), values.to_vec());
        std::array::from_fn(|at| results[at])
    }

    /// The values that `map` makes of `operands`.
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
