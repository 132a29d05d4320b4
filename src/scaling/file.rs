//! Reads the JSON output of other commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::io::{open, refused};

/// Source of a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Basis {
    /// Measured by a job.
    Measured,
    /// Predicted by the model from rates that the same job measured.
    Predicted,
    /// Predicted by `kolmo model`: network and method.
    Modelled(String),
}

/// The phases of a step, named as by `kolmo bench`.
pub(super) const PHASES: [&str; 4] = ["local", "pack", "communicate", "reduced"];

/// Names of the messages along x, y and z.
pub(super) const ALONG: [&str; 3] = ["communicate_x", "communicate_y", "communicate_z"];

/// The time of a step on a number of ranks.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) basis: Basis,
    pub(super) file: PathBuf,
    pub(super) ranks: usize,
    /// Numbers of ranks along x, y, z.
    pub(super) decomposition: [usize; 3],
    /// The median time in seconds.
    pub(super) seconds: f64,
    /// The shortest time, if it was measured.
    pub(super) fastest: Option<f64>,
    /// Seconds in the order of [`PHASES`], each without overlap.
    pub(super) phases: [f64; 4],
    /// Seconds of messages along x, y and z.
    pub(super) along: [f64; 3],
}

/// The contents of a file for one kind of scaling.
#[derive(Debug)]
pub(super) struct Part {
    /// `weak` or `strong`.
    pub(super) scaling: String,
    pub(super) steps: Vec<Step>,
    /// Properties that must be equal in all files, by the names of the fields.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Warnings of the job.
    pub(super) notes: Vec<String>,
}

#[derive(Deserialize)]
struct Bench {
    machine: BTreeMap<String, Value>,
    results: Vec<Value>,
    notes: Vec<String>,
    failures: Vec<String>,
}

#[derive(Deserialize)]
struct BenchRow {
    scheme: String,
    method: String,
    backend: String,
    threads: usize,
    precision: String,
    points: [usize; 3],
    grid: [usize; 3],
    scaling: String,
    #[serde(default)]
    set: Vec<String>,
    ranks: usize,
    decomposition: [usize; 3],
    seconds: Spread,
    phase_seconds: BTreeMap<String, Spread>,
    #[serde(default)]
    predicted_seconds: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, Deserialize)]
struct Spread {
    min: f64,
    median: f64,
}

#[derive(Deserialize)]
struct Model {
    of: String,
    scheme: String,
    precision: String,
    weak: bool,
    rows: Vec<ModelRow>,
}

#[derive(Deserialize)]
struct ModelRow {
    network: String,
    method: String,
    ranks: usize,
    decomposition: [usize; 3],
    points: [usize; 3],
    prediction: Option<BTreeMap<String, f64>>,
}

/// The contents of `files`.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Part>> {
    let once = files.iter().enumerate().filter(|(at, path)| !files[..*at].contains(path));
    let parts = once.map(|(_, path)| {
        let text = open::text(path, open::MAX_JSON_BYTES).map_err(|why| {
            Error::Config(vec![format!("error: cannot read {}: {why}", path.display())])
        })?;
        let value = serde_json::from_str(&text).map_err(|why| unsuitable_file(path, &why))?;
        parts(path, value)
    });
    Ok(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn unsuitable_file(path: &Path, why: &dyn std::fmt::Display) -> Error {
    let advice = "`kolmo bench step --weak --json`, `--strong`, and `kolmo model --json` print the data to draw";
    refused(format!("{}: {why}", path.display()), advice)
}

fn parts(path: &Path, value: Value) -> Result<Vec<Part>> {
    let wrong = |why: serde_json::Error| unsuitable_file(path, &why);
    if value.get("machine").is_some() {
        measured(path, serde_json::from_value(value).map_err(wrong)?)
    } else if value.get("rates").is_some() && value.get("weak").is_some() {
        modelled(path, serde_json::from_value(value).map_err(wrong)?).map(|part| vec![part])
    } else {
        Err(unsuitable_file(path, &"neither a measurement nor a model"))
    }
}

/// One part per result, with its own properties.
fn measured(path: &Path, bench: Bench) -> Result<Vec<Part>> {
    if let [first, ..] = &bench.failures[..] {
        return Err(unsuitable_file(path, &format!("the measurement failed: {first}")));
    }
    let own = |row: &Value| row.get("scaling").is_some();
    let rows: Vec<Value> = bench.results.into_iter().filter(own).collect();
    if rows.is_empty() {
        return Err(unsuitable_file(path, &"no steps of `--weak` or `--strong`"));
    }
    let notes: Vec<String> =
        bench.notes.into_iter().filter(|note| note.starts_with("warning")).collect();
    let mut parts = Vec::new();
    for row in rows {
        let row: BenchRow =
            serde_json::from_value(row).map_err(|why| unsuitable_file(path, &why))?;
        let facts = facts(&bench.machine, &row);
        let steps = steps_of(path, &row)?;
        parts.push(Part { scaling: row.scaling, steps, facts, notes: notes.clone() });
    }
    Ok(parts)
}

/// Properties that must be equal for all jobs.
fn facts(machine: &BTreeMap<String, Value>, row: &BenchRow) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let of = |key: &str| machine.get(key).map_or("none".into(), text);
    let device = machine.get("device").and_then(|device| device.get("name"));
    let set = if row.set.is_empty() { "none".into() } else { row.set.join(" ") };
    vec![
        points(&row.scaling, row.points, row.grid),
        ("precision", row.precision.clone()),
        ("scheme", row.scheme.clone()),
        ("set", set),
        ("method", row.method.clone()),
        ("backend", row.backend.clone()),
        ("device", device.map_or("none".into(), text)),
        ("cpu", of("cpu")),
        ("simd", of("simd")),
        ("threads", row.threads.to_string()),
        ("version", of("version")),
    ]
}

