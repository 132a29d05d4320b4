//! Reduction of cyclic matrices to open (non-cyclic) ones.

use super::banded::wrapped;
use super::{BandedMatrix, Factors, solve};

/// A matrix whose last p unknowns are bordered off if it is cyclic, p the half-bandwidth:
/// ```text
/// A = | T  U |   T y = b         n − p rows, open: any solver of banded systems will do
///     | V  D |   S x' = b' − V y,  S = D − V T⁻¹ U,  x' the last p unknowns
///                x = y − Z x',     Z = T⁻¹ U
/// ```
/// V reads the first p and the last p values of y only, and Z decays from both ends like T⁻¹, so only few rows are
/// corrected.
#[derive(Clone, Debug)]
pub struct Border {
    /// T, or the whole matrix if it is open.
    pub core: BandedMatrix,
    /// Number of border unknowns: p, or 0 if the matrix is open.
    pub width: usize,
    /// x' = Σ `unknowns[r][..]` (first p of y, last p of y, b'), 3 p numbers per row.
    pub unknowns: Vec<Vec<f64>>,
    /// Z, p numbers per row.
    pub correction: Vec<Vec<f64>>,
    /// Z is above round-off in the first `head` and the last `tail` rows.
    pub head: usize,
    /// See `head`.
    pub tail: usize,
}

impl Border {
    /// Splits `matrix`; entries of Z smaller than `tolerance` are omitted.
    ///
    /// # Panics
    /// As [`Factors::new`].
    pub fn new(matrix: &BandedMatrix, tolerance: f64) -> Self {
        let n = matrix.len();
        let p = matrix.half_band();
        let width = if matrix.is_cyclic() { p } else { 0 };
        let rows = n - width;
        let core = open_part(matrix, 0, rows);
        if width == 0 {
            let none = Vec::new;
            return Self { core, width, unknowns: none(), correction: none(), head: 0, tail: 0 };
        }
        let offsets = || (-2_isize..=2).filter(|d| d.unsigned_abs() <= p);
        let factors = Factors::new(&core);
        let z: Vec<Vec<f64>> = (0..width)
            .map(|q| {
                let mut column = vec![0.0; rows];
                for (m, value) in column.iter_mut().enumerate() {
                    let couples = |d: &isize| wrapped(m, *d, n) == rows + q;
                    *value = offsets().filter(couples).map(|d| matrix.entry(m, d)).sum();
                }
                solve(&factors, &mut column);
                column
            })
            .collect();

        // V as its weights of the first p and the last p values, and S.
        let mut v = vec![vec![0.0; 2 * p]; width];
        let mut s = [[0.0; 2], [0.0, 1.0]];
        for r in 0..width {
            for d in offsets() {
                let (a, column) = (matrix.entry(rows + r, d), wrapped(rows + r, d, n));
                if column >= rows {
                    s[r][column - rows] = a;
                    continue;
                }
                let slot = if column + p >= rows { column + 2 * p - rows } else { column };
                v[r][slot] += a;
            }
        }
        for r in 0..width {
            for q in 0..width {
                let read = |slot: usize| if slot < p { slot } else { rows + slot - 2 * p };
                s[r][q] -= (0..2 * p).map(|slot| v[r][slot] * z[q][read(slot)]).sum::<f64>();
            }
        }
        let inverse = inverted(s);
        let unknowns = (0..width)
            .map(|r| {
                let of_y = (0..2 * p)
                    .map(|slot| -(0..width).map(|q| inverse[r][q] * v[q][slot]).sum::<f64>());
                of_y.chain(inverse[r][..width].iter().copied()).collect()
            })
            .collect();
        let matters = |m: &usize| z.iter().any(|column| column[*m].abs() > tolerance);
        let half = rows / 2;
        let head = (0..half).rfind(matters).map_or(0, |m| m + 1);
        let tail = (half..rows).find(matters).map_or(0, |m| rows - m);
        let correction = (0..rows).map(|m| z.iter().map(|column| column[m]).collect()).collect();
        Self { core, width, unknowns, correction, head, tail }
    }

    /// Number of rows of T.
    pub fn rows(&self) -> usize {
        self.core.len()
    }
}

/// Rows and columns `first` .. `first + rows` of a matrix, as an open matrix.
pub(super) fn open_part(matrix: &BandedMatrix, first: usize, rows: usize) -> BandedMatrix {
    BandedMatrix::open(rows, |m, d| matrix.entry(first + m, d))
}

/// The inverse of a 2 x 2 matrix.
pub(super) fn inverted(a: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [
        [a[1][1] / determinant, -a[0][1] / determinant],
        [-a[1][0] / determinant, a[0][0] / determinant],
    ]
}
