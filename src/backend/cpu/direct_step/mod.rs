//! One operator from field to field, without the blocks of a sweep. Along y and z the forward pass reads one field; along
//! x its lines are transposed into rows before. The backward pass writes the other field. Meanwhile the next tile is
//! prefetched.

mod rows;

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::closed::AtEnd;
use super::copy::{Load, Points, Store};
use super::eliminate::{five_points, for_rows, weights};
use super::memory::{cache_lines, prefetch_row, prefetch_rows, stream};
use super::rows::{BLOCK, GROUP, lanes};
use super::solver::{Cyclic, Factored, SolveMethod, Solver};
use super::tile::Group;
use super::vectors::{for_pairs, splats, vectors};
use crate::real::Real;
use crate::simd::array_of;
use rows::{ClosedRows, CorrectedRows, Lower, PeriodicRows, Upper};

/// Cache lines per row along y and z: memory transfers several neighbouring ones faster.
pub(super) const COLUMNS: usize = 8;

/// Rows of the next tile along y and z that are prefetched in the backward pass. More would not stay in the L2 cache.
const ROWS_AHEAD: usize = 256;

/// Carried rows: of the operand m−2, ..., m+1, then these.
const CARRIED_POINTS: usize = 4;
/// y[m−1], later y[n−1].
const Y: usize = CARRIED_POINTS;
/// x[m+1].
const X: usize = Y + 1;
const CARRIED: usize = X + 1;

/// A⁻¹ B of a tridiagonal operator with five points per row of B, on a tile that it [supports](DirectStep::supports).
pub(super) struct DirectStep<'a, T> {
    pub(super) solver: &'a Solver<T>,
    pub(super) tile: Group,
    /// Complete fields, maybe the same one; no other thread accesses their points of the tile.
    pub(super) from: *const T,
    pub(super) to: *mut T,
    /// The field and the tile that are read next.
    pub(super) next: Option<(*const T, Group)>,
    /// [`DirectStep::workspace_len`] initialised numbers of this thread, which begin at a cache line.
    pub(super) workspace: *mut T,
    /// Whether the results bypass the caches because they are not needed soon; each row of the tile, along x each line,
    /// then is complete cache lines of `to`.
    pub(super) bypass_caches: bool,
}

fn is_along_x(tile: &Group) -> bool {
    tile.line_stride != 1
}

impl<T: Real> DirectStep<'_, T> {
    /// True if these lines can be processed here.
    pub(super) fn supports(solver: &Solver<T>, tile: &Group) -> bool {
        let columns = if is_along_x(tile) { 1 } else { COLUMNS };
        tile.lines == columns * lanes::<T>() && tile.n > 2 && solver.is_of_five_points()
    }

    /// Size of the workspace, in numbers: the carried rows, those of the points of the tile, and along x those of the
    /// operand.
    pub(super) fn workspace_len(tile: &Group) -> usize {
        let operand = if is_along_x(tile) { tile.n.next_multiple_of(GROUP) } else { 0 };
        (CARRIED + tile.n + operand) * tile.lines
    }
}

impl<T: Real> WithSimd for DirectStep<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match &self.solver.method {
            SolveMethod::Cyclic(cyclic) => self.lines(simd, cyclic),
            SolveMethod::Factored(factored) => self.lines(simd, factored),
            SolveMethod::Reduced(_) => unreachable!("these lines are not taken"),
        }
    }
}

/// A pass over the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Forward,
    Backward,
}

/// A factored matrix.
trait Matrix<T: Real> {
    /// The forward pass over block `block`.
    fn forward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize);
    /// y[n−1] and x[n] after the forward pass over all blocks; 0 if the ends of the lines are not coupled.
    fn close<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>);
    /// The backward pass over block `block`.
    fn backward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize);
}

