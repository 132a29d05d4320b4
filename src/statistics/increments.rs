//! Structure functions of the velocity.
//!
//! With δuᵢ = uᵢ(x + r eₐ) − uᵢ(x) along a periodic axis a: the longitudinal functions ⟨(δuₐ)ⁿ⟩ and the transverse ones, the mean
//! of ⟨(δuᵢ)ⁿ⟩ over the other components i (Monin and Yaglom 1975), n = 2, 3, 4 and 6. Odd powers keep their sign: the
//! longitudinal function of order 3 is that of Kolmogorov's 4/5 law. Components along an axis with one point do not count as
//! transverse, unless there are no others.

use crate::comm::Communicator;
use crate::fourier::{Pencils, map_to_rows, transfer};
use crate::grid::{Axis, Boxes, Decomposition, Grid};
use crate::statistics::sums::sums;

/// The orders n.
pub const ORDERS: [i32; 4] = [2, 3, 4, 6];

/// Maximum number of separations along an axis.
const MAX_SEPARATIONS: usize = 32;

/// Structure functions at one separation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increments {
    /// Axis of the separation; `None` is the mean over all axes.
    pub axis: Option<Axis>,
    /// Separation r, in units of the box.
    pub separation: f64,
    /// Longitudinal functions of the orders in [`ORDERS`].
    pub longitudinal: [f64; 4],
    /// Transverse functions of the orders in [`ORDERS`].
    pub transverse: [f64; 4],
}

/// Structure functions of a velocity field along every axis with more than one point, then, where these have equal numbers of points
/// and equal spacings, their mean over the axes. Needs memory for three more components. Collective.
pub fn structure_functions(
    comm: &dyn Communicator,
    decomposition: &Decomposition,
    grid: &Grid,
    velocity: &[Vec<f64>; 3],
) -> Vec<Increments> {
    let mut all = Vec::new();
    for axis in grid.active_axes() {
        let pencils = Pencils::new(axis, grid.points, comm.size());
        let (blocks, pencil_boxes) = (Boxes::blocks(*decomposition, grid.points), pencils.boxes());
        let (n, points) = (grid.points[axis.index()], pencils.block(comm.rank()).points);
        let separations = separations(n);
        // By component, separation and order.
        let mut found: Vec<f64> = Vec::new();
        for component in velocity {
            let values = transfer(comm, &blocks, &pencil_boxes, component.clone());
            let width = separations.len() * ORDERS.len();
            let rows = map_to_rows(points, axis, &values, width, |line: &[f64], out, _| {
                for (out, &s) in out.as_chunks_mut().0.iter_mut().zip(&separations) {
                    *out = powers(line, s);
                }
            });
            let lines = rows.len() / width;
            found.extend(sums(lines, width, |line, sums| {
                let row = &rows[line * width..(line + 1) * width];
                sums.iter_mut().zip(row).for_each(|(sum, power)| *sum += power);
            }));
        }
        comm.sum(&mut found);
        let of = |component: usize, at: usize| {
            let first = (component * separations.len() + at) * ORDERS.len();
            std::array::from_fn::<f64, 4, _>(|q| found[first + q] * grid.per_point())
        };
        let transverse_components = transverse_components(grid, axis);
        for (at, &separation) in separations.iter().enumerate() {
            let mut transverse = [0.0; 4];
            for &component in &transverse_components {
                for (mean, power) in transverse.iter_mut().zip(of(component, at)) {
                    *mean += power / transverse_components.len() as f64;
                }
            }
            all.push(Increments {
                axis: Some(axis),
                separation: separation as f64 * grid.spacing[axis.index()],
                longitudinal: of(axis.index(), at),
                transverse,
            });
        }
    }
    let mean_over_axes = mean_over_axes(grid, &all);
    all.extend(mean_over_axes);
    all
}

/// Separations in points: from 1 to half a period, in a geometric sequence where steps exceed a point.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to n/2")]
fn separations(n: usize) -> Vec<usize> {
    let growth = |step: usize| ((n / 2) as f64).powf(step as f64 / (MAX_SEPARATIONS - 1) as f64);
    let mut separations: Vec<usize> =
        (0..MAX_SEPARATIONS).map(|step| growth(step).round() as usize).collect();
    separations.dedup();
    separations
}

/// Σ δⁿ over the points of a periodic line, for every order.
fn powers(line: &[f64], separation: usize) -> [f64; 4] {
    let mut sums = [0.0; 4];
    let (first, rest) = line.split_at(separation);
    let mut add = |from: &[f64], to: &[f64]| {
        for (from, to) in from.iter().zip(to) {
            let difference = to - from;
            let square = difference * difference;
            sums[0] += square;
            sums[1] += square * difference;
            sums[2] += square * square;
            sums[3] += square * square * square;
        }
    };
    add(line, rest);
    add(&line[line.len() - separation..], first);
    sums
}

/// Components that are transverse to `axis`.
pub(super) fn transverse_components(grid: &Grid, axis: Axis) -> Vec<usize> {
    let all = || Axis::ALL.into_iter().filter(|&other| other != axis);
    let mut components: Vec<usize> =
        all().filter(|&a| grid.is_active(a)).map(Axis::index).collect();
    if components.is_empty() {
        components = all().map(Axis::index).collect();
    }
    components
}

/// Number of rows of [`structure_functions`].
pub fn rows(grid: &Grid) -> usize {
    let axes: Vec<usize> = grid.active_axes().map(Axis::index).collect();
    let along = |a: &usize| separations(grid.points[*a]).len();
    let mean_over_axes = axes.first().filter(|_| are_equivalent(grid, &axes)).map_or(0, along);
    axes.iter().map(along).sum::<usize>() + mean_over_axes
}

/// Whether these are several axes with equal numbers of points and equal spacings.
fn are_equivalent(grid: &Grid, axes: &[usize]) -> bool {
    let Some((&first, rest)) = axes.split_first() else { return false };
    let is_equivalent = |&a: &usize| {
        let difference = (grid.spacing[a] - grid.spacing[first]).abs();
        grid.points[a] == grid.points[first] && difference <= 1e-12 * grid.spacing[first]
    };
    !rest.is_empty() && rest.iter().all(is_equivalent)
}

/// The mean over the axes, where they are alike.
fn mean_over_axes(grid: &Grid, all: &[Increments]) -> Vec<Increments> {
    let axes: Vec<usize> = grid.active_axes().map(Axis::index).collect();
    if !are_equivalent(grid, &axes) {
        return Vec::new();
    }
    let per_axis = all.len() / axes.len();
    let mean = |at: usize, of: fn(&Increments) -> [f64; 4]| {
        let sum =
            |q: usize| all.iter().skip(at).step_by(per_axis).map(|one| of(one)[q]).sum::<f64>();
        std::array::from_fn(|q| sum(q) / axes.len() as f64)
    };
    let at_separation = |at: usize| Increments {
        axis: None,
        separation: all[at].separation,
        longitudinal: mean(at, |one| one.longitudinal),
        transverse: mean(at, |one| one.transverse),
    };
    (0..per_axis).map(at_separation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separations_are_few_begin_with_1_2_3_and_end_at_half_a_period() {
        for n in [2, 3, 6, 7, 16, 64, 65, 101, 1024, 65536] {
            let found = separations(n);
            assert!(found.len() <= MAX_SEPARATIONS && found.is_sorted(), "{n}: {found:?}");
            let begin: Vec<usize> = (1..=3.min(n / 2)).collect();
            assert!(found.starts_with(&begin) && found.ends_with(&[n / 2]), "{n}: {found:?}");
        }
    }
}
