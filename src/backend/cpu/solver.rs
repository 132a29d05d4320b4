//! An operator made ready for whole blocks of rows.

use std::ops::Range;

use super::closed::EndRows;
use super::rows::{BLOCK, lanes};
use crate::backend::device::{LineSolver, OnHost, tolerance};
use crate::engine::{LineOperator, Stencil};
use crate::lines::Reduced;
use crate::real::Real;

/// Numbers that belong to the rows of a block.
pub(super) type OfRows<T, const N: usize> = [[T; N]; BLOCK];

/// Couplings round a line that are smaller than this part of round-off are left out.
const UNNOTICED: f64 = 1e-3;

/// A⁻¹ B along lines.
#[derive(Clone, Debug)]
pub(super) struct Solver<T> {
    pub(super) operator: LineOperator<T>,
    /// B, scaled where A is solved by [`Way::Cyclic`].
    pub(super) stencil: Stencil<T>,
    /// Rows of the operand before and after row m that B reads there.
    pub(super) back: usize,
    pub(super) ahead: usize,
    pub(super) way: Way<T>,
    /// B near the ends of lines that have any, in every block.
    pub(super) ends: Vec<Vec<EndRows<T>>>,
}

/// How A is solved.
#[derive(Clone, Debug)]
pub(super) enum Way<T> {
    Cyclic(Cyclic<T>),
    Factored(Factored<T>),
    /// Between the way down, which leaves B f, and the way up, which has nothing to do.
    Reduced(Box<Reduced<T>>),
}

/// A periodic tridiagonal matrix with one number on each diagonal is a product of two that are bidiagonal and as periodic,
/// with S the shift by one point round the line:
/// ```text
/// I + α (S + S⁻¹) = (I + l S) (I + l S⁻¹) / (1 + l²),   α = l / (1 + l²)
/// ```
/// Down the lines y[m] = b[m] − l y[m−1] begins with y[−1] = 0 and lacks (−l)^(m+1) y[n−1], with
/// y[n−1] = y⁰[n−1] / (1 − (−l)ⁿ); up the lines x[m] = y[m] − l x[m+1] begins with
/// x[n] = x[0] = Σₘ (−l)^m y[m] / (1 − (−l)ⁿ). No more rows than round-off notices have a part in these.
#[derive(Clone, Debug)]
pub(super) struct Cyclic<T> {
    /// −l.
    pub(super) factor: T,
    /// 1 / (1 − (−l)ⁿ).
    pub(super) round: T,
    /// Σ (−l)^(2m+1) over the rows that are noticed.
    pub(super) lacking: T,
    /// [(−l)^m, (−l)^(m+1)] in the first blocks.
    pub(super) powers: Vec<OfRows<T, 2>>,
    /// In how many rows they are noticed.
    pub(super) noticed: usize,
}

/// LU factors, see [`Factors`](crate::lines::Factors), with the rows of the last block filled up by such as change nothing.
#[derive(Clone, Debug)]
pub(super) struct Factored<T> {
    /// [inv, −l1, −l2] of every row, and [−u1, −u2].
    pub(super) lower: Vec<OfRows<T, 3>>,
    pub(super) upper: Vec<OfRows<T, 2>>,
    /// The coupling to the border, in the blocks that have any.
    pub(super) border: Vec<Option<Box<Border<T>>>>,
}

/// The border at the rows of a block: its rows, and its columns with changed sign.
#[derive(Clone, Debug)]
pub(super) struct Border<T> {
    pub(super) rows: OfRows<T, 2>,
    pub(super) columns: OfRows<T, 2>,
}

