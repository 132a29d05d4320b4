//! Inputs that start from a checkpoint.

use std::path::PathBuf;

use super::load::Base;
use super::problems::Problems;
use super::value::{Entry, Table, Value};
use super::{document, write::FROM_CHECKPOINT};
use crate::typed::absolute;

/// Sections that are taken from the checkpoint for keys that the input lacks. Backend and output are those of the new run.
const INHERITED_SECTIONS: [&str; 8] =
    ["case", "grid", "gas", "boundary", "forcing", "scalars", "scheme", "time"];
/// Pairs of alternative keys: if the input has one of them, neither is inherited.
const ALTERNATIVE_KEYS: [[&str; 2]; 4] =
    [["cfl", "dt"], ["end", "max_steps"], ["coefficient", "energy"], ["value", "mass_flux"]];

/// If the input in `table` starts from a checkpoint, insert the keys that it inherits and return the path. The error is a
/// problem that was already reported.
pub(super) fn resolve(
    table: &mut Table,
    base: Base<'_>,
    problems: &Problems,
) -> Result<Option<PathBuf>, ()> {
    let Some(Entry { value: Value::Table(case), .. }) = table.get_mut("case") else {
        return Ok(None);
    };
    let name = match case.get("name") {
        Some(entry) if matches!(&entry.value, Value::String(name) if name == FROM_CHECKPOINT) => {
            entry.place
        }
        _ => return Ok(None),
    };
    let advice = "path = \"runs/a\" selects the newest checkpoint of a run, \
                  path = \"runs/a/checkpoints/step_00000100.zarr\" a given one";
    let path = match case.remove("path") {
        Some(Entry { value: Value::String(path), .. }) => PathBuf::from(path),
        Some(Entry { place, value }) => {
            let found = format!("path = {value}: found {}, must be a string", value.kind());
            problems.add(place, &found, advice);
            return Err(());
        }
        None => {
            problems.add(name, "`case.path` is missing", advice);
            return Err(());
        }
    };
    case.remove("name");
    let text = base(&path).map_err(|why| problems.add(name, &format!("path = {why}"), advice))?;
    let checkpoint_input = document::parse(&text, problems).ok_or(())?;
    for (section, entry) in checkpoint_input {
        let Value::Table(keys) = entry.value else { continue };
        if !INHERITED_SECTIONS.contains(&section.as_str()) {
            continue;
        }
        let empty = Entry { place: name, value: Value::Table(Table::new()) };
        let own_section = table.entry(section.clone()).or_insert(empty);
        // A value that is not a table is reported when its section is read.
        let Value::Table(own_section) = &mut own_section.value else { continue };
        // The keys of a force depend on its kind.
        if section == "forcing" && own_section.contains_key("kind") {
            continue;
        }
        let is_given = |key: &str| {
            let other = ALTERNATIVE_KEYS.iter().find(|both| both.contains(&key));
            other.is_some_and(|both| both.iter().any(|key| own_section.contains_key(*key)))
        };
        let inherited: Vec<_> =
            keys.into_iter().filter(|(key, _)| key != "wall_limit" && !is_given(key)).collect();
        for (key, Entry { value, .. }) in inherited {
            // The input may set only some keys of a scalar.
            match (own_section.get_mut(&key).map(|entry| &mut entry.value), value) {
                (Some(Value::Table(own_keys)), Value::Table(keys)) if section == "scalars" => {
                    for (key, Entry { value, .. }) in keys {
                        own_keys.entry(key).or_insert(Entry { place: name, value });
                    }
                }
                (Some(_), _) => {}
                (None, value) => drop(own_section.insert(key, Entry { place: name, value })),
            }
        }
    }
    Ok(Some(absolute(path)))
}
