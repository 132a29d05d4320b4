//! The arithmetic on one tile: polynomials of registers, and operators along its lines.
//!
//! A register holds `n + 2 HALO` rows; row `HALO + m` is point m of every line. The halo rows of an operand are filled
//! with the other end of the line where it is periodic, so the stencils have no case to tell apart.

use pulp::{Simd, WithSimd};

use super::prefetch::Prefetch;
use super::program::Polynomial;
use super::{LANES, Row};
use crate::engine::{EndRow, LineOperator, Stencil};
use crate::lines::{RightHandSide, solve_lanes};
use crate::real::Real;
use crate::scheme::MAX_WIDTH;
use crate::simd::{added, row, scaled};

/// Rows before and after the points of a line.
pub(super) const HALO: usize = MAX_WIDTH;

/// Rows evaluated together: their sums stay in vector registers while the terms of a polynomial are added.
const BLOCK: usize = 8;
/// The same where registers are fewer and hold less than [`WIDEST`] numbers in f64.
const NARROW_BLOCK: usize = 2;
const WIDEST: usize = 8;

/// Fill the halo of a register of `n` points periodically.
pub(super) fn wrap<T: Real>(rows: &mut [Row<T>], n: usize) {
    for i in 0..HALO {
        rows[HALO + n + i] = rows[HALO + i % n];
        rows[HALO - 1 - i] = rows[HALO + n - 1 - i % n];
    }
}

/// `to` = (what it was, where `accumulate`) + polynomial of `registers`, for the rows of one tile.
pub(super) struct Evaluate<'a, T> {
    pub(super) polynomial: &'a Polynomial<T>,
    pub(super) accumulate: bool,
    pub(super) registers: &'a [super::run::Register<T>],
    pub(super) to: &'a mut [Row<T>],
    /// Where the rows of `to` begin in the registers.
    pub(super) start: usize,
}

impl<T: Real> WithSimd for Evaluate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = std::mem::take(&mut self.to);
        if S::F64_LANES == WIDEST {
            self.blocks::<S, BLOCK>(simd, rows);
        } else {
            self.blocks::<S, NARROW_BLOCK>(simd, rows);
        }
    }
}

impl<T: Real> Evaluate<'_, T> {
    /// All rows, R together.
    #[inline(always)]
    fn blocks<S: Simd, const R: usize>(&mut self, simd: S, rows: &mut [Row<T>]) {
        let (blocks, rest) = rows.as_chunks_mut::<R>();
        for rows in blocks {
            self.block(simd, rows);
        }
        for rows in rest.as_chunks_mut::<1>().0 {
            self.block(simd, rows);
        }
    }

    /// The next R rows.
    #[inline(always)]
    fn block<S: Simd, const R: usize>(&mut self, simd: S, rows: &mut [Row<T>; R]) {
        let mut sums = if self.accumulate { *rows } else { [[T::ZERO; LANES]; R] };
        for (at, term) in self.polynomial.0.iter().enumerate() {
            let add = self.accumulate || at > 0;
            let sum = Sum { simd, sums: &mut sums, add, coefficient: term.coefficient };
            let factor = |at: usize| self.factor(term.factors[at]);
            match term.factors.len() {
                0 => sum.constant(),
                1 => sum.product([factor(0)]),
                2 => sum.product([factor(0), factor(1)]),
                3 => sum.product([factor(0), factor(1), factor(2)]),
                factors => {
                    let mut product = *factor(0);
                    for at in 1..factors - 1 {
                        multiply(simd, &mut product, factor(at));
                    }
                    sum.product([&product, factor(factors - 1)]);
                }
            }
        }
        *rows = sums;
        self.start += R;
    }

    /// The rows of a register that belong to the next R rows.
    #[inline(always)]
    fn factor<const R: usize>(&self, register: usize) -> &[Row<T>; R] {
        let rows = self.registers[register][self.start..].first_chunk();
        rows.unwrap_or_else(|| unreachable!("registers are of one length"))
    }
}

/// A term to be added to `sums`, or to be what they are from now on.
struct Sum<'a, S, T, const R: usize> {
    simd: S,
    sums: &'a mut [Row<T>; R],
    add: bool,
    coefficient: T,
}

impl<S: Simd, T: Real, const R: usize> Sum<'_, S, T, R> {
    /// The coefficient.
    #[inline(always)]
    fn constant(self) {
        let Self { simd, sums, add, coefficient } = self;
        let coefficient = T::splat(simd, coefficient);
        for sum in sums {
            let before = if add { *sum } else { [T::ZERO; LANES] };
            *sum = row(simd, |part| T::plus(simd, coefficient, part.of(&before)));
        }
    }

    /// The coefficient × the product of `factors`.
    #[inline(always)]
    fn product<const K: usize>(self, factors: [&[Row<T>; R]; K]) {
        let Self { simd, sums, add, coefficient } = self;
        let coefficient = T::splat(simd, coefficient);
        for (r, sum) in sums.iter_mut().enumerate() {
            let before = *sum;
            *sum = row(
                simd,
                #[inline(always)]
                |part| {
                    let mut product = part.of(&factors[0][r]);
                    for factor in &factors[1..] {
                        product = T::times(simd, product, part.of(&factor[r]));
                    }
                    if add {
                        T::fma(simd, coefficient, product, part.of(&before))
                    } else {
                        T::times(simd, coefficient, product)
                    }
                },
            );
        }
    }
}

