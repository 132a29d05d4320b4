//! Spectra of fields with a known spectrum.

use std::f64::consts::TAU;

use kolmo::comm::Solo;
use kolmo::fourier::Fourier;
use kolmo::grid::{Decomposition, Grid};
use kolmo::statistics::spectrum::{self, Spectra};
use kolmo::statistics::{Flow, Sample, moments};

use super::{cube, field, gas, grid, random_flow};
use crate::common::{assert_close, float, noise};

fn spectra(grid: &Grid, flow: &Flow) -> Spectra {
    let fourier = Fourier::new(Decomposition::ONE, grid.points, 1);
    spectrum::flow(&Solo, &fourier, grid, flow)
}

fn quantity<'a>(spectra: &'a Spectra, name: &str) -> &'a [f64] {
    &spectra.values[spectrum::FLOW.iter().position(|known| *known == name).unwrap()]
}

/// A flow with uniform density, pressure and temperature.
fn uniform(density: f64, velocity: [Vec<f64>; 3], viscosity: f64) -> Flow {
    let constant = |value: f64| vec![value; velocity[0].len()];
    Flow {
        density: constant(density),
        pressure: constant(71.0),
        temperature: constant(1.0),
        velocity,
        scalars: Vec::new(),
        gradient: None,
        viscosity,
        gas: gas(10.0),
        walls: None,
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

/// A flow of the given modes with random amplitudes and phases, and for each mode (shell, E_s, E_d, k²).
fn random_phases(grid: &Grid, modes: &[[i32; 3]]) -> (Flow, Vec<(usize, f64, f64, f64)>) {
    let mut noise = noise(23);
    let unit: [f64; 3] = std::array::from_fn(|a| TAU / (float(grid.points[a]) * grid.spacing[a]));
    let active = (0..3).filter(|&a| grid.points[a] > 1);
    let smallest = active.map(|a| unit[a]).fold(f64::INFINITY, f64::min);
    let (mut waves, mut known) = (Vec::new(), Vec::new());
    for periods in modes {
        let k: [f64; 3] = std::array::from_fn(|a| unit[a] * f64::from(periods[a]));
        let square = dot(k, k);
        let any = [noise(), noise(), noise()];
        let across: [f64; 3] = std::array::from_fn(|a| any[a] - k[a] * dot(any, k) / square);
        let strength = noise();
        let along = k.map(|k| strength * k / square.sqrt());
        // ½ ⟨a² cos²⟩ = a²/4
        let energies = [dot(across, across) / 4.0, dot(along, along) / 4.0];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let shell = (square.sqrt() / smallest).round() as usize;
        known.push((shell, energies[0], energies[1], square));
        waves.push((k, across, TAU * noise(), along, TAU * noise()));
    }
    let component = |i: usize| {
        field(grid.points, |index| {
            let x = grid.coordinates(index);
            let wave = |(k, across, phase, along, other): &(_, [f64; 3], f64, [f64; 3], f64)| {
                let angle = dot(*k, x);
                across[i] * (angle + phase).cos() + along[i] * (angle + other).cos()
            };
            waves.iter().map(wave).sum()
        })
    };
    (uniform(2.0, [0, 1, 2].map(component), 0.03), known)
}

#[test]
fn waves_fill_their_shells_with_solenoidal_and_dilatational_energy() {
    let all: [[i32; 3]; 9] = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 2, 1],
        [1, 1, 1],
        [-2, 1, 3],
        [3, -4, 2],
        [4, 3, -3],
        [5, 0, 0],
        [0, 6, -4],
    ];
    let flat: Vec<[i32; 3]> = all.into_iter().filter(|m| m[2] == 0).collect();
    for (grid, modes) in [
        (cube([12, 15, 10]), &all[..]),
        (grid([12, 15, 10], [TAU, 2.0 * TAU, 1.5]), &all[..]),
        (cube([11, 13, 9]), &all[..]),
        (cube([12, 9, 1]), &flat[..]),
    ] {
        let (flow, known) = random_phases(&grid, modes);
        let found = spectra(&grid, &flow);
        let nu = flow.viscosity;
        let mut expected = vec![vec![0.0; found.wavenumbers.len()]; 5];
        for (shell, solenoidal, dilatational, square) in known {
            expected[0][shell] += solenoidal + dilatational;
            expected[1][shell] += solenoidal;
            expected[2][shell] += dilatational;
            expected[3][shell] += 2.0 * (solenoidal + dilatational);
            expected[4][shell] +=
                2.0 * nu * square * solenoidal + 8.0 / 3.0 * nu * square * dilatational;
        }
        for (name, (found, expected)) in
            spectrum::FLOW.iter().zip(found.values.iter().zip(&expected))
        {
            let size = expected.iter().copied().fold(0.0, f64::max);
            for (shell, (a, b)) in found.iter().zip(expected).enumerate() {
                assert!((a - b).abs() < 1e-12 * size, "{name}, shell {shell}: {a:e} {b:e}");
            }
        }
        let sums = ["density", "pressure"].map(|name| quantity(&found, name).iter().sum::<f64>());
        assert!(sums.iter().all(|sum| *sum < 1e-25), "{sums:?}");
    }
}

