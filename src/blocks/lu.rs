//! LU factors of the diagonal blocks.

use rayon::prelude::*;

/// Factor every block in place: below the diagonal L, with unit diagonal; above it U; on the diagonal 1/uⱼⱼ. `pivots` gets the original row
/// of each row of the block. Partial pivoting (Golub and Van Loan 2013, algorithm 3.4.1). The error is the index of the first block that is
/// singular to working precision, and the column without a pivot.
pub(super) fn factor_all(
    nb: usize,
    blocks: &mut [f64],
    pivots: &mut [u16],
) -> Result<(), (usize, usize)> {
    let each = blocks.par_chunks_exact_mut(nb * nb).zip(pivots.par_chunks_exact_mut(nb));
    let singular = each
        .enumerate()
        .map_init(Vec::new, |largest, (place, (block, pivots))| {
            factor(nb, block, pivots, largest).map_err(|column| (place, column))
        })
        .find_first(Result::is_err);
    singular.unwrap_or(Ok(()))
}

/// Factor one block; `largest` is scratch memory.
#[allow(clippy::cast_possible_truncation, reason = "at most 2^16 rows")]
fn factor(
    nb: usize,
    a: &mut [f64],
    pivots: &mut [u16],
    largest: &mut Vec<f64>,
) -> Result<(), usize> {
    let most = |column: &[f64]| column.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    largest.clear();
    largest.extend(a.chunks_exact(nb).map(most));
    pivots.iter_mut().enumerate().for_each(|(row, pivot)| *pivot = row as u16);
    for j in 0..nb {
        let column = &a[j * nb..][..nb];
        let pivot = (j..nb).max_by(|&i, &k| column[i].abs().total_cmp(&column[k].abs()));
        let pivot = pivot.unwrap_or(j);
        let inverse = 1.0 / column[pivot];
        // A column that is a linear combination of others leaves only round-off.
        let enough = column[pivot].abs() > nb as f64 * f64::EPSILON * largest[j];
        if !enough || !inverse.is_finite() || !column[pivot].is_finite() {
            return Err(j);
        }
        if pivot != j {
            pivots.swap(pivot, j);
            (0..nb).for_each(|column| a.swap(pivot + column * nb, j + column * nb));
        }
        a[j + j * nb] = inverse;
        let (left, right) = a.split_at_mut((j + 1) * nb);
        let lower = &mut left[j * nb + j + 1..];
        lower.iter_mut().for_each(|x| *x *= inverse);
        for column in right.chunks_exact_mut(nb) {
            let factor = column[j];
            column[j + 1..].iter_mut().zip(&*lower).for_each(|(x, l)| *x -= l * factor);
        }
    }
    Ok(())
}
