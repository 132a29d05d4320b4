//! Plausibility of the head of a checkpoint. A checksum shows that it is unchanged, not who wrote it.

use std::collections::BTreeMap;

use super::{Attributes, Head, OutputProgress};
use crate::grid::{Axis, MAX_POINTS_PER_AXIS};
use crate::io::directory::{is_of_a_run, is_plane};
use crate::io::summary::Part;

/// Maximum number of steps, and of other counts: integers up to it are exact in f64, the type of the rows of the series.
const MAX_COUNT: u64 = 1 << 53;
/// Longest name of a field.
const MAX_NAME_LENGTH: usize = 64;

/// The problem, as the end of a sentence.
type CheckResult = Result<(), String>;

impl Attributes {
    /// Check every value except the checksum.
    pub(super) fn check(&self) -> CheckResult {
        self.head.check()?;
        let is_curved = self.head.is_curved();
        // On curvilinear axes, points of a line do not share a coordinate.
        let is_straight = |axis: &Axis| *axis == Axis::Z || !is_curved;
        let axes = Axis::ALL.into_iter().filter(is_straight);
        let coordinates = axes.map(|axis| axis.name());
        let fields = self.head.fields.iter().map(String::as_str);
        // Whether each array has metadata and chunks.
        let mut arrays: BTreeMap<&str, [bool; 2]> =
            fields.chain(coordinates).map(|name| (name, [false; 2])).collect();
        for file in self.files.keys() {
            // No other path, in particular none that leads out of the group.
            let (array, rest) = file.split_once('/').unwrap_or_default();
            let has = [rest == "zarr.json", is_chunk(rest)];
            let known = arrays.get_mut(array).filter(|_| has.contains(&true));
            let known = known
                .ok_or_else(|| format!("it lists a file {file:?}, which none of its fields has"))?;
            *known = [known[0] || has[0], known[1] || has[1]];
        }
        let incomplete = arrays.iter().find(|(_, has)| has.contains(&false));
        incomplete.map_or(Ok(()), |(array, _)| Err(format!("it lists no files of {array:?}")))
    }
}

impl Head {
    /// Whether the grid is curvilinear, according to the input.
    fn is_curved(&self) -> bool {
        let input = self.config.parse::<toml::Table>().unwrap_or_default();
        input.get("grid").is_some_and(|grid| grid.get("mapping").is_some())
    }

    /// Check every value: all are finite, since JSON has no others. The input in it is read and checked like any other.
    fn check(&self) -> CheckResult {
        let Self {
            version,
            run: _,
            step,
            time,
            last_dt,
            unfiltered,
            filter_rate: _,
            scalar_filter_rates,
            points,
            fields,
            references,
            config: _,
            forcing: _,
            implicit,
            course,
        } = self;
        let is_plain =
            version.len() <= MAX_NAME_LENGTH && version.chars().all(|c| c.is_ascii_graphic());
        ensure(is_plain, || format!("version = {version:?}: no number of a version"))?;
        ensure(*step <= MAX_COUNT, || format!("step = {step}: must be at most {MAX_COUNT}"))?;
        for (name, value) in [("time", time), ("last_dt", last_dt), ("unfiltered", unfiltered)] {
            not_negative(name, *value)?;
        }
        ensure(points.iter().all(|n| (1..=MAX_POINTS_PER_AXIS).contains(n)), || {
            format!("points = {points:?}: must be 1 to {MAX_POINTS_PER_AXIS} along each axis")
        })?;
        ensure(!fields.is_empty(), || "it has no fields".into())?;
        for (at, name) in fields.iter().enumerate() {
            ensure(is_name(name) && !fields[..at].contains(name), || {
                format!("fields has {name:?}: must be names of letters, digits and _, each once")
            })?;
        }
        ensure(scalar_filter_rates.len() <= fields.len(), || {
            format!("scalar_filter_rates = {scalar_filter_rates:?}: must be one a scalar")
        })?;
        ensure(references.len() == fields.len(), || {
            format!("{} references of {} fields", references.len(), fields.len())
        })?;
        if let Some(implicit) = implicit {
            not_negative("implicit.first_residual", implicit.first_residual)?;
            not_negative("implicit.fall", implicit.fall.unwrap_or(1.0))?;
            let time = implicit.filter_time.unwrap_or(1.0);
            ensure(time > 0.0, || format!("implicit.filter_time = {time}: must be positive"))?;
        }
        course.check(*step)?;
        let statistics = course.statistics.as_ref();
        let result = statistics.map_or(Ok(()), |running| running.check(fields.len() == 1, *time));
        result.map_err(|why| format!("course.statistics: {why}"))?;
        let result = course.profiles.as_ref().map_or(Ok(()), |profiles| profiles.check(*time));
        result.map_err(|why| format!("course.profiles: {why}"))
    }
}

