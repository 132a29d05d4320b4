//! Machine code for the rows of a block: values stay in registers while they are needed.

use std::mem::offset_of;

use super::super::memory::CACHE_LINE;
use super::super::point_code::StepOp;
use super::super::rows::Place;
use super::body::{Body, Location, Step, System, Value};
use super::encode::{Argument, Assembler, Operand, Operation, distance};
use super::formula::Input;
use super::frame::{self, Frame};
use super::registers::{Content, Kept, is_unit, kept};
use crate::real::Real;

/// Variant of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    /// Number of the block; blocks after the corrected ones have the same code.
    pub(super) block: usize,
    /// Whether the old values of sums are used.
    pub(super) adds_old: bool,
    /// Whether stores to fields bypass the caches.
    pub(super) bypasses_caches: bool,
}

/// Translation of a row.
pub(super) struct Emitter<'a, T> {
    pub(super) assembler: &'a mut Assembler<T>,
    pub(super) body: &'a Body<'a, T>,
    pub(super) variant: Variant,
    pub(super) kept: Kept<T>,
    pub(super) registers: Vec<Content>,
    /// Number of the vector in the row.
    pub(super) vector: usize,
    /// Register and memory of every value.
    pub(super) register: Vec<Option<u8>>,
    pub(super) memory: Vec<Operand>,
    /// Steps that read it.
    pub(super) uses: Vec<Vec<usize>>,
    /// The present step.
    pub(super) at: usize,
}

/// Appends a function: the operations of `body` on some rows, from the last to the first. Returns its position.
pub(super) fn emit<T: Real>(
    assembler: &mut Assembler<T>,
    body: &Body<'_, T>,
    variant: Variant,
) -> usize {
    let entry = assembler.position();
    let mut uses = vec![Vec::new(); body.locations.len()];
    for (at, step) in body.steps.iter().enumerate() {
        for value in step.operands() {
            uses[value].push(at);
        }
    }
    let (kept, registers) = kept(assembler, body, &uses);
    let (vector, register, memory, at) = (0, Vec::new(), Vec::new(), 0);
    let mut emitter =
        Emitter { assembler, body, variant, kept, registers, vector, register, memory, uses, at };
    emitter.begin();
    let start = emitter.assembler.position();
    for vector in 0..emitter.vectors() {
        emitter.vector = vector;
        emitter.register = vec![None; body.locations.len()];
        emitter.memory = body.locations.iter().map(|at| emitter.location(*at)).collect();
        for (at, step) in body.steps.iter().enumerate() {
            emitter.prefetch(vector * body.steps.len() + at);
            emitter.at = at;
            emitter.step(step);
        }
    }
    emitter.end(start);
    entry
}

/// A position in the frame.
fn in_frame(at: usize) -> i32 {
    distance(at.cast_signed())
}

