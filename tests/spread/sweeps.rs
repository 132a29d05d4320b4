//! Sweeps over the matrix blocks of implicit steps, whose rows are distributed over ranks.

use kolmo::backend::Backend;
use kolmo::backend::ranks::{Blocks, Ranks};
use kolmo::blocks::{Direction, Sweeps};
use kolmo::config::Config;
use kolmo::grid::Decomposition;
use kolmo::physics::Jacobian;

use super::threads::on_ranks;
use crate::common::{config, host, host_with_threads, max_difference};
use crate::device::gpu;

const UNKNOWNS: usize = 5;

/// A number in [0, 1) for unknown `k` of a point of the whole grid.
fn number(k: usize, [i, j, l]: [usize; 3]) -> f64 {
    (12.9898 * i as f64 + 78.233 * j as f64 + 37.719 * l as f64 + 4.581 * k as f64).sin().abs()
}

/// Returns x after sweeps from 0 over the matrix blocks of a flow, with the index of each point in the whole grid.
fn swept(backend: &dyn Backend, config: &Config) -> Vec<([usize; 3], Vec<f64>)> {
    let grid = config.grid();
    let jacobian = Jacobian::new(&config.problem(), backend, &grid).unwrap();
    let block = backend.block(grid.points);
    let index = |at: usize| block.index(at);
    let flow = |at: usize| {
        let [a, b, c, d, e] = std::array::from_fn(|k| 0.1 * number(k, index(at)));
        [1.0 + a, 0.5 + b, c, d, 20.0 + e]
    };
    let state = (0..block.len()).flat_map(flow).collect();
    let matrix =
        jacobian.blocks(backend.comm(), state, (30.0, None), 0.1).unwrap().factored().unwrap();
    let mut solver = backend.block_solver(jacobian.colouring(), jacobian.halo(), UNKNOWNS).unwrap();
    backend.set_blocks(&mut solver, matrix).unwrap();
    let field = |values: Vec<f64>| backend.field(&values.into()).unwrap();
    let right = |k: usize| (0..block.len()).map(|at| number(k + 7, index(at))).collect();
    let b: Vec<_> = (0..UNKNOWNS).map(|k| field(right(k))).collect();
    let mut x: Vec<_> = (0..UNKNOWNS).map(|_| field(vec![f64::NAN; block.len()])).collect();
    let sweeps = Sweeps { count: 2, direction: Direction::Symmetric, relaxation: 1.0 };
    // Twice: the first call must not affect the second.
    for _ in 0..2 {
        let mut x: Vec<_> = x.iter_mut().collect();
        backend.sweep_blocks(&mut solver, sweeps, &b.iter().collect::<Vec<_>>(), &mut x);
    }
    let x: Vec<Vec<f64>> = x.iter().map(|x| backend.values(x).unwrap().iter().collect()).collect();
    (0..block.len()).map(|at| (index(at), x.iter().map(|x| x[at]).collect())).collect()
}

/// Asserts that sweeps on these ranks match those on one rank to within `bound`.
fn assert_same(
    config: &Config,
    ranks: [usize; 3],
    bound: f64,
    inner: &(dyn Fn(usize) -> Box<dyn Blocks> + Sync),
) {
    let whole = swept(&*host(&config.compute), config);
    let [nx, ny, _] = config.grid.points;
    on_ranks(ranks.iter().product(), |comm| {
        let decomposition = Decomposition { ranks };
        let len = decomposition.block(comm.rank(), config.grid.points).len();
        let backend = Ranks::new(inner(len), comm, decomposition, &config.compute).unwrap();
        for (index @ [i, j, k], found) in swept(&backend, config) {
            let deviation = max_difference(&found, &whole[i + nx * (j + ny * k)].1);
            assert!(deviation <= bound, "{ranks:?}, {index:?}: {deviation:e}");
        }
    });
}

/// Catches colours that differ between ranks, a value of another rank that is outdated or of the wrong point, and another order of sums.
#[test]
fn sweeps_over_ranks_are_bitwise_identical_to_one_rank() {
    // Periodic lines of odd and even length, walls and a far field.
    let vortex = config("taylor-green", [9, 8, 7], &[]);
    let cylinder = config("cylinder", [15, 18, 1], &[]);
    for (config, ranks) in [
        (&vortex, [2, 1, 1]),
        (&vortex, [1, 2, 3]),
        (&vortex, [3, 2, 1]),
        (&cylinder, [2, 2, 1]),
        (&cylinder, [1, 5, 1]),
        (&cylinder, [5, 1, 1]),
    ] {
        assert_same(config, ranks, 0.0, &|_| host_with_threads(config.compute.precision, 1));
    }
}

/// Catches a wrong offset or a wrong array of the data that goes from device memory to other ranks.
#[test]
fn sweeps_over_ranks_with_devices_match_the_host() {
    let config = config("taylor-green", [9, 8, 7], &[]);
    for ranks in [[2, 1, 1], [1, 2, 2]] {
        assert_same(&config, ranks, 1e-13, &|len| Box::new(gpu(config.compute.precision, len)));
    }
}
