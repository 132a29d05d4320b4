//! Which points of a field that is spread over ranks are written, and by whom.
//!
//! A piece of points ends where it knows the points of the next, or readers would show a gap between the two: each box is
//! extended by the first layer of its upper neighbours.

use super::vtk::{FieldData, FieldValues, ImageGrid};
use crate::comm::Communicator;
use crate::grid::{Block, Decomposition, redistribute};
use crate::real::Plain;

/// Points of a grid: every `stride`-th along each axis, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The first one, in the grid.
    pub first: [usize; 3],
    /// How many along each axis.
    pub points: [usize; 3],
    /// Points of the grid from one to the next.
    pub stride: usize,
}

impl Selection {
    /// All points.
    pub fn all(points: [usize; 3]) -> Self {
        Self { first: [0; 3], points, stride: 1 }
    }

    /// Every `stride`-th of the points from that next to `from` to that next to `to`, by their coordinates.
    pub fn between(grid: &ImageGrid, from: [f64; 3], to: [f64; 3], stride: usize) -> Self {
        let first = nearest(grid, from);
        let last = nearest(grid, to);
        let points = std::array::from_fn(|a| (last[a].max(first[a]) - first[a]) / stride + 1);
        Self { first, points, stride }
    }

    /// The same, but for the points across axis `a`, of which it takes those next to `coordinate`.
    pub fn across(self, grid: &ImageGrid, a: usize, coordinate: f64) -> Self {
        let Self { mut first, mut points, stride } = self;
        first[a] = nearest(grid, [coordinate; 3])[a];
        points[a] = 1;
        Self { first, points, stride }
    }

    /// The points as a grid of their own.
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 points")]
    pub fn image(&self, grid: &ImageGrid) -> ImageGrid {
        let ImageGrid { origin, spacing, .. } = *grid;
        ImageGrid {
            points: self.points,
            origin: std::array::from_fn(|a| origin[a] + self.first[a] as f64 * spacing[a]),
            spacing: spacing.map(|h| h * self.stride as f64),
        }
    }

    /// Those in a block of the grid, counted among the selected.
    fn within(&self, block: &Block) -> Block {
        let count = |at: usize, a: usize| {
            let before = at.saturating_sub(self.first[a]).div_ceil(self.stride);
            before.min(self.points[a])
        };
        let start: [usize; 3] = std::array::from_fn(|a| count(block.start[a], a));
        let end: [usize; 3] = std::array::from_fn(|a| count(block.start[a] + block.points[a], a));
        let points: [usize; 3] = std::array::from_fn(|a| end[a] - start[a]);
        if points.contains(&0) { Block::NONE } else { Block { start, points } }
    }

    /// The values of a field on `block` at the selected points.
    pub fn of(&self, block: &Block, field: &FieldData) -> FieldData {
        let components = field.components as usize;
        let values = match &field.values {
            FieldValues::F32(values) => FieldValues::F32(self.pick(block, components, values)),
            FieldValues::F64(values) => FieldValues::F64(self.pick(block, components, values)),
        };
        FieldData { name: field.name.clone(), components: field.components, values }
    }

    fn pick<T: Copy>(&self, block: &Block, components: usize, values: &[T]) -> Vec<T> {
        let selected = self.within(block);
        let [nx, ny, _] = block.points;
        let mut picked = Vec::with_capacity(selected.len() * components);
        for n in 0..selected.len() {
            let at = selected.index(n);
            let at: [usize; 3] =
                std::array::from_fn(|a| self.first[a] + at[a] * self.stride - block.start[a]);
            let first = (at[0] + nx * (at[1] + ny * at[2])) * components;
            picked.extend_from_slice(&values[first..first + components]);
        }
        picked
    }
}

/// The point next to some coordinates.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..n")]
#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^52 points")]
fn nearest(grid: &ImageGrid, coordinates: [f64; 3]) -> [usize; 3] {
    std::array::from_fn(|a| {
        let at = ((coordinates[a] - grid.origin[a]) / grid.spacing[a]).round();
        at.clamp(0.0, (grid.points[a] - 1) as f64) as usize
    })
}

/// The box of selected points that each rank writes, of a grid of `points`: those of its block, or, where `files` are fewer
/// than ranks, a slab of all. With the layer more on every side where another box follows.
pub fn boxes(
    decomposition: &Decomposition,
    points: [usize; 3],
    selection: &Selection,
    files: usize,
) -> Vec<Block> {
    let ranks = decomposition.size();
    let own = |rank| selection.within(&decomposition.block(rank, points));
    let mut boxes: Vec<Block> = (0..ranks).map(own).collect();
    if files < ranks {
        boxes.fill(Block::NONE);
        // The slowest axis, unless another has far more points: slabs are then written as they lie.
        let [nx, ny, nz] = selection.points;
        let a = if nz >= files {
            2
        } else if ny >= nx {
            1
        } else {
            0
        };
        let mut along = [1; 3];
        along[a] = files.min(selection.points[a]);
        let slabs = Decomposition { ranks: along };
        for slab in 0..slabs.size() {
            boxes[slab * ranks / slabs.size()] = slabs.block(slab, selection.points);
        }
    }
    boxes.into_iter().map(|block| extended(block, selection.points)).collect()
}

fn extended(block: Block, of: [usize; 3]) -> Block {
    let Block { start, points } = block;
    let more = |a: usize| usize::from(!block.is_empty() && start[a] + points[a] < of[a]);
    Block { start, points: std::array::from_fn(|a| points[a] + more(a)) }
}

/// The field at the points of this rank's one of `boxes`, from what every rank has of the selection. Collective.
pub fn joined(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    selection: &Selection,
    boxes: &[Block],
    field: FieldData,
) -> FieldData {
    let components = field.components as usize;
    let have = |rank| selection.within(&decomposition.block(rank, points));
    fn moved<T: Plain>(
        comm: &dyn Communicator,
        have: impl Fn(usize) -> Block,
        boxes: &[Block],
        components: usize,
        (values, missing): (&[T], T),
    ) -> Vec<T> {
        redistribute(comm, have, |rank| boxes[rank], components, values, missing)
    }
    let values = match &field.values {
        FieldValues::F32(v) => {
            FieldValues::F32(moved(comm, have, boxes, components, (v, f32::NAN)))
        }
        FieldValues::F64(v) => {
            FieldValues::F64(moved(comm, have, boxes, components, (v, f64::NAN)))
        }
    };
    FieldData { values, ..field }
}

/// The points with index `at` along axis `a` of a field on a grid of `points`, each rank giving the `values` of its block: on
/// rank 0, the first of the two other axes fastest; nothing on the others. Collective.
pub fn plane(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    (a, at): (usize, usize),
    values: &[f64],
) -> Option<Vec<f64>> {
    let mut whole = Block::whole(points);
    (whole.start[a], whole.points[a]) = (at, 1);
    let have = |rank| decomposition.block(rank, points);
    let want = |rank| if rank == 0 { whole } else { Block::NONE };
    let found = redistribute(comm, have, want, 1, values, f64::NAN);
    (comm.rank() == 0).then_some(found)
}
