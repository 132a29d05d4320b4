//! Many ranks as one backend: each holds a block of every field on its own backend.
//!
//! Along an axis that is not split, a sweep runs on the block as on a whole grid. Along a split axis the lines are split
//! across ranks: the interface values that the operators need from neighbours are computed by the steps of a
//! [`Plan`](crate::engine::distributed::Plan), or complete lines are exchanged (`transpose`).

mod blocks;
mod choices;
mod coupled;
mod group;
mod joined;
mod message_check;
mod messages;
mod phases;
mod route;
mod split_block_solver;
mod transposed;
mod work_arrays;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use blocks::{Blocks, Memory, Staging, Sum, Sums, TransposeLayout};
pub use group::{DeviceGroup, DeviceMessage, Underway};
pub(crate) use joined::Joined;
pub(crate) use messages::{Part, Round};
pub use phases::{ALONG, Phase, PhaseTimes};
pub use route::{Route, RouteChoice};
pub(crate) use work_arrays::WorkArrayLengths;

use crate::backend::{
    Backend, BlockSolver, ComputeConfig, Field, Lines, OnPart, Prepared, Program, Reduction,
    Sources, Targets, Weights,
};
use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::comm::{Communicator, Sent, Solo};
use crate::engine::distributed::Method;
use crate::engine::{Accesses, PointFormula, Sweep, Use, commute};
use crate::error::{Error, Result};
use crate::grid::{Axis, Decomposition};
use crate::real::{Precision, Values};
use choices::Choices;
use coupled::Coupled;
use phases::Clock;
use split_block_solver::SplitBlockSolver;
use transposed::Transposed;
use work_arrays::WorkArrays;

/// A grid distributed over ranks, with one block per rank on the rank's backend.
pub struct Ranks {
    inner: Box<dyn Blocks>,
    comm: Arc<dyn Communicator>,
    decomposition: Decomposition,
    /// For each axis, the ranks along the lines through this rank.
    axis_comms: [Arc<dyn Communicator>; 3],
    method: Option<Method>,
    route: Route,
    choice: RouteChoice,
    /// Group of the devices of all ranks, if messages go by NCCL, and the messages that this rank sent through it.
    group: Option<Box<dyn DeviceGroup>>,
    sent_by_group: Mutex<Sent>,
    clock: Clock,
    choices: Mutex<Choices>,
    first_error: Mutex<Option<Error>>,
    work_arrays: WorkArrays,
}

/// A formula ready to run on a block.
struct OnBlock {
    inner: Prepared,
    results: usize,
    /// Whether results are added; otherwise the maximum is taken.
    sums: bool,
}

/// Lines along a split axis, of which this rank holds parts.
struct SplitLines {
    axis: Axis,
    /// Points of this rank's block.
    block: [usize; 3],
    /// Number of points of every block along the axis.
    lengths: Vec<usize>,
    /// Index of this rank's block along the axis.
    position: usize,
}

/// A sweep ready to run on a block.
struct BlockProgram {
    kind: Kind,
    accesses: Accesses,
}

impl BlockProgram {
    /// Whether it locks the planes of that axis while it runs.
    fn is_coupled_along(&self, axis: usize) -> bool {
        matches!(&self.kind, Kind::Coupled(coupled) if coupled.axis == axis)
    }

    /// Returns the program, if it runs on the block alone.
    fn local(&self) -> Option<&Program> {
        match &self.kind {
            Kind::Local(program) => Some(program),
            _ => None,
        }
    }
}

enum Kind {
    /// Lines are not split, or there are no operators.
    Local(Program),
    /// Lines are split across ranks.
    Coupled(Coupled),
    /// Lines are made complete by a transpose.
    Transposed(Transposed),
}

impl Kind {
    /// Wraps it as the program of `sweep`.
    fn into_program(self, sweep: &Sweep) -> Program {
        Program::new(BlockProgram { kind: self, accesses: sweep.accesses() }, sweep)
    }
}

impl Ranks {
    /// Whether `sweep` along `axis` needs no data from other ranks.
    fn is_local(&self, sweep: &Sweep, axis: Axis) -> bool {
        self.decomposition.ranks[axis.index()] == 1 || sweep.operators().is_empty()
    }

