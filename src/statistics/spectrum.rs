//! Spectra over spherical shells of wavenumbers.
//!
//! A spectrum is the sum over all modes of a shell (see [`Shells`]), of both signs (one-sided in |k|), not divided by the shell's
//! width k₀: the sum over the shells is the volume average, to round-off (Parseval). Shell 0 contains the mean only.
//!
//! ```text
//! energy                  Σ ½ |û|²                     sums to ½⟨u·u⟩
//! energy_dilatational     Σ ½ |k·û|²/k²                 the two parts of the Helmholtz decomposition; the mean flow
//! energy_solenoidal       Σ ½ |k × û|²/k²               counts as solenoidal
//! energy_density_weighted Σ ½ |ŵ|², w = √ρ u            sums to ½⟨ρ u·u⟩ (Kida and Orszag 1990)
//! dissipation             Σ ν (|k × û|² + ⁴⁄₃ |k·û|²)    = 2ν k² E_s + (8/3) ν k² E_d, ν = ⟨μ⟩/Re
//! density, pressure       Σ |f̂|² without the mean      sums to the variance
//! scalar, passive scalars the same
//! ```
//! k in the dissipation is that of each mode, not of its shell; for uniform μ the dissipation sums to ⟨τᵢⱼ∂ⱼuᵢ⟩, the
//! `dissipation` of the series except for the error of the scheme at the shortest waves. The shortest wave of an even number of
//! points, mₐ = nₐ/2, represents both signs of kₐ: it lies at |kₐ| = π/h, and products of kₐ with another component, whose sign
//! is undetermined, are left out.

use num_complex::Complex;

use super::sample::Flow;
use super::sums::{long_sums, sums};
use crate::comm::Communicator;
use crate::fourier::{Fourier, Mode, Modes, Shells};
use crate::grid::Grid;

/// Spectra of a flow, in order; those of its passive scalars follow.
pub const FLOW: [&str; 7] = [
    "energy",
    "energy_solenoidal",
    "energy_dilatational",
    "energy_density_weighted",
    "dissipation",
    "density",
    "pressure",
];

/// Spectra of a scalar.
pub const SCALAR: [&str; 1] = ["scalar"];

/// Spectra over the same shells.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectra {
    /// s k₀, starting at s = 0.
    pub wavenumbers: Vec<f64>,
    /// Modes in each shell, of both signs.
    pub modes: Vec<f64>,
    /// Values of every quantity, in the order of [`FLOW`] or [`SCALAR`], one per shell.
    pub values: Vec<Vec<f64>>,
}

/// Spectra of a flow. Takes at most 40 bytes per point in addition to it. Collective.
pub fn flow(comm: &dyn Communicator, fourier: &Fourier, grid: &Grid, flow: &Flow) -> Spectra {
    let shells = Shells::new(grid);
    let nu = flow.viscosity;
    let velocity = flow.velocity.each_ref().map(|field| fourier.forward(comm, field.clone()));
    // Modes, energy, solenoidal, dilatational, dissipation.
    let mut spectra = shell_sums(&shells, &velocity[0], 5, |at, mode, sums| {
        let u = velocity.each_ref().map(|modes| modes.values[at]);
        let k = shells.wavenumber(mode);
        let [dilatational, solenoidal] = helmholtz(k, mode.shortest, u);
        let half = 0.5 * mode.count;
        let energy = half * (u[0].norm_sqr() + u[1].norm_sqr() + u[2].norm_sqr());
        let square = k.iter().map(|k| k * k).sum::<f64>();
        sums[0] += mode.count;
        sums[1] += energy;
        sums[2] += if square > 0.0 { half * solenoidal / square } else { energy };
        sums[3] += if square > 0.0 { half * dilatational / square } else { 0.0 };
        sums[4] += mode.count * nu * (solenoidal + 4.0 / 3.0 * dilatational);
    });
    drop(velocity);
    let mut weighted = vec![vec![0.0; shells.count]];
    for field in &flow.velocity {
        let values = field.iter().zip(&flow.density).map(|(u, rho)| rho.sqrt() * u).collect();
        let modes = fourier.forward(comm, values);
        let energy = shell_sums(&shells, &modes, 1, |at, mode, sums| {
            sums[0] += 0.5 * mode.count * modes.values[at].norm_sqr();
        });
        weighted[0].iter_mut().zip(&energy[0]).for_each(|(sum, energy)| *sum += energy);
    }
    spectra.splice(4..4, weighted);
    for field in [&flow.density, &flow.pressure].into_iter().chain(&flow.scalars) {
        let [_, variance] = variance(&shells, comm, fourier, grid, field);
        spectra.push(variance);
    }
    sum_over_ranks(&shells, comm, spectra)
}