/// `rows` × `factor`.
#[inline(always)]
fn multiply<S: Simd, T: Real, const R: usize>(
    simd: S,
    rows: &mut [Row<T>; R],
    factor: &[Row<T>; R],
) {
    for (to, factor) in rows.iter_mut().zip(factor) {
        *to = row(simd, |part| T::times(simd, part.of(to), part.of(factor)));
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
    fn with_simd<S: Simd>(self, simd: S) {
        let weight = T::splat(simd, self.weight);
        for ((to, from), sum) in self.to.iter_mut().zip(self.from).zip(self.sum) {
            *to = row(simd, |part| {
                T::plus(simd, part.of(from), T::times(simd, weight, part.of(sum)))
            });
        }
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
pub(super) struct Tile<'a, 'b, T> {
    pub(super) rows: &'a [Row<T>],
    pub(super) ahead: &'a mut Prefetch<'b, T>,
}

impl<T: Real> Lines<T, LANES> for Tile<'_, '_, T> {
    #[inline(always)]
    fn point(&self, i: usize) -> &Row<T> {
        &self.rows[i]
    }

    #[inline(always)]
    fn reach<S: Simd>(&mut self, _: usize) {
        self.ahead.advance();
    }

    #[inline(always)]
    fn solved<S: Simd>(&mut self, _: usize, _: &[Row<T>]) {
        self.ahead.advance();
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
    fn with_simd<S: Simd>(self, simd: S) {
        let LineOperator { factors, stencil, .. } = self.operator;
        match (factors.half_band(), stencil.odd) {
            _ if self.is_usual::<S>() => self.usual(simd),
            (0, true) => self.solve::<S, 0, 0, true, true>(simd),
            (0, false) => self.solve::<S, 0, 0, false, true>(simd),
            (1, true) => self.solve::<S, 1, 0, true, true>(simd),
            (1, false) => self.solve::<S, 1, 0, false, true>(simd),
            (_, true) => self.solve::<S, 2, 0, true, true>(simd),
            (_, false) => self.solve::<S, 2, 0, false, true>(simd),
        }
    }
}

impl<T: Real, F: Lines<T, L>, const L: usize> Apply<'_, T, F, L> {
    /// Whether it is one of those for which there are loops without cases: each kind is compiled for every instruction set.
    #[inline(always)]
    pub(super) fn is_usual<S: Simd>(&self) -> bool {
        !S::IS_SCALAR && self.operator.periodic
    }

    /// The same for operators that [are](Self::is_usual).
    #[inline(always)]
    pub(super) fn usual<S: Simd>(self, simd: S) {
        let LineOperator { factors, stencil, .. } = self.operator;
        match (factors.half_band(), stencil.half_width, stencil.odd) {
            (0, _, true) => self.solve::<S, 0, 0, true, false>(simd),
            (0, _, false) => self.solve::<S, 0, 0, false, false>(simd),
            (1, 2, true) => self.solve::<S, 1, 2, true, false>(simd),
            (1, 2, false) => self.solve::<S, 1, 2, false, false>(simd),
            (1, _, true) => self.solve::<S, 1, 0, true, false>(simd),
            (1, _, false) => self.solve::<S, 1, 0, false, false>(simd),
            (_, _, true) => self.solve::<S, 2, 0, true, false>(simd),
            (_, _, false) => self.solve::<S, 2, 0, false, false>(simd),
        }
    }

    /// `P` is the half-bandwidth; `W` the half-width of the stencil, or 0 for any; `ENDS` for lines that may have ends.
    #[inline(always)]
    fn solve<S: Simd, const P: usize, const W: usize, const ODD: bool, const ENDS: bool>(
        self,
        simd: S,
    ) {
        let Self { operator, lines, x } = self;
        let stencil = operator.stencil;
        let first_right = operator.len() - operator.right.len();
        let mut rows = Rows::<T, F, L, W, ODD, ENDS> { operator, lines, stencil, first_right };
        solve_lanes::<S, T, P, L>(simd, &operator.factors, &mut rows, x);
    }
}

/// B f of lines.
struct Rows<'a, T, F, const L: usize, const W: usize, const ODD: bool, const ENDS: bool> {
    operator: &'a LineOperator<T>,
    lines: F,
    stencil: Stencil<T>,
    first_right: usize,
}

impl<T: Real, F: Lines<T, L>, const L: usize, const W: usize, const ODD: bool, const ENDS: bool>
    RightHandSide<T, L> for Rows<'_, T, F, L, W, ODD, ENDS>
{
    #[inline(always)]
    fn row<S: Simd>(&mut self, simd: S, m: usize) -> [T; L] {
        self.lines.reach::<S>(m);
        if ENDS && m < self.operator.left.len() {
            return end_row(simd, &self.operator.left[m], &self.lines);
        }
        if ENDS && m >= self.first_right {
            return end_row(simd, &self.operator.right[m - self.first_right], &self.lines);
        }
        let Stencil { half_width, center, weights, up, down, .. } = self.stencil;
        let half_width = if W == 0 { half_width } else { W };
        let mut sum = [T::ZERO; L];
        if !ODD {
            sum = scaled(simd, center, self.lines.point(HALO + m));
        }
        for s in 1..=half_width {
            let a = self.lines.point((HALO + m + s).wrapping_add_signed(up));
            let b = self.lines.point((HALO + m - s).wrapping_add_signed(down));
            let w = T::splat(simd, weights[s - 1]);
            sum = row(
                simd,
                #[inline(always)]
                |part| {
                    let (a, b) = (part.of(a), part.of(b));
                    let pair = if ODD { T::minus(simd, a, b) } else { T::plus(simd, a, b) };
                    T::fma(simd, w, pair, part.of(&sum))
                },
            );
        }
        sum
    }

    #[inline(always)]
    fn solved<S: Simd>(&mut self, m: usize, x: &[[T; L]]) {
        self.lines.solved::<S>(m, x);
    }
}

#[inline(always)]
fn end_row<S: Simd, T: Real, const L: usize>(
    simd: S,
    row: &EndRow<T>,
    lines: &impl Lines<T, L>,
) -> [T; L] {
    let mut sum = [T::ZERO; L];
    for (n, w) in row.weights.iter().enumerate() {
        sum = added(simd, *w, lines.point(HALO + row.first + n), &sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::program::Term;
    use crate::cases::Domain;
    use crate::engine::{LineOperators, Op};
    use crate::grid::{Axis, Grid};
    use crate::scheme::families;
    use aligned_vec::AVec;
    use pulp::Arch;

    const N: usize = 37;

    /// Rows of numbers that have nothing to do with each other.
    fn rows<T: Real>(seed: usize) -> super::super::run::Register<T> {
        let number = |at: usize| {
            let bits = (at * 7919 + seed * 104_729) % 1009;
            T::of(f64::from(u16::try_from(bits).unwrap()) / 500.0 - 1.0)
        };
        let row = |m: usize| std::array::from_fn(|l| number(m * LANES + l));
        AVec::from_iter(64, (0..N + 2 * HALO).map(row))
    }

    /// Every operator of some families, and a polynomial with terms of up to four factors.
    fn results<T: Real>(arch: Arch) -> Vec<Row<T>> {
        let registers: Vec<_> = (0..4).map(rows::<T>).collect();
        let grid = Grid::periodic([N, 8, 8], &Domain::cube(1.0));
        let mut all = Vec::new();
        for family in families() {
            let operators = LineOperators::new(family, None, &grid, T::PRECISION);
            for op in [Op::D1, Op::D2, Op::DerivativeToMidpoints] {
                let Some(operator) = operators.find(Axis::X, op) else { continue };
                let operator = &operator.rounded();
                let mut x = vec![[T::ZERO; LANES]; N];
                let mut ahead = Prefetch::nothing();
                let lines = Tile { rows: &registers[0], ahead: &mut ahead };
                arch.dispatch(Apply { operator, lines, x: &mut x });
                all.extend(x);
            }
        }
        let term = |factors: &[usize]| Term {
            coefficient: T::of(0.3 + factors.len() as f64),
            factors: factors.to_vec(),
        };
        let terms = [&[][..], &[0], &[1, 2], &[1, 2, 3], &[0, 1, 2, 3]].map(term);
        let polynomial = Polynomial(terms.to_vec());
        for accumulate in [false, true] {
            let mut to = rows::<T>(9)[..N].to_vec();
            let registers = &registers[..];
            let to_all = &mut to[..];
            arch.dispatch(Evaluate {
                polynomial: &polynomial,
                accumulate,
                registers,
                to: to_all,
                start: HALO,
            });
            all.extend(to);
        }
        all
    }

    fn check<T: Real>() {
        let best = results::<T>(Arch::new());
        let off = |other: &[Row<T>]| {
            let pairs = best.as_flattened().iter().zip(other.as_flattened());
            pairs.map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max)
        };
        let size = best.as_flattened().iter().map(|x| x.f64().abs()).fold(0.0, f64::max);
        // Without fused multiply-adds every operation is rounded.
        assert!(off(&results::<T>(Arch::Scalar)) < 30.0 * T::EPSILON * size);
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            assert_eq!(off(&results::<T>(Arch::V3(v3))), 0.0);
        }
    }

    #[test]
    fn every_instruction_set_computes_the_same() {
        check::<f64>();
        check::<f32>();
    }
}
