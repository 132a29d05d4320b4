//! One operator along one axis: A f' = B f for every line of the grid, factored once.

use super::distributed::BlockCoupling;
use crate::lines::{BandedMatrix, Factors, solve};
use crate::real::{Precision, Real};
use crate::scheme::{Closure, Kind, MAX_WIDTH, Scheme};

/// Locations of the operand and the result of a staggered operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shift {
    /// Points to points.
    None,
    /// Points to midpoints: result i lies at i + ½.
    ToMidpoints,
    /// Midpoints to points: operand i lies at i + ½.
    ToPoints,
}

/// The right-hand side B at an inner point m: centre f[m] + Σₛ weight[s−1] (f[m + s + up] ± f[m − s + down]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stencil<T = f64> {
    pub(crate) half_width: usize,
    pub(crate) center: T,
    pub(crate) weights: [T; MAX_WIDTH],
    pub(crate) up: isize,
    pub(crate) down: isize,
    /// True where the sign between the two sides is −.
    pub(crate) odd: bool,
}

impl Stencil {
    /// Returns the stencil times `factor`, in the format `T`.
    pub(crate) fn scaled<T: Real>(&self, factor: f64) -> Stencil<T> {
        let Self { half_width, center, weights, up, down, odd } = *self;
        let (center, weights) = (T::of(factor * center), weights.map(|w| T::of(factor * w)));
        Stencil { half_width, center, weights, up, down, odd }
    }
}

/// B at a point near an end: Σₙ weights[n] f[first + n].
#[derive(Clone, Debug)]
pub(crate) struct EndRow<T = f64> {
    pub(crate) first: usize,
    pub(crate) weights: Vec<T>,
}

impl EndRow {
    fn rounded<T: Real>(&self) -> EndRow<T> {
        EndRow { first: self.first, weights: self.weights.iter().map(|x| T::of(*x)).collect() }
    }
}

/// A f' = B f along lines of n points with spacing h.
#[derive(Clone, Debug)]
pub struct LineOperator<T = f64> {
    /// A.
    pub(crate) matrix: BandedMatrix,
    pub(crate) factors: Factors<T>,
    pub(crate) stencil: Stencil<T>,
    pub(crate) periodic: bool,
    /// B at points 0, 1, ... of a line with ends; empty for a periodic one.
    pub(crate) left: Vec<EndRow<T>>,
    /// B at points n − left.len(), ..., n − 1.
    pub(crate) right: Vec<EndRow<T>>,
    /// Coupling to the neighbouring blocks, where its lines are split across ranks.
    pub(crate) ends: Option<BlockCoupling<T>>,
    /// Format of the fields that it is applied to: terms below its round-off are omitted.
    pub(crate) precision: Precision,
}

impl LineOperator {
    /// Additions and multiplications per point, without rows near the ends: those of B f and of both passes of the line
    /// solver.
    pub(crate) fn flops(&self) -> usize {
        let Stencil { half_width, odd, .. } = self.stencil;
        let solve = match self.factors.half_band() {
            0 => 0,
            p => 1 + 4 * p,
        };
        3 * half_width + usize::from(!odd) + solve
    }

