//! Pressure of an incompressible flow.

use super::{Fourier, Modes, Shells};
use crate::comm::Communicator;
use crate::grid::Grid;

/// The modes of p with −∇²p = ∂ᵢ∂ⱼ(uᵢuⱼ) and ⟨p⟩ = 0 for ρ = 1, from the velocity at the points of this rank's block: the pressure that
/// keeps div u = 0, for which the right-hand side is ∂ᵢuⱼ ∂ⱼuᵢ.
///
/// p̂ = − kᵢkⱼ (uᵢuⱼ)^/k². Products are formed at the points, so products of waves whose sum is too short for the grid are aliased. The
/// shortest waves of an even number of points, which have zero gradient at the points, are omitted. Takes 40 bytes per point. Collective.
pub fn pressure(
    comm: &dyn Communicator,
    fourier: &Fourier,
    grid: &Grid,
    velocity: [&[f64]; 3],
) -> Modes {
    let shells = Shells::new(grid);
    let mut pressure = fourier.zero_modes(comm);
    let pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
    for (i, j) in pairs.into_iter().filter(|&(i, j)| grid.active()[i] && grid.active()[j]) {
        let times = if i == j { 1.0 } else { 2.0 };
        let product = velocity[i].iter().zip(velocity[j]).map(|(a, b)| times * a * b).collect();
        let product = fourier.forward(comm, product);
        pressure.add(|at, mode| {
            let k = shells.wavenumber(mode);
            let square: f64 = k.iter().map(|k| k * k).sum();
            let has_gradient = square > 0.0 && mode.shortest == [false; 3];
            let factor = if has_gradient { -k[i] * k[j] / square } else { 0.0 };
            factor * product.values[at]
        });
    }
    pressure
}
