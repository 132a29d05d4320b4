//! The host's part in lines that are spread over ranks.

use rayon::prelude::*;

use super::tile::SharedField;
use super::{Cpu, Field, Program};
use crate::backend::Weights;
use crate::backend::ranks::{Blocks, Memory, Sum, Sums, TransposeLayout};
use crate::error::Result;
use crate::grid::Axis;
use crate::real::Real;

/// Lines whose sums are taken together: their planes stay in the first cache.
const BLOCK: usize = 512;

/// Sums of planes, coefficients in the fields' precision.
pub struct Combination<T> {
    lines: usize,
    lists: Vec<Vec<Sum<T>>>,
}

impl<T: Real> Blocks for Cpu<T> {
    type Combination = Combination<T>;
    type Staging = Vec<T>;

    fn staging(&self, len: usize) -> Vec<T> {
        vec![T::ZERO; len]
    }

    fn planes(&self, len: usize) -> Result<Field<T>> {
        Ok(Field::zeros(len))
    }

    fn pack(
        &self,
        program: &Program<T>,
        stage: usize,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        planes: &mut [Field<T>],
    ) {
        self.pack(program, stage, read, write, planes);
    }

    fn complete(
        &self,
        program: &Program<T>,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        planes: &[Field<T>],
        weights: Weights,
    ) {
        self.complete(program, read, write, planes, weights);
    }

    fn run_on_beginnings(&self, program: &Program<T>, read: &Field<T>, write: &mut Field<T>) {
        self.run_on_beginnings(program, &[read], &mut [write]);
    }

    fn combination(&self, lines: usize, sums: Sums) -> Result<Combination<T>> {
        let rounded = |terms: Vec<(usize, f64)>| {
            terms.into_iter().map(|(plane, coefficient)| (plane, T::of(coefficient))).collect()
        };
        let rounded_list = |list: Vec<Sum>| {
            list.into_iter().map(|(to, terms)| (to, rounded(terms))).collect::<Vec<_>>()
        };
        Ok(Combination { lines, lists: sums.into_iter().map(rounded_list).collect() })
    }

    fn combine(&self, combination: &Combination<T>, planes: &mut Field<T>) {
        let Combination { lines, lists } = combination;
        let planes = SharedField::new(planes);
        let block = |index: usize| {
            let first = index * BLOCK;
            let count = BLOCK.min(lines - first);
            for (to, terms) in lists.iter().flatten() {
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
        self.within(|| (0..lines.div_ceil(BLOCK)).into_par_iter().for_each(block));
    }

    fn deal(&self, deal: &TransposeLayout, at: usize, field: &Field<T>, parts: &mut Field<T>) {
        let parts = SharedField::new(parts);
        self.for_each_share(deal, |part, m| {
            let lines = deal.share(part);
            let to = start(deal, part, m, at);
            // SAFETY: one value a point and line, each of one share.
            let to = unsafe { parts.slice_mut(to, lines.len()) };
            for (line, to) in lines.zip(to) {
                *to = field[position(deal, line, m)];
            }
        });
    }

    fn collect(&self, deal: &TransposeLayout, at: usize, parts: &Field<T>, field: &mut Field<T>) {
        let field = SharedField::new(field);
        self.for_each_share(deal, |part, m| {
            let lines = deal.share(part);
            let from = start(deal, part, m, at);
            let from = &parts[from..from + lines.len()];
            for (line, from) in lines.zip(from) {
                // SAFETY: one value a point and line, each of one share.
                unsafe { field.slice_mut(position(deal, line, m), 1)[0] = *from };
            }
        });
    }

    fn memory(&self, array: &mut Field<T>) -> Memory {
        Memory::Host(array.as_mut_ptr().cast())
    }

    fn fetch(&self, array: &Field<T>, first: usize, to: &mut [T]) -> Result<()> {
        to.copy_from_slice(&array[first..first + to.len()]);
        Ok(())
    }

    fn put(&self, array: &mut Field<T>, first: usize, values: &[T]) -> Result<()> {
        array[first..first + values.len()].copy_from_slice(values);
        Ok(())
    }
}

impl<T: Real> Cpu<T> {
    /// Do `work` for every part and point of a line.
    fn for_each_share(&self, deal: &TransposeLayout, work: impl Fn(usize, usize) + Sync + Send) {
        let n = deal.points[deal.axis.index()];
        let count = deal.parts * n;
        self.within(|| (0..count).into_par_iter().for_each(|index| work(index / n, index % n)));
    }
}

/// Where the lines of a part lie at point `m` for field `at`.
fn start(deal: &TransposeLayout, part: usize, m: usize, at: usize) -> usize {
    let lines = deal.share(part);
    let n = deal.points[deal.axis.index()];
    lines.start * n * deal.fields + (m * deal.fields + at) * lines.len()
}

/// Where point `m` of a line lies in the field.
fn position(deal: &TransposeLayout, line: usize, m: usize) -> usize {
    let [nx, ny, _] = deal.points;
    match deal.axis {
        Axis::X => line * nx + m,
        Axis::Y => (line / nx * ny + m) * nx + line % nx,
        Axis::Z => m * nx * ny + line,
    }
}
