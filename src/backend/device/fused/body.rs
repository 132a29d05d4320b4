//! What a thread of a fused sweep does, as text: operators one after another, and everything else as late as that allows,
//! but a sum as soon as it frees what it is made of.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use super::super::text::{Names, polynomial, statements};
use crate::engine::{Map, Monomial, Op, Operation, Value};
use crate::real::Real;

/// Where a sum goes.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// A value of the sweep.
    Value(Value),
    /// Added to the field that is written at this slot.
    Added(usize),
    /// Stored to it.
    Stored(usize),
}

/// An expression that is formed term by term.
#[derive(Clone)]
struct Sum<'a> {
    target: Target,
    /// Terms that are still to be added.
    pending: Vec<&'a Monomial>,
    begun: bool,
    finished: bool,
}

impl Sum<'_> {
    fn name(&self) -> String {
        match self.target {
            Target::Value(value) => name(value),
            Target::Added(slot) | Target::Stored(slot) => format!("s{slot}"),
        }
    }
}

fn name(value: Value) -> String {
    format!("v{}", value.0)
}

/// The statements of a sweep, as they are written.
#[derive(Clone)]
pub(super) struct Body<'a, T> {
    operations: &'a [Operation],
    /// The call that applies an operator to the array of this name, its result being that value.
    apply: &'a dyn Fn(Op, Value, &str) -> Vec<String>,
    /// Whether an operator leaves on-chip memory that may still be read.
    is_explicit: &'a dyn Fn(Op) -> bool,
    /// Values of a point that there are registers for.
    room: usize,
    /// True where fields go through on-chip memory.
    gathered: bool,
    sums: Vec<Sum<'a>>,
    /// Values that no operator comes before.
    free: BTreeSet<Value>,
    /// Values that could be formed now.
    available: BTreeSet<Value>,
    /// Values that are in registers.
    known: BTreeSet<Value>,
    /// Values that have had registers.
    declared: BTreeSet<Value>,
    /// Whether on-chip memory may still be read.
    busy: bool,
    lines: Vec<String>,
    precision: PhantomData<T>,
}

impl<'a, T: Real> Body<'a, T> {
    /// The statements of `operations`, and the most values of a point that are in registers at a time. Beyond `room` of
    /// them, fields that are read are loaded again when they are needed again. Operators come as they are written, or
    /// those first after which the fewest values are needed, whichever takes fewer.
    pub(super) fn write(
        operations: &'a [Operation],
        room: usize,
        gathered: bool,
        apply: &'a dyn Fn(Op, Value, &str) -> Vec<String>,
        is_explicit: &'a dyn Fn(Op) -> bool,
    ) -> (Vec<String>, usize) {
        let mut body = Self {
            operations,
            apply,
            is_explicit,
            room,
            gathered,
            sums: sums(operations),
            declared: BTreeSet::new(),
            free: BTreeSet::new(),
            available: BTreeSet::new(),
            known: BTreeSet::new(),
            busy: false,
            lines: Vec::new(),
            precision: PhantomData,
        };
        body.update();
        body.free = body.available.clone();
        body.settle();
        let [first, second] = [false, true].map(|greedy| body.clone().written(greedy));
        if second.1 < first.1 { second } else { first }
    }

    fn written(mut self, greedy: bool) -> (Vec<String>, usize) {
        let mut most = self.live();
        while let Some(next) = self.next(greedy) {
            self.apply(next);
            most = most.max(self.live());
            self.update();
            self.settle();
            self.evict();
            most = most.max(self.live());
        }
        (self.lines, most)
    }

    /// Forget fields that are read and not needed soon, while there is no room.
    fn evict(&mut self) {
        while self.live() > self.room {
            let next_use = |value: Value| {
                let uses = |operation: &Operation| {
                    let done = operation.results().iter().all(|made| self.known.contains(made));
                    !(done && matches!(operation, Operation::Apply { .. }))
                        && operation.used().any(|used| used == value)
                };
                self.operations.iter().position(uses)
            };
            let known = |operation: &Operation| match operation {
                Operation::Read { result, .. } if self.known.contains(result) => Some(*result),
                _ => None,
            };
            let Some(last) = self.operations.iter().filter_map(known).max_by_key(|v| next_use(*v))
            else {
                break;
            };
            self.known.remove(&last);
        }
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
        let operations = self.operations;
        let next = operations.iter().filter(left).filter(ready).min_by_key(|operation| {
            if !greedy {
                return (0, 0);
            }
            let mut body = self.clone();
            body.apply(operation);
            let during = body.live();
            body.update();
            body.settle();
            (body.live(), during)
        });
        self.lines = lines;
        next
    }

