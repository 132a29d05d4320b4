//! The checks and defaults of an input, section by section.

use std::path::Path;

use super::problems::{Problems, closest, hint};
use super::section::{FILTER_ALPHA, POSITIVE, Section, WordOrTable};
use super::value::{Place, Table, Value};
use super::{
    Backend, ComputeConfig, Config, Convection, DeviceAware, EnergyForm, FilterConfig, GridConfig,
    Pencils, Precision, RightHandSide, SchemeConfig, StepSize, TimeConfig, ViscousForm, WallLimit,
    case, document, origin, output,
};
use crate::backend::device::LineSolver;
use crate::cases::{self, Case, Domain, NAMES};
use crate::engine::distributed::Method;
use crate::error::{Error, Result};
use crate::grid;
use crate::io::open;
use crate::physics::{Gas, Viscosity};
use crate::scheme::{Scheme, SchemeFamily, TABLEAUX, Tableau, compact_filter, families};

/// What the user calls the axes.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];
/// Most points along an axis.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a small number")]
const MOST_POINTS: i32 = grid::MOST_POINTS as i32;
/// Most threads that a user may ask for.
const MOST_THREADS: u64 = 4096;
/// Most ranks along an axis that a user may ask for.
const MOST_RANKS: i32 = MOST_POINTS;
/// Largest number of a device that a user may ask for.
const LAST_DEVICE: u64 = 1023;
/// Bytes of an input at most.
const LARGEST_INPUT: u64 = 4 << 20;
/// So many names of inputs are compared with one that is not there.
const MOST_NAMES: usize = 1000;
/// `time.cfl` where the user gives neither it nor `dt`.
const CFL: f64 = 0.8;

pub(super) const CONVECTIONS: [(&str, Convection); 4] = [
    ("divergence", Convection::Divergence),
    ("feiereisen", Convection::Feiereisen),
    ("kennedy-gruber", Convection::KennedyGruber),
    ("staggered", Convection::Staggered),
];
pub(super) const ENERGIES: [(&str, EnergyForm); 3] = [
    ("divergence", EnergyForm::Divergence),
    ("split-enthalpy", EnergyForm::SplitEnthalpy),
    ("split-pressure", EnergyForm::SplitPressure),
];
pub(super) const VISCOUS: [(&str, ViscousForm); 3] = [
    ("laplacian", ViscousForm::Laplacian),
    ("midpoint", ViscousForm::Midpoint),
    ("conservative", ViscousForm::Conservative),
];
pub(super) const BACKENDS: [(&str, Backend); 4] = [
    ("auto", Backend::Auto),
    ("cpu", Backend::Cpu),
    ("cuda", Backend::Cuda),
    ("opencl", Backend::OpenCl),
];
pub(super) const PRECISIONS: [(&str, Precision); 2] =
    [("f64", Precision::F64), ("f32", Precision::F32)];
pub(super) const PENCILS: [(&str, Pencils); 2] =
    [("strided", Pencils::Strided), ("permuted", Pencils::Permuted)];
pub(super) const RIGHT_HAND_SIDES: [(&str, RightHandSide); 2] =
    [("fused", RightHandSide::Fused), ("composed", RightHandSide::Composed)];
pub(super) const DEVICE_AWARE: [(&str, DeviceAware); 3] =
    [("auto", DeviceAware::Auto), ("force", DeviceAware::Force), ("off", DeviceAware::Off)];

/// What gives the resolved input of the checkpoint at a path, or of the newest of a run's.
pub type Base<'a> = &'a dyn Fn(&Path) -> Result<String>;

/// For an input that starts from the initial state of its case.
fn no_base(path: &Path) -> Result<String> {
    let what = "a checkpoint to start from has no meaning here".to_string();
    Err(Error::Format { path: path.to_path_buf(), what })
}

/// Read the input file at `path`, changed by `overrides`, the `key.path=value` of each `--set`.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) with everything that is wrong, as [`parse`]; also where the file
/// cannot be read.
pub fn load(path: &Path, overrides: &[String]) -> Result<Config> {
    load_on(path, overrides, &no_base)
}

/// The same, also where `case.name` is "from-checkpoint": keys that the input does not have are those of its checkpoint then.
///
/// # Errors
/// As [`load`].
pub fn load_on(path: &Path, overrides: &[String], base: Base<'_>) -> Result<Config> {
    let name = path.display().to_string();
    let refuse = |place, found: &str, advice: &str| {
        let problems = Problems::new(&name, overrides);
        problems.add(place, found, advice);
        problems.finish(None)
    };
    if path.is_dir() {
        return refuse(Place::Input, "a directory; the input is a TOML file", "");
    }
    let bytes = match open::read(path, LARGEST_INPUT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let advice =
                "`kolmo init CASE > my.toml` writes an input; `kolmo cases` lists the cases";
            return refuse(Place::Input, &format!("no such file{}", meant(path)), advice);
        }
        Err(error) => return refuse(Place::Input, &format!("cannot be read: {error}"), ""),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse_on(text, &name, overrides, base),
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            refuse(Place::Line(line), "not UTF-8 text", "save the file in the encoding UTF-8")
        }
    }
}

