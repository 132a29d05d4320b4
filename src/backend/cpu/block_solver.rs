//! Systems of blocks whose rows are the points of fields, on the host.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Cpu, Field};
use crate::blocks::{Colouring, Factored, Sweeps};
use crate::real::Real;

/// Rows that a thread takes at least.
const PART: usize = 1024;

/// A matrix, and b and x in the order in which its rows are solved.
pub(super) struct Solver {
    matrix: Option<Factored<f32>>,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl Solver {
    pub(super) fn new(colouring: &Arc<Colouring>, nb: usize) -> Self {
        let zeros = || vec![0.0; colouring.rows() * nb];
        Self { matrix: None, b: zeros(), x: zeros() }
    }

    pub(super) fn set(&mut self, matrix: Factored<f32>) {
        self.matrix = Some(matrix);
    }
}

impl<T: Real> Cpu<T> {
    /// x of A x ≈ b by sweeps from 0.
    pub(super) fn sweep_blocks(
        &self,
        Solver { matrix, b: right, x: unknowns }: &mut Solver,
        sweeps: Sweeps,
        b: &[&Field<T>],
        x: &mut [&mut Field<T>],
    ) {
        let Some(matrix) = matrix else { unreachable!("a matrix is set before it is solved") };
        let (colouring, nb) = (matrix.colouring(), matrix.nb());
        self.within(|| {
            let rows = right.par_chunks_exact_mut(nb).zip(unknowns.par_chunks_exact_mut(nb));
            rows.with_min_len(PART).enumerate().for_each(|(place, (right, unknowns))| {
                let row = colouring.row(place);
                right.iter_mut().zip(b).for_each(|(right, b)| *right = b[row].f64());
                unknowns.fill(0.0);
            });
            matrix.sweep(self.arch(), right, unknowns, sweeps);
            for (k, x) in x.iter_mut().enumerate() {
                x.par_iter_mut().with_min_len(PART).enumerate().for_each(|(row, x)| {
                    *x = T::of(unknowns[colouring.place(row) * nb + k]);
                });
            }
        });
    }
}
