//! Data dependences between sweeps: which ones may run in another order, or start before others have ended.

use std::collections::BTreeSet;

use super::{Operation, Sweep, Value};

/// Accesses of a sweep to the fields that it writes, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    /// Slots whose previous value or sum the sweep needs.
    pub(crate) reads: BTreeSet<usize>,
    /// Slots whose previous value enters the operands that depend on no other operator.
    pub(crate) reads_early: BTreeSet<usize>,
    pub(crate) adds: BTreeSet<usize>,
    pub(crate) stores: BTreeSet<usize>,
}

impl Accesses {
    /// True where `earlier` does not change the operands that depend on no other operator.
    pub(crate) fn can_begin_before(&self, earlier: &Self) -> bool {
        self.reads_early.is_disjoint(&earlier.adds) && self.reads_early.is_disjoint(&earlier.stores)
    }

    /// True where both sweeps may run in either order.
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

impl Sweep {
    /// The written fields that the sweep needs and those that it changes.
    pub(crate) fn accesses(&self) -> Accesses {
        let mut accesses = Accesses::default();
        let depths = self.depths();
        // Fields in the operands of the first stage.
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
}

/// True where the sweeps may run in any order.
pub(crate) fn commute(accesses: impl Iterator<Item = Accesses>) -> bool {
    let all: Vec<Accesses> = accesses.collect();
    let with_earlier =
        |(at, one): (usize, &Accesses)| all[..at].iter().all(|b| one.commutes_with(b));
    all.iter().enumerate().all(with_earlier)
}
