//! A grid cut into blocks, one a rank.

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
        let lengths: [Vec<usize>; 3] = std::array::from_fn(|a| self.lengths(a, points[a]));
        Block {
            start: std::array::from_fn(|a| lengths[a][..position[a]].iter().sum()),
            points: std::array::from_fn(|a| lengths[a][position[a]]),
        }
    }
}

impl Block {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// True for a block without points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// (i, j, k) in the whole grid of the point at position `at` of a field of this block.
    pub fn index(&self, at: usize) -> [usize; 3] {
        let [nx, ny, _] = self.points;
        let inside = [at % nx, at / nx % ny, at / (nx * ny)];
        std::array::from_fn(|a| self.start[a] + inside[a])
    }
}
