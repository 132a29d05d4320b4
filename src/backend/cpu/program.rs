//! A sweep prepared for execution: forward and backward passes over the lines, the storage locations of all values,
//! coefficients in the fields' precision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::Loading;
use super::machine::{self, Machine};
use super::passes::compile;
use super::point_code::PointCode;
use super::rows::{Needs, Place, lanes};
use super::solver::Solver;
use super::sums::Polynomial;
use super::why_unsupported;
use crate::backend::Lines;
use crate::backend::device::LineSolver;
use crate::engine::distributed::{Layout, PlaneOffsets};
use crate::engine::{Expr, LineOperators, Op, Operation, Sweep, Value};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// One of the fields that a program accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A field that is read.
    Read(usize),
    /// A field that is read and stored as one x-y plane.
    Plane(usize),
    /// A field that is written.
    Written(usize),
}

/// A field and the location that it is loaded to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) field: Slot,
    pub(super) to: Place,
    /// True if it is the old value of a sum: not needed where β is 0.
    pub(super) is_old_sum: bool,
}

/// One instruction on a block of rows.
#[derive(Clone, Debug)]
pub(super) enum Instruction<T> {
    /// Load a field.
    Load(Loaded),
    /// Evaluate a formula.
    Map { map: Box<PointCode>, from: Vec<Place>, to: Vec<Place> },
    /// A value plus the advance of the run times a complete sum.
    Advance { from: Place, sum: Place, to: Place },
    /// Evaluate a polynomial.
    Let { polynomial: Polynomial<T>, to: Place },
    /// β times the loaded value, plus a polynomial.
    Add { polynomial: Polynomial<T>, to: Place },
    /// Store to a written field.
    Store { slot: usize, from: Place },
}

/// An operator on a product of values.
#[derive(Clone, Debug)]
pub(super) struct Application<T> {
    pub(super) solver: Arc<Solver<T>>,
    /// True if the optimised loop for five points applies to its blocks.
    pub(super) five_points: bool,
    pub(super) factors: SmallVec<[Place; 2]>,
    /// Location where the forward pass stores its result for the backward pass, which replaces it by the solution.
    pub(super) to: Place,
    /// The first of the rows that are carried from block to block.
    pub(super) carried: usize,
    pub(super) coupling: Option<Coupling>,
}

/// Independent operators: forward and backward pass over the lines, then the formulas that use their results, block by
/// block in the backward pass.
#[derive(Clone, Debug)]
pub(super) struct Pass<T> {
    pub(super) applied: Vec<Application<T>>,
    /// Instructions before the generated code; that code, if any, which replaces others; and those after it.
    pub(super) before: Vec<Instruction<T>>,
    pub(super) machine: Option<Arc<Machine>>,
    pub(super) instructions: Vec<Instruction<T>>,
}

/// Location of the planes that couple an operator to the neighbouring blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling {
    /// Number of preceding operators, applied one after another, on whose interface values it depends.
    pub(super) stage: usize,
    /// First plane of every slot.
    pub(super) starts: PlaneOffsets,
}

/// Work on one tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Code<T> {
    pub(super) passes: Vec<Pass<T>>,
    /// Operators whose operands are packed for the neighbours after all passes.
    pub(super) packed: Vec<Application<T>>,
    pub(super) needs: Needs,
    pub(super) staged: Staged,
    /// The same sweep as steps, if it only applies operators from fields to fields: it is then limited by memory
    /// bandwidth.
    pub(super) steps: Vec<Step<T>>,
    /// Slots of the fields that are read, of the planes that are read, and of the fields that are written, in rising
    /// order.
    pub(super) reads: Vec<usize>,
    pub(super) planes: Vec<usize>,
    pub(super) writes: Vec<usize>,
    /// Whether one of them is both loaded and stored.
    pub(super) updates: bool,
    /// Whether generated code loads and stores the fields.
    pub(super) transfers: bool,
}

/// Fields that are loaded while operators are applied, so that memory and arithmetic are busy at the same time.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged {
    /// The pass with the most operators.
    pub(super) pass: usize,
    /// For the next tile, during the backward pass; the fields that begin a sum come last, here and in `late`.
    pub(super) early: Vec<Loaded>,
    /// Fields that are only prefetched for the next tile, because their target is in use.
    pub(super) prefetched: Vec<Slot>,
    /// For the tile itself, during the forward pass.
    pub(super) late: Vec<Loaded>,
}

/// An operator from one field to another.
#[derive(Clone, Debug)]
pub(super) struct Step<T> {
    pub(super) solver: Arc<Solver<T>>,
    pub(super) from: Slot,
    /// Slot of a written field.
    pub(super) to: usize,
}

