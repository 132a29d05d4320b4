//! The host spread over ranks that are threads. Lines are made whole, so that what is found wrong is no fault of how they
//! are solved.

use std::sync::Arc;

use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::Config;
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;
use kolmo::time::Simulation;

use crate::common::{cores, state};

/// The backend of one rank of `ranks`.
pub(crate) fn blocks(
    comm: Arc<dyn Communicator>,
    ranks: [usize; 3],
    config: &Config,
) -> Arc<Ranks> {
    let mut compute = config.compute.clone();
    compute.distributed = Some(Method::Transpose);
    let cpu = cores(compute.precision, 1);
    Arc::new(Ranks::new(cpu, comm, Decomposition { ranks }, &compute).unwrap())
}

/// U on the whole grid on every rank, from the blocks of all.
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
