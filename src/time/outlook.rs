//! Estimates for a whole run: steps, and bytes on disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::memory::{UNKNOWNS, count};
use super::output::selected;
use super::output_schedule::{Kind, OutputSchedule};
use super::plan::reached;
use super::rejections::initial_state_error;
use super::restart::head;
use super::{Simulation, sample};
use crate::backend::cpu::Cpu;
use crate::config::{Config, Precision, Schedule, Statistic, StepSize, Variable};
use crate::error::Result;
use crate::io::pieces::Selection;
use crate::physics;
use crate::scheme::{ImplicitConfig, Marching};
use crate::statistics::increments;

/// Bytes per number in a table, with its comma.
const BYTES_PER_NUMBER: f64 = 20.0;
/// Bytes in a field file per byte of its values, which are written in Base64.
const BASE64_FACTOR: f64 = 4.0 / 3.0;
/// Points along the longest axis of the two grids from which the first step is estimated.
const SAMPLE_POINTS: [usize; 2] = [64, 32];
/// Minimum number of points along their axes, enough for all formulas.
const MIN_POINTS: usize = 16;

/// Maximum number of output times that are visited one by one; the spacing of further ones is assumed to be the same.
const MAX_LANDINGS: usize = 1 << 16;
/// Maximum number of points of the part of a curvilinear grid from which it is estimated.
const MAX_PART_POINTS: usize = 1 << 22;

/// Steps of a run and its times.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLength {
    /// Number of steps if all have the dt of the first.
    pub(super) steps: f64,
    /// dt of the first step from the initial state.
    pub(super) dt: f64,
    /// Steps before the checkpoint that the run starts from.
    before: f64,
    /// Start time.
    start: f64,
    /// End time.
    end: f64,
}

impl RunLength {
    /// For a run whose steps are all as large as the first.
    ///
    /// # Errors
    /// Where the initial state is invalid, or the checkpoint that the run starts from cannot be read.
    pub(super) fn of(config: &Config) -> Result<Self> {
        let checkpoint = config.origin.as_deref().map(head).transpose()?;
        let (before, start) = checkpoint.map_or((0.0, 0.0), |head| (head.step as f64, head.time));
        let dt = match config.time.step {
            StepSize::Fixed(dt) => dt,
            StepSize::Cfl(cfl) => cfl / first_rate(config)?,
        };
        let steady = config.time.implicit.filter(ImplicitConfig::is_steady);
        let max_steps = [config.time.max_steps, steady.map(|implicit| implicit.steps)];
        let max_steps =
            max_steps.into_iter().flatten().min().map_or(f64::INFINITY, |steps| steps as f64);
        let end = config.time.end.unwrap_or(f64::INFINITY);
        let (steps, end) = count_steps(config, dt, [start, end], (max_steps - before).max(1.0));
        Ok(Self { steps, dt, before, start, end })
    }

    /// Number of outputs of a `schedule`, including the one at the start, where a step takes `seconds`.
    fn times(&self, schedule: Schedule, seconds: f64) -> f64 {
        let Self { steps, before, start, end, .. } = *self;
        // Counted from the start of the first run, up to the start and the end of this one.
        let by_steps =
            schedule.every_steps.map(|every| [before, before + steps].map(|at| at / every as f64));
        let by_time = schedule.every_time.map(|every| [start, end].map(|at| at / every));
        let by_wall = schedule.every_wall.map(|every| [0.0, steps * seconds / every]);
        let of = |[first, last]: [f64; 2]| last.floor() - first.floor();
        let all: f64 = [by_steps, by_time, by_wall].into_iter().flatten().map(of).sum();
        // Also at the end, where no output is due.
        let at_end =
            [by_steps, by_time].into_iter().flatten().any(|[_, last]| reached(last.floor(), last));
        1.0 + (all + f64::from(!at_end)).clamp(1.0, steps)
    }
}

/// Steps of at most `dt` from `start`, some of which land on output times: their number up to `end`, limited to `max_steps`, and
/// the time that they reach.
fn count_steps(config: &Config, dt: f64, [start, end]: [f64; 2], max_steps: f64) -> (f64, f64) {
    let mut schedule = OutputSchedule::new(config, start, &BTreeMap::new());
    let (mut steps, mut time) = (0.0, start);
    for _ in 0..MAX_LANDINGS {
        let next = schedule.next_time(time).map_or(end, |next| next.min(end));
        // Times that should coincide differ by round-off.
        let more = ((next - time) / dt * (1.0 - 1e-12)).ceil();
        if steps + more >= max_steps {
            return (max_steps, next.min(time + (max_steps - steps) * dt));
        }
        (steps, time) = (steps + more, next);
        if time >= end {
            return (steps.max(1.0), time);
        }
        for kind in Kind::ALL {
            schedule.due(kind, 0, time, false);
        }
    }
    let mean_dt = (time - start) / steps;
    let all = ((end - start) / mean_dt).min(max_steps);
    (all, start + all * mean_dt)
}

