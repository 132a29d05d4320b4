//! Steps of a run on few points, timed before the run begins.

use std::sync::Arc;
use std::time::Instant;

use super::Simulation;
use super::rejections::{can_interpolate, initial_state_error};
use crate::backend::Backend;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Curvilinear;

/// Maximum number of points along an axis.
pub(super) const MAX_POINTS: usize = 64;
/// Number of timed steps, after an untimed one.
const TIMED_STEPS: usize = 3;
/// Seconds after which no further timed step begins, once there is one.
const MAX_SECONDS: f64 = 2.0;

/// The same run on few points.
pub(super) fn on_few_points(config: &Config) -> Config {
    with_points(config, |n| n.min(MAX_POINTS))
}

/// The axes whose number of points may not change: a file has the points of the grid, or values at them.
pub(super) fn keeps_points(config: &Config) -> [bool; 3] {
    let has_values = config.case.on_grid().is_some_and(|case| case.file().is_some());
    let has_points = matches!(config.grid.mapping, Some(Curvilinear::File(_)));
    let grid = config.grid();
    [0, 1, 2].map(|a| has_points && a < 2 || has_values && !can_interpolate(&grid, a))
}

/// The same run with the numbers of points that `wanted` returns for those of an axis, at least as many as its formulas need and
/// at most as many as it has.
pub(super) fn with_points(config: &Config, wanted: impl Fn(usize) -> usize) -> Config {
    let (keeps, min_points) = (keeps_points(config), config.min_points());
    let mut sample = config.clone();
    for a in (0..3).filter(|&a| !keeps[a]) {
        let n = config.grid.points[a];
        sample.grid.points[a] = wanted(n).max(min_points[a]).min(n);
    }
    sample
}

/// Seconds of each of some steps of `config`: at least one. A divergence after the first step is ignored: the run may end before
/// it.
pub(super) fn seconds(backend: Arc<dyn Backend>, config: &Config) -> Result<Vec<f64>> {
    let simulation = Simulation::on(backend, config);
    let mut simulation = simulation.map_err(|error| initial_state_error(error, 1))?;
    let mut seconds = Vec::new();
    while seconds.len() <= TIMED_STEPS
        && (seconds.len() < 2 || seconds.iter().sum::<f64>() < MAX_SECONDS)
    {
        let start = Instant::now();
        match simulation.step(None) {
            Err(Error::Diverged { .. }) if !seconds.is_empty() => break,
            // A run may begin with shorter steps, which end at its outputs; this unsolved step took no less time than a solved
            // one.
            Err(Error::NotConverged { .. }) => {
                seconds.push(start.elapsed().as_secs_f64());
                break;
            }
            stepped => stepped?,
        };
        simulation.backend().finish()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first step takes longer than the others.
    let warm_up = usize::from(seconds.len() > 1);
    Ok(seconds.split_off(warm_up))
}
