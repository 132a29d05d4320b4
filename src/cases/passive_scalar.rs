//! A scalar that any flow carries along.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Case;
use super::custom::{Formula, unknown_names};
use crate::expression::Expression;
use crate::gas::Gas;
use crate::grid::Domain;

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