    /// Distributes a grid over the ranks of `comm`; `inner` is the backend of this rank's block. Collective.
    ///
    /// # Errors
    /// If the backend is out of memory or its driver fails, or if a forced route between devices (`compute.nccl`,
    /// `compute.device_aware`) does not work.
    ///
    /// # Panics
    /// If the decomposition is for another number of ranks.
    pub fn new(
        inner: Box<dyn Blocks>,
        comm: Arc<dyn Communicator>,
        decomposition: Decomposition,
        compute: &ComputeConfig,
    ) -> Result<Self> {
        assert_eq!(decomposition.size(), comm.size(), "ranks and blocks");
        let [i, j, k] = decomposition.position(comm.rank());
        let [px, py, _] = decomposition.ranks;
        // Axes that are not split, and a single split axis, need no separate group.
        let group = |axis: usize, color: usize, key: usize| -> Arc<dyn Communicator> {
            match decomposition.ranks[axis] {
                1 => Arc::new(Solo),
                ranks if ranks == comm.size() => comm.clone(),
                _ => comm.split(color, key).into(),
            }
        };
        let axis_comms =
            [group(0, j + py * k, i), group(1, i + px * k, j), group(2, i + px * j, k)];
        let (choice, group) = Route::find(&*inner, &*comm, compute)?;
        Ok(Self {
            inner,
            comm,
            decomposition,
            axis_comms,
            method: compute.distributed,
            route: choice.route,
            choice,
            group,
            sent_by_group: Mutex::default(),
            clock: Clock::default(),
            choices: Mutex::default(),
            first_error: Mutex::default(),
            work_arrays: WorkArrays::default(),
        })
    }

    /// How messages travel.
    pub fn route(&self) -> Route {
        self.route
    }

    /// Returns how messages travel, and the reason.
    pub fn route_choice(&self) -> &RouteChoice {
        &self.choice
    }

    /// Returns the messages that this rank has sent along the axes so far; if only one axis is split, all messages of
    /// this rank in the group.
    pub fn sent(&self) -> Sent {
        let along = self.axis_comms.iter().map(|comm| comm.sent());
        along.fold(*locked(&self.sent_by_group), |all, axis| Sent {
            messages: all.messages + axis.messages,
            bytes: all.bytes + axis.bytes,
        })
    }

    /// Stores the first error for the next call that can return one.
    fn record_error(&self, result: Result<()>) {
        if let Err(error) = result {
            locked(&self.first_error).get_or_insert(error);
        }
    }

    fn take_error(&self) -> Result<()> {
        locked(&self.first_error).take().map_or(Ok(()), Err)
    }
}

