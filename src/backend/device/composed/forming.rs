//! Expressions of a sweep at one point, as kernel text.

use std::collections::BTreeMap;

use super::super::coefficients::Coefficients;
use super::super::program::Task;
use super::super::text::{Names, polynomial, statements};
use crate::engine::{Expr, Operation, PointFormula, Value};

/// Location of a value for the kernels of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A field that the sweep reads.
    Read(usize),
    /// A plane that the sweep reads.
    Plane(usize),
    /// A field that the sweep writes, before it is written.
    Written(usize),
    /// The result of an operator.
    Internal(usize),
}

/// Statements that compute expressions of a sweep at a point, and the fields that they need.
pub(super) struct ExpressionText<'a> {
    pub(super) task: &'a Task,
    /// Buffers of the operators' results.
    results: &'a BTreeMap<Value, usize>,
    /// Fields, in the order of the kernel's parameters.
    pub(super) places: Vec<Place>,
    pub(super) lines: Vec<String>,
    known: Vec<Value>,
    /// Names of the completed sums, by the slots of their fields.
    pub(super) sums: BTreeMap<usize, String>,
    /// Slots of fields that the kernel writes, which have other parameter names.
    written: Vec<usize>,
    pub(super) coefficients: Coefficients,
}

impl<'a> ExpressionText<'a> {
    pub(super) fn new(
        task: &'a Task,
        results: &'a BTreeMap<Value, usize>,
        written: Vec<usize>,
    ) -> Self {
        let (places, lines, known) = (Vec::new(), Vec::new(), Vec::new());
        let coefficients = Coefficients::new(task.workspace.precision, "REAL");
        Self { task, results, places, lines, known, sums: BTreeMap::new(), written, coefficients }
    }

    /// Returns the text of an expression, after the statements for its operands.
    pub(super) fn expression(&mut self, expr: &Expr) -> String {
        let factors = expr.0.iter().flat_map(|term| &term.factors);
        let names = factors.map(|value| (*value, self.value(*value))).collect();
        polynomial(&mut self.coefficients, &expr.0, &names)
    }

    fn value(&mut self, value: Value) -> String {
        let name = format!("v{}", value.0);
        if self.known.contains(&value) {
            return name;
        }
        let text = match self.place(value) {
            Some(place @ Place::Plane(_)) => {
                let [nx, ny, _] = self.task.points;
                format!("{}[at % {}]", self.field(place), nx * ny)
            }
            Some(place) => format!("{}[at]", self.field(place)),
            None => {
                let computes = |operation: &&Operation| operation.results().contains(&value);
                match self.task.sweep.operations.iter().find(computes) {
                    Some(Operation::Let { expr, .. }) => self.expression(expr),
                    Some(Operation::Map { map, operands, results }) => {
                        self.map(map, operands, results);
                        return name;
                    }
                    Some(Operation::Advance { value, slot, .. }) => {
                        let sum = self.sums.get(slot).cloned();
                        let sum =
                            sum.unwrap_or_else(|| unreachable!("advanced before it is known"));
                        format!("{} + scalars[first + 1] * {sum}", self.value(*value))
                    }
                    _ => unreachable!("a value without origin"),
                }
            }
        };
        self.lines.push(format!("const REAL {name} = {text};"));
        self.known.push(value);
        name
    }

    /// Adds statements that compute the results of a formula.
    fn map(&mut self, map: &PointFormula, operands: &[Value], results: &[Value]) {
        let operands: Vec<String> = operands.iter().map(|value| self.value(*value)).collect();
        let prefix = format!("v{}_", results[0].0);
        let names =
            Names { read: &|at| operands[at].clone(), prefix: &prefix, safe_divisors: false };
        let lines = statements(&mut self.coefficients, map, &names, |at, result| {
            format!("const REAL v{} = {result};", results[at].0)
        });
        self.lines.extend(lines);
        self.known.extend(results);
    }

    /// Returns the location of a value that is stored as a whole field.
    pub(super) fn place(&self, value: Value) -> Option<Place> {
        self.task.sweep.operations.iter().find_map(|operation| match operation {
            Operation::Read { slot, plane, result } if *result == value => {
                Some(if *plane { Place::Plane(*slot) } else { Place::Read(*slot) })
            }
            Operation::Previous { slot, result } if *result == value => Some(Place::Written(*slot)),
            Operation::Apply { result, .. } if *result == value => {
                Some(Place::Internal(self.results[&value]))
            }
            _ => None,
        })
    }

    /// Returns the name of the kernel parameter for the field at `place`.
    fn field(&mut self, place: Place) -> String {
        if let Place::Written(slot) = place
            && let Some(at) = self.written.iter().position(|written| *written == slot)
        {
            return format!("w{at}");
        }
        let known = self.places.iter().position(|old| *old == place);
        let at = known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        format!("f{at}")
    }
}
