//! A sweep made ready to run: values assigned to registers (tiles of lines), coefficients in the fields' precision.

use std::collections::HashMap;

use crate::engine::{Expr, LineOperator, LineOperators, Monomial, Op, Operation, Sweep, Value};
use crate::grid::Axis;
use crate::real::Real;

/// Index of a register of the scratch memory.
pub(super) type Register = usize;

/// Σ coefficient × product of registers.
#[derive(Clone, Debug)]
pub(super) struct Polynomial<T>(pub(super) Vec<Term<T>>);

/// coefficient × product of registers.
#[derive(Clone, Debug)]
pub(super) struct Term<T> {
    pub(super) coefficient: T,
    pub(super) factors: Vec<Register>,
}

/// One instruction on a tile.
#[derive(Clone, Debug)]
pub(super) enum Instruction<T> {
    /// Load a field that is read.
    Read { slot: usize, to: Register },
    /// Load a field that is written, as it is.
    Previous { slot: usize, to: Register },
    /// β times a field that is written; zero, without reading it, where β = 0.
    Begin { slot: usize, to: Register },
    /// Apply an operator to a register.
    Apply { operator: usize, from: Register, to: Register },
    /// Evaluate a polynomial.
    Let { polynomial: Polynomial<T>, to: Register },
    /// Add the scale of the run times a polynomial to a register.
    Add { polynomial: Polynomial<T>, to: Register },
    /// Store a register to a field that is written.
    Store { slot: usize, from: Register },
}

/// A sweep along one axis, ready to run on the host.
#[derive(Clone, Debug)]
pub struct Program<T> {
    pub(super) axis: Axis,
    /// Points of the grid.
    pub(super) grid: [usize; 3],
    /// Points of a line.
    pub(super) points: usize,
    pub(super) instructions: Vec<Instruction<T>>,
    pub(super) operators: Vec<LineOperator<T>>,
    pub(super) registers: usize,
    pub(super) reads: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

impl<T: Real> Program<T> {
    /// Prepare `sweep` for lines along `axis` of a grid of `grid` points.
    ///
    /// # Panics
    /// Where the sweep asks for an operator that does not exist along this axis, or is one of another grid.
    pub fn new(sweep: &Sweep, axis: Axis, grid: [usize; 3], operators: &LineOperators<T>) -> Self {
        let mut compiler = Compiler {
            axis,
            source: operators,
            known: Vec::new(),
            program: Self {
                axis,
                grid,
                points: grid[axis.index()],
                instructions: Vec::new(),
                operators: Vec::new(),
                registers: 0,
                reads: Vec::new(),
                writes: Vec::new(),
            },
            free: Vec::new(),
            homes: HashMap::new(),
            targets: HashMap::new(),
        };
        let last = last_uses(&sweep.operations);
        for (at, operation) in sweep.operations.iter().enumerate() {
            compiler.operation(operation);
            compiler.finish(at, operation, &last, &sweep.operations);
        }
        compiler.program
    }
}

/// The last operation that uses each value.
fn last_uses(operations: &[Operation]) -> HashMap<Value, usize> {
    let mut last = HashMap::new();
    for (at, operation) in operations.iter().enumerate() {
        for value in used(operation).chain(operation.result()) {
            last.insert(value, at);
        }
    }
    last
}

/// The values an operation reads.
fn used(operation: &Operation) -> impl Iterator<Item = Value> + '_ {
    let expr = match operation {
        Operation::Read { .. } | Operation::Previous { .. } => None,
        Operation::Apply { operand: expr, .. }
        | Operation::Let { expr, .. }
        | Operation::Add { expr, .. }
        | Operation::Store { expr, .. } => Some(expr),
    };
    expr.into_iter().flat_map(|expr| &expr.0).flat_map(|monomial| &monomial.factors).copied()
}

struct Compiler<'a, T> {
    axis: Axis,
    source: &'a LineOperators<T>,
    known: Vec<Op>,
    program: Program<T>,
    free: Vec<Register>,
    homes: HashMap<Value, Register>,
    targets: HashMap<usize, Register>,
}

