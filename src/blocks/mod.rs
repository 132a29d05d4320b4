//! Sparse systems of dense blocks, A x = b, solved by multicolour point-implicit sweeps (Zubair, Nielsen, Luitjens and Hammond 2017).
//!
//! A = D + O: every row has an `nb` x `nb` diagonal block in 64 bits, and off-diagonal blocks in 32 or 64 bits. Rows are coloured so that
//! no two rows of a colour are coupled; then all rows of a colour are solved at once,
//!
//! ```text
//! xᵢ ← (1 − ω) xᵢ + ω Dᵢ⁻¹ (bᵢ − Σⱼ Oᵢⱼ xⱼ),
//! ```
//!
//! one colour after another, each with the newest values of the others; across ranks these values are exchanged as a [`Halo`] after each
//! colour. A [`Pattern`] defines the non-zero blocks, its [`Colouring`] the order of the rows, a [`BlockMatrix`] holds the numbers, and a
//! [`Factored`] matrix is ready for sweeps, on a device as [`BlockSweeps`](crate::backend::device::BlockSweeps).
//!
//! ```
//! use kolmo::blocks::{BlockMatrix, Colouring, Pattern, Sweeps};
//!
//! // Two coupled rows: 2 in their diagonal blocks of one number, 1 in their off-diagonal blocks.
//! let pattern = Pattern::new(vec![0, 1, 2], vec![1, 0])?;
//! let mut matrix = BlockMatrix::<f32>::zeros(Colouring::new(&pattern).into(), 1)?;
//! for row in 0..2 {
//!     matrix.diagonal_mut(row)[0] = 2.0;
//!     matrix.block_mut(row)[0] = 1.0;
//! }
//! let (matrix, mut x) = (matrix.factored()?, [0.0; 2]);
//! matrix.sweep(pulp::Arch::new(), &[3.0, 3.0], &mut x, Sweeps { count: 30, ..Sweeps::default() });
//! assert_eq!(x, [1.0; 2]);
//! # Ok::<(), kolmo::Error>(())
//! ```

mod colouring;
mod factored;
mod halo;
mod lu;
mod matrix;
mod pattern;
mod rows;

pub use colouring::Colouring;
pub use factored::{Direction, Factored, Sweeps};
pub use halo::{Halo, Shift};
pub use matrix::{BlockMatrix, MOST};
pub use pattern::Pattern;
