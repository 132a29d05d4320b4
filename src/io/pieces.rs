//! Which points of a field distributed over ranks are written, and by which rank.
//!
//! Readers would show a gap between pieces that share no points, so each box is extended by the first layer of its upper
//! neighbours. For the same reason the first points of a periodic axis are written again after the last, where they close the
//! period.

use std::ops::Range;

use super::vtk::{FieldData, ImageGrid};
use crate::comm::Communicator;
use crate::grid::{Block, Boxes, Decomposition, Grid, redistribute, redistribute_into};
use crate::real::{Plain, Values};

/// Grid points: every `stride`-th along each axis, starting at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Grid index of the first point.
    pub first: [usize; 3],
    /// Number of points along each axis.
    pub points: [usize; 3],
    /// Grid points from one to the next.
    pub stride: usize,
    /// Axes along which the last of them lies one period after point 0 of the grid, with its values.
    pub closed: [bool; 3],
}

impl Selection {
    /// All points, and those that close the period of periodic axes.
    pub fn all(grid: &Grid) -> Self {
        Self::between(grid, [f64::MIN; 3], [f64::MAX; 3], 1)
    }

    /// Every `stride`-th point from the one nearest to `from` to the one nearest to `to`, given by coordinates. A periodic axis
    /// ends one period after its first point.
    pub fn between(grid: &Grid, from: [f64; 3], to: [f64; 3], stride: usize) -> Self {
        let end: [usize; 3] =
            std::array::from_fn(|a| grid.points[a] - usize::from(!closes_period(grid, a)));
        let first: [usize; 3] =
            std::array::from_fn(|a| nearest(grid, a, from[a]).min(grid.points[a] - 1));
        let points: [usize; 3] =
            std::array::from_fn(|a| nearest(grid, a, to[a]).saturating_sub(first[a]) / stride + 1);
        let last = |a: usize| first[a] + (points[a] - 1) * stride;
        let closed = std::array::from_fn(|a| closes_period(grid, a) && last(a) == end[a]);
        Self { first, points, stride, closed }
    }

    /// The same selection, except that across axis `a` it has only the points nearest to `coordinate`.
    pub fn across(mut self, grid: &Grid, a: usize, coordinate: f64) -> Self {
        // The points one period after the first points are the first points.
        self.first[a] = nearest(grid, a, coordinate) % grid.points[a];
        (self.points[a], self.closed[a]) = (1, false);
        self
    }

    /// The points as a separate grid.
    pub fn image(&self, grid: &Grid) -> ImageGrid {
        let along = |a: usize| {
            let points = (0..self.points[a]).map(|at| self.first[a] + at * self.stride);
            points.map(|i| grid.coordinate(a, i)).collect()
        };
        ImageGrid {
            points: self.points,
            origin: std::array::from_fn(|a| grid.coordinate(a, self.first[a])),
            spacing: grid.spacing.map(|h| h * self.stride as f64),
            repeats: std::array::from_fn(|a| self.closed[a] && self.first[a] == 0),
            coordinates: (!grid.is_uniform()).then(|| [along(0), along(1), along(2)]),
            plane: grid.plane.as_ref().map(|plane| {
                let [nx, ny, _] = self.points;
                let index = |n: usize, a: usize| self.first[a] + n * self.stride;
                let points = (0..nx * ny).map(|at| [index(at % nx, 0), index(at / nx, 1)]);
                let points = points.map(|point| plane.place(grid.points, point));
                points.map(|[x, y]| (x, y)).unzip::<_, _, Vec<_>, Vec<_>>().into()
            }),
        }
    }

    /// The selected points in parts, in selection indices, such that a block of the grid is a block in each part: first the
    /// points of the grid itself, then, for all closed axes, those after it.
    fn parts(&self) -> Vec<Block> {
        let mut parts = vec![Block::whole(self.points)];
        for a in (0..3).filter(|&a| self.closed[a]) {
            let last = self.points[a] - 1;
            parts.iter_mut().for_each(|part| part.points[a] = last);
            let behind = parts.clone().into_iter().map(|mut part| {
                (part.start[a], part.points[a]) = (last, 1);
                part
            });
            parts.extend(behind.collect::<Vec<_>>());
        }
        parts
    }

    /// Offset in grid points of those of `part` from the points with the same values.
    fn shift(&self, part: &Block) -> [usize; 3] {
        std::array::from_fn(|a| {
            let last = self.points[a] - 1;
            let behind = self.closed[a] && part.start[a] == last;
            if behind { self.first[a] + last * self.stride } else { 0 }
        })
    }

    /// The points of `part` in `boxes` of the grid, in selection indices.
    fn of_boxes(&self, boxes: &Boxes, part: &Block) -> Boxes {
        let shift = self.shift(part);
        let count = |at: usize, a: usize| {
            let before = (at + shift[a]).saturating_sub(self.first[a]).div_ceil(self.stride);
            before.min(self.points[a])
        };
        boxes.map(|a, range| count(range.start, a)..count(range.end, a)).within(part)
    }

    /// The values of a field on `block` at the selected points, part by part.
    pub fn of(&self, block: &Block, field: &FieldData) -> FieldData {
        let components = field.components;
        let values = match &field.values {
            Values::F32(values) => self.pick(block, components, values).into(),
            Values::F64(values) => self.pick(block, components, values).into(),
        };
        FieldData { name: field.name.clone(), components: field.components, values }
    }

