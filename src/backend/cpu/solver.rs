//! An operator prepared for complete blocks of rows.

use std::ops::Range;

use super::closed::EndRows;
use super::rows::{BLOCK, lanes};
use crate::backend::device::{LineSolver, OnHost, tolerance};
use crate::engine::{LineOperator, Stencil};
use crate::lines::Reduced;
use crate::real::Real;

/// Coefficients of the rows of a block.
pub(super) type RowCoefficients<T, const N: usize> = [[T; N]; BLOCK];

/// Periodic couplings smaller than this fraction of round-off are omitted.
const NEGLIGIBLE: f64 = 1e-3;

/// A⁻¹ B along lines.
#[derive(Clone, Debug)]
pub(super) struct Solver<T> {
    pub(super) operator: LineOperator<T>,
    /// B, scaled where A is solved by [`SolveMethod::Cyclic`].
    pub(super) stencil: Stencil<T>,
    /// Rows of the operand that B reads before and after row m.
    pub(super) back: usize,
    pub(super) ahead: usize,
    pub(super) method: SolveMethod<T>,
    /// B near the ends of non-periodic lines, in every block.
    pub(super) ends: Vec<Vec<EndRows<T>>>,
}

/// Solution method for A.
#[derive(Clone, Debug)]
pub(super) enum SolveMethod<T> {
    Cyclic(Cyclic<T>),
    Factored(Factored<T>),
    /// Solved between the forward pass, which computes B f, and the backward pass, which does nothing.
    Reduced(Box<Reduced<T>>),
}

/// A periodic tridiagonal matrix with constant diagonals is the product of two periodic bidiagonal matrices, with S the
/// shift by one point along the periodic line:
/// ```text
/// I + α (S + S⁻¹) = (I + l S) (I + l S⁻¹) / (1 + l²),   α = l / (1 + l²)
/// ```
/// Forward elimination, y[m] = b[m] − l y[m−1], starts with y[−1] = 0 and lacks the term (−l)^(m+1) y[n−1], with
/// y[n−1] = y⁰[n−1] / (1 − (−l)ⁿ); back substitution, x[m] = y[m] − l x[m+1], starts with
/// x[n] = x[0] = Σₘ (−l)^m y[m] / (1 − (−l)ⁿ). Only rows with contributions above round-off enter these terms.
#[derive(Clone, Debug)]
pub(super) struct Cyclic<T> {
    /// −l.
    pub(super) factor: T,
    /// 1 / (1 − (−l)ⁿ).
    pub(super) wrap: T,
    /// Σ (−l)^(2m+1) over the rows above round-off.
    pub(super) correction: T,
    /// [(−l)^m, (−l)^(m+1)] in the first blocks.
    pub(super) powers: Vec<RowCoefficients<T, 2>>,
    /// Number of rows above round-off.
    pub(super) significant: usize,
}

/// LU factors, see [`Factors`](crate::lines::Factors), where the last block is padded with rows that have no effect.
#[derive(Clone, Debug)]
pub(super) struct Factored<T> {
    /// [inv, −l1, −l2] of every row, and [−u1, −u2].
    pub(super) lower: Vec<RowCoefficients<T, 3>>,
    pub(super) upper: Vec<RowCoefficients<T, 2>>,
    /// The coupling to the border, in the blocks that have one.
    pub(super) border: Vec<Option<Box<Border<T>>>>,
}

/// The border at the rows of a block: its rows, and its columns with changed sign.
#[derive(Clone, Debug)]
pub(super) struct Border<T> {
    pub(super) rows: RowCoefficients<T, 2>,
    pub(super) columns: RowCoefficients<T, 2>,
}

impl<T: Real> Solver<T> {
    /// Prepares `operator` for `line_solver`, which must be able to solve for it.
    pub(super) fn new(operator: &LineOperator, line_solver: LineSolver) -> Self {
        let rounded: LineOperator<T> = operator.rounded();
        let Stencil { half_width, up, down, .. } = rounded.stencil;
        let (method, stencil) = match (line_solver.on_host(), Cyclic::new(operator)) {
            (OnHost::Reduction(reduction), _) if operator.factors.half_band() > 0 => {
                let reduced = Reduced::new(operator.matrix(), reduction, tolerance(T::PRECISION));
                (SolveMethod::Reduced(Box::new(reduced)), rounded.stencil)
            }
            (_, Some((cyclic, scale))) => {
                (SolveMethod::Cyclic(cyclic), operator.stencil.scaled(scale))
            }
            (_, None) => (SolveMethod::Factored(Factored::new(&rounded)), rounded.stencil),
        };
        Self {
            back: half_width.saturating_add_signed(-down),
            ahead: half_width.saturating_add_signed(up),
            ends: EndRows::of(&rounded),
            operator: rounded,
            stencil,
            method,
        }
    }

