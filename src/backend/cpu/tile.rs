//! Where the lines of a tile lie in a field, and moving them in and out of registers.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::kernels::HALO;
use super::transpose::{SIDE, transposed};
use super::{LANES, Row};
use crate::grid::Axis;
use crate::real::Real;

/// How the lines along one axis of a grid are cut into groups of neighbouring lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    /// Points of a line, and the distance in memory from one to the next.
    n: usize,
    stride: usize,
    /// Neighbouring lines: how many in a row, and the distance from one to the next.
    lines: usize,
    line_stride: usize,
    /// Distance from one row of lines to the next.
    outer_stride: usize,
    /// Lines of a group.
    width: usize,
    groups_a_row: usize,
    rows: usize,
}

/// Neighbouring lines that a thread works on together, in tiles of [`LANES`]: the line `l` starts at
/// `start + l * line_stride`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) start: usize,
    /// Number of the first line, counted over the whole grid with x before y before z.
    line: usize,
    pub(super) lines: usize,
    pub(super) n: usize,
    pub(super) stride: usize,
    pub(super) line_stride: usize,
}

impl Tiling {
    /// Groups of up to `tiles` tiles along `axis` of a grid.
    pub(super) fn new(points: [usize; 3], axis: Axis, tiles: usize) -> Self {
        let [nx, ny, nz] = points;
        let (n, stride, lines, line_stride, rows, outer_stride) = match axis {
            Axis::X => (nx, 1, ny * nz, nx, 1, 0),
            Axis::Y => (ny, nx, nx, 1, nz, nx * ny),
            Axis::Z => (nz, nx * ny, nx, 1, ny, nx),
        };
        let width = tiles * LANES;
        let groups_a_row = lines.div_ceil(width);
        Self { n, stride, lines, line_stride, outer_stride, width, groups_a_row, rows }
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.groups_a_row * self.rows
    }

    pub(super) fn group(&self, index: usize) -> Group {
        let first = index % self.groups_a_row * self.width;
        let row = index / self.groups_a_row;
        Group {
            start: row * self.outer_stride + first * self.line_stride,
            line: row * self.lines + first,
            lines: self.width.min(self.lines - first),
            n: self.n,
            stride: self.stride,
            line_stride: self.line_stride,
        }
    }
}

impl Group {
    /// Tiles in this group.
    pub(super) fn tiles(&self) -> usize {
        self.lines.div_ceil(LANES)
    }

    /// Numbers of the lines of one tile.
    pub(super) fn tile_lines(&self, tile: usize) -> Range<usize> {
        let first = self.line + tile * LANES;
        first..(first + LANES).min(self.line + self.lines)
    }

    /// The same lines, but only `points` points of each from point `first` on.
    pub(super) fn window(&self, first: usize, points: usize) -> Self {
        Self { start: self.start + first * self.stride, n: points, ..*self }
    }

    /// Points of a line.
    pub(super) fn points(&self) -> usize {
        self.n
    }

    /// Rows of a register that hold one tile.
    pub(super) fn rows(&self) -> usize {
        self.n + 2 * HALO
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

    /// Its first point, and how many there are.
    pub(super) fn parts(self) -> (*mut T, usize) {
        (self.start, self.len)
    }

    /// The points `start..start + len`, to be read.
    ///
    /// # Safety
    /// Nobody may write any of them while the reference lives.
    #[inline(always)]
    pub(super) unsafe fn slice<'a>(self, start: usize, len: usize) -> &'a [T] {
        assert!(start + len <= self.len, "a tile lies outside its field");
        // SAFETY: in bounds as just checked, not written as the caller promises.
        unsafe { std::slice::from_raw_parts(self.start.add(start), len) }
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
    /// For a written field as for [`SharedField::slice`].
    #[inline(always)]
    unsafe fn slice(self, start: usize, len: usize) -> &'a [T] {
        match self {
            Self::Read(field) => &field[start..start + len],
            // SAFETY: passed on.
            Self::Written(field) => unsafe { field.slice(start, len) },
        }
    }
}

/// Copy the lines of a group into a register, one tile after another. Lanes without a line repeat the first one of their
/// tile.
pub(super) struct Load<'a, T> {
    pub(super) group: Group,
    pub(super) field: Source<'a, T>,
    pub(super) to: &'a mut [Row<T>],
}

