//! The user's own initial state: expressions in the input, arrays from a file, and noise.

mod formula;
mod noise;
mod on_grid;
mod start;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use formula::NAMES;
pub use formula::{Formula, unknown_names};
pub use noise::Noise;
use start::Start;

use super::{About, Definition, Domain};
use crate::expression::{self, Expression, shown};
use crate::gas::Gas;
use crate::typed::absolute;

/// Quantities that can define an initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// ρ.
    Rho,
    /// Velocity along x.
    U,
    /// Velocity along y.
    V,
    /// Velocity along z.
    W,
    /// p.
    P,
    /// T.
    #[serde(rename = "T")]
    T,
}

impl Quantity {
    /// All quantities, in the order of their names in an input.
    pub const ALL: [Quantity; 6] = [Self::Rho, Self::U, Self::V, Self::W, Self::P, Self::T];

    /// The names.
    const NAMES: [&'static str; 6] = ["rho", "u", "v", "w", "p", "T"];

    /// The name in an input and in a file of arrays.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The value in the gas at rest of the scaling: ρ = T = 1, p = 1/(γ Ma²), u = 0.
    fn reference(self, gas: &Gas) -> f64 {
        match self {
            Self::Rho | Self::T => 1.0,
            Self::P => gas.reference_pressure(),
            Self::U | Self::V | Self::W => 0.0,
        }
    }
}

/// Values of ρ, u, v, w, p and T at every point, each from an expression or an array of a file.
///
/// Two of ρ, p and T are sufficient, and all three are too many: the third follows from p = ρ T / (γ Ma²). If only one is given, p is 1/(γ
/// Ma²), or, if p is given, ρ = 1. A velocity component that is not given is 0. Lengths are in L, velocities in V₀, density, pressure and
/// temperature in ρ₀, ρ₀ V₀² and T₀: Re = ρ₀ V₀ L/μ₀ and Ma = V₀/c₀ are those of the units in which the values are given.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Custom {
    /// ρ.
    pub rho: Option<Expression>,
    /// Velocity along x.
    pub u: Option<Expression>,
    /// Velocity along y.
    pub v: Option<Expression>,
    /// Velocity along z.
    pub w: Option<Expression>,
    /// p.
    pub p: Option<Expression>,
    /// T.
    #[serde(rename = "T")]
    pub t: Option<Expression>,
    /// Named numbers for expressions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, f64>,
    /// Random noise added to the state.
    pub noise: Option<Noise>,
    /// A file with arrays of quantities that have no expression.
    #[serde(deserialize_with = "absolute_path")]
    pub file: Option<PathBuf>,
}

fn absolute_path<'de, D: Deserializer<'de>>(input: D) -> Result<Option<PathBuf>, D::Error> {
    Ok(Some(absolute(PathBuf::from(String::deserialize(input)?))))
}

impl Custom {
    pub(super) const ABOUT: About = About {
        name: "custom",
        title: "Custom initial state",
        summary: "your own initial state: expressions in the input, or arrays from a file",
        input: include_str!("../../../configs/custom.toml"),
        mach: |_| 0.1,
        reynolds: 1600.0,
        domain: Domain::cube(std::f64::consts::TAU),
        needs: [false; 3],
    };

    /// The expression of a quantity, if any.
    pub fn expression(&self, quantity: Quantity) -> Option<&Expression> {
        let Self { rho, u, v, w, p, t, .. } = self;
        [rho, u, v, w, p, t][quantity as usize].as_ref()
    }

    /// Whether noise is added to a quantity.
    fn is_noisy(&self, quantity: Quantity) -> bool {
        self.noise.as_ref().is_some_and(|noise| noise.variables.contains(&quantity))
    }

    /// Whether each of (ρ, p, T) is given, where a file has arrays of `in_file`.
    fn thermodynamic(&self, in_file: &[Quantity]) -> [bool; 3] {
        [Quantity::Rho, Quantity::P, Quantity::T].map(|quantity| {
            let is_typed = self.expression(quantity).is_some();
            is_typed || self.is_noisy(quantity) || in_file.contains(&quantity)
        })
    }

    /// Every expression with its key.
    fn expressions(&self) -> impl Iterator<Item = (&'static str, &Expression)> {
        let own = Quantity::ALL.into_iter().filter_map(|q| Some((q.name(), self.expression(q)?)));
        own.chain(self.noise.iter().map(|noise| ("noise", &noise.amplitude)))
    }

    /// Errors of parameter names and of unknown names in expressions.
    fn name_problems(&self) -> impl Iterator<Item = (&'static str, String)> {
        let unusable = self.parameters.keys().filter_map(|name| {
            let name = name.as_str();
            let why = match name {
                _ if NAMES.contains(&name) => "has a meaning already",
                _ if expression::is_function(name) => "is a function",
                _ if !expression::is_name(name) => {
                    "is not a name: a letter, then letters, digits and _"
                }
                _ => return None,
            };
            Some(("parameters", format!("parameters: `{}` {why}", shown(name))))
        });
        let unknown = self.expressions().flat_map(|(key, expression)| {
            let sentences = unknown_names(key, expression, Some(&self.parameters));
            sentences.map(move |sentence| (key, sentence))
        });
        unusable.chain(unknown)
    }

    /// A quantity given more than once, where a file has arrays of `in_file`: (key, a sentence).
    fn conflict(&self, in_file: &[Quantity]) -> Option<(&'static str, String)> {
        let twice = in_file.iter().find(|quantity| self.expression(**quantity).is_some());
        if let Some(quantity) = twice {
            let name = quantity.name();
            return Some((name, format!("{name} is given by `case.{name}` and by `case.file`")));
        }
        let all = self.thermodynamic(in_file) == [true; 3];
        let last = if self.t.is_some() { "T" } else { "noise" };
        let why = "rho, p and T are all given (noise counts), and p = rho T / (gamma mach^2) may not hold\ngive two of them";
        all.then(|| (last, why.to_owned()))
    }
}

impl Definition for Custom {
    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        self.name_problems().chain(self.conflict(&[])).collect()
    }

    fn grid_dependence(&self) -> Option<&'static str> {
        let noise = self.noise.as_ref().filter(|noise| noise.amplitude.text() != "0");
        noise.map(|_| "the noise depends on the points: set `case.noise.amplitude` to \"0\"")
    }
}
