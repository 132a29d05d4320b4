//! The performance model predicts the messages that ranks send.

use std::sync::Arc;

use kolmo::backend::cpu::Cpu;
use kolmo::backend::ranks::Ranks;
use kolmo::comm::{Communicator, Sent};
use kolmo::config::{Config, parse};
use kolmo::engine::distributed::Method;
use kolmo::grid::Decomposition;
use kolmo::model::Work;
use kolmo::time::Simulation;

use super::mpirun;

/// A flow on unequal blocks that are long enough for every method tested.
fn config(points: [usize; 3], set: &[&str]) -> Config {
    let text = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n"
    );
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    parse(&text, "test", &set).unwrap()
}

/// Returns the messages and bytes that this rank sends in two steps: as measured, and as predicted by the model.
fn sent(
    comm: &Arc<dyn Communicator>,
    config: &Config,
    split: [usize; 3],
    method: Option<Method>,
) -> [Sent; 2] {
    let split = Decomposition { ranks: split };
    let mut compute = config.compute.clone();
    compute.distributed = method;
    let inner = Box::new(Cpu::<f64>::new(Some(1)).unwrap());
    let ranks = Arc::new(Ranks::new(inner, comm.clone(), split, &compute).unwrap());
    let mut simulation = Simulation::on(ranks.clone(), config).unwrap();
    let before = ranks.sent();
    simulation.step(None).unwrap();
    simulation.step(None).unwrap();
    let after = ranks.sent();
    let measured =
        Sent { messages: after.messages - before.messages, bytes: after.bytes - before.bytes };
    let work = Work::new(config, config.grid.points, split, method).unwrap();
    let (stage, filter) = (work.sent(comm.rank()).0, work.sent_by_filter(comm.rank()).0);
    let stages = 2 * work.stages as u64;
    // The filter of the input is applied every second step.
    let filters = u64::from(config.scheme.filter.is_some());
    let predicted = Sent {
        messages: stages * stage.messages + filters * filter.messages,
        bytes: stages * stage.bytes + filters * filter.bytes,
    };
    [measured, predicted]
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn send_as_predicted() {
        let comm = super::super::world();
        let n = comm.size();
        let filtered = ["scheme.filter={ order = 6, alpha = 0.4, every = 2 }"];
        let staged = ["scheme.viscous='midpoint'", "gas.viscosity='power'"];
        for (set, methods) in [(&filtered[..], &Method::ALL[..]), (&staged[..], &Method::ALL[..])] {
            for &method in methods {
                // `neighbour` needs long blocks.
                let length =
                    if method == Method::Neighbour { 51 * n + n / 2 } else { 9 * n + n / 2 };
                for axis in 0..3 {
                    let (mut points, mut split) = ([12, 13, 14], [1; 3]);
                    (points[axis], split[axis]) = (length, n);
                    let [measured, predicted] =
                        sent(&comm, &config(points, set), split, Some(method));
                    let label = format!("{} along {axis} of {n} ranks", method.name());
                    assert_eq!(measured, predicted, "{label}");
                    assert!(
                        measured.messages > 0 && measured.bytes > 0,
                        "{label}: nothing was sent"
                    );
                }
            }
        }
        for (split, points) in [([2, 2, 2], [25, 27, 29]), ([2, 2, 1], [25, 27, 12])] {
            if split.iter().product::<usize>() == n {
                for method in [None, Some(Method::Pcr), Some(Method::Transpose)] {
                    let [measured, predicted] =
                        sent(&comm, &config(points, &filtered), split, method);
                    assert_eq!(measured, predicted, "{method:?} on {split:?}");
                }
            }
        }
    }
}

#[test]
fn messages_and_bytes_of_a_step_match_the_model() {
    for ranks in [2, 3, 4, 5, 7, 8] {
        mpirun(ranks, "ranks::model::worker::send_as_predicted");
    }
}
