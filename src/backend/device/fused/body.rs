//! Kernel text of a thread in a fused sweep. Operators run one after another. Everything else is computed as late as
//! possible, except that a term is added as soon as this frees its operands. Values that do not fit in registers are
//! parked on chip, where only their own thread reads them. Fields are loaded there early if space is known to be free.

use std::collections::{BTreeMap, BTreeSet};

use super::super::coefficients::Coefficients;
use super::early::{PendingLoads, Timeline};
use super::plan::Plan;
use super::uses::{Array, Target, Uses};
use crate::engine::{Operation, Value};

/// Number of values per point that a thread can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Capacity {
    pub(super) registers: usize,
    pub(super) on_chip: usize,
}

/// Statements of a sweep, and the memory that they need.
#[derive(Debug)]
pub(super) struct SweepText {
    pub(super) lines: Vec<String>,
    pub(super) coefficients: Coefficients,
    /// Largest number of values per point in registers at a time.
    pub(super) live: usize,
    /// Largest number of values per point on chip, parked or being loaded.
    pub(super) parked: usize,
    /// Statements at the start of a block that does tiles in turn, which load the operand of the first tile's first
    /// operator; empty if a block does one tile.
    pub(super) first_tile_loads: Vec<String>,
}

/// Statements of a sweep while they are generated.
#[derive(Clone)]
pub(super) struct Body<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) uses: &'a Uses<'a>,
    pub(super) capacity: Capacity,
    /// Sums that have been started, and sums that are finished.
    pub(super) started: Vec<bool>,
    pub(super) finished: Vec<bool>,
    /// Terms that have been added.
    pub(super) added: Vec<bool>,
    /// Values that depend on no operator.
    pub(super) free: BTreeSet<Value>,
    /// Values that can be computed now.
    pub(super) available: BTreeSet<Value>,
    /// Values that have been computed and are still held, in registers or parked on chip.
    pub(super) known: BTreeSet<Value>,
    /// Arrays that have been declared in registers.
    declared: BTreeSet<Array>,
    /// Arrays parked on chip, and their locations.
    pub(super) parked: BTreeMap<Array, usize>,
    /// Arrays in registers whose copy on chip is still valid, until the location is needed for another array.
    copies: BTreeMap<Array, usize>,
    /// Number of on-chip locations used.
    pub(super) places: usize,
    /// Largest number of values per point in registers so far.
    pub(super) max_live: usize,
    /// Whether other threads may still read on-chip memory.
    pub(super) needs_barrier: bool,
    pub(super) timeline: Timeline,
    pub(super) pending_loads: PendingLoads,
    pub(super) coefficients: Coefficients,
    pub(super) lines: Vec<String>,
}

impl<'a> Body<'a> {
    /// Generates the statements of a sweep. If registers are not sufficient (`capacity`), values are parked on chip; if that
    /// is not sufficient either, fields are loaded again at their next use. The operators run in the order of the sweep,
    /// or in the order that leaves the fewest live values after each, whichever needs less.
    pub(super) fn write(
        plan: &'a Plan<'a>,
        capacity: Capacity,
        has_async_copies: bool,
    ) -> SweepText {
        let uses = &plan.uses;
        let mut body = Body {
            plan,
            uses,
            capacity,
            started: vec![false; uses.sums.len()],
            finished: vec![false; uses.sums.len()],
            added: vec![false; uses.terms.len()],
            declared: BTreeSet::new(),
            parked: BTreeMap::new(),
            copies: BTreeMap::new(),
            places: 0,
            max_live: 0,
            free: BTreeSet::new(),
            available: BTreeSet::new(),
            known: BTreeSet::new(),
            needs_barrier: false,
            timeline: Timeline::default(),
            pending_loads: PendingLoads::default(),
            coefficients: Coefficients::new(plan.precision, "REAL"),
            lines: Vec::new(),
        };
        body.update();
        body.free = body.available.clone();
        let [first, second] = [false, true].map(|greedy| body.clone().generate(greedy));
        let is_second = (second.max_live, second.places) < (first.max_live, first.places);
        let mut written = if is_second { second } else { first };
        // When the free times of on-chip locations are known, some fields are loaded early. A block that needs all
        // registers has no other resident block to hide its first loads: it does one tile after another. Pentadiagonal
        // operators leave no registers for that.
        if plan.sweeps.early.unwrap_or(has_async_copies) {
            let is_full = written.max_live >= capacity.registers && plan.half_band < 2;
            let in_turn = plan.sweeps.turns.map_or(is_full, |turns| turns > 1);
            let early = written.timeline.early(capacity.on_chip, plan.gathers(), in_turn);
            body.pending_loads = PendingLoads::new(early);
            written = body.generate(is_second);
        }
        let first_tile_loads = written.pending_loads.first_tile_loads();
        let parked = written.places.max(written.pending_loads.places());
        let (lines, coefficients) = (written.lines, written.coefficients);
        SweepText { lines, coefficients, live: written.max_live, parked, first_tile_loads }
    }

