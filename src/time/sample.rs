//! Steps of a run on few points, timed before it begins.

use std::sync::Arc;
use std::time::Instant;

use super::Simulation;
use super::refusals::impossible_start;
use crate::backend::Backend;
use crate::config::Config;
use crate::error::{Error, Result};

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

/// Seconds of each of some steps of `config`: at least one. Steps that diverge behind the first are none of a run that ends
/// before.
///
/// # Errors
/// What the backend says; an unphysical initial state.
pub(super) fn seconds(backend: Arc<dyn Backend>, config: &Config) -> Result<Vec<f64>> {
    let simulation = Simulation::on(backend, config);
    let mut simulation = simulation.map_err(|error| impossible_start(error, 1))?;
    let mut seconds = Vec::new();
    while seconds.len() <= STEPS {
        let start = Instant::now();
        match simulation.step(None) {
            Err(Error::Diverged { .. }) if !seconds.is_empty() => break,
            stepped => stepped?,
        };
        simulation.backend().finish()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first takes longer than the others.
    let warm_up = usize::from(seconds.len() > 1);
    Ok(seconds.split_off(warm_up))
}