/// A sweep along one axis, prepared for execution on the host.
#[derive(Clone, Debug)]
pub struct Program<T> {
    pub(super) axis: Axis,
    /// Points of the grid.
    pub(super) grid: [usize; 3],
    /// Points of a line.
    pub(super) points: usize,
    pub(super) solvers: HashMap<Op, Arc<Solver<T>>>,
    /// The complete sweep.
    pub(super) full: Code<T>,
    /// For lines split across ranks: the code that computes the operands of the operators, for every stage.
    pub(super) packs: Vec<Code<T>>,
}

/// How a program is prepared.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) loading: Loading,
    pub(super) line_solver: LineSolver,
    /// The instruction set for which machine code is generated.
    pub(super) generated_for: Option<pulp::Arch>,
}

impl<T: Real> Program<T> {
    /// Prepares `sweep` for lines along `axis` of a grid of `grid` points, without generated code.
    ///
    /// # Panics
    /// If the sweep contains an operator that does not exist along this axis, or one of another grid.
    pub fn new(sweep: &Sweep, axis: Axis, grid: [usize; 3], operators: &LineOperators) -> Self {
        let (loading, line_solver) = (Loading::Interleaved, LineSolver::THOMAS);
        let how = How { loading, line_solver, generated_for: None };
        Self::prepared(sweep, (axis, grid, operators), how)
            .unwrap_or_else(|_| unreachable!("`thomas` takes every operator"))
    }

    /// Like [`Program::new`], prepared as `how` states.
    ///
    /// # Errors
    /// If the line solver cannot solve for an operator: the message of [`why_unsupported`].
    pub(super) fn prepared(
        sweep: &Sweep,
        (axis, grid, operators): Lines<'_>,
        How { loading, line_solver, generated_for }: How,
    ) -> Result<Self> {
        let points = grid[axis.index()];
        let stages = sweep.stages();
        let mut solvers = HashMap::new();
        for (op, ..) in stages.iter().flatten() {
            if !solvers.contains_key(op) {
                let operator = operators.get(axis, *op);
                assert_eq!(operator.len(), points, "operators of another grid");
                if let Some(sentence) = why_unsupported(line_solver, operator) {
                    return Err(Error::Config(vec![format!("error: {sentence}")]));
                }
                solvers.insert(*op, Arc::new(Solver::new(operator, line_solver)));
            }
        }
        let couplings = couplings(&stages, axis, operators);
        let compile = |operations: &[Operation], packed: Option<usize>, loading: Loading| {
            compile(operations, sweep.values, &solvers, &couplings, packed, loading)
        };
        let full = |loading: Loading| compile(&sweep.operations, None, loading);
        let full = match generated_for {
            None => full(loading),
            Some(arch) => {
                // Along y and z, each row of every tile is then as long as a cache line of the fields.
                let in_rows = axis != Axis::X && grid[0].is_multiple_of(lanes::<T>());
                let on_demand = in_rows.then(|| full(Loading::OnDemand));
                let transferring = on_demand
                    .filter(machine::can_transfer)
                    .map(|code| Code { transfers: true, ..code });
                let mut code = transferring.unwrap_or_else(|| full(loading));
                machine::generate(&mut code, arch);
                code
            }
        };
        let pack =
            |stage: usize| compile(&dependencies_of(sweep, &stages[stage]), Some(stage), loading);
        let packs = match couplings.is_empty() {
            true => Vec::new(),
            false => (0..stages.len()).map(pack).collect(),
        };
        Ok(Self { axis, grid, points, solvers, full, packs })
    }

    pub(super) fn lines(&self) -> usize {
        self.grid.iter().product::<usize>() / self.points
    }
}

/// Coupling of the result of every operator to the neighbouring blocks; empty where lines are not split.
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

/// The operations that the operands of `applied` depend on, and those operators themselves.
fn dependencies_of(sweep: &Sweep, applied: &[(Op, &Expr, Value)]) -> Vec<Operation> {
    let results: HashSet<Value> = applied.iter().map(|(.., result)| *result).collect();
    let mut needed = results.clone();
    let produces = |operation: &Operation, needed: &HashSet<Value>| {
        operation.results().iter().any(|result| needed.contains(result))
    };
    for operation in sweep.operations.iter().rev() {
        if produces(operation, &needed) {
            // The sum would have to be packed with all its terms.
            assert!(operation.sum_used().is_none(), "an operator on an advanced field of a block");
            needed.extend(operation.used());
        }
    }
    let is_needed = |operation: &&Operation| produces(operation, &needed);
    sweep.operations.iter().filter(is_needed).cloned().collect()
}
