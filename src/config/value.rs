//! The tree of typed values: TOML values with the place of each.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// The place of a value; sorted in the order in which problems are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The input as a whole.
    Input,
    /// A line of the input, counted from 1.
    Line(usize),
    /// An override, counted from 0.
    Override(usize),
}

/// A value with the place of its key.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// Keys and their entries.
pub(super) type Table = BTreeMap<String, Entry>;

/// A value as typed.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Array(Vec<Value>),
    Table(Table),
    /// A value that no key accepts: dates, and numbers beyond 64 bits.
    Other {
        kind: &'static str,
        text: String,
    },
}

impl Value {
    /// The kind of this value, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a decimal number",
            Value::Boolean(_) => "a boolean",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
            Value::Other { kind, .. } => kind,
        }
    }

    /// Whether it is the string `word`.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Value::String(text) if text == word)
    }

    /// A number, whole or not.
    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            // Above 2⁵³ an integer is rounded, as it would be if typed with a decimal point.
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// A copy of a value of the parser; `place` converts a span into a place.
    pub(super) fn from_toml(value: &DeValue<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Self {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(integer) => {
                match i64::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(value) => Value::Integer(value),
                    Err(_) => {
                        let kind = match integer.as_str() {
                            "" => "a number without digits",
                            _ => "a number beyond 64 bits",
                        };
                        Value::Other { kind, text: integer.to_string() }
                    }
                }
            }
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(value) if value.is_finite() || float.as_str().contains('n') => {
                    Value::Float(value)
                }
                _ => Value::Other { kind: "a number beyond 64 bits", text: float.to_string() },
            },
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(date) => Value::Other { kind: "a date", text: date.to_string() },
            DeValue::Array(values) => Value::Array(
                values.iter().map(|value| Value::from_toml(value.get_ref(), place)).collect(),
            ),
            DeValue::Table(entries) => Value::Table(table_from_toml(entries, place)),
        }
    }
}

/// A copy of a table of the parser.
pub(super) fn table_from_toml(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            let entry =
                Entry { place: place(key.span()), value: Value::from_toml(value.get_ref(), place) };
            (key.get_ref().to_string(), entry)
        })
        .collect()
}

/// The value in TOML syntax.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::String(text) => write!(f, "{text:?}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{}", number(*value)),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Other { text, .. } => write!(f, "{text}"),
            Value::Array(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
            Value::Table(entries) if entries.is_empty() => write!(f, "{{}}"),
            Value::Table(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, entry)| format!("{key} = {}", entry.value)).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

/// A number in the shortest form that reads back to the same value.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:?}") }
}