    /// Creates the operator of `scheme` on periodic lines of `n` ≥ [`Scheme::min_points`] points with spacing `h`.
    ///
    /// # Panics
    /// If n is smaller than that.
    pub fn periodic(scheme: &Scheme, shift: Shift, n: usize, h: f64) -> Self {
        assert!(n >= scheme.min_points(), "{} needs {} points", scheme.name, scheme.min_points());
        let matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, true);
        Self {
            factors: Factors::new(&matrix),
            matrix,
            stencil: stencil(scheme, shift, h),
            periodic: true,
            left: Vec::new(),
            right: Vec::new(),
            ends: None,
            precision: Precision::F64,
        }
    }

    /// Creates the operator of `scheme` on lines of `n` points with two ends, closed by the rows of `closure`. Not for
    /// staggered schemes.
    ///
    /// # Panics
    /// If n is smaller than [`closed_min_points`], or the closure has fewer rows than the stencil reaches out.
    pub fn closed(scheme: &Scheme, closure: &Closure, n: usize, h: f64) -> Self {
        let fewest = closed_min_points(scheme, closure);
        assert!(n >= fewest, "{} with {} needs {fewest} points", scheme.name, closure.name);
        Self::with_ends(scheme, &[closure.clone(), closure.clone()], n, h)
    }

    /// Like [`LineOperator::closed`], with a separate closure for each of the two ends.
    ///
    /// # Panics
    /// If the rows of both ends do not fit n points, or a closure has fewer rows than the stencil reaches out.
    pub fn with_ends(scheme: &Scheme, ends: &[Closure; 2], n: usize, h: f64) -> Self {
        let reach = scheme.half_width().max(scheme.half_band());
        for end in ends {
            assert!(end.rows.len() >= reach, "{} needs a closure of {reach} rows", scheme.name);
            let widest = end.rows.iter().map(|row| row.rhs.len()).max().unwrap_or(0);
            let fewest = widest.max(2 * end.rows.len() + 1);
            assert!(n >= fewest, "{} with {} needs {fewest} points", scheme.name, end.name);
        }
        let mut matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, false);
        // A mirrored odd derivative changes sign, an even one and a filter do not.
        let sign = if scheme.kind == Kind::FirstDerivative { -1.0 } else { 1.0 };
        let scale = scale(scheme.kind, h);
        let mut left = Vec::new();
        let mut right = Vec::new();
        let [low, high] = ends;
        for (i, row) in low.rows.iter().enumerate() {
            matrix.set_row(i, &row.lhs);
            left.push(EndRow { first: 0, weights: row.rhs.iter().map(|&c| c * scale).collect() });
        }
        for (i, row) in high.rows.iter().enumerate() {
            let mirrored: Vec<_> = row.lhs.iter().map(|&(d, a)| (-d, a)).collect();
            matrix.set_row(n - 1 - i, &mirrored);
            right.push(EndRow {
                first: n - row.rhs.len(),
                weights: row.rhs.iter().rev().map(|&c| sign * c * scale).collect(),
            });
        }
        right.reverse();
        Self {
            factors: Factors::new(&matrix),
            matrix,
            stencil: stencil(scheme, Shift::None, h),
            periodic: false,
            left,
            right,
            ends: None,
            precision: Precision::F64,
        }
    }

    /// Returns the operator for fields of the format `precision`.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        (self.factors.head, self.factors.tail) = self.factors.border_range(precision);
        Self { precision, ..self }
    }

    /// Converts all numbers to the format `T`.
    pub fn rounded<T: Real>(&self) -> LineOperator<T> {
        let rows = |rows: &[EndRow]| rows.iter().map(EndRow::rounded).collect();
        LineOperator {
            matrix: self.matrix.clone(),
            factors: self.factors.rounded(),
            stencil: self.stencil.scaled(1.0),
            periodic: self.periodic,
            left: rows(&self.left),
            right: rows(&self.right),
            ends: self.ends.as_ref().map(BlockCoupling::rounded),
            precision: T::PRECISION,
        }
    }

    /// Row m of A⁻¹ B on a line with two ends: the weights of its points in the result at point m.
    pub(crate) fn result_row(&self, m: usize) -> Vec<f64> {
        let mut of_rows = vec![0.0; self.len()];
        of_rows[m] = 1.0;
        solve(&Factors::new(&self.matrix.transposed()), &mut of_rows);
        let mut weights = vec![0.0; self.len()];
        for (m, of_row) in of_rows.into_iter().enumerate() {
            for (offset, weight) in self.row(m) {
                weights[m.wrapping_add_signed(offset)] += of_row * weight;
            }
        }
        weights
    }

    /// Returns row m of B: offsets of the operand's points from m, and their weights. On a periodic line they may lie
    /// beyond its ends.
    pub fn row(&self, m: usize) -> Vec<(isize, f64)> {
        let (left, first_right) = (self.left.len(), self.len() - self.right.len());
        if m < left || m >= first_right {
            let row = if m < left { &self.left[m] } else { &self.right[m - first_right] };
            let first = row.first.cast_signed() - m.cast_signed();
            return (first..).zip(row.weights.iter().copied()).collect();
        }
        let Stencil { half_width, center, weights, up, down, odd } = self.stencil;
        let mut row = Vec::new();
        for (s, weight) in (1_isize..).zip(&weights[..half_width]) {
            row.push((s + up, *weight));
            row.push((down - s, if odd { -*weight } else { *weight }));
        }
        if center != 0.0 {
            row.push((0, center));
        }
        row.sort_by_key(|(offset, _)| *offset);
        row
    }
}

