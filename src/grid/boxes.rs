//! Boxes of points that are products of ranges along the axes, each held by one rank.

use std::ops::Range;

use super::{Block, Decomposition, position};

/// The boxes that are products of one range of points along each axis. Box number n, x fastest, is held by rank n R / N of R, with N boxes
/// in total; other ranks hold none. Memory grows with the number of ranges along the axes, and the cost of a query with that number and the
/// number of boxes found; neither grows with the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// Ranges along x, y, z. A range may be empty, and may overlap others.
    along: [Vec<Range<usize>>; 3],
    /// Number of ranks over which the boxes are distributed evenly.
    ranks: usize,
}

impl Boxes {
    /// Boxes of these ranges, distributed evenly over the first `ranks` ranks.
    ///
    /// # Panics
    /// If there are more boxes than ranks.
    pub fn new(along: [Vec<Range<usize>>; 3], ranks: usize) -> Self {
        let boxes = Self { along, ranks };
        assert!(boxes.len() <= ranks, "a rank holds one box");
        boxes
    }

    /// The blocks of `cut`, one on each of its ranks.
    pub fn blocks(cut: Decomposition, points: [usize; 3]) -> Self {
        Self::of_decomposition(cut, points, cut.size())
    }

    /// The blocks of `cut`, each on one of `ranks` ranks.
    pub fn of_decomposition(cut: Decomposition, points: [usize; 3], ranks: usize) -> Self {
        let range = |a: usize, at: usize| cut.range(a, points[a], at);
        Self::new([0, 1, 2].map(|a| (0..cut.ranks[a]).map(|at| range(a, at)).collect()), ranks)
    }

    /// One box, on rank 0.
    pub fn on_rank_0(block: Block) -> Self {
        Self::new([0, 1, 2].map(|a| vec![block.range(a)]), 1)
    }

    /// The boxes with each range along each axis replaced by the result of `range`.
    #[must_use]
    pub fn map(&self, range: impl Fn(usize, Range<usize>) -> Range<usize>) -> Self {
        let each = |a: usize| self.along[a].iter().map(|one| range(a, one.clone())).collect();
        Self::new([0, 1, 2].map(each), self.ranks)
    }

    /// The intersections of the boxes with `block`.
    #[must_use]
    pub fn within(&self, block: &Block) -> Self {
        self.map(|a, range| {
            let Range { start: first, end } = block.range(a);
            range.start.clamp(first, end)..range.end.clamp(first, end)
        })
    }

    /// Number of boxes, including empty ones.
    pub fn len(&self) -> usize {
        self.along.iter().map(Vec::len).product()
    }

    /// True if there are no boxes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box that `rank` holds.
    pub fn of(&self, rank: usize) -> Block {
        let number = (rank * self.len()).div_ceil(self.ranks.max(1));
        if number >= self.len() || self.holder(number) != rank {
            return Block::NONE;
        }
        self.at(position(number, self.along.each_ref().map(Vec::len)))
    }

    /// The non-empty boxes with their ranks, in the order of ranks.
    pub fn all(&self) -> impl Iterator<Item = (usize, Block)> {
        self.numbered([0, 1, 2].map(|a| (0..self.along[a].len()).collect()))
    }

    /// The boxes that intersect `block`: their ranks, and the intersections.
    pub fn intersecting(&self, block: &Block) -> impl Iterator<Item = (usize, Block)> {
        let block = *block;
        let meets = |a: usize, range: &Range<usize>| {
            let Range { start: first, end } = block.range(a);
            range.start.max(first) < range.end.min(end)
        };
        let numbers = |a: usize| {
            (0..self.along[a].len()).filter(|at| meets(a, &self.along[a][*at])).collect::<Vec<_>>()
        };
        self.numbered([0, 1, 2].map(numbers)).map(move |(rank, one)| (rank, one.common(&block)))
    }

    /// The boxes with these range numbers along the axes.
    fn numbered(&self, along: [Vec<usize>; 3]) -> impl Iterator<Item = (usize, Block)> {
        let [nx, ny, _] = self.along.each_ref().map(Vec::len);
        let counts = along.each_ref().map(Vec::len);
        let boxes = (0..counts.iter().product()).map(move |n| {
            let at = position(n, counts);
            let [i, j, k] = [0, 1, 2].map(|a| along[a][at[a]]);
            (self.holder(i + nx * (j + ny * k)), self.at([i, j, k]))
        });
        boxes.filter(|(_, one)| !one.is_empty())
    }

    fn holder(&self, number: usize) -> usize {
        number * self.ranks / self.len()
    }

    fn at(&self, position: [usize; 3]) -> Block {
        let block = Block::of([0, 1, 2].map(|a| self.along[a][position[a]].clone()));
        if block.is_empty() { Block::NONE } else { block }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(ranks: [usize; 3]) -> Decomposition {
        Decomposition { ranks }
    }

    #[test]
    fn blocks_equal_those_of_the_decomposition_and_spread_ones_occur_once() {
        let points = [11, 7, 5];
        for ranks in [[1, 1, 1], [3, 2, 1], [2, 2, 3]] {
            let blocks = Boxes::blocks(cut(ranks), points);
            for (rank, block) in blocks.all() {
                assert_eq!(block, cut(ranks).block(rank, points));
                assert_eq!(block, blocks.of(rank));
            }
            for more in [cut(ranks).size(), 13, 100] {
                let spread = Boxes::of_decomposition(cut(ranks), points, more);
                let each: Vec<Block> = (0..more + 3).map(|rank| spread.of(rank)).collect();
                let each: Vec<_> =
                    each.into_iter().enumerate().filter(|(_, one)| !one.is_empty()).collect();
                assert_eq!(each, spread.all().collect::<Vec<_>>());
                assert_eq!(each.iter().map(|(_, one)| one.len()).sum::<usize>(), 11 * 7 * 5);
            }
        }
    }

    #[test]
    fn meeting_finds_the_boxes_that_share_points_with_a_block() {
        let points = [11, 7, 5];
        // Ranges that are one point longer, so that boxes overlap; and ranges divided by four, so that some boxes are empty.
        let blocks = Boxes::blocks(cut([3, 4, 2]), points);
        let longer = blocks.map(|a, range| range.start..(range.end + 1).min(points[a]));
        let fewer = blocks.map(|_, range| range.start.div_ceil(4)..range.end.div_ceil(4));
        for boxes in [&blocks, &longer, &fewer] {
            for (_, block) in Boxes::blocks(cut([2, 3, 5]), points).all() {
                let shared = boxes.all().map(|(rank, one)| (rank, one.common(&block)));
                let shared: Vec<_> = shared.filter(|(_, one)| !one.is_empty()).collect();
                assert_eq!(boxes.intersecting(&block).collect::<Vec<_>>(), shared);
            }
        }
    }

    #[test]
    fn blocks_of_131072_ranks_take_160_ranges_and_few_meet_a_layer() {
        let points = [16384, 32768, 16384];
        let blocks = Boxes::blocks(cut([32, 64, 64]), points);
        let ranges: usize = blocks.along.iter().map(Vec::len).sum();
        assert_eq!((blocks.len(), ranges), (131_072, 160));
        let mut layer = Block::whole(points);
        (layer.start[2], layer.points[2]) = (5000, 1);
        assert_eq!(blocks.intersecting(&layer).count(), 32 * 64);
        assert!(Boxes::on_rank_0(layer).intersecting(&blocks.of(131_071)).next().is_none());
    }
}