/// Spectrum of a scalar. Collective.
pub fn scalar(comm: &dyn Communicator, fourier: &Fourier, grid: &Grid, phi: &[f64]) -> Spectra {
    let shells = Shells::new(grid);
    let spectra = variance(&shells, comm, fourier, grid, phi);
    sum_over_ranks(&shells, comm, spectra.into())
}

/// (|k·û|², |k × û|²). A component of k with both signs does not contribute to products with another component.
fn helmholtz(k: [f64; 3], both_signs: [bool; 3], u: [Complex<f64>; 3]) -> [f64; 2] {
    let (mut dilatational, mut solenoidal) = (0.0, 0.0);
    let mut single = Complex::<f64>::ZERO;
    for a in 0..3 {
        if both_signs[a] {
            dilatational += (k[a] * u[a]).norm_sqr();
        } else {
            single += k[a] * u[a];
        }
        let b = (a + 1) % 3;
        solenoidal += if both_signs[a] || both_signs[b] {
            (k[a] * u[b]).norm_sqr() + (k[b] * u[a]).norm_sqr()
        } else {
            (k[a] * u[b] - k[b] * u[a]).norm_sqr()
        };
    }
    [dilatational + single.norm_sqr(), solenoidal]
}

/// `width` sums over each shell, where `add` adds the contribution of a coefficient that represents `modes` modes.
fn shell_sums(
    shells: &Shells,
    modes: &Modes,
    width: usize,
    add: impl Fn(usize, &Mode, &mut [f64]) + Sync,
) -> Vec<Vec<f64>> {
    let sums = long_sums(modes.values.len(), width * shells.count, |at, sums| {
        let mode = modes.mode(at);
        let shell = shells.shell(shells.wavenumber(&mode));
        add(at, &mode, &mut sums[shell * width..(shell + 1) * width]);
    });
    (0..width).map(|q| sums.iter().skip(q).step_by(width).copied().collect()).collect()
}

/// (modes, Σ |f̂|²) of the fluctuations of a field.
fn variance(
    shells: &Shells,
    comm: &dyn Communicator,
    fourier: &Fourier,
    grid: &Grid,
    field: &[f64],
) -> [Vec<f64>; 2] {
    let mut mean = sums(field.len(), 1, |at, sums| sums[0] += field[at]);
    comm.sum(&mut mean);
    // A large mean would leave round-off in every mode.
    let mean = mean[0] * grid.per_point();
    let modes = fourier.forward(comm, field.iter().map(|value| value - mean).collect());
    let mut sums = shell_sums(shells, &modes, 2, |at, mode, sums| {
        sums[0] += mode.count;
        sums[1] += mode.count * modes.values[at].norm_sqr();
    });
    sums[1][0] = 0.0;
    std::array::from_fn(|q| std::mem::take(&mut sums[q]))
}

/// The sums over all ranks: of modes, and of every quantity.
fn sum_over_ranks(shells: &Shells, comm: &dyn Communicator, spectra: Vec<Vec<f64>>) -> Spectra {
    let mut all = spectra.concat();
    comm.sum(&mut all);
    let mut columns = all.chunks(shells.count).map(<[f64]>::to_vec);
    let modes = columns.next().unwrap_or_default();
    let wavenumbers = (0..shells.count).map(|shell| shell as f64 * shells.smallest).collect();
    Spectra { wavenumbers, modes, values: columns.collect() }
}
