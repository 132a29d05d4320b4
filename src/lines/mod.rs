//! Banded line systems A x = b, in theory and on the host: factor once, solve many.
//!
//! A is tridiagonal or pentadiagonal (or the identity, for explicit schemes), cyclic or not, of any size down to
//! 2 p + 1 with p the half-bandwidth. The right-hand sides of many lines are solved side by side, one line per SIMD
//! lane.

mod banded;
mod border;
mod chunked;
mod cr;
mod neato;
mod pcr;
mod reduction;
mod thomas;

pub use banded::{BandedMatrix, MAX_HALF_BAND};
pub use border::Border;
pub use chunked::{Chunk, Chunks};
pub use cr::{CyclicReduction, Level};
pub use neato::NearToeplitz;
pub use pcr::BandedPcr;
pub use reduction::{Reduced, Reduction, TRIDIAGONAL_ONLY};
pub use thomas::{Factors, solve};
