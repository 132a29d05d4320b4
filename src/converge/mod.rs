//! Convergence of the error under grid refinement: `kolmo converge`.
//!
//! [`converge`] runs a case on a sequence of grids to the same time; [`Study`] is the table of errors and orders, and writes it
//! as CSV, as a figure and as a page.

mod floor;
mod options;
mod output;
mod shared;
mod solve;

pub use options::ConvergeOptions;

use std::path::PathBuf;

use serde::Serialize;

use crate::config::{Config, Convection, EnergyForm, StepSize, ViscousForm};
use crate::engine::closure_at;
use crate::error::{Error, Result};
use crate::grid::{End, Grid};
use crate::io::make_directory;
use crate::io::progress::tell;
use crate::io::report::grid;
use crate::scheme::SchemeFamily;
use floor::{Floor, MIN_ERROR_OVER_FLOOR};
use shared::distance;
use solve::{Solved, check, error_of_step, solve};

/// An order that is below the formal one by less than this needs no remark.
const MIN_ORDER_DEFICIT: f64 = 0.5;

/// Errors on several grids.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    /// Name of the case.
    pub case: String,
    /// First derivative.
    pub scheme: String,
    /// Formal order in space: the lowest of the formulas in use.
    pub formal_order: u32,
    /// Runge-Kutta tableau.
    pub integrator: String,
    /// Order of the integrator.
    pub integrator_order: u32,
    /// The time at which errors are taken.
    pub time: f64,
    /// Definition of the error.
    pub error: String,
    /// Choice of the time step, and its effect on the orders.
    pub step: String,
    /// From the coarsest grid to the finest.
    pub rows: Vec<Row>,
    /// Notes for the interpretation, one sentence each.
    pub notes: Vec<String>,
    /// The directory that [`Study::write`] writes to.
    #[serde(skip)]
    directory: PathBuf,
}

/// One grid.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Points along the axes that have more than one, as given.
    pub points: usize,
    /// Points along x, y, z.
    pub grid: [usize; 3],
    /// Number of steps to the end.
    pub steps: u64,
    /// Mean time step.
    pub dt: f64,
    /// Root mean square of the error; `None` for the reference grid.
    pub error_l2: Option<f64>,
    /// Largest error.
    pub error_max: Option<f64>,
    /// Order of the root mean square relative to the previous grid: ln(e₁/e₂) / ln(n₂/n₁), n the intervals along an axis. `None`
    /// on the first grid, and where the floor is reached.
    pub order_l2: Option<f64>,
    /// Order of the largest error.
    pub order_max: Option<f64>,
    /// An estimate of the root mean square that a finer grid does not reduce: round-off, the error of a solution that is exact to
    /// first order, and that of a time step that is equal on every grid.
    pub floor: f64,
    /// Whether the error is close to its floor, here or on a coarser grid, so that no order can be computed.
    pub floor_reached: bool,
    /// Wall time from the first step to the last in seconds.
    pub wall_seconds: f64,
}

