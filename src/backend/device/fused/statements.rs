//! What a thread does, as statements.

use super::super::text::{Names, polynomial, statements};
use super::body::Body;
use super::uses::{Array, Target};
use crate::engine::{Monomial, Operation, PointFormula, Value};

impl Body<'_> {
    /// Point j of an array.
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
        self.push(format!("EACH(j) {{ {what} }}"));
    }

    /// Nobody reads on-chip memory any more.
    fn wait(&mut self) {
        if self.busy {
            self.push("__syncthreads();".into());
            self.busy = false;
        }
    }

    /// The text of a sum of products at point j, once everything that it is made of is in registers.
    fn expression(&mut self, terms: &[Monomial]) -> String {
        polynomial(self.plan.precision, terms, |value| {
            let array = self.value(value);
            self.at(array)
        })
    }

    pub(super) fn add_term(&mut self, term: usize) {
        self.added[term] = true;
        let sum = self.uses.terms[term].sum;
        let text = self.expression(std::slice::from_ref(self.uses.terms[term].product));
        let array = self.uses.sums[sum].target.array();
        if self.begun[sum] {
            let sum = self.at(array);
            self.each(&format!("{sum} += {text};"));
        } else {
            self.make_room(1);
            self.push(format!("REAL {array}[LENGTH];"));
            self.each(&format!("{array}[j] = {text};"));
        }
        self.begun[sum] = true;
    }

    /// Add all that is left, and store it where it goes.
    pub(super) fn finish(&mut self, at: usize) {
        if self.finished[at] {
            return;
        }
        let sum = &self.uses.sums[at];
        if sum.terms.is_empty() {
            let array = sum.target.array();
            self.push(format!("REAL {array}[LENGTH];"));
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
                self.complete(slot, sum.previous);
                self.store(slot, sum.previous);
            }
            Target::Stored(slot) => self.store(slot, sum.previous),
        }
    }

    /// β × what was there before + the sum.
    fn complete(&mut self, slot: usize, previous: Option<Value>) {
        let array = Array::Sum(slot);
        if let Some(value) = previous {
            let before = self.value(value);
            let (sum, before) = (self.at(array), self.at(before));
            let before = format!("(beta == 0 ? 0 : beta * {before})");
            self.each(&format!("{sum} = {before} + {sum};"));
            return;
        }
        let sum = self.at(array);
        self.push("if (beta != 0) {".into());
        let busy = self.busy;
        self.push("REAL before[LENGTH];".into());
        self.load("before", &format!("w{slot}"), false);
        self.each(&format!("{sum} += beta * before[j];"));
        self.push("}".into());
        self.busy |= busy;
    }

    fn load(&mut self, to: &str, field: &str, plane: bool) {
        if self.plan.gathers() {
            self.wait();
        }
        let load = if plane { "load_plane" } else { "load" };
        self.push(format!("{load}({to}, {field}, chip, tile);"));
        self.busy |= self.plan.gathers();
    }

    fn store(&mut self, slot: usize, previous: Option<Value>) {
        if let Some(value) = previous.filter(|value| self.next_use(*value).is_some()) {
            self.value(value);
        }
        if self.plan.gathers() {
            self.wait();
        }
        let array = Array::Sum(slot);
        if self.parked.contains_key(&array) {
            let sum = self.at(array);
            self.push("{ REAL stored[LENGTH];".into());
            self.each(&format!("stored[j] = {sum};"));
            self.push(format!("store(stored, w{slot}, chip, tile); }}"));
        } else {
            self.push(format!("store({array}, w{slot}, chip, tile);"));
        }
        self.busy |= self.plan.gathers();
    }

    pub(super) fn apply(&mut self, operation: &Operation) {
        let Operation::Apply { op, operand, result } = operation else {
            unreachable!("an operator")
        };
        let text = self.expression(&operand.0);
        self.make_room(1);
        let to = Array::Value(*result);
        self.push(format!("REAL {to}[LENGTH];"));
        self.each(&format!("{to}[j] = {text};"));
        self.wait();
        let calls = self.plan.calls(*op, *result, &to.to_string());
        self.lines.extend(calls);
        self.known.insert(*result);
        let held = self.held().into_iter().map(|(array, _)| array);
        let kept = held.filter(|array| *array != to && !self.parked.contains_key(array));
        let kept: Vec<String> = kept.map(|array| format!("FORGET({array}[j]);")).collect();
        if !kept.is_empty() {
            self.each(&kept.join(" "));
        }
        self.busy = self.plan.is_explicit(*op);
    }

    /// The array of a value, once it is in registers.
    fn value(&mut self, value: Value) -> Array {
        let to = Array::Value(value);
        if self.known.contains(&value) {
            return to;
        }
        let made = self.uses.origin(value);
        if let Operation::Read { .. } | Operation::Previous { .. } = made {
            self.make_room(1);
            if self.declared.insert(value) {
                self.push(format!("REAL {to}[LENGTH];"));
            }
        }
        match made {
            Operation::Read { slot, plane, .. } => {
                self.load(&to.to_string(), &format!("r{slot}"), *plane);
            }
            Operation::Previous { slot, .. } => {
                self.load(&to.to_string(), &format!("w{slot}"), false);
            }
            Operation::Let { .. } => self.finish_target(Target::Value(value)),
            Operation::Map { map, operands, results } => self.map(map, operands, results),
            Operation::Advance { value, slot, .. } => {
                self.finish_target(Target::Added(*slot));
                let before = self.value(*value);
                self.make_room(1);
                let (before, sum) = (self.at(before), self.at(Array::Sum(*slot)));
                self.push(format!("REAL {to}[LENGTH];"));
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

    /// What a formula makes.
    fn map(&mut self, map: &PointFormula, operands: &[Value], results: &[Value]) {
        let operands: Vec<Array> = operands.iter().map(|value| self.value(*value)).collect();
        self.make_room(0);
        for result in results {
            let to = Array::Value(*result);
            match self.place() {
                Some(place)
                    if self.live() >= self.room.registers && self.next_use(*result).is_some() =>
                {
                    self.park(to, place);
                }
                _ => {
                    self.push(format!("REAL {to}[LENGTH];"));
                    self.known.insert(*result);
                }
            }
        }
        self.most = self.most.max(self.live());
        let names = Names { read: &|at| self.at(operands[at]), made: "t" };
        let lines = statements(
            (self.plan.precision, "REAL"),
            &map.nodes,
            &map.results,
            &names,
            |at, result| format!("{} = {result};", self.at(Array::Value(results[at]))),
        );
        self.each(&lines.join(" "));
        self.known.extend(results);
    }
}
