//! Statistics of turbulence in a periodic box: moments, spectra, structure functions, densities of gradients; between two walls,
//! profiles.
//!
//! They are computed from a [`Sample`], plain values on the host in f64, each rank with those of its block; averages are
//! volume averages over the box, written ⟨·⟩ below, and go over all ranks. Everything is non-dimensional as the equations
//! are. Where nothing varies along an axis (one point) no wavenumber, separation or gradient lies along it.
//!
//! | module | what it computes | file in `RUN_DIR/statistics` |
//! |---|---|---|
//! | [`moments`] | means, variances, Reynolds and Favre stresses, now and averaged over time | `moments.csv` |
//! | [`spectrum`] | energy, dissipation and variance by wavenumber | `spectra.csv` |
//! | [`increments`] | structure functions by separation | `structure.csv` |
//! | [`gradients`] | probability densities of ∂uᵢ/∂xⱼ and their moments | `gradients.csv`, `gradient_moments.csv` |
//! | [`profiles`] | averages over planes parallel to walls, in wall units too, averaged over time | `profiles.csv` |
//! | [`mod@turbulence`] | scales, Reynolds and Mach numbers, skewness, shares of the dilatational part | `turbulence.csv` |
//!
//! [`crate::time::Statistics`] is what a run keeps: it samples, averages and writes.

pub mod gradients;
pub mod increments;
pub mod moments;
mod options;
pub mod profiles;
mod sample;
pub mod spectrum;
mod sums;
pub mod turbulence;

pub use moments::Running;
pub use options::Statistic;
pub use profiles::RunningProfiles;
pub use sample::{BetweenWalls, Flow, Kind, Sample};
