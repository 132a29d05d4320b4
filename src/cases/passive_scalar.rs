//! A scalar that any flow carries along.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::Case;
use super::custom::{Formula, unknown_names};
use crate::expression::Expression;
use crate::gas::Gas;
use crate::grid::{Axis, Domain};

/// `[scalars.NAME]`: φ with ∂(ρφ)/∂t + ∂ⱼ(ρφuⱼ) = ∂ⱼ(μ/(Re Sc) ∂ⱼφ).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassiveScalar {
    /// What the user calls it.
    #[serde(skip)]
    pub name: String,
    /// Sc = μ₀/(ρ₀ D).
    pub schmidt: f64,
    /// φ at t = 0; `None` where a file of arrays or a checkpoint has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Expression>,
    /// What is known at the low and the high end of x, y, z, where a wall is.
    #[serde(serialize_with = "as_table", skip_serializing_if = "are_default")]
    pub walls: [[AtWall; 2]; 3],
}

/// What is known of a scalar at a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtWall {
    /// φ.
    Value(f64),
    /// What diffuses from the wall into the gas, −μ/(Re Sc) ∂φ/∂n, in units of ρ₀V₀.
    Flux(f64),
}

impl AtWall {
    /// Nothing goes through.
    pub const CLOSED: Self = Self::Flux(0.0);
}

impl PassiveScalar {
    /// What is wrong with its start in a flow of `case`: a sentence, and in a second line what is known.
    pub fn problem(&self, case: &Case) -> Option<String> {
        let key = format!("scalars.{}.start", self.name);
        unknown_names(&key, self.start.as_ref()?, parameters(case)).next()
    }

    /// Its start in a flow of `case`, a gas and a box.
    pub fn formula(&self, case: &Case, gas: &Gas, domain: &Domain) -> Option<Formula<'_>> {
        Some(Formula::new(self.start.as_ref()?, parameters(case), gas, domain))
    }
}

/// Numbers that expressions may use by name; `None` where the case has no such key.
fn parameters(case: &Case) -> Option<&BTreeMap<String, f64>> {
    match case {
        Case::Custom(custom) => Some(&custom.parameters),
        _ => None,
    }
}

fn are_default(walls: &[[AtWall; 2]; 3]) -> bool {
    *walls == [[AtWall::CLOSED; 2]; 3]
}

/// { x = { low = ..., high = ... }, ... }.
fn as_table<S: Serializer>(walls: &[[AtWall; 2]; 3], to: S) -> Result<S::Ok, S::Error> {
    let ends = |(axis, [low, high]): (Axis, &[AtWall; 2])| {
        (axis.name(), BTreeMap::from([("low", *low), ("high", *high)]))
    };
    let closed = [AtWall::CLOSED; 2];
    let axes = Axis::ALL.into_iter().zip(walls).filter(|(_, ends)| **ends != closed);
    to.collect_map(axes.map(ends))
}