impl<T: Real> Matrix<T> for Cyclic<T> {
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize) {
        step.forward(simd, block, &PeriodicRows { factor: self.factor });
    }

    #[inline(always)]
    fn close<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>) {
        let [wrap, correction] = splats(simd, [self.wrap, self.correction]);
        for_pairs!(step.vectors::<S>(), N, h => {
            let mut sums = [T::splat(simd, T::ZERO); N];
            for m in 0..self.significant {
                let power = T::splat(simd, self.powers[m / BLOCK][m % BLOCK][0]);
                let y = step.vector::<S>(step.intermediate(m), h);
                for v in 0..N {
                    // SAFETY: vectors of a row of the workspace.
                    sums[v] = unsafe { T::fma(simd, power, *y.wrapping_add(v), sums[v]) };
                }
            }
            for v in 0..N {
                // SAFETY: carried rows.
                unsafe {
                    let last = step.vector::<S>(step.carried(Y), h + v);
                    *last = T::times(simd, wrap, *last);
                    let sum = T::fma(simd, correction, *last, sums[v]);
                    *step.vector::<S>(step.carried(X), h + v) = T::times(simd, wrap, sum);
                }
            }
        });
    }

    #[inline(always)]
    fn backward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize) {
        let factor = self.factor;
        match self.powers.get(block) {
            Some(powers) => step.backward(simd, block, &CorrectedRows { factor, powers }),
            None => step.backward(simd, block, &PeriodicRows { factor }),
        }
    }
}

impl<T> Factored<T> {
    fn rows(&self, block: usize) -> ClosedRows<'_, T> {
        ClosedRows { lower: &self.lower[block], upper: &self.upper[block] }
    }
}

impl<T: Real> Matrix<T> for Factored<T> {
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize) {
        step.forward(simd, block, &self.rows(block));
    }

    #[inline(always)]
    fn close<S: Simd>(&self, _: S, step: &DirectStep<'_, T>) {
        // SAFETY: two carried rows.
        unsafe { step.carried(Y).write_bytes(0, (CARRIED - Y) * step.tile.lines) };
    }

    #[inline(always)]
    fn backward<S: Simd>(&self, simd: S, step: &DirectStep<'_, T>, block: usize) {
        step.backward(simd, block, &self.rows(block));
    }
}

