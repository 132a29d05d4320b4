//! The number of messages of a method.

use kolmo::engine::distributed::Message;
use kolmo::engine::distributed::pcr::{Round, schedule};

use super::*;
use crate::common::scheme_family;

/// Ranks, rounds, largest number of messages that a rank sends for a solve after the halo exchange: Algorithms 1 to 4 of Song et
/// al. (2022), executed for every number of ranks; two partners that are the same rank count once.
#[rustfmt::skip]
pub(crate) const SONG: [(usize, usize, usize); 35] = [
    (2, 3, 3), (3, 5, 4), (4, 4, 5), (5, 6, 6), (6, 6, 6), (7, 8, 7), (8, 5, 7), (11, 9, 9), (12, 7, 8), (15, 11, 10),
    (16, 6, 9), (24, 8, 10), (31, 14, 13), (32, 7, 11), (48, 9, 12), (63, 17, 16), (64, 8, 13), (96, 10, 14),
    (127, 20, 19), (128, 9, 15), (192, 11, 16), (255, 23, 22), (256, 10, 17), (384, 12, 18), (511, 26, 25),
    (512, 11, 19), (768, 13, 20), (1023, 29, 28), (1024, 12, 21), (1536, 14, 22), (2047, 32, 31), (2048, 13, 23),
    (3072, 15, 24), (4095, 35, 34), (4096, 14, 25),
];

fn compact6() -> Formula {
    Formula { scheme: scheme_family("compact6").first, shift: Shift::None }
}

/// Number of messages sent in an exchange.
fn sent(step: &Step) -> Option<usize> {
    match step {
        Step::Exchange { send, .. } => Some(send.len()),
        Step::Combine { .. } => None,
    }
}

/// Number of messages sent in all exchanges but the first.
fn messages(plan: &Plan) -> usize {
    plan.steps.iter().filter_map(sent).skip(1).sum()
}

#[test]
fn pcr_has_the_message_and_round_counts_of_song_et_al() {
    for (ranks, rounds, most) in SONG {
        let all: Vec<_> = (0..ranks).map(|rank| schedule(ranks, rank, true)).collect();
        assert!(all.iter().all(|of_rank| of_rank.len() == rounds), "{ranks} ranks");
        let sent = |rounds: &Vec<Round>| rounds.iter().map(|round| round.sends.len()).sum();
        let sent: Vec<usize> = all.iter().map(sent).collect();
        assert_eq!(sent.iter().max(), Some(&most), "{ranks} ranks");
        for (rank, of_rank) in all.iter().enumerate() {
            for (at, round) in of_rank.iter().enumerate() {
                for peer in &round.sends {
                    assert!(
                        all[*peer][at].receives.contains(&rank),
                        "{ranks} ranks: {rank} to {peer}"
                    );
                }
                for peer in &round.receives {
                    assert!(
                        all[*peer][at].sends.contains(&rank),
                        "{ranks} ranks: {peer} to {rank}"
                    );
                }
            }
        }
        if ranks <= 16 {
            let lengths = vec![8; ranks];
            let operator = compact6().operator::<f64>(8 * ranks, true);
            let (_, counted) =
                distributed(&operator, &lengths, Method::Pcr, &operand::<f64>(8 * ranks)).unwrap();
            assert_eq!(counted, sent, "{ranks} ranks");
        }
    }
}

#[test]
fn non_periodic_pcr_sends_no_extra_messages_and_none_across_the_ends() {
    for ranks in 2..=33 {
        let count = |cyclic: bool, rank: usize| {
            let rounds = schedule(ranks, rank, cyclic);
            rounds.iter().map(|round| round.sends.len()).sum::<usize>()
        };
        for rank in 0..ranks {
            assert!(count(false, rank) <= count(true, rank), "rank {rank} of {ranks}");
        }
        assert!(schedule(ranks, 0, false)[0].receives.is_empty());
        assert!(schedule(ranks, ranks - 1, false)[0].sends.is_empty());
    }
}

