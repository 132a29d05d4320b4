//! Cyclic reduction of sorted rows, so that rows that are read together are contiguous (Esfahanian et al. 2014,
//! section 2): on every level first the even rows, which are not needed again until the back substitution, then the odd
//! rows, which form the next level.

use super::{less, times};
use crate::lines::{BandedMatrix, CyclicReduction};
use crate::real::Real;

/// All rows sorted once: the even rows of level 0, of level 1, ..., and the remaining row.
#[derive(Clone, Debug)]
pub(super) struct Direct<T> {
    reduction: CyclicReduction<T>,
    /// Storage location of row i.
    places: Vec<usize>,
}

impl<T: Real> Direct<T> {
    pub(super) fn new(matrix: &BandedMatrix) -> Self {
        let n = matrix.len();
        // The level of a row is the number of factors 2 in i + 1.
        let place = |i: usize| {
            let level = (i + 1).trailing_zeros();
            n - (n >> level) + ((i + 1) >> (level + 1))
        };
        let reduction = CyclicReduction::new(matrix).rounded();
        Self { reduction, places: (0..n).map(place).collect() }
    }

    #[inline(always)]
    pub(super) fn solve<const W: usize>(&self, d: &mut [[T; W]], sorted: &mut [[T; W]]) {
        let (n, places) = (d.len(), &self.places[..]);
        let CyclicReduction { levels, last } = &self.reduction;
        for i in 0..n {
            sorted[places[i]] = d[i];
        }
        for (level, rows) in levels.iter().enumerate() {
            let (count, evens) = (n >> level, n - (n >> level));
            for (u, &[k1, k2]) in rows.forward.iter().enumerate() {
                let place = places[((2 * u + 2) << level) - 1];
                let mut sum = less(sorted[place], k1, sorted[evens + u]);
                if 2 * u + 2 < count {
                    sum = less(sum, k2, sorted[evens + u + 1]);
                }
                sorted[place] = sum;
            }
        }
        sorted[n - 1] = times(*last, sorted[n - 1]);
        for (level, rows) in levels.iter().enumerate().rev() {
            let (count, evens) = (n >> level, n - (n >> level));
            for (u, &[inverse, a, c]) in rows.backward.iter().enumerate() {
                let mut x = times(inverse, sorted[evens + u]);
                if u > 0 {
                    x = less(x, a, sorted[places[((2 * u) << level) - 1]]);
                }
                if 2 * u + 1 < count {
                    x = less(x, c, sorted[places[((2 * u + 2) << level) - 1]]);
                }
                sorted[evens + u] = x;
            }
        }
        for i in 0..n {
            d[i] = sorted[places[i]];
        }
    }
}

/// Every level sorted for the next: its odd rows are moved to a separate array, and back between the even ones.
#[inline(always)]
pub(super) fn stepwise<T: Real, const W: usize>(
    CyclicReduction { levels, last }: &CyclicReduction<T>,
    d: &mut [[T; W]],
    workspace: &mut [[T; W]],
) {
    let n = d.len();
    // Level l > 0 has n / 2ˡ rows from location n − n / 2ˡ⁻¹ of the workspace on: n / 2 + n / 4 + ... rows, below n.
    let start = |level: usize| n - (n >> (level - 1));
    for (level, rows) in levels.iter().enumerate() {
        let count = n >> level;
        let (from, to) = level_and_next(d, workspace, (level, count), start);
        for (u, &[k1, k2]) in rows.forward.iter().enumerate() {
            let mut sum = less(from[2 * u + 1], k1, from[2 * u]);
            if 2 * u + 2 < count {
                sum = less(sum, k2, from[2 * u + 2]);
            }
            to[u] = sum;
        }
    }
    match levels.len() {
        0 => d[0] = times(*last, d[0]),
        levels => workspace[start(levels)] = times(*last, workspace[start(levels)]),
    }
    for (level, rows) in levels.iter().enumerate().rev() {
        let count = n >> level;
        let (to, from) = level_and_next(d, workspace, (level, count), start);
        for (u, &[inverse, a, c]) in rows.backward.iter().enumerate() {
            let mut x = times(inverse, to[2 * u]);
            if u > 0 {
                x = less(x, a, from[u - 1]);
            }
            if 2 * u + 1 < count {
                x = less(x, c, from[u]);
                to[2 * u + 1] = from[u];
            }
            to[2 * u] = x;
        }
    }
}

/// The rows of a level of `count` rows, and those of the next level.
#[inline(always)]
fn level_and_next<'a, R>(
    finest: &'a mut [R],
    workspace: &'a mut [R],
    (level, count): (usize, usize),
    start: impl Fn(usize) -> usize,
) -> (&'a mut [R], &'a mut [R]) {
    if level == 0 {
        return (finest, workspace);
    }
    let (before, next) = workspace.split_at_mut(start(level + 1));
    (&mut before[start(level)..][..count], next)
}
