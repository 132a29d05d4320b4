//! Back substitution of all systems of a pass: several systems of one matrix together, since a single recurrence has to
//! wait for the previous row.

use std::sync::Arc;

use pulp::Simd;
use smallvec::SmallVec;

use super::eliminate::{CyclicClosure, SolveBorder};
use super::ends::Correct;
use super::program::Application;
use super::reduced::Reduce;
use super::rows::{BLOCK, Rows};
use super::run::Job;
use super::solver::{Cyclic, SolveMethod};
use super::substitute::Substitute;
use super::tile::Group;
use crate::real::Real;

/// An operator of a pass in one of the adjacent tiles.
#[derive(Clone, Copy)]
pub(super) struct System<'a, T> {
    pub(super) application: &'a Application<T>,
    pub(super) tile: Group,
    pub(super) rows: Rows<T>,
}

/// Maximum number of systems of a pass without heap memory: 48 operators in two adjacent tiles.
const MOST_SYSTEMS: usize = 96;

/// All systems of a pass.
pub(super) struct Applied<'a, T>(pub(super) SmallVec<[System<'a, T>; MOST_SYSTEMS]>);

impl<T: Real> Applied<'_, T> {
    /// Steps between the forward and the backward pass.
    #[inline(always)]
    pub(super) fn turn<S: Simd>(&self, simd: S) {
        for alike in self.0.chunk_by(System::is_like) {
            let SolveMethod::Cyclic(cyclic) = &alike[0].application.solver.way else {
                alike.iter().for_each(|system| system.turn(simd));
                continue;
            };
            let (fours, rest) = alike.as_chunks();
            fours.iter().for_each(|four: &[_; 4]| turn(simd, cyclic, four));
            rest.iter().for_each(|one| turn(simd, cyclic, &[*one]));
        }
    }

    #[inline(always)]
    pub(super) fn substitute<S: Simd>(&self, simd: S, job: &Job<'_, T>, block: usize) {
        for alike in self.0.chunk_by(System::is_like) {
            let (pairs, rest) = alike.as_chunks();
            pairs.iter().for_each(|pair: &[_; 2]| substitute(simd, job, pair, block));
            rest.iter().for_each(|one| substitute(simd, job, &[*one], block));
        }
    }
}

impl<T: Real> System<'_, T> {
    /// True if both have the same matrix.
    fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.application.solver, &other.application.solver)
    }

    /// Step between elimination and substitution for matrices other than periodic tridiagonal ones: the border of
    /// periodic lines, or a reduction.
    #[inline(always)]
    fn turn<S: Simd>(&self, simd: S) {
        let Self { application, rows, .. } = *self;
        let solver = &*application.solver;
        let row = |m| rows.row(application.to, m);
        if let SolveMethod::Reduced(reduced) = &solver.way {
            let room = rows.carried(application.carried + solver.between());
            return simd.vectorize(Reduce { reduced, row: &row, rows: rows.points, room });
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
fn turn<S: Simd, T: Real, const M: usize>(
    simd: S,
    cyclic: &Cyclic<T>,
    systems: &[System<'_, T>; M],
) {
    let carried = systems.map(|System { application, rows, .. }| {
        rows.carried(application.carried + application.solver.taps() - 1)
    });
    let blocks = |block: usize| {
        systems.map(|System { application, rows, .. }| {
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
    systems: &[System<'_, T>; M],
    block: usize,
) {
    let solver = &*systems[0].application.solver;
    let (first, rows) = (block * BLOCK, systems[0].rows.there(block));
    let kept = solver.taps() - 1 + solver.half_band();
    let at =
        systems.map(|System { application, rows, .. }| rows.of_block(block).at(application.to));
    let carried =
        systems.map(|System { application, rows, .. }| rows.carried(application.carried + kept));
    simd.vectorize(Substitute { solver, block, rows, at, carried });
    for (System { application, tile, rows }, at) in systems.iter().zip(at) {
        if let (Some(coupling), Some(ends)) = (application.coupling, &solver.operator.ends) {
            simd.vectorize(Correct {
                ends,
                planes: job.inflow[coupling.stage],
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
