//! One grid: from the initial state to the end, without any files.

use std::time::Instant;

use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::device::{Device, Gpu, choose};
use crate::config::{Config, Precision, Variable};
use crate::error::Result;
use crate::grid::Block;
use crate::real::Real;
use crate::time::{Simulation, check_device_memory, check_memory};

/// What a grid came to.
pub(super) struct Solved {
    pub(super) steps: u64,
    pub(super) wall_seconds: f64,
    /// (root mean square, maximum) of the error, where the solution is known.
    pub(super) error: Option<[f64; 2]>,
    /// The velocity, or the scalar: its components at a point stand together, x fastest. Empty where the error is known.
    pub(super) values: Vec<f64>,
}

/// Advance `config` to its end.
pub(super) fn solve(config: &Config, end: f64) -> Result<Solved> {
    let compute = &config.compute;
    let block = Block { start: [0; 3], points: config.grid.points };
    let Some((api, index)) = choose(compute, 0)? else {
        check_memory(config, &block, 1)?;
        return match compute.precision {
            Precision::F64 => advance(Cpu::<f64>::new(compute.threads)?, config, end),
            Precision::F32 => advance(Cpu::<f32>::new(compute.threads)?, config, end),
        };
    };
    let device = Device::open(api, index)?;
    check_device_memory(config, &block, &device)?;
    match compute.precision {
        Precision::F64 => {
            advance(Gpu::<f64>::configured(device, block.len(), compute)?, config, end)
        }
        Precision::F32 => {
            advance(Gpu::<f32>::configured(device, block.len(), compute)?, config, end)
        }
    }
}

fn advance<B: Backend>(backend: B, config: &Config, end: f64) -> Result<Solved> {
    let mut simulation = Simulation::on(backend, config)?;
    let start = Instant::now();
    while simulation.time() < end {
        simulation.step(Some(end))?;
    }
    let wall_seconds = start.elapsed().as_secs_f64();
    let error = simulation.error()?;
    let steps = simulation.steps();
    let mut values = Vec::new();
    if error.is_none() {
        let variable = quantity(config);
        values = simulation.output(variable)?.into_iter().map(Real::f64).collect();
    }
    Ok(Solved { steps, wall_seconds, error, values })
}

/// What is compared where there is no exact solution.
fn quantity(config: &Config) -> Variable {
    if config.case.flow().is_some() { Variable::Velocity } else { Variable::Scalar }
}

/// (root mean square, maximum) of the distance between the values on a grid and those of a finer one at the same points.
/// `finest` has a whole multiple of `points` along each axis.
#[allow(clippy::cast_precision_loss, reason = "far below 2^52 points")]
pub(super) fn distance(
    (points, values): ([usize; 3], &[f64]),
    (finest, reference): ([usize; 3], &[f64]),
) -> [f64; 2] {
    let count: usize = points.iter().product();
    let components = values.len() / count;
    let [nx, ny, _] = points;
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for at in 0..count {
        let index = [at % nx, at / nx % ny, at / (nx * ny)];
        let [i, j, k]: [usize; 3] = std::array::from_fn(|a| index[a] * (finest[a] / points[a]));
        let there = i + finest[0] * (j + finest[1] * k);
        let here = &values[at * components..][..components];
        let other = &reference[there * components..][..components];
        let square: f64 = here.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
        sum += square;
        // Not `max`, which drops what is no number.
        largest = if square > largest || square.is_nan() { square } else { largest };
    }
    [(sum / count as f64).sqrt(), largest.sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_compared_at_the_points_that_they_share() {
        // f = 100 i + 10 j + k in units of the finest grid of 6 x 4 x 1 points, with a second component, −f.
        let field = |points: [usize; 3], by: [usize; 3]| -> Vec<f64> {
            let [nx, ny, nz] = points;
            let at = |n: usize| [n % nx, n / nx % ny, n / (nx * ny)];
            let value = |[i, j, k]: [usize; 3]| {
                100.0 * float(i * by[0]) + 10.0 * float(j * by[1]) + float(k)
            };
            (0..nx * ny * nz).flat_map(|n| [value(at(n)), -value(at(n))]).collect()
        };
        let finest = ([6, 4, 1], &*field([6, 4, 1], [1; 3]));
        let mut coarse = field([3, 2, 1], [2, 2, 1]);
        assert_eq!(distance(([3, 2, 1], &coarse), finest), [0.0, 0.0]);
        (coarse[4], coarse[5]) = (coarse[4] + 3.0, coarse[5] + 4.0);
        let [mean, largest] = distance(([3, 2, 1], &coarse), finest);
        assert!((mean - 5.0 / 6.0_f64.sqrt()).abs() < 1e-12 && (largest - 5.0).abs() < 1e-12);
        coarse[0] = f64::NAN;
        assert!(distance(([3, 2, 1], &coarse), finest).iter().all(|d| d.is_nan()));
    }

    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn float(n: usize) -> f64 {
        n as f64
    }
}
