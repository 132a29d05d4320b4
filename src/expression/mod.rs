//! User-defined formulas: `"sin(k*x)*exp(-y^2)"`.

mod parser;

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

pub(crate) use parser::{Mistake, is_function, is_name};

/// Largest number of characters of an expression in a message.
const MAX_SHOWN: usize = 60;

/// A formula in f64. Operations are those of Rust's standard library: `sin` is [`f64::sin`], `^` is [`f64::powf`], in the order of the
/// text.
#[derive(Clone, Debug)]
pub struct Expression(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    text: String,
    /// In reverse Polish notation: operands precede their operation.
    code: Vec<Operation>,
    /// The names in the expression, each once.
    names: Vec<Name>,
}

/// A name in an expression.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Column of its first occurrence, counted from 1.
    pub(crate) column: usize,
}

/// An operation on a stack of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Number(f64),
    /// The value of the name with this index.
    Name(usize),
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
}

impl Expression {
    /// Parse `text`.
    ///
    /// # Errors
    /// If it is not an expression: the column, what was found and what is allowed.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let (code, names) = parser::parse(text)?;
        Ok(Self(Arc::new(Parsed { text: text.to_owned(), code, names })))
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// For every name not in `known`: that name and a message about it, for the expression that is the value of `key`.
    pub(crate) fn unknown_names(&self, key: &str, known: &[&str]) -> Vec<(String, String)> {
        let unknown = self.names().iter().filter(|name| !known.contains(&name.text.as_str()));
        unknown
            .map(|name| {
                let (column, text) = (name.column, shown(&name.text));
                let sentence = format!(
                    "{key} = {:?}: column {column}: unknown name `{text}`\nknown: {}",
                    shown(self.text()),
                    known.join(" "),
                );
                (text, sentence)
            })
            .collect()
    }

    /// The value, where `value_of` returns the value of each name.
    pub(crate) fn value_with(&self, value_of: impl Fn(&str) -> f64) -> f64 {
        self.value(|name| value_of(&self.names()[name].text))
    }

    /// The names in the order of their first occurrence.
    pub(crate) fn names(&self) -> &[Name] {
        &self.0.names
    }

    /// The value, where `values` returns the value of each name by its index.
    pub(crate) fn value(&self, values: impl Fn(usize) -> f64) -> f64 {
        let mut stack = SmallVec::<[f64; 16]>::new();
        // The parser ensures that every operation has its operands.
        let pop = |stack: &mut SmallVec<_>| stack.pop().unwrap_or(f64::NAN);
        for operation in &self.0.code {
            let result = match *operation {
                Operation::Number(number) => number,
                Operation::Name(name) => values(name),
                Operation::Unary(function) => function(pop(&mut stack)),
                Operation::Binary(function) => {
                    let second = pop(&mut stack);
                    function(pop(&mut stack), second)
                }
            };
            stack.push(result);
        }
        pop(&mut stack)
    }
}

/// The beginning of a text, for messages.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Compares the texts as typed.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(NumberOrText)
    }
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Expression;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an expression in quotes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
        Expression::parse(text).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Expression, E> {
        match number.is_finite() {
            true => self.visit_str(&format!("{number:?}")),
            false => Err(E::custom("must be finite")),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Expression, E> {
        self.visit_str(&number.to_string())
    }
}