    /// Number of rows of the operand that B reads for one row.
    pub(super) fn taps(&self) -> usize {
        self.back + 1 + self.ahead
    }

    /// True if it is tridiagonal with five points per row of B.
    pub(super) fn is_of_five_points(&self) -> bool {
        let Stencil { half_width, up, down, .. } = self.stencil;
        let tridiagonal = match &self.method {
            SolveMethod::Cyclic(_) => true,
            SolveMethod::Factored(_) => !self.operator.periodic && self.half_band() == 1,
            SolveMethod::Reduced(_) => false,
        };
        tridiagonal && (half_width, up, down) == (2, 0, 0)
    }

    /// The rows of B away from the ends of non-periodic lines.
    pub(super) fn inner(&self) -> Range<usize> {
        let LineOperator { left, right, .. } = &self.operator;
        left.len()..self.operator.len() - right.len()
    }

    pub(super) fn half_band(&self) -> usize {
        self.operator.factors.half_band()
    }

    /// Number of rows carried from one block to the next: the operand; p rows of the elimination, p rows of sums for
    /// the other end of a periodic line, p rows of the substitution. Then workspace for a reduction.
    pub(super) fn carried(&self) -> usize {
        let reduction = match &self.method {
            SolveMethod::Reduced(reduced) => self.operator.len() + reduced.workspace(lanes::<T>()),
            SolveMethod::Cyclic(_) | SolveMethod::Factored(_) => 0,
        };
        self.workspace_start() + reduction
    }

    /// Index of the first row of that workspace: the number of carried rows before it.
    pub(super) fn workspace_start(&self) -> usize {
        self.taps() - 1 + 3 * self.half_band()
    }
}

impl<T: Real> Cyclic<T> {
    /// The factors of A, and the factor of b; `None` for other matrices.
    fn new(operator: &LineOperator) -> Option<(Self, f64)> {
        let (n, alpha) = (operator.len(), operator.matrix.entry(0, 1));
        if !operator.periodic || operator.factors.half_band() != 1 || alpha.abs() >= 0.5 {
            return None;
        }
        let l = (1.0 - (1.0 - 4.0 * alpha * alpha).sqrt()) / (2.0 * alpha);
        let power = |m: usize| (0..m).fold(1.0, |power, _| -l * power);
        let significant = |m: &usize| power(*m).abs() > NEGLIGIBLE * T::EPSILON;
        let rows = (0..n).take_while(significant).count();
        let wrap = 1.0 / (1.0 - power(n));
        let of_row = |m: usize| match m < rows {
            true => [T::of(power(m)), T::of(power(m + 1))],
            false => [T::ZERO; 2],
        };
        let cyclic = Self {
            factor: T::of(-l),
            wrap: T::of(wrap),
            correction: T::of((0..rows).map(|m| power(2 * m + 1)).sum()),
            powers: per_block(rows.div_ceil(BLOCK), of_row),
            significant: rows,
        };
        Some((cyclic, 1.0 + l * l))
    }
}

impl<T: Real> Factored<T> {
    fn new(operator: &LineOperator<T>) -> Self {
        let (factors, one) = (&operator.factors, T::of(1.0));
        let core = factors.core;
        let blocks = factors.n.div_ceil(BLOCK);
        let lower = |m: usize| match m < core {
            true => {
                let [inverse, l1, l2] = factors.lower[m];
                [inverse, -l1, -l2]
            }
            false => [one, T::ZERO, T::ZERO],
        };
        let upper = |m: usize| match m < core {
            true => factors.upper[m].map(|u| -u),
            false => [T::ZERO; 2],
        };
        let coupled = |m: usize| m < core && (m < factors.head || m >= factors.tail);
        let border = |b: usize| {
            let rows: [usize; BLOCK] = std::array::from_fn(|r| b * BLOCK + r);
            rows.iter().any(|m| coupled(*m)).then(|| {
                let of = |values: &[[T; 2]], m: usize| match coupled(m) {
                    true => values[m],
                    false => [T::ZERO; 2],
                };
                let columns = rows.map(|m| of(&factors.columns, m).map(|c| -c));
                Box::new(Border { rows: rows.map(|m| of(&factors.rows, m)), columns })
            })
        };
        Self {
            lower: per_block(blocks, lower),
            upper: per_block(blocks, upper),
            border: (0..blocks).map(border).collect(),
        }
    }
}

fn per_block<T: Copy, const N: usize>(
    blocks: usize,
    of: impl Fn(usize) -> [T; N],
) -> Vec<RowCoefficients<T, N>> {
    (0..blocks).map(|b| std::array::from_fn(|r| of(b * BLOCK + r))).collect()
}