impl<T: Real> Solver<T> {
    /// For `line_solver`, which takes the operator.
    pub(super) fn new(operator: &LineOperator, line_solver: LineSolver) -> Self {
        let rounded: LineOperator<T> = operator.rounded();
        let Stencil { half_width, up, down, .. } = rounded.stencil;
        let (way, stencil) = match (line_solver.on_host(), Cyclic::new(operator)) {
            (OnHost::Reduction(reduction), _) if operator.factors.half_band() > 0 => {
                let reduced = Reduced::new(operator.matrix(), reduction, tolerance(T::PRECISION));
                (Way::Reduced(Box::new(reduced)), rounded.stencil)
            }
            (_, Some((cyclic, scale))) => (Way::Cyclic(cyclic), operator.stencil.scaled(scale)),
            (_, None) => (Way::Factored(Factored::new(&rounded)), rounded.stencil),
        };
        Self {
            back: half_width.saturating_add_signed(-down),
            ahead: half_width.saturating_add_signed(up),
            ends: EndRows::of(&rounded),
            operator: rounded,
            stencil,
            way,
        }
    }

    /// Rows of the operand that B reads at a row.
    pub(super) fn taps(&self) -> usize {
        self.back + 1 + self.ahead
    }

    /// Whether it is tridiagonal and has five points in a row of B.
    pub(super) fn is_of_five_points(&self) -> bool {
        let Stencil { half_width, up, down, .. } = self.stencil;
        let tridiagonal = match &self.way {
            Way::Cyclic(_) => true,
            Way::Factored(_) => !self.operator.periodic && self.half_band() == 1,
            Way::Reduced(_) => false,
        };
        tridiagonal && (half_width, up, down) == (2, 0, 0)
    }

    /// The rows of B away from the ends of lines that have any.
    pub(super) fn inner(&self) -> Range<usize> {
        let LineOperator { left, right, .. } = &self.operator;
        left.len()..self.operator.len() - right.len()
    }

    pub(super) fn half_band(&self) -> usize {
        self.operator.factors.half_band()
    }

    /// Rows that it carries from one block to the next: the operand; p rows of the elimination, p that are gathered for the
    /// other end of a periodic line, p of the substitution. Then room for a reduction.
    pub(super) fn carried(&self) -> usize {
        let reduction = match &self.way {
            Way::Reduced(reduced) => self.operator.len() + reduced.room(lanes::<T>()),
            Way::Cyclic(_) | Way::Factored(_) => 0,
        };
        self.between() + reduction
    }

    /// The same without that room.
    pub(super) fn between(&self) -> usize {
        self.taps() - 1 + 3 * self.half_band()
    }
}

impl<T: Real> Cyclic<T> {
    /// The factors of A, and what b is multiplied by; none for other matrices.
    fn new(operator: &LineOperator) -> Option<(Self, f64)> {
        let (n, alpha) = (operator.len(), operator.matrix.entry(0, 1));
        if !operator.periodic || operator.factors.half_band() != 1 || alpha.abs() >= 0.5 {
            return None;
        }
        let l = (1.0 - (1.0 - 4.0 * alpha * alpha).sqrt()) / (2.0 * alpha);
        let power = |m: usize| (0..m).fold(1.0, |power, _| -l * power);
        let noticed = |m: &usize| power(*m).abs() > UNNOTICED * T::EPSILON;
        let rows = (0..n).take_while(noticed).count();
        let round = 1.0 / (1.0 - power(n));
        let of_row = |m: usize| match m < rows {
            true => [T::of(power(m)), T::of(power(m + 1))],
            false => [T::ZERO; 2],
        };
        let cyclic = Self {
            factor: T::of(-l),
            round: T::of(round),
            lacking: T::of((0..rows).map(|m| power(2 * m + 1)).sum()),
            powers: of_blocks(rows.div_ceil(BLOCK), of_row),
            noticed: rows,
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
            lower: of_blocks(blocks, lower),
            upper: of_blocks(blocks, upper),
            border: (0..blocks).map(border).collect(),
        }
    }
}

fn of_blocks<T: Copy, const N: usize>(
    blocks: usize,
    of: impl Fn(usize) -> [T; N],
) -> Vec<OfRows<T, N>> {
    (0..blocks).map(|b| std::array::from_fn(|r| of(b * BLOCK + r))).collect()
}