/// The largest 1/dt of the initial state. It is c/h + d/h² (see [`Limits`](crate::physics::Limits)), and two coarser grids
/// determine c and d; where they cannot, a [part of the box](part_of_box) is used.
fn first_rate(config: &Config) -> Result<f64> {
    let longest = config.grid.points.into_iter().max().unwrap_or(1);
    if longest <= SAMPLE_POINTS[0] {
        return rate(config.clone());
    }
    if let Some(part) = part_of_box(config) {
        return rate(part);
    }
    let on =
        |most: usize| rate(sample::with_points(config, |n| (n * most / longest).max(MIN_POINTS)));
    let [n, m] = SAMPLE_POINTS.map(|points| points as f64);
    let [fine, coarse] = [on(SAMPLE_POINTS[0])? / n, on(SAMPLE_POINTS[1])? / m];
    let diffusive = ((fine - coarse) / (n - m)).max(0.0);
    let convective = (fine - diffusive * n).max(0.0);
    let longest = longest as f64;
    Ok(longest * (convective + diffusive * longest))
}

/// The same run on few points with the same spacings, where fewer points in the whole box would not give the rate: where an axis
/// has to keep its points, and on a curvilinear grid, whose spacing varies, unless that would be too many points.
fn part_of_box(config: &Config) -> Option<Config> {
    let keeps = sample::keeps_points(config).contains(&true);
    let mapped = config.grid.mapping.is_some();
    if !(keeps || mapped) {
        return None;
    }
    let mut part = sample::with_points(config, |_| MIN_POINTS);
    if mapped {
        part.grid.points[..2].copy_from_slice(&config.grid.points[..2]);
    }
    if !keeps && part.grid.points.iter().product::<usize>() > MAX_PART_POINTS {
        return None;
    }
    let grid = config.grid();
    for a in (0..3).filter(|&a| config.grid.points[a] > 1) {
        let intervals = |n: usize| (n - usize::from(!grid.is_closed_along(a))) as f64;
        let [of_part, of_all] = [&part, config].map(|it| intervals(it.grid.points[a]));
        part.grid.domain.length[a] *= of_part / of_all;
    }
    Some(part)
}

/// The rate of the initial state of `config`.
fn rate(mut config: Config) -> Result<f64> {
    // The host lacks some line solvers of devices, and the rate depends neither on them nor on vectors of implicit steps.
    config.compute.line_solver = None;
    config.time.implicit = None;
    let host = Arc::new(Cpu::<f64>::configured(&config.compute, None)?);
    let simulation = Simulation::on(host, &config);
    let simulation = simulation.map_err(|error| initial_state_error(error, 1))?;
    Ok(simulation.rate.unwrap_or(f64::NAN))
}

