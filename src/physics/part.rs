//! The terms of the right-hand side, and which of them are asked for.

use super::Gas;
use super::convection::{Lines, convection, pressure_gradient};
use super::viscosity::viscosity;
use crate::config::SchemeConfig;

/// The terms of the right-hand side, together or one kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// Transport of mass and momentum.
    Convection,
    /// The pressure gradient.
    Pressure,
    /// The viscous force.
    Viscous,
}

impl Part {
    /// In the order of the variants.
    pub(super) const ALL: [Part; 4] = [Part::All, Part::Convection, Part::Pressure, Part::Viscous];

    /// Whether the terms of one kind are among these.
    pub(super) fn has(self, kind: Part) -> bool {
        self == Part::All || self == kind
    }

    /// Whether viscous terms are among these.
    pub(super) fn is_viscous(self, gas: &Gas) -> bool {
        self.has(Part::Viscous) && !gas.is_inviscid()
    }
}

/// All terms of `part` with a derivative along the axis of `q`, added to the rates.
pub(super) fn terms(q: &Lines, part: Part, scheme: &SchemeConfig, gas: &Gas) {
    let all = part == Part::All;
    if part.has(Part::Convection) {
        convection(q, scheme.convection, all.then_some(scheme.energy), gas);
    }
    if part.has(Part::Pressure) {
        pressure_gradient(q, scheme.convection);
    }
    if part.is_viscous(gas) {
        viscosity(q, scheme.viscous, gas, all);
    }
}
