//! A grid cut into blocks, one a rank.

use super::Axis;
use crate::error::{Error, Result};

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
    /// One rank that holds everything.
    pub const ONE: Self = Self { ranks: [1; 3] };

    /// All of `ranks` ranks along `axis`.
    pub fn along(axis: Axis, ranks: usize) -> Self {
        Self { ranks: std::array::from_fn(|a| if a == axis.index() { ranks } else { 1 }) }
    }

    /// The one of `ranks` ranks that exchanges least: whose largest block has the least surface where the grid is cut.
    /// Among equals lines along x, which are the fastest, stay whole rather than those along y, and those rather than
    /// those along z. Blocks have at least `fewest` points along an axis that is cut.
    ///
    /// # Errors
    /// Where there are more ranks than blocks as long as that: how many ranks there can be.
    pub fn choose(ranks: usize, points: [usize; 3], fewest: usize) -> Result<Self> {
        if let Some(best) = Self::best(ranks, points, fewest) {
            return Ok(best);
        }
        let each = |n: usize| (n / fewest.max(1)).max(1);
        let most = points.iter().fold(1, |most: usize, n| most.saturating_mul(each(*n)));
        let most = (1..=most.min(ranks - 1))
            .rev()
            .find(|&fewer| Self::best(fewer, points, fewest).is_some());
        let [x, y, z] = points;
        Err(Error::Config(vec![
            format!(
                "error: {x} x {y} x {z} points cannot be cut into {ranks} blocks; each needs at least {fewest} \
                 points along an axis that is cut"
            ),
            format!("       use {} ranks", most.unwrap_or(1)),
        ]))
    }

    /// The one that the input asks for, for `size` ranks and blocks as in [`Decomposition::choose`].
    ///
    /// # Errors
    /// Where it is for another number of ranks, or its blocks are too short.
    pub fn asked(
        ranks: [usize; 3],
        size: usize,
        points: [usize; 3],
        fewest: usize,
    ) -> Result<Self> {
        let asked = Self { ranks };
        if asked.size() != size {
            let of = asked.size();
            return Err(Error::Config(vec![
                format!(
                    "error: compute.ranks = {ranks:?} {} {of} rank{}; this run has {size}",
                    if of == 1 { "is" } else { "are" },
                    if of == 1 { "" } else { "s" }
                ),
                format!(
                    "       start {of}, as with `mpirun -n {of}`, or use `compute.ranks = \"auto\"`"
                ),
            ]));
        }
        let short = (0..3).filter(|&a| ranks[a] > 1 && points[a] / ranks[a] < fewest);
        let told = short.flat_map(|a| {
            let (axis, n, p) = (["x", "y", "z"][a], points[a], ranks[a]);
            [
                format!(
                    "error: compute.ranks = {ranks:?}: {n} points along {axis} over {p} ranks leave {} a rank; \
                     each needs at least {fewest}",
                    n / p
                ),
                format!("       use at most {} along {axis}", (n / fewest.max(1)).max(1)),
            ]
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { Ok(asked) } else { Err(Error::Config(told)) }
    }

    fn best(size: usize, points: [usize; 3], fewest: usize) -> Option<Self> {
        Self::all(size, points, fewest).first().copied()
    }

    /// All of `size` ranks whose blocks have at least `fewest` points along an axis that is cut, in the order of
    /// [`Decomposition::choose`].
    pub fn all(size: usize, points: [usize; 3], fewest: usize) -> Vec<Self> {
        let fits = |p: usize, a: usize| p == 1 || points[a] / p >= fewest.max(1);
        let divisors: Vec<usize> = (1..=size).filter(|p| size.is_multiple_of(*p)).collect();
        let along_x = divisors.iter().filter(|&&px| fits(px, 0));
        let all = along_x.flat_map(|&px| {
            let along_y =
                divisors.iter().filter(move |&py| (size / px).is_multiple_of(*py) && fits(*py, 1));
            along_y.map(move |&py| Self { ranks: [px, py, size / px / py] })
        });
        let mut all: Vec<Self> = all.filter(|one| fits(one.ranks[2], 2)).collect();
        all.sort_by_key(|one| (one.surface(points), one.ranks));
        all
    }

    /// Points of the faces of the largest block where the grid is cut.
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
        let [px, py, _] = self.ranks;
        [rank % px, rank / px % py, rank / (px * py)]
    }

    /// The rank at `position`.
    pub fn rank(&self, [i, j, k]: [usize; 3]) -> usize {
        let [px, py, _] = self.ranks;
        i + px * (j + py * k)
    }

    /// Points of every block along axis `a` of n points: those that n is not divisible into go one each to the first.
    pub fn lengths(&self, a: usize, n: usize) -> Vec<usize> {
        let p = self.ranks[a];
        (0..p).map(|at| n / p + usize::from(at < n % p)).collect()
    }

    /// The block of `rank`.
    pub fn block(&self, rank: usize, points: [usize; 3]) -> Block {
        let position = self.position(rank);
        let part = |a: usize| (points[a] / self.ranks[a], points[a] % self.ranks[a], position[a]);
        Block {
            start: std::array::from_fn(|a| {
                let (each, more, at) = part(a);
                at * each + at.min(more)
            }),
            points: std::array::from_fn(|a| {
                let (each, more, at) = part(a);
                each + usize::from(at < more)
            }),
        }
    }
}

