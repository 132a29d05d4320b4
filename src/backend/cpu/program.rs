//! A sweep made ready to run: values assigned to registers (tiles of lines), coefficients in the fields' precision.

use std::collections::{HashMap, HashSet};

use crate::engine::distributed::{Layout, PlaneOffsets};
use crate::engine::{
    Expr, LineOperator, LineOperators, Monomial, Op, Operation, PointFormula, Sweep, Value,
};
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
    Apply { operator: usize, from: Register, to: Register, coupling: Option<Coupling> },
    /// What the neighbours have to know of a register that an operator will be applied to.
    Pack { operator: usize, from: Register, coupling: Coupling },
    /// Evaluate a formula.
    Map { map: PointFormula, from: Vec<Register>, to: Vec<Register> },
    /// A register plus the advance of the run times a sum that is complete.
    Advance { from: Register, sum: Register, to: Register },
    /// Evaluate a polynomial.
    Let { polynomial: Polynomial<T>, to: Register },
    /// Add a polynomial to a register.
    Add { polynomial: Polynomial<T>, to: Register },
    /// Store a register to a field that is written.
    Store { slot: usize, from: Register },
    /// Load, apply and store, where nothing else uses what is between: lines may go straight from field to field.
    Direct(Box<[Instruction<T>; 3]>),
}

/// Where the planes lie by which an operator is joined to the neighbours' blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling {
    /// Operators before it whose inflow it depends on, counted one behind the other.
    pub(super) stage: usize,
    /// First plane of every slot.
    pub(super) starts: PlaneOffsets,
}

/// What is done to a tile.
#[derive(Clone, Debug)]
pub(super) struct Code<T> {
    pub(super) instructions: Vec<Instruction<T>>,
    pub(super) registers: usize,
    /// Slots of the fields that are read, and of those that are written, in rising order.
    pub(super) reads: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

/// A sweep along one axis, ready to run on the host.
#[derive(Clone, Debug)]
pub struct Program<T> {
    pub(super) axis: Axis,
    /// Points of the grid.
    pub(super) grid: [usize; 3],
    /// Points of a line.
    pub(super) points: usize,
    pub(super) operators: Vec<LineOperator<T>>,
    /// The whole sweep.
    pub(super) whole: Code<T>,
    /// Where lines are blocks of longer ones: for every stage, what leads to the operands of its operators.
    pub(super) packs: Vec<Code<T>>,
}

impl<T: Real> Program<T> {
    /// Prepare `sweep` for lines along `axis` of a grid of `grid` points.
    ///
    /// # Panics
    /// Where the sweep asks for an operator that does not exist along this axis, or is one of another grid.
    pub fn new(sweep: &Sweep, axis: Axis, grid: [usize; 3], operators: &LineOperators) -> Self {
        let points = grid[axis.index()];
        let mut program = Self {
            axis,
            grid,
            points,
            operators: Vec::new(),
            whole: Code::new(),
            packs: Vec::new(),
        };
        let stages = sweep.stages();
        let mut known = Vec::new();
        for (op, ..) in stages.iter().flatten() {
            if !known.contains(op) {
                known.push(*op);
                let operator = operators.get(axis, *op);
                assert_eq!(operator.len(), points, "operators of another grid");
                program.operators.push(operator.rounded());
            }
        }
        let couplings = couplings(&stages, axis, operators);
        let coupled = !couplings.is_empty();
        let compile = |operations: &[Operation], stage| {
            let mut compiler = Compiler {
                known: &known,
                couplings: &couplings,
                packed: stage,
                code: Code::new(),
                free: Vec::new(),
                homes: HashMap::new(),
                targets: HashMap::new(),
            };
            let last = last_uses(operations);
            for (at, operation) in operations.iter().enumerate() {
                compiler.operation(operation);
                compiler.finish(at, operation, &last, operations);
                compiler.shorten(&operations[..=at], &last);
            }
            for slots in [&mut compiler.code.reads, &mut compiler.code.writes] {
                slots.sort_unstable();
                slots.dedup();
            }
            compiler.code
        };
        program.whole = compile(&sweep.operations, None);
        if coupled {
            let pack = |stage: usize| compile(&leading_to(sweep, &stages[stage]), Some(stage));
            program.packs = (0..stages.len()).map(pack).collect();
        }
        program
    }

    /// Number of lines.
    pub(super) fn lines(&self) -> usize {
        self.grid.iter().product::<usize>() / self.points
    }
}

impl<T> Code<T> {
    fn new() -> Self {
        Self { instructions: Vec::new(), registers: 0, reads: Vec::new(), writes: Vec::new() }
    }

