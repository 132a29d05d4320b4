//! Location of the lines of a tile in a field.

use std::ops::Range;

use crate::grid::Axis;
use crate::real::Real;

/// Partition of the lines along one axis of a grid into groups of neighbouring lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    /// Number of points of a line, and the stride from one to the next.
    n: usize,
    stride: usize,
    /// Number of neighbouring lines in a row, and the stride from one to the next.
    lines: usize,
    line_stride: usize,
    /// Stride from one row of lines to the next.
    outer_stride: usize,
    /// Lines per group.
    width: usize,
    /// Groups per row of lines. A row of lines along y fills a plane of constant z, and so does one along x with `in_planes`;
    /// without it, all lines along x are one row.
    pub(super) groups_per_row: usize,
    rows: usize,
}

/// Neighbouring lines that a thread processes together: line `l` starts at `start + l * line_stride`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) start: usize,
    /// Index of the first line, counted over the whole grid with x before y before z.
    line: usize,
    pub(super) lines: usize,
    pub(super) n: usize,
    pub(super) stride: usize,
    pub(super) line_stride: usize,
}

impl Tiling {
    /// Groups of up to `width` lines along `axis` of a grid; `in_planes`: no group extends beyond the end of a plane of
    /// constant z.
    pub(super) fn new(points: [usize; 3], axis: Axis, width: usize, in_planes: bool) -> Self {
        let [nx, ny, nz] = points;
        let (n, stride, lines, line_stride, rows, outer_stride) = match axis {
            Axis::X if in_planes => (nx, 1, ny, nx, nz, nx * ny),
            Axis::X => (nx, 1, ny * nz, nx, 1, 0),
            Axis::Y => (ny, nx, nx, 1, nz, nx * ny),
            Axis::Z => (nz, nx * ny, nx, 1, ny, nx),
        };
        let groups_per_row = lines.div_ceil(width);
        Self { n, stride, lines, line_stride, outer_stride, width, groups_per_row, rows }
    }

    pub(super) fn len(&self) -> usize {
        self.groups_per_row * self.rows
    }

    pub(super) fn group(&self, index: usize) -> Group {
        let first = index % self.groups_per_row * self.width;
        let row = index / self.groups_per_row;
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
    /// `lines` of these lines, starting at number `first`.
    pub(super) fn part(&self, first: usize, lines: usize) -> Self {
        let start = self.start + first * self.line_stride;
        Self { start, line: self.line + first, lines, ..*self }
    }

    /// The indices of the lines.
    pub(super) fn lines(&self) -> Range<usize> {
        self.line..self.line + self.lines
    }

    /// Location of the lines in a field stored as one plane of `len` points, which represents every plane.
    pub(super) fn in_plane(&self, len: usize) -> Self {
        let stride = if self.stride == len { 0 } else { self.stride };
        Self { start: self.start % len, stride, ..*self }
    }

    /// The same lines, restricted to `points` points that start at point `first`.
    pub(super) fn window(&self, first: usize, points: usize) -> Self {
        Self { start: self.start + first * self.stride, n: points, ..*self }
    }
}

/// A field that several threads read and write at the same time, each in its own tiles.
#[derive(Clone, Copy)]
pub(super) struct SharedField<T> {
    /// Pointer to the first point.
    pub(super) start: *mut T,
    len: usize,
}

// SAFETY: the tiles of a tiling are disjoint sets of points, and every thread accesses the points of its own tiles
// only.
unsafe impl<T: Send> Send for SharedField<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SharedField<T> {}

impl<T: Real> SharedField<T> {
    pub(super) fn new(field: &mut [T]) -> Self {
        Self { start: field.as_mut_ptr(), len: field.len() }
    }

    /// The points `start..start + len`, for reading.
    ///
    /// # Safety
    /// None of them may be written while the reference lives.
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
