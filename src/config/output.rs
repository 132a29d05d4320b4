//! `[output]`

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use super::case::is_scalar;
use super::resolve::AXES;
use super::section::Section;
use super::value::Value;
use super::{CheckpointConfig, Precision, Schedule, Statistic, StatisticsConfig, Variable};
use crate::cases::{Case, PassiveScalar};
use crate::grid::Domain;
use crate::io::MAX_FILES;
use crate::typed::{absolute, whole};

/// `[output]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputConfig {
    /// The run directory.
    #[serde(serialize_with = "serialize_path")]
    pub directory: PathBuf,
    /// When a row is written to `series.csv`.
    pub series: Schedule,
    /// When fields are written, and which; `None` is never.
    pub fields: Option<FieldsConfig>,
    /// When planes of fields are written, and which; `None` is never.
    pub planes: Option<PlanesConfig>,
    /// When statistics are computed, and of which quantities; `None` is never.
    pub statistics: Option<StatisticsConfig>,
    /// Which checkpoints are written; `None` is only one when a run is stopped.
    #[serde(serialize_with = "serialize_checkpoint")]
    pub checkpoint: Option<CheckpointConfig>,
    /// Reaction to a file that cannot be written.
    pub on_failure: OnFailure,
    /// A table of user-supplied curves to draw over those of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<PathBuf>,
}

/// Reaction to a file that cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The run stops.
    #[default]
    Stop,
    /// A warning is printed, and the run continues without that file.
    Continue,
}

/// `fields = { every_time, variables }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldsConfig {
    /// When fields are written.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Schedule,
    /// Which fields are written.
    #[serde(skip_deserializing)]
    pub variables: Vec<Variable>,
    /// Precision of the values in the files; `None` is the precision of the run.
    pub precision: Option<Precision>,
    /// The box that is written, given by the coordinates of two corners; `None` is the whole grid.
    #[serde(skip_deserializing)]
    pub region: Option<Region>,
    /// Output stride along each axis.
    #[serde(
        default = "one",
        deserialize_with = "whole::<usize, 1, 65536, _, _>",
        skip_serializing_if = "is_one"
    )]
    pub stride: usize,
    /// Number of files that the ranks write each time; `None` is one per rank.
    #[serde(default, deserialize_with = "whole::<usize, 1, MAX_FILES, _, _>")]
    pub pieces: Option<usize>,
}

/// `region = { from, to }`: from the point nearest to `from` to the point nearest to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Region {
    /// Smallest coordinates.
    pub from: [f64; 3],
    /// Largest coordinates.
    pub to: [f64; 3],
}

/// `planes = { every_time, z = [0.0], variables }`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanesConfig {
    /// When planes are written.
    #[serde(flatten, skip_deserializing)]
    pub schedule: Schedule,
    /// Coordinates of planes normal to x, y and z; each plane is that of the nearest points.
    #[serde(flatten, skip_deserializing, serialize_with = "by_axis")]
    pub at: [Vec<f64>; 3],
    /// Which fields.
    #[serde(skip_deserializing)]
    pub variables: Vec<Variable>,
    /// Precision of the values in the files; `None` is the precision of the run.
    pub precision: Option<Precision>,
}

fn one() -> usize {
    1
}

fn is_one(stride: &usize) -> bool {
    *stride == 1
}

fn serialize_path<S: Serializer>(path: &Path, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(&path.to_string_lossy())
}

fn by_axis<S: Serializer>(at: &[Vec<f64>; 3], output: S) -> Result<S::Ok, S::Error> {
    output.collect_map(AXES.into_iter().zip(at).filter(|(_, at)| !at.is_empty()))
}

/// Words that the user may type as `output.checkpoint` instead of a table.
const CHECKPOINT_WORDS: [(&str, Option<CheckpointConfig>); 2] =
    [("last", Some(CheckpointConfig::LAST)), ("none", None)];

fn serialize_checkpoint<S: Serializer>(
    checkpoint: &Option<CheckpointConfig>,
    output: S,
) -> Result<S::Ok, S::Error> {
    match CHECKPOINT_WORDS.iter().find(|(_, known)| known == checkpoint) {
        Some((word, _)) => output.serialize_str(word),
        None => checkpoint.serialize(output),
    }
}

