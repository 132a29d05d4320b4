//! Statistics of turbulence: moments, spectra, structure functions and densities of gradients in a periodic box; profiles between
//! two walls.
//!
//! They are computed from a [`Sample`], plain f64 values on the host, on each rank those of its block; averages are volume
//! averages over the whole box, on all ranks, written ⟨·⟩ below. Everything is non-dimensional, like the equations. An axis of
//! one point has no wavenumbers, separations or gradients.
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
//! [`crate::time::Statistics`] samples, averages and writes them in a run.

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
