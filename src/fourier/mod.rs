//! Fourier transforms of fields that are periodic and spread over ranks.
//!
//! A transform goes along x, then y, then z. Before each axis one all-to-all brings whole lines along it to a rank
//! ([`crate::grid::redistribute`]), whose own transforms are then as on one rank. Any number of points along an axis will
//! do, odd, prime or one, and any number of ranks; those for which there are no lines left hold nothing meanwhile.
//!
//! The coefficients of a real field f of N points are û(m) = 1/N Σ f(x) exp(−2πi Σ mₐ iₐ/nₐ), so that f is the sum of its
//! modes and û(0) its mean. Of two modes m and −m, which are conjugate, only the one with mₓ ≥ 0 is held.

mod lines;
mod pencils;
mod pressure;
mod resample;
mod shells;
mod transform;

pub(crate) use lines::map_to_rows;
pub(crate) use pencils::{Pencils, carry};
pub use pressure::pressure;
pub use resample::resample;
pub use shells::Shells;
pub use transform::{Fourier, Mode, Modes};
