//! The host backend on ranks that are threads of one process.

use std::sync::Arc;

use kolmo::backend::ComputeConfig;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::{Config, RightHandSide};
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;
use kolmo::time::Simulation;

use super::threads::on_ranks;
use crate::common::{host_with_threads, max_difference, on_host, state, steps};

/// Returns the backend of one rank of `ranks`. It uses `transpose`, which solves complete lines, so that no error comes from a method
/// that solves split lines.
pub(crate) fn blocks(
    comm: Arc<dyn Communicator>,
    ranks: [usize; 3],
    config: &Config,
) -> Arc<Ranks> {
    let mut compute = config.compute.clone();
    compute.distributed = Some(Method::Transpose);
    let cpu = host_with_threads(compute.precision, 1);
    Arc::new(Ranks::new(cpu, comm, Decomposition { ranks }, &compute).unwrap())
}

/// Returns U on the whole grid, on every rank, from the blocks of all ranks.
pub(crate) fn whole(simulation: &Simulation, ranks: [usize; 3]) -> Vec<Vec<f64>> {
    let (comm, points) = (simulation.backend().comm(), simulation.grid().points);
    let [nx, ny, _] = points;
    let of_field = |field: Vec<f64>| {
        let bytes: Vec<u8> = field.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let mut whole = vec![f64::NAN; points.iter().product()];
        for rank in 0..comm.size() {
            let block = Decomposition { ranks }.block(rank, points);
            let part = comm.broadcast(rank, bytes.clone());
            for (at, &value) in part.as_chunks().0.iter().enumerate() {
                let [i, j, k] = block.index(at);
                whole[i + nx * (j + ny * k)] = f64::from_ne_bytes(value);
            }
        }
        whole
    };
    state(simulation).into_iter().map(of_field).collect()
}

/// Asserts that a run of `config` over `count` steps is the same on one rank, on each of these decompositions with its method of
/// distribution, and with composed operators: the state to 1e-12 of each field, the series row to 1e-9.
pub(crate) fn assert_cuts_agree(
    config: &Config,
    count: usize,
    cuts: &[([usize; 3], Option<Method>)],
) {
    let mut one = on_host(config);
    steps(&mut one, count);
    let (expected, row) = (state(&one), one.row().unwrap());
    let close = |found: &[Vec<f64>], label: &str| {
        for (a, b) in expected.iter().zip(found) {
            let size = a.iter().map(|a| a.abs()).fold(1.0, f64::max);
            let deviation = max_difference(a, b) / size;
            assert!(deviation <= 1e-12, "{label}: {deviation:e}");
        }
    };
    for &(ranks, distributed) in cuts {
        let compute = ComputeConfig { distributed, ..config.compute.clone() };
        let found = on_ranks(ranks.iter().product(), |comm| {
            let cpu = host_with_threads(compute.precision, 1);
            let blocks = Ranks::new(cpu, comm, Decomposition { ranks }, &compute).unwrap();
            let mut flow = Simulation::on(Arc::new(blocks), config).unwrap();
            steps(&mut flow, count);
            (whole(&flow, ranks), flow.row().unwrap())
        });
        for (fields, own) in found {
            close(&fields, &format!("{ranks:?} {distributed:?}"));
            assert!(max_difference(&row, &own) < 1e-9, "{ranks:?} {row:?} {own:?}");
        }
    }
    // Curvilinear grids support only fused sweeps.
    if config.grid.mapping.is_some() {
        return;
    }
    let mut composed = config.clone();
    composed.compute.right_hand_side = RightHandSide::Composed;
    let mut composed = on_host(&composed);
    steps(&mut composed, count);
    close(&state(&composed), "composed");
}