/// `[output]`, whose defaults depend on the case.
pub(super) fn output(
    section: &Section<'_>,
    case: Option<&Case>,
    scalars: &[PassiveScalar],
) -> Option<OutputConfig> {
    let default_directory = || PathBuf::from("runs").join(case.map_or("", Case::name));
    let directory = section.value("directory").unwrap_or_else(default_directory);
    let mut series = Some(Schedule { every_steps: Some(10), ..Schedule::default() });
    if section.has("series") {
        let table = section.table("series", "{ every_steps = 10 }");
        series = table.as_ref().and_then(schedule);
        table.iter().for_each(Section::finish);
    }
    let known = known_variables(case, scalars);
    let (fields, planes) = (fields(section, &known), planes(section, &known));
    let (statistics, checkpoint) = (statistics(section, case, scalars), checkpoint(section));
    let on_failure = section.value("on_failure").unwrap_or_default();
    let reference = section.value("reference").map(absolute);
    section.finish();
    let series = series?;
    Some(OutputConfig {
        directory,
        series,
        fields,
        planes,
        statistics,
        checkpoint,
        on_failure,
        reference,
    })
}

/// Relative tolerance of a coordinate: 2π is typed with a few digits.
const COORDINATE_TOLERANCE: f64 = 1e-3;

/// Require that every region intersects the box and that every plane is inside it.
pub(super) fn check_regions_and_planes(
    section: &Section<'_>,
    output: &OutputConfig,
    domain: &Domain,
) {
    for axis in 0..3 {
        let (length, name) = (domain.length[axis], AXES[axis]);
        let (first, last) = (domain.origin[axis], domain.origin[axis] + length);
        let is_before = |x: f64| x < first - COORDINATE_TOLERANCE * length;
        let is_behind = |x: f64| x > last + COORDINATE_TOLERANCE * length;
        let extent = format!("along {name} the box goes from {first} to {last}");
        if let Some(region) = output.fields.as_ref().and_then(|fields| fields.region)
            && let Some(fields) = section.table_or_none("fields", "")
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
            && let Some(table) = section.table_or_none("planes", "")
        {
            table.reject_value(name, &format!("{x} lies outside the box"), &extent);
        }
    }
}

/// Statistics of turbulence need a three-dimensional grid.
pub(super) fn check_turbulence(
    section: &Section<'_>,
    output: &OutputConfig,
    points: Option<[usize; 3]>,
) {
    let has_turbulence = output
        .statistics
        .as_ref()
        .is_some_and(|statistics| statistics.quantities.contains(&Statistic::Turbulence));
    let flat = points.and_then(|points| points.iter().position(|&n| n == 1));
    if has_turbulence
        && let Some(axis) = flat
        && let Some(table) = section.table_or_none("statistics", "")
    {
        let why = format!(
            "`turbulence` needs a three-dimensional grid; there is 1 point along {}",
            AXES[axis]
        );
        table.reject_value("quantities", &why, "use more points, or remove `turbulence`");
    }
}

/// Require intervals of time that are long enough to change the time at the `end`.
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
            && let Some(table) = section.table_or_none(key, "")
        {
            let why = format!("too small: t + every_time = t at time.end = {end}");
            table.reject_value("every_time", &why, "");
        }
    }
}

/// `output.fields`
fn fields(section: &Section<'_>, known: &[Variable]) -> Option<FieldsConfig> {
    let example = "{ every_time = 1.0, variables = [\"velocity\"] }";
    let table = section.table_or_none("fields", example)?;
    let schedule = schedule(&table);
    let variables = variables(&table, known);
    let fields: Option<FieldsConfig> = table.read();
    let region = region(&table);
    table.finish();
    Some(FieldsConfig { schedule: schedule?, variables: variables?, region, ..fields? })
}

/// `output.fields.region`
fn region(section: &Section<'_>) -> Option<Region> {
    if !section.has("region") {
        return None;
    }
    let table = section.table("region", "{ from = [0.0, 0.0, 0.0], to = [1.0, 1.0, 1.0] }")?;
    let missing = ["from", "to"].into_iter().filter(|key| !table.has(key)).collect::<Vec<_>>();
    if !missing.is_empty() {
        table.missing(&missing, "each is a corner of the region: [x, y, z]");
    }
    let (from, to) = (table.value("from"), table.value("to"));
    table.finish();
    let region = Region { from: from?, to: to? };
    if (0..3).any(|a| region.from[a] > region.to[a]) {
        table.reject_value("to", "must not be less than `from` along any axis", "");
    }
    Some(region)
}

