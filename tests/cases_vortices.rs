//! Initial states of vortical flows without an exact solution: Kida's vortex, the ABC flow and the double shear layer, checked against
//! their equations.

use std::f64::consts::{PI, TAU};

use kolmo::cases::{
    AbcFlow, Definition, Domain, DoubleShearLayer, FlowCase, KidaVortex, Layer, Start,
};
use kolmo::physics::{Gas, Viscosity};

use crate::cases_exact::{LINE, PLANE, gas, gradient, imbalance, shifted};

/// Points without symmetry in the box [0, 2π]³.
const SCATTERED: [[f64; 3]; 3] = [[0.4, 1.9, 3.3], [2.7, 0.2, 5.1], [6.0, 4.4, 1.3]];

fn velocity(flow: &dyn FlowCase, x: [f64; 3]) -> [f64; 3] {
    flow.initial(&gas(0.1, 100.0), &flow.domain(), [true; 3], x).velocity
}

#[test]
fn kida_vortex_has_kidas_velocity_and_is_incompressible_in_any_cube() {
    let case = KidaVortex::default();
    let gas = gas(0.5, 100.0);
    for cube in [case.domain(), Domain { origin: [1.0, -2.0, 0.5], length: [9.0; 3] }] {
        for x in SCATTERED {
            let [divergence, residual, source] = imbalance(&case, &gas, &cube, [true; 3], 0.01, x);
            assert!(divergence.abs() < 1e-11, "{divergence:e}");
            // For cos 6x the error of second differences is 36 (6h)⁸/315 / 80 = 2e-12, plus a few times the round-off p₀ ε/h² = 6e-12.
            assert!(residual.abs() < 2e-10, "{residual:e} of {source}");
            assert!(source.abs() > 1e-2);
        }
    }
    let [x, y, z]: [f64; 3] = SCATTERED[0];
    let u = x.sin() * ((3.0 * y).cos() * z.cos() - y.cos() * (3.0 * z).cos());
    assert!((velocity(&case, [x, y, z])[0] - u).abs() < 1e-15);
}

#[test]
fn kida_vortex_has_its_rotation_and_mirror_symmetries() {
    let case = KidaVortex::default();
    let at = |x| case.initial(&gas(0.1, 100.0), &case.domain(), [true; 3], x);
    let assert_equal =
        |a: f64, b: f64| assert!((a - b).abs() < 2e-14 * a.abs().max(1.0), "{a} {b}");
    for x in SCATTERED {
        let here = at(x);
        // v(x, y, z) = u(y, z, x), and u(x, z, y) = −u(x, y, z).
        let rotated = at([x[1], x[2], x[0]]);
        let exchanged = at([x[0], x[2], x[1]]);
        let mirrored = at([-x[0], x[1], x[2]]);
        for axis in 0..3 {
            assert_equal(here.velocity[(axis + 1) % 3], rotated.velocity[axis]);
            assert_equal(here.velocity[axis], -exchanged.velocity[[0, 2, 1][axis]]);
            let sign = if axis == 0 { -1.0 } else { 1.0 };
            assert_equal(here.velocity[axis], sign * mirrored.velocity[axis]);
        }
        for other in [rotated, exchanged, mirrored, at(shifted(shifted(x, 0, PI), 1, PI))] {
            assert_equal(here.pressure, other.pressure);
        }
    }
}

#[test]
fn abc_flow_is_a_balanced_beltrami_flow_along_the_active_axes() {
    let gas = gas(0.5, 100.0);
    for (wavenumber, length) in [(1, TAU), (2, TAU), (3, 5.0)] {
        let case = AbcFlow { a: 1.0, b: 0.7, c: -0.4, wavenumber, start: Start::default() };
        let cube = Domain { origin: [0.3; 3], length: [length; 3] };
        let k = case.k(&cube);
        assert!((k - TAU * f64::from(wavenumber) / length).abs() < 1e-15);
        for (x, active) in SCATTERED.into_iter().zip([[true; 3], PLANE, LINE]) {
            let g = gradient(&case, &gas, &cube, active, 0.02 / k, x);
            let point = case.initial(&gas, &cube, active, x);
            for i in 0..3 {
                let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                let vorticity = g[j][l] - g[l][j];
                assert!((vorticity - k * point.velocity[i]).abs() < 1e-11 * k, "{vorticity}");
                let force: f64 = (0..3).map(|j| point.velocity[j] * g[j][i]).sum();
                // Round-off of p₀ ε/h, p₀ = 3.
                assert!((force + g[i][3]).abs() < 1e-12 * k, "{force} {}", g[i][3]);
            }
            assert!((g[0][0] + g[1][1] + g[2][2]).abs() < 1e-12 * k);
        }
    }
}