#[test]
fn neighbour_sends_one_message_to_each_neighbour() {
    for periodic in [true, false] {
        for ranks in [2, 3, 5, 8] {
            let operator = compact6().operator::<f64>(48 * ranks, periodic);
            for rank in 0..ranks {
                let (_, plan) =
                    distribute(&operator, &vec![48; ranks], rank, Method::Neighbour).unwrap();
                let exchanges: Vec<usize> = plan.steps.iter().filter_map(sent).collect();
                let neighbours = match (periodic, ranks) {
                    (true, 2) => 1,
                    (true, _) => 2,
                    (false, _) => usize::from(rank > 0) + usize::from(rank + 1 < ranks),
                };
                assert_eq!(exchanges, [neighbours]);
            }
        }
    }
}

#[test]
fn chain_messages_pass_forward_and_back_and_gather_uses_the_first_rank() {
    for ranks in [2, 3, 7] {
        let operator = compact6().operator::<f64>(8 * ranks, true);
        let lengths = vec![8; ranks];
        for rank in 0..ranks {
            let sent = |method| messages(&distribute(&operator, &lengths, rank, method).unwrap().1);
            assert_eq!(sent(Method::Chain), if rank == 0 || rank == ranks - 1 { 1 } else { 2 });
            assert_eq!(sent(Method::Gather), if rank == 0 { ranks - 1 } else { 1 });
        }
    }
}

/// Processor time of this thread, independent of other load on the machine.
fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

#[test]
fn plans_for_thousands_of_ranks_are_built_within_a_second() {
    for (scheme, points) in [
        (scheme_family("compact6").first, 8),
        (scheme_family("compact10-penta").first, 8),
        (compact_filter(8, 0.49), 16),
    ] {
        let formula = Formula { scheme, shift: Shift::None };
        for ranks in [4095, 4096] {
            let operator = formula.operator::<f64>(points * ranks, true);
            let lengths = vec![points; ranks];
            for method in [Method::Pcr, Method::Chain, Method::Gather] {
                for rank in [0, ranks / 2, ranks - 1] {
                    let start = thread_seconds();
                    distribute(&operator, &lengths, rank, method).unwrap();
                    let seconds = thread_seconds() - start;
                    assert!(seconds < 1.0, "{} {method:?} rank {rank}: {seconds} s", scheme.name);
                }
            }
        }
    }
}

/// The steps of a plan without coefficients: the peers of every exchange.
fn skeleton(plan: &Plan) -> Vec<Option<[Vec<usize>; 2]>> {
    let peers = |list: &[Message]| list.iter().map(|message| message.peer).collect::<Vec<_>>();
    let step = |step: &Step| match step {
        Step::Combine { .. } => None,
        Step::Exchange { send, receive } => Some([peers(send), peers(receive)]),
    };
    plan.steps.iter().map(step).collect()
}

#[test]
fn plans_of_all_operators_of_an_axis_have_the_same_steps() {
    for periodic in [true, false] {
        for ranks in [2, 3, 5, 6] {
            for method in [Method::Neighbour, Method::Pcr, Method::Gather, Method::Chain] {
                for rank in 0..ranks {
                    let steps = |formula: &Formula| {
                        let operator = formula.operator::<f64>(48 * ranks, periodic);
                        let plan = distribute(&operator, &vec![48; ranks], rank, method);
                        skeleton(&plan.unwrap().1)
                    };
                    let schemes = [
                        scheme_family("explicit4").first,
                        scheme_family("compact6").first,
                        scheme_family("compact6").second,
                        compact_filter(4, 0.2),
                    ];
                    let of_schemes =
                        schemes.map(|scheme| steps(&Formula { scheme, shift: Shift::None }));
                    assert!(of_schemes.iter().all(|steps| *steps == of_schemes[0]));
                    if periodic && method != Method::Neighbour {
                        let scheme = scheme_family("compact10-penta").first;
                        let wide = steps(&Formula { scheme, shift: Shift::None });
                        assert_eq!(wide, of_schemes[0]);
                    }
                }
            }
        }
    }
}