impl<T: Real> DirectStep<'_, T> {
    /// Solves all lines.
    #[inline(always)]
    fn lines<S: Simd>(&self, simd: S, matrix: &impl Matrix<T>) {
        let (n, inner) = (self.tile.n, self.solver.inner());
        let blocks = n.div_ceil(BLOCK);
        if is_along_x(&self.tile) {
            (0..blocks).for_each(|block| self.load(simd, block));
        }
        for (at, m) in (inner.start + n - 2..).take(CARRIED_POINTS).enumerate() {
            // SAFETY: a row of the operand, and a carried one.
            unsafe { self.operand(m % n).copy_to(self.carried(at), self.tile.lines) };
        }
        // SAFETY: a carried row.
        unsafe { self.carried(Y).write_bytes(0, self.tile.lines) };
        for block in 0..blocks {
            for end in &self.solver.ends[block] {
                let (to, factors) = (self.intermediate(end.rows.start), |m| [self.operand(m)]);
                simd.vectorize(AtEnd { end, factors, columns: self.columns(), to });
            }
            self.prefetch_next(block, Pass::Forward);
            matrix.forward(simd, self, block);
        }
        matrix.close(simd, self);
        for block in (0..blocks).rev() {
            self.prefetch_next(blocks - 1 - block, Pass::Backward);
            matrix.backward(simd, self, block);
            self.store(simd, block);
        }
    }

    /// Cache lines per row.
    #[inline(always)]
    fn columns(&self) -> usize {
        self.tile.lines / lanes::<T>()
    }

    /// Number of vectors per row.
    #[inline(always)]
    fn vectors<S: Simd>(&self) -> usize {
        self.columns() * const { vectors::<S, T>() }
    }

    /// Vector `h` of a row.
    #[inline(always)]
    fn vector<S: Simd>(&self, row: *mut T, h: usize) -> *mut T::Vector<S> {
        row.cast::<T::Vector<S>>().wrapping_add(h)
    }

    /// Row `m` of the operand; along y and z it is in the field.
    #[inline(always)]
    fn operand(&self, m: usize) -> *const T {
        match is_along_x(&self.tile) {
            true => self.intermediate(self.tile.n + m),
            false => self.from.wrapping_add(self.tile.start + m * self.tile.stride),
        }
    }

    /// Bytes from a row of the operand to the next.
    #[inline(always)]
    fn operand_bytes(&self) -> usize {
        match is_along_x(&self.tile) {
            true => self.row_bytes(),
            false => self.tile.stride * size_of::<T>(),
        }
    }

    #[inline(always)]
    fn intermediate(&self, m: usize) -> *mut T {
        self.workspace.wrapping_add((CARRIED + m) * self.tile.lines)
    }

    #[inline(always)]
    fn carried(&self, at: usize) -> *mut T {
        self.workspace.wrapping_add(at * self.tile.lines)
    }

    /// Bytes from a row of the workspace to the next.
    #[inline(always)]
    fn row_bytes(&self) -> usize {
        self.tile.lines * size_of::<T>()
    }

    /// The points of a block.
    #[inline(always)]
    fn points(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.tile.n.min((block + 1) * BLOCK)
    }

    /// Copies a block of the field to the rows of the operand.
    #[inline(always)]
    fn load<S: Simd>(&self, simd: S, block: usize) {
        let first = block * BLOCK;
        simd.vectorize(Load {
            points: Points { tile: self.tile, first },
            field: self.from,
            to: self.operand(first).cast_mut(),
            column_stride: 0,
            prefetch_ahead: false,
        });
    }

    /// Prefetches a block of the next tile: along x half of its lines in each pass; along y and z, where the forward pass
    /// reads the field itself, all of them in the backward pass.
    #[inline(always)]
    fn prefetch_next(&self, block: usize, pass: Pass) {
        let Some((field, next)) = self.next else { return };
        let Group { start, lines, stride, line_stride, .. } = next;
        let points = self.points(block);
        let from = field.wrapping_add(start + points.start * stride);
        match (is_along_x(&next), pass) {
            (true, _) => {
                let first = if pass == Pass::Forward { 0 } else { lines / 2 };
                let from = from.wrapping_add(first * line_stride);
                prefetch_rows(from, line_stride, lines / 2, const { cache_lines::<T>(BLOCK) });
            }
            (false, Pass::Backward) if points.start < ROWS_AHEAD => {
                prefetch_rows(from, stride, points.len(), COLUMNS);
            }
            (false, _) => {}
        }
    }

    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, block: usize, matrix: &impl Lower<T>) {
        match self.solver.stencil.odd {
            true => self.eliminate::<S, _, true>(simd, block, matrix),
            false => self.eliminate::<S, _, false>(simd, block, matrix),
        }
    }

    #[inline(always)]
    fn eliminate<S: Simd, M: Lower<T>, const ODD: bool>(&self, simd: S, block: usize, matrix: &M) {
        let (points, n, inner) = (self.points(block), self.tile.n, self.solver.inner());
        let weights = weights(simd, &self.solver.stencil);
        let all = self.vectors::<S>();
        let prefetched = if is_along_x(&self.tile) { 0 } else { BLOCK.div_ceil(all.div_ceil(2)) };
        for_pairs!(all, N, h => {
            // Prefetch the rows of the next block, some with each pair of vectors.
            let next = (points.start + BLOCK + h / 2 * prefetched..n).take(prefetched);
            for m in next.take_while(|m| *m < points.start + 2 * BLOCK) {
                prefetch_row(self.operand(m), COLUMNS);
            }
            let operand = |m: usize| {
                let row = self.operand(if m < n { m } else { m - n });
                row.cast::<T::Vector<S>>().wrapping_add(h)
            };
            let mut to = self.vector::<S>(self.intermediate(points.start), h);
            // SAFETY: rows of the operand, of the workspace, and carried ones; vectors of a field need not be aligned.
            unsafe {
                let [mut a, mut b, mut c, mut d, mut y] = array_of::<_, 5>(|at| {
                    array_of::<_, N>(|v| *self.vector::<S>(self.carried(at), h + v))
                });
                macro_rules! solve {
                    ($r:expr, $v:expr, $sum:expr) => {
                        let sum = matrix.scaled(simd, $r, $sum);
                        y[$v] = T::fma(simd, T::splat(simd, matrix.factor($r)), y[$v], sum);
                    };
                }
                macro_rules! eliminate {
                    ($r:expr, $ahead:expr) => {
                        for v in 0..N {
                            let e = $ahead.wrapping_add(v).read_unaligned();
                            let operand = [a[v], b[v], c[v], d[v], e];
                            let sum = five_points::<S, T, ODD>(simd, weights, operand);
                            solve!($r, v, sum);
                            *to.wrapping_add(v) = y[v];
                            (a[v], b[v], c[v], d[v]) = (b[v], c[v], d[v], e);
                        }
                    };
                }
                for start in points.clone().step_by(GROUP) {
                    let (end, first) = (start + GROUP, start % BLOCK);
                    if inner.start <= start && end <= inner.end && end + 2 <= n {
                        let mut ahead = operand(start + 2);
                        for_rows!(R in 0 1 2 3 4 5 6 7 {
                            eliminate!(first + R, ahead);
                            ahead = ahead.wrapping_byte_add(self.operand_bytes());
                            to = to.wrapping_byte_add(self.row_bytes());
                        });
                        continue;
                    }
                    for m in start..end.min(points.end) {
                        if inner.contains(&m) {
                            eliminate!(m % BLOCK, operand(m + 2));
                        } else {
                            for v in 0..N {
                                let at = to.wrapping_add(v);
                                solve!(m % BLOCK, v, *at);
                                *at = y[v];
                            }
                        }
                        to = to.wrapping_byte_add(self.row_bytes());
                    }
                }
                let rows = [a, b, c, d, y];
                for at in 0..rows.len() {
                    for v in 0..N {
                        *self.vector::<S>(self.carried(at), h + v) = rows[at][v];
                    }
                }
            }
        });
    }

    #[inline(always)]
    fn backward<S: Simd>(&self, simd: S, block: usize, matrix: &impl Upper<T>) {
        let points = self.points(block);
        let in_groups = points.len() / GROUP * GROUP;
        for_pairs!(self.vectors::<S>(), N, h => {
            // SAFETY: rows of the workspace, and carried ones.
            unsafe {
                let [last, mut x] = array_of::<_, 2>(|at| {
                    array_of::<_, N>(|v| *self.vector::<S>(self.carried(Y + at), h + v))
                });
                let mut at = self.vector::<S>(self.intermediate(points.end), h);
                macro_rules! substitute {
                    ($r:expr) => {
                        at = at.wrapping_byte_sub(self.row_bytes());
                        for v in 0..N {
                            let at = at.wrapping_add(v);
                            let y = matrix.corrected(simd, $r, *at, last[v]);
                            x[v] = T::fma(simd, T::splat(simd, matrix.factor($r)), x[v], y);
                            *at = x[v];
                        }
                    };
                }
                for r in (in_groups..points.len()).rev() {
                    substitute!(r % BLOCK);
                }
                for first in (0..in_groups).step_by(GROUP).rev() {
                    for_rows!(R in 7 6 5 4 3 2 1 0 {
                        substitute!((first + R) % BLOCK);
                    });
                }
                for v in 0..N {
                    *self.vector::<S>(self.carried(X), h + v) = x[v];
                }
            }
        });
    }

    /// Copies the solutions of a block to the field.
    #[inline(always)]
    fn store<S: Simd>(&self, simd: S, block: usize) {
        let points = self.points(block);
        if is_along_x(&self.tile) {
            return simd.vectorize(Store {
                points: Points { tile: self.tile, first: points.start },
                field: self.to,
                from: self.intermediate(points.start),
                column_stride: 0,
                bypass_caches: self.bypass_caches,
            });
        }
        for m in points {
            let from = self.intermediate(m);
            let to = self.to.wrapping_add(self.tile.start + m * self.tile.stride);
            for l in (0..COLUMNS).map(|column| column * lanes::<T>()) {
                let (to, from) = (to.wrapping_add(l), from.wrapping_add(l));
                // SAFETY: points of this tile, which no other thread accesses; both are complete cache lines where the
                // stores bypass the caches.
                unsafe {
                    match self.bypass_caches {
                        true => stream::<S>(to.cast(), from.cast()),
                        false => from.copy_to(to, lanes::<T>()),
                    }
                }
            }
        }
    }
}
