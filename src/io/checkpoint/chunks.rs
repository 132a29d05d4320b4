//! Chunks of equal size, as Zarr has them, of a grid whose blocks differ by a point.

use crate::comm::Communicator;
use crate::grid::{Block, Decomposition, redistribute};
use crate::real::Real;

/// A grid in chunks, at most one a rank, that at the rank's own position among them.
pub(super) struct Chunks {
    decomposition: Decomposition,
    /// Points of the grid.
    pub(super) points: [usize; 3],
    /// Points of a chunk; the last along an axis may have fewer that are of the grid.
    pub(super) size: [usize; 3],
}

impl Chunks {
    pub(super) fn new(decomposition: &Decomposition, points: [usize; 3]) -> Self {
        let size = std::array::from_fn(|a| points[a].div_ceil(decomposition.ranks[a]));
        Self { decomposition: *decomposition, points, size }
    }

    /// Points that chunks are divided into so that each part has at most `values` of them, or is one layer: whole layers.
    pub(super) fn part(&self, values: usize) -> [usize; 3] {
        let [nx, ny, nz] = self.size;
        let divides = |layers: &usize| nz.is_multiple_of(*layers);
        let layers = (1..=nz).rev().filter(divides).find(|layers| nx * ny * layers <= values);
        [nx, ny, layers.unwrap_or(1)]
    }

    /// Where the chunk of `rank` lies; the last along an axis may reach beyond the grid, or begin behind it.
    fn block(&self, rank: usize) -> Block {
        let position = self.decomposition.position(rank);
        Block { start: std::array::from_fn(|a| position[a] * self.size[a]), points: self.size }
    }

    /// The number of this rank's chunk along z, y, x, where it has one.
    pub(super) fn index(&self, rank: usize) -> Option<[u64; 3]> {
        let [i, j, k] = self.decomposition.position(rank).map(|number| number as u64);
        let start = self.block(rank).start;
        (0..3).all(|a| start[a] < self.points[a]).then_some([k, j, i])
    }

    /// The chunk of this rank, filled up with what is no number, from what all ranks hold of the grid: `values` at the points
    /// of its block. Collective.
    pub(super) fn gathered<T: Real>(&self, comm: &dyn Communicator, values: &[T]) -> Vec<T> {
        let have = |rank| self.decomposition.block(rank, self.points);
        redistribute(comm, have, |rank| self.block(rank), 1, values, T::of(f64::NAN))
    }
}
