//! Where the lines of a tile lie in a field, and moving them in and out of registers.

use std::ops::Range;

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
    /// Groups of a row of lines, one behind the other; a row of lines along x or y in planes is a plane.
    pub(super) groups_a_row: usize,
    rows: usize,
}

/// Neighbouring lines that a thread works on together, as it is told: the line `l` starts at
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
    /// Groups of up to `width` lines along `axis` of a grid; `in_planes`: none goes over the end of a plane of constant z.
    pub(super) fn new(points: [usize; 3], axis: Axis, width: usize, in_planes: bool) -> Self {
        let [nx, ny, nz] = points;
        let (n, stride, lines, line_stride, rows, outer_stride) = match axis {
            Axis::X if in_planes => (nx, 1, ny, nx, nz, nx * ny),
            Axis::X => (nx, 1, ny * nz, nx, 1, 0),
            Axis::Y => (ny, nx, nx, 1, nz, nx * ny),
            Axis::Z => (nz, nx * ny, nx, 1, ny, nx),
        };
        let groups_a_row = lines.div_ceil(width);
        Self { n, stride, lines, line_stride, outer_stride, width, groups_a_row, rows }
    }

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
    /// `lines` of these lines from number `first` on.
    pub(super) fn part(&self, first: usize, lines: usize) -> Self {
        let start = self.start + first * self.line_stride;
        Self { start, line: self.line + first, lines, ..*self }
    }

    /// Their numbers.
    pub(super) fn lines(&self) -> Range<usize> {
        self.line..self.line + self.lines
    }

    /// Where they lie in the values of one plane of `len` points, which are those of every plane.
    pub(super) fn in_plane(&self, len: usize) -> Self {
        let stride = if self.stride == len { 0 } else { self.stride };
        Self { start: self.start % len, stride, ..*self }
    }

    /// The same lines, but only `points` points of each from point `first` on.
    pub(super) fn window(&self, first: usize, points: usize) -> Self {
        Self { start: self.start + first * self.stride, n: points, ..*self }
    }
}

/// A field that several threads read and write at once, each its own tiles.
#[derive(Clone, Copy)]
pub(super) struct SharedField<T> {
    /// Its first point.
    pub(super) start: *mut T,
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