    fn generate(mut self, greedy: bool) -> Self {
        self.begin_tile();
        self.settle();
        while let Some(next) = self.next(greedy) {
            self.step(next);
        }
        self.end_tile();
        self
    }

    /// Applies an operator, and then adds and stores everything that has become available.
    fn step(&mut self, operation: &Operation) {
        self.apply(operation);
        self.update();
        self.settle();
        let held: BTreeSet<Array> = self.held().into_iter().map(|(array, _)| array).collect();
        let (timeline, statement) = (&mut self.timeline, self.lines.len());
        let mut is_held = |array: &Array, place: &mut usize| {
            let is_held = held.contains(array);
            if !is_held {
                timeline.free(*place, statement);
            }
            is_held
        };
        self.parked.retain(&mut is_held);
        self.copies.retain(&mut is_held);
    }

    /// Frees registers for `count` more values: parks the value whose next use is last, or drops fields that can be
    /// loaded again.
    pub(super) fn make_room(&mut self, count: usize) {
        while self.live() + count > self.capacity.registers {
            let in_registers =
                self.held().into_iter().filter(|(array, _)| !self.parked.contains_key(array));
            let last = in_registers
                .max_by_key(|(array, next_use)| (self.copies.contains_key(array), *next_use));
            if let Some((array, _)) = last {
                if let Some(place) = self.copies.remove(&array) {
                    self.parked.insert(array, place);
                    continue;
                }
                if let Some(place) = self.place() {
                    self.each(&format!("PARKED({place}, j) = {array}[j];"));
                    self.park(array, place);
                    continue;
                }
            }
            let read = self.known.iter().copied().filter(|value| {
                self.can_be_read(*value) && !self.parked.contains_key(&Array::Value(*value))
            });
            let read = read.filter_map(|value| Some((self.next_use(value)?, value)));
            let Some((_, last)) = read.max() else {
                break;
            };
            self.known.remove(&last);
        }
        self.max_live = self.max_live.max(self.live() + count);
    }

    /// Whether a value can be loaded from device memory.
    fn can_be_read(&self, value: Value) -> bool {
        match *self.uses.origin(value) {
            Operation::Read { .. } => true,
            Operation::Previous { slot, .. } => {
                let written = [Target::Added(slot), Target::Stored(slot)];
                let mut written = written.into_iter().filter_map(|target| self.uses.sum_to(target));
                !written.any(|sum| self.finished[sum])
            }
            _ => false,
        }
    }

    /// Returns a free on-chip location, or the location of a copy.
    pub(super) fn place(&mut self) -> Option<usize> {
        let taken: BTreeSet<usize> =
            self.parked.values().chain(self.copies.values()).copied().collect();
        let free = (0..self.capacity.on_chip).find(|place| !taken.contains(place));
        free.or_else(|| {
            let (_, place) = self.copies.pop_last()?;
            self.timeline.free(place, self.lines.len());
            Some(place)
        })
    }

    /// Loads a parked value back into free registers; its copy on chip stays valid.
    pub(super) fn recall(&mut self, value: Value) {
        let array = Array::Value(value);
        if self.live() < self.capacity.registers
            && let Some(place) = self.parked.remove(&array)
        {
            self.declare(array);
            self.each(&format!("{array}[j] = PARKED({place}, j);"));
            self.copies.insert(array, place);
            self.max_live = self.max_live.max(self.live());
        }
    }

    /// Declares the registers of an array.
    pub(super) fn declare(&mut self, array: Array) {
        if self.declared.insert(array) {
            self.push(format!("REAL {array}[LENGTH];"));
        }
    }

    pub(super) fn park(&mut self, array: Array, place: usize) {
        self.parked.insert(array, place);
        self.timeline.park(place, self.lines.len().saturating_sub(1));
        self.places = self.places.max(place + 1);
    }

    /// Returns the arrays with values that are needed again, and the index of the operation that needs each next.
    pub(super) fn held(&self) -> Vec<(Array, usize)> {
        let mut held = Vec::new();
        for (at, sum) in self.uses.sums.iter().enumerate() {
            let next_use = match sum.target {
                _ if self.started[at] && !self.finished[at] => {
                    self.pending(at).map(|term| self.ready(term)).min().or(Some(0))
                }
                Target::Added(slot) if self.finished[at] => {
                    self.uses.operations.iter().position(|operation| {
                        operation.sum_used() == Some(slot) && !self.is_done(operation)
                    })
                }
                _ => None,
            };
            held.extend(next_use.map(|next_use| (sum.target.array(), next_use)));
        }
        let next_use = |value: &Value| Some((Array::Value(*value), self.next_use(*value)?));
        held.extend(self.known.iter().filter_map(next_use));
        held
    }

    fn is_done(&self, operation: &Operation) -> bool {
        operation.results().iter().all(|made| self.known.contains(made))
    }

