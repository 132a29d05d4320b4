//! `[output]`

use std::path::PathBuf;

use super::read::{AXES, PRECISIONS};
use super::section::{FINITE, NOT_NEGATIVE, POSITIVE, Section, WordOrTable};
use super::{
    CheckpointConfig, FieldsConfig, OnFailure, OutputConfig, PlanesConfig, Region, Schedule,
    Statistic, StatisticsConfig, Variable,
};
use crate::cases::{Case, Domain};
use crate::grid::MOST_POINTS;

/// What the user types among `output.fields.variables`, but for `scalar`.
const OF_A_FLOW: [(&str, Variable); 7] = [
    ("velocity", Variable::Velocity),
    ("density", Variable::Density),
    ("pressure", Variable::Pressure),
    ("temperature", Variable::Temperature),
    ("vorticity", Variable::Vorticity),
    ("q_criterion", Variable::QCriterion),
    ("dilatation", Variable::Dilatation),
];
const OF_A_SCALAR: [(&str, Variable); 1] = [("scalar", Variable::Scalar)];
/// Fields of a flow where the user names none.
const DEFAULT: [Variable; 4] =
    [Variable::Velocity, Variable::Density, Variable::Pressure, Variable::QCriterion];

impl Variable {
    /// What the user types: `q_criterion`.
    pub fn name(self) -> &'static str {
        let known = OF_A_FLOW.iter().chain(&OF_A_SCALAR);
        known.into_iter().find(|(_, variable)| *variable == self).map_or("", |(name, _)| name)
    }
}

/// What the user types among `output.statistics.quantities`.
pub(super) const STATISTICS: [(&str, Statistic); 4] = [
    ("moments", Statistic::Moments),
    ("spectra", Statistic::Spectra),
    ("increments", Statistic::Increments),
    ("gradients", Statistic::Gradients),
];
/// Those of them that a scalar has.
const OF_A_SCALAR_FIELD: [(&str, Statistic); 2] = [STATISTICS[0], STATISTICS[1]];
/// What the user types as `output.on_failure`.
pub(super) const ON_FAILURE: [(&str, OnFailure); 2] =
    [("stop", OnFailure::Stop), ("continue", OnFailure::Continue)];
/// The part of a length by which a coordinate may be off: 2π is typed with a few digits.
const ROUNDED: f64 = 1e-3;
/// Most files that fields of one time may be written into, and most checkpoints that may be kept.
const MOST_FILES: u64 = 1 << 20;

/// `[output]`, whose defaults depend on the case.
pub(super) fn output(section: &Section<'_>, case: Option<&Case>) -> Option<OutputConfig> {
    let directory = match section.text("directory") {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from("runs").join(case.map_or("", Case::name)),
    };
    let series = if section.has("series") {
        section.table("series", "{ every_steps = 10 }").and_then(|table| {
            let schedule = schedule(&table);
            table.finish();
            schedule
        })
    } else {
        Some(Schedule { every_steps: Some(10), ..Schedule::default() })
    };
    let fields = fields(section, case);
    let planes = planes(section, case);
    let statistics = statistics(section, case);
    let checkpoint = checkpoint(section);
    let on_failure = section.choice("on_failure", &ON_FAILURE).unwrap_or(OnFailure::Stop);
    section.finish();
    Some(OutputConfig {
        directory,
        series: series?,
        fields,
        planes,
        statistics,
        checkpoint,
        on_failure,
    })
}