impl<T: Real> WithSimd for Load<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { group, field, to } = self;
        let rows = group.rows();
        if group.line_stride == 1 {
            for m in 0..group.n {
                // SAFETY: points of this group only, which no other thread touches; ends before any store.
                let from = unsafe { field.slice(group.start + m * group.stride, group.lines) };
                let (full, part) = from.as_chunks::<LANES>();
                for (tile, row) in full.iter().enumerate() {
                    to[tile * rows + HALO + m] = *row;
                }
                if let Some(first) = part.first() {
                    let row = &mut to[full.len() * rows + HALO + m];
                    *row = [*first; LANES];
                    row[..part.len()].copy_from_slice(part);
                }
            }
            return;
        }
        for (tile, to) in to.chunks_mut(rows).take(group.tiles()).enumerate() {
            let mut lines: [&[T]; LANES] = [&[]; LANES];
            for (l, line) in lines.iter_mut().enumerate() {
                let wanted = tile * LANES + l;
                let known = if wanted < group.lines { wanted } else { tile * LANES };
                let start = group.start + known * group.line_stride;
                // SAFETY: points of this group only, which no other thread touches; ends before any store.
                *line = unsafe { field.slice(start, group.n) };
            }
            let to = &mut to[HALO..HALO + group.n];
            let blocks = group.n / SIDE * SIDE;
            let (whole, rest) = to.split_at_mut(blocks);
            for (block, rows) in whole.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                for half in [0, SIDE] {
                    let mut part = [[T::ZERO; SIDE]; SIDE];
                    for (part, line) in part.iter_mut().zip(&lines[half..]) {
                        *part = line.as_chunks::<SIDE>().0[block];
                    }
                    for (row, part) in rows.iter_mut().zip(transposed::<S, T>(&part)) {
                        row[half..half + SIDE].copy_from_slice(&part);
                    }
                }
            }
            for (m, row) in rest.iter_mut().enumerate() {
                for l in 0..LANES {
                    row[l] = lines[l][blocks + m];
                }
            }
        }
    }
}

/// Copy a register into the lines of a group.
pub(super) struct Store<'a, T> {
    pub(super) group: Group,
    pub(super) field: SharedField<T>,
    pub(super) from: &'a [Row<T>],
}

impl<T: Real> WithSimd for Store<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { group, field, from } = self;
        let rows = group.rows();
        if group.line_stride == 1 {
            for m in 0..group.n {
                let start = group.start + m * group.stride;
                // SAFETY: points of this group only, one reference at a time.
                let to = unsafe { field.slice_mut(start, group.lines) };
                let (full, part) = to.as_chunks_mut::<LANES>();
                let tiles = full.len();
                for (tile, row) in full.iter_mut().enumerate() {
                    *row = from[tile * rows + HALO + m];
                }
                if !part.is_empty() {
                    part.copy_from_slice(&from[tiles * rows + HALO + m][..part.len()]);
                }
            }
            return;
        }
        for (tile, from) in from.chunks(rows).take(group.tiles()).enumerate() {
            let (blocks, rest) = from[HALO..HALO + group.n].as_chunks::<SIDE>();
            let lines = LANES.min(group.lines - tile * LANES);
            let start = |l: usize| group.start + (tile * LANES + l) * group.line_stride;
            for (block, rows) in blocks.iter().enumerate() {
                for half in [0, SIDE] {
                    let mut part = [[T::ZERO; SIDE]; SIDE];
                    for (part, row) in part.iter_mut().zip(rows) {
                        part.copy_from_slice(&row[half..half + SIDE]);
                    }
                    let part = transposed::<S, T>(&part);
                    for (l, part) in (half..lines).zip(&part) {
                        // SAFETY: points of this group only, one reference at a time.
                        let to = unsafe { field.slice_mut(start(l) + block * SIDE, SIDE) };
                        to.copy_from_slice(part);
                    }
                }
            }
            for (m, row) in rest.iter().enumerate() {
                for (l, value) in row[..lines].iter().enumerate() {
                    // SAFETY: points of this group only, one reference at a time.
                    let to = unsafe { field.slice_mut(start(l) + blocks.len() * SIDE + m, 1) };
                    to[0] = *value;
                }
            }
        }
    }
}