    /// Operators that are applied to registers.
    pub(super) fn operators(&self) -> usize {
        let applies = |instruction: &&_| matches!(instruction, Instruction::Apply { .. });
        self.instructions.iter().filter(applies).count()
    }

    /// Registers of which much is in use at once.
    pub(super) fn busy_registers(&self) -> usize {
        let direct = |instruction: &_| matches!(instruction, Instruction::Direct(_));
        if self.instructions.iter().all(direct) { 1 } else { self.registers }
    }
}

/// How the result of every operator is joined to the neighbours' blocks; empty where lines are whole.
fn couplings(
    stages: &[Vec<(Op, &Expr, Value)>],
    axis: Axis,
    operators: &LineOperators,
) -> HashMap<Value, Coupling> {
    let mut couplings = HashMap::new();
    for (stage, applied) in stages.iter().enumerate() {
        let ends = applied.iter().filter_map(|(op, ..)| operators.get(axis, *op).ends.as_ref());
        let layout = Layout::of_ends(ends);
        for ((.., result), starts) in applied.iter().zip(layout.starts) {
            let starts = std::array::from_fn(|slot| starts[slot]);
            couplings.insert(*result, Coupling { stage, starts });
        }
    }
    couplings
}

/// The operations that lead to the operands of `applied`, and those operators themselves.
fn leading_to(sweep: &Sweep, applied: &[(Op, &Expr, Value)]) -> Vec<Operation> {
    let results: HashSet<Value> = applied.iter().map(|(.., result)| *result).collect();
    let mut needed = results.clone();
    let makes = |operation: &Operation, needed: &HashSet<Value>| {
        operation.results().iter().any(|result| needed.contains(result))
    };
    for operation in sweep.operations.iter().rev() {
        if makes(operation, &needed) {
            // The sum would have to be packed with all that it is made of.
            assert!(operation.sum_used().is_none(), "an operator on an advanced field of a block");
            needed.extend(operation.used());
        }
    }
    let leads = |operation: &&Operation| makes(operation, &needed);
    sweep.operations.iter().filter(leads).cloned().collect()
}

/// The last operation that uses each value.
fn last_uses(operations: &[Operation]) -> HashMap<Value, usize> {
    let mut last = HashMap::new();
    for (at, operation) in operations.iter().enumerate() {
        for value in operation.used().chain(operation.results().iter().copied()) {
            last.insert(value, at);
        }
    }
    last
}

struct Compiler<'a, T> {
    /// The operators, in the order of the program.
    known: &'a [Op],
    couplings: &'a HashMap<Value, Coupling>,
    /// The stage whose operators are not applied: their operands are packed.
    packed: Option<usize>,
    code: Code<T>,
    free: Vec<Register>,
    homes: HashMap<Value, Register>,
    targets: HashMap<usize, Register>,
}

