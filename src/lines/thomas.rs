//! LU without pivoting of a banded matrix (Thomas' algorithm and its pentadiagonal and cyclic relatives).
//!
//! A cyclic matrix is bordered: its last p unknowns couple to both ends of the line, so L has p full rows and U has p
//! full columns. Their entries decay like the inverse of A; those below round-off are not used, so a cyclic solve costs
//! little more than a plain one.

use pulp::Simd;

use super::BandedMatrix;
use super::banded::wrapped;
use crate::real::{Precision, Real};

/// The factors of one matrix, ready for any number of right-hand sides.
///
/// With `core` = n, or n − p where cyclic, and U scaled to a unit diagonal,
/// ```text
/// d[m] = inv[m] b[m] − l1[m] d[m−1] − l2[m] d[m−2]                      m < core
/// x[m] = d[m] − u1[m] x[m+1] − u2[m] x[m+2] − Σ_q column[q][m] x[core+q]
/// ```
/// and the p border rows subtract `Σ_m row[q][m] d[m]` first.
#[derive(Clone, Debug)]
pub struct Factors<T = f64> {
    pub(crate) n: usize,
    pub(crate) half_band: usize,
    pub(crate) core: usize,
    /// The border couples to rows 0..head and tail..core.
    pub(crate) head: usize,
    pub(crate) tail: usize,
    /// [inv, l1, l2] of every core row.
    pub(crate) lower: Vec<[T; 3]>,
    /// [u1, u2] of every core row.
    pub(crate) upper: Vec<[T; 2]>,
    /// Border rows of L at every core row, one entry for each border unknown.
    pub(crate) rows: Vec<[T; 2]>,
    /// Border columns of U at every core row.
    pub(crate) columns: Vec<[T; 2]>,
    /// Inverse pivots of the border rows, the entry of L and the entry of U between them.
    pub(crate) corner: [T; 4],
}

impl Factors {
    /// Factors `matrix`. The matrices of compact schemes need no pivoting: they are diagonally dominant except for
    /// closure rows, and the pivots of the default closures are bounded away from zero.
    ///
    /// # Panics
    /// If the pivot of a row before the border is zero, which happens for a few closures: `c5-pade4`, `second-c4`,
    /// `second-c4-pade4` and `second-c4-pade4-compact6`. Pivots of the border are not checked.
    pub fn new(matrix: &BandedMatrix) -> Self {
        Self::checked(matrix)
            .unwrap_or_else(|row| panic!("row {row} has no pivot: this closure needs pivoting"))
    }

    /// Like [`Factors::new`], but returns the row of a zero pivot as the error.
    pub(crate) fn checked(matrix: &BandedMatrix) -> Result<Self, usize> {
        let n = matrix.len();
        let p = matrix.half_band();
        let border = if matrix.is_cyclic() { p } else { 0 };
        let core = n - border;

        // band[m][2 + d]: core entries; right[m][q]: entries in the border columns; bottom[q][m], corner[q][r]: the
        // border rows.
        let mut band = vec![[0.0; 5]; core];
        let mut right = vec![[0.0; 2]; core];
        let mut bottom = [vec![0.0; core], vec![0.0; core]];
        let mut corner = [[0.0; 2]; 2];
        for m in 0..n {
            for d in -2_isize..=2 {
                let a = matrix.entry(m, d);
                if a == 0.0 {
                    continue;
                }
                let column = wrapped(m, d, n);
                match (m < core, column < core) {
                    (true, true) => band[m][(2 + d).cast_unsigned()] += a,
                    (true, false) => right[m][column - core] += a,
                    (false, true) => bottom[m - core][column] += a,
                    (false, false) => corner[m - core][column - core] += a,
                }
            }
        }

        let mut lower = vec![[0.0; 3]; core];
        for k in 0..core {
            let pivot = band[k][2];
            if pivot.is_nan() || pivot.abs() <= 1e-10 {
                return Err(k);
            }
            let inverse = 1.0 / pivot;
            lower[k][0] = inverse;
            band[k][3] *= inverse;
            band[k][4] *= inverse;
            right[k].iter_mut().for_each(|a| *a *= inverse);
            for step in 1..=p {
                if k + step >= core {
                    break;
                }
                let l = band[k + step][2 - step];
                lower[k + step][step] = l;
                for d in 1..=p {
                    band[k + step][2 + d - step] -= l * band[k][2 + d];
                }
                for q in 0..border {
                    right[k + step][q] -= l * right[k][q];
                }
            }
            for q in 0..border {
                let l = bottom[q][k];
                for d in 1..=p {
                    if k + d < core {
                        bottom[q][k + d] -= l * band[k][2 + d];
                    }
                }
                for r in 0..border {
                    corner[q][r] -= l * right[k][r];
                }
            }
        }
        for row in &mut lower {
            row[1] *= row[0];
            row[2] *= row[0];
        }

        let rows: Vec<_> = (0..core).map(|m| [bottom[0][m], bottom[1][m]]).collect();
        let (inv0, u01, l10, inv1) = match border {
            0 => (0.0, 0.0, 0.0, 0.0),
            1 => (1.0 / corner[0][0], 0.0, 0.0, 0.0),
            _ => {
                let inv0 = 1.0 / corner[0][0];
                let u01 = corner[0][1] * inv0;
                (inv0, u01, corner[1][0], 1.0 / (corner[1][1] - corner[1][0] * u01))
            }
        };
        let mut factors = Self {
            n,
            half_band: p,
            core,
            head: 0,
            tail: core,
            lower,
            upper: band.iter().map(|a| [a[3], a[4]]).collect(),
            rows,
            columns: right,
            corner: [inv0, inv1, l10, u01],
        };
        (factors.head, factors.tail) = factors.border_range(Precision::F64);
        Ok(factors)
    }

