//! The host spread over ranks that are threads. Lines are made whole, so that what is found wrong is no fault of how they
//! are solved.

use std::sync::Arc;

use kolmo::Real;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::Communicator;
use kolmo::config::Config;
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;

/// The backend of one rank of `ranks`.
pub(super) fn blocks<T: Real>(
    comm: Arc<dyn Communicator>,
    ranks: [usize; 3],
    config: &Config,
) -> Ranks<Cpu<T>> {
    let mut compute = config.compute.clone();
    compute.distributed = Some(Method::Transpose);
    let cpu = Cpu::new(Some(1)).unwrap();
    Ranks::new(cpu, comm, Decomposition { ranks }, &compute).unwrap()
}

/// A whole field on every rank, from the blocks of all.
pub(super) fn whole<T: Real>(
    comm: &dyn Communicator,
    decomposition: Decomposition,
    points: [usize; 3],
    field: &[T],
) -> Vec<T> {
    let [nx, ny, _] = points;
    let bytes: Vec<u8> = field.iter().flat_map(|v| v.f64().to_ne_bytes()).collect();
    let mut whole = vec![T::of(f64::NAN); points.iter().product()];
    for rank in 0..comm.size() {
        let block = decomposition.block(rank, points);
        let part = comm.broadcast(rank, bytes.clone());
        for (at, &value) in part.as_chunks().0.iter().enumerate() {
            let [i, j, k] = block.index(at);
            whole[i + nx * (j + ny * k)] = T::of(f64::from_ne_bytes(value));
        }
    }
    whole
}
