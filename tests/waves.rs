//! Entropy, acoustic and shear waves, compared with the solutions of the discrete equations, and with the exact solutions at
//! the order of the scheme in space.
//!
//! For a plane wave of small amplitude every derivative is a factor: i K for the first (K is the symbol over h), −B for the
//! second. The discrete linear wave is therefore known in closed form, and a run must agree with it to round-off and O(A²).

use std::f64::consts::TAU;
use std::ops::Range;

use kolmo::physics::{Gas, Viscosity};
use kolmo::scheme::{family, tableau};
use kolmo::time::Simulation;
use kolmo::verify::waves::Symbols;
use num_complex::Complex;

use crate::common::{
    CONVECTION, ENERGY, FAMILIES, VISCOUS, advance, assert_close, assert_orders, float, projection,
    run_with, set_flow, state, steps,
};
use crate::verify::assert_verified;

const I: Complex<f64> = Complex::I;
/// Numbers of points on which a family of this order shows its order. On finer grids round-off is visible.
fn grids(order: i32) -> [usize; 3] {
    if order < 8 { [12, 16, 24] } else { [8, 10, 12] }
}

/// max |x − mean| / |mean| of p and of each velocity component.
fn nonuniformity(run: &Simulation, gamma: f64) -> f64 {
    let [rho, m0, m1, m2, e] = &state(run)[..] else { panic!("not a flow") };
    let mut worst = 0.0_f64;
    for quantity in 0..4 {
        let values: Vec<f64> = (0..rho.len())
            .map(|i| match quantity {
                0 => m0[i] / rho[i],
                1 => m1[i] / rho[i],
                2 => m2[i] / rho[i],
                _ => {
                    let m2 = m0[i] * m0[i] + m1[i] * m1[i] + m2[i] * m2[i];
                    (gamma - 1.0) * (e[i] - 0.5 * m2 / rho[i])
                }
            })
            .collect();
        let mean = values.iter().sum::<f64>() / float(values.len());
        worst = values.iter().map(|x| ((x - mean) / mean).abs()).fold(worst, f64::max);
    }
    worst
}

#[test]
fn entropy_waves_keep_p_and_u_uniform_and_follow_discrete_equations() {
    let (velocity, dt) = ([1.0, 0.8, -0.6], 0.004);
    let rk = tableau("hale64").unwrap();
    let compact6 = family("compact6").unwrap();
    let set = [format!("case.velocity={velocity:?}"), format!("time.dt={dt}")];
    for points in [[20, 1, 1], [1, 18, 1], [1, 1, 16], [16, 18, 1], [14, 16, 18]] {
        let periods = points.map(|n| i32::from(n > 1));
        for (convection, energy) in CONVECTION.iter().flat_map(|c| ENERGY.map(|e| (c, e))) {
            let forms = ["compact6", convection, energy, "auto"];
            let mut run = run_with("entropy-wave", points, forms, &set);
            let before = projection(points, periods, &state(&run)[0]);
            steps(&mut run, 40);
            let nonuniformity = nonuniformity(&run, 1.4);
            if energy == "split-enthalpy" {
                // The term ½ (ρ D(1/ρ) + D(ρ)/ρ) p of this form is not 0.
                assert!(
                    nonuniformity > 1e-7 && nonuniformity < 1e-5,
                    "{points:?} {forms:?}: {nonuniformity:.1e}"
                );
                continue;
            }
            assert!(nonuniformity < 1e-12, "{points:?} {forms:?}: {nonuniformity:.1e}");
            let found = projection(points, periods, &state(&run)[0]) / before;
            let phase = |axis: usize| {
                let symbols = Symbols::new(compact6, TAU, 1.0 / float(points[axis]));
                velocity[axis] * dt * symbols.convection(convection)
            };
            let angle: f64 = (0..3).filter(|&axis| points[axis] > 1).map(phase).sum();
            let error = (found / rk.amplification(-I * angle).powu(40) - 1.0).norm();
            assert!(error < 1e-12, "{points:?} {forms:?}: {error:.1e}");
        }
    }
}