/// Run the case of `options` on each of its grids. `load` reads the input with the given overrides.
///
/// # Errors
/// If the input is wrong, the grids cannot be compared, or the directory is in use or cannot be created, before anything is run.
/// If a run diverges.
pub fn converge(
    options: &ConvergeOptions,
    load: &dyn Fn(&[String]) -> Result<Config>,
) -> Result<Study> {
    let points = options.ascending()?;
    let base = load(&options.set(None))?;
    if let Some(path) = &base.origin {
        let path = path.display();
        return Err(Error::Config(vec![
            format!("error: case.name = \"from-checkpoint\": {path} is on one grid only"),
            "       give the case itself: its initial state is known on every grid".into(),
        ]));
    }
    if base.forcing.as_ref().is_some_and(|forcing| forcing.stochastic().is_some()) {
        return Err(Error::refused(
            "a random force differs between grids, because their steps differ",
            "remove [forcing], or use `kind = \"linear\"`",
        ));
    }
    let exact = has_exact(&base);
    let grids = points.iter().map(|&n| load(&options.set(Some(points_along(&base, exact, n)))));
    let grids: Vec<Config> = grids.collect::<Result<_>>()?;
    let end = end(&base)?;
    let directory = options.directory(&base)?;
    if !exact {
        shared::check(&grids)?;
    }
    grids.iter().try_for_each(check)?;
    make_directory(&directory)?;
    let mut solved: Vec<Solved> = Vec::new();
    for config in &grids {
        let first = solved.first().filter(|_| !options.keep_cfl);
        let max_first_dt =
            first.and_then(|first| matched_step((&grids[0], first.first_dt), config));
        let shown = grid(config.grid.points);
        let one = solve(config, end, max_first_dt).map_err(|why| Error::Elsewhere {
            message: format!("error: {shown} points: {}", why.what()),
            exit_code: why.exit_code(),
        })?;
        let (steps, wall) = (one.steps, one.wall_seconds);
        let error = one.error.map_or(String::new(), |[l2, _]| format!(", error {l2:.3e}"));
        tell(&format!("{shown} points: {steps} steps in {wall:.2} s{error}"));
        solved.push(one);
    }
    if let (true, StepSize::Fixed(dt)) = (exact, base.time.step) {
        let step = error_of_step(&grids[0], &solved[0], dt, end)?;
        solved.iter_mut().for_each(|one| one.floor.step = step);
    }
    let rows = rows(&points, &grids, &solved, end);
    let floor = solved.last().map(|one| one.floor).unwrap_or_default();
    Ok(Study::new((&base, directory), end, (exact, options.keep_cfl), rows, &floor))
}

/// The ends and the intervals of a grid, without the coordinates of its points.
fn unmapped_grid(config: &Config) -> Grid {
    config.unmapped_grid(config.grid.points)
}

/// Points along x, y, z for `n` on the command line. A finer grid contains the points of a coarser one if the numbers of
/// intervals are n, 2n, 4n: if errors are taken against the finest grid and only some axes are periodic, the other axes have one
/// more point.
fn points_along(base: &Config, exact: bool, n: usize) -> [usize; 3] {
    let grid = unmapped_grid(base);
    let active = |a: &usize| grid.points[*a] > 1;
    let some_periodic = (0..3).filter(active).any(|a| grid.is_closed_along(a));
    let extra = |a: usize| usize::from(!exact && some_periodic && !grid.is_closed_along(a));
    std::array::from_fn(|a| if active(&a) { n + extra(a) } else { 1 })
}

/// The number of intervals along an axis, as the geometric mean over the axes that have several: proportional to 1/h.
fn resolution(config: &Config) -> f64 {
    let grid = unmapped_grid(config);
    let active = (0..3).filter(|&a| grid.points[a] > 1);
    let intervals: Vec<f64> = active.map(|a| grid.intervals(a) as f64).collect();
    let axes = intervals.len() as f64;
    intervals.into_iter().map(|n| n.powf(1.0 / axes)).product()
}

/// The first step on the grid of `config` for which the error of the time step decreases like that of the scheme in space: with
/// an integrator of order q it decreases as h^p if dt decreases as h^(p/q). `None` if it does so without a change.
fn matched_step((coarsest, dt): (&Config, f64), config: &Config) -> Option<f64> {
    let power = relative_order_excess(config);
    (power > 0.0).then(|| dt * (resolution(coarsest) / resolution(config)).powf(1.0 + power))
}

/// p/q − 1 if the order p in space is higher than q in time, otherwise 0.
fn relative_order_excess(config: &Config) -> f64 {
    (f64::from(formal_order(config)) / f64::from(config.time.method().1) - 1.0).max(0.0)
}

/// The end time of every grid.
fn end(config: &Config) -> Result<f64> {
    if config.time.is_steady() {
        let what = "steady steps have no physical time at which errors can be compared";
        return Err(Error::refused(
            what,
            "allowed: `bdf2` and other implicit methods through time",
        ));
    }
    let what = match (config.time.end, config.time.max_steps) {
        (Some(end), None) => return Ok(end),
        (None, _) => "errors are compared at one time, but there is no time.end".into(),
        (_, Some(steps)) => {
            format!("time.max_steps = {steps} would end each grid at another time")
        }
    };
    Err(Error::refused(what, "give it alone: `--set 'time={ end = 1.0, cfl = 0.8 }'`"))
}

