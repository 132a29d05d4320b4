//! The arithmetic of one row of a backward pass: every value is computed once and has a number.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};

use super::super::point_code::{PointCode, StepOp};
use super::super::program::{Application, Instruction, Loaded, Slot};
use super::super::rows::Place;
use super::super::solver::{Cyclic, SolveMethod};
use super::super::sums::Polynomial;
use super::formula::{self, Input};
use crate::real::Real;

/// Number of a value.
pub(super) type Value = usize;

/// Up to three values.
pub(super) type Operands = SmallVec<[Value; 3]>;

/// A periodic tridiagonal system: x[m] = y[m] + factor x[m+1], where y[m] is corrected in the first rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    /// Number of its matrix.
    pub(super) matrix: usize,
    /// Location of y, which x replaces.
    pub(super) at: Place,
    /// Number of the carried row y[n−1], which x[m+1] follows.
    pub(super) carried: usize,
    pub(super) x: Value,
}

/// The memory of a value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// In the blocks of a tile.
    Block(Place),
    /// In the field with this number of the body, which has not been written yet when the value is used.
    Field(usize),
    /// In the frame: the temporary value with this number.
    Temporary(usize),
}

/// One operation.
#[derive(Clone, Debug)]
pub(super) enum Step<T> {
    /// The next point of a system.
    Solve(usize),
    /// `to` = constant.
    Start { to: Value, constant: T },
    /// `to` = `to` + β `old`.
    AddOld { to: Value, old: Value },
    /// `to` = `to` + coefficient × product of the factors.
    AddTerm { to: Value, coefficient: T, factors: Operands },
    /// `to` = `from` + advance × `sum`.
    Advance { to: Value, from: Value, sum: Value },
    /// `to` = the value in a field.
    Load { to: Value, field: usize },
    /// `to` = `op` of the inputs.
    Compute { to: Value, op: StepOp, from: SmallVec<[Input<T>; 3]> },
    /// The value in a field = `from`.
    Store { field: usize, from: Value },
    /// The value is complete.
    Finish(Value),
}

impl<T> Step<T> {
    /// Values that it reads.
    pub(super) fn operands(&self) -> Operands {
        match self {
            Step::AddOld { old, .. } => smallvec![*old],
            Step::AddTerm { factors, .. } => factors.clone(),
            Step::Advance { from, sum, .. } => smallvec![*from, *sum],
            Step::Compute { from, .. } => from.iter().filter_map(Input::value).collect(),
            Step::Store { from, .. } => smallvec![*from],
            Step::Solve(_) | Step::Start { .. } | Step::Load { .. } | Step::Finish(_) => {
                SmallVec::new()
            }
        }
    }
}

/// The operations on a row, in order.
#[derive(Debug)]
pub(super) struct Body<'a, T> {
    pub(super) matrices: Vec<&'a Cyclic<T>>,
    pub(super) systems: Vec<System>,
    pub(super) steps: Vec<Step<T>>,
    /// Location of every value.
    pub(super) locations: Vec<Location>,
    /// Whether the value must be stored there.
    pub(super) stored: Vec<bool>,
    /// Fields that are read or written.
    pub(super) fields: Vec<Slot>,
    /// Numbers of the fields that are read, and whether as old values of a sum.
    pub(super) read: Vec<(usize, bool)>,
}

/// A body, and the value that each location holds at the present step.
struct Builder<'a, T> {
    body: Body<'a, T>,
    current: HashMap<Place, Value>,
}

impl<'a, T: Real> Body<'a, T> {
    /// The substitution of `applied`, then `instructions`. `read_later`: locations that are read after them.
    pub(super) fn new(
        applied: &'a [Application<T>],
        instructions: &[Instruction<T>],
        read_later: impl Fn(Place) -> bool,
    ) -> Self {
        let body = Body {
            matrices: Vec::new(),
            systems: Vec::new(),
            steps: Vec::new(),
            locations: Vec::new(),
            stored: Vec::new(),
            fields: Vec::new(),
            read: Vec::new(),
        };
        let mut builder = Builder { body, current: HashMap::new() };
        for application in applied {
            builder.solve(application);
        }
        for instruction in instructions {
            builder.add(instruction);
        }
        let Builder { mut body, current } = builder;
        for (place, value) in current {
            body.stored[value] &= read_later(place);
        }
        body.defer_loads();
        body
    }

    /// Replaces loads of values that are only used here, before their field is written, by uses of the field.
    fn defer_loads(&mut self) {
        let Self { steps, locations, stored, .. } = self;
        let mut is_deferred = vec![false; locations.len()];
        for (at, step) in steps.iter().enumerate() {
            if let Step::Load { to, field } = step {
                let written =
                    |step: &Step<T>| matches!(step, Step::Store { field: to, .. } if to == field);
                let is_written = steps[at..].iter().position(written);
                let after = is_written.map_or(&[][..], |skipped| &steps[at + skipped + 1..]);
                let is_used_after = after.iter().any(|step| step.operands().contains(to));
                if !stored[*to] && !is_used_after {
                    (is_deferred[*to], locations[*to]) = (true, Location::Field(*field));
                }
            }
        }
        steps.retain(|step| match step {
            Step::Load { to, .. } | Step::Finish(to) => !is_deferred[*to],
            _ => true,
        });
    }
}

