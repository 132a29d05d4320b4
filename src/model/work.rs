//! The work of the ranks per step, counted.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::sweeping::{Lines, Sweeping};
use crate::comm::Sent;
use crate::config::{Config, Precision, RightHandSide};
use crate::engine::distributed::Method;
use crate::engine::{LineOperators, Sweep, SweepBuilder, commute};
use crate::grid::{Axis, Decomposition, Domain, End, Grid};
use crate::physics::StepParts;
use crate::scheme::{Form, SchemeFamily};

/// Lists of sweeps in the order of execution. While the messages of one sweep of a list are under way, other sweeps compute.
pub(crate) type Lists = Vec<Vec<Arc<Sweeping>>>;

/// A step on a grid that is split across ranks. The constructors return a sentence if the method cannot solve the lines or if
/// blocks would have no points.
#[derive(Clone, Debug)]
pub struct Work {
    pub(crate) decomposition: Decomposition,
    /// Points of the whole grid.
    pub(crate) points: [usize; 3],
    /// Bytes per value.
    pub(crate) value: usize,
    /// Right-hand sides per step.
    pub stages: usize,
    pub(crate) right_hand_side: Lists,
    /// The sweeps that filter the state once.
    pub(crate) filter: Lists,
    /// Filterings per step: less than 1 if not every step is filtered.
    pub(crate) filterings: f64,
    /// Fields that a step reads and writes pointwise, outside of sweeps.
    pub(crate) words: usize,
    /// Reductions over all ranks per step: the step size, and whether to stop.
    pub(crate) reductions: usize,
}

impl Work {
    /// The work of `config` on `points` points instead of its own, by `method` if it is given.
    pub fn new(
        config: &Config,
        points: [usize; 3],
        decomposition: Decomposition,
        method: Option<Method>,
    ) -> Result<Self, String> {
        Planner::new(config, points, method).work(decomposition)
    }

    /// The work of a single sweep, by `method`.
    pub(crate) fn of_sweep(
        sweep: (Axis, &Sweep),
        decomposition: Decomposition,
        points: [usize; 3],
        operators: &LineOperators,
        (method, precision): (Method, Precision),
    ) -> Result<Self, String> {
        let sweeping = Sweeping::new(sweep, decomposition, points, operators, Some(method))?;
        Ok(Self::of_lists((decomposition, points, precision), vec![vec![Arc::new(sweeping)]]))
    }

    /// The work of first derivatives of one field along `axes`, one after another, by `method`, or as a run would choose; an axis
    /// without `ends` is periodic.
    pub(crate) fn of_derivatives(
        axes: &[Axis],
        (family, ends, precision): (&SchemeFamily, [Option<[End; 2]>; 3], Precision),
        points: [usize; 3],
        decomposition: Decomposition,
        method: Option<Method>,
    ) -> Result<Self, String> {
        check_blocks(points, decomposition)?;
        let s = SweepBuilder::new();
        s.store(0, s.d1(s.read(0)));
        let sweep = s.build();
        let list = |&axis: &Axis| {
            // Operators along the other axes are not used: short lines suffice.
            let lines = std::array::from_fn(|a| if a == axis.index() { points[a] } else { FEW });
            let grid = Grid::new(lines, &Domain::cube(1.0), ends);
            let operators = LineOperators::new(family, None, &grid, precision);
            let sweep = (axis, &sweep);
            let sweeping = Sweeping::new(sweep, decomposition, points, &operators, method)?;
            Ok(vec![Arc::new(sweeping)])
        };
        let lists = axes.iter().map(list).collect::<Result<Lists, String>>()?;
        Ok(Self::of_lists((decomposition, points, precision), lists))
    }

    /// The work of sweeps only.
    fn of_lists(
        (decomposition, points, precision): (Decomposition, [usize; 3], Precision),
        right_hand_side: Lists,
    ) -> Self {
        Self {
            decomposition,
            points,
            value: precision.bytes(),
            stages: 1,
            right_hand_side,
            filter: Vec::new(),
            filterings: 0.0,
            words: 0,
            reductions: 0,
        }
    }

    /// Messages and bytes that `rank` sends in one right-hand side, and planes, each one value per line.
    pub fn sent(&self, rank: usize) -> (Sent, usize) {
        self.sent_in(&self.right_hand_side, rank)
    }

    /// The same for filtering once.
    pub fn sent_by_filter(&self, rank: usize) -> (Sent, usize) {
        self.sent_in(&self.filter, rank)
    }

    fn sent_in(&self, lists: &Lists, rank: usize) -> (Sent, usize) {
        let position = self.decomposition.position(rank);
        let block = self.decomposition.block(rank, self.points);
        let mut all = (Sent::default(), 0);
        for sweeping in lists.iter().flatten() {
            let at = position[sweeping.axis.index()];
            let (sent, planes) = sweeping.sent(at, block, self.value);
            all.0.messages += sent.messages;
            all.0.bytes += sent.bytes;
            all.1 += planes;
        }
        all
    }
}

/// Number of points along an axis that is sufficient for every scheme.
const FEW: usize = 32;

