//! Compilation of the operations of a sweep to passes over its lines.
//!
//! Operators need their operands along the whole line, so a sweep is executed in passes, one for each number of
//! operators applied one after another. A value that is used only in the pass that computes it, and by no operator,
//! exists for one block of rows at a time and stays in the L1 cache. Operations are delayed until the pass that first
//! needs their result.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Loading;
use super::point_code::PointCode;
use super::products::shorten_products;
use super::program::{Application, Code, Coupling, Instruction, Loaded, Pass, Slot, Staged, Step};
use super::rows::{Needs, Place};
use super::solver::Solver;
use super::sums::Polynomial;
use crate::engine::{Expr, Op, Operation, Sweep, Value};
use crate::real::Real;

/// An item with a storage location: a value, or the sum in a written field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Item {
    Value(Value),
    Sum(usize),
}

/// A point in the schedule: the pass, whether its operators (0) or its other operations (1), and the operation.
type Moment = (usize, usize, usize);

/// First and last use of an item, and whether all its points are needed at once.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    from: Moment,
    to: Moment,
    full_line: bool,
}

/// Compiles `operations` to passes over the lines. If `packed` is a stage, its operators are not applied: their
/// operands are packed.
pub(super) fn compile<T: Real>(
    operations: &[Operation],
    values: usize,
    solvers: &HashMap<Op, Arc<Solver<T>>>,
    couplings: &HashMap<Value, Coupling>,
    packed: Option<usize>,
    loading: Loading,
) -> Code<T> {
    let solver = |op: Op| Arc::clone(&solvers[&op]);
    let steps = match (packed, couplings.is_empty()) {
        (None, true) => direct_steps(operations, solver).unwrap_or_default(),
        _ => Vec::new(),
    };
    let operations = shorten_products(operations, values);
    let interleaved = loading == Loading::Interleaved && packed.is_none() && steps.is_empty();
    let plan = Plan::new(operations, packed.is_some(), interleaved);
    let (places, mut needs, staged_places) = plan.places::<T>();
    let passes = plan.passes();
    let mut code = Code { steps, ..Code::default() };
    for pass in 0..passes {
        let (mut applied, mut instructions) = (Vec::new(), Vec::new());
        for at in plan.operations_of(pass) {
            match &plan.operations[at] {
                Operation::Apply { op, operand, result } => {
                    let factors = operand.0.iter().flat_map(|term| &term.factors);
                    let solver = solver(*op);
                    let carried = needs.carried;
                    needs.carried += solver.carried();
                    let application = Application {
                        five_points: solver.is_of_five_points(),
                        solver,
                        factors: factors.map(|value| places[&Item::Value(*value)]).collect(),
                        to: places[&Item::Value(*result)],
                        carried,
                        coupling: couplings.get(result).copied(),
                    };
                    match application.coupling {
                        Some(coupling) if packed == Some(coupling.stage) => {
                            code.packed.push(application);
                        }
                        _ => applied.push(application),
                    }
                }
                operation => instructions.extend(plan.instructions(at, operation, &places)),
            }
        }
        let (before, machine) = (Vec::new(), None);
        code.passes.push(Pass { applied, before, machine, instructions });
    }
    let mut previous = Vec::new();
    for instruction in code.passes.iter().flat_map(|pass| &pass.instructions) {
        match instruction {
            Instruction::Load(Loaded { field: Slot::Read(slot), .. }) => code.reads.push(*slot),
            Instruction::Load(Loaded { field: Slot::Plane(slot), .. }) => code.planes.push(*slot),
            Instruction::Load(Loaded { field: Slot::Written(slot), .. }) => previous.push(*slot),
            Instruction::Store { slot, .. } => code.writes.push(*slot),
            _ => {}
        }
    }
    code.updates = code.writes.iter().any(|slot| previous.contains(slot));
    code.writes.append(&mut previous);
    if let Some(main) = plan.main {
        code.staged.pass = main;
        for (at, pass) in code.passes.iter_mut().enumerate() {
            let Staged { early, prefetched, late, .. } = &mut code.staged;
            let staged = if at < main { early } else { late };
            pass.instructions.retain(|instruction| match instruction {
                Instruction::Load(loaded) if staged_places.contains(&loaded.to) => {
                    staged.push(*loaded);
                    false
                }
                Instruction::Load(loaded) if at < main => {
                    prefetched.push(loaded.field);
                    true
                }
                _ => true,
            });
        }
        let Staged { early, late, .. } = &mut code.staged;
        for loads in [early, late] {
            loads.sort_by_key(|loaded| loaded.is_old_sum);
        }
    }
    for slots in [&mut code.reads, &mut code.planes, &mut code.writes] {
        slots.sort_unstable();
        slots.dedup();
    }
    code.needs = needs;
    code
}

