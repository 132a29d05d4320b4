//! Sums in a fixed order, independent of the number of threads.

use rayon::prelude::*;

/// Number of items that are summed one after another; these partial sums are then added, which also reduces round-off.
const ITEMS_PER_PART: usize = 4096;

/// The sum of `count` contributions of `width` numbers: `add(item, sums)` adds contribution number `item`.
pub(super) fn sums(count: usize, width: usize, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    sums_of_parts(count, ITEMS_PER_PART, width, add)
}

/// The same for many numbers per contribution: few parts, each with its own sums.
pub(super) fn long_sums(
    count: usize,
    width: usize,
    add: impl Fn(usize, &mut [f64]) + Sync,
) -> Vec<f64> {
    sums_of_parts(count, count.div_ceil(64).max(ITEMS_PER_PART), width, add)
}

fn sums_of_parts(
    count: usize,
    items_per_part: usize,
    width: usize,
    add: impl Fn(usize, &mut [f64]) + Sync,
) -> Vec<f64> {
    let part = |part: usize| {
        let mut sums = vec![0.0; width];
        (part * items_per_part..count.min((part + 1) * items_per_part))
            .for_each(|item| add(item, &mut sums));
        sums
    };
    let parts: Vec<Vec<f64>> =
        (0..count.div_ceil(items_per_part)).into_par_iter().map(part).collect();
    let mut total = vec![0.0; width];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}
