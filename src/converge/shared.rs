//! Errors without an exact solution: comparison with the finest grid at common points.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Grid;

use super::solve::norms_of_squares;

/// Distance in lengths of the box below which two points are identical.
const SAME_POINT: f64 = 1e-9;

/// Stride in the finest grid between points of a coarser one, along each axis.
fn strides(coarse: &Grid, finest: &Grid) -> [usize; 3] {
    std::array::from_fn(|a| match coarse.points[a] {
        1 => 1,
        _ => finest.intervals(a) / coarse.intervals(a),
    })
}

/// Require that every point of every grid is a point of the finest one, which is the last.
///
/// # Errors
/// The grid that has other points, and suitable numbers.
pub(super) fn check(grids: &[Config]) -> Result<()> {
    let Some((finest, coarser)) = grids.split_last() else { return Ok(()) };
    let why = format!("{} has no exact solution", finest.case.name());
    let against = finest.grid();
    for config in coarser {
        check_one((&config.grid(), &against), finest.grid.domain.length, &why)?;
    }
    if coarser.len() < 2 {
        return Err(Error::refused(
            format!("{why}: one grid is the reference, and an order needs two further grids"),
            &format!("give at least three numbers: `{}`", example(&against)),
        ));
    }
    Ok(())
}

fn check_one((coarse, finest): (&Grid, &Grid), length: [f64; 3], why: &str) -> Result<()> {
    for a in (0..3).filter(|&a| coarse.points[a] > 1) {
        if finest.intervals(a) % coarse.intervals(a) != 0 {
            let [n, largest] = [coarse, finest].map(|grid| grid.points[a]);
            let (what, hint) = match finest.is_closed_along(a) {
                true => (
                    format!("which is not a whole multiple of {n}"),
                    "give numbers that all divide the largest",
                ),
                false => (
                    format!(
                        "whose {} intervals are not a whole multiple of {}",
                        largest - 1,
                        n - 1
                    ),
                    "give numbers n for which n - 1 divides the largest number minus 1",
                ),
            };
            return Err(Error::refused(
                format!("{why}, so errors are taken against {largest} points, {what}"),
                &format!("{hint}: `{}`", example(finest)),
            ));
        }
    }
    let strides = strides(coarse, finest);
    let distance = |at: usize| {
        let index = coarse.index(at);
        let [here, there] = [
            coarse.coordinates(index),
            finest.coordinates(std::array::from_fn(|a| index[a] * strides[a])),
        ];
        (0..3).map(|a| (here[a] - there[a]).abs() / length[a]).fold(0.0, f64::max)
    };
    match (0..coarse.len()).map(distance).find(|&distance| distance > SAME_POINT) {
        Some(_) => Err(Error::refused(
            format!(
                "{why}, and the mapping of its grid puts the points of coarser grids between those of finer ones"
            ),
            "use a mapping that does not depend on the number of points, such as one without a first spacing",
        )),
        None => Ok(()),
    }
}

/// Example numbers that suit a grid.
fn example(grid: &Grid) -> &'static str {
    let mut active = (0..3).filter(|&a| grid.points[a] > 1);
    if active.any(|a| grid.is_closed_along(a)) { "--points 16,32,64" } else { "--points 17,33,65" }
}

/// (root mean square, maximum) of the difference between the values on a grid and those of a finer one at the same points.
pub(super) fn distance(
    (coarse, values): (&Grid, &[f64]),
    (finest, reference): (&Grid, &[f64]),
) -> [f64; 2] {
    let components = values.len() / coarse.len();
    let strides = strides(coarse, finest);
    let squares = (0..coarse.len()).map(|at| {
        let index = coarse.index(at);
        let [i, j, k]: [usize; 3] = std::array::from_fn(|a| index[a] * strides[a]);
        let there = i + finest.points[0] * (j + finest.points[1] * k);
        let here = &values[at * components..][..components];
        let other = &reference[there * components..][..components];
        here.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
    });
    norms_of_squares(squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Domain, End};

    #[test]
    fn grids_are_compared_at_their_shared_points() {
        let domain = Domain { origin: [0.0; 3], length: [1.0; 3] };
        let ends = [None, Some([End::ByParts; 2]), None];
        let [finest, coarse] =
            [[6, 5, 1], [3, 3, 1]].map(|points| Grid::new(points, &domain, ends));
        // f = 100 i + 10 j with i, j on the finest grid, periodic along x and bounded along y; and a second component, −f.
        let field = |grid: &Grid, by: usize| -> Vec<f64> {
            let value = |[i, j, _]: [usize; 3]| 10.0 * (by * (10 * i + j)) as f64;
            let values = (0..grid.len()).map(|at| value(grid.index(at)));
            values.flat_map(|value| [value, -value]).collect()
        };
        let reference = (&finest, &*field(&finest, 1));
        let mut values = field(&coarse, 2);
        assert_eq!(distance((&coarse, &values), reference), [0.0, 0.0]);
        (values[4], values[5]) = (values[4] + 3.0, values[5] + 4.0);
        let [mean, largest] = distance((&coarse, &values), reference);
        assert!((mean - 5.0 / 3.0).abs() < 1e-12 && (largest - 5.0).abs() < 1e-12);
        values[0] = f64::NAN;
        assert!(distance((&coarse, &values), reference).iter().all(|d| d.is_nan()));
    }
}
