//! Probability density functions of velocity gradients, and their moments.
//!
//! Longitudinal gradients are ∂uₐ/∂xₐ along every axis a with more than one point, pooled together; transverse ones are
//! ∂uᵢ/∂xₐ of the components i that are transverse as in [`super::increments`]. Their means vanish in a periodic box, so the
//! moments are not centred: ⟨g²⟩, the skewness ⟨g³⟩/⟨g²⟩^{3/2} and the flatness ⟨g⁴⟩/⟨g²⟩². Densities are those of g/⟨g²⟩^{1/2},
//! in bins that are the same in every run; the two end bins include all values beyond them, so that a density integrates to one.

use super::increments::transverse_components;
use super::sums::{long_sums, sums};
use crate::comm::Communicator;
use crate::grid::{Axis, Grid};

/// Number of bins of a density.
pub const BINS: usize = 201;

/// The bins extend to ± this many root mean squares.
pub const REACH: f64 = 15.0;

/// Width of a bin, in root mean squares.
const BIN_WIDTH: f64 = 2.0 * REACH / BINS as f64;

/// The density of a quantity and its moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// `longitudinal` or `transverse`.
    pub quantity: &'static str,
    /// ⟨g²⟩.
    pub mean_square: f64,
    /// Skewness; 0/0, NaN, where the gradient is zero everywhere.
    pub skewness: f64,
    /// Flatness: 3 for a normal distribution; NaN where the gradient is zero everywhere.
    pub flatness: f64,
    /// The density in each bin, the value at [`centre`]; empty where the gradient is zero everywhere.
    pub density: Vec<f64>,
}

/// The centre of a bin, in root mean squares.
pub fn centre(bin: usize) -> f64 {
    (bin as f64 + 0.5) * BIN_WIDTH - REACH
}

/// Densities of the longitudinal and the transverse gradients, from ∂uᵢ/∂xⱼ at 3 i + j; empty on a single point. Collective.
pub fn densities(comm: &dyn Communicator, grid: &Grid, gradient: &[Vec<f64>; 9]) -> Vec<Density> {
    let along = |axis: Axis| 4 * axis.index();
    let longitudinal: Vec<usize> = grid.active_axes().map(along).collect();
    let across = |axis: Axis| {
        transverse_components(grid, axis).into_iter().map(move |i| 3 * i + axis.index())
    };
    let transverse: Vec<usize> = grid.active_axes().flat_map(across).collect();
    if longitudinal.is_empty() {
        return Vec::new();
    }
    [("longitudinal", longitudinal), ("transverse", transverse)]
        .map(|(quantity, which)| {
            let fields: Vec<&[f64]> = which.into_iter().map(|at| &gradient[at][..]).collect();
            density(comm, grid, quantity, &fields)
        })
        .into()
}

/// The density of all values of some fields together. Collective.
fn density(
    comm: &dyn Communicator,
    grid: &Grid,
    quantity: &'static str,
    fields: &[&[f64]],
) -> Density {
    let points = fields[0].len();
    let mut moments = sums(points, 3, |at, sums| {
        for field in fields {
            let square = field[at] * field[at];
            sums[0] += square;
            sums[1] += square * field[at];
            sums[2] += square * square;
        }
    });
    comm.sum(&mut moments);
    let per_value = grid.per_point() / fields.len() as f64;
    let [square, cube, fourth] = [0, 1, 2].map(|q| moments[q] * per_value);
    let rms = square.sqrt();
    let mut density = Vec::new();
    if rms > 0.0 {
        density = long_sums(points, BINS, |at, counts| {
            fields.iter().for_each(|field| counts[bin(field[at] / rms)] += 1.0);
        });
        comm.sum(&mut density);
        density.iter_mut().for_each(|count| *count *= per_value / BIN_WIDTH);
    }
    let skewness = cube / (square * rms);
    Density {
        quantity,
        mean_square: square,
        skewness,
        flatness: fourth / (square * square),
        density,
    }
}

/// The bin of a value in root mean squares.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bins")]
fn bin(value: f64) -> usize {
    ((value + REACH) / BIN_WIDTH).floor().clamp(0.0, (BINS - 1) as f64) as usize
}
