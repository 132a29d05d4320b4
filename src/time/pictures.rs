//! Values on planes, resampled to pictures with equal pixels.

use crate::grid::{Grid, Plane};
use crate::io::scale::extremes;
use crate::simd::mapped;

/// The content of a picture.
pub(super) struct Pixels {
    /// Number to the right and up.
    pub(super) points: [usize; 2],
    /// Coordinates of the edges: left and right, bottom and top.
    pub(super) edges: [[f64; 2]; 2],
    /// NaN outside the gas.
    pub(super) values: Vec<f64>,
}

/// Pixels along the longer side of a picture of a curvilinear grid.
const LONG_SIDE_PIXELS: f64 = 720.0;
/// Visible region around a body, in body sizes: to the left, to the right, and above and below.
const VIEW: [f64; 3] = [2.0, 8.0, 3.0];

/// Maximum number of points along a side of a picture: rank 0 holds all of them.
const MAX_SIDE_POINTS: usize = 2048;

/// Number of grid points between picture points.
pub(super) fn stride(grid: &Grid) -> usize {
    let longest = grid.points.into_iter().max().unwrap_or(1);
    // On curvilinear grids the pixels are not the points.
    if grid.plane.is_some() { 1 } else { longest.div_ceil(MAX_SIDE_POINTS) }
}

/// The picture of values at every `stride`-th point of a plane along two axes; `None` where the plane is a curved surface.
pub(super) fn pixels(
    grid: &Grid,
    stride: usize,
    axes: [usize; 2],
    values: Vec<f64>,
) -> Option<Pixels> {
    match &grid.plane {
        None => Some(Pixels {
            points: axes.map(|a| grid.points[a].div_ceil(stride)),
            edges: axes.map(|a| edges(grid, stride, a)),
            values: at_equal_spacings(grid, stride, axes, values),
        }),
        Some(plane) => (axes == [0, 1]).then(|| on_curves(grid, plane, &values)),
    }
}

/// Draws each cell of a curvilinear grid as two triangles with linear values.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the picture"
)]
fn on_curves(grid: &Grid, plane: &Plane, values: &[f64]) -> Pixels {
    let [nx, ny, _] = grid.points;
    let edges = view(grid, plane);
    let [width, height] = edges.map(|[low, high]| high - low);
    let pixel = width.max(height) / LONG_SIDE_PIXELS;
    let points = [width, height].map(|side| (side / pixel).ceil().max(1.0) as usize);
    let mut picture = vec![f64::NAN; points[0] * points[1]];
    let range = |low: f64, high: f64, a: usize| {
        let at = |x: f64| ((x - edges[a][0]) / pixel).clamp(0.0, points[a] as f64);
        at(low).floor() as usize..at(high).ceil() as usize
    };
    let [cells_x, cells_y] = [0, 1].map(|a| grid.intervals(a));
    for j in 0..cells_y {
        for i in 0..cells_x {
            let corner = |di: usize, dj: usize| {
                let value = values[(i + di) % nx + nx * ((j + dj) % ny)];
                (plane.place(grid.points, [i + di, j + dj]), value)
            };
            let corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            for triangle in [[0, 1, 2], [0, 2, 3]] {
                let [(a, f), (b, g), (c, h)] = mapped(triangle, |k: usize| corners[k]);
                let bounds =
                    |k: usize| range(a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k]), k);
                let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
                for py in bounds(1) {
                    for px in bounds(0) {
                        let x = edges[0][0] + (px as f64 + 0.5) * pixel - a[0];
                        let y = edges[1][0] + (py as f64 + 0.5) * pixel - a[1];
                        let s = (x * (c[1] - a[1]) - (c[0] - a[0]) * y) / area;
                        let t = ((b[0] - a[0]) * y - x * (b[1] - a[1])) / area;
                        if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
                            picture[px + points[0] * py] = f + s * (g - f) + t * (h - f);
                        }
                    }
                }
            }
        }
    }
    Pixels { points, edges, values: picture }
}

/// The edges of the picture: of all points, or of a region around the body that lines along the first axis surround.
fn view(grid: &Grid, plane: &Plane) -> [[f64; 2]; 2] {
    let all = plane.coordinates.each_ref().map(|x| extremes(x.iter().copied()));
    let surrounds_body = grid.is_closed_along(0) && plane.periods[0] == [0.0; 2];
    if !surrounds_body {
        return all;
    }
    let body = plane.coordinates.each_ref();
    let body = body.map(|x| extremes(x[..grid.points[0]].iter().copied()));
    let size = body.iter().map(|[low, high]| high - low).fold(0.0, f64::max);
    let [x, y] = body.map(|[low, high]| 0.5 * (low + high));
    let [left, right, across] = VIEW.map(|sizes| sizes * size);
    let within = |[low, high]: [f64; 2], [least, most]: [f64; 2]| [low.max(least), high.min(most)];
    [within([x - left, x + right], all[0]), within([y - across, y + across], all[1])]
}

/// Coordinate of point `i` of a picture along axis `a` if all spacings were equal.
fn uniform(grid: &Grid, stride: usize, a: usize, i: usize) -> f64 {
    grid.origin[a] + grid.spacing[a] * stride as f64 * i as f64
}

/// Half a spacing outside the first and the last point of a picture along axis `a`.
fn edges(grid: &Grid, stride: usize, a: usize) -> [f64; 2] {
    let half = 0.5 * (grid.spacing[a] * stride as f64);
    let last = grid.points[a].div_ceil(stride) - 1;
    [grid.origin[a] - half, uniform(grid, stride, a, last) + half]
}

/// The values of a picture along two axes at equal spacings: linear interpolation between the points of a stretched axis.
fn at_equal_spacings(
    grid: &Grid,
    stride: usize,
    [right, up]: [usize; 2],
    mut values: Vec<f64>,
) -> Vec<f64> {
    let [nx, ny] = [right, up].map(|a| grid.points[a].div_ceil(stride));
    for (a, n, spacing) in [(right, nx, 1), (up, ny, nx)] {
        if grid.lines[a].is_none() {
            continue;
        }
        let old = values.clone();
        let coordinate = |j: usize| grid.coordinate(a, (j * stride).min(grid.points[a]));
        for i in 0..n {
            let x = uniform(grid, stride, a, i);
            let low = (0..n).rfind(|&j| coordinate(j) <= x).unwrap_or(0);
            // On a periodic axis the first point follows the last.
            let high = if low + 1 < n || grid.is_closed_along(a) { low + 1 } else { low };
            let [from, to] = [low, high].map(coordinate);
            let part = if high > low { (x - from) / (to - from) } else { 0.0 };
            for line in 0..nx * ny / n {
                let first = if spacing == 1 { line * nx } else { line };
                let at = |j: usize| old[first + j % n * spacing];
                values[first + i * spacing] = (1.0 - part) * at(low) + part * at(high);
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Domain;

    #[test]
    fn pictures_have_at_most_2048_points_per_side() {
        for (longest, expected, side) in [(2048, 1, 2048), (2049, 2, 1025), (16384, 8, 2048)] {
            let grid = Grid::periodic([longest, 64, 7], &Domain::cube(1.0));
            let Pixels { points, edges, .. } =
                pixels(&grid, stride(&grid), [0, 2], Vec::new()).unwrap();
            assert_eq!((stride(&grid), points), (expected, [side, 7_usize.div_ceil(expected)]));
            let last = grid.coordinate(0, (side - 1) * expected);
            assert_eq!(edges[0][1], last + 0.5 * (grid.spacing[0] * expected as f64));
        }
    }
}
