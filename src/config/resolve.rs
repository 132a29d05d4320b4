//! `[grid]`, `[scheme]` and `[compute]`, and the dependencies between the sections of an input.

use serde::{Deserialize, Serialize};

use super::problems::Problems;
use super::section::Section;
use super::value::Table;
use super::{
    Backend, ComputeConfig, Config, FilterConfig, Pencils, SchemeConfig, SweepConfig, ViscousForm,
    Wish, boundary, case, forcing, mapping, output, scalars, stretching, time,
};
use crate::backend::device::LineSolver;
use crate::boundary::Boundaries;
use crate::cases::Case;
use crate::engine::stretched;
use crate::gas::{Gas, Viscosity};
use crate::grid::{Curvilinear, Domain, Maps, Spacing, spacings};
use crate::real::Precision;
use crate::scheme::{Scheme, SchemeFamily, compact_filter, families};
use crate::typed::{Positive, three};

/// Names of the axes in an input.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// `[grid]`
#[derive(Clone, Debug, PartialEq)]
pub struct GridConfig {
    /// Number of points along x, y, z; 1 along axes on which nothing depends.
    pub points: [usize; 3],
    /// The box: that of the case, or with the `length` of the user.
    pub domain: Domain,
    /// Maps of the axes whose spacings vary.
    pub stretching: Maps,
    /// The points of a curvilinear grid.
    pub mapping: Option<Curvilinear>,
}

/// `[grid]` in the form of the input.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct GridKeys {
    #[serde(deserialize_with = "three::<usize, 1, 65536, _, _>")]
    pub(super) points: Option<[usize; 3]>,
    pub(super) length: Option<[Positive; 3]>,
}