/// Something of the box in every region, and every plane in it.
pub(super) fn check_places(section: &Section<'_>, output: &OutputConfig, domain: &Domain) {
    for axis in 0..3 {
        let (length, name) = (domain.length[axis], AXES[axis]);
        let (first, last) = (domain.origin[axis], domain.origin[axis] + length);
        let is_before = |x: f64| x < first - ROUNDED * length;
        let is_behind = |x: f64| x > last + ROUNDED * length;
        let extent = format!("along {name} the box goes from {first} to {last}");
        if let Some(region) = output.fields.as_ref().and_then(|fields| fields.region)
            && let Some(fields) = table(section, "fields", "")
            && let Some(table) = fields.table("region", "")
        {
            let why = "the region lies outside the box";
            if is_behind(region.from[axis]) {
                table.reject_value("from", why, &extent);
            }
            if is_before(region.to[axis]) {
                table.reject_value("to", why, &extent);
            }
        }
        if let Some(planes) = &output.planes
            && let Some(x) = planes.at[axis].iter().find(|x| is_before(**x) || is_behind(**x))
            && let Some(table) = table(section, "planes", "")
        {
            table.reject_value(name, &format!("{x} lies outside the box"), &extent);
        }
    }
}

/// Every interval of time long enough to change the time at the `end`.
pub(super) fn check_intervals(section: &Section<'_>, output: &OutputConfig, end: Option<f64>) {
    let Some(end) = end else { return };
    let schedules = [
        ("series", Some(output.series)),
        ("fields", output.fields.as_ref().map(|fields| fields.schedule)),
        ("planes", output.planes.as_ref().map(|planes| planes.schedule)),
        ("statistics", output.statistics.as_ref().map(|statistics| statistics.schedule)),
        ("checkpoint", output.checkpoint.as_ref().and_then(|checkpoint| checkpoint.schedule)),
    ];
    for (key, schedule) in schedules {
        let interval = schedule.and_then(|schedule| schedule.every_time);
        if interval.is_some_and(|interval| end + interval <= end)
            && let Some(table) = table(section, key, "")
        {
            let why = format!("too small: t + every_time = t at time.end = {end}");
            table.reject_value("every_time", &why, "");
        }
    }
}

/// The table at `key`, which may be the word "none".
fn table<'a>(section: &Section<'a>, key: &'static str, example: &str) -> Option<Section<'a>> {
    match section.word_or_table(key, &[("none", ())], example)? {
        WordOrTable::Table(table) => Some(table),
        WordOrTable::Word(()) => None,
    }
}

/// `output.fields`
fn fields(section: &Section<'_>, case: Option<&Case>) -> Option<FieldsConfig> {
    let example = "{ every_time = 1.0, variables = [\"velocity\"] }";
    let table = table(section, "fields", example)?;
    let schedule = schedule(&table);
    let variables = variables(&table, case);
    let precision = table.choice("precision", &PRECISIONS);
    let region = region(&table);
    let size = |key, most| table.integer(key, 1, most).and_then(|value| value.try_into().ok());
    let (stride, pieces) = (size("stride", MOST_POINTS as u64), size("pieces", MOST_FILES));
    table.finish();
    Some(FieldsConfig {
        schedule: schedule?,
        variables: variables?,
        precision,
        region,
        stride: stride.unwrap_or(1),
        pieces,
    })
}

/// `output.fields.region`
fn region(section: &Section<'_>) -> Option<Region> {
    if !section.has("region") {
        return None;
    }
    let table = section.table("region", "{ from = [0.0, 0.0, 0.0], to = [1.0, 1.0, 1.0] }")?;
    let missing = ["from", "to"].into_iter().filter(|key| !table.has(key)).collect::<Vec<_>>();
    if !missing.is_empty() {
        table.missing(&missing, "each has the coordinates of a corner: [x, y, z]");
    }
    let (from, to) = (table.numbers("from", FINITE), table.numbers("to", FINITE));
    table.finish();
    let region = Region { from: from?, to: to? };
    if (0..3).any(|a| region.from[a] > region.to[a]) {
        table.reject_value("to", "must not be less than `from` along any axis", "");
    }
    Some(region)
}

