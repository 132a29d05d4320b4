//! `[time]`: integrator, step and end of a run.

use serde::{Deserialize, Serialize, Serializer};

use super::Schedule;
use super::section::Section;
use super::value::Value;
use crate::scheme::{ImplicitConfig, TABLEAUX, Tableau};
use crate::typed::{Positive, count, positive};

/// `[time]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeConfig {
    /// Runge-Kutta tableau.
    #[serde(skip_deserializing, serialize_with = "serialize_name")]
    pub integrator: &'static Tableau,
    /// Step size.
    #[serde(flatten, skip_deserializing)]
    pub step: StepSize,
    /// Implicit steps, if used.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<ImplicitConfig>,
    /// Stop at this time.
    #[serde(deserialize_with = "positive")]
    pub end: Option<f64>,
    /// Stop after this many steps.
    #[serde(deserialize_with = "count")]
    pub max_steps: Option<u64>,
    /// Stop with a checkpoint before this wall time has passed.
    #[serde(skip_deserializing)]
    pub wall_limit: Option<WallLimit>,
}

impl TimeConfig {
    /// Name and order of the time integration method, explicit or implicit.
    pub fn method(&self) -> (&'static str, u32) {
        match self.implicit {
            Some(implicit) => (implicit.method.name(), implicit.method.order()),
            None => (self.integrator.name, self.integrator.order),
        }
    }

    /// Whether the run is iterated to a steady flow; its times then have no physical meaning.
    pub fn is_steady(&self) -> bool {
        self.implicit.is_some_and(|implicit| implicit.is_steady())
    }

    /// The `schedule` for fields: in steady runs only by steps, since times have no meaning and the steps have arbitrary length.
    pub fn of_fields(&self, schedule: Schedule) -> Schedule {
        let every_time = schedule.every_time.filter(|_| !self.is_steady());
        Schedule { every_time, ..schedule }
    }
}

impl Default for TimeConfig {
    fn default() -> Self {
        let integrator = crate::scheme::tableau("hale64").unwrap_or(TABLEAUX[0]);
        let step = StepSize::Cfl(0.8);
        let (end, max_steps, wall_limit) = (None, None, None);
        Self { integrator, step, implicit: None, end, max_steps, wall_limit }
    }
}

/// Choice of the step size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum StepSize {
    /// Fraction of the linear stability limit of the scheme with the integrator.
    #[serde(rename = "cfl")]
    Cfl(f64),
    /// A constant step (except that outputs are reached exactly).
    #[serde(rename = "dt")]
    Fixed(f64),
}

/// Wall time available to a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WallLimit {
    /// Seconds from the start of the run.
    Seconds(f64),
    /// Until the batch system ends the job.
    Auto,
}

impl Serialize for WallLimit {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            WallLimit::Seconds(seconds) => output.serialize_f64(*seconds),
            WallLimit::Auto => output.serialize_str("auto"),
        }
    }
}

/// `[time]`
pub(super) fn time(section: &Section<'_>) -> Option<TimeConfig> {
    let known = TABLEAUX.map(|tableau| (tableau.name, tableau));
    let integrator = section.choice("integrator", &known);
    let [cfl, dt] = ["cfl", "dt"].map(|key| section.value(key).map(|Positive(x)| x));
    let mut time: TimeConfig = section.read()?;
    section.refuse_both("cfl", "dt", "sets the step");
    time.implicit = implicit(section);
    if time.is_steady() {
        // Times of a steady run have no meaning.
        time.end = None;
    } else if !section.has("end") && !section.has("max_steps") {
        section.missing(&["end", "max_steps"], "for example end = 10.0");
    }
    if let (Some(dt), Some(end)) = (dt, time.end)
        && end + dt <= end
    {
        section.reject_value("dt", &format!("too small: t + dt = t at end = {end}"), "");
    }
    time.wall_limit = wall_limit(section);
    section.finish();
    time.step = dt.map(StepSize::Fixed).or(cfl.map(StepSize::Cfl)).unwrap_or(time.step);
    time.integrator = integrator.unwrap_or(time.integrator);
    Some(time)
}

/// `time.implicit`
fn implicit(section: &Section<'_>) -> Option<ImplicitConfig> {
    let table = section.table_or_none(
        "implicit",
        "{ method = \"steady\", tolerance = 1e-10 }, or with another method such as `bdf2`",
    )?;
    let implicit = table.read();
    table.finish();
    implicit.filter(|_| table.refused.borrow().is_empty())
}

/// `time.wall_limit`
fn wall_limit(section: &Section<'_>) -> Option<WallLimit> {
    let Value::String(text) = section.get("wall_limit")?.value else {
        return section.value("wall_limit").map(|Positive(seconds)| WallLimit::Seconds(seconds));
    };
    if text == "auto" {
        return Some(WallLimit::Auto);
    }
    let limit = humantime::parse_duration(text).ok().filter(|limit| !limit.is_zero());
    if limit.is_none() {
        let allowed = "allowed: a duration such as \"11h50m\", seconds, or \"auto\" for the limit of the batch system";
        section.reject_value("wall_limit", "is not a duration", allowed);
    }
    limit.map(|limit| WallLimit::Seconds(limit.as_secs_f64()))
}

/// The name of a tableau in the input.
fn serialize_name<S: Serializer>(tableau: &&Tableau, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(tableau.name)
}