    fn pick<T: Copy>(&self, block: &Block, components: usize, values: &[T]) -> Vec<T> {
        let own = Boxes::on_rank_0(*block);
        let within = |part: &Block| (self.of_boxes(&own, part).of(0), self.shift(part));
        let parts: Vec<_> = self.parts().iter().map(within).collect();
        let [nx, ny, _] = block.points;
        let points: usize = parts.iter().map(|(selected, _)| selected.len()).sum();
        let mut picked = Vec::with_capacity(points * components);
        for (selected, shift) in parts {
            for n in 0..selected.len() {
                let at = selected.index(n);
                let at: [usize; 3] = std::array::from_fn(|a| {
                    self.first[a] + at[a] * self.stride - shift[a] - block.start[a]
                });
                let first = (at[0] + nx * (at[1] + ny * at[2])) * components;
                picked.extend_from_slice(&values[first..first + components]);
            }
        }
        picked
    }
}

/// Whether points after the last ones close the period of axis `a`.
fn closes_period(grid: &Grid, a: usize) -> bool {
    grid.is_closed_along(a) && grid.points[a] > 1
}

/// The point nearest to a coordinate along axis `a`; on a periodic axis also the one a period after the first.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=n")]
fn nearest(grid: &Grid, a: usize, coordinate: f64) -> usize {
    let last = grid.points[a] - usize::from(!closes_period(grid, a));
    if grid.lines[a].is_some() {
        let inside = coordinate.clamp(grid.coordinate(a, 0), grid.coordinate(a, last));
        let distance = |i: &usize| (grid.coordinate(a, *i) - inside).abs();
        return (0..=last).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(0);
    }
    let at = ((coordinate - grid.origin[a]) / grid.spacing[a]).round();
    at.clamp(0.0, last as f64) as usize
}

/// The box of selected points that each rank writes, on a grid of `points`: those of its block, or, where there are fewer `files`
/// than ranks, slabs. With an additional layer on every side where another box follows.
pub fn boxes(
    decomposition: &Decomposition,
    points: [usize; 3],
    selection: &Selection,
    files: usize,
) -> Boxes {
    let ranks = decomposition.size();
    let within = selection.parts()[0];
    let own = match files < ranks {
        false => selection.of_boxes(&Boxes::blocks(*decomposition, points), &within),
        true => {
            // The slowest axis, unless another has far more points: slabs are then contiguous.
            let a = match within.points {
                [_, _, nz] if nz >= files => 2,
                [nx, ny, _] => usize::from(ny >= nx),
            };
            let mut along = [1; 3];
            along[a] = files.min(within.points[a]);
            Boxes::of_decomposition(Decomposition { ranks: along }, within.points, ranks)
        }
    };
    let has_next = |a: usize, end: usize| end < selection.points[a];
    own.map(|a, Range { start, end }| match start < end && has_next(a, end) {
        true => start..end + 1,
        false => start..end,
    })
}

/// The field at the points of this rank's entry of `boxes`, from the parts that all ranks have of the selection. Collective.
pub fn joined(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    selection: &Selection,
    boxes: &Boxes,
    field: FieldData,
) -> FieldData {
    let components = field.components;
    let blocks = Boxes::blocks(*decomposition, points);
    let source = (&blocks, selection);
    let values = match &field.values {
        Values::F32(values) => gathered(comm, source, boxes, components, (values, f32::NAN)).into(),
        Values::F64(values) => gathered(comm, source, boxes, components, (values, f64::NAN)).into(),
    };
    FieldData { values, ..field }
}

fn gathered<T: Plain>(
    comm: &dyn Communicator,
    (blocks, selection): (&Boxes, &Selection),
    boxes: &Boxes,
    components: usize,
    (values, missing): (&[T], T),
) -> Vec<T> {
    let own = boxes.of(comm.rank());
    let mut result = vec![missing; own.len() * components];
    let mut rest = values;
    for part in selection.parts() {
        let (have, want) = (selection.of_boxes(blocks, &part), boxes.within(&part));
        let (here, behind) = rest.split_at(have.of(comm.rank()).len() * components);
        redistribute_into(comm, &have, &want, components, here, (&mut result, &own));
        rest = behind;
    }
    result
}

/// Every `stride`-th point with index `at` along axis `a` of a field on a grid of `points`, from the `values` of each rank's
/// block: on rank 0, the first of the other two axes fastest; empty on the others. Collective.
pub fn plane(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    (a, at, stride): (usize, usize, usize),
    values: &[f64],
) -> Option<Vec<f64>> {
    let mut selected = Selection {
        first: [0; 3],
        points: points.map(|n| n.div_ceil(stride)),
        stride,
        closed: [false; 3],
    };
    (selected.first[a], selected.points[a]) = (at, 1);
    let block = decomposition.block(comm.rank(), points);
    let own = selected.pick(&block, 1, values);
    let blocks = Boxes::blocks(*decomposition, points);
    let whole = Block::whole(selected.points);
    on_rank_0(comm, &selected.of_boxes(&blocks, &whole), whole, &own)
}

/// The same for all points on the line along axis `a` through the point `through`. Collective.
pub fn line(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    (a, through): (usize, [usize; 3]),
    values: &[f64],
) -> Option<Vec<f64>> {
    let mut line = Block { start: through, points: [1; 3] };
    (line.start[a], line.points[a]) = (0, points[a]);
    on_rank_0(comm, &Boxes::blocks(*decomposition, points), line, values)
}

fn on_rank_0(
    comm: &dyn Communicator,
    have: &Boxes,
    wanted: Block,
    values: &[f64],
) -> Option<Vec<f64>> {
    let gathered = redistribute(comm, have, &Boxes::on_rank_0(wanted), 1, values, f64::NAN);
    (comm.rank() == 0).then_some(gathered)
}