impl<'a, T: Real> Builder<'a, T> {
    /// A new value; `computed`: it is not in its location before.
    fn value(&mut self, at: Location, computed: bool) -> Value {
        self.body.locations.push(at);
        self.body.stored.push(computed);
        self.body.locations.len() - 1
    }

    /// The value in a location.
    fn at(&mut self, place: Place) -> Value {
        if let Some(value) = self.current.get(&place) {
            return *value;
        }
        let value = self.value(Location::Block(place), false);
        self.current.insert(place, value);
        value
    }

    /// A new value replaces the one in its location, which need not be stored any more.
    fn define(&mut self, place: Place) -> Value {
        let value = self.value(Location::Block(place), true);
        if let Some(previous) = self.current.insert(place, value) {
            self.body.stored[previous] = false;
        }
        value
    }

    fn solve(&mut self, application: &'a Application<T>) {
        let solver = &*application.solver;
        let SolveMethod::Cyclic(cyclic) = &solver.method else {
            unreachable!("periodic tridiagonal systems only");
        };
        let skipped = solver.taps() - 1 + solver.half_band();
        let (at, carried) = (application.to, application.carried + skipped);
        let x = self.define(at);
        let Body { matrices, systems, steps, .. } = &mut self.body;
        let known = matrices.iter().position(|known| std::ptr::eq(*known, cyclic));
        let matrix = known.unwrap_or_else(|| {
            matrices.push(cyclic);
            matrices.len() - 1
        });
        steps.push(Step::Solve(systems.len()));
        systems.push(System { matrix, at, carried, x });
    }

    fn add(&mut self, instruction: &Instruction<T>) {
        let to = match instruction {
            Instruction::Let { polynomial, to } => self.sum(polynomial, *to, false),
            Instruction::Add { polynomial, to } => self.sum(polynomial, *to, true),
            Instruction::Advance { from, sum, to } => {
                let (from, sum) = (self.at(*from), self.at(*sum));
                let to = self.define(*to);
                self.body.steps.push(Step::Advance { to, from, sum });
                to
            }
            Instruction::Load(Loaded { field, to, is_old_sum }) => {
                let (field, to) = (self.field(*field), self.define(*to));
                self.body.read.push((field, *is_old_sum));
                self.body.steps.push(Step::Load { to, field });
                to
            }
            Instruction::Store { slot, from } => {
                let (field, from) = (self.field(Slot::Written(*slot)), self.at(*from));
                return self.body.steps.push(Step::Store { field, from });
            }
            Instruction::Map { map, from, to } => return self.map(map, from, to),
        };
        self.body.steps.push(Step::Finish(to));
    }

    /// Number of a field.
    fn field(&mut self, slot: Slot) -> usize {
        let fields = &mut self.body.fields;
        let known = fields.iter().position(|known| *known == slot);
        known.unwrap_or_else(|| {
            fields.push(slot);
            fields.len() - 1
        })
    }

    /// The steps of a formula.
    fn map(&mut self, map: &PointCode, from: &[Place], to: &[Place]) {
        let mut rows = formula::constants::<T>(map);
        rows.extend(from.iter().chain(to).map(|place| Input::Value(self.at(*place))));
        let written = map.first_written..map.first_written + to.len();
        rows.resize(map.rows, Input::Constant(T::ZERO));
        for (number, step) in map.steps.iter().enumerate() {
            let from = formula::operands(step).map(|row| rows[row]).collect();
            let result = match written.contains(&step.to) {
                true => self.define(to[step.to - written.start]),
                false => self.value(Location::Temporary(number), false),
            };
            rows[step.to] = Input::Value(result);
            self.body.steps.push(Step::Compute { to: result, op: step.op, from });
            self.body.steps.push(Step::Finish(result));
        }
    }

    fn sum(&mut self, polynomial: &Polynomial<T>, place: Place, adds: bool) -> Value {
        let old = adds.then(|| self.at(place));
        let terms: Vec<(T, Operands)> = polynomial
            .terms()
            .map(|(c, factors)| (c, factors.iter().map(|factor| self.at(*factor)).collect()))
            .collect();
        let to = self.define(place);
        let steps = &mut self.body.steps;
        steps.push(Step::Start { to, constant: polynomial.constant });
        steps.extend(old.map(|old| Step::AddOld { to, old }));
        steps.extend(terms.into_iter().map(|(coefficient, factors)| Step::AddTerm {
            to,
            coefficient,
            factors,
        }));
        to
    }
}
