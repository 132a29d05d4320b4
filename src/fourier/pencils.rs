//! Pencils: boxes of whole lines.

use crate::comm::Communicator;
use crate::grid::{Axis, Block, Boxes, Decomposition, redistribute};
use crate::real::Plain;

/// A box of points cut into boxes of whole lines along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pencils {
    points: [usize; 3],
    cut: Decomposition,
}

impl Pencils {
    /// The cut over at most `ranks` ranks with the smallest largest part; on a tie, the cut with the fewest parts along the other axis that
    /// is faster in memory. If both cuts are slabs of planes, lines along x and y lie in the same slabs, and no data move between the two.
    pub(crate) fn new(axis: Axis, points: [usize; 3], ranks: usize) -> Self {
        let [b, c] = [[1, 2], [0, 2], [0, 1]][axis.index()];
        let along = |parts: usize| {
            let mut cut = [1; 3];
            cut[b] = parts;
            cut[c] = (ranks / parts).min(points[c]);
            cut
        };
        let largest = |cut: &[usize; 3]| points[b].div_ceil(cut[b]) * points[c].div_ceil(cut[c]);
        let cuts = (1..=ranks.min(points[b])).map(along);
        let cut = cuts.min_by_key(largest).unwrap_or([1; 3]);
        Self { points, cut: Decomposition { ranks: cut } }
    }

    /// The lines of `rank`; empty if there are not enough lines.
    pub(crate) fn block(&self, rank: usize) -> Block {
        if rank < self.cut.size() { self.cut.block(rank, self.points) } else { Block::NONE }
    }

    /// The lines of all ranks.
    pub(crate) fn boxes(&self) -> Boxes {
        Boxes::blocks(self.cut, self.points)
    }

    /// The same lines with `points` points along `axis`.
    pub(crate) fn with_points(mut self, axis: Axis, points: usize) -> Self {
        self.points[axis.index()] = points;
        self
    }
}

/// The values at the points of this rank's box of `to`, from those of its box of `from` on the same grid. If `from` equals `to`, nothing is
/// copied. Collective.
pub(crate) fn transfer<T: Plain + Default>(
    comm: &dyn Communicator,
    from: &Boxes,
    to: &Boxes,
    values: Vec<T>,
) -> Vec<T> {
    if from == to { values } else { redistribute(comm, from, to, 1, &values, T::default()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pencils_have_every_point_once_in_complete_lines_for_any_rank_count() {
        for points in [[8, 6, 5], [7, 1, 1], [1, 13, 2], [3, 3, 3], [1, 1, 1]] {
            for ranks in [1, 2, 3, 4, 6, 7, 12, 50] {
                for axis in Axis::ALL {
                    let pencils = Pencils::new(axis, points, ranks);
                    let mut visits = vec![0; points.iter().product()];
                    for block in (0..ranks).map(|rank| pencils.block(rank)) {
                        assert!(
                            block.is_empty() || block.points[axis.index()] == points[axis.index()]
                        );
                        for [i, j, k] in (0..block.len()).map(|at| block.index(at)) {
                            visits[i + points[0] * (j + points[1] * k)] += 1;
                        }
                    }
                    assert!(visits.iter().all(|&times| times == 1), "{points:?} {ranks} {axis:?}");
                }
            }
        }
    }

    #[test]
    fn pencils_minimise_the_largest_part() {
        // 12 ranks: 2 x 6 parts of 4 x 6 lines have 2 lines each. Neither axis has enough points for 12 slabs.
        let pencils = Pencils::new(Axis::X, [8, 4, 6], 12);
        assert_eq!((0..12).map(|rank| pencils.block(rank).len()).max(), Some(16));
        // As many slabs as ranks: lines along x and along y have the same slabs.
        for rank in 0..4 {
            let blocks = [Axis::X, Axis::Y].map(|axis| Pencils::new(axis, [8; 3], 4).block(rank));
            assert_eq!(blocks[0], blocks[1]);
        }
    }
}
