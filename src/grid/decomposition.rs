//! Decomposition of a grid into blocks, one per rank.

use std::ops::Range;

use super::{Axis, position};
use crate::error::{Error, Result, refused};

/// Ranks along x, y and z. Rank r holds block (r mod px, r / px mod py, r / (px py)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decomposition {
    /// px, py, pz.
    pub ranks: [usize; 3],
}

/// The part of a grid that one rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First point along x, y, z.
    pub start: [usize; 3],
    /// Points along x, y, z.
    pub points: [usize; 3],
}

impl Decomposition {
    /// A single rank that holds the whole grid.
    pub const ONE: Self = Self { ranks: [1; 3] };

    /// All of `ranks` ranks along `axis`.
    pub fn along(axis: Axis, ranks: usize) -> Self {
        Self { ranks: std::array::from_fn(|a| if a == axis.index() { ranks } else { 1 }) }
    }

    /// All decompositions over `size` ranks, least communication first: sorted by the surface of the largest block at cuts. On a tie,
    /// cuts along z are preferred to cuts along y, and those to cuts along x, where memory is contiguous. Blocks have at least one point
    /// along an axis that is cut.
    pub fn all(size: usize, points: [usize; 3]) -> Vec<Self> {
        let divisors: Vec<usize> = (1..=size).filter(|p| size.is_multiple_of(*p)).collect();
        let along_x = divisors.iter().filter(|&&px| px <= points[0]);
        let all = along_x.flat_map(|&px| {
            let fits = move |py: &&usize| (size / px).is_multiple_of(**py) && **py <= points[1];
            let along_y = divisors.iter().filter(fits);
            along_y.map(move |&py| Self { ranks: [px, py, size / px / py] })
        });
        let mut all: Vec<Self> = all.filter(|one| one.ranks[2] <= points[2]).collect();
        all.sort_by_key(|one| (one.surface(points), one.ranks));
        all
    }

    /// The error that no decomposition over `ranks` ranks exists, with the largest number of ranks that can be used.
    pub fn no_decomposition_error(ranks: usize, points: [usize; 3]) -> Error {
        let max_ranks = points.iter().fold(1, |product: usize, n| product.saturating_mul(*n));
        let fits = |fewer: &usize| !Self::all(*fewer, points).is_empty();
        let max_ranks = (1..=max_ranks.min(ranks - 1)).rev().find(fits).unwrap_or(1);
        let [x, y, z] = points;
        refused(
            format!(
                "{x} x {y} x {z} points cannot be cut into {ranks} blocks; each needs at least 1 point along an axis that \
                 is cut"
            ),
            format!("use {max_ranks} ranks"),
        )
    }

    /// The decomposition given in the input, for `size` ranks and blocks as in [`Decomposition::all`].
    ///
    /// # Errors
    /// If it is for another number of ranks, or its blocks are too short.
    pub fn requested(ranks: [usize; 3], size: usize, points: [usize; 3]) -> Result<Self> {
        let requested = Self { ranks };
        if requested.size() != size {
            let total = requested.size();
            let are = if total == 1 { "is 1 rank".into() } else { format!("are {total} ranks") };
            return Err(refused(
                format!("compute.ranks = {ranks:?} {are}; this run has {size}"),
                format!(
                    "start {total}, as with `mpirun -n {total}`, or use `compute.ranks = \"auto\"`"
                ),
            ));
        }
        let short = (0..3).filter(|&a| ranks[a] > points[a]);
        let messages = short.flat_map(|a| {
            let (axis, n, p) = (["x", "y", "z"][a], points[a], ranks[a]);
            [
                format!(
                    "error: compute.ranks = {ranks:?}: {n} points along {axis} over {p} ranks leave 0 per rank; each needs at \
                     least 1"
                ),
                format!("       use at most {n} along {axis}"),
            ]
        });
        let messages: Vec<String> = messages.collect();
        if messages.is_empty() { Ok(requested) } else { Err(Error::Config(messages)) }
    }

    /// Number of points on the cut faces of the largest block.
    fn surface(&self, points: [usize; 3]) -> usize {
        let lengths: [usize; 3] = std::array::from_fn(|a| points[a].div_ceil(self.ranks[a]));
        let faces = (0..3).filter(|&a| self.ranks[a] > 1);
        faces.map(|a| 2 * lengths[(a + 1) % 3] * lengths[(a + 2) % 3]).sum()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.iter().product()
    }

    /// Position of `rank` along x, y, z.
    pub fn position(&self, rank: usize) -> [usize; 3] {
        position(rank, self.ranks)
    }

    /// The rank at `position`.
    pub fn rank(&self, [i, j, k]: [usize; 3]) -> usize {
        let [px, py, _] = self.ranks;
        i + px * (j + py * k)
    }

    /// The points of block `at` along axis `a` of n points; the remainder of the division goes to the first blocks, one point each.
    pub(super) fn range(&self, a: usize, n: usize, at: usize) -> Range<usize> {
        let p = self.ranks[a];
        let first = |at: usize| at * (n / p) + at.min(n % p);
        first(at)..first(at + 1)
    }

    /// Number of points of each block along the axis.
    pub fn lengths(&self, a: usize, n: usize) -> Vec<usize> {
        (0..self.ranks[a]).map(|at| self.range(a, n, at).len()).collect()
    }

