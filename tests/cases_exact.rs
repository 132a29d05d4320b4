//! The closed-form solutions of the cases, checked against their equations and against tables, without the solver.

use std::f64::consts::{PI, TAU};

use kolmo::cases::{
    AcousticWave, Definition, Domain, EntropyWave, FlowCase, FlowPoint, IsentropicVortex, Mode,
    ScalarAdvection, Shape, ShearWave, Start, TaylorGreen,
};
use kolmo::physics::{Gas, Viscosity};

pub(crate) const PLANE: [bool; 3] = [true, true, false];
pub(crate) const LINE: [bool; 3] = [true, false, false];

pub(crate) fn gas(mach: f64, reynolds: f64) -> Gas {
    Gas { gamma: 1.4, prandtl: 0.71, mach, reynolds, viscosity: Viscosity::Constant }
}

/// d/ds at s = 0 by eighth-order central differences of spacing `h`. Error: h⁸/630 times the ninth derivative, plus round-off / h.
pub(crate) fn slope<const N: usize>(h: f64, f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let mut sum = [0.0; N];
    for (step, weight) in [(1.0, 4.0 / 5.0), (2.0, -0.2), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)] {
        let (right, left) = (f(step * h), f(-step * h));
        for v in 0..N {
            sum[v] += weight / h * (right[v] - left[v]);
        }
    }
    sum
}

pub(crate) fn shifted(mut x: [f64; 3], axis: usize, by: f64) -> [f64; 3] {
    x[axis] += by;
    x
}

/// Residuals of the Navier-Stokes equations (mass, momentum, energy) for a closed-form solution at one point, by finite differences.
struct Equations<'a> {
    gas: Gas,
    flow: &'a dyn FlowCase,
    domain: Domain,
    active: [bool; 3],
    h: f64,
}

impl Equations<'_> {
    fn point(&self, x: [f64; 3], t: f64) -> FlowPoint {
        self.flow.exact(&self.gas, &self.domain, self.active, x, t).expect("a closed-form solution")
    }

    fn conserved(&self, x: [f64; 3], t: f64) -> [f64; 5] {
        let FlowPoint { density, velocity: [u, v, w], pressure } = self.point(x, t);
        let energy = pressure / (self.gas.gamma - 1.0) + 0.5 * density * (u * u + v * v + w * w);
        [density, density * u, density * v, density * w, energy]
    }

    /// (u, v, w, T).
    fn velocity_and_temperature(&self, x: [f64; 3], t: f64) -> [f64; 4] {
        let point = self.point(x, t);
        let [u, v, w] = point.velocity;
        [u, v, w, self.gas.temperature(point.density, point.pressure)]
    }

    fn flux(&self, axis: usize, x: [f64; 3], t: f64) -> [f64; 5] {
        let point = self.point(x, t);
        let mut flux = self.conserved(x, t).map(|conserved| conserved * point.velocity[axis]);
        flux[1 + axis] += point.pressure;
        flux[4] += point.pressure * point.velocity[axis];
        if self.gas.is_inviscid() {
            return flux;
        }
        let Gas { gamma, prandtl, mach, reynolds, .. } = self.gas;
        let gradient = [0, 1, 2].map(|j| match self.active[j] {
            true => slope(self.h, |by| self.velocity_and_temperature(shifted(x, j, by), t)),
            false => [0.0; 4],
        });
        let dilatation: f64 = (0..3).map(|j| gradient[j][j]).sum();
        for i in 0..3 {
            let isotropic = if i == axis { 2.0 / 3.0 * dilatation } else { 0.0 };
            let tau = (gradient[axis][i] + gradient[i][axis] - isotropic) / reynolds;
            flux[1 + i] -= tau;
            flux[4] -= tau * point.velocity[i];
        }
        flux[4] -= gradient[axis][3] / ((gamma - 1.0) * mach * mach * prandtl * reynolds);
        flux
    }

    fn residual(&self, x: [f64; 3], t: f64) -> [f64; 5] {
        let mut residual = slope(self.h, |by| self.conserved(x, t + by));
        for axis in (0..3).filter(|&axis| self.active[axis]) {
            let along = slope(self.h, |by| self.flux(axis, shifted(x, axis, by), t));
            for v in 0..5 {
                residual[v] += along[v];
            }
        }
        residual
    }
}

