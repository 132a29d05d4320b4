//! What the names in an expression stand for.

use std::collections::BTreeMap;

use super::Expression;
use crate::gas::Gas;
use crate::grid::Domain;

/// What expressions may use beside the user's parameters: coordinates, the box and the gas.
pub(super) const NAMES: [&str; 12] =
    ["x", "y", "z", "pi", "lx", "ly", "lz", "p0", "mach", "reynolds", "gamma", "prandtl"];

/// An expression whose names have values.
pub struct Formula<'a> {
    expression: &'a Expression,
    values: Vec<Value>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Value {
    Coordinate(usize),
    Number(f64),
}

impl<'a> Formula<'a> {
    /// That of `expression` with the user's `parameters` in a gas and a box; the input was refused where it uses other names.
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

    /// Its value at the point `x`.
    pub fn at(&self, x: [f64; 3]) -> f64 {
        self.expression.value(|name| match self.values[name] {
            Value::Coordinate(axis) => x[axis],
            Value::Number(number) => number,
        })
    }
}

/// A sentence for every name in the `expression` of `key` that stands for nothing, and in a second line what is known. There are no
/// parameters where the case has no key for them.
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
