//! Parallel cyclic reduction of banded matrices with precomputed coefficients.

use super::BandedMatrix;

/// Entries at offsets 0, ±s, ±2 s of a row, s the stride of the level: `[2 + j]` is the one at j s.
type Row = [f64; 5];

/// Parallel cyclic reduction of an open tri- or pentadiagonal matrix (Song et al. 2022, eq. 3 to 6). At the level of
/// stride s = 1, 2, 4, ... every row i of every line becomes
/// ```text
/// d'[i] = d[i] − Σⱼ kⱼ[i] d[i + j s],   j = ±1 and, where pentadiagonal, ±2
/// ```
/// with the k that eliminate the entries at odd multiples of s; the remaining entries couple rows 2 s apart. Where the
/// couplings have fallen below round-off, or reach outside the matrix, d is divided by the diagonal. A coupling below
/// round-off is set to zero at once: quotients of such numbers are noise of any size.
#[derive(Clone, Debug)]
pub struct BandedPcr {
    /// Half-bandwidth p.
    pub half_band: usize,
    /// k₋ₚ ... k₋₁ k₁ ... kₚ of every level and row.
    pub levels: Vec<Vec<Vec<f64>>>,
    /// 1 / diagonal of every row after the last level.
    pub inverse: Vec<f64>,
}

impl BandedPcr {
    /// Computes the coefficients; couplings below `tolerance` times the diagonal count as zero.
    ///
    /// # Panics
    /// If the matrix is cyclic.
    pub fn new(matrix: &BandedMatrix, tolerance: f64) -> Self {
        assert!(!matrix.is_cyclic(), "the reduction is for open matrices");
        let (n, p) = (matrix.len(), matrix.half_band());
        let mut rows: Vec<Row> =
            (0..n).map(|m| [-2, -1, 0, 1, 2].map(|d| matrix.entry(m, d))).collect();
        rows.iter_mut().for_each(|row| *row = without_noise(*row, tolerance));
        let mut levels = Vec::new();
        let mut stride = 1;
        let coupled = |row: &Row| [0, 1, 3, 4].iter().any(|&slot| row[slot] != 0.0);
        while stride < n && rows.iter().any(coupled) {
            let weights: Vec<[f64; 4]> = (0..n).map(|i| cleared(&rows, i, stride, p)).collect();
            let used = |k: &[f64; 4]| k[2 - p..2 + p].to_vec();
            levels.push(weights.iter().map(used).collect());
            let next = |i: usize| without_noise(combined(&rows, i, stride, &weights[i]), tolerance);
            rows = (0..n).map(next).collect();
            stride *= 2;
        }
        Self { half_band: p, levels, inverse: rows.iter().map(|row| 1.0 / row[2]).collect() }
    }
}

/// The row without couplings below `tolerance` times its diagonal.
fn without_noise(mut row: Row, tolerance: f64) -> Row {
    let least = tolerance * row[2].abs();
    for slot in [0, 1, 3, 4] {
        if row[slot].abs() <= least {
            row[slot] = 0.0;
        }
    }
    row
}

/// Row i + j s, where it exists.
fn neighbour(rows: &[Row], i: usize, j: isize, stride: usize) -> Option<&Row> {
    i.checked_add_signed(j * stride.cast_signed()).and_then(|at| rows.get(at))
}

/// k₋₂, k₋₁, k₁, k₂ of row i: the solution of eq. 5 and 6. Row i ± 2 s serves to eliminate the entry at ± 3 s, so it is
/// not used where this column does not exist.
fn cleared(rows: &[Row], i: usize, stride: usize, p: usize) -> [f64; 4] {
    const OFFSETS: [isize; 4] = [-2, -1, 1, 2];
    const COLUMNS: [isize; 4] = [-3, -1, 1, 3];
    let mut a = [[0.0; 5]; 4];
    for (e, column) in COLUMNS.into_iter().enumerate() {
        let exists = neighbour(rows, i, column, stride).is_some() && (column.abs() == 1 || p == 2);
        if !exists {
            a[e][e] = 1.0;
            continue;
        }
        for (u, offset) in OFFSETS.into_iter().enumerate() {
            let slot = 2 + column - offset;
            if let (Some(row), 0..5) = (neighbour(rows, i, offset, stride), slot) {
                a[e][u] = row[slot.cast_unsigned()];
            }
        }
        a[e][4] = if column.abs() == 1 { rows[i][(2 + column).cast_unsigned()] } else { 0.0 };
    }
    eliminated(a)
}

/// Solves a system of four equations with its right-hand side in the last column, by Gaussian elimination with row
/// pivoting. A row without couplings to odd columns leaves a column without pivot; its unknown is not needed and is 0.
fn eliminated(mut a: [[f64; 5]; 4]) -> [f64; 4] {
    for pivot in 0..4 {
        let size = |row: usize| a[row][pivot].abs();
        let largest =
            (pivot..4).fold(pivot, |best, row| if size(row) > size(best) { row } else { best });
        a.swap(pivot, largest);
        for row in pivot + 1..4 {
            if a[row][pivot] != 0.0 {
                let factor = a[row][pivot] / a[pivot][pivot];
                for column in pivot..5 {
                    a[row][column] -= factor * a[pivot][column];
                }
            }
        }
    }
    let mut x = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4).map(|column| a[row][column] * x[column]).sum();
        if a[row][row] != 0.0 {
            x[row] = (a[row][4] - known) / a[row][row];
        }
    }
    x
}

/// Row i minus multiples of its neighbours, at the even multiples of the stride (eq. 3).
fn combined(rows: &[Row], i: usize, stride: usize, k: &[f64; 4]) -> Row {
    let mut result = [0.0; 5];
    for (slot, column) in [-4_isize, -2, 0, 2, 4].into_iter().enumerate() {
        if column.abs() <= 2 {
            result[slot] = rows[i][(2 + column).cast_unsigned()];
        }
        for (k, offset) in k.iter().zip([-2, -1, 1, 2]) {
            let at = 2 + column - offset;
            if let (Some(row), 0..5) = (neighbour(rows, i, offset, stride), at) {
                result[slot] -= k * row[at.cast_unsigned()];
            }
        }
    }
    result
}