impl OutputProgress {
    /// Check every value of the progress at `step`.
    fn check(&self, step: u64) -> CheckResult {
        for (name, last) in &self.written {
            ensure(*last <= step, || {
                format!("course.written.{name:?} = {last}: behind step {step}")
            })?;
        }
        for (name, mark) in &self.tables {
            let is_table = is_of_a_run(name) && name.ends_with(".csv");
            ensure(is_table && mark.xxh3.len() == 32, || {
                format!("course.tables.{name:?}: no table of a run, or no hash of one")
            })?;
        }
        for (folder, written) in &self.volumes {
            let is_folder =
                folder == "fields" || folder.strip_prefix("planes/").is_some_and(is_plane);
            let in_order = written.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1);
            let is_past = written.iter().all(|(at, _)| *at <= step);
            ensure(is_folder && in_order && is_past, || {
                format!("course.volumes.{folder:?}: no steps and times of fields of a run")
            })?;
        }
        ensure(self.pictures <= MAX_COUNT, || {
            format!("course.pictures = {}: must be at most {MAX_COUNT}", self.pictures)
        })?;
        let restarts = &self.restarts;
        ensure(restarts.iter().all(|from| *from <= step), || {
            format!("course.restarts = {restarts:?}: behind step {step}")
        })?;
        let ends = || self.earlier.iter().map(|part| part.until);
        let in_order = ends().is_sorted_by(|a, b| a < b) && ends().all(|end| end <= step);
        ensure(in_order && self.earlier.iter().all(is_part), || {
            format!("course.earlier = {:?}: no parts of a run", self.earlier)
        })?;
        not_negative("course.wall_seconds", self.wall_seconds)
    }
}

fn is_part(part: &Part) -> bool {
    let positive = |value: &f64| *value > 0.0;
    let gas = part.gas.iter().flat_map(|gas| [gas.gamma, gas.prandtl, gas.mach, gas.reynolds]);
    part.points.iter().all(|n| (1..=MAX_POINTS_PER_AXIS).contains(n))
        && part.length.iter().chain(&part.reynolds).chain([&part.largest_spacing]).all(positive)
        && gas.into_iter().all(|value| positive(&value))
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(message()) }
}

fn not_negative(name: &str, value: f64) -> CheckResult {
    ensure(value >= 0.0, || format!("{name} = {value}: must be finite and not negative"))
}

/// Whether it is neither a path nor the name of coordinates.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=MAX_NAME_LENGTH).contains(&name.len())
        && name.chars().all(is_plain)
        && Axis::ALL.iter().all(|axis| axis.name() != name)
}

/// `c.0.1.0`
fn is_chunk(file: &str) -> bool {
    let numbers = file.strip_prefix("c.").map(|rest| rest.split('.'));
    numbers.is_some_and(|mut all| {
        all.all(|one| !one.is_empty() && one.bytes().all(|digit| digit.is_ascii_digit()))
    })
}