/// Whether the case has an exact solution at any time.
fn has_exact(config: &Config) -> bool {
    let (domain, active) = (&config.grid.domain, config.grid.points.map(|n| n > 1));
    let has_solution = match (config.case.scalar(), config.case.flow()) {
        (Some(scalar), _) => scalar.exact(domain, active, domain.middle(), 0.0).is_some(),
        (_, flow) => flow.is_some_and(|flow| flow.is_exact(&config.gas)),
    };
    has_solution && config.follows_case()
}

fn rows(points: &[usize], grids: &[Config], solved: &[Solved], end: f64) -> Vec<Row> {
    let last = solved.len() - 1;
    let finest = (&grids[last].grid(), &*solved[last].values);
    let mut rows: Vec<Row> = Vec::new();
    for (at, (one, config)) in solved.iter().zip(grids).enumerate() {
        let own = &config.grid();
        let error = one.error.or_else(|| (at < last).then(|| distance((own, &one.values), finest)));
        let floor = one.floor.sum();
        let floor_reached = rows.last().is_some_and(|row| row.floor_reached)
            || error.is_some_and(|[l2, _]| l2 < MIN_ERROR_OVER_FLOOR * floor);
        let order = |of: fn(&Row) -> Option<f64>, error: Option<f64>| {
            let before = rows.last().filter(|_| !floor_reached)?;
            let finer = resolution(config) / resolution(&grids[at - 1]);
            let order = (of(before)? / error?).ln() / finer.ln();
            Some(order).filter(|order| order.is_finite())
        };
        let [error_l2, error_max] = [0, 1].map(|norm| error.map(|error| error[norm]));
        rows.push(Row {
            points: points[at],
            grid: own.points,
            steps: one.steps,
            dt: end / one.steps as f64,
            order_l2: order(|row| row.error_l2, error_l2),
            order_max: order(|row| row.error_max, error_max),
            error_l2,
            error_max,
            floor,
            floor_reached,
            wall_seconds: one.wall_seconds,
        });
    }
    rows
}

impl Study {
    fn new(
        (config, directory): (&Config, PathBuf),
        time: f64,
        (exact, keep_cfl): (bool, bool),
        rows: Vec<Row>,
        floor: &Floor,
    ) -> Self {
        let (name, order) = config.time.method();
        let formal_order = formal_order(config);
        let is_flow = config.case.is_flow();
        let error = match rows.last().filter(|_| !exact) {
            Some(finest) => format!(
                "of the {}, against {} points at the common points of the grids",
                if is_flow { "velocity" } else { "scalar" },
                grid(finest.grid)
            ),
            None if config.case.opposite().is_some() => format!(
                "of {}, against the exact solution: half the difference of the runs with amplitude A and −A, from which what is \
                 of second order in A drops out",
                config.case.error_quantity()
            ),
            None => format!("of {}, against the exact solution", config.case.error_quantity()),
        };
        let step = match config.time.step {
            StepSize::Cfl(cfl) if !keep_cfl && relative_order_excess(config) > 0.0 => format!(
                "time.cfl = {cfl} on the coarsest grid, dt smaller by (n0/n)^{:.2} on the others, so that the error of {name} (order \
                 {order}) falls with h^{formal_order} like that of the scheme",
                1.0 + relative_order_excess(config)
            ),
            StepSize::Cfl(cfl) => format!(
                "time.cfl = {cfl}: dt falls with h, with h² where viscosity limits it, and the error of {name} (order \
                 {order}) falls with dt^{order}"
            ),
            StepSize::Fixed(dt) => format!(
                "dt = {} on every grid: the error of {name} (order {order}) is the same on all of them, and {}",
                dt.min(time),
                match exact {
                    true => "it remains where orders fall to 0",
                    false => "cancels in their differences",
                }
            ),
        };
        let mut study = Self {
            case: config.case.name().into(),
            scheme: config.scheme.derivative.name.into(),
            formal_order,
            integrator: name.into(),
            integrator_order: order,
            time,
            error,
            step,
            rows,
            notes: Vec::new(),
            directory,
        };
        study.notes = study.remarks(config, floor);
        study
    }