    /// The block of `rank`.
    pub fn block(&self, rank: usize, points: [usize; 3]) -> Block {
        let position = self.position(rank);
        Block::of([0, 1, 2].map(|a| self.range(a, points[a], position[a])))
    }
}

impl Block {
    /// No points.
    pub const NONE: Self = Self { start: [0; 3], points: [0; 3] };

    /// The points of one range along each axis.
    pub(super) fn of(ranges: [Range<usize>; 3]) -> Self {
        Self {
            start: ranges.each_ref().map(|range| range.start),
            points: ranges.map(|it| it.len()),
        }
    }

    /// The points along axis `a`.
    pub(super) fn range(&self, a: usize) -> Range<usize> {
        self.start[a]..self.start[a] + self.points[a]
    }

    /// All points of a grid.
    pub fn whole(points: [usize; 3]) -> Self {
        Self { start: [0; 3], points }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Number of points in an x-y plane.
    pub fn points_per_plane(&self) -> usize {
        self.points[0] * self.points[1]
    }

    /// True for a block without points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points in both blocks; an empty block if there are none.
    pub fn common(&self, other: &Self) -> Self {
        let both = Self::of([0, 1, 2].map(|a| {
            let [own, other] = [self.range(a), other.range(a)];
            own.start.max(other.start)..own.end.min(other.end)
        }));
        if both.is_empty() { Self::NONE } else { both }
    }

    /// (i, j, k) in the whole grid of the point at index `at` of a field of this block.
    pub fn index(&self, at: usize) -> [usize; 3] {
        let inside = position(at, self.points);
        std::array::from_fn(|a| self.start[a] + inside[a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(ranks: usize, points: [usize; 3]) -> [usize; 3] {
        Decomposition::all(ranks, points)[0].ranks
    }

    fn error(cut: [usize; 3], ranks: usize, points: [usize; 3]) -> String {
        Decomposition::requested(cut, ranks, points).unwrap_err().to_string()
    }

    #[test]
    fn blocks_have_every_point_once_and_sizes_differ_by_at_most_one() {
        for ranks in [[1, 1, 1], [2, 3, 1], [3, 2, 4], [7, 1, 2]] {
            let (cut, points) = (Decomposition { ranks }, [13, 17, 11]);
            let mut seen = vec![0; points.iter().product()];
            for rank in 0..cut.size() {
                assert_eq!(cut.rank(cut.position(rank)), rank);
                let block = cut.block(rank, points);
                for a in 0..3 {
                    let even = points[a] / ranks[a];
                    assert!((even..=even + 1).contains(&block.points[a]));
                }
                for [i, j, k] in (0..block.len()).map(|at| block.index(at)) {
                    seen[i + points[0] * (j + points[1] * k)] += 1;
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{ranks:?}");
        }
    }

    #[test]
    fn decomposition_has_the_least_surface_and_cuts_x_last() {
        assert_eq!(chosen(1, [32; 3]), [1, 1, 1]);
        assert_eq!(chosen(2, [32; 3]), [1, 1, 2]);
        assert_eq!(chosen(3, [32; 3]), [1, 1, 3]);
        // Same surface as [1, 2, 2].
        assert_eq!(chosen(4, [32; 3]), [1, 1, 4]);
        assert_eq!(chosen(6, [36; 3]), [1, 2, 3]);
        // Same surface as [2, 2, 2].
        assert_eq!(chosen(8, [64; 3]), [1, 2, 4]);
        assert_eq!(chosen(64, [256; 3]), [4, 4, 4]);
        // A long box is divided along its long axis.
        assert_eq!(chosen(4, [256, 16, 16]), [4, 1, 1]);
        // An axis with one point is not cut.
        assert_eq!(chosen(4, [64, 64, 1]), [1, 4, 1]);
        assert_eq!(chosen(13, [32, 130, 32]), [1, 13, 1]);
    }

    #[test]
    fn too_many_ranks_are_rejected_with_the_largest_possible_number() {
        assert!(Decomposition::all(37, [32; 3]).is_empty());
        let text = Decomposition::no_decomposition_error(37, [32; 3]).to_string();
        assert!(text.contains("32 x 32 x 32 points cannot be cut into 37 blocks"), "{text}");
        assert!(text.contains("at least 1 point") && text.ends_with("use 36 ranks"), "{text}");
        assert!(
            Decomposition::no_decomposition_error(5, [4, 1, 1])
                .to_string()
                .ends_with("use 4 ranks")
        );
        let text = error([1, 64, 1], 64, [256, 50, 256]);
        assert!(text.contains("50 points along y over 64 ranks leave 0 per rank"), "{text}");
        assert!(text.ends_with("use at most 50 along y"), "{text}");
        assert!(Decomposition::requested([2, 1, 1], 2, [1, 32, 32]).is_err());
    }

    #[test]
    fn requested_decomposition_must_match_the_number_of_ranks() {
        let text = error([2, 2, 1], 8, [32; 3]);
        assert!(text.contains("[2, 2, 1] are 4 ranks; this run has 8"), "{text}");
        assert_eq!(Decomposition::requested([2, 2, 2], 8, [32; 3]).unwrap().ranks, [2, 2, 2]);
    }
}