/// `output.planes`
fn planes(section: &Section<'_>, case: Option<&Case>) -> Option<PlanesConfig> {
    let table = table(section, "planes", "{ every_time = 0.1, z = [0.0] }")?;
    let schedule = schedule(&table);
    let variables = variables(&table, case);
    let precision = table.choice("precision", &PRECISIONS);
    if !AXES.iter().any(|axis| table.has(axis)) {
        table.missing(
            &AXES,
            "each has coordinates, such as z = [0.0, 3.14]; several may stand together",
        );
    }
    let at = AXES.map(|axis| table.any_numbers(axis, FINITE).unwrap_or_default());
    table.finish();
    Some(PlanesConfig { schedule: schedule?, at, variables: variables?, precision })
}

/// `output.statistics`
fn statistics(section: &Section<'_>, case: Option<&Case>) -> Option<StatisticsConfig> {
    let example = "{ every_time = 0.5, quantities = [\"spectra\"] }";
    let table = table(section, "statistics", example)?;
    let schedule = schedule(&table);
    let from = table.number("from", NOT_NEGATIVE).unwrap_or(0.0);
    let is_scalar = case.is_some_and(|case| case.flow().is_none());
    let known = if is_scalar { &OF_A_SCALAR_FIELD[..] } else { &STATISTICS };
    let quantities = match table.has("quantities") {
        true => table.choices("quantities", known, "quantity"),
        false => Some(known.iter().map(|(_, quantity)| *quantity).collect()),
    };
    table.finish();
    Some(StatisticsConfig { schedule: schedule?, from, quantities: quantities? })
}

/// What the user types as `output.checkpoint`, but for a table.
pub(super) const CHECKPOINTS: [(&str, Option<CheckpointConfig>); 2] =
    [("last", Some(CheckpointConfig::LAST)), ("none", None)];

/// `output.checkpoint`
fn checkpoint(section: &Section<'_>) -> Option<CheckpointConfig> {
    let usual = CheckpointConfig::LAST;
    if !section.has("checkpoint") {
        return Some(usual);
    }
    let example = "{ every_time = 1.0, keep = 2 }";
    let table = match section.word_or_table("checkpoint", &CHECKPOINTS, example)? {
        WordOrTable::Word(asked) => return asked,
        WordOrTable::Table(table) => table,
    };
    let schedule = schedule(&table);
    let keep = table.integer("keep", 1, MOST_FILES).and_then(|keep| keep.try_into().ok());
    let asynchronous = table.boolean("asynchronous").unwrap_or(usual.asynchronous);
    let compress = table.boolean("compress").unwrap_or(usual.compress);
    table.finish();
    let keep = keep.unwrap_or(usual.keep);
    Some(CheckpointConfig { schedule: Some(schedule?), keep, asynchronous, compress })
}

/// The keys of a schedule, one of them at least.
fn schedule(section: &Section<'_>) -> Option<Schedule> {
    let schedule = Schedule {
        every_steps: section.integer("every_steps", 1, u64::MAX),
        every_time: section.number("every_time", POSITIVE),
        every_wall: section.number("every_wall", POSITIVE),
    };
    let keys = ["every_steps", "every_time", "every_wall"];
    if !keys.iter().any(|key| section.has(key)) {
        section.missing(&keys, "several may stand together");
        return None;
    }
    Some(schedule)
}

/// The `variables` of a table of fields.
fn variables(section: &Section<'_>, case: Option<&Case>) -> Option<Vec<Variable>> {
    let is_scalar = case.is_some_and(|case| case.flow().is_none());
    let known = match case {
        // Whether the scalar is there cannot be said of a case that is not known.
        None => [&OF_A_FLOW[..], &OF_A_SCALAR].concat(),
        Some(_) if is_scalar => OF_A_SCALAR.to_vec(),
        Some(_) => OF_A_FLOW.to_vec(),
    };
    if !section.has("variables") {
        return Some(if is_scalar { vec![Variable::Scalar] } else { DEFAULT.to_vec() });
    }
    if section.is_word_or_its_list("variables", "all") {
        return Some(known.into_iter().map(|(_, variable)| variable).collect());
    }
    section.choices("variables", &known, "field")
}
