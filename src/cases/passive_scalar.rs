//! A passive scalar in any flow.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::Case;
use super::custom::{Formula, unknown_names};
use crate::boundary::{Beyond, Boundaries, Open};
use crate::expression::Expression;
use crate::gas::Gas;
use crate::grid::{Axis, Domain};

/// `[scalars.NAME]`: φ with ∂(ρφ)/∂t + ∂ⱼ(ρφuⱼ) = ∂ⱼ(μ/(Re Sc) ∂ⱼφ).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassiveScalar {
    /// Name given by the user.
    #[serde(skip)]
    pub name: String,
    /// Sc = μ₀/(ρ₀ D).
    pub schmidt: f64,
    /// φ at t = 0; `None` if it comes from a file of arrays or a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Expression>,
    /// Conditions at the low and the high end of x, y, z, used where there is a wall.
    #[serde(serialize_with = "walls", skip_serializing_if = "are_closed")]
    pub walls: [[AtWall; 2]; 3],
    /// φ beyond the low and the high end of x, y, z, where the user gives it for an open face.
    #[serde(serialize_with = "as_table", skip_serializing_if = "is_default")]
    pub beyond: [[Option<f64>; 2]; 3],
}

/// Condition of a scalar at a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AtWall {
    /// φ.
    Value(f64),
    /// The diffusive flux from the wall into the gas, −μ/(Re Sc) ∂φ/∂n, in units of ρ₀V₀.
    Flux(f64),
}

impl AtWall {
    /// Zero flux.
    pub const CLOSED: Self = Self::Flux(0.0);
}

/// The value of a scalar beyond an open face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarBeyond {
    /// φ.
    Value(f64),
    /// The initial value at each point.
    Start,
}

impl PassiveScalar {
    /// The value beyond the open face at this end of this axis. By default it is the initial value, and unknown beyond an outflow.
    pub fn known(&self, [axis, end]: [usize; 2], open: &Open) -> Option<ScalarBeyond> {
        match (self.beyond[axis][end], open.beyond) {
            (Some(phi), _) => Some(ScalarBeyond::Value(phi)),
            (None, Beyond::Outflow(_)) => None,
            (None, Beyond::Inflow(_) | Beyond::FarField(_)) => Some(ScalarBeyond::Start),
        }
    }

    /// Whether the value beyond some face is the initial value.
    pub fn needs_initial_state(&self, boundaries: &Boundaries) -> bool {
        boundaries.faces().any(|(axis, end, face)| {
            let known = face.open().and_then(|open| self.known([axis.index(), end], &open));
            known == Some(ScalarBeyond::Start)
        })
    }

    /// The error of its initial value in a flow of `case`: a sentence, with the known names on a second line.
    pub fn problem(&self, case: &Case) -> Option<String> {
        let key = format!("scalars.{}.start", self.name);
        unknown_names(&key, self.start.as_ref()?, parameters(case)).next()
    }

    /// The initial value in a flow of `case`, a gas and a box.
    pub fn formula(&self, case: &Case, gas: &Gas, domain: &Domain) -> Option<Formula<'_>> {
        Some(Formula::new(self.start.as_ref()?, parameters(case), gas, domain))
    }
}

/// Named numbers for expressions; `None` if the case has no such key.
fn parameters(case: &Case) -> Option<&BTreeMap<String, f64>> {
    match case {
        Case::Custom(custom) => Some(&custom.parameters),
        _ => None,
    }
}

fn are_closed(walls: &[[AtWall; 2]; 3]) -> bool {
    *walls == [[AtWall::CLOSED; 2]; 3]
}

fn is_default(beyond: &[[Option<f64>; 2]; 3]) -> bool {
    *beyond == [[None; 2]; 3]
}

fn walls<S: Serializer>(walls: &[[AtWall; 2]; 3], to: S) -> Result<S::Ok, S::Error> {
    as_table(&walls.map(|ends| ends.map(|end| (end != AtWall::CLOSED).then_some(end))), to)
}

/// { x = { low = ..., high = ... }, ... } with only the ends that have a value.
fn as_table<T: Copy + Serialize, S: Serializer>(
    known: &[[Option<T>; 2]; 3],
    to: S,
) -> Result<S::Ok, S::Error> {
    let ends = |ends: [Option<T>; 2]| {
        let named = ["low", "high"].into_iter().zip(ends);
        named.filter_map(|(name, end)| Some((name, end?))).collect::<BTreeMap<_, _>>()
    };
    let axes = Axis::ALL.into_iter().zip(known).map(|(axis, both)| (axis.name(), ends(*both)));
    to.collect_map(axes.filter(|(_, ends)| !ends.is_empty()))
}