/// The configuration in `table`; `None` only if a problem was reported.
pub(super) fn config(table: &Table, problems: &Problems) -> Option<Config> {
    let top = Section::top(table, problems);
    let case_keys = top.section("case");
    let grid_keys = top.section("grid");
    let gas_keys = top.section("gas");
    let boundary_keys = top.section("boundary");
    let forcing_keys = top.section("forcing");
    let scalar_keys = top.section("scalars");
    let scheme_keys = top.section("scheme");
    let time_keys = top.section("time");
    let compute_keys = top.section("compute");
    let output_keys = top.section("output");
    top.finish();

    let case = case::case(&case_keys);
    let gas = case::gas(&case_keys, &gas_keys, case.as_ref());
    if case.is_some() {
        case_keys.finish();
    }
    let boundaries = boundary::boundaries(&boundary_keys, case.as_ref(), &gas);
    let scalars = scalars::scalars(&scalar_keys, case.as_ref(), &boundaries);
    let mapping = mapping::mapping(&grid_keys, case.as_ref(), &boundaries);
    let (points, length, maps) = grid(&grid_keys, mapping.as_ref());
    let spacings = spacings(&maps, mapping.as_ref());
    // An axis with one point has no ends.
    let periodic = boundary::is_periodic(&boundaries, points.unwrap_or([usize::MAX; 3]));
    let scheme = scheme(&scheme_keys, case.as_ref(), &gas, (periodic, mapping.is_some()));
    if let (Some(points), Some(scheme)) = (points, &scheme) {
        check_stencils(&grid_keys, points, scheme, (&boundaries, spacings));
    }
    let domain = case.as_ref().map(|case| resized(case.domain(), length));
    let case_forcing =
        case.as_ref().zip(domain).and_then(|(case, domain)| case.forcing(&gas, &domain));
    let forcing = forcing::forcing(&forcing_keys, case.as_ref(), case_forcing);
    let time = time::time(&time_keys);
    let compute = compute(&compute_keys);
    let output = output::output(&output_keys, case.as_ref(), &scalars);

    let family = scheme.as_ref().map(|scheme| &scheme.derivative);
    let (case, domain) = case.zip(domain)?;
    if let Some(points) = points {
        check_axes(&grid_keys, points, &case);
        stretching::check(&grid_keys, &maps, points, (&domain, &boundaries), family);
        case::check_waves(&case_keys, points, &case);
        forcing.iter().for_each(|it| forcing::check_waves(&forcing_keys, points, &domain, it));
    }
    if let Some(output) = &output {
        output::check_regions_and_planes(&output_keys, output, &domain);
        output::check_turbulence(&output_keys, output, points);
        output::check_intervals(&output_keys, output, time.as_ref().and_then(|time| time.end));
    }
    let on_grid = points.zip(family).map(|(points, family)| {
        let grid = boundaries.grid(points, &domain, spacings);
        case.problems_on(&stretched(grid, &domain, &maps, family))
    });
    let problems = case.problems(&gas, &domain).into_iter().chain(on_grid.unwrap_or_default());
    for (key, sentence) in problems {
        let section = if key == "length" { &grid_keys } else { &case_keys };
        section.reject_key(key, &sentence);
    }
    if let Some(mapping) = &mapping {
        let place = (&domain, &boundaries);
        let keys = [&grid_keys, &boundary_keys];
        points.inspect(|points| mapping::check(keys, mapping, *points, place, family));
        let others = [
            &grid_keys,
            &boundary_keys,
            &scalar_keys,
            &scheme_keys,
            &forcing_keys,
            &compute_keys,
            &output_keys,
        ];
        let schemes = (scheme.as_ref(), compute.as_ref());
        mapping::check_features(&case, &boundaries, schemes, forcing.is_some(), others);
    }
    let others = [&grid_keys, &forcing_keys, &output_keys];
    let grid = GridConfig { points: points?, domain, stretching: maps, mapping };
    let flow = (periodic, forcing.is_some());
    stretching::check_features(&case, flow, &grid.stretching, others);
    let (scheme, time, compute, output) = (scheme?, time?, compute?, output?);
    // If a mapping was rejected, the extent of the box is unknown.
    if grid.mapping.is_none() && !grid_keys.has_other_than("mapping", "none") {
        boundary::check_sponges(&boundary_keys, &boundaries, &domain);
    }
    forcing
        .iter()
        .for_each(|it| boundary::check_force(&forcing_keys, &boundaries, grid.points, it));
    boundary::check_statistics(&boundaries, grid.points, &output, &output_keys);
    let config = Config {
        origin: None,
        case,
        gas,
        grid,
        boundaries,
        forcing,
        scalars,
        scheme,
        time,
        compute,
        output,
    };
    check_filter(&scheme_keys, &config);
    check_implicit(&time_keys, &config);
    Some(config)
}

/// `grid.points` (a file of points may define it), `grid.length` and `grid.stretching`.
fn grid(
    section: &Section<'_>,
    mapping: Option<&Curvilinear>,
) -> (Option<[usize; 3]>, Option<[f64; 3]>, Maps) {
    let GridKeys { mut points, length } = section.read().unwrap_or_default();
    if !section.has("points") {
        points = mapping::points(mapping);
        // The number of points of a rejected file is unknown.
        if points.is_none() && !mapping::is_refused_file(section, mapping) {
            section.missing(&["points"], "for example points = [64, 64, 64]");
        }
    }
    if points == Some([1; 3]) {
        section.reject_value("points", "at least one axis needs more than 1 point", "");
    }
    let stretching = stretching::stretching(section);
    section.finish();
    let length = length.map(|length| length.map(|Positive(x)| x));
    (points.filter(|points| *points != [1; 3]), length, stretching)
}

/// The box of the case, or a box of the given length with the same centre.
fn resized(domain: Domain, length: Option<[f64; 3]>) -> Domain {
    let Some(length) = length else { return domain };
    let origin = [0, 1, 2].map(|axis| domain.origin[axis] * (length[axis] / domain.length[axis]));
    Domain { origin, length }
}

