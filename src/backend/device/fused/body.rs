//! What a thread of a fused sweep does, as text: operators one after another, and everything else as late as that allows,
//! but a sum as soon as it frees what it is made of. What registers have no room for is parked on chip, where only its own
//! thread reads it. Fields come there early where it is known that there will be room.

use std::collections::{BTreeMap, BTreeSet};

use super::super::coefficients::Coefficients;
use super::early::{Coming, Times};
use super::plan::Plan;
use super::uses::{Array, Target, Uses};
use crate::engine::{Operation, Value};

/// How many values of a point a thread can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Room {
    pub(super) registers: usize,
    pub(super) on_chip: usize,
}

/// The statements of a sweep, and what they take.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) lines: Vec<String>,
    pub(super) coefficients: Coefficients,
    /// The most values of a point that are in registers at a time.
    pub(super) live: usize,
    /// The most that are on chip, parked or on their way.
    pub(super) parked: usize,
    /// How a block begins that does tiles in turn, what the first operator of a tile needs being loaded before; empty where it does one.
    pub(super) first: Vec<String>,
}

/// The statements of a sweep, as they are written.
#[derive(Clone)]
pub(super) struct Body<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) uses: &'a Uses<'a>,
    pub(super) room: Room,
    /// Sums that are begun, and those that are finished.
    pub(super) begun: Vec<bool>,
    pub(super) finished: Vec<bool>,
    /// Terms that are added.
    pub(super) added: Vec<bool>,
    /// Values that no operator comes before.
    pub(super) free: BTreeSet<Value>,
    /// Values that could be formed now.
    pub(super) available: BTreeSet<Value>,
    /// Values that are in registers.
    pub(super) known: BTreeSet<Value>,
    /// Arrays that have had registers.
    declared: BTreeSet<Array>,
    /// Arrays that are parked on chip, and where.
    pub(super) parked: BTreeMap<Array, usize>,
    /// Arrays that were, and lie there beside their registers until somebody else needs the place.
    copies: BTreeMap<Array, usize>,
    /// Places on chip that were taken.
    pub(super) places: usize,
    /// The most values of a point that were in registers at a time.
    pub(super) most: usize,
    /// Whether on-chip memory may still be read.
    pub(super) busy: bool,
    pub(super) times: Times,
    pub(super) coming: Coming,
    pub(super) coefficients: Coefficients,
    pub(super) lines: Vec<String>,
}

impl<'a> Body<'a> {
    /// The statements of a sweep. Beyond `room` for them in registers, values are parked on chip, and beyond that fields
    /// that are read are loaded again when they are needed again. Operators come as they are written, or those first after
    /// which the fewest values are needed, whichever takes fewer.
    pub(super) fn write(plan: &'a Plan<'a>, room: Room, copies_beside: bool) -> Written {
        let uses = &plan.uses;
        let mut body = Body {
            plan,
            uses,
            room,
            begun: vec![false; uses.sums.len()],
            finished: vec![false; uses.sums.len()],
            added: vec![false; uses.terms.len()],
            declared: BTreeSet::new(),
            parked: BTreeMap::new(),
            copies: BTreeMap::new(),
            places: 0,
            most: 0,
            free: BTreeSet::new(),
            available: BTreeSet::new(),
            known: BTreeSet::new(),
            busy: false,
            times: Times::default(),
            coming: Coming::default(),
            coefficients: Coefficients::new(plan.precision, "REAL"),
            lines: Vec::new(),
        };
        body.update();
        body.free = body.available.clone();
        let [first, second] = [false, true].map(|greedy| body.clone().written(greedy));
        let is_second = (second.most, second.places) < (first.most, first.places);
        let mut written = if is_second { second } else { first };
        // Once it is known when places on chip are free, some fields come there early. A block that takes all registers finds no other
        // beside it that would work while it begins: it does one tile after another. Pentadiagonal operators leave no registers for that.
        if plan.sweeps.early.unwrap_or(copies_beside) {
            let is_full = written.most >= room.registers && plan.half_band < 2;
            let in_turn = plan.sweeps.turns.map_or(is_full, |turns| turns > 1);
            let early = written.times.early(room.on_chip, plan.gathers(), in_turn);
            body.coming = Coming::new(early);
            written = body.written(is_second);
        }
        let first = written.coming.first();
        let parked = written.places.max(written.coming.places());
        let (lines, coefficients) = (written.lines, written.coefficients);
        Written { lines, coefficients, live: written.most, parked, first }
    }

    fn written(mut self, greedy: bool) -> Self {
        self.begin_tile();
        self.settle();
        while let Some(next) = self.next(greedy) {
            self.step(next);
        }
        self.end_tile();
        self
    }

    /// An operator, and everything that can be added and stored then.
    fn step(&mut self, operation: &Operation) {
        self.apply(operation);
        self.update();
        self.settle();
        let held: BTreeSet<Array> = self.held().into_iter().map(|(array, _)| array).collect();
        let (times, statement) = (&mut self.times, self.lines.len());
        let mut is_held = |array: &Array, place: &mut usize| {
            let is_held = held.contains(array);
            if !is_held {
                times.free(*place, statement);
            }
            is_held
        };
        self.parked.retain(&mut is_held);
        self.copies.retain(&mut is_held);
    }

