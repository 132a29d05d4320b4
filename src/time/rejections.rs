//! Refusals of a run before its first step.

use std::path::Path;

use super::Simulation;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::{Axis, Grid};

/// A wall-time limit that is over before the run begins; nothing is written in this case.
pub(super) fn no_time_error() -> Error {
    Error::refused(
        "time.wall_limit leaves no time for a single step and a checkpoint",
        "increase it",
    )
}

/// The same for a restarted run, whose files are already open: a script that restarts it until it is done must not loop forever.
pub(super) fn no_time_after_restart(directory: &Path) -> Error {
    let what = "time.wall_limit left no time for a single step; increase it".to_string();
    Error::Format { path: directory.to_path_buf(), what }
}

/// Refuse steps smaller than the spacing of floating-point numbers at the end time, which would never reach it.
pub(super) fn check_step(simulation: &Simulation) -> Result<()> {
    let dt = simulation.rate.map(|rate| simulation.next_dt(rate, None));
    let (Some(end), Some(dt)) = (simulation.config.time.end, dt) else { return Ok(()) };
    if end + dt > end {
        return Ok(());
    }
    Err(Error::refused(
        format!("steps of dt = {dt:e} never reach time.end = {end}: t + dt = t there"),
        "use a larger `time.cfl` or `time.dt`",
    ))
}

/// An unusable file in `output.reference`.
pub(super) fn refused_reference(why: &Error) -> Error {
    Error::refused(
        format!("output.reference: {}", why.what()),
        "a reference is a CSV file: a line of names, one of them `time`, and rows of numbers",
    )
}

fn is_curved(grid: &Grid, a: usize) -> bool {
    a < 2 && grid.plane.is_some()
}

/// Whether values on other points along axis `a` can be interpolated to this grid.
pub(super) fn can_interpolate(grid: &Grid, a: usize) -> bool {
    grid.is_closed_along(a) && grid.lines[a].is_none() && !is_curved(grid, a)
}

/// Check values of another grid, which only a uniform periodic axis accepts.
pub(super) fn check_interpolation(grid: &Grid, points: [usize; 3]) -> Result<()> {
    let differs = |axis: &Axis| {
        let a = axis.index();
        points[a] != grid.points[a] && !can_interpolate(grid, a)
    };
    let Some(axis) = Axis::ALL.into_iter().find(differs) else { return Ok(()) };
    let (a, name) = (axis.index(), axis.name());
    let along = match (grid.is_closed_along(a), is_curved(grid, a)) {
        (_, true) => "on a curvilinear grid",
        (true, false) => "along a stretched axis",
        (false, false) => "between walls",
    };
    let found = format!(
        "the values have {} points along {name}, the grid has {}; {along} they cannot be interpolated to another grid",
        points[a], grid.points[a]
    );
    Err(Error::refused(found, &format!("use as many points along {name}")))
}

/// The keys of a resolved input, without the path of a file of points: its checksum identifies the points, wherever the file is.
pub(super) fn keys_without_path(input: &str) -> toml::Table {
    let mut keys = input.parse::<toml::Table>().unwrap_or_default();
    let grid = keys.get_mut("grid").and_then(toml::Value::as_table_mut);
    let mapping = grid.and_then(|grid| grid.get_mut("mapping")?.as_table_mut());
    mapping.and_then(|mapping| mapping.remove("file"));
    keys
}

/// Refuse values from a run of the input `was` whose points differ on stretched axes or on a curvilinear grid, of `config` or of
/// that run.
pub(super) fn check_same_maps(was: &str, config: &Config) -> Result<()> {
    let [was, now] = [was, &config.to_toml()].map(keys_without_path);
    for (key, advice) in [
        ("stretching", "use the maps of the checkpoint"),
        ("mapping", "use the mapping of the checkpoint, or the file of its points"),
    ] {
        let [before, now] = [&was, &now].map(|keys| keys.get("grid")?.get(key));
        if before != now {
            let [before, now] =
                [before, now].map(|it| it.map_or("none".into(), toml::Value::to_string));
            let why = "and its values belong to those points";
            let found = format!("grid.{key} = {now}; the checkpoint has {before}, {why}");
            return Err(Error::refused(found, advice));
        }
    }
    Ok(())
}

/// An unphysical initial state is an input error that all of `ranks` ranks report.
pub(super) fn initial_state_error(error: Error, ranks: usize) -> Error {
    let Some(found) = invalid_initial_state(&error) else { return error };
    let advice = "change the parameters in [case], [gas], [boundary] or the box";
    let input_error = Error::refused(found, advice);
    if ranks == 1 {
        return input_error;
    }
    Error::Elsewhere { message: input_error.report(), exit_code: input_error.exit_code() }
}

/// What is wrong with the initial state, where the error says so.
pub(super) fn invalid_initial_state(error: &Error) -> Option<String> {
    let Error::Diverged { field, value, index: [i, j, k], .. } = error else { return None };
    Some(format!("the initial state has {field} = {value} at point ({i}, {j}, {k})"))
}