    /// Possible reasons for a last order below the formal one.
    fn remarks(&self, config: &Config, floor: &Floor) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(config.case.grid_dependence().map(|why| {
            format!("the initial state differs between grids, so orders have little meaning: {why}")
        }));
        if let Some(filter) = config.scheme.filter {
            notes.push(format!("a filter of order {} adds its own error", filter.order));
        }
        if let Some(row) = self.rows.iter().find(|row| row.floor_reached) {
            notes.push(format!(
                "from {} points on the error has reached its floor, which a finer grid does not lower, and no order can be computed; \
                 most of it is {}",
                grid(row.grid),
                floor.cause()
            ));
        }
        let last = self.rows.iter().rev().find_map(|row| row.order_l2);
        let is_too_low =
            last.is_some_and(|last| last < f64::from(self.formal_order) - MIN_ORDER_DEFICIT);
        let (Some(last), Some(finest)) = (last, self.rows.last()) else { return notes };
        if is_too_low {
            let smaller = match config.time.step {
                StepSize::Cfl(_) => 0.25 * finest.dt,
                StepSize::Fixed(dt) => 0.5 * dt.min(self.time),
            };
            let name = &self.integrator;
            let method = match config.time.implicit {
                Some(_) => format!("implicit = {{ method = \"{name}\" }}"),
                None => format!("integrator = \"{name}\""),
            };
            notes.push(format!(
                "the last order, {last:.2}, lies below the formal {}: where that is the error of the time step, a \
                 smaller one shows it: --set 'time={{ end = {}, dt = {smaller:.1e}, {method} }}'; or the case is \
                 not smooth or not yet resolved",
                self.formal_order, self.time
            ));
        }
        notes
    }
}

/// The lowest order of the formulas used by the equations.
fn formal_order(config: &Config) -> u32 {
    let scheme = &config.scheme;
    let family = &scheme.derivative;
    let midpoints = family.midpoint_derivative.order.min(family.midpoint_interpolation.order);
    if !config.case.is_flow() {
        return family.first.order.min(family.second.order);
    }
    let convection = match scheme.convection {
        // Split energy equations use collocated derivatives in addition to the staggered ones.
        Convection::Staggered if scheme.energy == EnergyForm::Divergence => midpoints,
        Convection::Staggered => midpoints.min(family.first.order),
        _ => family.first.order,
    };
    let viscous = match scheme.viscous {
        _ if config.gas.is_inviscid() => convection,
        ViscousForm::Laplacian => family.second.order.min(family.first.order),
        ViscousForm::Midpoint => midpoints.min(family.first.order),
        ViscousForm::Conservative => family.first.order,
    };
    let has_second = scheme.viscous == ViscousForm::Laplacian && !config.gas.is_inviscid();
    let ends = unmapped_grid(config).ends.into_iter().flatten().flatten();
    convection
        .min(viscous)
        .min(ends.fold(u32::MAX, |order, end| order.min(order_at(end, family, has_second))))
}

/// The order of solutions that the rows at `end` allow: one more than that of the lowest (Gustafsson 1975). At symmetry planes the formulas
/// continue with the mirror image of the flow.
fn order_at(end: End, family: &SchemeFamily, has_second: bool) -> u32 {
    let formulas = [Some(&family.first), has_second.then_some(&family.second)];
    let formulas = formulas.into_iter().flatten();
    let closures = formulas.filter_map(|scheme| closure_at(end, scheme, false));
    let rows = closures.flat_map(|closure| closure.rows).map(|row| row.order);
    rows.min().filter(|_| end != End::Symmetry).map_or(u32::MAX, |order| order + 1)
}
