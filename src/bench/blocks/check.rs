//! A sweep held against plain loops, row by row.

use crate::bench::check::difference;
use crate::blocks::{BlockMatrix, Colouring, Pattern};
use crate::real::Real;

/// Rows that are looked at.
const SAMPLES: usize = 300;

/// Some rows of a matrix before it is factored.
pub(super) struct Samples {
    nb: usize,
    rows: Vec<Sample>,
}

/// A row: its number, and its blocks by column, that on the diagonal the last.
struct Sample {
    row: usize,
    blocks: Vec<(usize, Vec<f64>)>,
}

impl Samples {
    /// Evenly spaced in the order in which they are solved, so that some are of every colour of many rows.
    pub(super) fn of<S: Real>(matrix: &mut BlockMatrix<S>, pattern: &Pattern) -> Self {
        let (colouring, nb) = (matrix.colouring.clone(), matrix.nb);
        let apart = pattern.rows().div_ceil(SAMPLES);
        let sample = |place: usize| {
            let row = colouring.row(place);
            let columns = pattern.row(row).zip(pattern.columns_of(row));
            let beside = columns.map(|(block, &column)| {
                (column as usize, matrix.block_mut(block).iter().map(|x| x.f64()).collect())
            });
            let mut blocks: Vec<(usize, Vec<f64>)> = beside.collect();
            blocks.push((row, matrix.diagonal_mut(row).to_vec()));
            Sample { row, blocks }
        };
        let rows = (0..pattern.rows()).step_by(apart).chain([pattern.rows() - 1]);
        Self { nb, rows: rows.map(sample).collect() }
    }

    /// The largest residual of a row after one sweep from `old` to `new`, with new values of earlier colours and old values of later
    /// ones, as a fraction of the sum of the sizes of its terms.
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
