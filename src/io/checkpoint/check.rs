//! Plausibility of the head of a checkpoint. A checksum shows that it is unchanged, not who wrote it.

use std::collections::BTreeMap;

use super::{Attributes, Head, OutputProgress};
use crate::grid::{Axis, MOST_POINTS};
use crate::io::directory::{is_of_a_run, is_plane};
use crate::io::summary::Part;

/// Maximum number of steps, and of other counts: integers up to it are exact in f64, the type of the rows of the series.
const MOST: u64 = 1 << 53;
/// Longest name of a field.
const LONGEST_NAME: usize = 64;

/// The problem, as the end of a sentence.
type Checked = Result<(), String>;

impl Attributes {
    /// Check every value except the checksum.
    pub(super) fn check(&self) -> Checked {
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

    /// Check every value: all are finite, since JSON has no others. The input in it is read, and refused, like any other.
    fn check(&self) -> Checked {
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
        let plain = version.len() <= LONGEST_NAME && version.chars().all(|c| c.is_ascii_graphic());
        must(plain, || format!("version = {version:?}: no number of a version"))?;
        must(*step <= MOST, || format!("step = {step}: must be at most {MOST}"))?;
        for (name, value) in [("time", time), ("last_dt", last_dt), ("unfiltered", unfiltered)] {
            not_negative(name, *value)?;
        }
        must(points.iter().all(|n| (1..=MOST_POINTS).contains(n)), || {
            format!("points = {points:?}: must be 1 to {MOST_POINTS} along each axis")
        })?;
        must(!fields.is_empty(), || "it has no fields".into())?;
        for (at, name) in fields.iter().enumerate() {
            must(is_name(name) && !fields[..at].contains(name), || {
                format!("fields has {name:?}: must be names of letters, digits and _, each once")
            })?;
        }
        must(scalar_filter_rates.len() <= fields.len(), || {
            format!("scalar_filter_rates = {scalar_filter_rates:?}: must be one a scalar")
        })?;
        must(references.len() == fields.len(), || {
            format!("{} references of {} fields", references.len(), fields.len())
        })?;
        if let Some(implicit) = implicit {
            not_negative("implicit.first_residual", implicit.first_residual)?;
            not_negative("implicit.fall", implicit.fall.unwrap_or(1.0))?;
            let time = implicit.filter_time.unwrap_or(1.0);
            must(time > 0.0, || format!("implicit.filter_time = {time}: must be positive"))?;
        }
        course.check(*step)?;
        let statistics = course.statistics.as_ref();
        let sound = statistics.map_or(Ok(()), |running| running.check(fields.len() == 1, *time));
        sound.map_err(|why| format!("course.statistics: {why}"))?;
        let sound = course.profiles.as_ref().map_or(Ok(()), |profiles| profiles.check(*time));
        sound.map_err(|why| format!("course.profiles: {why}"))
    }
}

impl OutputProgress {
    /// Check every value of the progress at `step`.
    fn check(&self, step: u64) -> Checked {
        for (name, last) in &self.written {
            must(*last <= step, || {
                format!("course.written.{name:?} = {last}: behind step {step}")
            })?;
        }
        for (name, mark) in &self.tables {
            let is_table = is_of_a_run(name) && name.ends_with(".csv");
            must(is_table && mark.xxh3.len() == 32, || {
                format!("course.tables.{name:?}: no table of a run, or no hash of one")
            })?;
        }
        for (folder, written) in &self.volumes {
            let is_folder =
                folder == "fields" || folder.strip_prefix("planes/").is_some_and(is_plane);
            let in_order = written.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1);
            let is_past = written.iter().all(|(at, _)| *at <= step);
            must(is_folder && in_order && is_past, || {
                format!("course.volumes.{folder:?}: no steps and times of fields of a run")
            })?;
        }
        must(self.pictures <= MOST, || {
            format!("course.pictures = {}: must be at most {MOST}", self.pictures)
        })?;
        let restarts = &self.restarts;
        must(restarts.iter().all(|from| *from <= step), || {
            format!("course.restarts = {restarts:?}: behind step {step}")
        })?;
        let ends = || self.earlier.iter().map(|part| part.until);
        let in_order = ends().is_sorted_by(|a, b| a < b) && ends().all(|end| end <= step);
        must(in_order && self.earlier.iter().all(is_part), || {
            format!("course.earlier = {:?}: no parts of a run", self.earlier)
        })?;
        not_negative("course.wall_seconds", self.wall_seconds)
    }
}

fn is_part(part: &Part) -> bool {
    let positive = |value: &f64| *value > 0.0;
    let gas = part.gas.iter().flat_map(|gas| [gas.gamma, gas.prandtl, gas.mach, gas.reynolds]);
    part.points.iter().all(|n| (1..=MOST_POINTS).contains(n))
        && part.length.iter().chain(&part.reynolds).chain([&part.largest_spacing]).all(positive)
        && gas.into_iter().all(|value| positive(&value))
}

fn must(holds: bool, told: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(told()) }
}

fn not_negative(name: &str, value: f64) -> Checked {
    must(value >= 0.0, || format!("{name} = {value}: must be finite and not negative"))
}

/// Whether it is neither a path nor the name of coordinates.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(plain)
        && Axis::ALL.iter().all(|axis| axis.name() != name)
}

/// `c.0.1.0`
fn is_chunk(file: &str) -> bool {
    let numbers = file.strip_prefix("c.").map(|rest| rest.split('.'));
    numbers.is_some_and(|mut all| {
        all.all(|one| !one.is_empty() && one.bytes().all(|digit| digit.is_ascii_digit()))
    })
}