    /// Returns the terms of a sum that have not been added yet.
    fn pending(&self, sum: usize) -> impl Iterator<Item = usize> + '_ {
        self.uses.sums[sum].terms.iter().copied().filter(|term| !self.added[*term])
    }

    fn factors(&self, term: usize) -> &'a [Value] {
        &self.uses.terms[term].product.factors
    }

    /// Returns the operation after which a term can be added.
    fn ready(&self, term: usize) -> usize {
        let missing = self.factors(term).iter().filter(|value| !self.known.contains(value));
        missing.map(|value| self.uses.origins[value.0]).max().unwrap_or(0)
    }

    /// Returns the next operation that needs a value, if any.
    pub(super) fn next_use(&self, value: Value) -> Option<usize> {
        let terms = self.uses.factor_uses[value.0].iter().copied();
        let added = terms.filter(|term| !self.added[*term]).map(|term| self.ready(term)).min();
        let completes = match *self.uses.origin(value) {
            Operation::Previous { slot, .. } => self.uses.sum_to(Target::Added(slot)),
            _ => None,
        };
        let completed = completes.filter(|sum| !self.finished[*sum]).map(|_| usize::MAX);
        [added, completed, self.next_operand_use(value)].into_iter().flatten().min()
    }

    /// Returns the next operator or formula that has a value as its operand.
    fn next_operand_use(&self, value: Value) -> Option<usize> {
        let mut uses = self.uses.operand_uses[value.0].iter().copied();
        uses.find(|at| !self.is_done(&self.uses.operations[*at]))
    }

    /// Returns the next operator in order or, if `greedy`, the operator after which the fewest values are in registers.
    fn next(&mut self, greedy: bool) -> Option<&'a Operation> {
        let lines = std::mem::take(&mut self.lines);
        let known = |value: &Value| self.known.contains(value);
        let left = |operation: &&Operation| {
            let is_apply = matches!(operation, Operation::Apply { .. });
            is_apply && !operation.results().iter().all(known)
        };
        let ready =
            |operation: &&Operation| operation.used().all(|value| self.available.contains(&value));
        let uses = self.uses;
        let next = uses.operations.iter().filter(left).filter(ready).min_by_key(|operation| {
            if !greedy {
                return (0, 0);
            }
            let mut body = self.clone();
            body.max_live = 0;
            body.step(operation);
            (body.live() + body.parked.len(), body.max_live)
        });
        self.lines = lines;
        next
    }

    /// Returns the number of values per point that are in registers and needed again.
    pub(super) fn live(&self) -> usize {
        self.held().iter().filter(|(array, _)| !self.parked.contains_key(array)).count()
    }

    /// Updates the set of values that can be computed.
    fn update(&mut self) {
        let mut available = BTreeSet::new();
        let mut incomplete = BTreeSet::new();
        for operation in self.uses.operations {
            let formed = operation.used().all(|value| available.contains(&value))
                && operation.sum_used().is_none_or(|slot| !incomplete.contains(&slot));
            match operation {
                Operation::Add { slot, .. } if !formed => drop(incomplete.insert(*slot)),
                Operation::Apply { result, .. } if !self.known.contains(result) => {}
                _ if formed => available.extend(operation.results()),
                _ => {}
            }
        }
        self.available = available;
    }

    fn is_available(&self, term: usize) -> bool {
        self.factors(term).iter().all(|value| self.available.contains(value))
    }

    /// Adds and stores everything that is available.
    fn settle(&mut self) {
        let mut settled = false;
        while !settled {
            settled = true;
            for (at, sum) in self.uses.sums.iter().enumerate() {
                if self.finished[at] {
                    continue;
                }
                let complete = self.pending(at).all(|term| self.is_available(term));
                if complete && (self.started[at] || !matches!(sum.target, Target::Value(_))) {
                    self.finish(at);
                    settled = false;
                    continue;
                }
                for &term in &sum.terms {
                    let frees = |body: &Self| body.started[at] || body.frees(at, term);
                    if !self.added[term]
                        && self.is_available(term)
                        && !self.is_free(term)
                        && frees(self)
                    {
                        self.add_term(term);
                        settled = false;
                    }
                }
            }
        }
    }

    fn is_free(&self, term: usize) -> bool {
        self.factors(term).iter().all(|value| self.free.contains(value))
    }

    /// Whether a value that depends on an operator has no other use, except in sums that have been started.
    fn frees(&self, sum: usize, term: usize) -> bool {
        let mut behind = self.factors(term).iter().filter(|value| !self.free.contains(value));
        behind.any(|value| {
            let waits = |term: &usize| {
                let other = self.uses.terms[*term].sum;
                other != sum && !self.started[other] && !self.added[*term]
            };
            !self.uses.factor_uses[value.0].iter().any(waits)
                && self.next_operand_use(*value).is_none()
        })
    }
}