/// Points of a rank for weak scaling, of the grid for strong scaling.
fn points(scaling: &str, own: [usize; 3], grid: [usize; 3]) -> (&'static str, String) {
    let shape = |[x, y, z]: [usize; 3]| format!("{x}x{y}x{z}");
    if scaling == "weak" { ("points", shape(own)) } else { ("grid", shape(grid)) }
}

/// Seconds by name, stored under `key` in a file.
struct Times<'a> {
    path: &'a Path,
    key: &'a str,
    seconds: &'a BTreeMap<String, f64>,
}

impl Times<'_> {
    fn get(&self, name: &str, minimum: f64) -> Result<f64> {
        let key = format!("{}.{name}", self.key);
        number(self.path, &key, self.seconds.get(name).copied(), minimum)
    }

    fn each<const N: usize>(&self, names: [&str; N]) -> Result<[f64; N]> {
        let mut all = [0.0; N];
        for (one, name) in all.iter_mut().zip(names) {
            *one = self.get(name, 0.0)?;
        }
        Ok(all)
    }

    /// Seconds of the phases, and of messages along the axes.
    fn phases(&self) -> Result<([f64; 4], [f64; 3])> {
        Ok((self.each(PHASES)?, self.each(ALONG)?))
    }
}

/// A bound below any time.
const POSITIVE: f64 = f64::MIN_POSITIVE;

/// The measured time, and the predicted time if there is one.
fn steps_of(path: &Path, row: &BenchRow) -> Result<Vec<Step>> {
    let medians = row.phase_seconds.iter().map(|(name, spread)| (name.clone(), spread.median));
    let times = Times { path, key: "phase_seconds", seconds: &medians.collect() };
    let (phases, along) = times.phases()?;
    let measured = Step {
        basis: Basis::Measured,
        file: path.into(),
        ranks: ranks(path, row.ranks)?,
        decomposition: row.decomposition,
        seconds: number(path, "seconds.median", Some(row.seconds.median), POSITIVE)?,
        fastest: Some(number(path, "seconds.min", Some(row.seconds.min), POSITIVE)?),
        phases,
        along,
    };
    let mut steps = vec![measured.clone()];
    if !row.predicted_seconds.is_empty() {
        let times = Times { path, key: "predicted_seconds", seconds: &row.predicted_seconds };
        let ((phases, along), seconds) = (times.phases()?, times.get("all", POSITIVE)?);
        let basis = Basis::Predicted;
        steps.push(Step { basis, seconds, fastest: None, phases, along, ..measured });
    }
    Ok(steps)
}

fn modelled(path: &Path, model: Model) -> Result<Part> {
    let scaling = if model.weak { "weak" } else { "strong" };
    let mut facts = Vec::new();
    let mut steps = Vec::new();
    for row in model.rows {
        let Some(prediction) = row.prediction else { continue };
        let times = Times { path, key: "prediction", seconds: &prediction };
        let (phases, along) = times.phases()?;
        let ranks = ranks(path, row.ranks)?;
        let own = std::array::from_fn(|a| row.points[a] / row.decomposition[a].max(1));
        facts = vec![
            points(scaling, own, row.points),
            ("precision", model.precision.clone()),
            ("scheme", model.scheme.clone()),
            ("of", model.of.clone()),
        ];
        steps.push(Step {
            basis: Basis::Modelled(format!("{}, {}", row.network, row.method)),
            file: path.into(),
            ranks,
            decomposition: row.decomposition,
            seconds: times.get("step_seconds", POSITIVE)?,
            fastest: None,
            phases,
            along,
        });
    }
    match steps.is_empty() {
        true => Err(unsuitable_file(path, &"no predictions")),
        false => Ok(Part { scaling: scaling.into(), steps, facts, notes: Vec::new() }),
    }
}

fn ranks(path: &Path, ranks: usize) -> Result<usize> {
    if ranks > 0 {
        Ok(ranks)
    } else {
        Err(unsuitable_file(path, &"ranks is 0; it must be 1 or more"))
    }
}

/// A number that must be present and at least `minimum`.
fn number(path: &Path, key: &str, value: Option<f64>, minimum: f64) -> Result<f64> {
    match value {
        Some(number) if number.is_finite() && number >= minimum => Ok(number),
        Some(number) => {
            let allowed = if minimum > 0.0 { "more than 0" } else { "0 or more" };
            Err(unsuitable_file(path, &format!("{key} is {number}; it must be {allowed}")))
        }
        None => Err(unsuitable_file(path, &format!("no {key}"))),
    }
}