impl<T: Real> Compiler<'_, T> {
    fn take(&mut self) -> Register {
        self.free.pop().unwrap_or_else(|| {
            self.code.registers += 1;
            self.code.registers - 1
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

    fn operator(&self, op: Op) -> usize {
        let at = self.known.iter().position(|&known| known == op);
        at.unwrap_or_else(|| unreachable!("collected from the same sweep"))
    }

    fn apply(&mut self, operator: usize, from: Register, result: Value) {
        let coupling = self.couplings.get(&result).copied();
        match coupling {
            Some(coupling) if self.packed == Some(coupling.stage) => {
                self.emit(Instruction::Pack { operator, from, coupling });
            }
            _ => {
                let to = self.home(result);
                self.emit(Instruction::Apply { operator, from, to, coupling });
            }
        }
    }

    fn emit(&mut self, instruction: Instruction<T>) {
        self.code.instructions.push(instruction);
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Read { slot, result } => {
                self.code.reads.push(*slot);
                let to = self.home(*result);
                self.emit(Instruction::Read { slot: *slot, to });
            }
            Operation::Previous { slot, result } => {
                self.code.writes.push(*slot);
                let to = self.home(*result);
                self.emit(Instruction::Previous { slot: *slot, to });
            }
            Operation::Apply { op, operand, result } => {
                let formed = match operand.as_value() {
                    Some(_) => None,
                    None => {
                        let polynomial = self.polynomial(operand);
                        let to = self.take();
                        self.emit(Instruction::Let { polynomial, to });
                        Some(to)
                    }
                };
                let from = formed.or_else(|| self.homes.get(&operand.as_value()?).copied());
                let from = from.unwrap_or_else(|| unreachable!("an operand without origin"));
                self.apply(self.operator(*op), from, *result);
                self.free.extend(formed);
            }
            Operation::Let { expr, result } => {
                let polynomial = self.polynomial(expr);
                let to = self.home(*result);
                self.emit(Instruction::Let { polynomial, to });
            }
            Operation::Map { map, operands, results } => {
                let from = operands.iter().map(|value| self.homes[value]).collect();
                let to = results.iter().map(|value| self.home(*value)).collect();
                self.emit(Instruction::Map { map: map.clone(), from, to });
            }
            Operation::Advance { value, slot, result } => {
                let (from, sum) = (self.homes[value], self.targets[slot]);
                let to = self.home(*result);
                self.emit(Instruction::Advance { from, sum, to });
            }
            Operation::Add { slot, expr } => {
                let polynomial = self.polynomial(expr);
                let to = match self.targets.get(slot) {
                    Some(&register) => register,
                    None => {
                        self.code.writes.push(*slot);
                        let register = self.take();
                        self.targets.insert(*slot, register);
                        self.emit(Instruction::Begin { slot: *slot, to: register });
                        register
                    }
                };
                self.emit(Instruction::Add { polynomial, to });
            }
            Operation::Store { slot, expr } => {
                self.code.writes.push(*slot);
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

    /// Make one instruction of the last three where they take a field to a field and nothing else uses what is between.
    fn shorten(&mut self, operations: &[Operation], last: &HashMap<Value, usize>) {
        use Operation::{Apply, Previous, Read, Store};
        let [
            ..,
            Read { result: f, .. } | Previous { result: f, .. },
            Apply { operand, result, .. },
            Store { expr, .. },
        ] = operations
        else {
            return;
        };
        let at = operations.len() - 1;
        let alone = operand.as_value() == Some(*f) && last[f] == at - 1;
        let stored = expr.as_value() == Some(*result) && last[result] == at;
        if alone && stored && !self.couplings.contains_key(result) {
            let steps = self.code.instructions.split_off(self.code.instructions.len() - 3);
            let steps = Box::try_from(steps.into_boxed_slice());
            self.code.instructions.extend(steps.map(Instruction::Direct));
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
        let touched = operation.used().chain(operation.results().iter().copied());
        let mut dead: Vec<Value> = touched.filter(|value| last[value] == at).collect();
        dead.sort_unstable();
        dead.dedup();
        for value in dead {
            let register = self.homes.remove(&value);
            self.free.extend(register);
        }
        let later = |is: fn(&Operation) -> Option<usize>, slot| {
            operations[at + 1..].iter().any(|o| is(o) == Some(slot))
        };
        if let Some(slot) = operation.adds_to()
            && !later(Operation::adds_to, slot)
        {
            let from = self.targets[&slot];
            self.emit(Instruction::Store { slot, from });
        }
        if let Some(slot) = operation.adds_to().or(operation.sum_used())
            && !later(Operation::adds_to, slot)
            && !later(Operation::sum_used, slot)
        {
            let complete = self.targets.remove(&slot);
            self.free.extend(complete);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Domain;
    use crate::engine::SweepBuilder;
    use crate::grid::Grid;
    use crate::scheme::families;

    /// Instructions, and those of them that go straight from field to field.
    fn count(write: impl Fn(&SweepBuilder)) -> (usize, usize) {
        let grid = Grid::periodic([16, 8, 8], &Domain::cube(1.0));
        let operators = LineOperators::new(&families()[0], None, &grid, crate::Precision::F64);
        let s = SweepBuilder::new();
        write(&s);
        let code = Program::<f64>::new(&s.build(), Axis::X, grid.points, &operators).whole;
        let direct = |instruction: &&_| matches!(instruction, Instruction::Direct(_));
        (code.instructions.len(), code.instructions.iter().filter(direct).count())
    }

    #[test]
    fn an_operator_goes_straight_from_field_to_field_where_nothing_else_needs_what_is_between() {
        assert_eq!(count(|s| s.store(0, s.d1(s.read(0)))), (1, 1));
        assert_eq!(count(|s| s.store(0, s.d2(s.previous(0)))), (1, 1));
        let two = |s: &SweepBuilder| (0..2).for_each(|i| s.store(i, s.d1(s.read(i))));
        assert_eq!(count(two), (2, 2));
        let operand_twice = |s: &SweepBuilder| {
            s.store(0, s.d1(s.read(0)));
            s.store(1, s.d2(s.read(0)));
        };
        assert_eq!(count(operand_twice), (5, 0));
        let result_twice = |s: &SweepBuilder| (0..2).for_each(|i| s.store(i, s.d1(s.read(0))));
        assert_eq!(count(result_twice), (4, 0));
        assert_eq!(count(|s| s.store(0, 2.0 * s.d1(s.read(0)))).1, 0);
        assert_eq!(count(|s| s.store(0, s.d1(2.0 * s.read(0)))).1, 0);
    }
}