/// The largest residual of `flow` over scattered points and times, by differences of spacing `h`.
fn residual(flow: &dyn FlowCase, gas: Gas, active: [bool; 3], h: f64) -> f64 {
    let domain = flow.domain();
    let equations = Equations { gas, flow, domain, active, h };
    let scattered = |i: i32, step: f64| (f64::from(i) * step).fract();
    let mut largest: f64 = 0.0;
    for i in 1..=200 {
        let share = [0.754_877, 0.569_840, 0.430_160].map(|step| scattered(i, step));
        let x = [0, 1, 2].map(|j| domain.origin[j] + domain.length[j] * share[j]);
        for value in equations.residual(x, 0.1 + scattered(i, 0.618_034)) {
            largest = largest.max(value.abs());
        }
    }
    largest
}

#[test]
fn isentropic_vortex_solves_the_euler_equations_at_any_mach_number() {
    let vortex = IsentropicVortex { half_width: 9.0, ..Default::default() };
    for mach in [0.1, 1.0 / 1.4_f64.sqrt(), 0.9] {
        let gas = gas(mach, f64::INFINITY);
        let scale = gas.reference_pressure().max(1.0);
        // Doubling the spacing multiplies the truncation error by 2⁸, until round-off p₀ ε / h dominates.
        let [coarse, fine] = [0.08, 0.04].map(|h| residual(&vortex, gas, PLANE, h) / scale);
        assert!(coarse < 1e-5 && coarse / fine > 180.0, "Ma {mach}: {coarse:e} {fine:e}");
    }
}

#[test]
fn isentropic_vortex_balances_pressure_and_centrifugal_force() {
    let vortex = IsentropicVortex { velocity: [0.0; 2], ..Default::default() };
    let gas = gas(0.4, f64::INFINITY);
    let at = |r: f64| vortex.initial(&gas, &vortex.domain(), PLANE, [r, 0.0, 0.0]);
    for r in [0.2, 0.7, 1.3, 2.5] {
        let [dp_dr] = slope(0.01, |by| [at(r + by).pressure]);
        let point = at(r);
        let force = point.density * point.velocity[1].powi(2) / r;
        assert!((dp_dr - force).abs() < 1e-12, "r {r}: {dp_dr} {force}");
        let entropy = point.pressure / point.density.powf(gas.gamma) / gas.reference_pressure();
        assert!((entropy - 1.0).abs() < 1e-14);
    }
}

#[test]
fn isentropic_vortex_in_the_usual_scaling_matches_the_published_one() {
    let vortex = IsentropicVortex::default();
    let gas = gas(1.0 / 1.4_f64.sqrt(), f64::INFINITY);
    let point = vortex.initial(&gas, &vortex.domain(), PLANE, [0.6, -0.8, 0.0]);
    // r = 1: f = β/2π, T = 1 − (γ − 1) β² / (8 γ π²)
    let f = 5.0 / TAU;
    let t: f64 = 1.0 - 0.4 * 25.0 / (8.0 * 1.4 * PI * PI);
    assert!((point.velocity[0] - (1.0 + 0.8 * f)).abs() < 1e-15);
    assert!((point.velocity[1] - (1.0 + 0.6 * f)).abs() < 1e-15);
    assert!((point.density - t.powf(2.5)).abs() < 1e-15);
    assert!((point.pressure - t.powf(3.5)).abs() < 1e-15);
}

#[test]
fn isentropic_vortex_has_the_boundary_jumps_of_spiegel_et_al_2015() {
    for (half_width, jump) in [(5.0, 2.445e-5), (6.0, 1.199e-7), (7.0, 2.103e-10), (8.0, 1.329e-13)]
    {
        let vortex = IsentropicVortex { half_width, velocity: [0.0; 2], ..Default::default() };
        let gas = gas(0.5, f64::INFINITY);
        let edge = vortex.initial(&gas, &vortex.domain(), PLANE, [-half_width, 0.0, 0.0]);
        assert!((edge.velocity[1].abs() / jump - 1.0).abs() < 5e-4, "{}", edge.velocity[1]);
    }
}

