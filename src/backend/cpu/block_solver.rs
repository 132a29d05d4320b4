//! Block systems whose rows are the points of fields, on the host.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Cpu, Field as Values};
use crate::backend::Field;
use crate::blocks::{Colouring, Factored, Halo, Sweeps};
use crate::huge_pages;
use crate::real::Real;

/// Minimum number of rows per thread.
const MIN_ROWS_PER_THREAD: usize = 1024;

/// A matrix, and b and x in the order in which its rows are solved.
pub(super) struct Solver {
    pub(super) matrix: Option<Factored<f32>>,
    b: Vec<f64>,
    x: Vec<f64>,
    /// Buffers for values sent to and received from other ranks, and their layout.
    border: Field,
    halo: Halo,
    ranges: Vec<Vec<[Range<usize>; 2]>>,
}

impl Solver {
    pub(super) fn new(
        colouring: &Arc<Colouring>,
        (halo, border): (&Halo, Field),
        nb: usize,
    ) -> Self {
        Self {
            matrix: None,
            b: huge_pages::filled(colouring.rows() * nb, 0.0),
            x: huge_pages::filled(colouring.pattern().width() * nb, 0.0),
            border,
            halo: halo.clone(),
            ranges: halo.ranges(nb),
        }
    }

    /// Computes x of A x ≈ b by sweeps from x = 0; `exchange` provides the values of other ranks after each colour.
    pub(super) fn sweep<T: Real>(
        &mut self,
        cpu: &Cpu<T>,
        sweeps: Sweeps,
        b: &[&Values<T>],
        x: &mut [&mut Values<T>],
        exchange: &mut (dyn FnMut(usize, &mut Field) + Send),
    ) {
        let Self { matrix, b: rhs, x: unknowns, border, halo, ranges } = self;
        let Some(matrix) = matrix else { unreachable!("a matrix is set before it is solved") };
        let (colouring, nb) = (&matrix.colouring, matrix.nb);
        let mut exchange_colour = |colour: usize, x: &mut [f64]| {
            let shifts = || halo.0.get(colour).into_iter().flatten().zip(&ranges[colour]);
            let own = border.get_mut::<Values<T>>();
            for (shift, [outgoing, _]) in shifts() {
                for (row, to) in shift.rows.iter().zip(own[outgoing.clone()].chunks_exact_mut(nb)) {
                    let from = &x[nb * colouring.place(*row as usize)..];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = T::of(*from));
                }
            }
            exchange(colour, border);
            let own = border.get::<Values<T>>();
            for (shift, [_, incoming]) in shifts() {
                for (column, from) in
                    shift.columns.iter().zip(own[incoming.clone()].chunks_exact(nb))
                {
                    let to = &mut x[nb * *column as usize..];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.f64());
                }
            }
        };
        cpu.within(|| {
            let ordered =
                rhs.par_chunks_exact_mut(nb).with_min_len(MIN_ROWS_PER_THREAD).enumerate();
            ordered.for_each(|(place, rhs)| {
                let row = colouring.row(place);
                rhs.iter_mut().zip(b).for_each(|(rhs, b)| *rhs = b[row].f64());
            });
            unknowns.fill(0.0);
            matrix.sweep_with_exchange(cpu.arch(), rhs, unknowns, sweeps, &mut exchange_colour);
            for (k, x) in x.iter_mut().enumerate() {
                x.par_iter_mut().with_min_len(MIN_ROWS_PER_THREAD).enumerate().for_each(
                    |(row, x)| {
                        *x = T::of(unknowns[colouring.place(row) * nb + k]);
                    },
                );
            }
        });
    }
}