/// Steps of a sweep that only applies operators from fields to fields.
fn direct_steps<T>(
    operations: &[Operation],
    solver: impl Fn(Op) -> Arc<Solver<T>>,
) -> Option<Vec<Step<T>>> {
    use Operation::{Apply, Previous, Read, Store};
    let (triples, rest) = operations.as_chunks::<3>();
    let step = |triple: &[Operation; 3]| {
        let [load, Apply { op, operand, result }, Store { slot: to, expr }] = triple else {
            return None;
        };
        let (from, value) = match load {
            Read { slot, plane: false, result } => (Slot::Read(*slot), *result),
            Previous { slot, result } => (Slot::Written(*slot), *result),
            _ => return None,
        };
        let is_direct = operand.as_value() == Some(value) && expr.as_value() == Some(*result);
        is_direct.then(|| Step { solver: solver(*op), from, to: *to })
    };
    let steps: Option<Vec<Step<T>>> = triples.iter().map(step).collect();
    let steps = steps.filter(|_| rest.is_empty())?;
    let stored =
        |slot: Slot, before: &[Step<T>]| before.iter().any(|step| slot == Slot::Written(step.to));
    let once = steps.iter().enumerate().all(|(at, step)| !stored(step.from, &steps[..at]));
    once.then_some(steps)
}

/// Assignment of operations to passes.
struct Plan {
    operations: Vec<Operation>,
    /// `None` for operations whose result is not needed.
    pass: Vec<Option<usize>>,
    /// The pass with the most operators, during which fields are loaded.
    main: Option<usize>,
}

impl Plan {
    /// `packed`: operators with unused results are kept for packing. `interleaved`: fields are loaded while operators are
    /// applied.
    fn new(operations: Vec<Operation>, packed: bool, interleaved: bool) -> Self {
        let sweep = Sweep { operations, ..Sweep::default() };
        let depths = sweep.depths();
        let operations = sweep.operations;
        let depth =
            |operation: &Operation| operation.used().map(|value| depths[&value]).max().unwrap_or(0);
        let sum = |slot: usize| {
            let adds = operations.iter().filter(|o| o.adds_to() == Some(slot));
            adds.map(depth).max()
        };
        // Last pass in which a field must be loaded before it is overwritten.
        let written = |slot: usize| {
            let stores = operations.iter().filter_map(|operation| match operation {
                Operation::Store { slot: to, .. } if *to == slot => Some(depth(operation)),
                _ => None,
            });
            stores.chain(sum(slot)).min().unwrap_or(usize::MAX)
        };
        let mut pass = vec![None; operations.len()];
        let mut needed: HashMap<Value, usize> = HashMap::new();
        for (at, operation) in operations.iter().enumerate().rev() {
            let first_use = || {
                operation.results().iter().filter_map(|result| needed.get(result)).min().copied()
            };
            pass[at] = match operation {
                Operation::Add { slot, .. } => sum(*slot),
                Operation::Store { .. } => Some(depth(operation)),
                Operation::Apply { result, .. } => {
                    (packed || first_use().is_some()).then(|| depths[result])
                }
                Operation::Previous { slot, .. } => first_use().map(|p| p.min(written(*slot))),
                _ => first_use(),
            };
            let Some(pass) = pass[at] else { continue };
            // An operand must exist before the pass of its operator begins.
            let applied = usize::from(operation.applies());
            for value in operation.used() {
                let first = needed.entry(value).or_insert(usize::MAX);
                *first = (*first).min(pass - applied);
            }
        }
        let passes = pass.iter().flatten().max().map_or(0, |last| last + 1);
        let applied = |of: usize| {
            let in_pass = operations.iter().zip(&pass).filter(|(_, pass)| **pass == Some(of));
            in_pass.filter(|(operation, _)| operation.applies()).count()
        };
        let busiest = (0..passes).max_by_key(|of| applied(*of));
        let main = busiest.filter(|of| interleaved && applied(*of) > 1);
        Self { operations, pass, main }
    }