    /// Converts all numbers to the format `T`; couplings to the border below its round-off are omitted.
    pub fn rounded<T: Real>(&self) -> Factors<T> {
        let (head, tail) = self.border_range(T::PRECISION);
        let pairs = |v: &[[f64; 2]]| v.iter().map(|a| a.map(T::of)).collect();
        Factors {
            n: self.n,
            half_band: self.half_band,
            core: self.core,
            head,
            tail,
            lower: self.lower.iter().map(|a| a.map(T::of)).collect(),
            upper: pairs(&self.upper),
            rows: pairs(&self.rows),
            columns: pairs(&self.columns),
            corner: self.corner.map(T::of),
        }
    }

    /// The core rows 0..head and tail..core whose coupling to the border is above the round-off of `precision`.
    pub(crate) fn border_range(&self, precision: Precision) -> (usize, usize) {
        let (core, border) = (self.core, self.n - self.core);
        if border == 0 {
            return (0, core);
        }
        let tail = core - border;
        let size = |m: usize, q: usize| self.columns[m][q].abs().max(self.rows[m][q].abs());
        let matters = |m: usize| (0..border).any(|q| size(m, q) > 1e-3 * precision.epsilon());
        ((0..tail).rposition(matters).map_or(0, |last| last + 1), tail)
    }
}

impl<T> Factors<T> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True for a system without rows, which cannot be constructed.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Half-bandwidth p: 0, 1 or 2.
    pub fn half_band(&self) -> usize {
        self.half_band
    }
}

/// Solves A x = b in place for one line: `x` holds b and receives x.
///
/// # Panics
/// If the length of `x` differs from that of the system.
pub fn solve<T: Real>(factors: &Factors<T>, x: &mut [T]) {
    struct OneLine<'a, T>(&'a Factors<T>, &'a mut [T]);
    impl<T: Real> pulp::WithSimd for OneLine<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let Self(factors, x) = self;
            match factors.half_band {
                0 => {}
                1 => solve_line::<S, T, 1>(simd, factors, x),
                _ => solve_line::<S, T, 2>(simd, factors, x),
            }
        }
    }
    assert_eq!(x.len(), factors.n, "right-hand side and system differ in length");
    pulp::Arch::new().dispatch(OneLine(factors, x));
}

/// c x + y, rounded once where the machine has such an instruction.
#[inline(always)]
fn added<S: Simd, T: Real>(simd: S, c: T, x: T, y: T) -> T {
    let [c, x, y] = [c, x, y].map(|number| T::splat(simd, number));
    let mut sum = [T::ZERO];
    T::store(simd, &mut sum, T::fma(simd, c, x, y));
    sum[0]
}

/// Like [`solve`] for factors with half-bandwidth `P`.
#[inline(always)]
fn solve_line<S: Simd, T: Real, const P: usize>(simd: S, factors: &Factors<T>, x: &mut [T]) {
    let (core, head, tail) = (factors.core, factors.head, factors.tail);
    let coupled = |m: usize| m < head || m >= tail;
    // Forward elimination: the last d's, and the sums of the border rows.
    let (mut before, mut border) = ([T::ZERO; P], [T::ZERO; P]);
    for m in 0..core {
        let [inverse, l1, l2] = factors.lower[m];
        let mut d = inverse * x[m];
        if P > 1 {
            d = added(simd, -l2, before[P - 1], d);
        }
        d = added(simd, -l1, before[0], d);
        if coupled(m) {
            for (border, c) in border.iter_mut().zip(factors.rows[m]) {
                *border = added(simd, c, d, *border);
            }
        }
        if P > 1 {
            before[P - 1] = before[0];
        }
        before[0] = d;
        x[m] = d;
    }

    // The border unknowns: the last p of a cyclic line; without a border they stay zero.
    let mut last = [T::ZERO; P];
    if core < factors.n {
        let [inv0, inv1, l10, u01] = factors.corner;
        for q in 0..P {
            last[q] = x[core + q] - border[q];
        }
        last[0] = inv0 * last[0];
        if P > 1 {
            last[1] = inv1 * added(simd, -l10, last[0], last[1]);
            last[0] = added(simd, -u01, last[1], last[0]);
        }
        x[core..].copy_from_slice(&last);
    }

    // Back substitution: the next x's.
    let mut after = [T::ZERO; P];
    for m in (0..core).rev() {
        let [u1, u2] = factors.upper[m];
        let mut value = x[m];
        if P > 1 {
            value = added(simd, -u2, after[P - 1], value);
        }
        if coupled(m) {
            for (last, c) in last.iter().zip(factors.columns[m]) {
                value = added(simd, -c, *last, value);
            }
        }
        value = added(simd, -u1, after[0], value);
        if P > 1 {
            after[P - 1] = after[0];
        }
        after[0] = value;
        x[m] = value;
    }
}
