//! Scalar advection and diffusion, compared with the solution of the fully discrete equations.

use std::f64::consts::TAU;

use kolmo::scheme::{Tableau, compact_filter, family, tableau};
use num_complex::Complex;

use crate::common::{
    advance, assert_close, assert_orders, float, projection, simulation, state, steps,
};

/// One line of the table: scheme, integrator, N, k, CFL, n, amplitude, phase.
struct Row<'a> {
    scheme: &'a str,
    integrator: &'a str,
    points: usize,
    periods: i32,
    cfl: f64,
    steps: usize,
    gain: Complex<f64>,
}

fn table() -> Vec<Row<'static>> {
    let lines = include_str!("data/discrete_advection.csv").lines();
    let rows = lines.filter(|line| !line.starts_with('#')).skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        Row {
            scheme: cells[0],
            integrator: cells[1],
            points: cells[2].parse().unwrap(),
            periods: cells[3].parse().unwrap(),
            cfl: number(4),
            steps: cells[5].parse().unwrap(),
            gain: Complex::from_polar(number(6), number(7)),
        }
    });
    rows.collect()
}

/// The factor by which `n` steps of `dt` multiply the coefficient of a sine with `periods` periods along each axis.
fn gain(points: [usize; 3], periods: [i32; 3], dt: f64, n: usize, set: &[&str]) -> Complex<f64> {
    let dt = format!("time.dt={dt:e}");
    let wave = format!("case.wavenumber={periods:?}");
    let set = [&["case.shape=sine", &dt, &wave], set].concat();
    let mut run = simulation("scalar-advection", points, &set);
    let before = projection(points, periods, &state(&run)[0]);
    steps(&mut run, n);
    projection(points, periods, &state(&run)[0]) / before
}

/// Checks every row of the table with the wave along `axis` and one point along the others.
fn assert_matches_the_table_along(axis: usize) {
    let rows = table();
    assert_eq!(rows.len(), 156);
    for row in rows {
        let (mut points, mut periods, mut velocity) = ([1; 3], [0; 3], [0.0; 3]);
        (points[axis], periods[axis], velocity[axis]) = (row.points, row.periods, 1.0);
        let set = [
            format!("scheme.derivative={}", row.scheme),
            format!("time.integrator={}", row.integrator),
            format!("case.velocity={velocity:?}"),
        ];
        let dt = row.cfl * TAU / float(row.points);
        let found = gain(points, periods, dt, row.steps, &set.each_ref().map(String::as_str));
        let error = (found / row.gain - 1.0).norm();
        assert!(error < 1e-12, "{set:?}, N = {}: error {error:.1e}", row.points);
    }
}

#[test]
fn sine_wave_along_x_has_the_discrete_amplitude_and_phase() {
    assert_matches_the_table_along(0);
}

#[test]
fn sine_wave_along_y_has_the_discrete_amplitude_and_phase() {
    assert_matches_the_table_along(1);
}

#[test]
fn sine_wave_along_z_has_the_discrete_amplitude_and_phase() {
    assert_matches_the_table_along(2);
}

#[test]
fn oblique_waves_with_diffusion_follow_the_discrete_equations() {
    // (points, periods): a plane, the other planes, and all three axes, all spacings different.
    let grids: [([usize; 3], [i32; 3]); 4] = [
        ([24, 33, 1], [3, -2, 0]),
        ([27, 1, 32], [2, 0, 5]),
        ([1, 20, 25], [0, -4, 3]),
        ([16, 18, 21], [2, 3, -1]),
    ];
    let (velocity, nu, dt) = ([1.0, -0.7, 0.45], 0.02, 0.04);
    for (scheme, integrator) in [
        ("compact4", "rk4"),
        ("compact6", "hale64"),
        ("compact10-penta", "ck54"),
        ("explicit6", "ssprk3"),
    ] {
        let rk: &Tableau = tableau(integrator).unwrap();
        let formulas = family(scheme).unwrap();
        for (points, periods) in grids {
            let mut z = Complex::ZERO;
            for axis in 0..3 {
                let h = TAU / float(points[axis]);
                let w = f64::from(periods[axis]) * h;
                let sign = w.signum();
                z += Complex::new(
                    -nu * dt * formulas.second.symbol(w.abs()) / (h * h),
                    -velocity[axis] * dt * sign * formulas.first.symbol(w.abs()) / h,
                );
            }
            let n = 40;
            let expected = rk.amplification(z).powu(40);
            let found = gain(
                points,
                periods,
                dt,
                n,
                &[
                    &format!("scheme.derivative={scheme}"),
                    &format!("time.integrator={integrator}"),
                    &format!("case.velocity={velocity:?}"),
                    &format!("case.diffusivity={nu}"),
                ],
            );
            let error = (found / expected - 1.0).norm();
            assert!(expected.norm() < 0.9, "diffusion has no effect");
            assert!(error < 1e-12, "{scheme} {integrator} {points:?}: {error:.2e}");
        }
    }
}

#[test]
fn filter_multiplies_an_oblique_wave_by_its_transfer_functions() {
    let (points, periods) = ([20, 24, 27], [6, -7, 11]);
    for (order, alpha) in [(2, 0.1), (4, 0.3), (6, -0.2), (8, 0.49), (10, 0.4)] {
        let filter = compact_filter(order, alpha);
        let transfer = |axis: usize| {
            filter.transfer(TAU * f64::from(i32::abs(periods[axis])) / float(points[axis]))
        };
        let expected = transfer(0) * transfer(1) * transfer(2);
        let key = format!("scheme.filter={{order={order}, alpha={alpha}, every=2}}");
        let at_rest = ["case.velocity=[0.0, 0.0, 0.0]", "scheme.derivative=compact6", &key];
        let once = gain(points, periods, 0.1, 3, &at_rest);
        assert!(expected < 0.99, "the filter has no effect");
        assert!((once / expected - 1.0).norm() < 1e-12, "order {order}: {once} {expected}");
        let twice = gain(points, periods, 0.1, 4, &at_rest);
        assert!((twice / (expected * expected) - 1.0).norm() < 1e-12, "order {order}, twice");
    }
}

/// (root mean square, maximum) of the error after one period of `shape` along x.
fn errors(shape: &str, points: usize, width: f64, cfl: f64) -> [f64; 2] {
    let set =
        [format!("case.shape={shape}"), format!("case.width={width}"), format!("time.cfl={cfl}")];
    let mut run =
        simulation("scalar-advection", [points, 1, 1], &set.each_ref().map(String::as_str));
    advance(&mut run, TAU);
    run.error().unwrap().unwrap()
}

#[test]
fn gaussian_returns_after_a_period_at_sixth_order() {
    let found = [32, 48, 64].map(|n| (TAU / float(n), errors("gaussian", n, 0.5, 0.1)[1]));
    assert_orders(&found, 5.8..6.2, "gaussian");
    assert_close(found[2].1, 1.36e-5, 0.02, "gaussian");
}

#[test]
fn cone_returns_after_a_period_at_the_reduced_order_of_its_kinks() {
    // A kink of the slope is not smooth: h^{3/2} in the root mean square at best.
    let found = [32, 64, 128].map(|n| (TAU / float(n), errors("cone", n, 1.5, 0.3)[0]));
    assert_orders(&found, 1.2..1.6, "cone");
    assert_close(found[2].1, 2.13e-3, 0.02, "cone");
}
