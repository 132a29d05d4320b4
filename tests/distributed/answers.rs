//! The result does not depend on how a line is cut.

use super::*;

/// Lengths of blocks that differ, none shorter than `shortest`.
fn uneven(blocks: usize, shortest: usize) -> Vec<usize> {
    (0..blocks).map(|k| shortest + [0, 2, 1, 0, 3][k % 5]).collect()
}

/// Check one method for all formulas on lines cut as `cut` says: (formula, periodic, blocks) to lengths, or nothing to
/// check.
fn check<T: Real>(
    method: Method,
    blocks: impl Iterator<Item = usize> + Clone,
    cut: impl Fn(&Formula, bool, usize) -> Option<Vec<usize>>,
) {
    let mut checked = 0;
    for periodic in [true, false] {
        for formula in formulas(periodic) {
            // Round-off of two ways to solve differs by some ε cond A.
            let allowed = (450.0_f64).max(4.0 * formula.condition()) * T::EPSILON;
            for blocks in blocks.clone() {
                let Some(lengths) = cut(&formula, periodic, blocks) else { continue };
                if lengths.iter().sum::<usize>() < formula.least(periodic) {
                    continue;
                }
                let error = error::<T>(&formula, periodic, &lengths, method);
                let what = || {
                    let Formula { scheme, shift } = formula;
                    format!("{method:?} {} {shift:?} periodic {periodic} {lengths:?}", scheme.name)
                };
                let error = error.unwrap_or_else(|message| panic!("{}: {message}", what()));
                assert!(error <= allowed, "{}: {error:e} > {allowed:e}", what());
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "only {checked} lines");
}

fn reach<T: Real>(formula: &Formula) -> usize {
    let operator = formula.operator::<T>(4 * formula.least(true), true);
    kolmo::engine::distributed::shortest(&operator, Method::Neighbour)
}

#[test]
fn neighbour_is_exact_to_round_off_where_blocks_are_as_long_as_the_inverse_reaches() {
    let cut = |formula: &Formula, periodic: bool, blocks: usize| {
        Some(uneven(blocks, reach::<f64>(formula).max(formula.shortest(periodic))))
    };
    check::<f64>(Method::Neighbour, [2, 3, 4, 5, 8].into_iter(), cut);
    let cut = |formula: &Formula, periodic: bool, blocks: usize| {
        Some(uneven(blocks, reach::<f32>(formula).max(formula.shortest(periodic))))
    };
    check::<f32>(Method::Neighbour, [2, 3, 5].into_iter(), cut);
}
