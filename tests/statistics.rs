//! Turbulence statistics and the distributed Fourier transforms that they use, on any number of ranks.

mod files;
mod fourier;
mod increments;
mod moments;
mod samples;
mod spectra;
mod turbulence;

use std::f64::consts::TAU;
use std::sync::Arc;

use kolmo::cases::Domain;
use kolmo::comm::Communicator;
use kolmo::config::{Schedule, Statistic, StatisticsConfig};
use kolmo::gas::{Gas, Viscosity};
use kolmo::grid::{Block, Decomposition, Grid};
use kolmo::statistics::turbulence::turbulence as scales;
use kolmo::statistics::{
    Flow, Sample, gradients, increments as structure, moments as means, spectrum,
};

use crate::common::{float, noise};
use crate::spread::threads::on_ranks;

/// Even and uneven decompositions along one, two and three axes.
const DECOMPOSITIONS: [[usize; 3]; 7] =
    [[1, 1, 1], [1, 2, 2], [4, 1, 1], [1, 3, 1], [3, 2, 1], [1, 1, 5], [3, 2, 2]];

/// All quantities, with time averages that start at `from`.
fn options(from: f64) -> StatisticsConfig {
    let quantities = Statistic::ALL.to_vec();
    StatisticsConfig { schedule: Schedule::default(), from, quantities, scalars: Vec::new() }
}

/// A periodic grid over a box with edges `length`.
fn grid(points: [usize; 3], length: [f64; 3]) -> Grid {
    Grid::periodic(points, &Domain { origin: [0.3, -0.1, 0.7], length })
}

/// A periodic grid over a cube of edge 2π; axes may have a single point.
fn cube(points: [usize; 3]) -> Grid {
    grid(points, [TAU; 3])
}

/// The values of the global field `global` at the points of a block.
fn part(global: &[f64], points: [usize; 3], block: &Block) -> Vec<f64> {
    let at = |[i, j, k]: [usize; 3]| global[i + points[0] * (j + points[1] * k)];
    (0..block.len()).map(|point| at(block.index(point))).collect()
}

/// The global field, assembled from the values that `work` returns on each rank for its block.
fn spread(
    decomposition: Decomposition,
    points: [usize; 3],
    work: impl Fn(Arc<dyn Communicator>) -> Vec<f64> + Sync,
) -> Vec<f64> {
    let mut global = vec![f64::NAN; points.iter().product()];
    for (rank, values) in on_ranks(decomposition.size(), work).into_iter().enumerate() {
        let block = decomposition.block(rank, points);
        assert_eq!(values.len(), block.len());
        for (at, value) in values.into_iter().enumerate() {
            let [i, j, k] = block.index(at);
            global[i + points[0] * (j + points[1] * k)] = value;
        }
    }
    global
}

/// A field with the values of a function of the indices.
fn field(points: [usize; 3], value: impl Fn([usize; 3]) -> f64) -> Vec<f64> {
    let block = Block { start: [0; 3], points };
    (0..block.len()).map(|at| value(block.index(at))).collect()
}

/// Noise at every point.
fn random(points: [usize; 3], seed: u64) -> Vec<f64> {
    let mut noise = noise(seed);
    field(points, |_| 0.0).iter().map(|_| noise()).collect()
}

/// A gas with constant viscosity and the given speed of sound.
fn gas(sound_speed: f64) -> Gas {
    let (mach, viscosity) = (1.0 / sound_speed, Viscosity::Constant);
    Gas { gamma: 1.4, prandtl: 0.71, mach, reynolds: 100.0, viscosity }
}

/// Random perturbations of a uniform flow.
fn random_flow(points: [usize; 3]) -> Flow {
    let about = |mean: f64, seed| random(points, seed).iter().map(|x| mean + 0.5 * x).collect();
    Flow {
        density: about(1.0, 1),
        velocity: [2, 3, 4].map(|seed| about(0.1, seed)),
        pressure: about(71.0, 5),
        temperature: about(1.0, 6),
        scalars: Vec::new(),
        gradient: Some(Box::new(std::array::from_fn(|at| random(points, 10 + at as u64)))),
        viscosity: 0.01,
        gas: gas(8.0),
        walls: None,
    }
}

/// The part of a flow in one block.
fn part_of_flow(flow: &Flow, points: [usize; 3], block: &Block) -> Flow {
    let of = |global: &Vec<f64>| part(global, points, block);
    Flow {
        density: of(&flow.density),
        velocity: flow.velocity.each_ref().map(of),
        pressure: of(&flow.pressure),
        temperature: of(&flow.temperature),
        scalars: Vec::new(),
        gradient: flow.gradient.as_ref().map(|all| Box::new(all.each_ref().map(of))),
        viscosity: flow.viscosity,
        gas: flow.gas,
        walls: None,
    }
}

/// All statistics, as lists of numbers.
fn everything(
    comm: &dyn Communicator,
    cut: &Decomposition,
    grid: &Grid,
    flow: &Flow,
) -> Vec<Vec<f64>> {
    let part = part_of_flow(flow, grid.points, &cut.block(comm.rank(), grid.points));
    let fourier = kolmo::fourier::Fourier::new(*cut, grid.points, comm.size());
    let spectra = spectrum::flow(comm, &fourier, grid, &part);
    let mut all = Vec::new();
    all.push(scales(comm, grid, &part, part.gradient.as_ref().unwrap(), &spectra).to_vec());
    all.extend([spectra.wavenumbers, spectra.modes]);
    all.extend(spectra.values);
    for one in structure::structure_functions(comm, cut, grid, &part.velocity) {
        all.push([&[one.separation], &one.longitudinal[..], &one.transverse].concat());
    }
    for one in gradients::densities(comm, grid, part.gradient.as_ref().unwrap()) {
        all.push(vec![one.mean_square, one.skewness, one.flatness]);
        all.push(one.density);
    }
    all.push(means::moments(comm, grid, &Sample::Flow(Box::new(part))).values());
    all
}

#[test]
fn statistics_are_independent_of_the_decomposition() {
    for (points, length) in
        [([12, 11, 10], [TAU, 2.0 * TAU, 1.0]), ([8, 13, 1], [TAU; 3]), ([1, 1, 14], [TAU; 3])]
    {
        let (grid, flow) = (grid(points, length), random_flow(points));
        let serial = everything(&kolmo::comm::Solo, &Decomposition::ONE, &grid, &flow);
        for ranks in DECOMPOSITIONS {
            let cut = Decomposition { ranks };
            for found in on_ranks(cut.size(), |comm| everything(&*comm, &cut, &grid, &flow)) {
                assert_eq!(found.len(), serial.len());
                for (at, (found, expected)) in found.iter().zip(&serial).enumerate() {
                    let size = expected.iter().map(|x| x.abs()).fold(0.0, f64::max);
                    assert_eq!(found.len(), expected.len());
                    for (a, b) in found.iter().zip(expected) {
                        let difference = (a - b).abs();
                        assert!(
                            difference <= 1e-12 * size,
                            "{points:?} on {ranks:?}, {at}: {a:e} {b:e}"
                        );
                    }
                }
            }
        }
        let counted: f64 = serial[2].iter().sum();
        assert_eq!(counted, float(grid.len()), "every mode belongs to one shell");
    }
}
