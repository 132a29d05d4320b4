//! The arithmetic on one tile: polynomials of registers, and operators along its lines.
//!
//! A register holds `n + 2 HALO` rows; row `HALO + m` is point m of every line. The halo rows of an operand are filled
//! with the other end of the line where it is periodic, so the stencils have no case to tell apart.

use pulp::{Simd, WithSimd};

use super::program::{Polynomial, Term};
use super::{LANES, Row};
use crate::engine::{EndRow, LineOperator, Stencil};
use crate::lines::{RightHandSide, solve_lanes};
use crate::real::{Real, fma};
use crate::scheme::MAX_WIDTH;

/// Rows before and after the points of a line.
pub(super) const HALO: usize = MAX_WIDTH;

/// Rows evaluated together: 8 x 16 numbers, so that a term of a polynomial finds the rows of the last one in L1.
const BLOCK: usize = 8;

/// Fill the halo of a register of `n` points periodically.
pub(super) fn wrap<T: Real>(rows: &mut [Row<T>], n: usize) {
    for i in 0..HALO {
        rows[HALO + n + i] = rows[HALO + i % n];
        rows[HALO - 1 - i] = rows[HALO + n - 1 - i % n];
    }
}

/// `to` = (what it was, where `accumulate`) + scale × polynomial of `registers`, for the rows of one tile.
pub(super) struct Evaluate<'a, T> {
    pub(super) polynomial: &'a Polynomial<T>,
    pub(super) scale: T,
    pub(super) accumulate: bool,
    pub(super) registers: &'a [super::run::Register<T>],
    pub(super) to: &'a mut [Row<T>],
    /// Where the rows of `to` begin in the registers.
    pub(super) start: usize,
}

impl<T: Real> WithSimd for Evaluate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.to;
        if self.polynomial.0.is_empty() && !self.accumulate {
            rows.fill([T::ZERO; LANES]);
        }
        for (block, rows) in rows.chunks_mut(BLOCK).enumerate() {
            let start = self.start + block * BLOCK;
            for (at, term) in self.polynomial.0.iter().enumerate() {
                let coefficient = term.coefficient * self.scale;
                let operands =
                    Operands { registers: self.registers, term, start, rows: rows.len() };
                let add = self.accumulate || at > 0;
                match term.factors.len() {
                    0 => add_row_by_row(
                        rows,
                        add,
                        #[inline(always)]
                        |_| [coefficient; LANES],
                    ),
                    1 => {
                        let a = operands.get(0);
                        add_products::<S, T>(
                            rows,
                            add,
                            coefficient,
                            #[inline(always)]
                            |r| a[r],
                        );
                    }
                    2 => {
                        let (a, b) = (operands.get(0), operands.get(1));
                        add_products::<S, T>(
                            rows,
                            add,
                            coefficient,
                            #[inline(always)]
                            |r| times(a[r], &b[r]),
                        );
                    }
                    3 => {
                        let (a, b, c) = (operands.get(0), operands.get(1), operands.get(2));
                        add_products::<S, T>(
                            rows,
                            add,
                            coefficient,
                            #[inline(always)]
                            |r| times(times(a[r], &b[r]), &c[r]),
                        );
                    }
                    factors => add_row_by_row(
                        rows,
                        add,
                        #[inline(always)]
                        |r| {
                            let product = [coefficient; LANES];
                            (0..factors)
                                .fold(product, |product, f| times(product, &operands.get(f)[r]))
                        },
                    ),
                }
            }
        }
    }
}

/// `to` = `from` + weight × `sum`.
pub(super) struct Advance<'a, T> {
    pub(super) weight: T,
    pub(super) from: &'a [Row<T>],
    pub(super) sum: &'a [Row<T>],
    pub(super) to: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Advance<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((to, from), sum) in self.to.iter_mut().zip(self.from).zip(self.sum) {
            for l in 0..LANES {
                to[l] = from[l] + self.weight * sum[l];
            }
        }
    }
}

/// The factors of one term in one block of rows.
struct Operands<'a, T> {
    registers: &'a [super::run::Register<T>],
    term: &'a Term<T>,
    start: usize,
    rows: usize,
}

impl<'a, T: Real> Operands<'a, T> {
    #[inline(always)]
    fn get(&self, factor: usize) -> &'a [Row<T>] {
        &self.registers[self.term.factors[factor]][self.start..self.start + self.rows]
    }
}

#[inline(always)]
fn times<T: Real>(mut a: Row<T>, b: &Row<T>) -> Row<T> {
    for l in 0..LANES {
        a[l] = a[l] * b[l];
    }
    a
}

/// `rows` = (themselves, where `add`) + `value`.
#[inline(always)]
fn add_row_by_row<T: Real>(rows: &mut [Row<T>], add: bool, value: impl Fn(usize) -> Row<T>) {
    for (r, row) in rows.iter_mut().enumerate() {
        let mut sum = value(r);
        if add {
            for l in 0..LANES {
                sum[l] += row[l];
            }
        }
        *row = sum;
    }
}

/// `rows` = (themselves, where `add`) + `coefficient` × `product`.
#[inline(always)]
fn add_products<S: Simd, T: Real>(
    rows: &mut [Row<T>],
    add: bool,
    coefficient: T,
    product: impl Fn(usize) -> Row<T>,
) {
    for (r, row) in rows.iter_mut().enumerate() {
        let mut sum = product(r);
        if add {
            let old = *row;
            for l in 0..LANES {
                sum[l] = fma::<S, T>(coefficient, sum[l], old[l]);
            }
        } else {
            for l in 0..LANES {
                sum[l] = coefficient * sum[l];
            }
        }
        *row = sum;
    }
}

