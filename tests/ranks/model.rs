//! What the model counts is what ranks send.

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

/// A flow on uneven blocks, long enough for every method that is to be tried.
fn config(points: [usize; 3], set: &[&str]) -> Config {
    let text = format!(
        "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n"
    );
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    parse(&text, "test", &set).unwrap()
}

/// What this rank sends in two steps, counted while it does and counted beforehand.
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
    let found =
        Sent { messages: after.messages - before.messages, bytes: after.bytes - before.bytes };
    let work = Work::new(config, config.grid.points, split, method).unwrap();
    let (stage, filter) = (work.sent(comm.rank()).0, work.sent_by_filter(comm.rank()).0);
    let stages = 2 * work.stages as u64;
    // The filter of the input acts every second step.
    let filters = u64::from(config.scheme.filter.is_some());
    let counted = Sent {
        messages: stages * stage.messages + filters * filter.messages,
        bytes: stages * stage.bytes + filters * filter.bytes,
    };
    [found, counted]
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn send_as_counted() {
        let comm = super::super::world();
        let n = comm.size();
        let filtered = ["scheme.filter={ order = 6, alpha = 0.4, every = 2 }"];
        let staged = ["scheme.viscous='midpoint'", "gas.viscosity='power'"];
        for (set, methods) in [(&filtered[..], &Method::ALL[..]), (&staged[..], &Method::ALL[..])] {
            for &method in methods {
                // `neighbour` wants long blocks.
                let length =
                    if method == Method::Neighbour { 51 * n + n / 2 } else { 9 * n + n / 2 };
                for axis in 0..3 {
                    let (mut points, mut split) = ([12, 13, 14], [1; 3]);
                    (points[axis], split[axis]) = (length, n);
                    let [found, counted] = sent(&comm, &config(points, set), split, Some(method));
                    let what = format!("{} along {axis} of {n} ranks", method.name());
                    assert_eq!(found, counted, "{what}");
                    assert!(found.messages > 0 && found.bytes > 0, "{what}: nothing was sent");
                }
            }
        }
        for (split, points) in [([2, 2, 2], [25, 27, 29]), ([2, 2, 1], [25, 27, 12])] {
            if split.iter().product::<usize>() == n {
                for method in [None, Some(Method::Pcr), Some(Method::Transpose)] {
                    let [found, counted] = sent(&comm, &config(points, &filtered), split, method);
                    assert_eq!(found, counted, "{method:?} on {split:?}");
                }
            }
        }
    }
}

#[test]
fn messages_and_bytes_of_a_step_are_those_that_the_model_counts() {
    for ranks in [2, 3, 4, 5, 7, 8] {
        mpirun(ranks, "ranks::model::worker::send_as_counted");
    }
}
