//! The case `isotropic-turbulence`: its initial state against the specification.

use std::f64::consts::TAU;

use kolmo::cases::{Case, Domain, FlowPoint, GridCase, IsotropicTurbulence, Place, Spectrum};
use kolmo::comm::{Communicator, Solo};
use kolmo::config::parse;
use kolmo::fourier::{self, Fourier, Modes, Shells, resample};
use kolmo::gas::{Gas, Viscosity};
use kolmo::grid::{Decomposition, Grid};
use kolmo::statistics::{Flow, spectrum};
use num_complex::Complex;

use crate::common::{assert_close, float, max_difference};
use crate::custom::sampled;
use crate::spread::threads::on_ranks;

const MACH: f64 = 0.2;
const CUBE: [f64; 3] = [TAU; 3];
/// Waves of fewer than five periods in a box of 2π; a grid of 19 points resolves their products.
const FEW: &str = "max(0, 4.5 - k)";

fn gas() -> Gas {
    let viscosity = Viscosity::Constant;
    Gas { gamma: 1.4, prandtl: 0.71, mach: MACH, reynolds: 60.0, viscosity }
}

fn expression(text: &str) -> Spectrum {
    let config = format!(
        "[case]\nname = 'isotropic-turbulence'\nspectrum = '{text}'\n[grid]\npoints = [16, 16, 16]\n[time]\nend = 1\n"
    );
    match parse(&config, "test", &[]).unwrap().case {
        Case::IsotropicTurbulence(case) => case.spectrum,
        _ => unreachable!("that case"),
    }
}

fn case(text: &str, dilatational: f64) -> IsotropicTurbulence {
    IsotropicTurbulence { spectrum: expression(text), dilatational, seed: 7, ..Default::default() }
}

/// The initial state on the block of a rank.
fn start_on(
    comm: &dyn Communicator,
    ranks: [usize; 3],
    case: &IsotropicTurbulence,
    (points, length): ([usize; 3], [f64; 3]),
) -> Vec<FlowPoint> {
    let domain = Domain { origin: [0.0; 3], length };
    let grid = Grid::periodic(points, &domain);
    let decomposition = Decomposition { ranks };
    case.start(&Place { comm, decomposition, grid, domain, gas: gas() }, &[]).unwrap()
}

fn start(case: &IsotropicTurbulence, points: [usize; 3], length: [f64; 3]) -> Vec<FlowPoint> {
    start_on(&Solo, [1; 3], case, (points, length))
}

fn grid(points: [usize; 3], length: [f64; 3]) -> Grid {
    Grid::periodic(points, &Domain { origin: [0.0; 3], length })
}

fn velocity(flow: &[FlowPoint], a: usize) -> Vec<f64> {
    flow.iter().map(|point| point.velocity[a]).collect()
}

/// p − p₀.
fn fluctuation(flow: &[FlowPoint]) -> Vec<f64> {
    flow.iter().map(|point| point.pressure - gas().reference_pressure()).collect()
}

fn transforms(points: [usize; 3]) -> Fourier {
    Fourier::new(Decomposition::ONE, points, 1)
}

/// Shell spectra by name.
fn spectra(flow: &[FlowPoint], grid: &Grid) -> impl Fn(&str) -> Vec<f64> + use<> {
    let sample = Flow {
        density: flow.iter().map(|point| point.density).collect(),
        velocity: [0, 1, 2].map(|a| velocity(flow, a)),
        pressure: fluctuation(flow),
        temperature: vec![1.0; flow.len()],
        scalars: Vec::new(),
        gradient: None,
        viscosity: 0.0,
        gas: gas(),
        walls: None,
    };
    let found = spectrum::flow(&Solo, &transforms(grid.points), grid, &sample);
    move |name| {
        let at = spectrum::FLOW.iter().position(|known| *known == name).unwrap();
        found.values[at].clone()
    }
}

