//! Back substitution of all systems of a pass: several systems of one matrix together, since a single recurrence has to
//! wait for the previous row.

use std::sync::Arc;

use pulp::Simd;

use super::eliminate::{CyclicClosure, SolveBorder};
use super::ends::Correct;
use super::program::Application;
use super::reduced::Reduce;
use super::rows::{BLOCK, Rows};
use super::run::Job;
use super::solver::{Cyclic, SolveMethod};
use super::substitute::Substitute;
use super::tile::Group;
use super::work::Tile;
use crate::real::Real;
use crate::simd::{array_of, mapped};

/// An operator of a pass in one of the adjacent tiles.
#[derive(Clone, Copy)]
pub(super) struct System<'a, T> {
    pub(super) application: &'a Application<T>,
    pub(super) tile: Group,
    pub(super) rows: Rows<T>,
}

/// All systems of a pass: its operators, in all adjacent tiles.
#[derive(Clone, Copy)]
pub(super) struct Applied<'a, T> {
    pub(super) applications: &'a [Application<T>],
    pub(super) tiles: &'a Tile<'a, T>,
    /// Number of adjacent tiles.
    pub(super) columns: usize,
}

impl<T: Real> Applied<'_, T> {
    /// Steps between the forward and the backward pass.
    #[inline(always)]
    pub(super) fn between_passes<S: Simd>(self, simd: S) {
        for batch in self.applications.chunk_by(have_same_matrix) {
            let count = batch.len() * self.columns;
            let SolveMethod::Cyclic(cyclic) = &batch[0].solver.method else {
                for at in 0..count {
                    self.system(batch, at).between_passes(simd);
                }
                continue;
            };
            let fours = count - count % 4;
            for at in (0..fours).step_by(4) {
                between_passes::<_, _, 4>(simd, cyclic, self.systems(batch, at));
            }
            for at in fours..count {
                between_passes::<_, _, 1>(simd, cyclic, self.systems(batch, at));
            }
        }
    }

    #[inline(always)]
    pub(super) fn substitute<S: Simd>(self, simd: S, job: &Job<'_, T>, block: usize) {
        for batch in self.applications.chunk_by(have_same_matrix) {
            let count = batch.len() * self.columns;
            let pairs = count - count % 2;
            for at in (0..pairs).step_by(2) {
                substitute::<_, _, 2>(simd, job, self.systems(batch, at), block);
            }
            if pairs < count {
                substitute::<_, _, 1>(simd, job, self.systems(batch, pairs), block);
            }
        }
    }

    /// M systems of one matrix, starting at number `first`.
    #[inline(always)]
    fn systems<'a, const M: usize>(
        &'a self,
        batch: &'a [Application<T>],
        first: usize,
    ) -> [System<'a, T>; M] {
        array_of(|m| self.system(batch, first + m))
    }

    #[inline(always)]
    fn system<'a>(&'a self, batch: &'a [Application<T>], at: usize) -> System<'a, T> {
        let Tile { tile, rows, .. } = self.tiles.column(at % self.columns);
        System { application: &batch[at / self.columns], tile, rows }
    }
}

/// True if both have the same matrix.
fn have_same_matrix<T>(one: &Application<T>, other: &Application<T>) -> bool {
    Arc::ptr_eq(&one.solver, &other.solver)
}

impl<T: Real> System<'_, T> {
    /// Step between elimination and substitution for matrices other than periodic tridiagonal ones: the border of
    /// periodic lines, or a reduction.
    #[inline(always)]
    fn between_passes<S: Simd>(&self, simd: S) {
        let Self { application, rows, .. } = *self;
        let solver = &*application.solver;
        let row = |m| rows.row(application.to, m);
        if let SolveMethod::Reduced(reduced) = &solver.method {
            let workspace = rows.carried(application.carried + solver.workspace_start());
            return simd.vectorize(Reduce { reduced, row: &row, rows: rows.points, workspace });
        }
        if solver.operator.periodic && solver.half_band() > 0 {
            let gathered =
                rows.carried(application.carried + solver.taps() - 1 + solver.half_band());
            simd.vectorize(SolveBorder { solver, row: &row, gathered });
        }
    }
}

/// Step between elimination and substitution of M periodic tridiagonal systems of one matrix.
#[inline(always)]
fn between_passes<S: Simd, T: Real, const M: usize>(
    simd: S,
    cyclic: &Cyclic<T>,
    systems: [System<'_, T>; M],
) {
    let carried = mapped(systems, |System { application, rows, .. }| {
        rows.carried(application.carried + application.solver.taps() - 1)
    });
    let blocks = |block: usize| {
        mapped(systems, |System { application, rows, .. }| {
            rows.of_block(block).at(application.to).cast_const()
        })
    };
    simd.vectorize(CyclicClosure { cyclic, blocks: &blocks, carried });
}

/// Back substitution of M systems of one matrix in one block.
#[inline(always)]
fn substitute<S: Simd, T: Real, const M: usize>(
    simd: S,
    job: &Job<'_, T>,
    systems: [System<'_, T>; M],
    block: usize,
) {
    let solver = &*systems[0].application.solver;
    let (first, rows) = (block * BLOCK, systems[0].rows.valid_rows(block));
    let skipped = solver.taps() - 1 + solver.half_band();
    let at =
        mapped(systems, |System { application, rows, .. }| rows.of_block(block).at(application.to));
    let carried = mapped(systems, |System { application, rows, .. }| {
        rows.carried(application.carried + skipped)
    });
    simd.vectorize(Substitute { solver, block, rows, at, carried });
    for (System { application, tile, rows }, at) in systems.into_iter().zip(at) {
        if let (Some(coupling), Some(ends)) = (application.coupling, &solver.operator.ends) {
            simd.vectorize(Correct {
                ends,
                planes: job.interface_planes[coupling.stage],
                starts: coupling.starts,
                total: job.program.lines(),
                lines: tile.lines(),
                first,
                points: rows.points,
                at,
            });
        }
    }
}
