//! Fields that are spread over ranks: written in pieces, one file a rank; planes of them put together on rank 0.
//!
//! A piece of points ends where it knows the points of the next, or readers would show a gap between the two: each block
//! is extended by the first layer of its upper neighbours, along x, then y, then z, so that edges and corners come too.

use std::fs;
use std::path::Path;

use super::vtk::{FieldData, FieldValues, FieldWriter, ImageGrid, pvti, write_part};
use super::{make_directory, write_whole};
use crate::comm::Communicator;
use crate::error::{Error, Result};
use crate::grid::{Block, Decomposition};
use crate::real::Real;

impl FieldWriter {
    /// Write the fields of one time in pieces: `step_…/rank_….vti` by every rank with the points of its block, then, when
    /// all of them are there, `step_….pvti` and `fields.pvti.series` by rank 0. Returns on rank 0 the bytes of all
    /// pieces, on others of theirs. Collective.
    pub fn write_pieces(
        &mut self,
        comm: &dyn Communicator,
        decomposition: &Decomposition,
        (step, time): (u64, f64),
        grid: &ImageGrid,
        fields: Vec<FieldData>,
    ) -> Result<u64> {
        let name = format!("step_{step:08}");
        let directory = self.directory().join(&name);
        make_directory(&directory)?;
        let file = |rank| format!("rank_{rank:05}.vti");
        let arrays: Vec<_> = fields.iter().map(FieldData::array).collect();
        let part = piece(decomposition, comm.rank(), grid.points);
        let joined = |field: FieldData| {
            let components = field.components as usize;
            let values = match field.values {
                FieldValues::F32(v) => {
                    FieldValues::F32(joined(comm, decomposition, grid.points, components, &v))
                }
                FieldValues::F64(v) => {
                    FieldValues::F64(joined(comm, decomposition, grid.points, components, &v))
                }
            };
            FieldData { values, ..field }
        };
        let path = directory.join(file(comm.rank()));
        write_part(&path, grid, &part, fields.into_iter().map(joined).collect())?;
        let bytes = size(&path)?;
        // Rank 0 has heard from all only when all their pieces are there.
        let Some(told) = comm.gather(&bytes.to_le_bytes()) else { return Ok(bytes) };
        let pieces = (0..comm.size())
            .map(|rank| {
                let source = format!("{name}/{}", file(rank));
                (source, piece(decomposition, rank, grid.points))
            })
            .collect::<Vec<_>>();
        let name = format!("{name}.pvti");
        let path = self.directory().join(&name);
        write_whole(&path, |writer| pvti(writer, grid, &arrays, &pieces))?;
        self.list(name, time, "fields.pvti.series")?;
        let sizes = told.iter().filter_map(|bytes| bytes.first_chunk());
        Ok(sizes.map(|bytes| u64::from_le_bytes(*bytes)).sum())
    }
}

/// Length of a file.
fn size(path: &Path) -> Result<u64> {
    fs::metadata(path).map(|file| file.len()).map_err(Error::io(path))
}

/// The block of `rank` with the layer more that its piece has on every side where another block follows.
pub fn piece(decomposition: &Decomposition, rank: usize, points: [usize; 3]) -> Block {
    let Block { start, points } = decomposition.block(rank, points);
    let position = decomposition.position(rank);
    let more = |a: usize| usize::from(position[a] + 1 < decomposition.ranks[a]);
    Block { start, points: std::array::from_fn(|a| points[a] + more(a)) }
}

