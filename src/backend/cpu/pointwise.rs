//! Pointwise loops: maps, sums and maxima of formulas.

use rayon::prelude::*;
use smallvec::SmallVec;

use super::strips::{Combine, Max, Sum};
use super::tile::SharedField;
use super::{Cpu, Field, MAX_FIELDS, PointCode};
use crate::backend::OnPart;
use crate::engine::{Planes, PointFormula, Use};
use crate::real::Real;
use crate::simd::array_of;

/// Points per task; `SMALL_CHUNK` for [`MANY_FIELDS`] fields or more. Fixed, so that sums do not depend on the
/// number of threads.
const CHUNK: usize = 4096;
const SMALL_CHUNK: usize = 1024;
const MANY_FIELDS: usize = 16;

impl<T: Real> Cpu<T> {
    /// Evaluates a map at every point: its results replace the values of `write`.
    ///
    /// # Panics
    /// If fields differ in length, or their number is not that of the formula.
    pub fn map(
        &self,
        code: &PointCode,
        read: &[&Field<T>],
        write: &mut [&mut Field<T>],
        parameters: &[f64],
    ) {
        let (formula, len) = (&code.formula, write[0].len());
        assert!(lengths_match(formula, read, len) && write.iter().all(|w| w.len() == len));
        let mut shared = [const { None }; MAX_FIELDS];
        for (shared, field) in shared.iter_mut().zip(&mut *write) {
            *shared = Some(SharedField::new(field));
        }
        let (reads, writes) = (read.len(), write.len());
        let size = chunk_size(reads + writes);
        let task = |chunk: usize| {
            for (start, end) in spans(formula, (chunk, size), len) {
                let read = parts(read, start, end);
                let mut write = shared.map(|field| match field {
                    // SAFETY: spans of chunks are disjoint, and each is visited by one task.
                    Some(field) => unsafe { field.slice_mut(start, end - start) },
                    None => &mut [],
                });
                code.map(self.arch, &read[..reads], &mut write[..writes], parameters);
            }
        };
        self.pool.install(|| (0..len.div_ceil(size)).into_par_iter().for_each(task));
    }

    /// Sums or maxima of the results of a formula over all points, in f64 and in a fixed order.
    ///
    /// # Panics
    /// If fields differ in length, or their number is not that of the formula.
    pub fn reduce<const W: usize>(
        &self,
        code: &PointCode,
        read: &[&Field<T>],
        parameters: &[f64],
    ) -> [f64; W] {
        let mut totals = [0.0; W];
        self.reduce_to(code, read, parameters, &mut totals);
        totals
    }

    pub(super) fn reduce_to(
        &self,
        code: &PointCode,
        read: &[&Field<T>],
        parameters: &[f64],
        totals: &mut [f64],
    ) {
        assert_eq!(totals.len(), code.formula.results.len(), "results of a formula");
        match code.formula.of {
            Use::Sum => self.combine::<Sum>(code, read, parameters, totals),
            Use::Max => self.combine::<Max>(code, read, parameters, totals),
            Use::Map => unreachable!("made for a map"),
        }
    }

    fn combine<C: Combine>(
        &self,
        code: &PointCode,
        read: &[&Field<T>],
        parameters: &[f64],
        totals: &mut [f64],
    ) {
        let (formula, len, width) = (&code.formula, read[0].len(), totals.len());
        assert!(lengths_match(formula, read, len));
        let size = chunk_size(read.len());
        let chunks = len.div_ceil(size);
        // The buffer is moved out of the lock: a concurrent reduction on the same threads allocates its own.
        let mut partials = match self.partials.lock() {
            Ok(mut partials) => std::mem::take(&mut *partials),
            Err(poisoned) => std::mem::take(&mut *poisoned.into_inner()),
        };
        partials.clear();
        partials.resize(chunks * width, C::IDENTITY);
        let reduce_chunk = |(chunk, to): (usize, &mut [f64])| {
            for (start, end) in spans(formula, (chunk, size), len) {
                let fields = parts(read, start, end);
                let span_results =
                    code.reduce::<C, T>(self.arch, &fields[..read.len()], parameters);
                to.iter_mut().zip(span_results).for_each(|(to, of)| *to = C::combine(*to, of));
            }
        };
        let slots: &mut [f64] = &mut partials;
        self.pool.install(|| slots.par_chunks_mut(width).enumerate().for_each(reduce_chunk));

        // Pairwise summation: the error of the sum grows with the logarithm of the number of chunks.
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
        if let Ok(mut stored) = self.partials.lock() {
            *stored = partials;
        }
    }
}

/// Number of points of a part that are gathered from fields together, and maximum number of such rows, so that
/// a time step allocates nothing.
const ROW_POINTS: usize = 32;
const MAX_ROWS: usize = 128;
/// Minimum number of rows per task.
const MIN_ROWS_PER_TASK: usize = 16;