#[test]
fn isentropic_vortex_is_periodic_and_keeps_its_radius_in_a_longer_box() {
    let (vortex, gas) = (IsentropicVortex::default(), gas(0.5, f64::INFINITY));
    let domain = vortex.domain();
    let exact = |x, t| vortex.exact(&gas, &domain, PLANE, x, t).unwrap();
    let same = |a: FlowPoint, b: FlowPoint| {
        (a.density - b.density).abs() < 1e-13 && (a.velocity[0] - b.velocity[0]).abs() < 1e-13
    };
    let at = vortex.initial(&gas, &domain, PLANE, [0.5, 0.3, 0.0]);
    assert!((at.density - 1.0).abs() > 0.01);
    assert!(same(at, exact([0.5, 0.3, 0.0], 20.0)));
    assert!(same(at, exact([7.5, 7.3, 0.0], 7.0)));
    assert!(same(at, exact([-7.5, -7.7, 0.0], 12.0)));
    let longer = Domain { origin: [0.0; 3], length: [30.0, 40.0, 1.0] };
    assert!(same(at, vortex.initial(&gas, &longer, PLANE, [15.5, 20.3, 0.0])));
    let viscous = Gas { reynolds: 100.0, ..gas };
    assert_eq!(vortex.exact(&viscous, &domain, PLANE, [0.0; 3], 1.0), None);
}

#[test]
fn entropy_wave_solves_the_euler_equations_in_one_two_and_three_dimensions() {
    let wave = EntropyWave { velocity: [1.0, -0.5, 0.7], ..Default::default() };
    for active in [[true; 3], PLANE, [false, true, false]] {
        // Truncation error h⁸/630 (2π)⁹ A = 2e-15 and round-off p₀/(γ − 1) ε/h = 3e-13.
        let residual = residual(&wave, gas(0.5, f64::INFINITY), active, 0.004);
        assert!(residual < 3e-12, "{active:?}: {residual:e}");
    }
}

#[test]
fn entropy_wave_fits_one_period_in_any_box() {
    let (wave, gas) = (EntropyWave::default(), gas(0.5, f64::INFINITY));
    let domain = Domain { origin: [-1.0; 3], length: [3.0, 0.5, 7.0] };
    let at = |x| wave.initial(&gas, &domain, [true; 3], x).density;
    for axis in 0..3 {
        let (x, length) = ([0.3, 0.1, 2.0], domain.length[axis]);
        assert!((at(x) - at(shifted(x, axis, length))).abs() < 1e-14);
        assert!((at(x) + at(shifted(x, axis, 0.5 * length)) - 2.0).abs() < 1e-14);
    }
    let viscous = Gas { reynolds: 100.0, ..gas };
    assert_eq!(wave.exact(&viscous, &domain, [true; 3], [0.0; 3], 0.0), None);
}

/// Eigenvalues of the linearised equations with μ = 1/Re, γ = 1.4, Pr = 0.71, from a dense eigensolver:
/// Ma, Re, k, Re s and Im s of the acoustic mode towards −x, s of the entropy mode.
#[rustfmt::skip]
const MODES: [[f64; 6]; 10] = [
    [0.10,  100.0, 1.0, -0.0094835677771,    9.9999952914976, -0.0140845076383],
    [0.10,  100.0, 4.0, -0.1517370129064,   39.9996986549157, -0.2253522652670],
    [0.10, 1600.0, 1.0, -0.000592723004623,  9.9999999816074, -0.000880281690287],
    [0.10, 1600.0, 4.0, -0.0094835680565,   39.9999988228746, -0.0140845070795],
    [0.50,  100.0, 1.0, -0.00948356062434,   1.9999764573716, -0.0140845219438],
    [0.50,  100.0, 2.0, -0.0379341530815,    3.9998116560584, -0.0563382666070],
    [0.50,  100.0, 4.0, -0.1517351812805,    7.9984931551979, -0.2253559285189],
    [0.50, 1600.0, 2.0, -0.00237089198967,   3.9999992642966, -0.00352112681877],
    [1.25,  100.0, 4.0, -0.1517251463830,    3.1962312544000, -0.2253759983138],
    [1.25, 1600.0, 1.0, -0.000592722993326,  0.7999997700927, -0.000880281712878],
];

#[test]
fn acoustic_eigenvalues_match_the_linearised_equations() {
    for [mach, reynolds, k, re, im, entropy] in MODES {
        let gas = gas(mach, reynolds);
        let s = |mode| AcousticWave { mode, ..Default::default() }.eigenvalue(&gas, k);
        let right = s(Mode::AcousticRight);
        let (left, entropy_mode) = (s(Mode::AcousticLeft), s(Mode::Entropy));
        assert_eq!(right, left.conj());
        assert_eq!(entropy_mode.im, 0.0);
        // The table is rounded to 1e-13: twelve digits or more, except for the smallest values.
        for (found, expected) in [(left.re, re), (left.im, im), (entropy_mode.re, entropy)] {
            assert!((found / expected - 1.0).abs() < 1e-11, "{found} {expected}");
        }
        // The roots sum to −(ν + χ).
        let damping = (4.0 / 3.0 + 1.4 / 0.71) * k * k / reynolds;
        assert!(((right + left + entropy_mode).re / -damping - 1.0).abs() < 1e-14);
    }
}