fn check_blocks(points: [usize; 3], decomposition: Decomposition) -> Result<(), String> {
    let numbers = |axis: &Axis| (points[axis.index()], decomposition.ranks[axis.index()]);
    let short = Axis::ALL.into_iter().find(|axis| numbers(axis).0 < numbers(axis).1);
    short.map_or(Ok(()), |axis| {
        let ((n, ranks), along) = (numbers(&axis), axis.name());
        Err(format!("{n} points along {along} are fewer than {ranks} ranks"))
    })
}

/// Counts the work of many decompositions. Decompositions with the same number of ranks along an axis share the plans along it.
pub(super) struct Planner<'a> {
    config: &'a Config,
    pub(super) points: [usize; 3],
    method: Option<Method>,
    grid: Grid,
    /// Keyed by the axes along which lines are whole.
    parts: HashMap<[bool; 3], Rc<StepParts>>,
    known: HashMap<Key, Result<Arc<Sweeping>, String>>,
}

/// The axes along which lines are whole; the sweep: whether it filters, its list, its position there; ranks along its axis.
type Key = ([bool; 3], (bool, usize, usize), usize);

impl<'a> Planner<'a> {
    /// A planner for `config` on `points` points instead of its own, with `method` if it is given.
    pub(super) fn new(config: &'a Config, points: [usize; 3], method: Option<Method>) -> Self {
        let grid = config.unmapped_grid(points);
        Self { config, points, method, grid, parts: HashMap::new(), known: HashMap::new() }
    }

    pub(super) fn work(&mut self, decomposition: Decomposition) -> Result<Work, String> {
        let Self { config, points, .. } = *self;
        check_blocks(points, decomposition)?;
        for axis in Axis::ALL.into_iter().filter(|axis| points[axis.index()] > 1) {
            let a = axis.index();
            config.boundaries.check_block(axis, points[a] / decomposition.ranks[a])?;
        }
        let whole = decomposition.ranks.map(|ranks| ranks == 1);
        let make =
            || Rc::new(StepParts::new(&config.problem(), &self.grid, |axis| whole[axis.index()]));
        let parts = self.parts.entry(whole).or_insert_with(make).clone();
        let integrator = config.time.integrator;
        let fused = config.compute.right_hand_side == RightHandSide::Fused;
        Ok(Work {
            decomposition,
            points,
            value: config.compute.precision.bytes(),
            stages: integrator.stages(),
            right_hand_side: self.lists(&parts, decomposition, false)?,
            filter: self.lists(&parts, decomposition, true)?,
            filterings: config.scheme.filter.map_or(0.0, |filter| 1.0 / filter.every as f64),
            words: integrator.stages() * parts.words + words(integrator.form, parts.fields, fused),
            reductions: 2,
        })
    }

    /// In the order of execution: if the order is free, sweeps without messages come first.
    fn lists(
        &mut self,
        parts: &StepParts,
        decomposition: Decomposition,
        filter: bool,
    ) -> Result<Lists, String> {
        let Self { points, method, known, .. } = self;
        let whole = decomposition.ranks.map(|ranks| ranks == 1);
        let lists = if filter { &parts.filter } else { &parts.right_hand_side };
        let planned = lists.iter().enumerate().map(|(number, list)| {
            let plan = |(at, (axis, sweep)): (usize, &(Axis, Sweep))| {
                let ranks = decomposition.ranks[axis.index()];
                let (sweep, operators) = ((*axis, sweep), &parts.operators);
                let new = || Sweeping::new(sweep, decomposition, *points, operators, *method);
                let known = known.entry((whole, (filter, number, at), ranks));
                known.or_insert_with(|| new().map(Arc::new)).clone()
            };
            let mut together = list.iter().enumerate().map(plan).collect::<Result<Vec<_>, _>>()?;
            if commute(list.iter().map(|(_, sweep)| sweep.accesses())) {
                together.sort_by_key(|sweeping| !matches!(sweeping.lines, Lines::Whole));
            }
            Ok(together)
        });
        planned.collect()
    }

    /// Number of plans made so far: one for all ranks on a line with the same tasks.
    #[cfg(test)]
    pub(super) fn planned(&self) -> usize {
        let plans = |sweeping: &Arc<Sweeping>| match &sweeping.lines {
            Lines::Blocks { plans, .. } => plans.len(),
            _ => 0,
        };
        self.known.values().flatten().map(plans).sum()
    }
}

/// Fields read and written per step by the updates of the stages, unless they are part of a sweep, and by the check of the state.
fn words(form: Form, fields: usize, fused: bool) -> usize {
    let (copy, add) = (2 * fields, 3 * fields);
    let updates = match form {
        Form::LowStorage { .. } if fused => 0,
        Form::LowStorage { b, .. } => b.len() * add,
        Form::Butcher { a, b } => {
            let combine = |weights: &[f64]| {
                copy + weights.iter().filter(|weight| **weight != 0.0).count() * add
            };
            copy + a.iter().skip(1).map(|row| combine(row)).sum::<usize>() + combine(b)
        }
    };
    updates + fields
}