/// Bytes that a run leaves on disk, by kind, where a step takes `seconds`. Compressed checkpoints take less.
pub(super) fn bytes(config: &Config, length: &RunLength, seconds: f64) -> Vec<(&'static str, f64)> {
    let grid = config.grid();
    let width =
        |precision: Option<Precision>| precision.unwrap_or(config.compute.precision).bytes() as f64;
    let values = |variables: &[Variable]| {
        variables.iter().map(|variable| variable.components() as f64).sum::<f64>()
    };
    let times = |schedule| length.times(schedule, seconds);
    let output = &config.output;
    let problem = config.problem();
    let columns = physics::columns(&problem).len();
    let mut parts = vec![("series", times(output.series) * columns as f64 * BYTES_PER_NUMBER)];
    if let Some(fields) = &output.fields {
        let points = selected(fields, &grid).points;
        // Files of curvilinear grids have three coordinates per point.
        let coordinates =
            if grid.plane.is_some() { 3.0 * width(Some(Precision::F64)) } else { 0.0 };
        let point = values(&fields.variables) * width(fields.precision) + coordinates;
        let once = count(points) * point * BASE64_FACTOR;
        parts.push(("fields", times(config.time.of_fields(fields.schedule)) * once));
    }
    if let Some(planes) = &output.planes {
        let across = |a: usize| {
            let points = Selection::all(&grid).across(&grid, a, grid.origin[a]).points;
            planes.at[a].len() as f64 * count(points)
        };
        let points: f64 = (0..3).map(across).sum();
        let once = points * values(&planes.variables) * width(planes.precision) * BASE64_FACTOR;
        parts.push(("planes", times(config.time.of_fields(planes.schedule)) * once));
    }
    if let Some(statistics) = &output.statistics {
        let longest = grid.points.into_iter().max().unwrap_or(1) as f64;
        let between = problem.axis_between_walls().map_or(0, |axis| grid.points[axis.index()]);
        let rows = |quantity: &Statistic| match quantity {
            Statistic::Moments => 60.0 * BYTES_PER_NUMBER,
            // Shells to the corner of the cube, bins of nine densities.
            Statistic::Spectra => {
                0.9 * longest * (9 + config.scalars.len()) as f64 * BYTES_PER_NUMBER
            }
            Statistic::Increments => increments::rows(&grid) as f64 * 10.0 * BYTES_PER_NUMBER,
            Statistic::Gradients => 400.0 * 3.0 * BYTES_PER_NUMBER,
            Statistic::Turbulence => 20.0 * BYTES_PER_NUMBER,
            Statistic::Profiles => 43.0 * between as f64 * BYTES_PER_NUMBER,
        };
        let once: f64 = statistics.quantities.iter().map(rows).sum();
        parts.push(("statistics", times(statistics.schedule) * once));
    }
    if let Some(checkpoint) = &output.checkpoint {
        // `bdf2` also stores the previous state.
        let before = config.time.implicit.filter(|implicit| implicit.method == Marching::Bdf2);
        let state = (problem.fields() + before.map_or(0, |_| UNKNOWNS)) as f64;
        // The oldest is removed when the newest is complete.
        let kept = checkpoint.schedule.map_or(1.0, times).min(checkpoint.keep as f64 + 1.0);
        parts.push(("checkpoints", kept * state * count(grid.points) * width(None)));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(points: [usize; 3], more: &str) -> Config {
        let input = format!(
            "[case]\nname = 'taylor-green'\nreynolds = 20.0\n[grid]\npoints = {points:?}\n[compute]\nthreads = 1\n{more}"
        );
        crate::config::parse(&input, "test", &[]).unwrap()
    }

    #[test]
    fn first_time_step_of_a_fine_grid_is_estimated_from_coarse_grids() {
        // At Re 20 both the convective and the viscous limit matter: dt scaled with h or with h² alone is wrong by a factor of about 2.
        let config = config([96, 96, 96], "[time]\nend = 1.0\n");
        let simulation =
            Simulation::on(Arc::new(Cpu::<f64>::new(Some(1)).unwrap()), &config).unwrap();
        let (found, expected) = (first_rate(&config).unwrap(), simulation.rate.unwrap());
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }

    /// Detects steps that are shortened to reach an output time and are not counted.
    #[test]
    fn steps_shortened_to_reach_output_times_are_counted() {
        for (outputs, expected) in [
            ("", 10.0),
            ("fields = { every_time = 0.03 }", 34.0),
            ("fields = { every_time = 0.25 }", 12.0),
            // At 0.25, 0.4, 0.5, 0.75, 0.8: three steps, two, one, three, one, two.
            ("fields = { every_time = 0.25 }\ncheckpoint = { every_time = 0.4 }", 12.0),
            ("series = { every_time = 1e-6 }", 1e6),
        ] {
            let text = format!("[time]\ndt = 0.1\nend = 1.0\n[output]\n{outputs}\n");
            let found = RunLength::of(&config([16, 16, 16], &text)).unwrap().steps;
            assert!((found / expected - 1.0).abs() < 1e-6, "{outputs}: {found}");
        }
        // Three steps to 0.25, three to 0.5; four of ten remain.
        let text = "[time]\ndt = 0.1\nmax_steps = 10\n[output]\nfields = { every_time = 0.25 }\n";
        let RunLength { steps, end, .. } = RunLength::of(&config([16, 16, 16], text)).unwrap();
        assert!(steps == 10.0 && (end - 0.85).abs() < 1e-12, "{steps} {end}");
    }

    #[test]
    fn output_bytes_follow_from_the_schedule_variables_and_precision() {
        let config = config(
            [64, 64, 64],
            "[time]\ndt = 0.01\nend = 1.0\n[output]\nseries = { every_steps = 10 }\n\
             fields = { every_time = 0.25, variables = ['velocity', 'pressure'], precision = 'f32', stride = 2 }\n\
             planes = { every_steps = 50, z = [0.0, 1.0], variables = ['density'] }\n\
             checkpoint = { every_time = 0.1, keep = 3 }\n",
        );
        let length = RunLength::of(&config).unwrap();
        assert_eq!((length.steps, length.end), (100.0, 1.0));
        let n = f64::from(64 * 64 * 64);
        assert_eq!(
            bytes(&config, &length, 1.0),
            [
                ("series", 11.0 * 22.0 * BYTES_PER_NUMBER),
                ("fields", 5.0 * 33.0 * 33.0 * 33.0 * 4.0 * 4.0 * BASE64_FACTOR),
                ("planes", 3.0 * 2.0 * 65.0 * 65.0 * 8.0 * BASE64_FACTOR),
                // During writing there is one more than the three kept.
                ("checkpoints", 4.0 * 5.0 * n * 8.0),
            ]
        );
    }
}