#[test]
fn inviscid_acoustic_modes_are_undamped_and_the_entropy_mode_is_steady() {
    let gas = gas(0.5, f64::INFINITY);
    let wave = |mode| AcousticWave { amplitude: 0.01, mode, ..Default::default() };
    let s = |mode| wave(mode).eigenvalue(&gas, 3.0);
    assert_eq!((s(Mode::AcousticRight).re, s(Mode::AcousticRight).im), (0.0, -6.0));
    assert_eq!((s(Mode::AcousticLeft).re, s(Mode::AcousticLeft).im), (0.0, 6.0));
    assert_eq!(s(Mode::Entropy).norm(), 0.0);
    let crest = |mode| wave(mode).initial(&gas, &wave(mode).domain(), LINE, [0.0; 3]);
    // Entropy mode: p' = u' = 0. Acoustic modes: p' = ρ'/Ma², u' = ± ρ'/Ma.
    let p0 = gas.reference_pressure();
    let entropy_crest = FlowPoint { density: 1.01, velocity: [0.0; 3], pressure: p0 };
    assert_eq!(crest(Mode::Entropy), entropy_crest);
    let (right, left) = (crest(Mode::AcousticRight), crest(Mode::AcousticLeft));
    assert!((right.velocity[0] - 0.02).abs() < 1e-16);
    assert!((left.velocity[0] + 0.02).abs() < 1e-16);
    assert!((right.pressure - p0 - 0.04).abs() < 1e-15);
}

#[test]
fn acoustic_modes_solve_navier_stokes_to_second_order_in_amplitude() {
    for mode in [Mode::AcousticRight, Mode::AcousticLeft, Mode::Entropy] {
        for gas in [gas(0.5, 100.0), gas(0.8, 10.0), gas(0.5, f64::INFINITY)] {
            let [large, small] = [1e-2, 1e-3].map(|amplitude| {
                residual(&AcousticWave { amplitude, wavenumber: 2, mode }, gas, LINE, 0.04)
            });
            if mode == Mode::Entropy && gas.is_inviscid() {
                assert!(large < 1e-12, "exact at any amplitude: {large:e}");
                continue;
            }
            let ratio = large / small;
            assert!((95.0..105.0).contains(&ratio), "{mode:?} {gas:?} {large:e} {small:e}");
            // The nonlinear steepening of sound is of size k A² / Ma³.
            assert!(large < 2.0 * 1e-4 / gas.mach.powi(3) * 4.0, "{mode:?} {gas:?} {large:e}");
        }
    }
}

#[test]
fn shear_wave_solves_navier_stokes_except_for_its_viscous_heating() {
    let wave = |amplitude| ShearWave { amplitude, wavenumber: 3, ..Default::default() };
    for amplitude in [1e-2, 1e-3] {
        // Viscous heating ∂ⱼ(τᵢⱼ uᵢ) − ∂ₜ(v²/2) = A² k²/Re cos²: at most its amplitude, which some of the points nearly reach.
        let heating = amplitude * amplitude * 9.0 / 100.0;
        let ratio = residual(&wave(amplitude), gas(0.5, 100.0), LINE, 0.02) / heating;
        assert!((0.8..1.0).contains(&ratio), "{ratio}");
    }
    let residual = residual(&wave(1e-2), gas(0.5, f64::INFINITY), LINE, 0.02);
    assert!(residual < 1e-12, "exact without viscosity: {residual:e}");
}