impl<T> LineOperator<T> {
    /// Number of points of a line.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// True for lines without points, which cannot be constructed.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// A.
    pub fn matrix(&self) -> &BandedMatrix {
        &self.matrix
    }

    /// The factors of A.
    pub fn factors(&self) -> &Factors<T> {
        &self.factors
    }

    /// Coupling to the neighbouring blocks, where the operator is a block of a line split across ranks.
    pub fn ends(&self) -> Option<&BlockCoupling<T>> {
        self.ends.as_ref()
    }
}

/// Minimum number of points of a line with two ends: both closures and one inner point, every row within the line, and
/// an order of exactness below the number of points. (If all rows of a derivative are exact for the polynomial whose
/// zeros are the n points, its right-hand side is zero and its derivative is not: A is singular.)
pub fn closed_min_points(scheme: &Scheme, closure: &Closure) -> usize {
    let rows = closure.rows.len();
    let widest = closure.rows.iter().map(|row| row.rhs.len()).max().unwrap_or(0);
    let lowest = closure.rows.iter().map(|row| row.order as usize).min().unwrap_or(0);
    let exact = match scheme.kind {
        Kind::FirstDerivative | Kind::MidpointDerivative => lowest + 1,
        Kind::SecondDerivative => lowest + 2,
        Kind::MidpointInterpolation | Kind::Filter => 0,
    };
    (2 * rows + 1).max(widest).max(2 * scheme.half_width() + 1).max(exact)
}

/// Factor by which the weights of a right-hand side for h = 1 are multiplied.
fn scale(kind: Kind, h: f64) -> f64 {
    match kind {
        Kind::FirstDerivative | Kind::MidpointDerivative => 1.0 / h,
        Kind::SecondDerivative => 1.0 / (h * h),
        Kind::MidpointInterpolation | Kind::Filter => 1.0,
    }
}

/// The weights by the definitions in the documentation of [`Kind`].
pub(super) fn stencil(scheme: &Scheme, shift: Shift, h: f64) -> Stencil {
    let scale = scale(scheme.kind, h);
    let weights: [f64; MAX_WIDTH] = std::array::from_fn(|index| {
        let (a, s) = (scheme.rhs[index], (index + 1) as f64);
        scale
            * match scheme.kind {
                Kind::FirstDerivative => a / (2.0 * s),
                Kind::SecondDerivative => a / (s * s),
                Kind::MidpointDerivative => a / (2.0 * s - 1.0),
                Kind::MidpointInterpolation | Kind::Filter => a / 2.0,
            }
    });
    let center = match scheme.kind {
        Kind::SecondDerivative => -2.0 * weights.iter().sum::<f64>(),
        Kind::Filter => scheme.center,
        _ => 0.0,
    };
    let (up, down) = match shift {
        Shift::None => (0, 0),
        Shift::ToMidpoints => (0, 1),
        Shift::ToPoints => (-1, 0),
    };
    Stencil {
        half_width: scheme.half_width(),
        center,
        weights,
        up,
        down,
        odd: matches!(scheme.kind, Kind::FirstDerivative | Kind::MidpointDerivative),
    }
}
