//! Systems of dense blocks at the places of a graph, A x = b, by multicolour point-implicit sweeps (Zubair, Nielsen, Luitjens and
//! Hammond 2017).
//!
//! A = D + O: every row has an `nb` x `nb` block on the diagonal, in 64 bit, and others beside it, in 32 or 64. Rows are
//! coloured so that no two of one colour know each other; then all rows of a colour are solved at once,
//!
//! ```text
//! xᵢ ← (1 − ω) xᵢ + ω Dᵢ⁻¹ (bᵢ − Σⱼ Oᵢⱼ xⱼ),
//! ```
//!
//! colour after colour, each with the newest values of the others; over ranks they travel as a [`Halo`] after each colour. A [`Pattern`] says which blocks there are, its
//! [`Colouring`] in which order rows are solved, a [`BlockMatrix`] holds numbers, a [`Factored`] one is ready for sweeps, on a
//! device as [`BlockSweeps`](crate::backend::device::BlockSweeps).
//!
//! ```
//! use kolmo::blocks::{BlockMatrix, Colouring, Pattern, Sweeps};
//!
//! // Two rows that know each other: 2 in their diagonal blocks of one number, 1 beside them.
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