/// Where L lines side by side come from that an operator is applied to, and where the results go.
pub(super) trait Lines<T, const L: usize> {
    /// Point `i − HALO` of every line; beyond the ends of a periodic line its other end.
    fn point(&self, i: usize) -> &[T; L];

    /// B is taken at point m next. Told once for every m in rising order, before anything is solved.
    #[inline(always)]
    fn reach<S: Simd>(&mut self, m: usize) {
        let _ = m;
    }

    /// The results from point m on are known, `x[m..]`. Told once for every m in falling order.
    #[inline(always)]
    fn solved<S: Simd>(&mut self, m: usize, x: &[[T; L]]) {
        let _ = (m, x);
    }
}

/// A tile in a register. Its halo is filled where the lines are periodic; the results stay where they are made.
pub(super) struct Tile<'a, T>(pub(super) &'a [Row<T>]);

impl<T: Real> Lines<T, LANES> for Tile<'_, T> {
    #[inline(always)]
    fn point(&self, i: usize) -> &Row<T> {
        &self.0[i]
    }
}

/// `x` = A⁻¹ B f along lines.
pub(super) struct Apply<'a, T, F, const L: usize> {
    pub(super) operator: &'a LineOperator<T>,
    pub(super) lines: F,
    pub(super) x: &'a mut [[T; L]],
}

impl<T: Real, F: Lines<T, L>, const L: usize> WithSimd for Apply<'_, T, F, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let stencil = &self.operator.stencil;
        match (self.operator.factors.half_band(), stencil.odd) {
            (0, true) => self.width::<S, 0, true>(),
            (0, false) => self.width::<S, 0, false>(),
            (1, true) => self.width::<S, 1, true>(),
            (1, false) => self.width::<S, 1, false>(),
            (_, true) => self.width::<S, 2, true>(),
            (_, false) => self.width::<S, 2, false>(),
        }
    }
}

impl<T: Real, F: Lines<T, L>, const L: usize> Apply<'_, T, F, L> {
    /// The half-width as a constant for the usual stencils; 0 stands for any.
    #[inline(always)]
    fn width<S: Simd, const P: usize, const ODD: bool>(self) {
        match (self.operator.stencil.half_width, self.operator.periodic) {
            (1, true) => self.solve::<S, P, ODD, 1, false>(),
            (2, true) => self.solve::<S, P, ODD, 2, false>(),
            (3, true) => self.solve::<S, P, ODD, 3, false>(),
            (_, true) => self.solve::<S, P, ODD, 0, false>(),
            (_, false) => self.solve::<S, P, ODD, 0, true>(),
        }
    }

    /// `ENDS` for lines that are not periodic.
    #[inline(always)]
    pub(super) fn solve<
        S: Simd,
        const P: usize,
        const ODD: bool,
        const W: usize,
        const ENDS: bool,
    >(
        self,
    ) {
        let Self { operator, lines, x } = self;
        let mut rows = Rows::<T, F, L, ODD, W, ENDS> {
            operator,
            lines,
            stencil: operator.stencil,
            first_right: operator.len() - operator.right.len(),
        };
        solve_lanes::<S, T, P, L>(&operator.factors, &mut rows, x);
    }
}

/// B f of lines.
struct Rows<'a, T, F, const L: usize, const ODD: bool, const W: usize, const ENDS: bool> {
    operator: &'a LineOperator<T>,
    lines: F,
    stencil: Stencil<T>,
    first_right: usize,
}

impl<T: Real, F: Lines<T, L>, const L: usize, const ODD: bool, const W: usize, const ENDS: bool>
    RightHandSide<T, L> for Rows<'_, T, F, L, ODD, W, ENDS>
{
    #[inline(always)]
    fn row<S: Simd>(&mut self, m: usize) -> [T; L] {
        self.lines.reach::<S>(m);
        if ENDS && m < self.operator.left.len() {
            return end_row::<S, T, L>(&self.operator.left[m], &self.lines);
        }
        if ENDS && m >= self.first_right {
            return end_row::<S, T, L>(&self.operator.right[m - self.first_right], &self.lines);
        }
        let Stencil { half_width, center, weights, up, down, .. } = self.stencil;
        let half_width = if W == 0 { half_width } else { W };
        let mut sum = [T::ZERO; L];
        if !ODD {
            let row = self.lines.point(HALO + m);
            for l in 0..L {
                sum[l] = center * row[l];
            }
        }
        for s in 1..=half_width {
            let a = self.lines.point((HALO + m + s).wrapping_add_signed(up));
            let b = self.lines.point((HALO + m - s).wrapping_add_signed(down));
            let w = weights[s - 1];
            for l in 0..L {
                let pair = if ODD { a[l] - b[l] } else { a[l] + b[l] };
                sum[l] = fma::<S, T>(w, pair, sum[l]);
            }
        }
        sum
    }

    #[inline(always)]
    fn solved<S: Simd>(&mut self, m: usize, x: &[[T; L]]) {
        self.lines.solved::<S>(m, x);
    }
}

#[inline(always)]
fn end_row<S: Simd, T: Real, const L: usize>(row: &EndRow<T>, lines: &impl Lines<T, L>) -> [T; L] {
    let mut sum = [T::ZERO; L];
    for (n, w) in row.weights.iter().enumerate() {
        let f = lines.point(HALO + row.first + n);
        for l in 0..L {
            sum[l] = fma::<S, T>(*w, f[l], sum[l]);
        }
    }
    sum
}
