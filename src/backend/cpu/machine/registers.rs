//! Registers of generated code: what they keep, and what they hold while it is needed.

use std::cmp::Reverse;

use smallvec::{SmallVec, smallvec};

use super::super::point_code::StepOp;
use super::super::rows::BLOCK;
use super::body::{Body, Step, Value};
use super::emit::Emitter;
use super::encode::{Argument, Assembler, Operand, Operation, distance};
use super::formula::Input;
use crate::real::Real;

/// Registers that are not kept for constants and solutions: a step needs at most five.
const MIN_FREE: usize = 6;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    /// The same in all rows, or the solution of a system, or a power.
    Kept,
    /// Used in the present step only.
    Temporary,
    /// A value that is not complete: a sum, or a result before it is stored.
    Sum,
    /// A complete value; `in_memory`: memory holds it, too.
    Value {
        value: Value,
        in_memory: bool,
    },
}

/// Registers that are kept.
pub(super) struct Kept<T> {
    pub(super) constants: Vec<(T, u8)>,
    pub(super) beta: Option<u8>,
    pub(super) advance: Option<u8>,
    /// Of every system, for one vector of a row after another.
    pub(super) solutions: Vec<Option<u8>>,
    /// Matrix and register of the power of a row.
    pub(super) power: Option<(usize, u8)>,
}

/// Selects what stays in registers: constants, and solutions, by the number of memory accesses that this saves.
pub(super) fn kept<T: Real>(
    assembler: &Assembler<T>,
    body: &Body<'_, T>,
    uses: &[Vec<usize>],
) -> (Kept<T>, Vec<Content>) {
    let mut free = 0..assembler.isa.registers();
    let any = |is: fn(&Step<T>) -> bool| body.steps.iter().any(is);
    let beta = any(|step| matches!(step, Step::AddOld { .. })).then(|| free.next()).flatten();
    let advance = any(|step| matches!(step, Step::Advance { .. })).then(|| free.next()).flatten();

    let factors = body.systems.iter().map(|system| body.matrices[system.matrix].factor);
    let coefficients = body.steps.iter().flat_map(constants_of);
    let mut constants: Vec<(T, usize)> = Vec::new();
    for constant in factors.chain(coefficients) {
        match constants.iter_mut().find(|(known, _)| is_same(*known, constant)) {
            Some((_, count)) => *count += 1,
            None => constants.push((constant, 1)),
        }
    }
    let vectors = assembler.isa.vectors();
    let constants = constants.into_iter().map(|(constant, count)| (vectors * count, Ok(constant)));
    // Otherwise a solution is loaded and stored in every row.
    let solutions = std::iter::repeat_n(&body.systems, vectors).flatten().enumerate();
    let solutions = solutions.map(|(at, system)| (2 + uses[system.x].len(), Err(at)));
    let mut candidates: Vec<(usize, Result<T, usize>)> = constants.chain(solutions).collect();
    candidates.sort_by_key(|(gain, _)| Reverse(*gain));

    let solutions = vec![None; vectors * body.systems.len()];
    let mut kept = Kept { constants: Vec::new(), beta, advance, solutions, power: None };
    let count = free.len().saturating_sub(MIN_FREE);
    for ((_, candidate), register) in candidates.into_iter().take(count).zip(&mut free) {
        match candidate {
            Ok(constant) => kept.constants.push((constant, register)),
            Err(system) => kept.solutions[system] = Some(register),
        }
    }
    let mut registers = vec![Content::Kept; free.start.into()];
    registers.resize(assembler.isa.registers().into(), Content::Nothing);
    (kept, registers)
}

/// The constants that a step reads.
fn constants_of<T: Real>(step: &Step<T>) -> SmallVec<[T; 3]> {
    match step {
        Step::AddTerm { coefficient, .. } if !is_unit(*coefficient) => smallvec![*coefficient],
        Step::Compute { op, from, .. } => {
            let constants = from.iter().filter_map(|input| match input {
                Input::Constant(constant) => Some(*constant),
                Input::Value(_) => None,
            });
            let sign = matches!(op, StepOp::Neg | StepOp::Abs).then(|| T::of(-0.0));
            constants.chain(sign).collect()
        }
        _ => SmallVec::new(),
    }
}

/// True for equal numbers with equal signs.
fn is_same<T: Real>(a: T, b: T) -> bool {
    a.f64().to_bits() == b.f64().to_bits()
}

