//! Values of the names in an expression.

use std::collections::BTreeMap;

use super::Expression;
use crate::gas::Gas;
use crate::grid::Domain;

/// Names available in expressions in addition to the user's parameters: coordinates, the box and the gas.
pub(super) const NAMES: [&str; 12] =
    ["x", "y", "z", "pi", "lx", "ly", "lz", "p0", "mach", "reynolds", "gamma", "prandtl"];

/// An expression with values for its names.
pub struct Formula<'a> {
    expression: &'a Expression,
    values: Vec<Value>,
}

/// The value of a name.
#[derive(Clone, Copy)]
enum Value {
    Coordinate(usize),
    Number(f64),
}

impl<'a> Formula<'a> {
    /// The formula of `expression` with the user's `parameters` in a gas and a box; inputs with unknown names have been refused before.
    pub fn new(
        expression: &'a Expression,
        parameters: Option<&BTreeMap<String, f64>>,
        gas: &Gas,
        domain: &Domain,
    ) -> Self {
        let [lx, ly, lz] = domain.length;
        let value = |name: &str| {
            Value::Number(match name {
                "x" => return Value::Coordinate(0),
                "y" => return Value::Coordinate(1),
                "z" => return Value::Coordinate(2),
                "pi" => std::f64::consts::PI,
                "lx" => lx,
                "ly" => ly,
                "lz" => lz,
                "p0" => gas.reference_pressure(),
                "mach" => gas.mach,
                "reynolds" => gas.reynolds,
                "gamma" => gas.gamma,
                "prandtl" => gas.prandtl,
                other => parameters.and_then(|own| own.get(other)).copied().unwrap_or(f64::NAN),
            })
        };
        let values = expression.names().iter().map(|name| value(&name.text)).collect();
        Self { expression, values }
    }

    /// The value at the point `x`.
    pub fn at(&self, x: [f64; 3]) -> f64 {
        self.expression.value(|name| match self.values[name] {
            Value::Coordinate(axis) => x[axis],
            Value::Number(number) => number,
        })
    }
}

/// A message for every unknown name in the `expression` of `key`, with the known names on a second line. `parameters` is `None` if the case
/// has no key for them.
pub fn unknown_names<'a>(
    key: &'a str,
    expression: &'a Expression,
    parameters: Option<&'a BTreeMap<String, f64>>,
) -> impl Iterator<Item = String> + 'a {
    let own = parameters.into_iter().flatten().map(|(name, _)| name.as_str());
    let known: Vec<&str> = NAMES.into_iter().chain(own).collect();
    let unknown = expression.unknown_names(key, &known).into_iter();
    unknown.map(move |(name, sentence)| match parameters {
        Some(_) => format!("{sentence}; `parameters = {{ {name} = 1.0 }}` adds one"),
        None => sentence,
    })
}
