//! Uses of each value of a sweep, determined before its kernel text is generated.

use std::fmt::{Display, Formatter, Result};

use crate::engine::{Expr, Monomial, Operation, Value};

/// A number at every point of a thread's chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Array {
    Value(Value),
    /// Sum for the field that is written at this slot.
    Sum(usize),
}

impl Display for Array {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Array::Value(value) => write!(f, "v{}", value.0),
            Array::Sum(slot) => write!(f, "s{slot}"),
        }
    }
}

/// Target of a sum.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// A value of the sweep.
    Value(Value),
    /// Added to the field that is written at this slot.
    Added(usize),
    /// Stored to that field.
    Stored(usize),
}

impl Target {
    pub(super) fn array(self) -> Array {
        match self {
            Target::Value(value) => Array::Value(value),
            Target::Added(slot) | Target::Stored(slot) => Array::Sum(slot),
        }
    }
}

/// An expression that is computed term by term.
pub(super) struct Sum {
    pub(super) target: Target,
    /// Indices of its terms.
    pub(super) terms: Vec<usize>,
    /// The previous content of its target field, if the sweep reads it.
    pub(super) previous: Option<Value>,
}

/// A term of a sum.
pub(super) struct Term<'a> {
    pub(super) sum: usize,
    pub(super) product: &'a Monomial,
}

/// The operations of a sweep, and the uses of their results.
pub(super) struct Uses<'a> {
    pub(super) operations: &'a [Operation],
    /// All contributions to one field form one sum.
    pub(super) sums: Vec<Sum>,
    pub(super) terms: Vec<Term<'a>>,
    /// For every value, the operation that computes it.
    pub(super) origins: Vec<usize>,
    /// For every value, the operations that have it as an operand and are not sums.
    pub(super) operand_uses: Vec<Vec<usize>>,
    /// For every value, the terms that contain it as a factor.
    pub(super) factor_uses: Vec<Vec<usize>>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(operations: &'a [Operation]) -> Self {
        let (sums, terms) = sums(operations);
        let values = operations.iter().flat_map(Operation::results).map(|value| value.0 + 1).max();
        let values = values.unwrap_or(0);
        let (mut origins, mut operand_uses) = (vec![0; values], vec![Vec::new(); values]);
        for (at, operation) in operations.iter().enumerate() {
            operation.results().iter().for_each(|result| origins[result.0] = at);
            if part_of(operation).is_none() {
                operation.used().for_each(|value| operand_uses[value.0].push(at));
            }
        }
        let mut factor_uses = vec![Vec::new(); values];
        for (at, term) in terms.iter().enumerate() {
            for factor in &term.product.factors {
                let uses: &mut Vec<usize> = &mut factor_uses[factor.0];
                if uses.last() != Some(&at) {
                    uses.push(at);
                }
            }
        }
        Self { operations, sums, terms, origins, operand_uses, factor_uses }
    }

    /// Returns the operation that computes a value.
    pub(super) fn origin(&self, value: Value) -> &'a Operation {
        &self.operations[self.origins[value.0]]
    }

    /// Returns the sum with this target.
    pub(super) fn sum_to(&self, target: Target) -> Option<usize> {
        self.sums.iter().position(|sum| sum.target == target)
    }
}

/// Returns the sum that an operation is part of.
fn part_of(operation: &Operation) -> Option<(Target, &Expr)> {
    match operation {
        Operation::Let { result, expr } => Some((Target::Value(*result), expr)),
        Operation::Add { slot, expr } => Some((Target::Added(*slot), expr)),
        Operation::Store { slot, expr } => Some((Target::Stored(*slot), expr)),
        _ => None,
    }
}

fn sums(operations: &[Operation]) -> (Vec<Sum>, Vec<Term<'_>>) {
    let (mut sums, mut terms): (Vec<Sum>, Vec<Term>) = (Vec::new(), Vec::new());
    for (target, expr) in operations.iter().filter_map(part_of) {
        let known = sums.iter().position(|sum| sum.target == target);
        let sum = known.unwrap_or_else(|| {
            let previous = operations.iter().find_map(|operation| match operation {
                Operation::Previous { slot, result } if target.array() == Array::Sum(*slot) => {
                    Some(*result)
                }
                _ => None,
            });
            sums.push(Sum { target, terms: Vec::new(), previous });
            sums.len() - 1
        });
        for product in &expr.0 {
            sums[sum].terms.push(terms.len());
            terms.push(Term { sum, product });
        }
    }
    (sums, terms)
}
