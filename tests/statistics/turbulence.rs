//! Turbulence scales of flows with closed-form solutions.

use std::f64::consts::PI;

use kolmo::comm::Solo;
use kolmo::fourier::Fourier;
use kolmo::gas::Gas;
use kolmo::grid::{Decomposition, Grid};
use kolmo::statistics::turbulence::{COLUMNS, turbulence};
use kolmo::statistics::{Flow, Sample, spectrum};

use super::{cube, gas};
use crate::common::{assert_close, simulation};
use crate::custom::sampled;

/// The statistics of a flow with gradients, by column name.
fn found(grid: &Grid, flow: &Flow) -> impl Fn(&str) -> f64 + use<> {
    let fourier = Fourier::new(Decomposition::ONE, grid.points, 1);
    let spectra = spectrum::flow(&Solo, &fourier, grid, flow);
    let row = turbulence(&Solo, grid, flow, flow.gradient.as_ref().unwrap(), &spectra);
    move |name| row[COLUMNS.iter().position(|known| *known == name).unwrap()]
}

/// One component of a flow and its gradient along x, y and z.
type Component = (fn([f64; 3]) -> f64, [fn([f64; 3]) -> f64; 3]);

/// ρ = 2 + ½ sin x, p = 70 + 3 sin y, T = 1.21, ⟨μ⟩/Re = 0.02, c₀ = 5.
fn flow(points: [usize; 3], velocity: [Component; 3]) -> Flow {
    let gradient = velocity.iter().flat_map(|(_, gradient)| gradient);
    let gradient: Vec<Vec<f64>> = gradient.map(|f| sampled(points, f)).collect();
    Flow {
        density: sampled(points, |x| 2.0 + 0.5 * x[0].sin()),
        pressure: sampled(points, |x| 70.0 + 3.0 * x[1].sin()),
        temperature: vec![1.21; points.iter().product()],
        velocity: velocity.map(|(u, _)| sampled(points, u)),
        scalars: Vec::new(),
        gradient: Some(Box::new(gradient.try_into().unwrap())),
        viscosity: 0.02,
        gas: Gas { reynolds: 50.0, ..gas(5.0) },
        walls: None,
    }
}

fn assert_columns(found: &dyn Fn(&str) -> f64, known: &[(&str, f64)]) {
    for &(name, expected) in known {
        assert_close(found(name), expected, 1e-12, name);
    }
}

#[test]
fn taylor_green_scales_match_their_closed_forms() {
    let points = [10, 9, 12];
    let zero: Component = (|_| 0.0, [|_| 0.0; 3]);
    let u: Component = (
        |[x, y, z]| x.sin() * y.cos() * z.cos(),
        [
            |[x, y, z]| x.cos() * y.cos() * z.cos(),
            |[x, y, z]| -x.sin() * y.sin() * z.cos(),
            |[x, y, z]| -x.sin() * y.cos() * z.sin(),
        ],
    );
    let v: Component = (
        |[x, y, z]| -x.cos() * y.sin() * z.cos(),
        [
            |[x, y, z]| x.sin() * y.sin() * z.cos(),
            |[x, y, z]| -x.cos() * y.cos() * z.cos(),
            |[x, y, z]| x.cos() * y.sin() * z.sin(),
        ],
    );
    let found = found(&cube(points), &flow(points, [u, v, zero]));
    // ⟨u·u⟩ = 1/4, ⟨ω·ω⟩ = 3/4, all energy in the shell of |k| = √3; ⟨ρ⟩ = 2, so ν = 0.01.
    let (nu, rms) = (0.01_f64, (1.0_f64 / 12.0).sqrt());
    let dissipation = 0.75 * nu;
    let length = (nu.powi(3) / dissipation).powf(0.25);
    let integral = PI / 2.0 * 12.0 * 0.125 / 2.0;
    assert_columns(
        &found,
        &[
            ("u_rms", rms),
            ("kinetic_energy", 0.125),
            ("dissipation", dissipation),
            // ⟨(∂u/∂x)²⟩ = 1/8, 1/8, 0 along x, y, z.
            ("taylor_scale", 1.0),
            ("reynolds_taylor", rms / nu),
            ("kolmogorov_length", length),
            ("kolmogorov_velocity", (nu * dissipation).powf(0.25)),
            ("kolmogorov_time", (nu / dissipation).sqrt()),
            ("kmax_eta", 4.5 * length),
            ("turbulent_mach", 0.5 / 5.5),
            ("integral_scale", integral),
            ("turnover_time", integral / rms),
            ("flatness", 27.0 / 8.0),
            ("density_rms", 0.5 / 2.0_f64.sqrt()),
            ("pressure_rms", 3.0 / 2.0_f64.sqrt()),
        ],
    );
    for name in ["skewness", "dilatational_energy", "dilatational_dissipation"] {
        assert!(found(name).abs() < 1e-14, "{name}: {}", found(name));
    }
}

#[test]
fn steepening_waves_have_the_exact_skewness_and_are_purely_dilatational() {
    // u = 0.3 + sin x + a sin 2x, so ∂u/∂x = cos x + 2 a cos 2x; v and w are the same along y and z, without the mean.
    const A: f64 = -0.25;
    fn wave(x: f64) -> f64 {
        x.sin() + A * (2.0 * x).sin()
    }
    fn slope(x: f64) -> f64 {
        x.cos() + 2.0 * A * (2.0 * x).cos()
    }
    let points = [9, 11, 10];
    let velocity: [Component; 3] = [
        (|x| 0.3 + wave(x[0]), [|x| slope(x[0]), |_| 0.0, |_| 0.0]),
        (|x| wave(x[1]), [|_| 0.0, |x| slope(x[1]), |_| 0.0]),
        (|x| wave(x[2]), [|_| 0.0, |_| 0.0, |x| slope(x[2])]),
    ];
    let found = found(&cube(points), &flow(points, velocity));
    let (variance, square) = (0.5 + 0.5 * A * A, 0.5 + 2.0 * A * A);
    assert_columns(
        &found,
        &[
            ("u_rms", variance.sqrt()),
            ("dissipation", 0.01 * 4.0 / 3.0 * 3.0 * square),
            ("taylor_scale", (variance / square).sqrt()),
            // Energies 3/4 and 3 a²/4 in shells 1 and 2.
            ("integral_scale", PI / (2.0 * variance) * 0.75 * (1.0 + 0.5 * A * A)),
            ("skewness", 1.5 * A / square.powf(1.5)),
            ("flatness", (0.375 + 6.0 * A * A + 6.0 * A.powi(4)) / (square * square)),
            ("dilatational_energy", 1.0),
            ("dilatational_dissipation", 1.0),
        ],
    );
}

#[test]
fn isotropic_turbulence_starts_with_unit_u_rms_and_the_given_mach_number() {
    let set = ["case.mach=0.3", "case.start=constant-temperature", "case.reynolds=40"];
    let mut simulation = simulation("isotropic-turbulence", [16, 17, 18], &set);
    let Sample::Flow(flow) = simulation.sample(true).unwrap() else { panic!("expected a flow") };
    let found = found(&cube([16, 17, 18]), &flow);
    let density = flow.density.iter().sum::<f64>() / (16.0 * 17.0 * 18.0);
    let reynolds = found("taylor_scale") * 40.0 * density;
    // T = 1 everywhere, so c = c₀.
    let mach = 0.3 * 3.0_f64.sqrt();
    assert_columns(
        &found,
        &[("u_rms", 1.0), ("turbulent_mach", mach), ("reynolds_taylor", reynolds)],
    );
}
