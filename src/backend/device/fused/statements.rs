//! Statements of a thread.

use super::super::text::{Names, polynomial, statements};
use super::body::Body;
use super::uses::{Array, Target};
use crate::engine::{Monomial, Operation, PointFormula, Value};

impl Body<'_> {
    /// Returns the text of point j of an array.
    pub(super) fn at(&self, array: Array) -> String {
        match self.parked.get(&array) {
            Some(place) => format!("PARKED({place}, j)"),
            None => format!("{array}[j]"),
        }
    }

    pub(super) fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    pub(super) fn each(&mut self, what: &str) {
        self.push(format!("FOR_EACH_POINT(j) {{ {what} }}"));
    }

    /// Adds a barrier if other threads may still read on-chip memory.
    fn barrier(&mut self) {
        if self.needs_barrier {
            self.push("__syncthreads();".into());
            self.needs_barrier = false;
        }
    }

    /// Returns the text of a sum of products at point j, after its operands have been brought into registers.
    fn expression(&mut self, terms: &[Monomial]) -> String {
        let factors = terms.iter().flat_map(|term| &term.factors);
        let names = factors.map(|value| {
            let array = self.value(*value);
            (*value, self.at(array))
        });
        let names = names.collect();
        polynomial(&mut self.coefficients, terms, &names)
    }

    pub(super) fn add_term(&mut self, term: usize) {
        self.added[term] = true;
        let sum = self.uses.terms[term].sum;
        let text = self.expression(std::slice::from_ref(self.uses.terms[term].product));
        let array = self.uses.sums[sum].target.array();
        if self.started[sum] {
            let sum = self.at(array);
            self.each(&format!("{sum} += {text};"));
        } else {
            self.make_room(1);
            self.declare(array);
            self.each(&format!("{array}[j] = {text};"));
        }
        self.started[sum] = true;
    }

    /// Adds the remaining terms of a sum, and stores it to its target.
    pub(super) fn finish(&mut self, at: usize) {
        if self.finished[at] {
            return;
        }
        let sum = &self.uses.sums[at];
        if sum.terms.is_empty() {
            let array = sum.target.array();
            self.declare(array);
            self.each(&format!("{array}[j] = 0;"));
        }
        for &term in &sum.terms {
            if !self.added[term] {
                self.add_term(term);
            }
        }
        self.finished[at] = true;
        match sum.target {
            Target::Value(value) => drop(self.known.insert(value)),
            Target::Added(slot) => {
                self.add_previous(slot, sum.previous);
                self.store(slot, sum.previous);
            }
            Target::Stored(slot) => self.store(slot, sum.previous),
        }
    }

    /// Adds β × the previous content of the field to the sum.
    fn add_previous(&mut self, slot: usize, previous: Option<Value>) {
        let array = Array::Sum(slot);
        if let Some(value) = previous {
            let before = self.value(value);
            let (sum, before) = (self.at(array), self.at(before));
            let before = format!("(beta == 0 ? 0 : beta * {before})");
            self.each(&format!("{sum} = {before} + {sum};"));
            return;
        }
        let sum = self.at(array);
        let field = format!("w{slot}");
        let place = self.wait_for_load(&field, true);
        self.push("if (beta != 0) {".into());
        let needs_barrier = self.needs_barrier;
        self.push("REAL before[LENGTH];".into());
        self.load("before", &field, place);
        self.each(&format!("{sum} += beta * before[j];"));
        self.push("}".into());
        self.needs_barrier |= needs_barrier;
    }

    /// Waits for a field that is loaded early, and returns its on-chip location.
    fn wait_for_load(&mut self, field: &str, if_beta: bool) -> Option<usize> {
        let number = self.timeline.load(field, if_beta, self.lines.len());
        let wait = self.pending_loads.wait(number);
        self.lines.extend(wait);
        self.pending_loads.early.get(&number).map(|early| early.place)
    }

    fn load_field(&mut self, to: Array, field: &str) {
        let place = self.wait_for_load(field, false);
        self.load(&to.to_string(), field, place);
    }

    fn load(&mut self, to: &str, field: &str, place: Option<usize>) {
        if let Some(place) = place {
            self.each(&format!("{to}[j] = HAS_POINT(j) ? PARKED({place}, j) : 0;"));
            return;
        }
        self.gathered(&format!("load({to}, {field}, chip, tile);"));
    }

    /// Adds a statement that uses on-chip memory if fields go through it.
    fn gathered(&mut self, statement: &str) {
        if self.plan.gathers() {
            self.barrier();
        }
        self.push(statement.into());
        self.needs_barrier |= self.plan.gathers();
    }

    fn store(&mut self, slot: usize, previous: Option<Value>) {
        if let Some(value) = previous.filter(|value| self.next_use(*value).is_some()) {
            self.value(value);
        }
        let array = Array::Sum(slot);
        if self.parked.contains_key(&array) {
            let sum = self.at(array);
            self.push("{ REAL stored[LENGTH];".into());
            self.each(&format!("stored[j] = {sum};"));
            self.gathered(&format!("store(stored, w{slot}, chip, tile); }}"));
        } else {
            self.gathered(&format!("store({array}, w{slot}, chip, tile);"));
        }
    }

    pub(super) fn apply(&mut self, operation: &Operation) {
        let Operation::Apply { op, operand, result } = operation else {
            unreachable!("an operator")
        };
        let text = self.expression(&operand.0);
        self.make_room(1);
        let to = Array::Value(*result);
        self.declare(to);
        self.each(&format!("{to}[j] = {text};"));
        self.barrier();
        self.start_loads();
        let calls = self.plan.calls(*op, *result, &to.to_string());
        self.lines.extend(calls);
        self.known.insert(*result);
        let held = self.held().into_iter().map(|(array, _)| array);
        let kept = held.filter(|array| *array != to && !self.parked.contains_key(array));
        let kept: Vec<String> = kept.map(|array| format!("FORGET({array}[j]);")).collect();
        if !kept.is_empty() {
            self.each(&kept.join(" "));
        }
        self.needs_barrier = self.plan.is_explicit(*op);
    }

    /// Waits for the operands of the first operator.
    pub(super) fn begin_tile(&mut self) {
        if self.pending_loads.has_next_tile_loads() {
            self.push("COPY_WAIT(0);".into());
            self.needs_barrier = self.plan.gathers();
            self.barrier();
        }
    }

    /// Adds a barrier before the next tile uses on-chip memory.
    pub(super) fn end_tile(&mut self) {
        if self.pending_loads.has_next_tile_loads() {
            self.barrier();
        }
    }

    /// Starts the loads that run during the next operator. Its barriers make data that other threads load visible.
    fn start_loads(&mut self) {
        let operator = self.timeline.operators();
        self.timeline.operator(self.lines.len());
        self.lines.extend(self.pending_loads.begin(operator));
        if self.plan.gathers() {
            for load in self.pending_loads.needed_after(operator + 1) {
                self.lines.extend(self.pending_loads.wait(load));
            }
        }
    }

    /// Returns the array of a value, after bringing it into registers.
    fn value(&mut self, value: Value) -> Array {
        let to = Array::Value(value);
        if self.known.contains(&value) {
            self.recall(value);
            return to;
        }
        let made = self.uses.origin(value);
        if let Operation::Read { .. } | Operation::Previous { .. } = made {
            self.make_room(1);
            self.declare(to);
        }
        match made {
            Operation::Read { slot, plane: true, .. } => {
                self.gathered(&format!("load_plane({to}, r{slot}, chip, tile);"));
            }
            Operation::Read { slot, .. } => self.load_field(to, &format!("r{slot}")),
            Operation::Previous { slot, .. } => self.load_field(to, &format!("w{slot}")),
            Operation::Let { .. } => self.finish_target(Target::Value(value)),
            Operation::Map { map, operands, results } => self.map(map, operands, results),
            Operation::Advance { value, slot, .. } => {
                self.finish_target(Target::Added(*slot));
                let before = self.value(*value);
                self.make_room(1);
                let (before, sum) = (self.at(before), self.at(Array::Sum(*slot)));
                self.declare(to);
                self.each(&format!("{to}[j] = {before} + advance * {sum};"));
            }
            _ => unreachable!("a value without origin"),
        }
        self.known.insert(value);
        to
    }

    fn finish_target(&mut self, target: Target) {
        if let Some(sum) = self.uses.sum_to(target) {
            self.finish(sum);
        }
    }

    /// Computes the results of a formula.
    fn map(&mut self, map: &PointFormula, operands: &[Value], results: &[Value]) {
        let operands: Vec<Array> = operands.iter().map(|value| self.value(*value)).collect();
        self.make_room(0);
        for result in results {
            let to = Array::Value(*result);
            match self.place() {
                Some(place)
                    if self.live() >= self.capacity.registers
                        && self.next_use(*result).is_some() =>
                {
                    self.park(to, place);
                }
                _ => {
                    self.declare(to);
                    self.known.insert(*result);
                }
            }
        }
        self.max_live = self.max_live.max(self.live());
        let mut coefficients = self.coefficients.clone();
        let names = Names { read: &|at| self.at(operands[at]), prefix: "t", safe_divisors: true };
        let lines = statements(&mut coefficients, map, &names, |at, result| {
            format!("{} = {result};", self.at(Array::Value(results[at])))
        });
        self.coefficients = coefficients;
        self.each(&lines.join(" "));
        self.known.extend(results);
    }
}
