//! The inputs of runs, and the differences between them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config;
use crate::error::Result;
use crate::io::{malformed, read_text};

/// Keys such as `grid.points` with their values as TOML.
pub(super) type Input = BTreeMap<String, String>;

/// Sections that define the flow.
const FLOW: [&str; 5] = ["case.", "gas.", "boundary.", "forcing.", "scalars."];
/// Keys that define the body and the distance of the outer boundary.
const BODY: [&str; 4] =
    ["grid.mapping.digits", "grid.mapping.inner", "grid.mapping.outer", "grid.mapping.radius"];
/// Keys of [`FLOW`] for the initial state: the summary contains the case even if a run starts from a checkpoint.
const ORIGIN: [&str; 2] = ["case.name", "case.path"];

/// Keys of the inputs whose values differ, with the value of each run: keys of the flow and the method, or if these are equal,
/// those of the machine.
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

/// Keys whose values differ, with the value of each run; `-` if a run has no such key.
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

/// Keys of the `config.toml` of a run, such as `grid.points`, with their values as TOML.
pub(super) fn input(directory: &Path) -> Result<Input> {
    let path = directory.join("config.toml");
    let text = read_text(&path)?;
    let table = text.parse::<toml::Table>().map_err(|why| malformed(&path, why.message()))?;
    let mut keys = Input::new();
    flatten("", &table, &mut keys);
    // Keys that one input sets explicitly may be defaults of the case in another.
    if let Some(config) = config::parse(&text, "", &[]).ok().filter(|config| config.case.is_flow())
    {
        let sections = config.boundary_and_forcing();
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
