//! A problem on its grid, and the preparation of its sweeps and formulas.

use std::borrow::Cow;
use std::sync::Arc;

use super::SchemeConfig;
use super::base_state::BaseState;
use super::metric::{Metric, stretched};
use super::problem::Problem;
use super::slots::conserved;
use super::volume::field_of;
use crate::backend::{Backend, Field, OnPart, Prepared, Program};
use crate::engine::{LineOperators, Op, PointFormula, Sweep, SweepBuilder, Value};
use crate::error::Result;
use crate::grid::{Axis, Block, Grid};
use crate::real::Precision;
use crate::scheme::compact_filter;

/// A problem on its grid, with the operators of its scheme.
pub(super) struct Discretisation<'a> {
    pub(super) problem: &'a Problem,
    pub(super) backend: &'a dyn Backend,
    pub(super) grid: Grid,
    /// The points of the grid held by this rank.
    pub(super) block: Block,
    /// The state that the fields are stored relative to.
    pub(super) base: BaseState,
    pub(super) metric: Arc<Metric>,
    operators: LineOperators,
}

impl<'a> Discretisation<'a> {
    pub(super) fn new(problem: &'a Problem, backend: &'a dyn Backend) -> Result<Self> {
        let (grid, precision) = (problem.grid(), backend.precision());
        let operators = operators(&problem.scheme, &grid, precision);
        let metric = Arc::new(Metric::new(backend, &grid, &problem.scheme)?);
        let (block, base) = (backend.block(grid.points), BaseState::of(&problem.gas, precision));
        Ok(Self { problem, backend, grid, block, base, metric, operators })
    }

    /// One program for every active axis.
    pub(super) fn programs(&self, sweep_along: impl Fn(Axis) -> Sweep) -> Result<Vec<Program>> {
        let sweeps: Vec<_> =
            self.grid.active_axes().map(|axis| (axis, sweep_along(axis))).collect();
        self.backend.all_of(&sweeps, |(axis, sweep)| self.program(*axis, sweep))
    }

    /// One program for every active axis, compiled on first use.
    pub(super) fn lazy_programs(
        &self,
        sweep_along: impl Fn(Axis) -> Sweep,
    ) -> Result<Vec<Program>> {
        let program = |axis| self.lazy_program(axis, &sweep_along(axis));
        self.grid.active_axes().map(program).collect()
    }

    /// One program, compiled on first use.
    pub(super) fn lazy_program(&self, axis: Axis, sweep: &Sweep) -> Result<Program> {
        let sweep = on_grid(sweep, axis, &self.grid);
        self.backend.lazy_program(&sweep, (axis, self.grid.points, &self.operators))
    }

    /// One program.
    pub(super) fn program(&self, axis: Axis, sweep: &Sweep) -> Result<Program> {
        let sweep = on_grid(sweep, axis, &self.grid);
        self.backend.program(&sweep, (axis, self.grid.points, &self.operators))
    }

    /// One program for lines along `axis` on planes of points across another axis, one plane per rank along it; derivatives are along ξ.
    pub(super) fn program_on_planes(
        &self,
        axis: Axis,
        across: Axis,
        sweep: &Sweep,
    ) -> Result<Program> {
        let mut points = self.grid.points;
        points[across.index()] = self.backend.decomposition().ranks[across.index()];
        let sweep = mirrored(sweep, axis, &self.grid);
        self.backend.program(&sweep, (axis, points, &self.operators))
    }

    /// A program that applies operators to a field that it advances itself: `None` where the backend cannot run it.
    pub(super) fn program_on_advanced_field(
        &self,
        axis: Axis,
        sweep: &Sweep,
    ) -> Result<Option<Program>> {
        let sweep = on_grid(sweep, axis, &self.grid);
        self.backend.program_on_advanced_field(&sweep, (axis, self.grid.points, &self.operators))
    }

    /// Programs that filter `fields` fields in place, one per active axis; empty without a filter.
    pub(super) fn filter_programs(&self, fields: usize) -> Result<Vec<Program>> {
        match self.problem.scheme.filter {
            Some(_) => self.programs(|axis| filter_sweep(axis, fields)),
            None => Ok(Vec::new()),
        }
    }

    /// The points `part` of the block.
    pub(super) fn part(&self, part: Block) -> Part<'_> {
        Part { on: self, points: part }
    }
}

/// A part of the block of this rank: a face, or the zone of a sponge.
pub(super) struct Part<'a> {
    pub(super) on: &'a Discretisation<'a>,
    /// Indices relative to the first point of the block.
    points: Block,
}

impl Part<'_> {
    /// See [`Backend::prepare_part`].
    pub(super) fn prepare(
        &self,
        formula: PointFormula,
        reads: &[(usize, isize)],
        own: usize,
    ) -> Result<Prepared> {
        let (points, reads) = (self.on.block.points, reads.to_vec());
        self.on.backend.prepare_part(OnPart { formula, points, part: self.points, reads, own })
    }

    /// A field of the points of the part only, from (i, j, k) in the global grid.
    pub(super) fn field(&self, value: impl Fn([usize; 3]) -> f64) -> Result<Field> {
        let first = self.on.block.start;
        field_of(self.on.backend, self.points.len(), |item| {
            let local = self.points.index(item);
            value([0, 1, 2].map(|a| first[a] + local[a]))
        })
    }
}

/// The operators of a scheme on a grid.
pub(super) fn operators(scheme: &SchemeConfig, grid: &Grid, precision: Precision) -> LineOperators {
    let filter = scheme.filter.map(|filter| compact_filter(filter.order, filter.alpha));
    LineOperators::new(&scheme.derivative, filter.as_ref(), grid, precision)
}

/// `field`, which holds conserved variable `k`, with its parity: the momentum along the lines is odd under reflection.
pub(super) fn with_parity(s: &SweepBuilder, axis: Axis, k: usize, field: Value) -> Value {
    if k == conserved::MOMENTUM + axis.index() { s.odd(field) } else { field }
}

/// `sweep`, written for uniform lines without symmetry planes, converted for lines along `axis` of `grid`.
pub(super) fn on_grid<'a>(sweep: &'a Sweep, axis: Axis, grid: &Grid) -> Cow<'a, Sweep> {
    let mirrored = mirrored(sweep, axis, grid);
    match grid.lines[axis.index()] {
        None => mirrored,
        Some(_) => Cow::Owned(stretched(&mirrored, axis)),
    }
}

/// `sweep`, written for lines without symmetry planes, converted for lines along `axis` of `grid`.
fn mirrored<'a>(sweep: &'a Sweep, axis: Axis, grid: &Grid) -> Cow<'a, Sweep> {
    match grid.is_mirrored(axis) {
        false => Cow::Borrowed(sweep),
        true => Cow::Owned(sweep.mirrored()),
    }
}

/// A sweep that filters `fields` fields in place: the conserved variables if there are that many.
pub(super) fn filter_sweep(axis: Axis, fields: usize) -> Sweep {
    let s = SweepBuilder::new();
    for slot in 0..fields {
        let field = with_parity(&s, axis, slot, s.previous(slot));
        s.store(slot, s.apply(Op::Filter, field));
    }
    s.build()
}
