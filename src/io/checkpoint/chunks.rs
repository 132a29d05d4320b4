//! Chunks of equal size, as Zarr has them, of a grid whose blocks differ by a point.

use crate::comm::Communicator;
use crate::grid::{Block, Decomposition};
use crate::io::pieces::{Place, copy_box};
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

    /// Where the chunk of `rank` lies in the grid, cut at its end; no points where that rank has none.
    fn block(&self, rank: usize) -> Block {
        let position = self.decomposition.position(rank);
        let start = std::array::from_fn(|a| (position[a] * self.size[a]).min(self.points[a]));
        let points = std::array::from_fn(|a| self.size[a].min(self.points[a] - start[a]));
        Block { start, points }
    }

    /// The number of this rank's chunk along z, y, x, where it has one.
    pub(super) fn index(&self, rank: usize) -> Option<[u64; 3]> {
        let [i, j, k] = self.decomposition.position(rank).map(|number| number as u64);
        (!self.block(rank).points.contains(&0)).then_some([k, j, i])
    }

    /// The chunk of this rank, filled up with what is no number, from what all ranks hold of the grid: `values` at the points
    /// of its block. Collective.
    pub(super) fn gathered<T: Real>(&self, comm: &dyn Communicator, values: &[T]) -> Vec<T> {
        let me = comm.rank();
        let blocks = |rank: usize| self.decomposition.block(rank, self.points);
        let (block, chunk) = (blocks(me), self.block(me));
        let [given, wanted] = [0, 1].map(|side| {
            let shared = |rank: usize| match side {
                0 => common(block, self.block(rank)),
                _ => common(blocks(rank), chunk),
            };
            (0..comm.size()).map(shared).collect::<Vec<Block>>()
        });
        let ranges = |shared: &[Block]| {
            let mut first = 0;
            let range = |block: &Block| {
                let bytes = block.len() * size_of::<T>();
                first += bytes;
                (first - bytes, bytes)
            };
            shared.iter().map(range).collect::<Vec<_>>()
        };
        let total = |shared: &[Block]| shared.iter().map(Block::len).sum::<usize>();
        let mut out = vec![T::ZERO; total(&given)];
        let mut first = 0;
        for part in &given {
            let from = place(block, part);
            let to = Place { points: part.points, at: [0; 3], components: 1 };
            copy_box(part.points, values, &from, &mut out[first..], &to);
            first += part.len();
        }
        let mut inwards = vec![T::ZERO; total(&wanted)];
        // SAFETY: the ranges lie within the arrays, one behind the other.
        unsafe {
            comm.all_to_all(
                out.as_ptr().cast(),
                &ranges(&given),
                inwards.as_mut_ptr().cast(),
                &ranges(&wanted),
            );
        }
        let mut whole = vec![T::of(f64::NAN); self.size.iter().product()];
        let mut first = 0;
        for part in &wanted {
            let from = Place { points: part.points, at: [0; 3], components: 1 };
            let to = Place { points: self.size, ..place(chunk, part) };
            copy_box(part.points, &inwards[first..], &from, &mut whole, &to);
            first += part.len();
        }
        whole
    }
}

/// What two blocks share; no points where that is nothing.
fn common(a: Block, b: Block) -> Block {
    let start: [usize; 3] = std::array::from_fn(|x| a.start[x].max(b.start[x]));
    let end = |block: Block, x: usize| block.start[x] + block.points[x];
    let mut points: [usize; 3] =
        std::array::from_fn(|x| end(a, x).min(end(b, x)).saturating_sub(start[x]));
    if points.contains(&0) {
        points = [0; 3];
    }
    Block { start, points }
}

/// Where `part` of a block lies in the array of the block.
fn place(block: Block, part: &Block) -> Place {
    let at = std::array::from_fn(|a| part.start[a].saturating_sub(block.start[a]));
    Place { points: block.points, at, components: 1 }
}
