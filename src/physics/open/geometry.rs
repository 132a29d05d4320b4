//! Geometry of an open face: its normal, the length of the box across it, and the coordinate gradients across and along it.

use crate::grid::{Axis, End, Grid};

/// Number of fields: the outward normal, followed by those of the following slots.
pub(super) const GEOMETRY: usize = SUPERSONIC + 1;
/// Slot of 1/spacing across the face.
pub(super) const PER_SPACING: usize = 3;
/// Slot of the terms along the face.
pub(super) const TERMS: usize = 4;
/// Number of these terms: (V·∇ξ) ∂p'/∂ξ, n·(V·∇ξ) ∂u'/∂ξ and ∇ξ ∂p'/∂ξ, see [`Along`](super::along::Along).
pub(super) const TERM_COUNT: usize = 5;
/// Slot of 1 where the initial flow enters at supersonic speed, otherwise 0.
pub(super) const SUPERSONIC: usize = TERMS + TERM_COUNT;

/// The outward normal at a point of end `at` of axis `a`, and 1/spacing along it; the other values are set later.
pub(in crate::physics) fn across(
    grid: &Grid,
    a: usize,
    at: usize,
    index: [usize; 3],
) -> [f64; GEOMETRY] {
    let outward = if at == 0 { -1.0 } else { 1.0 };
    let gradient = gradient(grid, Axis::ALL[a], index);
    let [x, y, z] = gradient;
    let slope = x.hypot(y).hypot(z);
    let [x, y, z] = gradient.map(|part| outward * part / slope);
    let mut across = [0.0; GEOMETRY];
    across[..TERMS].copy_from_slice(&[x, y, z, slope / grid.spacing[a]]);
    across
}

/// ∇ξ of the coordinate along `axis` at a point.
pub(super) fn gradient(grid: &Grid, axis: Axis, index: [usize; 3]) -> [f64; 3] {
    let a = axis.index();
    let mut gradient = [0.0; 3];
    match grid.plane.as_ref().filter(|_| a < 2) {
        None => gradient[a] = 1.0 / grid.jacobian(a, index[a]),
        Some(plane) => gradient[..2].copy_from_slice(&plane.gradient(grid.in_plane(index), a)),
    }
    gradient
}

/// −1 at the low end of lines along `axis`, 1 at the high end, otherwise 0. Symmetry planes do not count as ends.
pub(super) fn outward(grid: &Grid, axis: Axis, index: [usize; 3]) -> f64 {
    let a = axis.index();
    let is_end = |end: usize| grid.ends[a].is_some_and(|ends| ends[end] != End::Symmetry);
    match index[a] {
        0 if is_end(0) => -1.0,
        i if i + 1 == grid.points[a] && is_end(1) => 1.0,
        _ => 0.0,
    }
}

/// The distance between the two ends of axis `a`; on curved lines the largest distance between the ends of a line.
pub(super) fn length(grid: &Grid, a: usize, straight: f64) -> f64 {
    let Some(plane) = grid.plane.as_ref().filter(|_| a < 2) else { return straight };
    let distance = |other: usize| {
        let [mut first, mut last] = [[0; 3]; 2];
        (first[1 - a], last[1 - a], last[a]) = (other, other, grid.points[a] - 1);
        let [from, to] = [first, last].map(|index| grid.in_plane(index));
        let [x, y] = plane.coordinates.each_ref().map(|it| it[to] - it[from]);
        x.hypot(y)
    };
    (0..grid.points[1 - a]).map(distance).fold(0.0, f64::max)
}
