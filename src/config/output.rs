//! `[output]`

use std::path::PathBuf;

use super::problems::{hint, listed, shorten};
use super::section::{POSITIVE, Section, WordOrTable};
use super::value::Value;
use super::{FieldsConfig, OutputConfig, Schedule, Variable};
use crate::cases::Case;

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
    if section.has("checkpoint") {
        let advice = "take this out; a run that was stopped starts again from the beginning";
        section.reject_value("checkpoint", "this version of kolmo writes no checkpoints", advice);
    }
    section.finish();
    Some(OutputConfig { directory, series: series?, fields })
}

/// `output.fields`
fn fields(section: &Section<'_>, case: Option<&Case>) -> Option<FieldsConfig> {
    let example = "{ every_time = 1.0, variables = [\"velocity\"] }";
    let WordOrTable::Table(table) = section.word_or_table("fields", &[("none", ())], example)?
    else {
        return None;
    };
    let schedule = schedule(&table);
    let variables = variables(&table, case);
    table.finish();
    Some(FieldsConfig { schedule: schedule?, variables: variables? })
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

/// `output.fields.variables`
fn variables(section: &Section<'_>, case: Option<&Case>) -> Option<Vec<Variable>> {
    let item = section.get("variables");
    let is_scalar = case.is_some_and(|case| case.flow().is_none());
    let known = match case {
        // Whether the scalar is there cannot be said of a case that is not known.
        None => [&OF_A_FLOW[..], &OF_A_SCALAR].concat(),
        Some(_) if is_scalar => OF_A_SCALAR.to_vec(),
        Some(_) => OF_A_FLOW.to_vec(),
    };
    let Some(item) = item else {
        return Some(if is_scalar { vec![Variable::Scalar] } else { DEFAULT.to_vec() });
    };
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let Value::Array(values) = item.value else {
        item.wrong_type("an array of names, such as [\"velocity\"]");
        return None;
    };
    if values.is_empty() {
        item.reject("must name at least one field", &listed("allowed: ", &names));
        return None;
    }
    let mut variables = Vec::new();
    for value in values {
        let word = match value {
            Value::String(word) => word.as_str(),
            _ => {
                item.reject(
                    format!("found {}, each must be a string", value.kind()),
                    &listed("allowed: ", &names),
                );
                return None;
            }
        };
        let Some((_, variable)) = known.iter().find(|(name, _)| *name == word) else {
            item.reject(
                format!("no such field as `{}`{}", shorten(word), hint(word, &names)),
                &listed("allowed: ", &names),
            );
            return None;
        };
        if variables.contains(variable) {
            item.reject(format!("`{word}` stands twice"), "");
            return None;
        }
        variables.push(*variable);
    }
    Some(variables)
}
