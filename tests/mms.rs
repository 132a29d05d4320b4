//! The right-hand side of the Navier-Stokes equations against the exact divergence of the fluxes of a smooth field: every
//! term of every form, at the order of the scheme.
//!
//! The exact right-hand side is that of `kolmo verify`: automatic differentiation of the equations on the front page of the
//! crate documentation. It is itself compared with a table from a computer algebra system.

use std::f64::consts::TAU;

use kolmo::physics::{Gas, Viscosity};
use kolmo::verify::manufactured::{exact, solution};

use crate::common::{
    CONVECTION, ENERGY, LAWS, VISCOUS, assert_close, assert_orders, float, max_difference, rate,
    set_flow, simulation,
};

fn gas(law: &str, reynolds: f64) -> Gas {
    let viscosity = match law {
        "constant" => Viscosity::Constant,
        "power" => Viscosity::Power { exponent: 0.76 },
        _ => Viscosity::Sutherland { temperature_ratio: 110.4 / 273.15 },
    };
    Gas { gamma: 1.4, prandtl: 0.71, mach: 0.5, reynolds, viscosity }
}

#[test]
fn exact_right_hand_side_agrees_with_computer_algebra() {
    let lines = include_str!("data/manufactured_solution.csv").lines();
    for line in lines.filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        let (in_time, rate) = exact(&gas(cells[0], 100.0), [1, 2, 3, 4].map(number));
        for v in 0..5 {
            let error = (in_time[v] - rate[v] - number(5 + v)).abs();
            assert!(error < 5e-15, "{line}: variable {v}: error {error:.1e}");
        }
    }
}

/// The time of the comparison.
const TIME: f64 = 0.4;
/// Small, so that the viscous terms are as large as the others.
const REYNOLDS: f64 = 5.0;

/// The exact dU/dt of a gas at every point of a grid.
struct Target {
    law: &'static str,
    points: [usize; 3],
    rate: [Vec<f64>; 5],
}

impl Target {
    fn new(law: &'static str, points: [usize; 3]) -> Self {
        let gas = gas(law, REYNOLDS);
        let mut rate: [Vec<f64>; 5] = Default::default();
        let grid = simulation("taylor-green", points, &[]).grid().clone();
        for at in 0..grid.len() {
            let [x, y, z] = grid.coordinates(grid.index(at));
            let (_, point) = exact(&gas, [x, y, z, TIME]);
            rate.iter_mut().zip(point).for_each(|(rate, value)| rate.push(value));
        }
        Self { law, points, rate }
    }

    /// max |dU/dt − exact| over the points, relative to the largest exact value, of the worst variable.
    fn error(&self, set: &[&str]) -> f64 {
        let viscosity = format!("gas.viscosity={}", self.law);
        let reynolds = format!("case.reynolds={REYNOLDS}");
        let set = [&["case.mach=0.5", &reynolds, &viscosity], set].concat();
        let mut run = simulation("taylor-green", self.points, &set);
        let gas = gas(self.law, REYNOLDS);
        set_flow(&mut run, gas.gamma, |_, [x, y, z]| solution(&gas, [x, y, z, TIME]));
        let found = rate(&mut run);
        let relative = |(found, exact): (&Vec<f64>, &Vec<f64>)| {
            let largest = exact.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
            max_difference(found, exact) / largest
        };
        found.iter().zip(&self.rate).map(relative).fold(0.0, f64::max)
    }
}

/// Three grids, all spacings different, refined by the same factor along every axis.
const GRIDS: [[usize; 3]; 3] = [[14, 16, 18], [21, 24, 27], [28, 32, 36]];

/// (spacing along y, error) on the three grids.
fn refined(targets: &[Target; 3], set: &[String]) -> [(f64, f64); 3] {
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    targets.each_ref().map(|target| (TAU / float(target.points[1]), target.error(&set)))
}

#[test]
fn every_form_and_viscosity_converges_at_sixth_order_to_the_exact_rates() {
    // The error on the finest grid hardly depends on the convective forms; rows as LAWS, columns as VISCOUS.
    let finest = [[3.7e-7, 3.9e-7, 1.07e-6], [3.8e-7, 5.3e-7, 1.49e-6], [3.8e-7, 5.3e-7, 1.48e-6]];
    for (law, row) in LAWS.into_iter().zip(finest) {
        let targets = GRIDS.map(|points| Target::new(law, points));
        for (convection, energy) in CONVECTION.iter().flat_map(|c| ENERGY.map(|e| (c, e))) {
            for (viscous, expected) in VISCOUS.into_iter().zip(row) {
                let set = [
                    format!("scheme.convection={convection}"),
                    format!("scheme.energy={energy}"),
                    format!("scheme.viscous={viscous}"),
                ];
                let label = set.join(" ");
                let found = refined(&targets, &set);
                assert_orders(&found, 5.7..6.4, &label);
                assert_close(found[2].1, expected, 0.1, &label);
            }
        }
    }
}

#[test]
fn every_scheme_converges_at_its_order_to_the_exact_rates() {
    // The error on the finest grid: Laplacian with Kennedy-Gruber, midpoint with staggered convection.
    let rows = [
        ("explicit2", [2, 2], [7.90e-3, 7.98e-3]),
        ("explicit4", [4, 4], [9.63e-5, 7.09e-5]),
        ("explicit6", [6, 6], [2.66e-6, 2.19e-6]),
        ("explicit8", [8, 6], [1.43e-7, 2.02e-6]),
        ("compact4", [4, 4], [2.07e-5, 3.36e-5]),
        ("compact6", [6, 6], [3.71e-7, 5.37e-7]),
        ("compact8", [8, 8], [1.61e-8, 2.20e-8]),
        ("compact8-penta", [8, 8], [9.21e-9, 1.70e-8]),
        ("compact10-penta", [10, 10], [4.51e-10, 7.64e-10]),
        ("spectral-like", [4, 4], [1.72e-6, 6.56e-7]),
    ];
    let targets = GRIDS.map(|points| Target::new("sutherland", points));
    for (derivative, orders, sizes) in rows {
        let forms = [("kennedy-gruber", "laplacian"), ("staggered", "midpoint")];
        for (at, (convection, viscous)) in forms.into_iter().enumerate() {
            let set = [
                format!("scheme.derivative={derivative}"),
                format!("scheme.convection={convection}"),
                format!("scheme.viscous={viscous}"),
            ];
            let (label, order) = (set.join(" "), f64::from(orders[at]));
            let found = refined(&targets, &set);
            assert_orders(&found, order - 0.7..order + 0.6, &label);
            assert_close(found[2].1, sizes[at], 0.05, &label);
        }
    }
}