/// The minimum number of points along each axis that varies, and the formula that requires it.
fn min_points_per_axis(
    scheme: &SchemeConfig,
    (boundaries, spacings): (&Boundaries, [Spacing; 3]),
) -> [(usize, String); 3] {
    let SchemeFamily { name, first, second, midpoint_derivative, midpoint_interpolation } =
        scheme.derivative;
    let formulas = [first, second, midpoint_derivative, midpoint_interpolation];
    let family = formulas.iter().map(Scheme::min_points).fold(0, usize::max);
    let mut min_points = (family, name.to_owned());
    if let Some(FilterConfig { order, alpha, .. }) = scheme.filter {
        let filter = compact_filter(order, alpha).min_points();
        if filter > family {
            min_points = (filter, format!("the filter of order {order}"));
        }
    }
    [0, 1, 2].map(|a| {
        let closed =
            boundaries.0[a].map(|faces| boundary::closed_min_points(scheme, faces, spacings[a]));
        closed.unwrap_or_else(|| min_points.clone())
    })
}

impl Config {
    /// The minimum number of points along each axis on which the flow depends.
    pub(crate) fn min_points(&self) -> [usize; 3] {
        let spacings = spacings(&self.grid.stretching, self.grid.mapping.as_ref());
        min_points_per_axis(&self.scheme, (&self.boundaries, spacings)).map(|(least, _)| least)
    }
}

/// Require enough points along each axis for the formulas of this run.
fn check_stencils(
    section: &Section<'_>,
    points: [usize; 3],
    scheme: &SchemeConfig,
    ends: (&Boundaries, [Spacing; 3]),
) {
    let needed = min_points_per_axis(scheme, ends);
    for (axis, n) in points.into_iter().enumerate().filter(|&(_, n)| n > 1) {
        let (min_points, formula) = &needed[axis];
        if n >= *min_points {
            continue;
        }
        let why = format!("{n} points along {}; {formula} needs {min_points}", AXES[axis]);
        let advice = format!(
            "use at least {min_points} points, 1 where nothing varies, or a narrower formula"
        );
        section.reject_value("points", &why, &advice);
    }
}

/// Require more than one point along each axis on which the flow depends.
fn check_axes(section: &Section<'_>, points: [usize; 3], case: &Case) {
    let needed = case.about().needs;
    if (0..3).any(|axis| needed[axis] && points[axis] == 1) {
        let axes: Vec<&str> = (0..3).filter(|&axis| needed[axis]).map(|axis| AXES[axis]).collect();
        let axes = if axes.len() == 3 { "every axis".into() } else { axes.join(" and ") };
        let why = format!("{} needs more than 1 point along {axes}", case.name());
        section.reject_value("points", &why, "");
    }
}

/// `[scheme]`
fn scheme(
    section: &Section<'_>,
    case: Option<&Case>,
    gas: &Gas,
    (periodic, curved): (bool, bool),
) -> Option<SchemeConfig> {
    let known: Vec<_> = families().iter().map(|family| (family.name, *family)).collect();
    let derivative = section.choice("derivative", &known);
    let mut scheme = if case::is_scalar(case) {
        for key in ["convection", "energy", "viscous"] {
            let advice = "scalar-advection has one form of each term; remove this key";
            section.forbid(key, "has no meaning for scalar-advection", advice);
        }
        SchemeConfig::default()
    } else {
        section.read_or_auto(&["viscous"])?
    };
    let is_given = section.has_other_than("viscous", "auto");
    if !is_given && (curved || gas.viscosity != Viscosity::Constant) {
        scheme.viscous = match periodic && !curved {
            true => ViscousForm::Midpoint,
            false => ViscousForm::Conservative,
        };
    }
    scheme.filter = filter(section);
    boundary::check_scheme(section, &scheme, periodic);
    section.finish();
    scheme.derivative = if section.has("derivative") { derivative? } else { scheme.derivative };
    Some(scheme)
}

/// `scheme.filter`
fn filter(section: &Section<'_>) -> Option<FilterConfig> {
    let table = section.table_or_none("filter", "{ order = 8, alpha = 0.495, every = 1 }")?;
    let filter: Option<FilterConfig> = table.read();
    // The resolved input contains both keys.
    if filter.is_some_and(|filter| filter.time.is_some() && filter.every != 1) {
        table.reject_value(
            "every",
            "cannot be combined with `time`; only one of them sets the interval",
            "",
        );
    }
    table.finish();
    filter.filter(|_| table.refused.borrow().is_empty())
}

