//! The result does not depend on the split of a line into blocks.

use super::*;

/// Different block lengths, none below `shortest`.
fn uneven(blocks: usize, shortest: usize) -> Vec<usize> {
    (0..blocks).map(|k| shortest + [0, 2, 1, 0, 3][k % 5]).collect()
}

/// Checks one method for all schemes on lines split into blocks by `cut`, which maps (formula, periodic, number of blocks) to block
/// lengths, or to `None` to skip the check.
fn check<T: Real>(
    method: Method,
    blocks: impl Iterator<Item = usize> + Clone,
    cut: impl Fn(&Formula, bool, usize) -> Option<Vec<usize>>,
) {
    let mut checked = 0;
    for periodic in [true, false] {
        for formula in formulas(periodic) {
            // The round-off of two solution methods differs by a few ε cond A.
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
fn neighbour_is_exact_to_round_off_for_blocks_as_long_as_the_reach() {
    let cut = |formula: &Formula, periodic: bool, blocks: usize| {
        Some(uneven(blocks, reach::<f64>(formula).max(formula.shortest(periodic))))
    };
    check::<f64>(Method::Neighbour, [2, 3, 4, 5, 8].into_iter(), cut);
    let cut = |formula: &Formula, periodic: bool, blocks: usize| {
        Some(uneven(blocks, reach::<f32>(formula).max(formula.shortest(periodic))))
    };
    check::<f32>(Method::Neighbour, [2, 3, 5].into_iter(), cut);
}

/// Numbers of blocks along a line that cover all message patterns of the methods.
const BLOCKS: [usize; 16] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24];

#[test]
fn pcr_chain_and_gather_are_exact_for_the_shortest_admissible_blocks() {
    for method in [Method::Pcr, Method::Chain, Method::Gather] {
        let cut = |formula: &Formula, periodic: bool, blocks: usize| {
            Some(uneven(blocks, formula.shortest(periodic)))
        };
        check::<f64>(method, BLOCKS.into_iter(), cut);
        check::<f32>(method, [2, 3, 7].into_iter(), cut);
    }
}

#[test]
fn pcr_chain_and_gather_are_exact_for_equal_and_for_long_blocks() {
    for method in [Method::Pcr, Method::Chain, Method::Gather] {
        let equal = |formula: &Formula, periodic: bool, blocks: usize| {
            Some(vec![formula.shortest(periodic) + 3; blocks])
        };
        check::<f64>(method, BLOCKS.into_iter(), equal);
        let long = |formula: &Formula, periodic: bool, blocks: usize| {
            Some(uneven(blocks, formula.shortest(periodic) + 61))
        };
        check::<f64>(method, [2, 3, 5].into_iter(), long);
    }
}
