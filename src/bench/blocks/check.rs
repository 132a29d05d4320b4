//! Compares a sweep with plain loops, row by row.

use crate::bench::check::difference;
use crate::blocks::{BlockMatrix, Colouring, Pattern};
use crate::real::Real;

/// Number of rows that are compared.
const SAMPLES: usize = 300;

/// Some rows of a matrix, stored before it is factored.
pub(super) struct Samples {
    nb: usize,
    rows: Vec<Sample>,
}

/// A row: its number, and its blocks by column, the diagonal block last.
struct Sample {
    row: usize,
    blocks: Vec<(usize, Vec<f64>)>,
}

impl Samples {
    /// Evenly spaced in the order of solution, so that every colour with many rows is sampled.
    pub(super) fn of<S: Real>(matrix: &mut BlockMatrix<S>, pattern: &Pattern) -> Self {
        let (colouring, nb) = (matrix.colouring.clone(), matrix.nb);
        let stride = pattern.rows().div_ceil(SAMPLES);
        let sample = |place: usize| {
            let row = colouring.row(place);
            let columns = pattern.row(row).zip(pattern.columns_of(row));
            let off_diagonal = columns.map(|(block, &column)| {
                (column as usize, matrix.block_mut(block).iter().map(|x| x.f64()).collect())
            });
            let mut blocks: Vec<(usize, Vec<f64>)> = off_diagonal.collect();
            blocks.push((row, matrix.diagonal_mut(row).to_vec()));
            Sample { row, blocks }
        };
        let rows = (0..pattern.rows()).step_by(stride).chain([pattern.rows() - 1]);
        Self { nb, rows: rows.map(sample).collect() }
    }

    /// The largest residual of a row after one sweep from `old` to `new`, with new values of earlier colours and old values of
    /// later colours, relative to the sum of the magnitudes of its terms.
    pub(super) fn error(&self, colouring: &Colouring, b: &[f64], old: &[f64], new: &[f64]) -> f64 {
        let nb = self.nb;
        let mut worst = 0.0_f64;
        for Sample { row, blocks } in &self.rows {
            let own = colouring.place(*row);
            for i in 0..nb {
                let (mut sum, mut size) = (-b[own * nb + i], b[own * nb + i].abs());
                for (column, block) in blocks {
                    let place = colouring.place(*column);
                    let x = if place <= own { new } else { old };
                    for (j, x) in x[place * nb..][..nb].iter().enumerate() {
                        sum += block[i + j * nb] * x;
                        size += (block[i + j * nb] * x).abs();
                    }
                }
                worst = worst.max(difference(sum / size, 0.0));
            }
        }
        worst
    }
}