impl<T: Real> Emitter<'_, T> {
    /// Vectors of a row.
    fn vectors(&self) -> usize {
        self.assembler.isa.vectors()
    }

    /// The vector of a value in the present row.
    fn location(&self, location: Location) -> Operand {
        match location {
            Location::Block(place) => self.place(place),
            Location::Field(number) => self.field(number),
            Location::Temporary(number) => {
                self.vector_at(Argument::Frame, frame::temporary::<T>(number).cast_signed())
            }
        }
    }

    /// The vector of a field in the present row.
    fn field(&self, number: usize) -> Operand {
        let (pointer, offset) = (in_frame(frame::field::<T>(number)), self.in_row(0));
        Operand::Field { pointer, offset }
    }

    /// The vector of a quantity in the present row.
    fn place(&self, place: Place) -> Operand {
        let (stored, offset) = place.address();
        let argument = if stored { Argument::Stored } else { Argument::Reused };
        self.vector_at(argument, offset * size_of::<T>().cast_signed())
    }

    /// The vector of a row that a system carries: y[n−1], then x[m+1].
    fn carried(&self, system: System, row: usize) -> Operand {
        let at = (system.carried + row) * CACHE_LINE;
        self.vector_at(Argument::Carried, at.cast_signed())
    }

    /// The vector of the row that begins `offset` bytes after the address in an argument.
    fn vector_at(&self, argument: Argument, offset: isize) -> Operand {
        Operand::Memory(argument, self.in_row(offset))
    }

    /// Bytes to the present vector of a row that begins after `offset` bytes.
    fn in_row(&self, offset: isize) -> i32 {
        distance(offset + (self.vector * self.assembler.isa.bytes()).cast_signed())
    }

    /// The register of the solution of a system.
    fn solution(&self, system: usize) -> Option<u8> {
        self.kept.solutions[self.vector * self.body.systems.len() + system]
    }

    pub(super) fn emit(&mut self, operation: Operation, a: u8, b: u8, c: Operand) {
        self.assembler.emit(operation, a, b, c);
    }

    pub(super) fn broadcast(&mut self, register: u8, constant: T) {
        let constant = self.assembler.constant(constant);
        self.emit(Operation::Broadcast, register, 0, constant);
    }

    /// Loads what is kept in registers.
    fn begin(&mut self) {
        for at in 0..self.kept.constants.len() {
            let (constant, register) = self.kept.constants[at];
            self.broadcast(register, constant);
        }
        for (at, weight) in [self.kept.beta, self.kept.advance].into_iter().enumerate() {
            if let Some(register) = weight {
                let number = Operand::Memory(Argument::Frame, in_frame(frame::weight::<T>(at)));
                self.emit(Operation::Broadcast, register, 0, number);
            }
        }
        self.transfer_solutions(Operation::Load);
        self.assembler.reset_row();
    }

    /// Prefetches the part of the fields that is due before step `at`, counted over all vectors of the row.
    fn prefetch(&mut self, at: usize) {
        let (count, steps) = (self.body.read.len(), self.vectors() * self.body.steps.len());
        let due = |at: usize| (at * count).div_ceil(steps);
        for number in due(at)..due(at + 1) {
            let (field, is_old_sum) = self.body.read[number];
            if self.variant.adds_old || !is_old_sum {
                let ahead = in_frame(offset_of!(Frame<T>, ahead));
                self.assembler.prefetch(in_frame(frame::field::<T>(field)), ahead);
            }
        }
    }

    /// Ends the loop over the rows, which begins at position `start`, and the function.
    fn end(&mut self, start: usize) {
        let number = distance(size_of::<T>().cast_signed());
        let row = distance(CACHE_LINE.cast_signed());
        let Variant { block, .. } = self.variant;
        if self.body.matrices.iter().any(|matrix| block < matrix.powers.len()) {
            self.assembler.decrease(Argument::Powers, number);
        }
        self.assembler.decrease(Argument::Reused, row);
        self.assembler.decrease(Argument::Stored, row);
        if !self.body.fields.is_empty() {
            self.assembler.previous_row(in_frame(offset_of!(Frame<T>, stride)));
        }
        self.assembler.decrease(Argument::Rows, 1);
        self.assembler.jump_if_not_zero(start);
        self.transfer_solutions(Operation::Store);
        self.assembler.end();
    }

    fn transfer_solutions(&mut self, operation: Operation) {
        for vector in 0..self.vectors() {
            self.vector = vector;
            for at in 0..self.body.systems.len() {
                if let Some(register) = self.solution(at) {
                    self.emit(operation, register, 0, self.carried(self.body.systems[at], 1));
                }
            }
        }
    }

    fn step(&mut self, step: &Step<T>) {
        if !matches!(step, Step::Solve(_))
            && let Some((_, register)) = self.kept.power.take()
        {
            self.registers[usize::from(register)] = Content::Nothing;
        }
        match step {
            Step::Solve(system) => self.solve(*system),
            Step::Start { to, constant } => {
                let register = self.claim(Content::Sum);
                if *constant == T::ZERO {
                    self.emit(Operation::Xor, register, register, Operand::Register(register));
                } else {
                    self.broadcast(register, *constant);
                }
                self.register[*to] = Some(register);
            }
            Step::AddOld { to, old } => {
                if let Some(beta) = self.kept.beta.filter(|_| self.variant.adds_old) {
                    let (to, old) = (self.in_register(*to), self.operand(*old));
                    self.emit(Operation::AddProduct, to, beta, old);
                }
            }
            Step::AddTerm { to, coefficient, factors } => {
                let to = self.in_register(*to);
                self.add_term(to, *coefficient, factors);
            }
            Step::Advance { to, from, sum } => {
                let register = self.claim(Content::Sum);
                let advance =
                    self.kept.advance.unwrap_or_else(|| unreachable!("a weight of a step"));
                let sum = self.operand(*sum);
                self.emit(Operation::Multiply, register, advance, sum);
                let from = self.operand(*from);
                self.emit(Operation::Add, register, register, from);
                self.register[*to] = Some(register);
            }
            Step::Load { to, field } => {
                let (register, field) = (self.claim(Content::Sum), self.field(*field));
                self.emit(Operation::Load, register, 0, field);
                self.register[*to] = Some(register);
            }
            Step::Compute { to, op, from } => {
                let register = self.compute(*op, from);
                self.registers[usize::from(register)] = Content::Sum;
                self.register[*to] = Some(register);
            }
            Step::Store { field, from } => {
                let (register, field) = (self.load(*from), self.field(*field));
                let store = match self.variant.bypasses_caches {
                    true => Operation::Stream,
                    false => Operation::Store,
                };
                self.emit(store, register, 0, field);
            }
            Step::Finish(value) => {
                let (register, in_memory) = (self.in_register(*value), self.body.stored[*value]);
                if in_memory {
                    self.emit(Operation::Store, register, 0, self.memory[*value]);
                }
                self.registers[usize::from(register)] = Content::Value { value: *value, in_memory };
            }
        }
        self.release();
    }

    /// x[m] = y[m] + factor x[m+1].
    fn solve(&mut self, number: usize) {
        let (body, system) = (self.body, self.body.systems[number]);
        let matrix = body.matrices[system.matrix];
        let (at, next) = (self.place(system.at), self.carried(system, 1));
        let factor = self.constant(matrix.factor);
        let mut y = at;
        if self.variant.block < matrix.powers.len() {
            let (power, register) = (self.power(system.matrix), self.claim(Content::Temporary));
            self.emit(Operation::Load, register, 0, y);
            self.emit(Operation::AddProduct, register, power, self.carried(system, 0));
            y = Operand::Register(register);
        }
        let x = match self.solution(number) {
            Some(x) => {
                self.emit(Operation::MultiplyAdd, x, factor, y);
                x
            }
            None => {
                let content = Content::Value { value: system.x, in_memory: true };
                let x = self.claim(content);
                self.emit(Operation::Load, x, 0, next);
                self.emit(Operation::MultiplyAdd, x, factor, y);
                self.emit(Operation::Store, x, 0, next);
                self.memory[system.x] = next;
                x
            }
        };
        self.register[system.x] = Some(x);
        if body.stored[system.x] {
            self.emit(Operation::Store, x, 0, at);
        }
    }

    /// Adds coefficient × product to a sum, rounded as in [`Evaluate`](super::super::sums::Evaluate).
    fn add_term(&mut self, to: u8, coefficient: T, factors: &[Value]) {
        let add = match coefficient == T::of(-1.0) {
            true => Operation::SubtractProduct,
            false => Operation::AddProduct,
        };
        let (product, last) = match (is_unit(coefficient), factors) {
            (true, [a]) => {
                let a = self.operand(*a);
                let add = if coefficient > T::ZERO { Operation::Add } else { Operation::Subtract };
                return self.emit(add, to, to, a);
            }
            (true, [a, b]) if self.register[*b].is_some() => (self.load(*b), *a),
            (true, [a, b]) => (self.load(*a), *b),
            (true, [a, b, c]) => {
                let (a, b) = (self.load(*a), self.operand(*b));
                let product = self.claim(Content::Temporary);
                self.emit(Operation::Multiply, product, a, b);
                (product, *c)
            }
            (false, [a]) => (self.constant(coefficient), *a),
            (false, [a, b]) => (self.scaled(coefficient, *a), *b),
            (false, [a, b, c]) => {
                let (product, b) = (self.scaled(coefficient, *a), self.operand(*b));
                self.emit(Operation::Multiply, product, product, b);
                (product, *c)
            }
            _ => unreachable!("one to three factors"),
        };
        let last = self.operand(last);
        self.emit(add, to, product, last);
    }

    /// The result of an operation, in a register of its own; rounded as in [`Run`](super::super::strips).
    fn compute(&mut self, op: StepOp, from: &[Input<T>]) -> u8 {
        let simple = |operation: Operation| (operation, None);
        let (operation, sum) = match op {
            StepOp::Copy => simple(Operation::Load),
            StepOp::Sqrt => simple(Operation::Root),
            StepOp::Neg => simple(Operation::Xor),
            StepOp::Abs => simple(Operation::AndNot),
            StepOp::Add => simple(Operation::Add),
            StepOp::Sub => simple(Operation::Subtract),
            StepOp::Mul => simple(Operation::Multiply),
            StepOp::Div => simple(Operation::Divide),
            StepOp::MulAdd => (Operation::Multiply, Some(Operation::Add)),
            StepOp::MulSub | StepOp::SubMul => (Operation::Multiply, Some(Operation::Subtract)),
            StepOp::Pow(_) => unreachable!("formulas without powers"),
        };
        let (first, last) = match (op, from) {
            (StepOp::Neg | StepOp::Abs, [a]) => (self.constant(T::of(-0.0)), *a),
            (_, [a]) => (0, *a),
            (_, [a, b, ..]) => (self.input_in_register(*a), *b),
            _ => unreachable!("one to three operands"),
        };
        let last = self.input(last);
        let to = self.claim(Content::Temporary);
        self.emit(operation, to, first, last);
        if let (Some(sum), [_, _, c]) = (sum, from) {
            match op {
                StepOp::SubMul => {
                    let c = self.input_in_register(*c);
                    self.emit(sum, to, c, Operand::Register(to));
                }
                _ => {
                    let c = self.input(*c);
                    self.emit(sum, to, to, c);
                }
            }
        }
        to
    }

    /// coefficient × value, in a temporary register.
    fn scaled(&mut self, coefficient: T, value: Value) -> u8 {
        let (coefficient, value) = (self.constant(coefficient), self.operand(value));
        let product = match self.registers[usize::from(coefficient)] {
            Content::Temporary => coefficient,
            _ => self.claim(Content::Temporary),
        };
        self.emit(Operation::Multiply, product, coefficient, value);
        product
    }
}