#[test]
fn waves_fit_an_integer_number_of_periods_in_any_box() {
    let domain = Domain { origin: [2.0; 3], length: [5.0, 1.0, 1.0] };
    let waves: [Box<dyn FlowCase>; 2] = [
        Box::new(AcousticWave { amplitude: 1.0, wavenumber: 3, ..Default::default() }),
        Box::new(ShearWave { amplitude: 1.0, wavenumber: 3, ..Default::default() }),
    ];
    for wave in waves {
        let at = |x: f64| {
            let p = wave.exact(&gas(0.5, 100.0), &domain, LINE, [x, 2.0, 2.0], 0.7).unwrap();
            [p.density, p.velocity[0], p.velocity[1], p.pressure]
        };
        let max_difference = |a: [f64; 4], b: [f64; 4]| {
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(max_difference(at(2.3), at(2.3 + 5.0 / 3.0)) < 1e-13);
        assert!(max_difference(at(2.3), at(2.3 + 2.5 / 3.0)) > 0.1);
    }
}

#[test]
fn scalar_sine_and_gaussian_solve_the_advection_diffusion_equation() {
    for (shape, diffusivity) in
        [(Shape::Sine, 0.0), (Shape::Sine, 0.3), (Shape::Gaussian, 0.0), (Shape::Gaussian, 0.3)]
    {
        let case = ScalarAdvection {
            shape,
            velocity: [1.0, -0.5, 0.3],
            diffusivity,
            width: 0.9,
            wavenumber: [1, -1, 2],
        };
        for active in [[true; 3], LINE, [false, true, true]] {
            let phi = |x, t| case.exact(&case.domain(), active, x, t).unwrap();
            for (x, t) in [([0.2, 3.0, 4.5], 0.3), ([6.1, 1.0, 0.1], 1.9)] {
                let h = 0.03;
                let [mut residual] = slope(h, |by| [phi(x, t + by)]);
                for j in (0..3).filter(|&j| active[j]) {
                    let along = |by| slope(h, |more| [phi(shifted(x, j, by + more), t)]);
                    residual += case.velocity[j] * along(0.0)[0];
                    residual -= diffusivity * slope(h, along)[0];
                }
                // For the Gaussian the truncation error, h⁸/630 times the ninth derivative 2520/s⁹, is 7e-12.
                assert!(residual.abs() < 2e-11, "{case:?} {active:?}: {residual:e}");
            }
        }
    }
}

#[test]
fn scalar_shapes_are_periodic_and_have_the_expected_initial_values() {
    let domain = Domain { origin: [-1.0; 3], length: [4.0; 3] };
    let x = [0.7, 1.2, 0.0];
    // The centre is at 1, −0.3 and 0.2 away. Periodic images add exp(−3.7²/2) = 1e-3 and more.
    let gaussian = (0..9).map(|m| {
        let (p, q) = (f64::from(m / 3 - 1), f64::from(m % 3 - 1));
        (-0.5 * ((4.0 * p - 0.3).powi(2) + (4.0 * q + 0.2).powi(2))).exp()
    });
    let expected = [
        (Shape::Gaussian, gaussian.sum()),
        (Shape::Sine, (TAU / 4.0 * (2.0 * 1.7 + 2.2)).sin()),
        (Shape::Cone, 1.0 - 0.13_f64.sqrt()),
    ];
    for (shape, expected) in expected {
        let case = ScalarAdvection {
            shape,
            velocity: [1.0, 2.0, 5.0],
            diffusivity: 0.0,
            width: 1.0,
            wavenumber: [2, 1, 0],
        };
        let at = |x| case.initial(&domain, PLANE, x);
        let exact = |x, t| case.exact(&domain, PLANE, x, t).unwrap();
        // The images omitted from the sum above are below exp(−7.7²/2) = 1e-13.
        assert!((at(x) - expected).abs() < 1e-12, "{shape:?}: {} {expected}", at(x));
        for same in [at([4.7, -2.8, 9.0]), exact(x, 4.0), exact([1.7, 3.2, 0.0], 1.0)] {
            assert!((at(x) - same).abs() < 1e-14, "{shape:?}: {} {same}", at(x));
        }
    }
    let cone = ScalarAdvection { shape: Shape::Cone, diffusivity: 0.1, ..Default::default() };
    assert_eq!(cone.exact(&domain, PLANE, x, 0.0), None);
}

#[test]
fn diffusing_gaussian_conserves_its_mean_and_becomes_uniform() {
    let case = ScalarAdvection { diffusivity: 2.0, ..Default::default() };
    let phi = |i: i32, t: f64| {
        let x = [TAU / 64.0 * f64::from(i), 0.0, 0.0];
        case.exact(&case.domain(), LINE, x, t).expect("a closed-form solution")
    };
    let expected = 0.5 * TAU.sqrt() / TAU;
    for t in [0.0, 1.0, 50.0] {
        let mean = (0..64).map(|i| phi(i, t)).sum::<f64>() / 64.0;
        assert!((mean / expected - 1.0).abs() < 1e-14, "t {t}: {mean}");
    }
    assert!((phi(0, 50.0) / expected - 1.0).abs() < 1e-14);
}

#[test]
fn taylor_green_matches_the_textbook_field() {
    let [x, y, z] = [0.3_f64, 1.1, 2.2];
    let gas = gas(0.5, 1600.0);
    let pressure = gas.reference_pressure()
        + ((2.0 * x).cos() + (2.0 * y).cos()) * ((2.0 * z).cos() + 2.0) / 16.0;
    let velocity = [x.sin() * y.cos() * z.cos(), -x.cos() * y.sin() * z.cos(), 0.0];
    for start in [Start::ConstantDensity, Start::ConstantTemperature, Start::Isentropic] {
        let case = TaylorGreen { start, ..TaylorGreen::default() };
        let point = case.initial(&gas, &case.domain(), [true; 3], [x, y, z]);
        assert!((point.pressure - pressure).abs() < 1e-15);
        for (found, expected) in point.velocity.iter().zip(velocity) {
            assert!((found - expected).abs() < 1e-16);
        }
        let temperature = gas.temperature(point.density, point.pressure);
        let (uniform, other) = match start {
            Start::ConstantDensity => (point.density, temperature),
            Start::ConstantTemperature => (temperature, point.density),
            Start::Isentropic => {
                let entropy = point.pressure / point.density.powf(gas.gamma);
                (entropy / gas.reference_pressure(), point.density)
            }
        };
        assert!((uniform - 1.0).abs() < 1e-15 && (other - 1.0).abs() > 1e-3);
    }
}

#[test]
fn taylor_green_kinetic_energy_is_1_8_at_constant_density_or_temperature() {
    let n = 12;
    for start in [Start::ConstantDensity, Start::ConstantTemperature] {
        for mach in [0.1, 0.5] {
            let case = TaylorGreen { start, ..TaylorGreen::default() };
            let mut energy = 0.0;
            for m in 0..n * n * n {
                let x = [m % n, m / n % n, m / n / n].map(|i| TAU / f64::from(n) * f64::from(i));
                let point = case.initial(&gas(mach, 1600.0), &case.domain(), [true; 3], x);
                energy += 0.5 * point.density * point.velocity.iter().map(|u| u * u).sum::<f64>();
            }
            energy /= f64::from(n * n * n);
            assert!((energy - 0.125).abs() < 1e-15, "{start:?} {mach}: {energy:e}");
        }
    }
}

/// ∂uᵢ/∂xⱼ as [j][i] and ∂p/∂xⱼ as [j][3] of an initial state, by differences of spacing `h`.
pub(crate) fn gradient(
    flow: &dyn FlowCase,
    gas: &Gas,
    domain: &Domain,
    active: [bool; 3],
    h: f64,
    x: [f64; 3],
) -> [[f64; 4]; 3] {
    [0, 1, 2].map(|j| {
        slope(h, |by| {
            let point = flow.initial(gas, domain, active, shifted(x, j, by));
            let [u, v, w] = point.velocity;
            [u, v, w, point.pressure]
        })
    })
}

/// (div u, ∇²p + ∂ᵢuⱼ ∂ⱼuᵢ, ∂ᵢuⱼ ∂ⱼuᵢ) of an initial state. The first two vanish for an incompressible initial state.
pub(crate) fn imbalance(
    flow: &dyn FlowCase,
    gas: &Gas,
    domain: &Domain,
    active: [bool; 3],
    h: f64,
    x: [f64; 3],
) -> [f64; 3] {
    let gradient = |x| gradient(flow, gas, domain, active, h, x);
    let g = gradient(x);
    let laplacian: f64 =
        (0..3).map(|j| slope(h, |by| [gradient(shifted(x, j, by))[j][3]])[0]).sum();
    let source: f64 = (0..9).map(|m| g[m / 3][m % 3] * g[m % 3][m / 3]).sum();
    [g[0][0] + g[1][1] + g[2][2], laplacian + source, source]
}

#[test]
fn taylor_green_in_any_box_is_solenoidal_and_solves_pressure_poisson() {
    let (case, gas) = (TaylorGreen::default(), gas(0.5, 100.0));
    let brick = Domain { origin: [1.0, -2.0, 0.5], length: [5.0, 8.0, 6.5] };
    for (domain, active) in [(case.domain(), [true; 3]), (brick, [true; 3]), (brick, PLANE)] {
        let [divergence, residual, source] =
            imbalance(&case, &gas, &domain, active, 0.04, [0.4, 1.9, 3.3]);
        assert!(divergence.abs() < 1e-12);
        // For cos 2x the error of these second differences is (2h)⁸/315 = 5e-12.
        assert!(residual.abs() < 2e-11, "{residual} of {source}");
        assert!(source.abs() > 1e-2);
    }
}
