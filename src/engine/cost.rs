//! Cost of a sweep: words of memory, operations, and temporary fields where it runs operator by operator.

use std::collections::BTreeSet;

use super::{Expr, Op, Operation, Sweep, Value};

impl Sweep {
    /// Values read and written per point on a grid of `nz` planes, without the traffic of the operators: each field
    /// read counts once, each field written once, and once more where the sweep adds to it. Values read from planes are
    /// shared by all z and rounded up.
    pub fn words(&self, nz: usize) -> usize {
        Self::words_together([self], nz)
    }

    /// Like [`Sweep::words`] for `sweeps` run one after another, where the fields left in the caches by one are reused
    /// by the next.
    pub(crate) fn words_together<'a>(
        sweeps: impl IntoIterator<Item = &'a Self>,
        nz: usize,
    ) -> usize {
        let [mut only_read, mut planes, mut needed, mut changed] = [const { BTreeSet::new() }; 4];
        for sweep in sweeps {
            let made = changed.clone();
            let mut need = |slot: &usize| {
                if !made.contains(slot) {
                    needed.insert(*slot);
                }
            };
            for operation in &sweep.operations {
                match operation {
                    Operation::Read { slot, plane: true, .. } => drop(planes.insert(*slot)),
                    Operation::Read { slot, .. } => drop(only_read.insert(*slot)),
                    Operation::Previous { slot, .. } => need(slot),
                    Operation::Store { slot, .. } => drop(changed.insert(*slot)),
                    Operation::Add { slot, .. } => {
                        need(slot);
                        changed.insert(*slot);
                    }
                    _ => {}
                }
            }
        }
        only_read.len() + planes.len().div_ceil(nz) + needed.len() + changed.len()
    }

    /// Additions, multiplications and other operations per point, where an operator costs `operator` of them.
    pub(crate) fn flops(&self, operator: impl Fn(Op) -> usize) -> usize {
        // A term is a product of its factors and its coefficient, and one addition.
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

    /// Temporary fields for the results of all operators, plus the operand products of a stage while they are needed:
    /// the upper bound for a backend that runs the sweep operation by operation.
    pub fn workspace(&self) -> usize {
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
