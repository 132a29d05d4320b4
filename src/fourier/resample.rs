//! Interpolation of a periodic field to another grid.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::lines::{Scratch, map_lines};
use super::pencils::{Pencils, transfer};
use super::transform::transform_line;
use crate::comm::Communicator;
use crate::grid::{Axis, Boxes, Decomposition};

/// The trigonometric interpolant of a periodic field at the points of another grid of the same box with the same first point. `values` are
/// given at the points of this rank's block of the grid of `from_points`; the result is at the points of its block, by the same
/// `decomposition`, of the grid of `to_points`.
///
/// Waves on both grids are kept unchanged, including the mean; waves that the new grid does not resolve are removed. The shortest wave of
/// an even number n of points, cos(πi) at point i, is split in halves of ±n/2 on a finer grid; both are summed if it is the shortest wave
/// of a coarser grid. Along an axis with equal numbers of points the values are bitwise unchanged. Collective.
pub fn resample(
    comm: &dyn Communicator,
    decomposition: Decomposition,
    from_points: [usize; 3],
    to_points: [usize; 3],
    values: Vec<f64>,
) -> Vec<f64> {
    let (ranks, rank) = (comm.size(), comm.rank());
    let (mut points, mut values) = (from_points, values);
    let mut boxes = Boxes::blocks(decomposition, from_points);
    for axis in Axis::ALL {
        let (n, to) = (points[axis.index()], to_points[axis.index()]);
        if n == to {
            continue;
        }
        let pencils = Pencils::new(axis, points, ranks);
        values = transfer(comm, &boxes, &pencils.boxes(), values);
        values = resample_lines(axis, pencils.block(rank).points, &values, to);
        points[axis.index()] = to;
        boxes = pencils.with_points(axis, to).boxes();
    }
    transfer(comm, &boxes, &Boxes::blocks(decomposition, to_points), values)
}

/// The lines along `axis` of a box, resampled to `to` points.
fn resample_lines(axis: Axis, points: [usize; 3], values: &[f64], to: usize) -> Vec<f64> {
    let n = points[axis.index()];
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(n.max(1));
    let inverse = planner.plan_fft_inverse(to);
    let per_point = 1.0 / n as f64;
    map_lines(points, axis, values, to, |line: &[f64], out, scratch: &mut Scratch| {
        let [modes, scratch] = scratch;
        modes.clear();
        modes.extend(line.iter().map(|value| Complex::from(value * per_point)));
        transform_line(&*forward, modes, scratch);
        change_length(modes, to);
        transform_line(&*inverse, modes, scratch);
        for (value, from) in out.iter_mut().zip(modes) {
            *value = from.re;
        }
    })
}

/// Converts the modes of a line of n points to those of a line of `to` points.
fn change_length(modes: &mut Vec<Complex<f64>>, to: usize) {
    let n = modes.len();
    let min_points = n.min(to);
    let shortest = min_points.is_multiple_of(2).then_some(min_points / 2);
    // +k and −k of the shortest wave on both grids; they are the same mode if the line has no more points than that.
    let both = shortest.map(|k| [modes[k], modes[n - k]]);
    // Waves −1, −2 ... are at the end.
    let negative = (min_points - 1) / 2;
    if to > n {
        modes.resize(to, Complex::ZERO);
        modes.copy_within(n - negative..n, to - negative);
        let gap = min_points - negative..to - negative;
        modes[gap].fill(Complex::ZERO);
    } else {
        modes.copy_within(n - negative..n, to - negative);
        modes.truncate(to);
    }
    if let (Some(k), Some([plus, minus])) = (shortest, both) {
        if to > n {
            modes[k] = plus * 0.5;
            modes[to - k] = plus * 0.5;
        } else {
            modes[k] = plus + minus;
        }
    }
}
