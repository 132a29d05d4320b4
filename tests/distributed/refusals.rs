//! What a method cannot do is said in a sentence, and `auto` chooses what can.

use kolmo::engine::distributed::{choose, shortest};

use super::*;
use crate::common::formula_of;

fn formula(scheme: Scheme) -> Formula {
    Formula { scheme, shift: Shift::None }
}

#[test]
fn neighbour_names_its_reach_and_the_shortest_block() {
    let operator = formula(formula_of("compact6").first).operator::<f64>(60, true);
    let message = distribute(&operator, &[31, 29], 0, Method::Neighbour).unwrap_err();
    for words in ["needs blocks of 39 points", "the shortest has 29", "`pcr`"] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn no_method_takes_a_block_that_does_not_hold_what_its_neighbours_read() {
    let operator = formula(formula_of("compact6").first).operator::<f64>(13, true);
    for method in [Method::Neighbour, Method::Pcr, Method::Gather, Method::Chain] {
        let message = distribute(&operator, &[7, 5, 1], 1, method).unwrap_err();
        for words in ["a block of 1 points", "needs 2", "`transpose`"] {
            assert!(message.contains(words), "{message}");
        }
    }
    assert_eq!(shortest(&operator, Method::Pcr), 2);
}

#[test]
fn a_closure_must_lie_in_the_end_blocks() {
    let operator = formula(compact_filter(10, 0.45)).operator::<f64>(40, false);
    let message = distribute(&operator, &[10, 20, 10], 1, Method::Pcr).unwrap_err();
    assert!(message.contains("a block of 10 points") && message.contains("needs 11"), "{message}");
    assert!(distribute(&operator, &[11, 18, 11], 1, Method::Pcr).is_ok());
    assert!(distribute(&operator, &[11, 5, 13, 11], 1, Method::Pcr).is_ok());
}

#[test]
fn neighbour_takes_blocks_a_little_longer_than_the_tail_of_the_inverse() {
    let reach =
        |scheme: Scheme| shortest(&formula(scheme).operator::<f64>(64, true), Method::Neighbour);
    let schemes = [
        formula_of("compact4").first,
        formula_of("compact6").first,
        formula_of("compact8").first,
        formula_of("compact10-penta").first,
        formula_of("spectral-like").first,
        formula_of("explicit4").first,
    ];
    assert_eq!(schemes.map(reach), [28, 39, 48, 65, 109, 2]);
    let single = formula(formula_of("compact6").first).operator::<f32>(64, true);
    assert_eq!(shortest(&single, Method::Neighbour), 18);
}

#[test]
fn two_blocks_of_a_line_with_ends_need_no_more_than_one_message_however_short() {
    for formula in formulas(false) {
        let points = formula.shortest(false);
        let lengths = [points + 1, points.max(formula.least(false) - points)];
        let error = error::<f64>(&formula, false, &lengths, Method::Neighbour).unwrap();
        let allowed = (450.0_f64).max(4.0 * formula.condition()) * f64::EPSILON;
        assert!(error <= allowed, "{} {lengths:?}: {error:e}", formula.scheme.name);
    }
}

#[test]
fn auto_chooses_neighbour_where_it_is_exact_for_all_operators() {
    let operators = |n| {
        [formula_of("compact6").first, formula_of("compact6").second, compact_filter(8, 0.45)]
            .map(|scheme| formula(scheme).operator::<f64>(n, true))
    };
    assert_eq!(choose(&operators(192)[..2], &[48; 4]), Ok(Method::Neighbour));
    assert_eq!(choose(&operators(192), &[48; 4]), Ok(Method::Pcr));
    assert_eq!(choose(&operators(400), &[100; 4]), Ok(Method::Neighbour));
    assert!(choose(&operators(12), &[6, 3, 3]).is_err());
}
