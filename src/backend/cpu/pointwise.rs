//! Loops that look at one point at a time: maps, sums and maxima of formulas.

use rayon::prelude::*;
use smallvec::SmallVec;

use super::tile::SharedField;
use super::{Cpu, Field, MAX_FIELDS};
use crate::engine::{Code, Combine, Max, OverPoints, PointFormula, Sum};
use crate::grid::Block;
use crate::real::Real;

/// Points that one task works on. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;

impl<T: Real> Cpu<T> {
    /// Evaluate `formula` at every point: its results replace the values of `write`.
    ///
    /// # Panics
    /// Where fields differ in length, or there are not as many as the formula has.
    pub fn map(
        &self,
        formula: &PointFormula,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        parameters: &[f64],
    ) {
        let len = write[0].len();
        assert!(read.iter().all(|r| r.len() == len) && write.iter().all(|w| w.len() == len));
        let mut shared = [const { None }; MAX_FIELDS];
        for (shared, field) in shared.iter_mut().zip(&mut *write) {
            *shared = Some(SharedField::new(field));
        }
        let (reads, writes) = (read.len(), write.len());
        let task = |chunk: usize| {
            let (start, end) = (chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            let read = parts(read, start, end);
            let mut write = shared.map(|field| match field {
                // SAFETY: chunks are disjoint, and each is visited by one task.
                Some(field) => unsafe { field.slice_mut(start, end - start) },
                None => &mut [],
            });
            formula.evaluate(self.arch, &read[..reads], &mut write[..writes], parameters);
        };
        self.pool.install(|| (0..len.div_ceil(CHUNK)).into_par_iter().for_each(task));
    }

    /// Σ over all points of the results of `formula`, or their largest values, in f64 and in a fixed order.
    ///
    /// # Panics
    /// Where fields differ in length, or there are not as many as the formula has.
    pub fn reduce<const W: usize>(
        &self,
        formula: &PointFormula,
        read: &[&Field<T>],
        parameters: &[f64],
    ) -> [f64; W] {
        let mut totals = [0.0; W];
        self.reduce_to(formula, read, parameters, &mut totals);
        totals
    }

    pub(super) fn reduce_to(
        &self,
        formula: &PointFormula,
        read: &[&Field<T>],
        parameters: &[f64],
        totals: &mut [f64],
    ) {
        assert_eq!(totals.len(), formula.results.len(), "results of a formula");
        match &formula.code {
            Code::Sum(code) => self.combine::<Sum>(&**code, read, parameters, totals),
            Code::Max(code) => self.combine::<Max>(&**code, read, parameters, totals),
            Code::Map(_) => unreachable!("made for a map"),
        }
    }

    fn combine<C: Combine>(
        &self,
        code: &dyn OverPoints,
        read: &[&Field<T>],
        parameters: &[f64],
        totals: &mut [f64],
    ) {
        let (len, width) = (read[0].len(), totals.len());
        assert!(read.iter().all(|r| r.len() == len));
        let chunks = len.div_ceil(CHUNK);
        // Taken out of the lock: another reduction on the same threads then makes its own.
        let mut partials = match self.partials.lock() {
            Ok(mut partials) => std::mem::take(&mut *partials),
            Err(poisoned) => std::mem::take(&mut *poisoned.into_inner()),
        };
        partials.clear();
        partials.resize(chunks * width, C::IDENTITY);
        let one = |(chunk, to): (usize, &mut [f64])| {
            let fields = parts(read, chunk * CHUNK, len.min((chunk + 1) * CHUNK));
            code.reduce(self.arch, &fields[..read.len()], to, parameters);
        };
        let slots: &mut [f64] = &mut partials;
        self.pool.install(|| slots.par_chunks_mut(width).enumerate().for_each(one));

        // Pairs of pairs: the error of the sum grows with the logarithm of the number of chunks.
        let mut count = chunks;
        while count > 1 {
            let half = count.div_ceil(2);
            for i in 0..count / 2 {
                for k in 0..width {
                    let pair = (partials[2 * i * width + k], partials[(2 * i + 1) * width + k]);
                    partials[i * width + k] = C::combine(pair.0, pair.1);
                }
            }
            if count % 2 == 1 {
                partials.copy_within((count - 1) * width..count * width, (half - 1) * width);
            }
            count = half;
        }
        totals.copy_from_slice(&partials[..width]);
        if let Ok(mut kept) = self.partials.lock() {
            *kept = partials;
        }
    }
}

/// A map at some of the points.
pub(super) struct OnPart {
    pub(super) formula: PointFormula,
    /// Points that fields hold.
    pub(super) points: [usize; 3],
    pub(super) part: Block,
    /// (field, values further on) of everything that it reads.
    pub(super) reads: Vec<(usize, isize)>,
    /// So many of the last fields hold the points of the part alone.
    pub(super) own: usize,
}

/// Points of a part that are taken out of fields together, and most rows of them: a step allocates nothing.
const ROW: usize = 32;
const ROWS: usize = 96;

impl<T: Real> Cpu<T> {
    /// Evaluate a map at the points of its part.
    pub(super) fn map_part(
        &self,
        OnPart { formula, points, part, reads, own }: &OnPart,
        fields: &mut [&mut Field<T>],
        parameters: &[f64],
    ) {
        let mut taken = [T::ZERO; ROWS * ROW];
        assert!(reads.len() + fields.len() <= ROWS, "fields of a map at some points");
        for first in (0..part.len()).step_by(ROW) {
            let count = ROW.min(part.len() - first);
            let position = |item: usize| {
                let [i, j, k] = part.index(first + item);
                i + points[0] * (j + points[1] * k)
            };
            let whole = fields.len() - own;
            let place = |field: usize, item: usize| {
                if field < whole { position(item) } else { first + item }
            };
            let (read, write) = taken.split_at_mut(reads.len() * ROW);
            for ((field, away), row) in reads.iter().zip(read.chunks_mut(ROW)) {
                for (item, value) in row[..count].iter_mut().enumerate() {
                    *value = fields[*field][position(item).strict_add_signed(*away)];
                }
            }
            let mut rows: SmallVec<[&mut [T]; ROWS]> = SmallVec::new();
            for (at, (field, row)) in fields.iter().zip(write.chunks_mut(ROW)).enumerate() {
                let row = &mut row[..count];
                for (item, value) in row.iter_mut().enumerate() {
                    *value = field[place(at, item)];
                }
                rows.push(row);
            }
            let read: SmallVec<[&[T]; ROWS]> = read.chunks(ROW).map(|row| &row[..count]).collect();
            formula.evaluate(self.arch, &read, &mut rows, parameters);
            for (at, (field, row)) in fields.iter_mut().zip(rows).enumerate() {
                for (item, value) in row.iter().enumerate() {
                    field[place(at, item)] = *value;
                }
            }
        }
    }
}

/// The points `start..end` of fields.
fn parts<'a, T: Real>(fields: &[&'a Field<T>], start: usize, end: usize) -> [&'a [T]; MAX_FIELDS] {
    std::array::from_fn(|at| fields.get(at).map_or(&[][..], |field| &field[start..end]))
}
