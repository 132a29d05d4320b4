//! Steps of a run on few points, timed before it begins.

use std::time::Instant;

use super::Simulation;
use crate::backend::Backend;
use crate::config::Config;
use crate::error::Result;

/// Most points along an axis.
pub(super) const POINTS: usize = 64;
/// Steps that are timed, after one that is not.
const STEPS: usize = 3;

/// The same run on few points.
pub(super) fn on_few_points(config: &Config) -> Config {
    let mut sample = config.clone();
    sample.grid.points = config.grid.points.map(|n| n.min(POINTS));
    sample
}

/// Seconds of each of some steps of `config`.
///
/// # Errors
/// What the backend says.
pub(super) fn seconds<B: Backend>(backend: B, config: &Config) -> Result<[f64; STEPS]> {
    let mut simulation = Simulation::on(backend, config)?;
    simulation.step(None)?;
    let mut seconds = [0.0; STEPS];
    for seconds in &mut seconds {
        let start = Instant::now();
        simulation.step(None)?;
        simulation.backend().finish()?;
        *seconds = start.elapsed().as_secs_f64();
    }
    Ok(seconds)
}