#[test]
fn abc_flow_reference_is_the_exact_decay_where_it_is_valid() {
    let case = AbcFlow { a: 1.0, b: 0.5, c: 0.25, wavenumber: 2, start: Start::default() };
    let domain = case.domain();
    let viscous = gas(0.1, 50.0);
    for (active, square) in [([true; 3], 1.3125), (PLANE, 0.3125), (LINE, 0.25)] {
        let reference = case.reference(&viscous, &domain, active).unwrap();
        for t in [0.0, 1.234, 7.7] {
            let energy = 0.5 * square * (-8.0 * t / 50.0_f64).exp();
            let found = reference.kinetic_energy_at(t).unwrap();
            assert!((found / energy - 1.0).abs() < 1e-11, "{t}: {found} {energy}");
            // ε = 2k² E/Re and Ω = k² E.
            assert!((reference.dissipation_at(t).unwrap() / found - 0.16).abs() < 1e-11);
            assert!((reference.enstrophy_at(t).unwrap() / found - 4.0).abs() < 1e-10);
        }
    }
    let assert_no_reference = |case: AbcFlow, gas: Gas| {
        assert_eq!(case.reference(&gas, &domain, [true; 3]), None, "{case:?} {gas:?}");
    };
    assert_no_reference(case, gas(0.1, f64::INFINITY));
    assert_no_reference(case, gas(0.2, 50.0));
    assert_no_reference(case, Gas { viscosity: Viscosity::SUTHERLAND, ..viscous });
    assert_no_reference(AbcFlow { a: 0.0, b: 0.0, c: 0.0, ..case }, viscous);
}

#[test]
fn vortices_start_with_constant_density_or_constant_temperature() {
    let gas = gas(0.3, 100.0);
    for start in [Start::ConstantDensity, Start::ConstantTemperature] {
        let flows: [Box<dyn FlowCase>; 2] =
            [Box::new(KidaVortex { start }), Box::new(AbcFlow { start, ..Default::default() })];
        for flow in flows {
            let point = flow.initial(&gas, &flow.domain(), [true; 3], SCATTERED[0]);
            let temperature = gas.temperature(point.density, point.pressure);
            let mut pair = [point.density, temperature];
            if start == Start::ConstantTemperature {
                pair.reverse();
            }
            let [uniform, other] = pair;
            assert!((uniform - 1.0).abs() < 1e-15 && (other - 1.0).abs() > 1e-3);
        }
    }
}

#[test]
fn shear_layers_match_the_published_ones_and_are_smooth_across_period() {
    let thick = DoubleShearLayer::default();
    let thin = DoubleShearLayer { layer: Layer::Thin, ..thick };
    let sharp = DoubleShearLayer { sharpness: Some(100.0), perturbation: 0.1, ..thick };
    for (case, s, delta) in [(thick, 30.0_f64, 0.05), (thin, 80.0, 0.05), (sharp, 100.0, 0.1)] {
        for i in 0..200 {
            let (x, y) = (0.37, f64::from(i) / 200.0);
            let [u, v, w] = velocity(&case, [x, y, 0.2]);
            let published =
                if y <= 0.5 { (s * (y - 0.25)).tanh() } else { (s * (0.75 - y)).tanh() };
            let bound = 2.0 * (-0.5 * s).exp() + 1e-15;
            assert!((u - published).abs() <= bound, "s {s}, y {y}: {u} {published}");
            assert!((v - delta * (TAU * x).sin()).abs() < 1e-16 && w == 0.0);
        }
        // The published profile has slopes of ±4 s exp(−s/2) on the two sides of y = ½ and y = 0, 4e-5 for the thick layer.
        for edge in [0.0, 0.5] {
            let g = gradient(&case, &gas(0.5, 1e4), &case.domain(), PLANE, 1e-3, [0.1, edge, 0.0]);
            assert!(g[1][0].abs() < 1e-12, "s {s}: {:e}", g[1][0]);
        }
    }
    let (case, gas) = (thick, gas(0.1, 1e4));
    let longer = Domain { origin: [-1.0, 2.0, 0.0], length: [3.0, 5.0, 1.0] };
    let stretched = case.initial(&gas, &longer, PLANE, [-1.0 + 3.0 * 0.2, 2.0 + 5.0 * 0.27, 0.0]);
    let unit_box = case.initial(&gas, &case.domain(), PLANE, [0.2, 0.27, 0.0]);
    for (a, b) in stretched.velocity.into_iter().zip(unit_box.velocity) {
        assert!((a - b).abs() < 1e-14);
    }
}