/// Locks `mutex`, also after a thread that held the lock has panicked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for Ranks {
    fn precision(&self) -> Precision {
        self.inner.precision()
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn threads(&self) -> usize {
        self.inner.threads()
    }

    fn shape(&self) -> Option<&'static str> {
        self.inner.shape()
    }

    fn simd(&self) -> &'static str {
        self.inner.simd()
    }

    fn device_name(&self) -> Option<String> {
        self.inner.device_name()
    }

    fn comm(&self) -> &dyn Communicator {
        &*self.comm
    }

    fn decomposition(&self) -> Decomposition {
        self.decomposition
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = locked(&self.choices).describe();
        notes.push(self.choice.note());
        notes
    }

    fn finish(&self) -> Result<()> {
        self.take_error()?;
        self.inner.finish()
    }

    fn field(&self, values: &Values<'_>) -> Result<Field> {
        self.inner.field(values)
    }

    fn zeros(&self, len: usize) -> Result<Field> {
        self.inner.zeros(len)
    }

    fn values<'a>(&self, field: &'a Field) -> Result<Values<'a>> {
        self.take_error()?;
        self.inner.values(field)
    }

    fn write(&self, field: &mut Field, values: &Values<'_>) -> Result<()> {
        self.take_error()?;
        self.inner.write(field, values)
    }

    fn copy(&self, from: &Field, to: &mut Field) {
        self.inner.copy(from, to);
    }

    fn clear(&self, field: &mut Field) {
        self.inner.clear(field);
    }

    fn for_each_concurrently(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        self.inner.for_each_concurrently(count, work);
    }

    fn program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        let (axis, points, operators) = lines;
        let block = self.block(points).points;
        let a = axis.index();
        let ops = sweep.operators();
        if self.is_local(sweep, axis) {
            let program = self.inner.program(sweep, (axis, block, operators))?;
            return Ok(Kind::Local(program).into_program(sweep));
        }
        let lengths = self.decomposition.lengths(a, points[a]);
        let method = self.method_for(axis, &ops, operators, &lengths);
        let position = self.decomposition.position(self.comm.rank())[a];
        let split_lines = SplitLines { axis, block, lengths, position };
        let kind = match method {
            Method::Transpose => {
                Kind::Transposed(Transposed::new(self, sweep, &split_lines, operators)?)
            }
            _ => Kind::Coupled(Coupled::new(self, sweep, &split_lines, (&ops, method), operators)?),
        };
        Ok(kind.into_program(sweep))
    }

    /// Only for lines that are not split. Messages between ranks are prepared before any program runs.
    fn lazy_program(&self, sweep: &Sweep, lines: Lines<'_>) -> Result<Program> {
        let (axis, points, operators) = lines;
        if !self.is_local(sweep, axis) {
            return self.program(sweep, lines);
        }
        let block = self.block(points).points;
        let program = self.inner.lazy_program(sweep, (axis, block, operators))?;
        Ok(Kind::Local(program).into_program(sweep))
    }

    fn compile(&self, programs: &[&Program]) {
        let of = programs.iter().map(|program| program.get::<BlockProgram>());
        let local: Vec<&Program> = of.filter_map(BlockProgram::local).collect();
        self.inner.compile(&local);
    }

    /// Only for lines that are not split.
    fn program_on_advanced_field(
        &self,
        sweep: &Sweep,
        lines: Lines<'_>,
    ) -> Result<Option<Program>> {
        let (axis, points, operators) = lines;
        if self.decomposition.ranks[axis.index()] > 1 {
            return Ok(None);
        }
        let block = self.block(points).points;
        let program = self.inner.program_on_advanced_field(sweep, (axis, block, operators))?;
        Ok(program.map(|program| Kind::Local(program).into_program(sweep)))
    }

    fn run(&self, program: &Program, read: Sources, write: Targets, weights: Weights) {
        self.run_all(&mut std::iter::once(program), read, write, weights);
    }

    /// Messages of a sweep's first stage start before the first sweep runs, if no sweep before it changes the values to
    /// send or is coupled along the same axis. Sweeps without messages run first if the order does not matter.
    fn run_all(
        &self,
        programs: &mut dyn Iterator<Item = &Program>,
        read: Sources,
        write: Targets,
        weights: Weights,
    ) {
        let mut programs: Vec<&BlockProgram> = programs.map(Program::get).collect();
        if commute(programs.iter().map(|program| program.accesses.clone())) {
            programs.sort_by_key(|program| !matches!(program.kind, Kind::Local(_)));
        }
        let begin = |(at, program): (usize, &&BlockProgram)| match &program.kind {
            Kind::Coupled(coupled)
                if programs[..at].iter().all(|before| {
                    program.accesses.can_begin_before(&before.accesses)
                        && !before.is_coupled_along(coupled.axis)
                }) =>
            {
                Some(coupled.begin(self, read, write))
            }
            _ => None,
        };
        let mut started: Vec<_> = programs.iter().enumerate().map(begin).collect();
        let (mut weights, mut at) = (weights, 0);
        for together in programs.chunk_by(|a, b| a.local().is_some() && b.local().is_some()) {
            match &together[0].kind {
                Kind::Coupled(coupled) => {
                    let started =
                        started[at].take().unwrap_or_else(|| coupled.begin(self, read, write));
                    coupled.finish(self, started, read, write, weights);
                }
                Kind::Transposed(transposed) => transposed.run(self, read, write, weights),
                Kind::Local(_) => {
                    let mut local = together.iter().filter_map(|program| program.local());
                    let run = || self.inner.run_all(&mut local, read, write, weights);
                    self.timed(Phase::Local, run);
                }
            }
            weights = weights.after(together.iter().any(|one| !one.accesses.adds.is_empty()));
            at += together.len();
        }
    }

    fn prepare(&self, formula: PointFormula) -> Result<Prepared> {
        let (results, sums) = (formula.results.len(), formula.of == Use::Sum);
        Ok(Prepared::new(OnBlock { inner: self.inner.prepare(formula)?, results, sums }))
    }

    fn map(&self, formula: &Prepared, read: Sources, write: Targets, parameters: &[f64]) {
        self.inner.map(&formula.get::<OnBlock>().inner, read, write, parameters);
    }

    fn prepare_part(&self, map: OnPart) -> Result<Prepared> {
        self.inner.prepare_part(map)
    }

    fn map_part(&self, formula: &Prepared, fields: Targets, parameters: &[f64]) {
        self.inner.map_part(formula, fields, parameters);
    }

    fn reduce(&self, formula: &Prepared, read: Sources, parameters: &[f64]) -> Result<Reduction> {
        let OnBlock { results, sums, .. } = formula.get();
        let mut totals = self.reduce_here(formula, read, parameters)?.values()?;
        let own = &mut totals[..*results];
        if *sums {
            self.comm.sum(own)
        } else {
            self.comm.max(own)
        }
        Ok(Reduction::Done(totals))
    }

    fn reduce_here(
        &self,
        formula: &Prepared,
        read: Sources,
        parameters: &[f64],
    ) -> Result<Reduction> {
        self.take_error()?;
        self.inner.reduce(&formula.get::<OnBlock>().inner, read, parameters)
    }

    fn block_solver(
        &self,
        colouring: &Arc<Colouring>,
        halo: &Halo,
        nb: usize,
    ) -> Result<BlockSolver> {
        SplitBlockSolver::new(self, colouring, halo, nb).map(BlockSolver::new)
    }

    fn set_blocks(&self, solver: &mut BlockSolver, matrix: Factored<f32>) -> Result<()> {
        self.take_error()?;
        self.inner.set_blocks(solver.get_mut::<SplitBlockSolver>().inner(), matrix)
    }

    fn sweep_blocks(&self, solver: &mut BlockSolver, sweeps: Sweeps, b: Sources, x: Targets) {
        solver.get_mut::<SplitBlockSolver>().sweep(self, sweeps, b, x);
    }

    fn execute(&self, work: &mut (dyn FnMut() + Send)) {
        self.inner.execute(work);
    }
}
