//! Quantities of isotropic turbulence: scales, Reynolds and Mach numbers, skewness and flatness of the velocity gradients.
//!
//! With ⟨·⟩ over the box, u' the fluctuations uᵢ − ⟨uᵢ⟩, ω the vorticity, θ = div u, ν = ⟨μ⟩/(Re ⟨ρ⟩), and gradients by the
//! operators of the run:
//!
//! ```text
//! u_rms                    u' = (⟨uᵢ'uᵢ'⟩/3)^½, the root mean square of a component
//! kinetic_energy           ½ ⟨uᵢ'uᵢ'⟩
//! dissipation              ε = ⟨τ : ∇u⟩/⟨ρ⟩, for uniform μ ν (⟨ω·ω⟩ + ⁴⁄₃ ⟨θ²⟩) (Zeman 1990)
//! taylor_scale             λ = u' / ⟨(∂u/∂x)²⟩^½ (Taylor 1935); where div u = 0 also (15 ν u'²/ε)^½
//! reynolds_taylor          Re_λ = u' λ / ν
//! kolmogorov_length        η = (ν³/ε)^¼ (Kolmogorov 1941)
//! kolmogorov_velocity      u_η = (ν ε)^¼
//! kolmogorov_time          τ_η = (ν/ε)^½
//! kmax_eta                 π η / h, h the largest spacing
//! turbulent_mach           M_t = ⟨uᵢ'uᵢ'⟩^½ / ⟨c⟩
//! integral_scale           L₁₁ = π/(2u'²) Σ E_s/k over the shells of the spectrum (Batchelor 1953; Pope 2000, eq. 6.260)
//! turnover_time            L₁₁ / u'
//! skewness, flatness       ⟨g³⟩/⟨g²⟩^{3/2} and ⟨g⁴⟩/⟨g²⟩² of g = ∂u/∂x
//! dilatational_energy      share of the dilatational part of the velocity in ½ ⟨uᵢ'uᵢ'⟩ (Helmholtz)
//! dilatational_dissipation share of ⁴⁄₃ ⟨θ²⟩ in ⟨ω·ω⟩ + ⁴⁄₃ ⟨θ²⟩
//! density_rms              ⟨(ρ − ⟨ρ⟩)²⟩^½
//! pressure_rms             ⟨(p − ⟨p⟩)²⟩^½
//! ```
//! ⟨(∂u/∂x)²⟩, skewness and flatness are means over ∂u/∂x, ∂v/∂y and ∂w/∂z; the last two over those that vary. Without viscosity,
//! quantities with ν or ε are infinite or NaN. They are for three-dimensional turbulence: every axis has more than one point.

use std::f64::consts::PI;

use super::sample::Flow;
use super::spectrum::{self, Spectra};
use super::sums::sums;
use crate::comm::Communicator;
use crate::grid::Grid;

/// The columns, in order.
pub const COLUMNS: [&str; 18] = [
    "u_rms",
    "kinetic_energy",
    "dissipation",
    "taylor_scale",
    "reynolds_taylor",
    "kolmogorov_length",
    "kolmogorov_velocity",
    "kolmogorov_time",
    "kmax_eta",
    "turbulent_mach",
    "integral_scale",
    "turnover_time",
    "skewness",
    "flatness",
    "dilatational_energy",
    "dilatational_dissipation",
    "density_rms",
    "pressure_rms",
];