/// The input that a case comes with.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) where there is no such case, with the one that was probably meant.
pub fn built_in(case: &str) -> Result<&'static str> {
    cases::input(case).ok_or_else(|| {
        Error::Config(vec![
            format!("error: `{case}` is no case{}", hint(case, &NAMES)),
            format!("       the cases are: {}", NAMES.join(", ")),
        ])
    })
}

/// "; did you mean ...?", where a case or an input beside `path` has nearly that name.
fn meant(path: &Path) -> String {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries =
        std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let files: Vec<String> =
        files.filter(|name| name.ends_with(".toml")).take(MOST_NAMES).collect();
    let mut names: Vec<&str> = files.iter().map(String::as_str).collect();
    match folder {
        None => names.extend(NAMES),
        Some(folder) => {
            let Some(name) = closest(name, &names) else { return String::new() };
            return format!("; did you mean `{}`?", folder.join(name).display());
        }
    }
    // `my` for `my.toml` is nearer than it looks.
    let whole = format!("{name}.toml");
    match names.contains(&whole.as_str()) {
        true => format!("; did you mean `{whole}`?"),
        false => hint(name, &names),
    }
}

/// Read an input from its `text`; messages call it `name`. `overrides` are the `key.path=value` of each `--set`.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config): one full message for each problem, in the order of the lines, and a
/// last line that counts them.
pub fn parse(text: &str, name: &str, overrides: &[String]) -> Result<Config> {
    parse_on(text, name, overrides, &no_base)
}

/// The same as [`load_on`] does it.
///
/// # Errors
/// As [`parse`].
pub fn parse_on(text: &str, name: &str, overrides: &[String], base: Base<'_>) -> Result<Config> {
    let problems = Problems::new(name, overrides);
    let Some(mut table) = document::parse(text, &problems) else {
        return problems.finish(None);
    };
    document::set(&mut table, overrides, &problems);
    let Ok(origin) = origin::resolve(&mut table, base, &problems) else {
        return problems.finish(None);
    };
    let config = config(&table, &problems);
    problems.finish(config.map(|config| Config { origin, ..config }))
}

/// The configuration in `table`; `None` only where a problem was told.
fn config(table: &Table, problems: &Problems) -> Option<Config> {
    let top = Section::top(table, problems);
    let [case_keys, grid_keys, gas_keys, scheme_keys, time_keys, compute_keys, output_keys] =
        ["case", "grid", "gas", "scheme", "time", "compute", "output"].map(|key| top.section(key));
    top.finish();

    let case = case::case(&case_keys);
    let gas = case::gas(&case_keys, &gas_keys, case.as_ref());
    if case.is_some() {
        case_keys.finish();
    }
    let scheme = scheme(&scheme_keys, case.as_ref(), &gas);
    let points = grid_points(&grid_keys);
    let length = grid_keys.numbers("length", POSITIVE);
    grid_keys.finish();
    if let (Some(points), Some(scheme)) = (points, &scheme) {
        check_stencils(&grid_keys, points, scheme);
    }
    let time = time(&time_keys);
    let compute = compute(&compute_keys);
    let output = output::output(&output_keys, case.as_ref());

    let case = case?;
    let domain = stretched(case.domain(), length);
    if let Some(points) = points {
        check_axes(&grid_keys, points, &case);
        case::check_waves(&case_keys, points, &case);
    }
    if let Some(output) = &output {
        output::check_places(&output_keys, output, &domain);
        output::check_intervals(&output_keys, output, time.as_ref().and_then(|time| time.end));
    }
    for (key, sentence) in case.problems(&gas, &domain) {
        case_keys.reject_key(key, &sentence);
    }
    let grid = GridConfig { points: points?, domain };
    let origin = None;
    Some(Config { origin, case, gas, grid, scheme: scheme?, time: time?, compute, output: output? })
}

/// `grid.points`.
fn grid_points(section: &Section<'_>) -> Option<[usize; 3]> {
    if !section.has("points") {
        section.missing(&["points"], "for example points = [64, 64, 64]");
    }
    let points = section.integers::<3>("points", 1, MOST_POINTS)?;
    if points == [1; 3] {
        section.reject_value("points", "at least one axis needs more than 1 point", "");
        return None;
    }
    Some(points.map(|n| usize::try_from(n).unwrap_or(0)))
}

