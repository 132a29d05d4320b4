//! The sweeps of a set of equations, ready to run on the grid of a configuration.

use std::borrow::Cow;
use std::sync::Arc;

use super::SchemeConfig;
use super::metric::{Metric, stretched};
use super::problem::Problem;
use super::slots::conserved;
use crate::backend::{Backend, Program};
use crate::engine::{LineOperators, Op, Sweep, SweepBuilder, Value};
use crate::error::Result;
use crate::grid::{Axis, Grid};
use crate::real::Precision;
use crate::scheme::compact_filter;

/// The grid of a configuration with the operators of its scheme.
pub(super) struct Discretisation {
    pub(super) grid: Grid,
    pub(super) metric: Arc<Metric>,
    operators: LineOperators,
    filtered: bool,
}

impl Discretisation {
    /// That of `problem`.
    pub(super) fn new(problem: &Problem, backend: &dyn Backend) -> Result<Self> {
        let grid = problem.grid();
        let operators = operators(&problem.scheme, &grid, backend.precision());
        let metric = Arc::new(Metric::new(backend, &grid, &problem.scheme)?);
        Ok(Self { grid, metric, operators, filtered: problem.scheme.filter.is_some() })
    }

    /// One program for every active axis.
    pub(super) fn programs(
        &self,
        backend: &dyn Backend,
        sweep_along: impl Fn(Axis) -> Sweep,
    ) -> Result<Vec<Program>> {
        let sweeps: Vec<_> =
            self.grid.active_axes().map(|axis| (axis, sweep_along(axis))).collect();
        backend.all_of(&sweeps, |(axis, sweep)| self.program(backend, *axis, sweep))
    }

    /// One program for every active axis, compiled when they are needed.
    pub(super) fn programs_later(
        &self,
        backend: &dyn Backend,
        sweep_along: impl Fn(Axis) -> Sweep,
    ) -> Result<Vec<Program>> {
        let program = |axis| self.program_later(backend, axis, &sweep_along(axis));
        self.grid.active_axes().map(program).collect()
    }

    /// One program, compiled when it is needed.
    pub(super) fn program_later(
        &self,
        backend: &dyn Backend,
        axis: Axis,
        sweep: &Sweep,
    ) -> Result<Program> {
        let sweep = on_grid(sweep, axis, &self.grid);
        backend.program_later(&sweep, axis, self.grid.points, &self.operators)
    }

    /// One program.
    pub(super) fn program(
        &self,
        backend: &dyn Backend,
        axis: Axis,
        sweep: &Sweep,
    ) -> Result<Program> {
        let sweep = on_grid(sweep, axis, &self.grid);
        backend.program(&sweep, axis, self.grid.points, &self.operators)
    }

    /// The same of one that applies operators to a field that it advances itself: `None` where it could not run.
    pub(super) fn program_of_advanced(
        &self,
        backend: &dyn Backend,
        axis: Axis,
        sweep: &Sweep,
    ) -> Result<Option<Program>> {
        let sweep = on_grid(sweep, axis, &self.grid);
        backend.program_of_advanced(&sweep, axis, self.grid.points, &self.operators)
    }

    /// Every one of `fields` fields replaced by its filtered self; no program where there is no filter.
    pub(super) fn filter_programs(
        &self,
        backend: &dyn Backend,
        fields: usize,
    ) -> Result<Vec<Program>> {
        let sweep = |axis| filter_sweep(axis, fields);
        if self.filtered { self.programs(backend, sweep) } else { Ok(Vec::new()) }
    }
}

/// The operators of a scheme on a grid.
pub(super) fn operators(scheme: &SchemeConfig, grid: &Grid, precision: Precision) -> LineOperators {
    let filter = scheme.filter.map(|filter| compact_filter(filter.order, filter.alpha));
    LineOperators::new(&scheme.derivative, filter.as_ref(), grid, precision)
}

/// `field`, which holds conserved variable `k`: momentum along the lines changes sign by reflection.
pub(super) fn with_parity(s: &SweepBuilder, axis: Axis, k: usize, field: Value) -> Value {
    if k == conserved::MOMENTUM + axis.index() { s.odd(field) } else { field }
}

/// `sweep`, written for lines of equal spacings without planes of symmetry, as it runs along `axis` of `grid`.
pub(super) fn on_grid<'a>(sweep: &'a Sweep, axis: Axis, grid: &Grid) -> Cow<'a, Sweep> {
    let mirrored = match grid.is_mirrored(axis) {
        false => Cow::Borrowed(sweep),
        true => Cow::Owned(sweep.mirrored()),
    };
    match grid.lines[axis.index()] {
        None => mirrored,
        Some(_) => Cow::Owned(stretched(&mirrored, axis)),
    }
}

/// Every one of `fields` fields that are written, the conserved variables where there are so many, replaced by its filtered self.
pub(super) fn filter_sweep(axis: Axis, fields: usize) -> Sweep {
    let s = SweepBuilder::new();
    for slot in 0..fields {
        let field = with_parity(&s, axis, slot, s.previous(slot));
        s.store(slot, s.apply(Op::Filter, field));
    }
    s.build()
}