impl<T: Real> Compiler<'_, T> {
    fn take(&mut self) -> Register {
        self.free.pop().unwrap_or_else(|| {
            self.program.registers += 1;
            self.program.registers - 1
        })
    }

    fn home(&mut self, value: Value) -> Register {
        let register = self.take();
        self.homes.insert(value, register);
        register
    }

    fn polynomial(&self, expr: &Expr) -> Polynomial<T> {
        let term = |monomial: &Monomial| Term {
            coefficient: T::of(monomial.coefficient),
            factors: monomial.factors.iter().map(|value| self.homes[value]).collect(),
        };
        Polynomial(expr.0.iter().map(term).collect())
    }

    fn operator(&mut self, op: Op) -> usize {
        self.known.iter().position(|&known| known == op).unwrap_or_else(|| {
            self.known.push(op);
            let operator = self.source.get(self.axis, op);
            assert_eq!(operator.len(), self.program.points, "operators of another grid");
            self.program.operators.push(operator.clone());
            self.known.len() - 1
        })
    }

    fn emit(&mut self, instruction: Instruction<T>) {
        self.program.instructions.push(instruction);
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Read { slot, result } => {
                self.program.reads.push(*slot);
                let to = self.home(*result);
                self.emit(Instruction::Read { slot: *slot, to });
            }
            Operation::Previous { slot, result } => {
                self.program.writes.push(*slot);
                let to = self.home(*result);
                self.emit(Instruction::Previous { slot: *slot, to });
            }
            Operation::Apply { op, operand, result } => {
                let operator = self.operator(*op);
                match operand.as_value() {
                    Some(value) => {
                        let from = self.homes[&value];
                        let to = self.home(*result);
                        self.emit(Instruction::Apply { operator, from, to });
                    }
                    None => {
                        let polynomial = self.polynomial(operand);
                        let from = self.take();
                        self.emit(Instruction::Let { polynomial, to: from });
                        let to = self.home(*result);
                        self.emit(Instruction::Apply { operator, from, to });
                        self.free.push(from);
                    }
                }
            }
            Operation::Let { expr, result } => {
                let polynomial = self.polynomial(expr);
                let to = self.home(*result);
                self.emit(Instruction::Let { polynomial, to });
            }
            Operation::Add { slot, expr } => {
                let polynomial = self.polynomial(expr);
                let to = match self.targets.get(slot) {
                    Some(&register) => register,
                    None => {
                        self.program.writes.push(*slot);
                        let register = self.take();
                        self.targets.insert(*slot, register);
                        self.emit(Instruction::Begin { slot: *slot, to: register });
                        register
                    }
                };
                self.emit(Instruction::Add { polynomial, to });
            }
            Operation::Store { slot, expr } => {
                self.program.writes.push(*slot);
                if let Some(value) = expr.as_value() {
                    let from = self.homes[&value];
                    self.emit(Instruction::Store { slot: *slot, from });
                } else {
                    let polynomial = self.polynomial(expr);
                    let from = self.take();
                    self.emit(Instruction::Let { polynomial, to: from });
                    self.emit(Instruction::Store { slot: *slot, from });
                    self.free.push(from);
                }
            }
        }
    }

    /// Free what is not used after operation `at`, and store a target that is complete.
    fn finish(
        &mut self,
        at: usize,
        operation: &Operation,
        last: &HashMap<Value, usize>,
        operations: &[Operation],
    ) {
        let mut dead: Vec<Value> =
            used(operation).chain(operation.result()).filter(|value| last[value] == at).collect();
        dead.sort_unstable();
        dead.dedup();
        for value in dead {
            let register = self.homes.remove(&value);
            self.free.extend(register);
        }
        if let Operation::Add { slot, .. } = operation {
            let again = |o: &Operation| matches!(o, Operation::Add { slot: s, .. } if s == slot);
            if !operations[at + 1..].iter().any(again)
                && let Some(from) = self.targets.remove(slot)
            {
                self.emit(Instruction::Store { slot: *slot, from });
                self.free.push(from);
            }
        }
    }
}
