//! Numbers of messages that ranks send.

use std::sync::Arc;

use kolmo::backend::cpu::Cpu;
use kolmo::backend::ranks::Ranks;
use kolmo::backend::{Backend, Weights};
use kolmo::cases::Domain;
use kolmo::comm::{Communicator, Sent};
use kolmo::engine::distributed::Method;
use kolmo::engine::{LineOperators, Sweep, SweepBuilder};
use kolmo::grid::{Axis, Decomposition, End, Grid};
use kolmo::scheme::family;

use super::operators::compute;
use super::{mpirun, world};
use crate::distributed::SONG;

/// Returns what one rank sends for a sweep along x that is split over all ranks, with `points` points per rank.
fn sent(
    comm: &Arc<dyn Communicator>,
    method: Method,
    sweep: &Sweep,
    fields: usize,
    points: usize,
    periodic: bool,
) -> Sent {
    let ranks = comm.size();
    let ends = [(!periodic).then_some([End::ByParts; 2]), None, None];
    let grid = Grid::new([points * ranks, 3, 2], &Domain::cube(1.0), ends);
    let decomposition = Decomposition { ranks: [ranks, 1, 1] };
    let cpu = Box::new(Cpu::<f64>::new(Some(1)).unwrap());
    let backend = Ranks::new(cpu, comm.clone(), decomposition, &compute(method)).unwrap();
    let operators =
        LineOperators::new(family("compact6").unwrap(), None, &grid, kolmo::Precision::F64);
    let program = backend.program(sweep, (Axis::X, grid.points, &operators)).unwrap();
    let len = backend.block(grid.points).len();
    let read: Vec<_> = (0..fields).map(|_| backend.zeros(len).unwrap()).collect();
    let mut write: Vec<_> = (0..fields).map(|_| backend.zeros(len).unwrap()).collect();
    let (read, mut write): (Vec<_>, Vec<_>) = (read.iter().collect(), write.iter_mut().collect());
    let before = backend.sent();
    backend.run(&program, &read, &mut write, Weights::SET);
    let after = backend.sent();
    Sent { messages: after.messages - before.messages, bytes: after.bytes - before.bytes }
}

/// The first derivatives of this many fields.
fn derivatives(fields: usize) -> Sweep {
    let s = SweepBuilder::new();
    for at in 0..fields {
        s.store(at, s.d1(s.read(at)));
    }
    s.build()
}

/// Both derivatives of a product, and a derivative of a derivative: two rounds of messages.
fn two_stages() -> Sweep {
    let s = SweepBuilder::new();
    let (a, b) = (s.read(0), s.read(1));
    s.store(0, s.d1(a * b) + s.d2(a * b));
    s.add(1, s.d1(s.d1(a) * b));
    s.build()
}

/// Returns the numbers of all ranks on rank 0.
fn gathered(comm: &dyn Communicator, number: u64) -> Option<Vec<u64>> {
    let all = comm.gather(&number.to_ne_bytes())?;
    Some(all.into_iter().map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap())).collect())
}

#[test]
fn neighbour_sends_one_message_per_neighbour_and_round_for_any_field_count() {
    [2, 3, 5].into_iter().for_each(|ranks| mpirun(ranks, "ranks::messages::worker::neighbour"));
}

#[test]
fn pcr_message_counts_match_the_schedule_and_song_et_al() {
    mpirun(16, "ranks::messages::worker::pcr");
}

mod worker {
    use super::*;

    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn neighbour() {
        let comm = world();
        let (me, ranks) = (comm.rank(), comm.size());
        for periodic in [true, false] {
            let neighbours = match (periodic, ranks) {
                (true, 2) => 1,
                (true, _) => 2,
                (false, _) => u64::from(me > 0) + u64::from(me + 1 < ranks),
            };
            let of =
                |sweep: &Sweep, fields| sent(&comm, Method::Neighbour, sweep, fields, 64, periodic);
            let one = of(&derivatives(1), 1);
            assert_eq!(one.messages, neighbours);
            // At least one number for each of the six lines.
            assert!(one.bytes >= neighbours * 6 * 8);
            for fields in [3, 8] {
                let many = of(&derivatives(fields), fields);
                assert_eq!(many.messages, neighbours, "{fields} fields");
                assert_eq!(many.bytes, fields as u64 * one.bytes, "{fields} fields");
            }
            assert_eq!(of(&two_stages(), 2).messages, 2 * neighbours);
        }
    }

    /// Every number of ranks from 2 to 16, in two groups at a time.
    #[test]
    #[ignore = "run by mpirun, by the tests of this module"]
    fn pcr() {
        let world = world();
        for ranks in world.size() / 2..=world.size() {
            let is_first = world.rank() < ranks;
            let group: Arc<dyn Communicator> =
                world.split(usize::from(is_first), world.rank()).into();
            if group.size() < 2 {
                continue;
            }
            let ranks = group.size();
            for fields in [1, 3] {
                let sent = sent(&group, Method::Pcr, &derivatives(fields), fields, 8, true);
                // The first round is the halo exchange.
                let halo = if ranks == 2 { 1 } else { 2 };
                let Some(all) = gathered(&*group, sent.messages - halo) else { continue };
                let of_rank = |rank| {
                    let rounds = kolmo::engine::distributed::pcr::schedule(ranks, rank, true);
                    rounds.iter().map(|round| round.sends.len() as u64).sum::<u64>()
                };
                let expected: Vec<u64> = (0..ranks).map(of_rank).collect();
                assert_eq!(all, expected, "{fields} fields");
                if let Some((.., most)) = SONG.iter().find(|(known, ..)| *known == ranks) {
                    assert_eq!(all.iter().max(), Some(&(*most as u64)), "{ranks} ranks");
                }
            }
        }
    }
}
