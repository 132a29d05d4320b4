//! Solution of line systems by a reduction, complete lines of a tile at once.

use pulp::{Simd, WithSimd};

use super::rows::lanes;
use crate::backend::device::{LineSolver, OnHost, tolerance};
use crate::engine::LineOperator;
use crate::lines::{Reduced, TRIDIAGONAL_ONLY};
use crate::real::Real;

/// Why the host cannot solve for `operator` with `solver`, as a sentence that names the possible solvers; `None` if it
/// can.
pub fn why_unsupported(solver: LineSolver, operator: &LineOperator) -> Option<String> {
    let name = solver.name();
    if let Some(why) = solver.unavailable_on_host() {
        return Some(format!("the line solver `{name}` is not available on the CPU: {why}"));
    }
    let limitation = limitation(solver, operator)?;
    let is_suitable = |other: &LineSolver| {
        other.unavailable_on_host().is_none() && self::limitation(*other, operator).is_none()
    };
    let others = LineSolver::ALL.into_iter().filter(is_suitable);
    let names: Vec<_> = others.map(|other| format!("`{}`", other.name())).collect();
    Some(format!("the line solver `{name}` {limitation}; use {}", names.join(", ")))
}

/// The reason why an available solver cannot solve for `operator`, as the end of a sentence.
fn limitation(solver: LineSolver, operator: &LineOperator) -> Option<String> {
    match operator.matrix().half_band() {
        0 => None,
        2 if !solver.is_pentadiagonal() => Some(TRIDIAGONAL_ONLY.into()),
        _ => match solver.on_host() {
            OnHost::Reduction(reduction) => {
                reduction.lacks(operator.matrix(), tolerance(operator.precision))
            }
            OnHost::Elimination | OnHost::Never(_) => None,
        },
    }
}

/// Replaces the right-hand sides of the lines of a tile by their solution.
pub(super) struct Reduce<'a, T> {
    pub(super) reduced: &'a Reduced<T>,
    /// Location of row m.
    pub(super) row: &'a dyn Fn(usize) -> *mut T,
    /// Number of rows.
    pub(super) rows: usize,
    /// Workspace for as many rows, and for those of [`Reduced::workspace`].
    pub(super) workspace: *mut T,
}

impl<T: Real> WithSimd for Reduce<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match const { lanes::<T>() } {
            8 => self.lines::<8>(),
            16 => self.lines::<16>(),
            _ => unreachable!("numbers have four or eight bytes"),
        }
    }
}

impl<T: Real> Reduce<'_, T> {
    /// Solves W lines, in contiguous rows.
    #[inline(always)]
    fn lines<const W: usize>(&self) {
        let Self { reduced, row, rows, workspace } = *self;
        let all = rows + reduced.workspace(W);
        // SAFETY: carried rows of W numbers, of this thread's memory, without other references.
        let all = unsafe { std::slice::from_raw_parts_mut(workspace.cast::<[T; W]>(), all) };
        let (x, workspace) = all.split_at_mut(rows);
        for (m, x) in x.iter_mut().enumerate() {
            // SAFETY: a row of the tile, of this thread's memory.
            *x = unsafe { row(m).cast::<[T; W]>().read() };
        }
        reduced.solve(x, workspace);
        for (m, x) in x.iter().enumerate() {
            // SAFETY: as above.
            unsafe { row(m).cast::<[T; W]>().write(*x) };
        }
    }
}
