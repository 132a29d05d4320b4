//! Sweeps over the blocks of implicit steps, whose rows are spread over ranks.

use kolmo::backend::Backend;
use kolmo::backend::ranks::{Blocks, Ranks};
use kolmo::blocks::{Direction, Sweeps};
use kolmo::config::Config;
use kolmo::grid::Decomposition;
use kolmo::physics::Jacobian;

use super::threads::on_ranks;
use crate::common::{config, cores, host, max_difference};
use crate::device::gpu;

const UNKNOWNS: usize = 5;

/// A number in [0, 1) for unknown `k` of a point of the whole grid.
fn number(k: usize, [i, j, l]: [usize; 3]) -> f64 {
    (12.9898 * i as f64 + 78.233 * j as f64 + 37.719 * l as f64 + 4.581 * k as f64).sin().abs()
}

/// x after sweeps from 0 over the blocks of a flow, and where its points are in the grid.
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
    // Twice: what is left of the first must not matter.
    for _ in 0..2 {
        let mut x: Vec<_> = x.iter_mut().collect();
        backend.sweep_blocks(&mut solver, sweeps, &b.iter().collect::<Vec<_>>(), &mut x);
    }
    let x: Vec<Vec<f64>> = x.iter().map(|x| backend.values(x).unwrap().iter().collect()).collect();
    (0..block.len()).map(|at| (index(at), x.iter().map(|x| x[at]).collect())).collect()
}

/// Panics unless sweeps on these ranks are those of one, up to so much.
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
            let off = max_difference(&found, &whole[i + nx * (j + ny * k)].1);
            assert!(off <= bound, "{ranks:?}, {index:?}: {off:e}");
        }
    });
}

/// Catches colours that ranks do not agree on, a value of another rank that is old or another point's, and a sum in another order.
#[test]
fn sweeps_over_ranks_are_those_of_one_to_the_bit() {
    // Rings of odd and even length, walls and a far field.
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
        assert_same(config, ranks, 0.0, &|_| cores(config.compute.precision, 1));
    }
}

/// Catches a wrong place, or a wrong array, of what goes to other ranks from the memory of a device.
#[test]
fn sweeps_over_ranks_with_devices_are_those_of_the_host() {
    let config = config("taylor-green", [9, 8, 7], &[]);
    for ranks in [[2, 1, 1], [1, 2, 2]] {
        assert_same(&config, ranks, 1e-13, &|len| Box::new(gpu(config.compute.precision, len)));
    }
}
