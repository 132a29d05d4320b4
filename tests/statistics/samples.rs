//! Samples of the solution that are passed to the statistics.

use std::sync::Arc;

use kolmo::comm::{Communicator, Solo};
use kolmo::config::Config;
use kolmo::grid::Decomposition;
use kolmo::physics::Gas;
use kolmo::statistics::{Flow, Sample, moments};
use kolmo::time::Simulation;

use super::everything;
use crate::common::{assert_close, config, float, simulation, steps};
use crate::spread::blocks::blocks;
use crate::spread::threads::on_ranks;

fn flow(simulation: &mut Simulation, gradients: bool) -> Flow {
    match simulation.sample(gradients).unwrap() {
        Sample::Flow(flow) => *flow,
        Sample::Scalar(_) => panic!("expected a flow"),
    }
}

/// ½⟨ρω²⟩, ⟨τ:∇u⟩, ½⟨ρu·u⟩, ⟨p div u⟩ and ⟨μ⟩/Re, with μ from the viscosity law.
fn averages(flow: &Flow, gas: &Gas) -> [f64; 5] {
    let gradient = flow.gradient.as_ref().unwrap();
    let mut sums = [0.0; 5];
    for (at, rho) in flow.density.iter().enumerate() {
        let g: [f64; 9] = std::array::from_fn(|q| gradient[q][at]);
        let omega = [g[7] - g[5], g[2] - g[6], g[3] - g[1]];
        let div = g[0] + g[4] + g[8];
        let viscosity = gas.mu(flow.temperature[at]) / gas.reynolds;
        let mut strain = -2.0 / 3.0 * div * div;
        for i in 0..3 {
            for j in 0..3 {
                strain += (g[3 * i + j] + g[3 * j + i]) * g[3 * i + j];
            }
        }
        sums[0] += 0.5 * rho * omega.iter().map(|x| x * x).sum::<f64>();
        sums[1] += viscosity * strain;
        sums[2] += 0.5 * rho * flow.velocity.iter().map(|u| u[at] * u[at]).sum::<f64>();
        sums[3] += flow.pressure[at] * div;
        sums[4] += viscosity;
    }
    sums.map(|sum| sum / float(flow.density.len()))
}

const CASE: [&str; 3] = ["case.mach=0.4", "case.reynolds=80", "case.start=constant-temperature"];
const LAWS: [&str; 2] = ["constant", "{ law = \"power\", exponent = 0.76 }"];

fn compare_with_series(precision: &str, relative: f64) {
    for law in LAWS {
        let extra = [format!("gas.viscosity={law}"), format!("compute.precision={precision}")];
        let set = [&CASE[..], &extra.each_ref().map(String::as_str)].concat();
        let gas = config("taylor-green", [16; 3], &set).gas;
        let mut simulation = simulation("taylor-green", [16; 3], &set);
        steps(&mut simulation, 5);
        let flow = flow(&mut simulation, true);
        let [enstrophy, dissipation, energy, pressure_dilatation, viscosity] =
            averages(&flow, &gas);
        let grid = simulation.grid().clone();
        let mut series = |name: &str| simulation.quantity(name).unwrap();
        assert_close(enstrophy, series("enstrophy"), relative, "enstrophy");
        assert_close(dissipation, series("dissipation"), relative, "dissipation");
        assert_close(energy, series("kinetic_energy"), relative, "kinetic energy");
        // Per unit mass, with the local μ.
        let scales = everything(&Solo, &Decomposition::ONE, &grid, &flow).swap_remove(0);
        let density = flow.density.iter().sum::<f64>() / float(flow.density.len());
        assert_close(scales[2] * density, dissipation, 10.0 * relative, "ε");
        assert_close(flow.viscosity, viscosity, relative, "viscosity");
        // p is 4.5 and div u is small.
        let difference = (pressure_dilatation - series("pressure_dilatation")).abs();
        assert!(difference < 10.0 * relative, "{pressure_dilatation:e}: {difference:e}");
        let temperature = gas.temperature(flow.density[77], flow.pressure[77]);
        assert_close(flow.temperature[77], temperature, 10.0 * relative, "p = ρT/γMa²");
    }
}

#[test]
fn sampled_fields_and_gradients_reproduce_the_time_series() {
    compare_with_series("f64", 1e-13);
    // In single precision, density, pressure and temperature are stored relative to the state at rest.
    compare_with_series("f32", 1e-6);
}

#[test]
fn gradients_are_sampled_on_request_and_are_zero_along_single_point_axes() {
    let mut simulation = simulation("taylor-green", [12, 16, 1], &[]);
    assert!(flow(&mut simulation, false).gradient.is_none());
    let gradient = flow(&mut simulation, true).gradient.unwrap();
    for (at, field) in gradient.iter().enumerate() {
        let largest = field.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let varies = at % 3 != 2 && at < 6;
        assert_eq!(largest > 0.1, varies, "{at}: {largest}");
    }
}

#[test]
fn scalar_samples_reproduce_the_time_series() {
    let mut simulation = simulation("scalar-advection", [16, 8, 5], &[]);
    steps(&mut simulation, 3);
    let grid = simulation.grid().clone();
    let sample = simulation.sample(true).unwrap();
    let values = moments::moments(&Solo, &grid, &sample).values();
    for (name, value) in ["mass", "scalar_variance"].iter().zip(values) {
        let series = simulation.quantity(name).unwrap();
        assert!((value - series).abs() < 1e-14, "{name}: {value} {series}");
    }
}

fn on_blocks(comm: Arc<dyn Communicator>, ranks: [usize; 3], config: &Config) -> [f64; 5] {
    let mut simulation = Simulation::on(blocks(comm.clone(), ranks, config), config).unwrap();
    simulation.step(None).unwrap();
    let flow = flow(&mut simulation, true);
    let mut averages = averages(&flow, &config.gas).map(|mean| mean * float(flow.density.len()));
    comm.sum(&mut averages);
    averages[4] = flow.viscosity;
    averages
}

#[test]
fn block_samples_combine_to_the_global_averages_with_the_global_viscosity() {
    let law = format!("gas.viscosity={}", LAWS[1]);
    let config = config("taylor-green", [12, 13, 11], &[&CASE[..], &[&law]].concat());
    let one = on_ranks(1, |comm| on_blocks(comm, [1, 1, 1], &config))[0];
    for ranks in [[2, 2, 1], [1, 1, 2]] {
        for found in on_ranks(ranks.iter().product(), |comm| on_blocks(comm, ranks, &config)) {
            for (found, expected) in found.iter().zip(one) {
                assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{ranks:?}");
            }
        }
    }
}