impl Block {
    /// No points.
    pub const NONE: Self = Self { start: [0; 3], points: [0; 3] };

    /// All points of a grid.
    pub fn whole(points: [usize; 3]) -> Self {
        Self { start: [0; 3], points }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Those of a plane of x and y.
    pub fn points_of_plane(&self) -> usize {
        self.points[0] * self.points[1]
    }

    /// True for a block without points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points that are in both; none where that is nothing.
    pub fn common(&self, other: &Self) -> Self {
        let start: [usize; 3] = std::array::from_fn(|a| self.start[a].max(other.start[a]));
        let end = |block: &Self, a: usize| block.start[a] + block.points[a];
        let points: [usize; 3] =
            std::array::from_fn(|a| end(self, a).min(end(other, a)).saturating_sub(start[a]));
        if points.contains(&0) { Self::NONE } else { Self { start, points } }
    }

    /// (i, j, k) in the whole grid of the point at position `at` of a field of this block.
    pub fn index(&self, at: usize) -> [usize; 3] {
        let [nx, ny, _] = self.points;
        let inside = [at % nx, at / nx % ny, at / (nx * ny)];
        std::array::from_fn(|a| self.start[a] + inside[a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(ranks: usize, points: [usize; 3]) -> [usize; 3] {
        Decomposition::choose(ranks, points, 5).unwrap().ranks
    }

    fn told(refused: Result<Decomposition>) -> String {
        refused.unwrap_err().to_string()
    }

    #[test]
    fn blocks_hold_every_point_once_and_differ_by_one_at_most() {
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
    fn the_least_surface_is_chosen_and_x_is_the_last_to_be_cut() {
        assert_eq!(chosen(1, [32; 3]), [1, 1, 1]);
        assert_eq!(chosen(2, [32; 3]), [1, 1, 2]);
        assert_eq!(chosen(3, [32; 3]), [1, 1, 3]);
        // As much as [1, 2, 2].
        assert_eq!(chosen(4, [32; 3]), [1, 1, 4]);
        assert_eq!(chosen(6, [36; 3]), [1, 2, 3]);
        // As much as [2, 2, 2].
        assert_eq!(chosen(8, [64; 3]), [1, 2, 4]);
        assert_eq!(chosen(64, [256; 3]), [4, 4, 4]);
        // A long box is cut across.
        assert_eq!(chosen(4, [256, 16, 16]), [4, 1, 1]);
        // What does not vary is not cut.
        assert_eq!(chosen(4, [64, 64, 1]), [1, 4, 1]);
        // One of 13 would leave two points a rank.
        assert_eq!(chosen(13, [32, 130, 32]), [1, 13, 1]);
    }

    #[test]
    fn blocks_that_would_be_too_short_are_refused_with_how_many_ranks_there_can_be() {
        let text = told(Decomposition::choose(7, [32; 3], 5));
        assert!(text.contains("32 x 32 x 32 points cannot be cut into 7 blocks"), "{text}");
        assert!(text.contains("at least 5 points") && text.ends_with("use 6 ranks"), "{text}");
        assert!(told(Decomposition::choose(2, [4, 1, 1], 5)).ends_with("use 1 ranks"));
        let text = told(Decomposition::asked([1, 64, 1], 64, [256, 250, 256], 5));
        assert!(text.contains("250 points along y over 64 ranks leave 3 a rank"), "{text}");
        assert!(text.ends_with("use at most 50 along y"), "{text}");
        assert!(Decomposition::asked([2, 1, 1], 2, [1, 32, 32], 5).is_err());
    }

    #[test]
    fn what_is_asked_for_must_be_for_as_many_ranks_as_there_are() {
        let text = told(Decomposition::asked([2, 2, 1], 8, [32; 3], 5));
        assert!(text.contains("[2, 2, 1] are 4 ranks; this run has 8"), "{text}");
        let asked = Decomposition::asked([2, 2, 2], 8, [32; 3], 5).unwrap();
        assert_eq!(asked.ranks, [2, 2, 2]);
    }
}
