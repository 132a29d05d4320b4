//! Permutations of the axes of a field: the cost of turning every line into a line along x.

use std::cell::RefCell;

use rayon::prelude::*;

use super::arguments::PermuteOptions;
use super::check::difference;
use super::maps::{Subject, for_each_size, measure};
use super::output::{Report, Row};
use super::place::{Setup, Work};
use super::pool::{MIN_FIELDS, Pool};
use crate::error::Result;
use crate::real::{Real, Values};

/// The axes of the source that become x, y, z.
const ORDERS: [(&str, [usize; 3]); 6] = [
    ("xyz", [0, 1, 2]),
    ("xzy", [0, 2, 1]),
    ("yxz", [1, 0, 2]),
    ("yzx", [1, 2, 0]),
    ("zxy", [2, 0, 1]),
    ("zyx", [2, 1, 0]),
];

pub(super) fn run(options: &PermuteOptions, setup: &Setup, report: &mut Report) -> Result<()> {
    let common = &options.common;
    for_each_size("permute", common.sizes(256), setup, report, |points, report| {
        let len = points.iter().product();
        let place = setup.place(len, None)?;
        let pool = RefCell::new(Pool::new(&*place, len, MIN_FIELDS)?);
        let is_requested = |(name, _): &(&str, [usize; 3])| match options.order.as_str() {
            "all" => *name != "xyz",
            one => *name == one,
        };
        let subject = |(name, order)| {
            let row = Row {
                name: "permute",
                order: Some(name),
                method: "auto",
                ..common.row(&*place, points)
            };
            let work = place.prepare_work(Work::Permutation(order), points)?;
            let error =
                move |input: &Values<'_>, output: &Values<'_>| error(points, order, input, output);
            Ok(Subject { row, work, error: Box::new(error) })
        };
        let subjects =
            ORDERS.into_iter().filter(is_requested).map(subject).collect::<Result<_>>()?;
        measure(common, (&*place, points), &pool, subjects, 0.0, report)
    })
}

/// The strides in the source of points that are adjacent along axis a of the result, and the points of the result.
fn geometry(points: [usize; 3], order: [usize; 3]) -> ([usize; 3], [usize; 3]) {
    let strides = [1, points[0], points[0] * points[1]];
    (order.map(|axis| strides[axis]), order.map(|axis| points[axis]))
}

/// The largest difference between `output` and `input` in permuted order.
fn error(points: [usize; 3], order: [usize; 3], input: &Values<'_>, output: &Values<'_>) -> f64 {
    let (strides, [nx, ny, _]) = geometry(points, order);
    let deviation = |(at, output): (usize, f64)| {
        let index = [at % nx, at / nx % ny, at / (nx * ny)];
        let source: usize = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        difference(output, input.at(source))
    };
    output.iter().enumerate().map(deviation).fold(0.0, f64::max)
}

/// Points along the side of a block; its lines of the source and of the result stay in the first-level cache.
const SIDE: usize = 16;

/// A permutation on the host, block by block.
pub(super) struct HostPermutation {
    strides: [usize; 3],
    points: [usize; 3],
}

impl HostPermutation {
    pub(super) fn new(points: [usize; 3], order: [usize; 3]) -> Self {
        let (strides, points) = geometry(points, order);
        Self { strides, points }
    }

    pub(super) fn apply<T: Real>(&self, from: &[T], to: &mut [T]) {
        let ([sx, sy, sz], [nx, ny, _]) = (self.strides, self.points);
        let layer = nx * ny;
        // A block must contain the axis along which the source is contiguous.
        let (wide, deep) = (if sx == 1 { nx } else { SIDE }, if sz == 1 { SIDE } else { 1 });
        let slab = |(number, to): (usize, &mut [T])| {
            let from = &from[number * deep * sz..];
            for (y, x) in
                blocks(ny, SIDE).flat_map(|y| blocks(nx, wide).map(move |x| (y.clone(), x)))
            {
                for k in 0..to.len() / layer {
                    for j in y.clone() {
                        let to = &mut to[layer * k + nx * j..][x.clone()];
                        let first = sz * k + sy * j + sx * x.start;
                        for (i, to) in to.iter_mut().enumerate() {
                            *to = from[first + sx * i];
                        }
                    }
                }
            }
        };
        to.par_chunks_mut(deep * layer).enumerate().for_each(slab);
    }
}

/// 0..n in parts of length `side`.
fn blocks(n: usize, side: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..n).step_by(side).map(move |start| start..n.min(start + side))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_permutations_equal_the_plain_loop() {
        for points in [[5, 7, 3], [33, 17, 40], [1, 31, 16], [64, 1, 1]] {
            let len: usize = points.iter().product();
            let input: Vec<f64> = (0..len).map(|at| at as f64).collect();
            for (name, order) in ORDERS {
                let mut output = vec![f64::NAN; len];
                HostPermutation::new(points, order).apply(&input, &mut output);
                let moved = output != input;
                let [input, output] = [input.clone().into(), output.into()];
                assert_eq!(error(points, order, &input, &output), 0.0, "{name} {points:?}");
                assert_eq!(moved, moves(points, order), "{name} {points:?}");
            }
        }
    }

    /// Whether the permutation moves any axis with more than one point.
    fn moves(points: [usize; 3], order: [usize; 3]) -> bool {
        let long =
            |axes: [usize; 3]| axes.into_iter().filter(|&a| points[a] > 1).collect::<Vec<_>>();
        long(order) != long([0, 1, 2])
    }
}
