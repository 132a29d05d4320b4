//! Unsupported block lengths are rejected with an error message, and `auto` chooses a supported method.

use kolmo::engine::distributed::{choose, shortest};

use super::*;
use crate::common::scheme_family;

fn formula(scheme: Scheme) -> Formula {
    Formula { scheme, shift: Shift::None }
}

#[test]
fn neighbour_errors_name_the_reach_and_the_shortest_block() {
    let operator = formula(scheme_family("compact6").first).operator::<f64>(60, true);
    let message = distribute(&operator, &[31, 29], 0, Method::Neighbour).unwrap_err();
    for words in ["needs blocks of 39 points", "the shortest has 29", "`pcr`"] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn all_methods_but_transpose_reject_blocks_shorter_than_the_stencil() {
    let operator = formula(scheme_family("compact6").first).operator::<f64>(13, true);
    for method in [Method::Neighbour, Method::Pcr, Method::Gather, Method::Chain] {
        let message = distribute(&operator, &[7, 5, 1], 1, method).unwrap_err();
        for words in ["a block of 1 points", "needs 2", "`transpose`"] {
            assert!(message.contains(words), "{message}");
        }
    }
    assert_eq!(shortest(&operator, Method::Pcr), 2);
}

#[test]
fn a_closure_must_fit_in_the_end_blocks() {
    let operator = formula(compact_filter(10, 0.45)).operator::<f64>(40, false);
    let message = distribute(&operator, &[10, 20, 10], 1, Method::Pcr).unwrap_err();
    assert!(message.contains("a block of 10 points") && message.contains("needs 11"), "{message}");
    assert!(distribute(&operator, &[11, 18, 11], 1, Method::Pcr).is_ok());
    assert!(distribute(&operator, &[11, 5, 13, 11], 1, Method::Pcr).is_ok());
}

#[test]
fn neighbour_requires_blocks_as_long_as_the_decay_of_the_inverse() {
    let reach =
        |scheme: Scheme| shortest(&formula(scheme).operator::<f64>(64, true), Method::Neighbour);
    let schemes = [
        scheme_family("compact4").first,
        scheme_family("compact6").first,
        scheme_family("compact8").first,
        scheme_family("compact10-penta").first,
        scheme_family("spectral-like").first,
        scheme_family("explicit4").first,
    ];
    assert_eq!(schemes.map(reach), [28, 39, 48, 65, 109, 2]);
    let single = formula(scheme_family("compact6").first).operator::<f32>(64, true);
    assert_eq!(shortest(&single, Method::Neighbour), 18);
}

#[test]
fn neighbour_is_exact_for_two_short_blocks_of_a_non_periodic_line() {
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
        [scheme_family("compact6").first, scheme_family("compact6").second, compact_filter(8, 0.45)]
            .map(|scheme| formula(scheme).operator::<f64>(n, true))
    };
    assert_eq!(choose(&operators(192)[..2], &[48; 4]), Ok(Method::Neighbour));
    assert_eq!(choose(&operators(192), &[48; 4]), Ok(Method::Pcr));
    assert_eq!(choose(&operators(400), &[100; 4]), Ok(Method::Neighbour));
    assert!(choose(&operators(12), &[6, 3, 3]).is_err());
}