#[test]
fn entropy_waves_converge_at_the_order_of_the_scheme() {
    for ((derivative, order), convection) in
        FAMILIES.into_iter().flat_map(|f| ["kennedy-gruber", "staggered"].map(|c| (f, c)))
    {
        let label = format!("{derivative} {convection}");
        let found = grids(order).map(|n| {
            let forms = [derivative, convection, "split-pressure", "auto"];
            let mut run = run_with("entropy-wave", [n, 1, 1], forms, &["time.dt=0.001".into()]);
            advance(&mut run, 0.1);
            let error = run.error().unwrap().unwrap()[0];
            // The phase error is (K − k) U t, with A = 0.2 and U = 1.
            let symbols = Symbols::new(family(derivative).unwrap(), TAU, 1.0 / float(n));
            let phase_error = (symbols.convection(convection) - TAU) * 0.1;
            let expected = 0.2 * 2.0_f64.sqrt() * (0.5 * phase_error).sin().abs();
            assert_close(error, expected, 0.02, &label);
            (1.0 / float(n), error)
        });
        assert_orders(&found, order_range(order), &label);
    }
}

/// The accepted orders of convergence of a linear wave on [`grids`].
fn order_range(order: i32) -> Range<f64> {
    f64::from(order) - 0.25..f64::from(order) + 0.25
}

/// A linear wave along one axis in a gas at rest, or the shear wave in a stream.
struct Wave<'a> {
    gas: Gas,
    /// Convection, energy, viscous.
    forms: [&'a str; 3],
    axis: usize,
    points: usize,
    periods: i32,
    derivative: &'a str,
}

/// Amplitude of the density. The neglected terms are of order its square, and round-off is 1e-11 of it.
const AMPLITUDE: f64 = 1e-5;

impl Wave<'_> {
    fn symbols(&self) -> Symbols {
        let k = f64::from(self.periods);
        Symbols::new(family(self.derivative).unwrap(), k, TAU / float(self.points))
    }

    /// The eigenvalue s of the discrete equations closest to `guess`.
    fn eigenvalue(&self, guess: Complex<f64>) -> Complex<f64> {
        self.symbols().eigenvalue(&self.gas, self.forms, guess)
    }

    /// A run in a box of length 2π. The entropy wave allows any axis; the caller replaces its initial state.
    fn run(&self, dt: f64, law: &str) -> Simulation {
        let [convection, energy, viscous] = self.forms;
        let reynolds = match self.gas.is_inviscid() {
            true => "inf".to_string(),
            false => self.gas.reynolds.to_string(),
        };
        let mut points = [1; 3];
        points[self.axis] = self.points;
        let set = [
            format!("case.mach={}", self.gas.mach),
            format!("case.reynolds={reynolds}"),
            format!("gas.prandtl={}", self.gas.prandtl),
            format!("gas.viscosity={law}"),
            format!("time.dt={dt:e}"),
            format!("grid.length={:?}", [TAU; 3]),
        ];
        run_with("entropy-wave", points, [self.derivative, convection, energy, viscous], &set)
    }

    /// Measures the eigenmode closest to `guess` in a run of `n` steps of `dt`.
    fn measure(&self, guess: Complex<f64>, dt: f64, n: u32, law: &str) -> Measured {
        let (gas, axis) = (self.gas, self.axis);
        let s = self.eigenvalue(guess);
        let k = self.symbols().convection(self.forms[0]);
        let nu = self.symbols().longitudinal(self.forms[2]) / gas.reynolds;
        let (velocity, pressure) = (I * s / k, -s * (s + nu) / (k * k));
        let mut run = self.run(dt, law);
        set_flow(&mut run, gas.gamma, |index, _| {
            let angle = TAU * f64::from(self.periods) * float(index[axis]) / float(self.points);
            let part = |factor: Complex<f64>| AMPLITUDE * (factor * Complex::cis(angle)).re;
            let mut flow = [1.0 + part(Complex::ONE), 0.0, 0.0, 0.0, 0.0];
            flow[1 + axis] = part(velocity);
            flow[4] = gas.reference_pressure() + part(pressure);
            flow
        });
        let (mut points, mut periods) = ([1; 3], [0; 3]);
        (points[axis], periods[axis]) = (self.points, self.periods);
        let before = projection(points, periods, &state(&run)[0]);
        steps(&mut run, n as usize);
        let ratio = projection(points, periods, &state(&run)[0]) / before;
        let expected = tableau("hale64").unwrap().amplification(s * dt).powu(n);
        let t = f64::from(n) * dt;
        let turns = ((s.im * t - ratio.arg()) / TAU).round();
        Measured { error: (ratio / expected - 1.0).norm(), s: (ratio.ln() + I * TAU * turns) / t }
    }
}

