//! Writes a configuration as an input that repeats its run.

use serde::Serialize;
use toml::Value;

use super::case::{CaseKeys, GasKeys};
use super::resolve::AXES;
use super::resolve::GridKeys;
use super::value::number;
use super::{Config, boundary};
use crate::comm::Fact;
use crate::typed::Positive;

/// Replaces the name of the case if a run starts from a checkpoint, which contains the name.
pub(super) const FROM_CHECKPOINT: &str = "from-checkpoint";

/// Keys that may differ between ranks: hosts may have different numbers of cores and devices, and no result depends on them.
const PER_RANK_KEYS: [&str; 2] = ["compute.threads", "compute.device"];

impl Config {
    /// The resolved configuration as an input file; [`parse`](super::parse) turns it into an equal configuration.
    pub fn to_toml(&self) -> String {
        let mut text =
            String::from("# Everything resolved: `kolmo run` with this file repeats the run.\n");
        for (name, keys) in self.sections() {
            text += &format!("\n[{name}]\n");
            for (key, value) in &keys {
                text += &format!("{key} = {}\n", toml_text(value));
            }
            if name == "grid" && !keys.contains_key("length") {
                // Written as a comment, so that the box still follows the case if `--set` changes the case.
                let length = toml_text(&self.grid.domain.length.to_vec().into());
                text += &format!("# length = {length} is the box of the case\n");
            }
        }
        text
    }

    /// Every key that is the same on all ranks, with its resolved value.
    pub fn shared_keys(&self) -> Vec<Fact> {
        let keys = self.sections().into_iter().flat_map(|(section, keys)| {
            keys.into_iter()
                .map(move |(key, value)| (format!("{section}.{key}"), toml_text(&value)))
        });
        keys.filter(|(key, _)| !PER_RANK_KEYS.contains(&&**key)).collect()
    }

    /// `[boundary]` and `[forcing]` of a flow, including the defaults of its case.
    pub(crate) fn boundary_and_forcing(&self) -> [(String, toml::Table); 2] {
        let none = || toml::Table::from_iter([("kind".to_string(), Value::from("none"))]);
        [
            ("boundary".into(), boundary::to_table(&self.boundaries, &self.gas)),
            ("forcing".into(), self.forcing.as_ref().map_or_else(none, keys)),
        ]
    }

    /// The keys of all sections, in the order in which they are written.
    fn sections(&self) -> Vec<(String, toml::Table)> {
        let is_flow = self.case.is_flow();
        let (origin, gas) = (&self.origin, &self.gas);
        let case = CaseKeys {
            name: if origin.is_some() { FROM_CHECKPOINT } else { self.case.name() },
            path: origin.as_ref().map(|path| path.to_string_lossy().into_owned()),
            mach: is_flow.then_some(gas.mach),
            reynolds: is_flow.then_some(gas.reynolds),
        };
        let mut case = keys(&case);
        case.extend(keys(&self.case));
        let own_box = self.grid.domain == self.case.domain();
        let grid = GridKeys {
            points: Some(self.grid.points),
            length: (!own_box).then_some(self.grid.domain.length.map(Positive)),
        };
        let mut grid = keys(&grid);
        let maps = AXES.into_iter().zip(&self.grid.stretching);
        let maps = maps
            .filter_map(|(axis, map)| Some((axis.into(), Value::try_from(map.as_ref()?).ok()?)));
        let maps: toml::Table = maps.collect();
        if !maps.is_empty() {
            grid.insert("stretching".into(), maps.into());
        }
        if let Some(mapping) = self.grid.mapping.as_ref().and_then(|it| Value::try_from(it).ok()) {
            grid.insert("mapping".into(), mapping);
        }
        let viscosity = gas.viscosity;
        let gas = GasKeys { gamma: gas.gamma, prandtl: gas.prandtl, viscosity };
        let mut scheme = keys(&self.scheme);
        let mut sections = vec![("case".into(), case), ("grid".into(), grid)];
        if is_flow {
            sections.push(("gas".into(), keys(&gas)));
        } else {
            scheme.retain(|key, _| !["convection", "energy", "viscous"].contains(&key));
        }
        // Otherwise the new run would use those of the checkpoint.
        let needed = [self.has_own_boundaries(), self.has_own_forcing()]
            .map(|own| is_flow && (origin.is_some() || !own));
        let of_flow = self.boundary_and_forcing().into_iter().zip(needed);
        sections.extend(of_flow.filter_map(|(section, needed)| needed.then_some(section)));
        let scalars = self.scalars.iter();
        sections.extend(scalars.map(|scalar| (format!("scalars.{}", scalar.name), keys(scalar))));
        sections.push(("scheme".into(), scheme));
        sections.push(("time".into(), keys(&self.time)));
        sections.push(("compute".into(), keys(&self.compute)));
        sections.push(("output".into(), keys(&self.output)));
        sections
    }
}

/// The keys of a struct.
fn keys(section: &impl Serialize) -> toml::Table {
    // All of them have types that TOML supports.
    toml::Table::try_from(section).unwrap_or_default()
}

/// A value in TOML syntax, on one line.
fn toml_text(value: &Value) -> String {
    match value {
        Value::Float(value) => number(*value),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(toml_text).collect::<Vec<_>>().join(", "))
        }
        Value::Table(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key} = {}", toml_text(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        value => value.to_string(),
    }
}