impl<T: Real> Cpu<T> {
    /// Evaluates a map at the points of its part.
    pub(super) fn map_part(
        &self,
        (OnPart { points, part, reads, own, .. }, code): &(OnPart, PointCode),
        fields: &mut [&mut Field<T>],
        parameters: &[f64],
    ) {
        assert!(reads.len() + fields.len() <= MAX_ROWS, "fields of a map at some points");
        let (count, full) = (fields.len(), fields.len() - own);
        let mut shared = [const { None }; MAX_ROWS];
        for (shared, field) in shared.iter_mut().zip(&mut *fields) {
            *shared = Some(SharedField::new(field));
        }
        let row = |buffer: &mut [T; MAX_ROWS * ROW_POINTS], row: usize| {
            let first = row * ROW_POINTS;
            let items = ROW_POINTS.min(part.len() - first);
            let positions: [usize; ROW_POINTS] = array_of(|item| {
                let [i, j, k] = part.index(first + item);
                i + points[0] * (j + points[1] * k)
            });
            let places: [usize; ROW_POINTS] = array_of(|item| first + item);
            let places = |field: usize| if field < full { &positions } else { &places };
            let shared = |field: usize| shared[field].unwrap_or_else(|| unreachable!("of {count}"));
            let value = |from: SharedField<T>, place: usize| {
                // SAFETY: no point that is read at an offset is written, and each point of the part belongs to one row.
                let points = unsafe { from.slice(place, 1) };
                points[0]
            };
            let (read, write) = buffer.split_at_mut(reads.len() * ROW_POINTS);
            for ((field, offset), row) in reads.iter().zip(read.chunks_mut(ROW_POINTS)) {
                let from = shared(*field);
                for (to, position) in row[..items].iter_mut().zip(positions) {
                    *to = value(from, position.strict_add_signed(*offset));
                }
            }
            let mut rows: SmallVec<[&mut [T]; MAX_ROWS]> = SmallVec::new();
            for (field, row) in write.chunks_mut(ROW_POINTS).take(count).enumerate() {
                let row = &mut row[..items];
                let from = shared(field);
                for (to, place) in row.iter_mut().zip(places(field)) {
                    *to = value(from, *place);
                }
                rows.push(row);
            }
            let read: SmallVec<[&[T]; MAX_ROWS]> =
                read.chunks(ROW_POINTS).map(|row| &row[..items]).collect();
            code.map(self.arch, &read, &mut rows, parameters);
            for (field, row) in rows.into_iter().enumerate() {
                for (value, place) in row.iter().zip(places(field)) {
                    // SAFETY: as above, and one task visits a row.
                    let to = unsafe { shared(field).slice_mut(*place, 1) };
                    to[0] = *value;
                }
            }
        };
        let rows =
            (0..part.len().div_ceil(ROW_POINTS)).into_par_iter().with_min_len(MIN_ROWS_PER_TASK);
        self.pool.install(|| rows.for_each_init(|| [T::ZERO; MAX_ROWS * ROW_POINTS], row));
    }
}

/// The points `start..end` of fields; for plane fields they must lie in one plane.
fn parts<'a, T: Real>(fields: &[&'a Field<T>], start: usize, end: usize) -> [&'a [T]; MAX_FIELDS] {
    let part = |field: &&'a Field<T>| {
        let first = start % field.len();
        &field[first..first + (end - start)]
    };
    array_of(|at| fields.get(at).map_or(&[][..], part))
}

/// Points per task for the given number of fields.
fn chunk_size(fields: usize) -> usize {
    if fields < MANY_FIELDS { CHUNK } else { SMALL_CHUNK }
}

/// Spans of a chunk of `size` points, of `len` points in all, split at the ends of planes that a formula reads.
fn spans(
    formula: &PointFormula,
    (chunk, size): (usize, usize),
    len: usize,
) -> impl Iterator<Item = (usize, usize)> + use<> {
    let end = len.min((chunk + 1) * size);
    let plane = formula.planes.map_or(len, |planes| planes.points);
    let after = move |start: usize| end.min((start / plane + 1) * plane);
    let first = chunk * size;
    std::iter::successors(Some((first, after(first))), move |&(_, start)| {
        (start < end).then(|| (start, after(start)))
    })
}

/// True if fields of `len` points, and planes, have the expected lengths.
fn lengths_match<T: Real>(formula: &PointFormula, read: &[&Field<T>], len: usize) -> bool {
    let length = |at: usize| match formula.planes {
        Some(Planes { first, points }) if at >= first => points,
        _ => len,
    };
    read.iter().enumerate().all(|(at, field)| field.len() == length(at))
}
