//! Where the lines of a tile lie in a field, and moving them in and out of registers.

use pulp::{Simd, WithSimd};

use super::kernels::HALO;
use super::{LANES, Row};
use crate::grid::Axis;
use crate::real::Real;

/// How the lines along one axis of a grid are cut into tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    /// Points of a line, and the distance in memory from one to the next.
    n: usize,
    stride: usize,
    /// Neighbouring lines: how many in a row, and the distance from one to the next.
    lanes: usize,
    lane_stride: usize,
    /// Distance from one row of lines to the next.
    outer_stride: usize,
    tiles_a_row: usize,
    rows: usize,
}

/// One tile: `lanes` lines that start at `start + l * lane_stride`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    start: usize,
    lanes: usize,
    n: usize,
    stride: usize,
    lane_stride: usize,
}

impl Tiling {
    pub(super) fn new(points: [usize; 3], axis: Axis) -> Self {
        let [nx, ny, nz] = points;
        let (n, stride, lanes, lane_stride, rows, outer_stride) = match axis {
            Axis::X => (nx, 1, ny * nz, nx, 1, 0),
            Axis::Y => (ny, nx, nx, 1, nz, nx * ny),
            Axis::Z => (nz, nx * ny, nx, 1, ny, nx),
        };
        let tiles_a_row = lanes.div_ceil(LANES);
        Self { n, stride, lanes, lane_stride, outer_stride, tiles_a_row, rows }
    }

    /// Number of tiles.
    pub(super) fn len(&self) -> usize {
        self.tiles_a_row * self.rows
    }

    pub(super) fn tile(&self, index: usize) -> Tile {
        let first = index % self.tiles_a_row * LANES;
        Tile {
            start: index / self.tiles_a_row * self.outer_stride + first * self.lane_stride,
            lanes: LANES.min(self.lanes - first),
            n: self.n,
            stride: self.stride,
            lane_stride: self.lane_stride,
        }
    }
}

/// A field that several threads read and write at once, each its own tiles.
#[derive(Clone, Copy)]
pub(super) struct SharedField<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: the tiles of a tiling are disjoint sets of points, and every thread touches the points of its own tiles only.
unsafe impl<T: Send> Send for SharedField<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SharedField<T> {}

impl<T: Real> SharedField<T> {
    pub(super) fn new(field: &mut [T]) -> Self {
        Self { start: field.as_mut_ptr(), len: field.len() }
    }

    /// The points `start..start + len`.
    ///
    /// # Safety
    /// There must be no other reference to any of them while this one lives.
    #[inline(always)]
    pub(super) unsafe fn slice_mut<'a>(self, start: usize, len: usize) -> &'a mut [T] {
        assert!(start + len <= self.len, "a tile lies outside its field");
        // SAFETY: in bounds as just checked, exclusive as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), len) }
    }
}

/// Where a tile is loaded from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a, T> {
    /// A field that nobody writes now.
    Read(&'a [T]),
    /// A field of which each thread writes its own tiles.
    Written(SharedField<T>),
}

impl<'a, T: Real> Source<'a, T> {
    /// # Safety
    /// For a written field as for [`SharedField::slice_mut`].
    #[inline(always)]
    unsafe fn slice(self, start: usize, len: usize) -> &'a [T] {
        match self {
            Self::Read(field) => &field[start..start + len],
            // SAFETY: passed on.
            Self::Written(field) => unsafe { field.slice_mut(start, len) },
        }
    }
}

/// Copy the lines of a tile into a register. Lanes without a line repeat the first line.
pub(super) struct Load<'a, T> {
    pub(super) tile: Tile,
    pub(super) field: Source<'a, T>,
    pub(super) to: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Load<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { tile, field, to } = self;
        let to = &mut to[HALO..HALO + tile.n];
        if tile.lane_stride == 1 {
            for (m, row) in to.iter_mut().enumerate() {
                // SAFETY: points of this tile only, which no other thread touches; ends before any store.
                let from = unsafe { field.slice(tile.start + m * tile.stride, tile.lanes) };
                match <&Row<T>>::try_from(from) {
                    Ok(full) => *row = *full,
                    Err(_) => {
                        *row = [from[0]; LANES];
                        row[..tile.lanes].copy_from_slice(from);
                    }
                }
            }
        } else {
            let mut lines: [&[T]; LANES] = [&[]; LANES];
            for (l, line) in lines.iter_mut().enumerate() {
                let lane = if l < tile.lanes { l } else { 0 };
                // SAFETY: points of this tile only, which no other thread touches; ends before any store.
                *line = unsafe { field.slice(tile.start + lane * tile.lane_stride, tile.n) };
            }
            for (m, row) in to.iter_mut().enumerate() {
                for l in 0..LANES {
                    row[l] = lines[l][m];
                }
            }
        }
    }
}

/// Copy a register into the lines of a tile.
pub(super) struct Store<'a, T> {
    pub(super) tile: Tile,
    pub(super) field: SharedField<T>,
    pub(super) from: &'a [Row<T>],
}

impl<T: Real> WithSimd for Store<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { tile, field, from } = self;
        let from = &from[HALO..HALO + tile.n];
        if tile.lane_stride == 1 {
            for (m, row) in from.iter().enumerate() {
                // SAFETY: points of this tile only, one reference at a time.
                let to = unsafe { field.slice_mut(tile.start + m * tile.stride, tile.lanes) };
                to.copy_from_slice(&row[..tile.lanes]);
            }
        } else {
            for l in 0..tile.lanes {
                // SAFETY: points of this tile only, one reference at a time.
                let to = unsafe { field.slice_mut(tile.start + l * tile.lane_stride, tile.n) };
                for (to, row) in to.iter_mut().zip(from) {
                    *to = row[l];
                }
            }
        }
    }
}