/// The case's box, or one of the given length about the same point.
fn stretched(domain: Domain, length: Option<[f64; 3]>) -> Domain {
    let Some(length) = length else { return domain };
    let origin = [0, 1, 2].map(|axis| domain.origin[axis] * (length[axis] / domain.length[axis]));
    Domain { origin, length }
}

/// Enough points along every axis for the formulas of this run.
fn check_stencils(section: &Section<'_>, points: [usize; 3], scheme: &SchemeConfig) {
    let SchemeFamily { name, first, second, midpoint_derivative, midpoint_interpolation } =
        scheme.derivative;
    let formulas = [first, second, midpoint_derivative, midpoint_interpolation];
    let family = formulas.iter().map(Scheme::min_points).fold(0, usize::max);
    let mut least = (family, name.to_owned());
    if let Some(FilterConfig { order, alpha, .. }) = scheme.filter {
        let filter = compact_filter(order, alpha).min_points();
        if filter > family {
            least = (filter, format!("the filter of order {order}"));
        }
    }
    let (least, formula) = least;
    for (axis, n) in points.into_iter().enumerate().filter(|&(_, n)| 1 < n && n < least) {
        let why = format!("{n} points along {}; {formula} needs {least}", AXES[axis]);
        let advice =
            format!("use at least {least} points, 1 where nothing varies, or a narrower formula");
        section.reject_value("points", &why, &advice);
    }
}

/// More than one point along every axis along which the flow varies.
fn check_axes(section: &Section<'_>, points: [usize; 3], case: &Case) {
    let needed = case.required_axes();
    if (0..3).any(|axis| needed[axis] && points[axis] == 1) {
        let axes: Vec<&str> = (0..3).filter(|&axis| needed[axis]).map(|axis| AXES[axis]).collect();
        let why = format!("{} needs more than 1 point along {}", case.name(), axes.join(" and "));
        section.reject_value("points", &why, "");
    }
}

/// `[scheme]`
fn scheme(section: &Section<'_>, case: Option<&Case>, gas: &Gas) -> Option<SchemeConfig> {
    let known: Vec<(&str, SchemeFamily)> =
        families().iter().map(|family| (family.name, *family)).collect();
    let derivative = if section.has("derivative") {
        section.choice("derivative", &known)
    } else {
        crate::scheme::family("compact6").copied()
    };
    let (mut convection, mut energy, mut viscous) = (None, None, None);
    if case.is_some_and(|case| case.flow().is_none()) {
        for key in ["convection", "energy", "viscous"] {
            let advice = "a scalar has one form of each term; take this out";
            section.reject_value(key, "has no meaning for scalar-advection", advice);
        }
    } else {
        convection = section.choice("convection", &CONVECTIONS);
        energy = section.choice("energy", &ENERGIES);
        let forms: Vec<(&str, Option<ViscousForm>)> = std::iter::once(("auto", None))
            .chain(VISCOUS.map(|(name, form)| (name, Some(form))))
            .collect();
        viscous = section.choice("viscous", &forms).flatten();
    }
    let filter = filter(section);
    section.finish();
    Some(SchemeConfig {
        derivative: derivative?,
        convection: convection.unwrap_or(Convection::KennedyGruber),
        energy: energy.unwrap_or(EnergyForm::SplitPressure),
        viscous: viscous.unwrap_or(match gas.viscosity {
            Viscosity::Constant => ViscousForm::Laplacian,
            _ => ViscousForm::Midpoint,
        }),
        filter,
    })
}

/// `scheme.filter`
fn filter(section: &Section<'_>) -> Option<FilterConfig> {
    let example = "{ order = 8, alpha = 0.495, every = 1 }";
    let WordOrTable::Table(table) = section.word_or_table("filter", &[("none", ())], example)?
    else {
        return None;
    };
    let order = table.integer("order", 2, 10).unwrap_or(8);
    if order % 2 != 0 {
        table.reject_value("order", "must be 2, 4, 6, 8 or 10", "");
    }
    let alpha = table.number("alpha", FILTER_ALPHA).unwrap_or(0.495);
    let every = table.integer("every", 1, u64::MAX).unwrap_or(1);
    table.finish();
    let order = u32::try_from(order).ok().filter(|order| order % 2 == 0)?;
    Some(FilterConfig { order, alpha, every })
}

