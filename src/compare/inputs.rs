//! The inputs of runs: what differs between them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config;
use crate::error::Result;
use crate::io::{malformed, read_text};

/// Keys with their values as TOML, `grid.points` and the like.
pub(super) type Input = BTreeMap<String, String>;

/// Sections that say what flows.
const FLOW: [&str; 5] = ["case.", "gas.", "boundary.", "forcing.", "scalars."];
/// What says which body it goes round, and how far out.
const BODY: [&str; 4] =
    ["grid.mapping.digits", "grid.mapping.inner", "grid.mapping.outer", "grid.mapping.radius"];
/// Keys of [`FLOW`] that say where it begins: the summary has the case also where that is a checkpoint.
const ORIGIN: [&str; 2] = ["case.name", "case.path"];

/// Keys of the inputs whose values differ, with the value of each run: those of the flow and the method, or where these are the
/// same those of the machine.
pub(super) fn different_keys(inputs: &[&Input]) -> Vec<(String, Vec<String>)> {
    let all = differences(inputs);
    let all = all.into_iter().filter(|(key, _)| !key.starts_with("output."));
    let (machine, flow): (Vec<_>, Vec<_>) = all.partition(|(key, _)| key.starts_with("compute."));
    if flow.is_empty() { machine } else { flow }
}

/// Keys of the flow whose values differ from those of `first`, as `key = value (value of the first)`.
pub(super) fn other_flow(input: &Input, first: &Input) -> Vec<String> {
    let all = differences(&[input, first]).into_iter();
    let is_flow =
        |key: &str| FLOW.iter().any(|section| key.starts_with(section)) || BODY.contains(&key);
    let of_flow = all.filter(|(key, _)| is_flow(key) && !ORIGIN.contains(&key.as_str()));
    of_flow.map(|(key, values)| format!("{key} = {} ({})", values[0], values[1])).collect()
}

/// Keys whose values differ, with the value of each; `-` where one has no such key.
fn differences(inputs: &[&Input]) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<&String> = inputs.iter().flat_map(|input| input.keys()).collect();
    keys.sort();
    keys.dedup();
    let of = |key: &String| -> Vec<String> {
        inputs.iter().map(|input| input.get(key).map_or("-".into(), String::clone)).collect()
    };
    let all = keys.into_iter().map(|key| (key.clone(), of(key)));
    all.filter(|(_, values)| values.iter().any(|value| *value != values[0])).collect()
}

/// `grid.points` and the like of a run's `config.toml`, with their values as TOML.
pub(super) fn input(directory: &Path) -> Result<Input> {
    let path = directory.join("config.toml");
    let text = read_text(&path)?;
    let table = text.parse::<toml::Table>().map_err(|why| malformed(&path, why.message()))?;
    let mut keys = Input::new();
    flatten("", &table, &mut keys);
    // What one input leaves to its case another may say.
    if let Some(config) = config::parse(&text, "", &[]).ok().filter(|config| config.case.is_flow())
    {
        let sections = config.ends_and_force();
        sections.iter().for_each(|(name, table)| flatten(name, table, &mut keys));
    }
    Ok(keys)
}

fn flatten(before: &str, table: &toml::Table, keys: &mut Input) {
    for (key, value) in table {
        let name = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&name, inner, keys),
            toml::Value::String(word) => drop(keys.insert(name, word.clone())),
            value => drop(keys.insert(name, value.to_string())),
        }
    }
}
