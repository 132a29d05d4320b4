//! A matrix of dense blocks, to be filled and then factored.

use std::sync::Arc;

use super::rows::TAIL;
use super::{Colouring, Factored, lu};
use crate::error::{Error, Result};
use crate::huge_pages;
use crate::real::Real;

/// Largest number of rows of a block.
pub const MOST: usize = 1 << 16;

/// A matrix of blocks of `nb` x `nb` numbers, each stored by columns. Off-diagonal blocks have the format `S`, diagonal blocks 64 bits
/// (Zubair et al. 2017, section II).
#[derive(Clone, Debug)]
pub struct BlockMatrix<S> {
    /// The order of the rows, and their colours.
    pub colouring: Arc<Colouring>,
    /// Rows and columns of a block.
    pub nb: usize,
    diagonal: Vec<f64>,
    /// In the order of `colouring`, padded by [`TAIL`] numbers for whole registers.
    off_diagonal: Vec<S>,
}

impl<S: Real> BlockMatrix<S> {
    /// A matrix of zeros.
    ///
    /// # Errors
    /// If `nb` is 0 or above [`MOST`].
    pub fn zeros(colouring: Arc<Colouring>, nb: usize) -> Result<Self> {
        if nb == 0 || nb > MOST {
            return Err(Error::refused(
                format!("blocks of {nb} x {nb} numbers"),
                &format!("blocks of 1 to {MOST} rows can be solved"),
            ));
        }
        let diagonal = huge_pages::filled(colouring.rows() * nb * nb, 0.0);
        let off_diagonal =
            huge_pages::filled(colouring.pattern().blocks() * nb * nb + TAIL, S::ZERO);
        Ok(Self { colouring, nb, diagonal, off_diagonal })
    }

    /// The diagonal block of the caller's `row`: entry (i, j) at i + j nb.
    pub fn diagonal_mut(&mut self, row: usize) -> &mut [f64] {
        let len = self.nb * self.nb;
        &mut self.diagonal[self.colouring.place(row) * len..][..len]
    }

    /// The caller's off-diagonal block number `block`, in the numbering of the pattern.
    pub fn block_mut(&mut self, block: usize) -> &mut [S] {
        let len = self.nb * self.nb;
        &mut self.off_diagonal[self.colouring.block(block) * len..][..len]
    }

    /// Factor every diagonal block into L U, with row pivoting within the block.
    ///
    /// # Errors
    /// If a diagonal block is singular or has a non-finite number; the message gives its row.
    pub fn factored(self) -> Result<Factored<S>> {
        let Self { colouring, nb, mut diagonal, off_diagonal } = self;
        let mut pivots = vec![0; colouring.rows() * nb];
        lu::factor_all(nb, &mut diagonal, &mut pivots).map_err(|(place, column)| {
            let row = colouring.row(place);
            Error::refused(
                format!(
                    "the diagonal block of row {row} is singular: column {column} has no pivot"
                ),
                "every diagonal block must have an inverse",
            )
        })?;
        Ok(Factored { colouring, nb, factors: diagonal, pivots, off_diagonal })
    }
}