    /// True if operation `at` can load during the main pass: its value is not needed both before and after it.
    fn loads_in_main_pass(&self, at: usize, life: &Lifetime) -> bool {
        match (self.main, self.pass[at]) {
            (Some(main), Some(pass)) => pass >= main || life.to.0 <= main,
            _ => false,
        }
    }

    fn passes(&self) -> usize {
        self.pass.iter().flatten().max().map_or(0, |last| last + 1)
    }

    fn operations_of(&self, pass: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.operations.len()).filter(move |at| self.pass[*at] == Some(pass))
    }

    /// The last operation that adds to a field, after which its sum is complete.
    fn last_addition(&self, slot: usize) -> Option<usize> {
        self.operations.iter().rposition(|operation| operation.adds_to() == Some(slot))
    }

    /// Moment at which operation `at` reads and writes.
    fn moment(&self, at: usize) -> Option<Moment> {
        // All additions to a field are done at the last of them.
        let at =
            self.operations[at].adds_to().and_then(|slot| self.last_addition(slot)).unwrap_or(at);
        Some(match self.operations[at].applies() {
            true => (self.pass[at]?, 0, 0),
            false => (self.pass[at]?, 1, at + 2),
        })
    }

    /// Lifetimes of all items.
    fn lifetimes(&self) -> HashMap<Item, Lifetime> {
        let mut lifetimes: HashMap<Item, Lifetime> = HashMap::new();
        for (at, operation) in self.operations.iter().enumerate() {
            let Some(moment) = self.moment(at) else { continue };
            let applied = operation.applies();
            let used = operation.used().map(Item::Value).chain(operation.sum_used().map(Item::Sum));
            for item in used {
                if let Some(life) = lifetimes.get_mut(&item) {
                    life.to = life.to.max(moment);
                    life.full_line |= applied || moment.0 != life.from.0;
                }
            }
            let results = operation.results().iter().map(|result| Item::Value(*result));
            for item in results.chain(operation.adds_to().map(Item::Sum)) {
                lifetimes.entry(item).or_insert(Lifetime {
                    from: moment,
                    to: moment,
                    full_line: applied,
                });
            }
        }
        for (at, operation) in self.operations.iter().enumerate() {
            let item = match operation {
                Operation::Read { result, .. } | Operation::Previous { result, .. } => {
                    Item::Value(*result)
                }
                Operation::Add { slot, .. } if self.last_addition(*slot) == Some(at) => {
                    Item::Sum(*slot)
                }
                _ => continue,
            };
            if let Some(life) = lifetimes.get_mut(&item)
                && self.loads_in_main_pass(at, life)
            {
                *life = Lifetime { from: (0, 0, 0), to: (usize::MAX, 0, 0), full_line: true };
            }
        }
        lifetimes
    }

    /// Assigns storage locations: items whose lifetimes overlap get different ones.
    fn places<T>(&self) -> (HashMap<Item, Place>, Needs, Vec<Place>) {
        let mut lifetimes: Vec<_> = self.lifetimes().into_iter().collect();
        lifetimes.sort_unstable_by_key(|(item, life)| (life.from, *item));
        let mut places = HashMap::new();
        let mut staged = Vec::new();
        let [mut line, mut block] = [const { Vec::<Moment>::new() }; 2];
        for (item, life) in lifetimes {
            let busy = if life.full_line { &mut line } else { &mut block };
            let at = busy.iter().position(|until| *until < life.from).unwrap_or(busy.len());
            match busy.get_mut(at) {
                Some(until) => *until = life.to,
                None => busy.push(life.to),
            }
            let place = if life.full_line { Place::line::<T>(at) } else { Place::block::<T>(at) };
            if life.to.0 == usize::MAX {
                staged.push(place);
            }
            places.insert(item, place);
        }
        (places, Needs { line: line.len(), block: block.len(), ..Needs::default() }, staged)
    }

    /// Instructions of operation `at`.
    fn instructions<T: Real>(
        &self,
        at: usize,
        operation: &Operation,
        places: &HashMap<Item, Place>,
    ) -> SmallVec<[Instruction<T>; 3]> {
        let place = |value: &Value| places[&Item::Value(*value)];
        let polynomial = |expr: &Expr| polynomial(expr, |value| place(&value));
        let mut instructions = SmallVec::new();
        match operation {
            Operation::Read { slot, plane, result } => {
                let field = if *plane { Slot::Plane(*slot) } else { Slot::Read(*slot) };
                let to = place(result);
                instructions.push(Instruction::Load(Loaded { field, to, is_old_sum: false }));
            }
            Operation::Previous { slot, result } => {
                let (field, to) = (Slot::Written(*slot), place(result));
                instructions.push(Instruction::Load(Loaded { field, to, is_old_sum: false }));
            }
            Operation::Let { expr, result } => {
                let (polynomial, to) = (polynomial(expr), place(result));
                instructions.push(Instruction::Let { polynomial, to });
            }
            Operation::Map { map, operands, results } => {
                let from = operands.iter().map(place).collect();
                let to = results.iter().map(place).collect();
                instructions.push(Instruction::Map {
                    map: Box::new(PointCode::new(map.clone())),
                    from,
                    to,
                });
            }
            Operation::Advance { value, slot, result } => {
                let (from, sum, to) = (place(value), places[&Item::Sum(*slot)], place(result));
                instructions.push(Instruction::Advance { from, sum, to });
            }
            Operation::Add { slot, .. } if self.last_addition(*slot) == Some(at) => {
                let (slot, to) = (*slot, places[&Item::Sum(*slot)]);
                let added = self.operations.iter().filter_map(|operation| match operation {
                    Operation::Add { slot: of, expr } if *of == slot => Some(&expr.0),
                    _ => None,
                });
                let all = Expr(added.flatten().cloned().collect());
                let field = Slot::Written(slot);
                instructions.push(Instruction::Load(Loaded { field, to, is_old_sum: true }));
                instructions.push(Instruction::Add { polynomial: polynomial(&all), to });
                instructions.push(Instruction::Store { slot, from: to });
            }
            Operation::Store { slot, expr } => {
                let from = match expr.as_value() {
                    Some(value) => place(&value),
                    None => unreachable!("given a value before"),
                };
                instructions.push(Instruction::Store { slot: *slot, from });
            }
            Operation::Add { .. } | Operation::Apply { .. } => {}
        }
        instructions
    }
}

fn polynomial<T: Real>(expr: &Expr, place: impl Fn(Value) -> Place) -> Polynomial<T> {
    let mut polynomial = Polynomial::default();
    for term in &expr.0 {
        let c = T::of(term.coefficient);
        match term.factors[..] {
            [] => polynomial.constant += c,
            [a] => polynomial.linear.push((c, [a].map(&place))),
            [a, b] => polynomial.quadratic.push((c, [a, b].map(&place))),
            [a, b, d] => polynomial.cubic.push((c, [a, b, d].map(&place))),
            _ => unreachable!("longer products are values"),
        }
    }
    polynomial
}
