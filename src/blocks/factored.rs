//! Sweeps over the colours.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::Colouring;
use super::rows::{Rows, Unknowns};
use crate::real::Real;

/// The order of the colours in a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The first colour first.
    #[default]
    Forward,
    /// Forward and back; the last colour, which the backward part would only repeat, is solved once.
    Symmetric,
}

/// Sweeps over all colours.
#[derive(Clone, Copy, Debug)]
pub struct Sweeps {
    /// Number of sweeps.
    pub count: usize,
    /// The order of the colours.
    pub direction: Direction,
    /// ω: relaxation factor of an update, 1 for the full update.
    pub relaxation: f64,
}

impl Sweeps {
    /// The order in which `colours` colours are solved. A symmetric sweep starts with the colour that the previous one ended with; without
    /// relaxation, that colour is not solved again.
    pub(crate) fn colours(self, colours: usize) -> impl Iterator<Item = usize> {
        let is_symmetric = self.direction == Direction::Symmetric;
        let back = if is_symmetric { colours.saturating_sub(1) } else { 0 };
        let done = usize::from(is_symmetric && self.relaxation == 1.0);
        (0..self.count).flat_map(move |sweep| {
            let first = if sweep == 0 { 0 } else { done };
            (first..colours).chain((0..back).rev())
        })
    }
}

impl Default for Sweeps {
    /// One forward sweep without relaxation.
    fn default() -> Self {
        Self { count: 1, direction: Direction::Forward, relaxation: 1.0 }
    }
}

/// A [`BlockMatrix`](super::BlockMatrix) with factored diagonal blocks.
#[derive(Clone, Debug)]
pub struct Factored<S> {
    /// The order of the rows, and their colours.
    pub colouring: Arc<Colouring>,
    /// Rows and columns of a block.
    pub nb: usize,
    /// L and U of each row, stored by columns; reciprocals on the diagonal of U.
    pub(crate) factors: Vec<f64>,
    /// The original row of each row of a diagonal block.
    pub(crate) pivots: Vec<u16>,
    pub(super) off_diagonal: Vec<S>,
}

/// Number of rows per task of a thread.
const ROWS: usize = 256;

impl<S: Real> Factored<S> {
    /// The off-diagonal blocks, in the order of the colouring, each stored by columns.
    pub(crate) fn off_diagonal(&self) -> &[S] {
        &self.off_diagonal[..self.colouring.pattern().blocks() * self.nb * self.nb]
    }

    /// Minimum memory traffic of a forward sweep in bytes: blocks, columns, factors and pivots once, b once, x read and written.
    pub fn bytes(&self) -> usize {
        let (rows, blocks) = (self.colouring.rows(), self.colouring.pattern().blocks());
        let of_block = self.nb * self.nb * S::PRECISION.bytes() + size_of::<u32>();
        let of_row = self.nb * self.nb * size_of::<f64>() + self.nb * size_of::<u16>();
        rows * (of_row + 3 * self.nb * size_of::<f64>()) + blocks * of_block
    }

    /// Sweep over A x = b, starting from this x (Zubair et al. 2017, section III), with the vector instructions of `arch`, on the threads
    /// of the current pool. `b` and `x` have the order of the [`Colouring`]. Results do not depend on the number of threads.
    ///
    /// # Panics
    /// If a vector does not have `nb` numbers for each row.
    pub fn sweep(&self, arch: pulp::Arch, b: &[f64], x: &mut [f64], sweeps: Sweeps) {
        self.sweep_with_exchange(arch, b, x, sweeps, &mut |_, _| ());
    }

    /// [`Self::sweep`] where `x` also has unknowns of other ranks: `exchange` updates those of a colour after it, except after the last
    /// colour.
    ///
    /// # Panics
    /// If `b` does not have `nb` numbers for each row, or `x` for each column.
    pub fn sweep_with_exchange(
        &self,
        arch: pulp::Arch,
        b: &[f64],
        x: &mut [f64],
        sweeps: Sweeps,
        exchange: &mut dyn FnMut(usize, &mut [f64]),
    ) {
        let len = [self.colouring.rows(), self.colouring.pattern().width()].map(|n| n * self.nb);
        assert_eq!([b.len(), x.len()], len, "unknowns");
        let colours: Vec<_> = self.colouring.colours().collect();
        let mut order = sweeps.colours(colours.len()).peekable();
        while let Some(colour) = order.next() {
            self.solve(arch, b, x, sweeps.relaxation, colours[colour].clone());
            if order.peek().is_some() {
                exchange(colour, x);
            }
        }
    }

    /// Solve the rows of one colour.
    fn solve(
        &self,
        arch: pulp::Arch,
        b: &[f64],
        x: &mut [f64],
        relaxation: f64,
        colour: Range<usize>,
    ) {
        let x = Unknowns::new(x);
        (0..colour.len().div_ceil(ROWS)).into_par_iter().for_each(|part| {
            let first = colour.start + part * ROWS;
            let rows = first..colour.end.min(first + ROWS);
            arch.dispatch(Rows { matrix: self, b, x, rows, relaxation });
        });
    }
}
