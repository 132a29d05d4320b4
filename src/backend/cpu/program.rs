//! A sweep made ready to run: passes up and down the lines, the places of all values, coefficients in the fields' precision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::Loading;
use super::obstacle;
use super::passes::compile;
use super::rows::{Needs, Place};
use super::solver::Solver;
use super::sums::Polynomial;
use crate::backend::Lines;
use crate::backend::device::LineSolver;
use crate::engine::distributed::{Layout, PlaneOffsets};
use crate::engine::{Expr, LineOperators, Op, Operation, PointFormula, Sweep, Value};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// One of the fields that a program is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// Of those that are read.
    Read(usize),
    /// The same where it has the values of one plane of x and y.
    Plane(usize),
    /// Of those that are written.
    Written(usize),
}

/// A field and where it is loaded to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) field: Slot,
    pub(super) to: Place,
    /// Whether it is what is added to: not needed where β is 0.
    pub(super) begins: bool,
}

/// One instruction on a block of rows.
#[derive(Clone, Debug)]
pub(super) enum Instruction<T> {
    /// Load a field.
    Load(Loaded),
    /// Evaluate a formula.
    Map { map: PointFormula, from: Vec<Place>, to: Vec<Place> },
    /// A value plus the advance of the run times a sum that is complete.
    Advance { from: Place, sum: Place, to: Place },
    /// Evaluate a polynomial.
    Let { polynomial: Polynomial<T>, to: Place },
    /// β times what was loaded, plus a polynomial.
    Add { polynomial: Polynomial<T>, to: Place },
    /// Store to a field that is written.
    Store { slot: usize, from: Place },
}

/// An operator on a product of values.
#[derive(Clone, Debug)]
pub(super) struct Application<T> {
    pub(super) solver: Arc<Solver<T>>,
    /// Whether there is a loop without cases for whole blocks.
    pub(super) five_points: bool,
    pub(super) factors: SmallVec<[Place; 2]>,
    /// Where the way down leaves what the way up needs, and that the result.
    pub(super) to: Place,
    /// The first of the rows that it carries from block to block.
    pub(super) carried: usize,
    pub(super) coupling: Option<Coupling>,
}

/// Operators that do not depend on each other, down the lines and up; then what is made of their results, block by block on the
/// way up.
#[derive(Clone, Debug)]
pub(super) struct Pass<T> {
    pub(super) applied: Vec<Application<T>>,
    pub(super) instructions: Vec<Instruction<T>>,
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
#[derive(Clone, Debug, Default)]
pub(super) struct Code<T> {
    pub(super) passes: Vec<Pass<T>>,
    /// Operators whose operands the neighbours have to know of, once all passes are done.
    pub(super) packed: Vec<Application<T>>,
    pub(super) needs: Needs,
    pub(super) staged: Staged,
    /// The same once more where it does nothing but take fields to fields: memory is then what it waits for.
    pub(super) steps: Vec<Step<T>>,
    /// Slots of the fields that are read, of the planes that are, and of the fields that are written, in rising order.
    pub(super) reads: Vec<usize>,
    pub(super) planes: Vec<usize>,
    pub(super) writes: Vec<usize>,
}

/// What is loaded while operators are applied, so that memory and arithmetic are busy at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged {
    /// The pass with the most operators.
    pub(super) pass: usize,
    /// For the tile that comes next, on the way up.
    pub(super) early: Vec<Loaded>,
    /// Fields that are only fetched for the next tile: what they are loaded to is in use.
    pub(super) fetched: Vec<Slot>,
    /// For the tile itself, on the way down.
    pub(super) late: Vec<Loaded>,
}

/// An operator that takes a field to a field.
#[derive(Clone, Debug)]
pub(super) struct Step<T> {
    pub(super) solver: Arc<Solver<T>>,
    pub(super) from: Slot,
    /// Of the fields that are written.
    pub(super) to: usize,
}

/// A sweep along one axis, ready to run on the host.
#[derive(Clone, Debug)]
pub struct Program<T> {
    pub(super) axis: Axis,
    /// Points of the grid.
    pub(super) grid: [usize; 3],
    /// Points of a line.
    pub(super) points: usize,
    pub(super) solvers: HashMap<Op, Arc<Solver<T>>>,
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
        let usual = (Loading::Beside, LineSolver::THOMAS);
        Self::prepared(sweep, (axis, grid, operators), usual)
            .unwrap_or_else(|_| unreachable!("`thomas` takes every operator"))
    }

    /// [`Program::new`] with fields brought into the caches so, and lines solved so.
    ///
    /// # Errors
    /// Where the line solver does not take an operator: the sentence of [`obstacle`].
    pub(super) fn prepared(
        sweep: &Sweep,
        (axis, grid, operators): Lines<'_>,
        (loading, line_solver): (Loading, LineSolver),
    ) -> Result<Self> {
        let points = grid[axis.index()];
        let stages = sweep.stages();
        let mut solvers = HashMap::new();
        for (op, ..) in stages.iter().flatten() {
            if !solvers.contains_key(op) {
                let operator = operators.get(axis, *op);
                assert_eq!(operator.len(), points, "operators of another grid");
                if let Some(sentence) = obstacle(line_solver, operator) {
                    return Err(Error::Config(vec![format!("error: {sentence}")]));
                }
                solvers.insert(*op, Arc::new(Solver::new(operator, line_solver)));
            }
        }
        let couplings = couplings(&stages, axis, operators);
        let compile = |operations: &[Operation], packed: Option<usize>| {
            compile(operations, sweep.values, &solvers, &couplings, packed, loading)
        };
        let whole = compile(&sweep.operations, None);
        let pack = |stage: usize| compile(&leading_to(sweep, &stages[stage]), Some(stage));
        let packs = match couplings.is_empty() {
            true => Vec::new(),
            false => (0..stages.len()).map(pack).collect(),
        };
        Ok(Self { axis, grid, points, solvers, whole, packs })
    }

    pub(super) fn lines(&self) -> usize {
        self.grid.iter().product::<usize>() / self.points
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
