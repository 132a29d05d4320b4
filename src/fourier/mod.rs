//! Fourier transforms of periodic fields distributed over ranks.
//!
//! A transform is done along x, then y, then z. Before each axis, one all-to-all exchange collects whole lines along that axis on each rank
//! ([`crate::grid::redistribute`]), which then transforms them locally. The number of points along an axis is arbitrary (odd, prime or
//! one), and so is the number of ranks; ranks without lines are idle.
//!
//! The coefficients of a real field f of N points are û(m) = 1/N Σ f(x) exp(−2πi Σ mₐ iₐ/nₐ), so f is the sum of its modes and û(0) is its
//! mean. Of two conjugate modes m and −m, only the one with mₓ ≥ 0 is stored.

mod lines;
mod pencils;
mod pressure;
mod resample;
mod shells;
mod transform;

pub(crate) use lines::map_to_rows;
pub(crate) use pencils::{Pencils, transfer};
pub use pressure::pressure;
pub use resample::resample;
pub use shells::Shells;
pub use transform::{Fourier, Mode, Modes};