#[test]
fn initial_state_has_the_prescribed_spectrum_in_complete_shells_only() {
    let grids = [
        ([16, 16, 16], CUBE),
        ([15, 13, 17], CUBE),
        // The smallest wavenumber is 1/2, along y; wavenumbers along z are four times as large.
        ([13, 24, 8], [TAU, 2.0 * TAU, TAU / 2.0]),
        ([18, 15, 1], CUBE),
    ];
    let passot_pouquet = |k: f64| k.powi(4) * (-2.0 * k * k / 16.0).exp();
    let flat = |k: f64| 1.0 / (1.0 + k * k);
    let shapes: [(Spectrum, &dyn Fn(f64) -> f64); 2] =
        [(Spectrum::PassotPouquet, &passot_pouquet), (expression("1/(1 + k^2)"), &flat)];
    for ((points, length), (spectrum, shape)) in
        grids.into_iter().flat_map(|grid| shapes.iter().map(move |shape| (grid, shape)))
    {
        let grid = grid(points, length);
        let shells = Shells::new(&grid);
        let energy = |shell: usize| {
            let is_complete = shell > 0 && shell < shells.incomplete;
            if is_complete { shape(float(shell) * shells.smallest) } else { 0.0 }
        };
        let sum: f64 = (0..shells.count).map(energy).sum();
        let components = float(grid.active_axes().count());
        for dilatational in [0.0, 0.3, 1.0] {
            let spectrum = spectrum.clone();
            let case = IsotropicTurbulence { spectrum, dilatational, ..Default::default() };
            let found = spectra(&start(&case, points, length), &grid);
            let parts = [
                ("energy", 1.0),
                ("energy_solenoidal", 1.0 - dilatational),
                ("energy_dilatational", dilatational),
            ];
            for (name, share) in parts {
                for (shell, found) in found(name).into_iter().enumerate() {
                    let expected = share * components / 2.0 * energy(shell) / sum;
                    let error = (found - expected).abs();
                    // The round-off of the transforms scales with the largest wave.
                    assert!(
                        error <= 1e-12 * expected + 1e-29,
                        "{points:?} {name} {shell}: {found:e} {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn initial_velocity_is_isotropic() {
    let flow = start(&case("k^2", 0.2), [24; 3], CUBE);
    let mean = |f: &dyn Fn(&FlowPoint) -> f64| flow.iter().map(f).sum::<f64>() / float(flow.len());
    for a in 0..3 {
        // About 5500 modes, each with a random direction: 0.03 exceeds the standard deviation of a stress.
        assert_close(mean(&|point| point.velocity[a].powi(2)), 1.0, 0.1, "a stress");
        let other = mean(&|point| point.velocity[a] * point.velocity[(a + 1) % 3]);
        assert!(other.abs() < 0.1, "{a}: {other}");
        assert!(mean(&|point| point.velocity[a]).abs() < 1e-14);
    }
}

#[test]
fn finer_grids_have_the_same_large_scales_and_other_seeds_do_not() {
    let case = case(FEW, 0.3);
    let coarse = start(&case, [11, 12, 13], CUBE);
    let fine = start(&case, [24, 15, 18], CUBE);
    let other = start(&IsotropicTurbulence { seed: 8, ..case }, [11, 12, 13], CUBE);
    for a in 0..3 {
        let resampled =
            resample(&Solo, Decomposition::ONE, [11, 12, 13], [24, 15, 18], velocity(&coarse, a));
        assert!(max_difference(&resampled, &velocity(&fine, a)) < 1e-13);
        let product = |(a, b): (f64, f64)| a * b;
        let both = velocity(&coarse, a).into_iter().zip(velocity(&other, a));
        let correlation = both.map(product).sum::<f64>() / float(coarse.len());
        // About 250 waves with independent phases.
        assert!(correlation.abs() < 0.3, "{correlation}");
    }
}

#[test]
fn initial_state_is_bitwise_identical_on_any_number_of_ranks() {
    for points in [[12, 11, 10], [9, 14, 1]] {
        let case = case("1/(1 + k^2)", 0.3);
        let full = start(&case, points, CUBE);
        for ranks in [[2, 1, 1], [1, 3, 1], [1, 5, 1], [3, 2, 1]] {
            let cut = Decomposition { ranks };
            let parts = on_ranks(cut.size(), |comm| start_on(&*comm, ranks, &case, (points, CUBE)));
            for (rank, part) in parts.into_iter().enumerate() {
                let block = cut.block(rank, points);
                for (at, found) in part.into_iter().enumerate() {
                    let [i, j, k] = block.index(at);
                    assert_eq!(found, full[i + points[0] * (j + points[1] * k)]);
                }
            }
        }
    }
}

/// `field` with each mode multiplied by `factor` of its wavenumber.
fn multiplied(field: &[f64], grid: &Grid, factor: impl Fn([f64; 3]) -> Complex<f64>) -> Vec<f64> {
    let fourier = transforms(grid.points);
    let mut modes = fourier.forward(&Solo, field.to_vec());
    let shells = Shells::new(grid);
    for at in 0..modes.values.len() {
        let k = shells.wavenumber(&modes.mode(at));
        modes.values[at] *= factor(k);
    }
    fourier.inverse(&Solo, modes)
}

#[test]
fn pressure_solves_poisson_equation_and_sound_energy_is_equipartitioned() {
    for points in [[19, 21, 20], [20, 19, 1]] {
        let grid = grid(points, CUBE);
        let flow = start(&case(FEW, 0.0), points, CUBE);
        let gradient = |i: usize, j: usize| {
            multiplied(&velocity(&flow, i), &grid, |k| Complex::new(0.0, k[j]))
        };
        let mut source = vec![0.0; flow.len()];
        for (i, j) in (0..9).map(|both| (both / 3, both % 3)) {
            let pair = gradient(i, j).into_iter().zip(gradient(j, i));
            source.iter_mut().zip(pair).for_each(|(source, (a, b))| *source += a * b);
        }
        let square = |k: [f64; 3]| Complex::from(k.iter().map(|k| k * k).sum::<f64>());
        let found = multiplied(&fluctuation(&flow), &grid, square);
        let size = source.iter().map(|s| s.abs()).fold(0.0, f64::max);
        assert!(size > 10.0 && max_difference(&found, &source) < 1e-12 * size, "{points:?}");
        assert!(flow.iter().all(|point| point.density == 1.0));

        // Sound alone, without vortical modes: ½ Ma² |p̂|² = ½ |û|².
        let found = spectra(&start(&case(FEW, 1.0), points, CUBE), &grid);
        for (pressure, energy) in found("pressure").into_iter().zip(found("energy")) {
            assert!((MACH * MACH * pressure - 2.0 * energy).abs() < 1e-12);
        }
    }
}

#[test]
fn taylor_green_pressure_is_exact_on_any_number_of_ranks() {
    let vortex = |points: [usize; 3]| {
        let plane = points[2] == 1;
        let z = move |x: [f64; 3]| if plane { 0.0 } else { x[2] };
        let u = sampled(points, |x| x[0].sin() * x[1].cos() * z(x).cos());
        let v = sampled(points, |x| -x[0].cos() * x[1].sin() * z(x).cos());
        let p = move |x: [f64; 3]| {
            let height = if plane { 4.0 } else { (2.0 * x[2]).cos() + 2.0 };
            ((2.0 * x[0]).cos() + (2.0 * x[1]).cos()) * height / 16.0
        };
        [u, v, vec![0.0; points.iter().product()], sampled(points, p)]
    };
    for (points, ranks) in [([8, 7, 6], [1, 1, 1]), ([9, 8, 5], [3, 1, 2]), ([6, 11, 1], [1, 2, 1])]
    {
        let fields = vortex(points);
        let grid = grid(points, CUBE);
        let cut = Decomposition { ranks };
        let errors = on_ranks(cut.size(), |comm| {
            let block = cut.block(comm.rank(), points);
            let own = fields.each_ref().map(|full| -> Vec<f64> {
                let at = |[i, j, k]: [usize; 3]| full[i + points[0] * (j + points[1] * k)];
                (0..block.len()).map(|point| at(block.index(point))).collect()
            });
            let [u, v, w, p] = own.each_ref().map(Vec::as_slice);
            let fourier = Fourier::new(cut, points, cut.size());
            let modes: Modes = fourier::pressure(&*comm, &fourier, &grid, [u, v, w]);
            max_difference(&fourier.inverse(&*comm, modes), p)
        });
        assert!(errors.into_iter().all(|error| error < 1e-15), "{points:?}");
    }
}

#[test]
fn errors_for_bad_initial_states_give_line_and_remedy() {
    let error_report = |keys: &str, points: &str| {
        let text = format!(
            "[case]\nname = 'isotropic-turbulence'\n{keys}\n[grid]\npoints = {points}\n[time]\nend = 1\n"
        );
        parse(&text, "my.toml", &[]).unwrap_err().report()
    };
    let cube = "[16, 16, 16]";
    let rows = [
        ("spectrum = 'k^'", cube, "my.toml:3: spectrum = \"k^\": column 3: found the end"),
        ("spectrum = 'k*x'", cube, "my.toml:3: spectrum = \"k*x\": column 3: unknown name `x`"),
        ("spectrum = 'passot'", cube, "known: k k0 pi; or the word passot-pouquet"),
        ("spectrum = '3 - k'", cube, "spectrum = \"3 - k\" is -1.0 at k = 4"),
        ("spectrum = '1/(k - 2)'", cube, "spectrum = \"1/(k - 2)\" is -1.0 at k = 1"),
        ("spectrum = 0", cube, "spectrum = \"0\" sums to 0.0"),
        ("peak_wavenumber = 8", cube, "peak_wavenumber = 8 is beyond 7"),
        ("peak_wavenumber = -1", cube, "positive"),
        ("dilatational = 1.1", cube, "a number from 0 to 1"),
        ("seed = -1", cube, "a whole number"),
        ("start = 'cold'", cube, "isentropic"),
        ("", "[16, 1, 1]", "isotropic-turbulence needs more than 1 point along x and y"),
        (
            "",
            "[16, 16, 1]\n[output]\nstatistics = { every_time = 1, quantities = ['turbulence'] }",
            "`turbulence` needs a three-dimensional grid; there is 1 point along z",
        ),
    ];
    for (keys, points, expected) in rows {
        let report = error_report(keys, points);
        assert!(report.contains(expected), "{keys}: {report}");
        assert!(report.contains("1 error; nothing was run"), "{keys}: {report}");
    }
}