/// The measured evolution of a wave.
struct Measured {
    /// |ratio of amplitudes / R(s dt)ⁿ − 1| with the s of the discrete equations.
    error: f64,
    /// ln(ratio of amplitudes) / t.
    s: Complex<f64>,
}

fn gas(mach: f64, reynolds: f64, prandtl: f64) -> Gas {
    Gas { gamma: 1.4, prandtl, mach, reynolds, viscosity: Viscosity::Constant }
}

#[test]
fn linear_viscous_modes_match_their_growth_rates_and_frequencies() {
    let lines = include_str!("data/viscous_modes.csv").lines();
    for line in lines.filter(|line| !line.starts_with('#')).skip(1) {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [mach, reynolds, prandtl, k, growth, frequency, entropy] = row[..] else {
            panic!("{line}")
        };
        for viscous in VISCOUS {
            #[allow(clippy::cast_possible_truncation, reason = "1, 2 or 4")]
            let wave = Wave {
                gas: gas(mach, reynolds, prandtl),
                forms: ["kennedy-gruber", "split-pressure", viscous],
                axis: 0,
                points: 64,
                periods: k as i32,
                derivative: "compact10-penta",
            };
            let (sound, dt) = (k / mach, 0.03 * mach / k);
            for exact in [Complex::new(growth, frequency), Complex::new(entropy, 0.0)] {
                let Measured { error, s } = wave.measure(exact, dt, 100, "constant");
                let label = format!("{line} {viscous} {exact:.4}");
                // The error of the time step is 2e-9 of the frequency and 2e-7 of the growth rate, that of the grid is smaller.
                assert!(error < 3e-9, "{label}: discrete {error:.1e}");
                assert!((s.im - exact.im).abs() < 5e-9 * sound, "{label}: frequency {s}");
                assert!((s.re / exact.re - 1.0).abs() < 1e-6, "{label}: growth {s}");
            }
        }
    }
}

#[test]
fn linear_waves_follow_the_discrete_equations_in_every_form_and_axis() {
    assert_verified(&["waves"]);
}

#[test]
fn sound_converges_at_the_order_of_the_scheme() {
    for ((derivative, order), convection) in
        FAMILIES.into_iter().flat_map(|f| ["kennedy-gruber", "staggered"].map(|c| (f, c)))
    {
        let label = format!("{derivative} {convection}");
        let found = grids(order).map(|points| {
            let wave = Wave {
                gas: gas(0.5, f64::INFINITY, 0.71),
                forms: [convection, "divergence", "laplacian"],
                axis: 0,
                points,
                periods: 1,
                derivative,
            };
            let s = wave.measure(Complex::new(0.0, -2.0), 0.0025, 200, "constant").s;
            let error = (s.im + 2.0).abs();
            // The discrete frequency is K/Ma instead of k/Ma.
            let k = wave.symbols().convection(convection);
            // Round-off in the pressure contributes 2e-10.
            assert_close(error, 2.0 * (1.0 - k).abs(), 0.05, &label);
            (TAU / float(points), error)
        });
        assert_orders(&found, order_range(order), &label);
    }
}

#[test]
fn shear_waves_converge_at_the_order_of_the_scheme() {
    let set = ["case.velocity=0.0", "case.reynolds=2.0", "case.amplitude=1e-6", "time.dt=0.002"];
    for ((derivative, order), viscous) in FAMILIES.into_iter().flat_map(|f| VISCOUS.map(|v| (f, v)))
    {
        let label = format!("{derivative} {viscous}");
        let found = grids(order).map(|n| {
            let forms = [derivative, "kennedy-gruber", "split-pressure", viscous];
            let mut run = run_with("shear-wave", [n, 1, 1], forms, &set.map(String::from));
            let before = projection([n, 1, 1], [1, 0, 0], &state(&run)[2]);
            advance(&mut run, 0.1);
            let ratio = projection([n, 1, 1], [1, 0, 0], &state(&run)[2]) / before;
            // s = −k²/Re, and −B/Re in the discrete equations.
            let error = (ratio.norm().ln() / 0.1 + 0.5).abs();
            let symbols = Symbols::new(family(derivative).unwrap(), 1.0, TAU / float(n));
            assert_close(error, 0.5 * (1.0 - symbols.diffusion(viscous)).abs(), 0.02, &label);
            (TAU / float(n), error)
        });
        assert_orders(&found, order_range(order), &label);
    }
}
