//! Structure functions and probability densities of gradients with known values.

use std::f64::consts::TAU;

use kolmo::comm::Solo;
use kolmo::grid::{Axis, Decomposition, Grid};
use kolmo::statistics::gradients::{BINS, Density, REACH, centre, densities};
use kolmo::statistics::increments::{Increments, structure_functions};

use super::{cube, field};
use crate::common::{float, noise};

fn increments(grid: &Grid, velocity: &[Vec<f64>; 3]) -> Vec<Increments> {
    structure_functions(&Solo, &Decomposition::ONE, grid, velocity)
}

/// ⟨δⁿ⟩, n = 2, 3, 4, 6, of sin x + sin 2x: δ = A cos θ + C cos 2θ with A = 2 sin(r/2), C = 2 sin r.
fn of_two_waves(r: f64) -> [f64; 4] {
    let (a, c) = (2.0 * (r / 2.0).sin(), 2.0 * r.sin());
    let fourth = 0.375 * (a.powi(4) + c.powi(4)) + 1.5 * a * a * c * c;
    // The mean over 64 points is exact for waves of up to 12 periods.
    let sixth = (0..64).map(|i| TAU * float(i) / 64.0);
    let sixth = sixth.map(|t| (a * t.cos() + c * (2.0 * t).cos()).powi(6)).sum::<f64>() / 64.0;
    [0.5 * (a * a + c * c), 0.75 * a * a * c, fourth, sixth]
}

/// The same for sin x alone.
fn of_a_wave(r: f64) -> [f64; 4] {
    let square = (r / 2.0).sin().powi(2);
    [2.0 * square, 0.0, 6.0 * square.powi(2), 20.0 * square.powi(3)]
}

#[test]
fn structure_functions_of_waves_match_their_closed_forms() {
    // Waves along y: v is longitudinal, u and w are transverse.
    for points in [[3, 24, 5], [1, 17, 4], [2, 13, 2]] {
        let grid = cube(points);
        let y = |[_, j, _]: [usize; 3]| TAU * float(j) / float(points[1]);
        let velocity = [
            field(points, |at| y(at).sin()),
            field(points, |at| y(at).sin() + (2.0 * y(at)).sin()),
            field(points, |at| 2.0 * (y(at) + 0.3).cos()),
        ];
        let found = increments(&grid, &velocity);
        let along_y: Vec<_> = found.iter().filter(|one| one.axis == Some(Axis::Y)).collect();
        assert_eq!(along_y.len(), points[1] / 2, "all separations are used on few points");
        for (at, one) in along_y.into_iter().enumerate() {
            let r = float(at + 1) * grid.spacing[1];
            assert!((one.separation - r).abs() < 1e-15);
            for (q, expected) in of_two_waves(r).into_iter().enumerate() {
                let error = (one.longitudinal[q] - expected).abs();
                assert!(
                    error < 1e-14 * expected.abs().max(1.0),
                    "{points:?} {r} {q}: {one:?}, {expected}"
                );
            }
            for (q, wave) in of_a_wave(r).into_iter().enumerate() {
                let twice = wave * [4.0, 8.0, 16.0, 64.0][q];
                let expected = if points[0] == 1 { twice } else { 0.5 * (wave + twice) };
                let error = (one.transverse[q] - expected).abs();
                assert!(
                    error < 1e-14 * expected.abs().max(1.0),
                    "{points:?} {r} {q}: {one:?}, {expected}"
                );
            }
        }
        // Nothing varies along x and z.
        let rest = found.iter().filter(|one| one.axis != Some(Axis::Y));
        for one in rest {
            assert!(one.axis.is_some(), "there is no mean over axes that differ");
            assert_eq!((one.longitudinal, one.transverse), ([0.0; 4], [0.0; 4]));
        }
    }
}

#[test]
fn structure_functions_are_averaged_over_all_equivalent_axes() {
    let points = [12; 3];
    let wave = |a: usize| move |at: [usize; 3]| (TAU * float(at[a]) / 12.0).sin();
    let velocity = [field(points, wave(0)), field(points, wave(0)), field(points, wave(2))];
    let found = increments(&cube(points), &velocity);
    assert_eq!(found.len(), 4 * 6);
    for (at, one) in found[18..].iter().enumerate() {
        assert_eq!(one.axis, None);
        let expected = of_a_wave(TAU * float(at + 1) / 12.0);
        for q in 0..4 {
            // Longitudinal: u along x and w along z, two of three. Transverse: v along x, one of six.
            let bound = 1e-14 * expected[q].max(1.0);
            assert!((one.longitudinal[q] - 2.0 / 3.0 * expected[q]).abs() < bound);
            assert!((one.transverse[q] - expected[q] / 6.0).abs() < bound);
        }
    }
    // There is no mean for a single axis.
    assert!(increments(&cube([12, 1, 1]), &[0, 1, 2].map(|_| vec![0.0; 12])).len() == 6);
}