/// The values of this rank's [`piece`] of a grid of `points`, `components` at each, from those of its block. Collective.
pub fn joined<T: Real>(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    points: [usize; 3],
    components: usize,
    values: &[T],
) -> Vec<T> {
    let rank = comm.rank();
    let position = decomposition.position(rank);
    let own = decomposition.block(rank, points).points;
    let whole = piece(decomposition, rank, points).points;
    let len = |size: [usize; 3]| size.iter().product::<usize>() * components;
    let mut all = vec![T::ZERO; len(whole)];
    let within = Place { points: whole, at: [0; 3], components };
    copy_box(own, values, &Place { points: own, ..within }, &mut all, &within);
    // What is known so far: the layers along one axis take those along the axes before with them.
    let mut known = own;
    for (a, tag) in (0..3).zip(0_i32..) {
        let other = |at: usize| {
            let mut position = position;
            position[a] = at;
            decomposition.rank(position)
        };
        let lower = position[a].checked_sub(1).map(other);
        let upper = (position[a] + 1 < decomposition.ranks[a]).then(|| other(position[a] + 1));
        let mut layer = known;
        layer[a] = 1;
        let packed = Place { points: layer, ..within };
        let mut first = vec![T::ZERO; if lower.is_some() { len(layer) } else { 0 }];
        if lower.is_some() {
            copy_box(layer, &all, &within, &mut first, &packed);
        }
        let mut next = vec![T::ZERO; if upper.is_some() { len(layer) } else { 0 }];
        let mut requests = Vec::new();
        if let Some(upper) = upper {
            let (data, bytes) = (next.as_mut_ptr().cast(), size_of_val(&*next));
            // SAFETY: `next` is neither moved nor used before the request is waited for below.
            requests.push(unsafe { comm.receive(data, bytes, upper, tag) });
        }
        if let Some(lower) = lower {
            let (data, bytes) = (first.as_ptr().cast(), size_of_val(&*first));
            // SAFETY: `first` is neither moved nor changed before the request is waited for below.
            requests.push(unsafe { comm.send(data, bytes, lower, tag) });
        }
        comm.wait(requests);
        if upper.is_some() {
            let mut at = [0; 3];
            at[a] = own[a];
            copy_box(layer, &next, &packed, &mut all, &Place { at, ..within });
        }
        known[a] = whole[a];
    }
    all
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
    let flat = |mut size: [usize; 3]| {
        size[a] = 1;
        size
    };
    let block = decomposition.block(comm.rank(), points);
    let mut mine = Vec::new();
    if (block.start[a]..block.start[a] + block.points[a]).contains(&at) {
        let size = flat(block.points);
        mine = vec![0.0; size.iter().product()];
        let mut from = [0; 3];
        from[a] = at - block.start[a];
        let from = Place { points: block.points, at: from, components: 1 };
        copy_box(size, values, &from, &mut mine, &Place { points: size, at: [0; 3], ..from });
    }
    let bytes: Vec<u8> = mine.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let whole_plane = flat(points);
    let mut whole = vec![f64::NAN; whole_plane.iter().product()];
    for (rank, bytes) in comm.gather(&bytes)?.iter().enumerate().filter(|(_, b)| !b.is_empty()) {
        let block = decomposition.block(rank, points);
        let size = flat(block.points);
        let mut to = block.start;
        to[a] = 0;
        let part: Vec<f64> =
            bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
        let from = Place { points: size, at: [0; 3], components: 1 };
        copy_box(size, &part, &from, &mut whole, &Place { points: whole_plane, at: to, ..from });
    }
    Some(whole)
}

/// A box of points in an array.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Points of the whole array along x, y, z.
    pub(super) points: [usize; 3],
    /// First point of the box.
    pub(super) at: [usize; 3],
    /// Values a point.
    pub(super) components: usize,
}

/// Copy a box of `size` points.
pub(super) fn copy_box<T: Copy>(
    size: [usize; 3],
    from: &[T],
    out_of: &Place,
    to: &mut [T],
    into: &Place,
) {
    let length = size[0] * into.components;
    for k in 0..size[2] {
        for j in 0..size[1] {
            let first = |place: &Place| {
                let [nx, ny, _] = place.points;
                let [i0, j0, k0] = place.at;
                (i0 + nx * (j0 + j + ny * (k0 + k))) * place.components
            };
            let (source, target) = (first(out_of), first(into));
            to[target..target + length].copy_from_slice(&from[source..source + length]);
        }
    }
}
