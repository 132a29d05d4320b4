//! The solution on one grid: from the initial state to the end, without any files.

use std::time::Instant;

use crate::backend::device::{Device, choose};
use crate::backend::open;
use crate::config::{Config, StepSize, Variable};
use crate::error::Result;
use crate::grid::{Block, Decomposition};
use crate::time::{Simulation, check_device_memory, check_memory};

use super::floor::Floor;

/// The result on one grid.
pub(super) struct Solved {
    pub(super) steps: u64,
    pub(super) wall_seconds: f64,
    /// The upper limit of the first step.
    pub(super) first_dt: f64,
    /// (root mean square, maximum) of the error, if the exact solution is known.
    pub(super) error: Option<[f64; 2]>,
    /// The values compared at the end. With an exact solution: the density, ρv of a shear wave, or the scalar; otherwise the
    /// velocity, with all components of a point together. x is fastest.
    pub(super) values: Vec<f64>,
    /// Density or scalar at the start and at the end, if there is an exact solution.
    density: [Vec<f64>; 2],
    /// The part of the error that a finer grid does not reduce.
    pub(super) floor: Floor,
}

/// Advance `config` to its end, with a first step of at most `max_first_dt`; if the solution is only exact to first order in an
/// amplitude, run it with that and with the opposite amplitude.
pub(super) fn solve(config: &Config, end: f64, max_first_dt: Option<f64>) -> Result<Solved> {
    let one = solve_once(config, end, max_first_dt)?;
    let Some(case) = config.case.opposite() else { return Ok(one) };
    let opposite = config.with_case(case);
    let other = solve_once(&opposite, end, max_first_dt)?;
    Ok(odd_part((config, one), (&opposite, other), end))
}

/// Refuse several ranks, and a grid that does not fit in memory.
pub(super) fn check(config: &Config) -> Result<()> {
    let compute = &config.compute;
    if let Some(requested) = compute.ranks {
        Decomposition::requested(requested, 1, config.grid.points)?;
    }
    let block = Block::whole(config.grid.points);
    match choose(compute, 0)? {
        Some((api, index)) => {
            let device = Device::open(api, index)?;
            check_device_memory(config, Decomposition::ONE, &block, &device)
        }
        None => check_memory(config, Decomposition::ONE, &block, 1),
    }
}

fn solve_once(config: &Config, end: f64, max_first_dt: Option<f64>) -> Result<Solved> {
    let backend = open(&config.compute, config.grid.points.iter().product())?;
    let mut simulation = Simulation::on(backend.into(), config)?;
    let field = |simulation: &Simulation, at: usize| -> Result<Vec<f64>> {
        Ok(simulation.backend().values(&simulation.state()[at])?.into())
    };
    let first_dt = simulation.limit_step(max_first_dt.unwrap_or(f64::INFINITY));
    let initial = field(&simulation, 0)?;
    let start = Instant::now();
    while simulation.time() < end {
        simulation.step(Some(end))?;
    }
    let wall_seconds = start.elapsed().as_secs_f64();
    let error = simulation.error()?;
    let quantity = if config.case.is_flow() { Variable::Velocity } else { Variable::Scalar };
    let steps = simulation.steps();
    let (values, density) = match error {
        Some(_) => (field(&simulation, config.case.shown())?, [initial, field(&simulation, 0)?]),
        None => (simulation.output(&quantity)?.into(), <[Vec<f64>; 2]>::default()),
    };
    let floor = Floor::of_round_off(config, error.is_some(), &values, steps);
    Ok(Solved { steps, wall_seconds, first_dt, error, values, density, floor })
}

/// Half of the difference of two runs with opposite amplitudes A, in which the second order in A cancels. `config` is that of the
/// first run. Half of the sum, which contains the second order, gives an estimate of the third order.
fn odd_part(
    (config, one): (&Config, Solved),
    (opposite, other): (&Config, Solved),
    end: f64,
) -> Solved {
    let odd: Vec<f64> = one.values.iter().zip(&other.values).map(|(a, b)| 0.5 * (a - b)).collect();
    let exact = [config, opposite].map(|config| config.exact_solution(end));
    let errors = odd.iter().enumerate().map(|(at, odd)| odd - 0.5 * (exact[0][at] - exact[1][at]));
    let [[start, density], [other_start, other_density]] = [&one.density, &other.density];
    let even = (0..density.len())
        .map(|at| 0.5 * (density[at] - start[at] + other_density[at] - other_start[at]));
    let mut floor = one.floor;
    let (second, first) = (norms(even)[0], norms(odd.iter().copied())[0]);
    // Two roundings, each halved.
    floor.round_off *= std::f64::consts::FRAC_1_SQRT_2;
    floor.amplitude = second * f64::max(first, second / first);
    Solved {
        wall_seconds: one.wall_seconds + other.wall_seconds,
        error: Some(norms(errors)),
        values: odd,
        floor,
        ..one
    }
}

/// (root mean square, maximum); both are NaN if a value is NaN.
fn norms(values: impl Iterator<Item = f64>) -> [f64; 2] {
    norms_of_squares(values.map(|value| value * value))
}

pub(super) fn norms_of_squares(squares: impl Iterator<Item = f64>) -> [f64; 2] {
    let (mut count, mut sum, mut largest) = (0_u64, 0.0, 0.0_f64);
    for square in squares {
        count += 1;
        sum += square;
        // Not `max`, which ignores NaN.
        largest = if square > largest || square.is_nan() { square } else { largest };
    }
    [(sum / count as f64).sqrt(), largest.sqrt()]
}

/// The error of a fixed step of `config`, which is equal on every grid: the run with half of the step differs from `solved` by
/// this error minus the remaining fraction 2^−q, where q is the order of the method in time.
pub(super) fn error_of_step(config: &Config, solved: &Solved, dt: f64, end: f64) -> Result<f64> {
    let mut halved = config.clone();
    halved.time.step = StepSize::Fixed(0.5 * dt.min(end));
    let finer = solve(&halved, end, None)?;
    let [difference, _] = norms(solved.values.iter().zip(&finer.values).map(|(a, b)| a - b));
    Ok(difference / (1.0 - 0.5_f64.powf(f64::from(config.time.method().1))))
}