    /// Make room for `count` more values: park what is not needed soon, or forget fields that are read.
    pub(super) fn make_room(&mut self, count: usize) {
        while self.live() + count > self.room.registers {
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
        self.most = self.most.max(self.live() + count);
    }

    /// True where a value is in device memory.
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

    /// A place on chip that is not taken, or else one of a copy.
    pub(super) fn place(&mut self) -> Option<usize> {
        let taken: BTreeSet<usize> =
            self.parked.values().chain(self.copies.values()).copied().collect();
        let free = (0..self.room.on_chip).find(|place| !taken.contains(place));
        free.or_else(|| {
            let (_, place) = self.copies.pop_last()?;
            self.times.free(place, self.lines.len());
            Some(place)
        })
    }

    /// Bring a value back into registers that are free. It stays on chip, too.
    pub(super) fn recall(&mut self, value: Value) {
        let array = Array::Value(value);
        if self.live() < self.room.registers
            && let Some(place) = self.parked.remove(&array)
        {
            self.declare(array);
            self.each(&format!("{array}[j] = PARKED({place}, j);"));
            self.copies.insert(array, place);
            self.most = self.most.max(self.live());
        }
    }

    /// Registers of an array.
    pub(super) fn declare(&mut self, array: Array) {
        if self.declared.insert(array) {
            self.push(format!("REAL {array}[LENGTH];"));
        }
    }

    pub(super) fn park(&mut self, array: Array, place: usize) {
        self.parked.insert(array, place);
        self.times.park(place, self.lines.len().saturating_sub(1));
        self.places = self.places.max(place + 1);
    }

    /// The arrays that hold what is needed again, and when each is needed: the number of an operation.
    pub(super) fn held(&self) -> Vec<(Array, usize)> {
        let mut held = Vec::new();
        for (at, sum) in self.uses.sums.iter().enumerate() {
            let next_use = match sum.target {
                _ if self.begun[at] && !self.finished[at] => {
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

    /// The terms of a sum that are still to be added.
    fn pending(&self, sum: usize) -> impl Iterator<Item = usize> + '_ {
        self.uses.sums[sum].terms.iter().copied().filter(|term| !self.added[*term])
    }

    fn factors(&self, term: usize) -> &'a [Value] {
        &self.uses.terms[term].product.factors
    }

    /// The operation after which a term can be added.
    fn ready(&self, term: usize) -> usize {
        let missing = self.factors(term).iter().filter(|value| !self.known.contains(value));
        missing.map(|value| self.uses.made[value.0]).max().unwrap_or(0)
    }

    /// The operation that a value is needed for next, if any.
    pub(super) fn next_use(&self, value: Value) -> Option<usize> {
        let terms = self.uses.within[value.0].iter().copied();
        let added = terms.filter(|term| !self.added[*term]).map(|term| self.ready(term)).min();
        let completes = match *self.uses.origin(value) {
            Operation::Previous { slot, .. } => self.uses.sum_to(Target::Added(slot)),
            _ => None,
        };
        let completed = completes.filter(|sum| !self.finished[*sum]).map(|_| usize::MAX);
        [added, completed, self.given(value)].into_iter().flatten().min()
    }

    /// The next operator or formula that is to be given a value.
    fn given(&self, value: Value) -> Option<usize> {
        let mut given = self.uses.given[value.0].iter().copied();
        given.find(|at| !self.is_done(&self.uses.operations[*at]))
    }

    /// The next operator, or the one after which the fewest values are in registers.
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
            body.most = 0;
            body.step(operation);
            (body.live() + body.parked.len(), body.most)
        });
        self.lines = lines;
        next
    }

    /// Values of a point that are in registers and needed again.
    pub(super) fn live(&self) -> usize {
        self.held().iter().filter(|(array, _)| !self.parked.contains_key(array)).count()
    }

    /// See what could be formed.
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

    /// Add and store what can be.
    fn settle(&mut self) {
        let mut settled = false;
        while !settled {
            settled = true;
            for (at, sum) in self.uses.sums.iter().enumerate() {
                if self.finished[at] {
                    continue;
                }
                let complete = self.pending(at).all(|term| self.is_available(term));
                if complete && (self.begun[at] || !matches!(sum.target, Target::Value(_))) {
                    self.finish(at);
                    settled = false;
                    continue;
                }
                for &term in &sum.terms {
                    let frees = |body: &Self| body.begun[at] || body.frees(at, term);
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

    /// Whether a value behind an operator is needed by nothing else that would have to be begun.
    fn frees(&self, sum: usize, term: usize) -> bool {
        let mut behind = self.factors(term).iter().filter(|value| !self.free.contains(value));
        behind.any(|value| {
            let waits = |term: &usize| {
                let other = self.uses.terms[*term].sum;
                other != sum && !self.begun[other] && !self.added[*term]
            };
            !self.uses.within[value.0].iter().any(waits) && self.given(*value).is_none()
        })
    }
}