/// Their values, in the order of [`COLUMNS`], from a flow with its gradient and its spectra. Collective.
pub fn turbulence(
    comm: &dyn Communicator,
    grid: &Grid,
    flow: &Flow,
    gradient: &[Vec<f64>; 9],
    spectra: &Spectra,
) -> [f64; COLUMNS.len()] {
    let average = |width: usize, add: &(dyn Fn(usize, &mut [f64]) + Sync)| {
        let mut sums = sums(flow.density.len(), width, add);
        comm.sum(&mut sums);
        sums.iter_mut().for_each(|sum| *sum *= grid.per_point());
        sums
    };
    let [u, v, w] = flow.velocity.each_ref().map(Vec::as_slice);
    let fields = [u, v, w, &flow.density, &flow.pressure];
    let means = average(6, &|at, sums| {
        sums.iter_mut().zip(fields).for_each(|(sum, field)| *sum += field[at]);
        sums[5] += flow.temperature[at].sqrt() / flow.gas.mach;
    });
    let variances = average(5, &|at, sums| {
        for ((sum, field), mean) in sums.iter_mut().zip(fields).zip(&means) {
            *sum += (field[at] - mean).powi(2);
        }
    });
    // ω·ω, θ², the squares, cubes and fourth powers of ∂u/∂x, ∂v/∂y and ∂w/∂z, and Re τ:∇u.
    let gradient_means = average(12, &|at, sums| {
        let g = |i: usize, j: usize| gradient[3 * i + j][at];
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            sums[0] += (g(a, b) - g(b, a)).powi(2);
            sums[2 + a] += g(a, a).powi(2);
            sums[5 + a] += g(a, a).powi(3);
            sums[8 + a] += g(a, a).powi(4);
        }
        let dilatation = (g(0, 0) + g(1, 1) + g(2, 2)).powi(2);
        let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        let shear: f64 = pairs.map(|(i, j)| g(i, j) * (g(i, j) + g(j, i))).sum();
        let mu = flow.gas.mu(flow.temperature[at]);
        sums[1] += dilatation;
        sums[11] += mu * (shear - 2.0 / 3.0 * dilatation);
    });
    let [vorticity, dilatation] = [gradient_means[0], gradient_means[1]];
    let longitudinal = [0, 1, 2].map(|a| [2, 5, 8].map(|power| gradient_means[power + a]));

    let (density, sound) = (means[3], means[5]);
    let double_energy: f64 = variances[..3].iter().sum();
    let rms = (double_energy / 3.0).sqrt();
    let nu = flow.viscosity / density;
    let dissipation = gradient_means[11] / (flow.gas.reynolds * density);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let mean_square = mean(longitudinal.map(|[mean_square, ..]| mean_square).to_vec());
    let varying_mean = |f: fn([f64; 3]) -> f64| {
        let varying = longitudinal.into_iter().filter(|[mean_square, ..]| *mean_square > 0.0);
        mean(varying.map(f).collect())
    };
    let taylor = rms / mean_square.sqrt();
    let length = (nu.powi(3) / dissipation).powf(0.25);
    let shell_sum = |name: &str, weight: &dyn Fn(f64) -> f64| {
        let at = spectrum::FLOW.iter().position(|known| *known == name).unwrap_or(0);
        let shells = spectra.wavenumbers.iter().zip(&spectra.values[at]).skip(1);
        shells.map(|(&k, energy)| weight(k) * energy).sum::<f64>()
    };
    let integral = PI / (2.0 * rms * rms) * shell_sum("energy", &|k| 1.0 / k);
    [
        rms,
        0.5 * double_energy,
        dissipation,
        taylor,
        rms * taylor / nu,
        length,
        (nu * dissipation).powf(0.25),
        (nu / dissipation).sqrt(),
        PI * length / grid.active_axes().map(|axis| grid.spacing[axis.index()]).fold(0.0, f64::max),
        double_energy.sqrt() / sound,
        integral,
        integral / rms,
        varying_mean(|[mean_square, cube, _]| cube / mean_square.powf(1.5)),
        varying_mean(|[mean_square, _, fourth]| fourth / (mean_square * mean_square)),
        shell_sum("energy_dilatational", &|_| 1.0) / (0.5 * double_energy),
        4.0 / 3.0 * dilatation / (vorticity + 4.0 / 3.0 * dilatation),
        variances[3].sqrt(),
        variances[4].sqrt(),
    ]
}
