//! Host part of the solution of lines that are split across ranks.

use std::ops::Range;

use rayon::prelude::*;

use super::block_solver::Solver;
use super::tile::SharedField;
use super::{Cpu, Field as Values};
use crate::backend::handles::{BlockSolver, Combination, Field, Program, all, all_mut};
use crate::backend::ranks::{Blocks, Memory, Staging, Sum, Sums, TransposeLayout};
use crate::backend::{Backend, Sources, Targets, Weights};
use crate::blocks::Sweeps;
use crate::error::Result;
use crate::grid::Axis;
use crate::real::{Real, bytes_of, bytes_of_mut};

/// Lines whose sums are evaluated together: their planes stay in the L1 cache.
const LINES_AT_ONCE: usize = 512;

/// Linear combinations of planes, with coefficients in the fields' precision.
struct PlaneSums<T> {
    lines: usize,
    sums: Vec<Sum<T>>,
}

impl<T: Real> Blocks for Cpu<T> {
    fn staging(&self, values: usize) -> Staging {
        Staging::new(values * size_of::<T>())
    }

    fn planes(&self, len: usize) -> Result<Field> {
        self.zeros(len)
    }

    fn pack(
        &self,
        program: &Program,
        stage: usize,
        read: Sources,
        write: Targets,
        planes: &mut [Field],
    ) {
        let (read, mut write) = (all(read), all_mut(write));
        self.pack(program.get(), stage, &read, &mut write, &mut all_mut(planes));
    }

    fn complete(
        &self,
        program: &Program,
        read: Sources,
        write: Targets,
        planes: &[Field],
        weights: Weights,
    ) {
        let (read, mut write) = (all(read), all_mut(write));
        self.complete(program.get(), &read, &mut write, &all(planes), weights, false);
    }

    fn run_on_leading_values(&self, program: &Program, read: &Field, write: &mut Field) {
        let (read, write) = ([read.get()], &mut [write.get_mut()]);
        self.complete(program.get(), &read, write, &[], Weights::SET, true);
    }

    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination> {
        let rounded = |(plane, coefficient): (usize, f64)| (plane, T::of(coefficient));
        let sum = |(to, terms): Sum| (to, terms.into_iter().map(rounded).collect());
        let sums = sums.into_iter().flatten().map(sum).collect();
        Ok(Combination::new(PlaneSums::<T> { lines, sums }))
    }

    fn combine(&self, combination: &Combination, planes: &mut Field) {
        let PlaneSums::<T> { lines, sums } = combination.get();
        let planes = SharedField::new(planes.get_mut::<Values<T>>());
        let block = |index: usize| {
            let first = index * LINES_AT_ONCE;
            let count = LINES_AT_ONCE.min(lines - first);
            for (to, terms) in sums {
                // SAFETY: no two blocks share a value, and no sum is a term of itself.
                let to = unsafe { planes.slice_mut(to * lines + first, count) };
                to.fill(T::ZERO);
                for (plane, coefficient) in terms {
                    // SAFETY: as above.
                    let from = unsafe { planes.slice(plane * lines + first, count) };
                    for (to, from) in to.iter_mut().zip(from) {
                        *to += *coefficient * *from;
                    }
                }
            }
        };
        self.within(|| (0..lines.div_ceil(LINES_AT_ONCE)).into_par_iter().for_each(block));
    }

    fn deal(&self, layout: &TransposeLayout, at: usize, field: &Field, parts: &mut Field) {
        let field: &Values<T> = field.get();
        let parts = SharedField::new(parts.get_mut::<Values<T>>());
        self.for_each_share(layout, at, |lines, to, m| {
            // SAFETY: one value per point and line, each of one share.
            let to = unsafe { parts.slice_mut(to, lines.len()) };
            for (line, to) in lines.zip(to) {
                *to = field[position(layout, line, m)];
            }
        });
    }

    fn collect(&self, layout: &TransposeLayout, at: usize, parts: &Field, field: &mut Field) {
        let parts: &Values<T> = parts.get();
        let field = SharedField::new(field.get_mut::<Values<T>>());
        self.for_each_share(layout, at, |lines, from, m| {
            let from = &parts[from..from + lines.len()];
            for (line, from) in lines.zip(from) {
                // SAFETY: one value per point and line, each of one share.
                unsafe { field.slice_mut(position(layout, line, m), 1)[0] = *from };
            }
        });
    }

    fn sweep_blocks_with_exchange(
        &self,
        solver: &mut BlockSolver,
        sweeps: Sweeps,
        b: Sources,
        x: Targets,
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    ) {
        solver.get_mut::<Solver>().sweep(self, sweeps, &all(b), &mut all_mut(x), exchange);
    }

    fn memory(&self, array: &mut Field) -> Memory {
        Memory::Host(array.get_mut::<Values<T>>().as_mut_ptr().cast())
    }

    fn fetch(&self, array: &Field, first: usize, to: &mut [u8]) -> Result<()> {
        let array: &Values<T> = array.get();
        to.copy_from_slice(&bytes_of(array)[first * size_of::<T>()..][..to.len()]);
        Ok(())
    }

    fn put(&self, array: &mut Field, first: usize, from: &[u8]) -> Result<()> {
        let array: &mut Values<T> = array.get_mut();
        bytes_of_mut(array)[first * size_of::<T>()..][..from.len()].copy_from_slice(from);
        Ok(())
    }
}

impl<T: Real> Cpu<T> {
    /// Calls `work` for every part and point m of a line, with the lines of the part, their storage location there for
    /// field `at`, and m.
    fn for_each_share(
        &self,
        layout: &TransposeLayout,
        at: usize,
        work: impl Fn(Range<usize>, usize, usize) + Sync + Send,
    ) {
        let n = layout.points[layout.axis.index()];
        let share = |index: usize| {
            let (lines, m) = (layout.share(index / n), index % n);
            let start = lines.start * n * layout.fields + (m * layout.fields + at) * lines.len();
            work(lines, start, m);
        };
        self.within(|| (0..layout.parts * n).into_par_iter().for_each(share));
    }
}

/// Index of point `m` of a line in the field.
fn position(layout: &TransposeLayout, line: usize, m: usize) -> usize {
    let [nx, ny, _] = layout.points;
    match layout.axis {
        Axis::X => line * nx + m,
        Axis::Y => (line / nx * ny + m) * nx + line % nx,
        Axis::Z => m * nx * ny + line,
    }
}