fn gradient_densities(grid: &Grid, gradient: &[Vec<f64>; 9]) -> Vec<Density> {
    densities(&Solo, grid, gradient)
}

fn integral(density: &Density) -> f64 {
    density.density.iter().sum::<f64>() * (centre(1) - centre(0))
}

#[test]
fn gradient_moments_of_waves_match_their_closed_forms() {
    // ∂u/∂x = cos x + c cos 2x, ∂v/∂x = cos x, ∂w/∂x = sin x.
    let (points, c) = ([16, 1, 1], -0.7);
    let grid = cube(points);
    let x = |[i, ..]: [usize; 3]| TAU * float(i) / 16.0;
    let mut gradient: [Vec<f64>; 9] = std::array::from_fn(|_| vec![0.0; 16]);
    gradient[0] = field(points, |at| x(at).cos() + c * (2.0 * x(at)).cos());
    gradient[3] = field(points, |at| x(at).cos());
    gradient[6] = field(points, |at| x(at).sin());
    let found = gradient_densities(&grid, &gradient);
    let square = 0.5 * (1.0 + c * c);
    let fourth = 0.375 * (1.0 + c.powi(4)) + 1.5 * c * c;
    let expected = [
        ("longitudinal", square, 0.75 * c / square.powf(1.5), fourth / (square * square)),
        ("transverse", 0.5, 0.0, 1.5),
    ];
    for (found, (quantity, square, skewness, flatness)) in found.iter().zip(expected) {
        assert_eq!(found.quantity, quantity);
        assert!((found.mean_square - square).abs() < 1e-15, "{found:?}");
        assert!((found.skewness - skewness).abs() < 4e-15, "{found:?}");
        assert!((found.flatness - flatness).abs() < 4e-15, "{found:?}");
        assert!((integral(found) - 1.0).abs() < 1e-14);
    }
    assert_eq!(found.len(), 2);
    assert!(gradient_densities(&cube([1, 1, 1]), &std::array::from_fn(|_| vec![0.0])).is_empty());
}

#[test]
fn gradient_outliers_enter_the_outermost_bin_and_constants_have_no_density() {
    let points = [1000, 1, 1];
    let mut gradient: [Vec<f64>; 9] = std::array::from_fn(|_| vec![0.0; 1000]);
    gradient[0][17] = -2.5;
    let found = gradient_densities(&cube(points), &gradient);
    let width = 2.0 * REACH / float(BINS);
    // One value is −√1000 = −31.6 times the root mean square, the others are in the central bin.
    assert!((found[0].density[0] - 1e-3 / width).abs() < 1e-15);
    assert!((found[0].density[BINS / 2] - 0.999 / width).abs() < 1e-13);
    assert!((integral(&found[0]) - 1.0).abs() < 1e-14);
    assert!(found[1].density.is_empty() && found[1].flatness.is_nan());
    assert_eq!(found[1].mean_square, 0.0);
}

#[test]
fn gaussian_gradients_have_a_gaussian_density_with_a_flatness_of_3() {
    let points = [32; 3];
    let grid = cube(points);
    let mut noise = noise(41);
    let mut uniform = move || 0.5 * (1.0 + noise());
    // Box and Muller 1958.
    let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (TAU * uniform()).cos();
    let gradient: [Vec<f64>; 9] =
        std::array::from_fn(|_| (0..grid.len()).map(|_| 3.0 * normal()).collect());
    for (found, components) in gradient_densities(&grid, &gradient).iter().zip([3.0, 6.0]) {
        let values = components * float(grid.len());
        // Five standard deviations, which are √(2/N), √(6/N), √(24/N) for these moments (with the mean known, √(15/N) and √(96/N)
        // for the moments before the division by the mean square).
        assert!((found.mean_square / 9.0 - 1.0).abs() < 5.0 * (2.0 / values).sqrt());
        assert!(found.skewness.abs() < 5.0 * (15.0 / values).sqrt(), "{found:?}");
        assert!((found.flatness - 3.0).abs() < 5.0 * (24.0 / values).sqrt(), "{found:?}");
        assert!((integral(found) - 1.0).abs() < 1e-12);
        let width = 2.0 * REACH / float(BINS);
        for (bin, density) in found.density.iter().enumerate() {
            let x = centre(bin);
            let gaussian = (-0.5 * x * x).exp() / TAU.sqrt();
            // The mean of the Gaussian over a bin, to fourth order in the bin width.
            let expected = gaussian * (1.0 + (x * x - 1.0) * width * width / 24.0) * width * values;
            let counted = density * width * values;
            // Counts are Poisson distributed; the constant 5 allows for bins with a small expected count.
            let error = (counted - expected).abs();
            assert!(error < 5.0 * expected.sqrt() + 5.0, "{x}: {counted} {expected}");
        }
    }
    assert!(centre(BINS / 2).abs() < 1e-14);
}
