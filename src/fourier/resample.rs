//! A periodic field on another grid.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::lines::{Room, map_lines};
use super::pencils::{Pencils, carry};
use super::transform::process;
use crate::comm::Communicator;
use crate::grid::{Axis, Boxes, Decomposition};

/// The trigonometric interpolant of a periodic field at the points of another grid of the same box whose first point is the
/// same. `values` are those at the points of this rank's block of the grid of `from_points`; the result those at the points
/// of its block, by the same `decomposition`, of the grid of `to_points`.
///
/// Waves that both grids hold stay what they are, the mean among them, and waves that the new one does not hold are left
/// out. The shortest wave of an even number n of points, cos(πi) at point i, is half of each of ±n/2 on a finer grid; both
/// of these are added where a coarser grid has it as its shortest. An axis with equal numbers of points is not touched, and
/// neither is any bit of its values. Collective.
pub fn resample(
    comm: &dyn Communicator,
    decomposition: Decomposition,
    from_points: [usize; 3],
    to_points: [usize; 3],
    values: Vec<f64>,
) -> Vec<f64> {
    let (ranks, rank) = (comm.size(), comm.rank());
    let (mut points, mut values) = (from_points, values);
    let mut have = Boxes::blocks(decomposition, from_points);
    for axis in Axis::ALL {
        let (n, to) = (points[axis.index()], to_points[axis.index()]);
        if n == to {
            continue;
        }
        let pencils = Pencils::new(axis, points, ranks);
        values = carry(comm, &have, &pencils.boxes(), values);
        values = lines_of(axis, pencils.block(rank).points, &values, to);
        points[axis.index()] = to;
        have = pencils.stretched(axis, to).boxes();
    }
    carry(comm, &have, &Boxes::blocks(decomposition, to_points), values)
}

/// The lines along `axis` of a box with `to` points instead of those they have.
fn lines_of(axis: Axis, points: [usize; 3], values: &[f64], to: usize) -> Vec<f64> {
    let n = points[axis.index()];
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(n.max(1));
    let inverse = planner.plan_fft_inverse(to);
    let per_point = 1.0 / n as f64;
    map_lines(points, axis, values, to, |line: &[f64], out, room: &mut Room| {
        let [modes, scratch] = room;
        modes.clear();
        modes.extend(line.iter().map(|value| Complex::from(value * per_point)));
        process(&*forward, modes, scratch);
        change_length(modes, to);
        process(&*inverse, modes, scratch);
        for (value, from) in out.iter_mut().zip(modes) {
            *value = from.re;
        }
    })
}

/// The modes of a line of n points on one of `to` points.
fn change_length(modes: &mut Vec<Complex<f64>>, to: usize) {
    let n = modes.len();
    let fewer = n.min(to);
    let shortest = fewer.is_multiple_of(2).then_some(fewer / 2);
    // Of the shortest wave that both grids hold, +k and −k, which are one where the line has no more points than that.
    let both = shortest.map(|k| [modes[k], modes[n - k]]);
    // Waves −1, −2 ... lie at the end.
    let negative = (fewer - 1) / 2;
    if to > n {
        modes.resize(to, Complex::ZERO);
        modes.copy_within(n - negative..n, to - negative);
        let gap = fewer - negative..to - negative;
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