    /// Values of a point that are in registers and needed again.
    fn live(&self) -> usize {
        let sums = self.sums.iter().filter(|sum| sum.begun && !sum.finished).count();
        let needed = |value: &&Value| {
            let sums = self.sums.iter().flat_map(|sum| &sum.pending);
            let mut factors = sums.flat_map(|term| &term.factors);
            factors.any(|factor| factor == *value) || self.needs(**value)
        };
        sums + self.known.iter().filter(needed).count()
    }

    /// Whether an operator or a formula is still to be given a value.
    fn needs(&self, value: Value) -> bool {
        self.operations.iter().any(|operation| {
            let sums = matches!(
                operation,
                Operation::Let { .. } | Operation::Add { .. } | Operation::Store { .. }
            );
            let done = operation.results().iter().all(|made| self.known.contains(made));
            !sums && !done && operation.used().any(|used| used == value)
        })
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    fn each(&mut self, what: &str) {
        self.push(format!("EACH(j) {{ {what} }}"));
    }

    /// Nobody reads on-chip memory any more.
    fn wait(&mut self) {
        if self.busy {
            self.push("__syncthreads();".into());
            self.busy = false;
        }
    }

    /// See what could be formed.
    fn update(&mut self) {
        let mut available = BTreeSet::new();
        let mut incomplete = BTreeSet::new();
        for operation in self.operations {
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

    fn is_available(&self, term: &Monomial) -> bool {
        term.factors.iter().all(|value| self.available.contains(value))
    }

    /// Add and store what can be.
    fn settle(&mut self) {
        let mut settled = false;
        while !settled {
            settled = true;
            for at in 0..self.sums.len() {
                let Sum { finished, begun, target, .. } = self.sums[at];
                if finished {
                    continue;
                }
                let complete = self.sums[at].pending.iter().all(|term| self.is_available(term));
                if complete && (begun || !matches!(target, Target::Value(_))) {
                    self.finish(at);
                    settled = false;
                    continue;
                }
                let mut next = 0;
                while next < self.sums[at].pending.len() {
                    let term = self.sums[at].pending[next];
                    let frees = self.sums[at].begun || self.frees(at, term);
                    if self.is_available(term) && frees && !self.is_free(term) {
                        self.sums[at].pending.remove(next);
                        self.add_term(at, term);
                        settled = false;
                    } else {
                        next += 1;
                    }
                }
            }
        }
    }

    fn is_free(&self, term: &Monomial) -> bool {
        term.factors.iter().all(|value| self.free.contains(value))
    }

    /// Whether a value behind an operator is needed by nothing else that would have to be begun.
    fn frees(&self, at: usize, term: &Monomial) -> bool {
        let mut behind = term.factors.iter().filter(|value| !self.free.contains(value));
        behind.any(|value| {
            let waits = |(other, sum): (usize, &Sum)| {
                let uses = sum.pending.iter().any(|term| term.factors.contains(value));
                other != at && !sum.begun && uses
            };
            !self.sums.iter().enumerate().any(waits) && !self.needs(*value)
        })
    }

    /// The text of a sum of products at point j, once everything that it is made of is in registers.
    fn expression(&mut self, terms: &[Monomial]) -> String {
        polynomial::<T>(terms, |value| format!("{}[j]", self.value(value)))
    }

    fn add_term(&mut self, at: usize, term: &Monomial) {
        let text = self.expression(std::slice::from_ref(term));
        let name = self.sums[at].name();
        if self.sums[at].begun {
            self.each(&format!("{name}[j] += {text};"));
        } else {
            self.push(format!("REAL {name}[LENGTH];"));
            self.each(&format!("{name}[j] = {text};"));
        }
        self.sums[at].begun = true;
    }

    /// Add all that is left, and store it where it goes.
    fn finish(&mut self, at: usize) {
        if self.sums[at].finished {
            return;
        }
        let pending = std::mem::take(&mut self.sums[at].pending);
        if pending.is_empty() && !self.sums[at].begun {
            let name = self.sums[at].name();
            self.push(format!("REAL {name}[LENGTH];"));
            self.each(&format!("{name}[j] = 0;"));
        }
        pending.into_iter().for_each(|term| self.add_term(at, term));
        self.sums[at].finished = true;
        match self.sums[at].target {
            Target::Value(value) => drop(self.known.insert(value)),
            Target::Added(slot) => {
                self.complete(slot);
                self.store(slot);
            }
            Target::Stored(slot) => self.store(slot),
        }
    }

    /// The value that field `slot` had before, where it is asked for.
    fn previous(&self, slot: usize) -> Option<Value> {
        self.operations.iter().find_map(|operation| match operation {
            Operation::Previous { slot: other, result } if *other == slot => Some(*result),
            _ => None,
        })
    }

    /// β × what was there before + scale × the sum.
    fn complete(&mut self, slot: usize) {
        if let Some(value) = self.previous(slot) {
            let before = self.value(value);
            let before = format!("(beta == 0 ? 0 : beta * {before}[j])");
            self.each(&format!("s{slot}[j] = {before} + scale * s{slot}[j];"));
            return;
        }
        self.each(&format!("s{slot}[j] *= scale;"));
        self.push("if (beta != 0) {".into());
        let busy = self.busy;
        self.push("REAL before[LENGTH];".into());
        self.load("before", &format!("w{slot}"));
        self.each(&format!("s{slot}[j] += beta * before[j];"));
        self.push("}".into());
        self.busy |= busy;
    }

    fn load(&mut self, to: &str, field: &str) {
        if self.gathered {
            self.wait();
        }
        self.push(format!("load({to}, {field}, chip, tile);"));
        self.busy |= self.gathered;
    }

    fn store(&mut self, slot: usize) {
        if let Some(value) = self.previous(slot) {
            self.value(value);
        }
        if self.gathered {
            self.wait();
        }
        self.push(format!("store(s{slot}, w{slot}, chip, tile);"));
        self.busy |= self.gathered;
    }

    fn apply(&mut self, operation: &Operation) {
        let Operation::Apply { op, operand, result } = operation else {
            unreachable!("an operator")
        };
        let text = self.expression(&operand.0);
        let to = name(*result);
        self.push(format!("REAL {to}[LENGTH];"));
        self.each(&format!("{to}[j] = {text};"));
        self.wait();
        let calls = (self.apply)(*op, *result, &to);
        self.lines.extend(calls);
        self.busy = (self.is_explicit)(*op);
        self.known.insert(*result);
    }

    /// The name of a value, once it is in registers.
    fn value(&mut self, value: Value) -> String {
        let to = name(value);
        if self.known.contains(&value) {
            return to;
        }
        let operations = self.operations;
        let made = |operation: &&Operation| operation.results().contains(&value);
        let made = operations.iter().find(made);
        if let Some(Operation::Read { .. } | Operation::Previous { .. }) = made
            && self.declared.insert(value)
        {
            self.push(format!("REAL {to}[LENGTH];"));
        }
        match made {
            Some(Operation::Read { slot, .. }) => self.load(&to, &format!("r{slot}")),
            Some(Operation::Previous { slot, .. }) => self.load(&to, &format!("w{slot}")),
            Some(Operation::Let { .. }) => self.finish_target(Target::Value(value)),
            Some(Operation::Map { map, operands, results }) => self.map(map, operands, results),
            Some(Operation::Advance { value, slot, .. }) => {
                self.finish_target(Target::Added(*slot));
                let before = self.value(*value);
                self.push(format!("REAL {to}[LENGTH];"));
                self.each(&format!("{to}[j] = {before}[j] + advance * s{slot}[j];"));
            }
            _ => unreachable!("a value without origin"),
        }
        self.known.insert(value);
        to
    }

    fn finish_target(&mut self, target: Target) {
        if let Some(at) = self.sums.iter().position(|sum| sum.target == target) {
            self.finish(at);
        }
    }

    /// What a formula makes.
    fn map(&mut self, map: &Map, operands: &[Value], results: &[Value]) {
        let operands: Vec<String> = operands.iter().map(|value| self.value(*value)).collect();
        for result in results {
            self.push(format!("REAL {}[LENGTH];", name(*result)));
        }
        let names = Names { read: &|at| format!("{}[j]", operands[at]), made: "t" };
        let lines = statements::<T>(&map.nodes, &map.results, "REAL", &names, |at, result| {
            format!("{}[j] = {result};", name(results[at]))
        });
        self.each(&lines.join(" "));
        self.known.extend(results);
    }
}

/// All sums of a sweep: what is added to one field together.
fn sums(operations: &[Operation]) -> Vec<Sum<'_>> {
    let mut sums: Vec<Sum> = Vec::new();
    for operation in operations {
        let (target, expr) = match operation {
            Operation::Let { expr, result } => (Target::Value(*result), expr),
            Operation::Add { slot, expr } => (Target::Added(*slot), expr),
            Operation::Store { slot, expr } => (Target::Stored(*slot), expr),
            _ => continue,
        };
        match sums.iter_mut().find(|sum| sum.target == target) {
            Some(sum) => sum.pending.extend(&expr.0),
            None => {
                let pending = expr.0.iter().collect();
                sums.push(Sum { target, pending, begun: false, finished: false });
            }
        }
    }
    sums
}