/// `[time]`
fn time(section: &Section<'_>) -> Option<TimeConfig> {
    let known: Vec<(&str, &'static Tableau)> =
        TABLEAUX.iter().map(|tableau| (tableau.name, *tableau)).collect();
    let integrator = if section.has("integrator") {
        section.choice("integrator", &known)
    } else {
        crate::scheme::tableau("hale64")
    };
    if section.has("cfl") && section.has("dt") {
        section.reject_value("dt", "stands beside `cfl`; only one of them sets the step", "");
    }
    let cfl = section.number("cfl", POSITIVE).unwrap_or(CFL);
    let step = section.number("dt", POSITIVE).map_or(StepSize::Cfl(cfl), StepSize::Fixed);
    if !section.has("end") && !section.has("max_steps") {
        section.missing(&["end", "max_steps"], "for example end = 10.0");
    }
    let end = section.number("end", POSITIVE);
    if let (StepSize::Fixed(dt), Some(end)) = (step, end)
        && end + dt <= end
    {
        section.reject_value("dt", &format!("too small: t + dt = t at end = {end}"), "");
    }
    let max_steps = section.integer("max_steps", 1, u64::MAX);
    let wall_limit = wall_limit(section);
    section.finish();
    Some(TimeConfig { integrator: integrator?, step, end, max_steps, wall_limit })
}

/// `time.wall_limit`
fn wall_limit(section: &Section<'_>) -> Option<WallLimit> {
    let Value::String(text) = section.get("wall_limit")?.value else {
        return section.number("wall_limit", POSITIVE).map(WallLimit::Seconds);
    };
    if text == "auto" {
        return Some(WallLimit::Auto);
    }
    let limit = humantime::parse_duration(text).ok().filter(|limit| !limit.is_zero());
    if limit.is_none() {
        let allowed = "allowed: a duration such as \"11h50m\", seconds, or \"auto\", which asks the batch system";
        section.reject_value("wall_limit", "is no duration", allowed);
    }
    limit.map(|limit| WallLimit::Seconds(limit.as_secs_f64()))
}

/// `[compute]`
fn compute(section: &Section<'_>) -> ComputeConfig {
    let backend = section.choice("backend", &BACKENDS).unwrap_or(Backend::Auto);
    let device = section.integer_or_auto("device", 0, LAST_DEVICE);
    let threads = section.integer_or_auto("threads", 1, MOST_THREADS);
    let precision = section.choice("precision", &PRECISIONS).unwrap_or(Precision::F64);
    let solvers: Vec<(&str, Option<LineSolver>)> = std::iter::once(("auto", None))
        .chain(LineSolver::ALL.map(|solver| (solver.name(), Some(solver))))
        .collect();
    let line_solver = section.choice("line_solver", &solvers).flatten();
    let pencils = section.choice("pencils", &PENCILS).unwrap_or(Pencils::Strided);
    let right_hand_side = section.choice("right_hand_side", &RIGHT_HAND_SIDES);
    let tune = section.boolean("tune").unwrap_or(true);
    if backend == Backend::Cpu {
        let refuse = |key, why: &str| {
            let advice = "use `--backend cuda` or `--backend opencl`, or take this out";
            section.reject_value(key, why, advice);
        };
        if device.is_some_and(|device| device != 0) {
            refuse("device", "the CPU is one device, number 0");
        }
        if line_solver.is_some_and(|solver| solver != LineSolver::THOMAS) {
            refuse("line_solver", "the CPU has `thomas` only");
        }
        if pencils == Pencils::Permuted {
            refuse("pencils", "the CPU solves lines where they lie");
        }
    }
    let methods: Vec<(&str, Option<Method>)> = std::iter::once(("auto", None))
        .chain(Method::ALL.map(|method| (method.name(), Some(method))))
        .collect();
    let distributed = section.choice("distributed", &methods).flatten();
    let ranks = section.integers_or_auto("ranks", 1, MOST_RANKS);
    let device_aware = section.choice("device_aware", &DEVICE_AWARE);
    if device_aware == Some(DeviceAware::Force) && matches!(backend, Backend::Cpu | Backend::OpenCl)
    {
        let why = "only messages of `--backend cuda` can go from device to device";
        section.reject_value("device_aware", why, "use `auto`, or take this out");
    }
    section.finish();
    ComputeConfig {
        backend,
        device: device.and_then(|device| usize::try_from(device).ok()),
        threads: threads.and_then(|threads| usize::try_from(threads).ok()),
        precision,
        line_solver,
        pencils,
        right_hand_side: right_hand_side.unwrap_or(RightHandSide::Fused),
        tune,
        distributed,
        ranks: ranks.map(|ranks| ranks.map(|along| usize::try_from(along).unwrap_or(1))),
        device_aware: device_aware.unwrap_or(DeviceAware::Auto),
    }
}
