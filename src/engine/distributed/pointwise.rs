//! A sweep split into pointwise parts and the operators between them.

use std::collections::HashMap;

use crate::engine::{Expr, Op, Operation, Sweep, SweepBuilder, Value};

/// Location of an operand as a whole field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Field that the sweep reads.
    Read(usize),
    /// Field that the sweep writes.
    Written(usize),
    /// Result of an operator, numbered in the order of the stages.
    Result(usize),
    /// Product of this batch.
    Product(usize),
}

/// Maximum number of operands of a batch. Whole lines travel in copies, so fewer would take less memory and more
/// messages.
const MOST_OPERANDS: usize = 4;

/// Operands of one operator that travel together, and the products that have to be computed before.
pub(crate) struct Batch {
    /// The operator.
    pub(crate) op: Op,
    /// Stores product j to its written field j. It reads, in this order, the fields that the sweep reads, those that it
    /// writes, and the results of the operators of earlier stages.
    pub(crate) products: Sweep,
    /// Number of products.
    pub(crate) count: usize,
    /// (operand, its result).
    pub(crate) applied: Vec<(Source, usize)>,
}

/// A sweep in parts, with `read` fields to read, `written` fields to write and `results` fields computed by operators.
pub(crate) struct Parts {
    /// Batches in order; operators are applied to results of earlier batches only.
    pub(crate) batches: Vec<Batch>,
    /// The final additions and stores. It reads the fields that the sweep reads, then all results; it writes the fields
    /// that the sweep writes.
    pub(crate) last: Sweep,
    pub(crate) read: usize,
    pub(crate) written: usize,
    pub(crate) results: usize,
}

impl Parts {
    pub(crate) fn of(sweep: &Sweep) -> Self {
        let operations = &sweep.operations;
        let (read, written) = (sweep.fields_read(), sweep.fields_written());
        let mut results = HashMap::new();
        let mut batches = Vec::new();
        let ops = sweep.operators();
        for applied in sweep.stages() {
            let first = results.len();
            for &op in &ops {
                let of_op = applied.iter().enumerate().filter(|(_, (other, ..))| *other == op);
                let of_op: Vec<(usize, &Expr)> =
                    of_op.map(|(at, (_, operand, _))| (first + at, *operand)).collect();
                for operands in of_op.chunks(MOST_OPERANDS) {
                    let builder = SweepBuilder::new();
                    let part = Part { sweep, builder: &builder, results: &results, read };
                    let mut count = 0;
                    let mut source = |operand: &Expr| {
                        let field = operand.as_value().and_then(|value| part.field(value));
                        field.unwrap_or_else(|| {
                            builder.store(count, part.expression(operand, Some(written)));
                            count += 1;
                            Source::Product(count - 1)
                        })
                    };
                    let applied = operands.iter().map(|(at, operand)| (source(operand), *at));
                    let applied = applied.collect();
                    batches.push(Batch { op, products: builder.build(), count, applied });
                }
            }
            for (.., result) in &applied {
                let next = results.len();
                results.insert(*result, next);
            }
        }
        let builder = SweepBuilder::new();
        let part = Part { sweep, builder: &builder, results: &results, read };
        // Previous values of written fields are requested before anything is written to these fields.
        for operation in operations {
            if let Operation::Previous { slot, .. } = operation {
                builder.previous(*slot);
            }
        }
        for operation in operations {
            match operation {
                Operation::Add { slot, expr } => builder.add(*slot, part.expression(expr, None)),
                Operation::Store { slot, expr } => {
                    builder.store(*slot, part.expression(expr, None));
                }
                _ => {}
            }
        }
        Self { batches, last: builder.build(), read, written, results: results.len() }
    }
}

/// One of the pointwise sweeps while it is built.
struct Part<'a> {
    sweep: &'a Sweep,
    builder: &'a SweepBuilder,
    results: &'a HashMap<Value, usize>,
    read: usize,
}

impl Part<'_> {
    fn origin(&self, value: Value) -> &Operation {
        let made = |operation: &&Operation| operation.results().contains(&value);
        let found = self.sweep.operations.iter().find(made);
        found.unwrap_or_else(|| unreachable!("a value without origin"))
    }

    /// Location of a value that is a whole field.
    fn field(&self, value: Value) -> Option<Source> {
        match self.origin(value) {
            Operation::Read { slot, plane: false, .. } => Some(Source::Read(*slot)),
            Operation::Previous { slot, .. } => Some(Source::Written(*slot)),
            Operation::Apply { .. } => Some(Source::Result(self.results[&value])),
            _ => None,
        }
    }

    /// Rewrites an expression in this sweep's own values. `written`: number of fields that the whole sweep writes,
    /// where this sweep finds them among the fields that it reads.
    fn expression(&self, expr: &Expr, written: Option<usize>) -> Expr {
        expr.renamed(|value| self.value(value, written))
    }

    fn value(&self, value: Value, written: Option<usize>) -> Value {
        match self.origin(value) {
            Operation::Read { slot, plane, .. } => self.builder.read_as(*slot, *plane),
            Operation::Previous { slot, .. } => match written {
                Some(_) => self.builder.read(self.read + slot),
                None => self.builder.previous(*slot),
            },
            Operation::Apply { .. } => {
                let first = self.read + written.unwrap_or(0);
                self.builder.read(first + self.results[&value])
            }
            Operation::Let { expr, .. } => self.builder.define(self.expression(expr, written)),
            Operation::Map { map, operands, results } => {
                let operands = operands.iter().map(|&value| self.value(value, written)).collect();
                let made = self.builder.map_again(map, operands);
                let at = results.iter().position(|result| *result == value);
                made[at.unwrap_or_else(|| unreachable!("among what it makes"))]
            }
            Operation::Advance { value, slot, .. } => {
                assert!(written.is_none(), "an operator on a field that is advanced");
                self.builder.advanced(self.value(*value, written), *slot)
            }
            Operation::Add { .. } | Operation::Store { .. } => {
                unreachable!("these make no value")
            }
        }
    }
}