/// `output.planes`
fn planes(section: &Section<'_>, known: &[Variable]) -> Option<PlanesConfig> {
    let table = section.table_or_none("planes", "{ every_time = 0.1, z = [0.0] }")?;
    let schedule = schedule(&table);
    let variables = variables(&table, known);
    let planes: Option<PlanesConfig> = table.read();
    if !AXES.iter().any(|axis| table.has(axis)) {
        let advice = "each has coordinates, such as z = [0.0, 3.14]; several axes may be given";
        table.missing(&AXES, advice);
    }
    let at = AXES.map(|axis| table.value(axis).unwrap_or_default());
    table.finish();
    Some(PlanesConfig { schedule: schedule?, at, variables: variables?, ..planes? })
}

/// `output.statistics`
fn statistics(
    section: &Section<'_>,
    case: Option<&Case>,
    scalars: &[PassiveScalar],
) -> Option<StatisticsConfig> {
    let example = "{ every_time = 0.5, quantities = [\"spectra\"] }";
    let table = section.table_or_none("statistics", example)?;
    let schedule = schedule(&table);
    let statistics: Option<StatisticsConfig> = table.read();
    let known = if is_scalar(case) { &Statistic::ALL[..2] } else { &Statistic::ALL };
    let quantities = match table.has("quantities") {
        true => table.choices("quantities", known, |known| known.name(), "quantity"),
        // Turbulence needs a three-dimensional grid; it must be requested explicitly.
        false => Some(known[..known.len().min(4)].to_vec()),
    };
    table.finish();
    let scalars = scalars.iter().map(|scalar| scalar.name.clone()).collect();
    let (schedule, quantities) = (schedule?, quantities?);
    Some(StatisticsConfig { schedule, quantities, scalars, ..statistics? })
}

/// `output.checkpoint`
fn checkpoint(section: &Section<'_>) -> Option<CheckpointConfig> {
    if !section.has("checkpoint") {
        return Some(CheckpointConfig::LAST);
    }
    let example = "{ every_time = 1.0, keep = 2 }";
    let table = match section.table_or("checkpoint", &CHECKPOINT_WORDS, example)? {
        Ok(table) => table,
        Err(choice) => return choice,
    };
    let schedule = schedule(&table);
    let checkpoint: Option<CheckpointConfig> = table.read();
    table.finish();
    Some(CheckpointConfig { schedule: Some(schedule?), ..checkpoint? })
}

/// The keys of a schedule, of which at least one is needed.
fn schedule(section: &Section<'_>) -> Option<Schedule> {
    let schedule = section.read();
    let keys = ["every_steps", "every_time", "every_wall"];
    if !keys.iter().any(|key| section.has(key)) {
        section.missing(&keys, "several may be given");
        return None;
    }
    schedule
}

/// Variables that a run of `case` has.
fn known_variables(case: Option<&Case>, scalars: &[PassiveScalar]) -> Vec<Variable> {
    let mut known = Vec::new();
    // If the case is unknown, it is also unknown whether the scalar exists.
    if !is_scalar(case) {
        known.extend(Variable::FLOW_VARIABLES);
        known.extend(scalars.iter().map(|scalar| Variable::Passive(scalar.name.as_str().into())));
    }
    if is_scalar(case) || case.is_none() {
        known.push(Variable::Scalar);
    }
    known
}

/// The `variables` of a table of fields.
fn variables(section: &Section<'_>, known: &[Variable]) -> Option<Vec<Variable>> {
    let is_default = |variable: &&Variable| {
        use Variable::{Density, Passive, Pressure, QCriterion, Scalar, Velocity};
        matches!(variable, Velocity | Density | Pressure | QCriterion | Scalar | Passive(_))
    };
    match section.get("variables").map(|item| item.value) {
        None => Some(known.iter().filter(is_default).cloned().collect()),
        Some(value) if value.is_word("all") => Some(known.to_vec()),
        Some(Value::Array(words)) if words.len() == 1 && words[0].is_word("all") => {
            Some(known.to_vec())
        }
        Some(_) => section.choices("variables", known, Variable::name, "field"),
    }
}