#[test]
fn nyquist_modes_are_counted_once() {
    // ½⟨u·u⟩ of a velocity that alternates between ± 1 along x is ½: dilatational for u, solenoidal for v.
    let grid = cube([8, 6, 4]);
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let zero = vec![0.0; grid.len()];
    for (component, part) in [(0, "energy_dilatational"), (1, "energy_solenoidal")] {
        let mut velocity = [zero.clone(), zero.clone(), zero.clone()];
        velocity[component] = field(grid.points, |[i, ..]| sign(i));
        let found = spectra(&grid, &uniform(1.0, velocity, 0.0));
        assert!((quantity(&found, part)[4] - 0.5).abs() < 1e-15);
        assert!((quantity(&found, "energy").iter().sum::<f64>() - 0.5).abs() < 1e-15);
    }
}

#[test]
fn spectra_sum_to_volume_averages() {
    for points in [[8, 6, 4], [7, 5, 9], [12, 10, 1], [1, 16, 1]] {
        let (grid, flow) = (grid(points, [TAU, 3.0, 4.0 * TAU]), random_flow(points));
        let found = spectra(&grid, &flow);
        let sum = |name: &str| quantity(&found, name).iter().sum::<f64>();
        let average = |value: &dyn Fn(usize) -> f64| {
            (0..grid.len()).map(value).sum::<f64>() * grid.per_point()
        };
        let square = |at: usize| flow.velocity.iter().map(|u| u[at] * u[at]).sum::<f64>();
        let energy = average(&|at| 0.5 * square(at));
        assert_close(sum("energy"), energy, 1e-14, "energy");
        let parts = sum("energy_solenoidal") + sum("energy_dilatational");
        assert_close(parts, energy, 1e-14, "parts");
        let weighted = average(&|at| 0.5 * flow.density[at] * square(at));
        assert_close(sum("energy_density_weighted"), weighted, 1e-14, "weighted");
        let means = moments::moments(&Solo, &grid, &Sample::Flow(Box::new(flow.clone()))).values();
        assert_close(sum("density"), means[6], 1e-13, "density");
        assert_close(sum("pressure"), means[7], 1e-13, "pressure");
        let fourier = Fourier::new(Decomposition::ONE, points, 1);
        let scalar = spectrum::scalar(&Solo, &fourier, &grid, &flow.density);
        assert_eq!(scalar.values[0], quantity(&found, "density"));
        assert_eq!(scalar.modes, found.modes);
    }
}

#[test]
fn spectra_of_noise_are_invariant_under_axis_permutation() {
    // The spectra include Nyquist modes along one, two or three axes.
    let points = [6, 8, 4];
    let flow = random_flow(points);
    let found = spectra(&grid(points, [1.0, 2.0, 3.0]), &flow);
    // x' = y, y' = z, z' = x.
    let permuted =
        |original: &Vec<f64>| field([8, 4, 6], |[j, k, i]| original[i + 6 * (j + 8 * k)]);
    let [u, v, w] = &flow.velocity;
    let permuted_flow = Flow {
        density: permuted(&flow.density),
        velocity: [v, w, u].map(permuted),
        pressure: permuted(&flow.pressure),
        temperature: permuted(&flow.temperature),
        scalars: Vec::new(),
        gradient: None,
        viscosity: flow.viscosity,
        gas: flow.gas,
        walls: None,
    };
    let other = spectra(&grid([8, 4, 6], [2.0, 3.0, 1.0]), &permuted_flow);
    assert_eq!(found.modes, other.modes);
    for (name, (a, b)) in spectrum::FLOW.iter().zip(found.values.iter().zip(&other.values)) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-13 * a.abs().max(1e-3), "{name}: {a:e} {b:e}");
        }
    }
}

#[test]
fn taylor_green_vortex_starts_with_all_energy_in_the_second_shell() {
    let grid = cube([16; 3]);
    let at = |index| grid.coordinates(index);
    let u = field(grid.points, |i| at(i)[0].sin() * at(i)[1].cos() * at(i)[2].cos());
    let v = field(grid.points, |i| -at(i)[0].cos() * at(i)[1].sin() * at(i)[2].cos());
    let zero = vec![0.0; grid.len()];
    let found = spectra(&grid, &uniform(1.0, [u, v, zero], 1.0 / 1600.0));
    // Modes (±1, ±1, ±1): |k| = √3. E = ½ (⅛ + ⅛), dissipation 2ν k² E = ¾ ν.
    for (name, expected) in [
        ("energy", 0.125),
        ("energy_solenoidal", 0.125),
        ("energy_dilatational", 0.0),
        ("energy_density_weighted", 0.125),
        ("dissipation", 0.75 / 1600.0),
    ] {
        for (shell, energy) in quantity(&found, name).iter().enumerate() {
            let expected = if shell == 2 { expected } else { 0.0 };
            assert!((energy - expected).abs() < 1e-16, "{name} {shell}: {energy:e}");
        }
    }
    // Shell 2 contains |m|² = 3, 4, 5 and 6, between 1.5² and 2.5².
    assert_eq!(found.modes[..3], [1.0, 6.0 + 12.0, 8.0 + 6.0 + 24.0 + 24.0]);
    assert_eq!(found.wavenumbers.len(), 15, "up to √3 × 8 = 13.9");
    assert!((found.wavenumbers[2] - 2.0).abs() < 1e-15);
}