/// Check the limits of a filter that acts as a rate.
fn check_filter(section: &Section<'_>, config: &Config) {
    if config.scheme.filter.is_none_or(|filter| filter.time.is_none()) {
        return;
    }
    let why = match () {
        () if !config.case.is_flow() => "acts as a rate only on flows",
        () if !config.scalars.is_empty() => "cannot act as a rate on passive scalars yet",
        () => return,
    };
    section.reject_value("filter", why, "use `every` instead of `time`");
}

/// Whether a wall oscillates.
fn oscillates(boundaries: &Boundaries) -> bool {
    boundaries.faces().filter_map(|(.., face)| face.wall()).any(|wall| wall.frequency != 0.0)
}

/// Check the limits of implicit steps.
fn check_implicit(section: &Section<'_>, config: &Config) {
    if config.time.implicit.is_none() {
        return;
    }
    let why = match () {
        () if !config.case.is_flow() => "is not available for scalar-advection",
        () if config.compute.precision == Precision::F32 => "needs 64-bit fields",
        () if !config.scalars.is_empty() => "does not support passive scalars yet",
        () if config.forcing.is_some() => "does not support a force yet",
        () if config.time.is_steady() && oscillates(&config.boundaries) => {
            "cannot reach a steady flow with an oscillating wall"
        }
        () => return,
    };
    section.reject_value("implicit", why, "remove this key to use explicit steps");
}

/// `compute.sweeps`
fn sweeps(section: &Section<'_>) -> Option<SweepConfig> {
    let example = "{ points = 8, lines = 4, resident = 2, early = true, turns = 16, link = true }";
    let table = section.table("sweeps", example)?;
    let keys = ["points", "lines", "resident", "early", "turns", "link"];
    let sweeps = table.read_or_auto(&keys);
    table.finish();
    sweeps
}

/// `[compute]`
fn compute(section: &Section<'_>) -> Option<ComputeConfig> {
    let auto = ["device", "threads", "simd", "line_solver", "distributed", "ranks"];
    let mut compute: ComputeConfig = section.read_or_auto(&auto)?;
    compute.sweeps = sweeps(section).unwrap_or_default();
    if compute.backend == Backend::Cpu {
        let refuse = |key, why: &str| {
            let advice = "use `--backend cuda` or `--backend opencl`, or remove this key";
            section.reject_value(key, why, advice);
        };
        if compute.device.is_some_and(|device| device != 0) {
            refuse("device", "the CPU is one device, number 0");
        }
        if let Some(why) = compute.line_solver.and_then(LineSolver::unavailable_on_host) {
            refuse("line_solver", &why);
        }
        if compute.pencils == Pencils::Permuted {
            refuse("pencils", "the CPU solves lines in place");
        }
        if compute.sweeps.is_set() {
            refuse("sweeps", "the CPU has no thread blocks");
        }
    }
    if compute.sweeps.is_set()
        && (compute.line_solver.is_some() || compute.pencils == Pencils::Permuted)
    {
        let why = "with `line_solver` or `pencils`, sweeps are run operator by operator";
        section.reject_value("sweeps", why, "remove one of them");
    }
    for (key, wish) in [("device_aware", compute.device_aware), ("nccl", compute.nccl)] {
        if wish == Wish::Force && matches!(compute.backend, Backend::Cpu | Backend::OpenCl) {
            let why = "only messages of `--backend cuda` can go from device to device";
            section.reject_value(key, why, "use `auto`, or remove this key");
        }
    }
    if [compute.device_aware, compute.nccl] == [Wish::Force; 2] {
        let why = "conflicts with `device_aware = \"force\"`, another route for messages";
        section.reject_value("nccl", why, "use `auto` for one of them, or remove it");
    }
    section.finish();
    Some(compute)
}