/// True for 1 and −1: a product with them needs no multiplication.
pub(super) fn is_unit<T: Real>(coefficient: T) -> bool {
    coefficient.abs() == T::of(1.0)
}

impl<T: Real> Emitter<'_, T> {
    /// The register with the power of this row of a matrix.
    pub(super) fn power(&mut self, matrix: usize) -> u8 {
        if let Some((known, register)) = self.kept.power {
            if known == matrix {
                return register;
            }
            self.registers[usize::from(register)] = Content::Nothing;
        }
        let register = self.claim(Content::Kept);
        let at = (self.variant.block * self.body.matrices.len() + matrix) * BLOCK * size_of::<T>();
        let power = Operand::Memory(Argument::Powers, distance(at.cast_signed()));
        self.emit(Operation::Broadcast, register, 0, power);
        self.kept.power = Some((matrix, register));
        register
    }

    /// An operand of a formula as the last operand of an instruction.
    pub(super) fn input(&mut self, input: Input<T>) -> Operand {
        match input {
            Input::Constant(constant) => Operand::Register(self.constant(constant)),
            Input::Value(value) => self.operand(value),
        }
    }

    pub(super) fn input_in_register(&mut self, input: Input<T>) -> u8 {
        match input {
            Input::Constant(constant) => self.constant(constant),
            Input::Value(value) => self.load(value),
        }
    }

    /// A register with a constant in all lanes.
    pub(super) fn constant(&mut self, constant: T) -> u8 {
        let kept = self.kept.constants.iter().find(|(known, _)| is_same(*known, constant));
        if let Some((_, register)) = kept {
            return *register;
        }
        let register = self.claim(Content::Temporary);
        self.broadcast(register, constant);
        register
    }

    /// The register of a sum or of a value that is in one.
    pub(super) fn in_register(&self, value: Value) -> u8 {
        self.register[value].unwrap_or_else(|| unreachable!("a value of this step"))
    }

    /// A value as the last operand: in a register if it is in one, or if one is free and it is used again.
    pub(super) fn operand(&mut self, value: Value) -> Operand {
        if let Some(register) = self.register[value] {
            return Operand::Register(register);
        }
        match self.next_use(value).is_some() && self.registers.contains(&Content::Nothing) {
            true => Operand::Register(self.load(value)),
            false => self.memory[value],
        }
    }

    /// Loads a value unless it is in a register.
    pub(super) fn load(&mut self, value: Value) -> u8 {
        if let Some(register) = self.register[value] {
            return register;
        }
        let register = self.claim(Content::Value { value, in_memory: true });
        self.emit(Operation::Load, register, 0, self.memory[value]);
        self.register[value] = Some(register);
        register
    }

    /// The next step after the present one that reads a value.
    fn next_use(&self, value: Value) -> Option<usize> {
        self.uses[value].iter().copied().find(|at| *at > self.at)
    }

    /// A register for `content`: a free one, or that of the value whose next use is the farthest.
    pub(super) fn claim(&mut self, content: Content) -> u8 {
        let free = self.registers.iter().position(|content| *content == Content::Nothing);
        let at = free.unwrap_or_else(|| {
            let values =
                self.registers.iter().enumerate().filter_map(|(at, content)| match content {
                    Content::Value { value, .. } if !self.uses[*value].contains(&self.at) => {
                        Some((self.next_use(*value).unwrap_or(usize::MAX), at))
                    }
                    _ => None,
                });
            let (_, at) =
                values.max().unwrap_or_else(|| unreachable!("{MIN_FREE} registers are free"));
            at
        });
        let register = u8::try_from(at).unwrap_or_else(|_| unreachable!("at most 32"));
        if let Content::Value { value, in_memory } = self.registers[at] {
            if !in_memory {
                self.emit(Operation::Store, register, 0, self.memory[value]);
            }
            self.register[value] = None;
        }
        self.registers[at] = content;
        register
    }

    /// Frees the registers that the next step does not need.
    pub(super) fn release(&mut self) {
        for at in 0..self.registers.len() {
            match self.registers[at] {
                Content::Temporary => self.registers[at] = Content::Nothing,
                Content::Value { value, .. } if self.next_use(value).is_none() => {
                    self.register[value] = None;
                    self.registers[at] = Content::Nothing;
                }
                _ => {}
            }
        }
    }
}
