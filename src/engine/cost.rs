//! What a sweep costs: words of memory, operations, and fields where it runs operator by operator.

use std::collections::BTreeSet;

use super::{Expr, Op, Operation, Sweep, Value};

impl Sweep {
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
}
